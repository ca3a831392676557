"""Find out how a student came to a result: search the slips of layer norm for the fewest that fit.

The idea is that of Singh, Gulwani & Solar-Lezama 2013, arXiv:1204.1751, where an error model and a
right solution correct the programs of students. Here the error model is code that runs.
"""

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import torch

from lnorm_course.checking.comparing import same
from lnorm_course.diagnose.causes import Cause, Failure, Raised
from lnorm_course.diagnose.slip import Slip, compatible

__all__ = ["Search"]

UNCHANGED = object()
# They limit the work and not the time, so that a verdict doesn't depend on the machine.
MOST_RUNS = 5_000
MOST_SLIPS = 3
MOST_THIRDS = 2_500  # third parts that are added to the closest pairs, in all


class Search:
    """The causes that an exercise knows, and what each of them returns.

    Args:
        result: (cause, number of the input) -> what the cause makes of it.
        mistakes: those of the bank; each counts as one thing that is wrong.
        slips: slips of layer norm, the likeliest first.
        right: the right result for each input.
        within: how far a number may be from another one that is called equal.
        quick: the numbers of the inputs to begin with, in this order, if some take much longer
            than others.
    """

    most_runs, most_slips = MOST_RUNS, MOST_SLIPS
    most_likely: int | None = None  # slips, the likeliest ones, of which a third part can be

    def __init__(
        self,
        result: Callable[[Cause, int], object],
        mistakes: Sequence[Callable],
        slips: Sequence[Slip],
        right: Sequence[object],
        within: float,
        quick: Sequence[int] = (),
    ) -> None:
        self.quick = quick
        self._result, self.mistakes = result, mistakes
        self.right, self.within = right, within
        self._results: dict[tuple, object] = {}  # each cause runs once, however many attempts come
        self._changed: dict[object, dict[int, object]] = {}
        self.slips = self._telling(slips)

    def result(self, cause: Cause, number: int) -> object:
        """Return what a cause makes of one of the inputs, which may be an error."""
        key = (cause.key, number)
        if key not in self._results:
            result = self._run(cause, number)
            if isinstance(result, torch.Tensor):
                result = result.detach()
            self._results[key] = result
        return self._results[key]

    def _run(self, cause: Cause, number: int) -> object:
        try:
            return self._result(cause, number)
        except Exception as error:
            return Raised(type(error).__name__, " ".join(str(error).split())[:200])

    def causes(self, results: Mapping[int, object]) -> list[Cause]:
        """Return the causes with the fewest slips that give all these results, or an empty list.

        Args:
            results: number of the input -> a value or a `Failure`.
        """
        failures = [each for each in results.values() if isinstance(each, Failure)]
        if not all(each.kind for each in failures):
            return []  # a cause gives a value, or raises
        with _one_thread():
            return self._causes(results)

    def _causes(self, results: Mapping[int, object]) -> list[Cause]:
        # Begin with inputs on which the attempt is wrong, because few causes agree with it there,
        # and of these with the last one, because an exercise has its smallest input last.
        wrong = [n for n in results if not self.equal(results[n], self.right[n])]
        rank = {n: place for place, n in enumerate(self.quick)}
        order = sorted(results, key=lambda n: (n not in rank, n not in wrong, rank.get(n, 0), -n))
        clues = Clues(self, self._telling_soon(results))
        likely = itertools.islice(self.candidates(clues), self.most_runs)
        candidates = itertools.chain(likely, self.only_together(clues))
        pairs: list[Cause] = []

        def fitting(causes: Iterable[Cause]) -> list[Cause]:
            return [c for c in causes if all(self.fits(results[n], c, n) for n in order)]

        for _, causes in itertools.groupby(candidates, key=lambda cause: cause.size):
            pairs = list(causes)
            if found := fitting(pairs):
                fails = bool(wrong) and isinstance(results[wrong[0]], Failure)
                return _least(found) if fails else found
        if self.most_slips > 2 and pairs and pairs[0].size == 2:
            return fitting(self.with_a_third(pairs, results[order[0]], order[0], clues))
        return []

    def _telling_soon(self, results: Mapping[int, object]) -> Mapping[int, object]:
        """Leave out the slow inputs if a quick one shows that something is wrong."""
        soon = {n: result for n, result in results.items() if n in self.quick}
        is_enough = any(not self.equal(result, self.right[n]) for n, result in soon.items())
        return soon if is_enough else results

    def fits(self, result: object, cause: Cause, number: int) -> bool:
        """Tell whether a cause gives this result, or the same numbers repeated for every row."""
        given = self.result(cause, number)
        if self.equal(result, given):
            return True
        right = self.right[number]
        if (
            isinstance(result, torch.Tensor)
            and isinstance(given, torch.Tensor)
            and isinstance(right, torch.Tensor)
            and given.shape != result.shape == right.shape
        ):
            with contextlib.suppress(RuntimeError):
                return self.equal(result, given.expand_as(result))
        return False

    def changed(self, part: Cause, numbers: Iterable[int] | None = None) -> dict[int, object]:
        """Return the wrong results of a single mistake or slip, by the number of the input.

        Args:
            part: the mistake or slip.
            numbers: the inputs to try; by default all of them.
        """
        known = self._changed.setdefault(part.key, {})
        of = range(len(self.right)) if numbers is None else numbers
        for n in of:
            if n not in known:
                result = self.result(part, n)
                known[n] = UNCHANGED if self.equal(result, self.right[n]) else result
        return {n: known[n] for n in of if known[n] is not UNCHANGED}

    def candidates(self, clues: "Clues | None" = None) -> Iterator[Cause]:
        """Yield possible causes: those with the fewest parts first, and of these the likeliest.

        Args:
            clues: rule out many of them. Without clues, all possible causes are yielded.
        """
        mistakes = [m for m in self.mistakes if clues is None or clues.may_be(m)]
        slips = self.slips if clues is None or clues.may_be(None) else []
        for size in (1, 2):
            pairs = itertools.product(_combinations(self.slips, size - 1), mistakes)
            alone = zip(_combinations(slips, size), itertools.repeat(None))
            for parts, mistake in itertools.chain(pairs, alone):
                everything = (mistake, *parts) if mistake else parts
                if (clues is None or clues.allow(everything)) and compatible(parts):
                    yield Cause(mistake, parts)

    def only_together(self, clues: "Clues") -> Iterator[Cause]:
        """Yield the pairs of slips that clues rule out, but that may change something together."""
        for parts in _combinations(self.slips, 2):
            if clues.cover(*parts) and not clues.allow(parts) and compatible(parts):
                yield Cause(None, parts)

    def with_a_third(
        self, pairs: Sequence[Cause], result: object, number: int, clues: "Clues"
    ) -> Iterator[Cause]:
        """Yield pairs with any third part: only those closest to a result, if they are many."""
        tried, ranks = set(), {id(slip): rank for rank, slip in enumerate(self.slips)}
        for mistake, slips in self._closest(pairs, result, number):
            three = [(mistake, (*slips, slip)) for slip in self.slips[: self.most_likely]]
            three += [] if mistake else [(other, slips) for other in self.mistakes]
            for other, unsorted in three:
                cause = Cause(other, tuple(sorted(unsorted, key=lambda slip: ranks[id(slip)])))
                if cause.key not in tried and compatible(cause.slips):
                    tried.add(cause.key)
                    if clues.allow((other, *cause.slips) if other else cause.slips):
                        yield cause

    def _closest(self, pairs: Sequence[Cause], result: object, number: int) -> list[Cause]:
        """Return the pairs whose numbers are the closest to a result: as they are, or scaled."""
        parts = max(1, len(self.slips[: self.most_likely]) + len(self.mistakes))
        if len(pairs) * parts / 3 <= MOST_RUNS:  # each three comes from three pairs
            return list(pairs)
        given = ((pair, self.result(pair, number)) for pair in pairs)
        known = [(p, r) for p, r in given if getattr(r, "shape", 0) == getattr(result, "shape", 1)]
        if not known or not isinstance(result, torch.Tensor):
            return []
        rows = torch.stack([r.double().flatten() for _, r in known])  # type: ignore[attr-defined]
        wanted = result.detach().double().flatten()
        turned = -torch.cosine_similarity(rows, wanted[None]).abs()
        far = torch.stack([(rows - wanted).norm(dim=1), turned]).nan_to_num(torch.inf)
        most = MOST_THIRDS // parts
        return [known[n][0] for n in far.argsort(stable=True).T.flatten()[:most].tolist()]

    def _telling(self, slips: Sequence[Slip]) -> list[Slip]:
        """Leave out slips that change nothing, and of slips that do nearly the same keep one.

        Keep the one that changes the fewest switches, and of these the likeliest.
        """
        soon = self.quick or range(len(self.right))
        nothing = Cause(None, ())
        different, telling = [nothing], []
        for slip in sorted(slips, key=lambda slip: len(slip.changes)):
            cause = Cause(None, (slip,))
            fails = any(isinstance(each, Raised) for each in self.changed(cause, soon).values())
            if fails or not any(self._nearly_equal(cause, other, soon) for other in different):
                different.append(cause)
                telling.append(id(slip))
        return [slip for slip in slips if id(slip) in telling]

    def _nearly_equal(self, one: Cause, other: Cause, soon: Iterable[int]) -> bool:
        """Tell whether results are so close that rounding could turn one into the other.

        The slow inputs are tried only if the others, `soon`, don't tell.
        """
        for numbers in (soon, None):
            some, others = self.changed(one, numbers), self.changed(other, numbers)
            if some.keys() != others.keys() or not all(
                self.equal(result, others[n], 10 * self.within) for n, result in some.items()
            ):
                return False
        return True

    def equal(self, one: object, other: object, within: float | None = None) -> bool:
        """Tell whether two results are the same, be they values or errors."""
        if isinstance(one, Failure):
            return isinstance(other, Raised) and (one.kind, one.message) == other
        if isinstance(one, Raised) or isinstance(other, Raised):
            return isinstance(one, Raised) and isinstance(other, Raised) and one == other
        return not self.clearly_differ(one, other) and same(one, other, within or self.within)

    def clearly_differ(self, one: object, other: object) -> bool:
        """Compare the last numbers of two tensors, which is quick and mostly enough."""
        if not (type(one) is type(other) is torch.Tensor and one.numel() and other.numel()):
            return False
        ours, theirs = one.flatten()[-1].item(), other.flatten()[-1].item()
        return abs(ours - theirs) > max(1e-3, 100 * self.within) * (1 + abs(theirs))


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Let PyTorch compute with one thread: with small tensors, several only wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


class Clues:
    """What single mistakes and slips say about the results, with a bit for each input.

    If only one part of a cause changes the right result for an input, this part alone must give the
    student's result there, and where the student is right, no part changes anything. This misses
    parts that change something only together, but it never names a wrong cause.
    `Search.only_together` comes back to such pairs.
    """

    def __init__(self, search: Search, results: Mapping[int, object]) -> None:
        self.wrong = _bits(n for n in results if not search.equal(results[n], search.right[n]))
        # Where a part changes what is right, and where its result is not that of the attempt.
        self.of_part: dict[object, tuple[int, int]] = {}
        self._allowed: dict[tuple, bool] = {}  # many parts do the same in the same places
        self.by_slips = 0
        parts = [Cause(mistake, ()) for mistake in search.mistakes]
        for part in [*parts, *(Cause(None, (slip,)) for slip in search.slips)]:
            changed, key = search.changed(part, results), id(part.mistake or part.slips[0])
            where = _bits(n for n in results if n in changed)
            missed = _bits(
                n
                for n in results
                if n in changed and not _nearly(search, results[n], part, n, changed[n])
            )
            self.of_part[key] = where, missed
            if part.slips:
                self.by_slips |= where

    def may_be(self, mistake: Callable | None) -> bool:
        """Tell whether a mistake, or none, may be part of a cause, with any slips."""
        changed, missed = self.of_part.get(id(mistake), (0, 0))
        return not (missed | (self.wrong & ~changed)) & ~self.by_slips

    def cover(self, one: object, other: object) -> bool:
        """Tell whether these parts change each wrong result, and no other result."""
        return self.wrong == self.of_part[id(one)][0] | self.of_part[id(other)][0]

    def allow(self, parts: Sequence[object]) -> bool:
        """Tell whether these parts together may be a cause."""
        clues = tuple([self.of_part[id(part)] for part in parts])
        if clues not in self._allowed:
            any_of, several = 0, 0
            for changed, _ in clues:
                several |= any_of & changed
                any_of |= changed
            unexplained = self.wrong & ~any_of
            undone = any_of & ~self.wrong  # two changes that would cancel each other
            self._allowed[clues] = not (unexplained | undone) and not any(
                missed & ~several for _, missed in clues
            )
        return self._allowed[clues]


def _bits(numbers: Iterable[int]) -> int:
    return sum(1 << number for number in numbers)


def _nearly(search: Search, result: object, part: Cause, number: int, given: object) -> bool:
    if getattr(result, "shape", None) == getattr(given, "shape", ()):
        return not search.clearly_differ(result, given)
    return search.fits(result, part, number)


def _combinations(slips: Sequence[Slip], size: int) -> Iterator[tuple[Slip, ...]]:
    """Yield all combinations of this many slips, those with unlikely slips last."""
    if size < 2:
        yield from itertools.combinations(slips, size)
        return
    for last, slip in enumerate(slips):
        for others in itertools.combinations(slips[:last], size - 1):
            yield (*others, slip)


def _least(causes: list[Cause]) -> list[Cause]:
    """Of causes that raise the same error, keep those without a smaller one; none if many are left.

    An error ends a function early, so nothing is known about what would have come after it.
    """
    parts = [cause.switches() for cause in causes]
    pairs = zip(causes, parts, strict=True)
    least = [cause for cause, own in pairs if not any(other < own for other in parts)]
    return least if len(least) < 4 else []
