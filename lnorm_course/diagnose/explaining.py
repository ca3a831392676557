"""Explain wrong results: search the slips, the arrangements, and the dtypes that lead to them."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace

from torch import Tensor

from lnorm_course.checking.comparing import close_numbers, same
from lnorm_course.checking.patterns import pattern
from lnorm_course.diagnose.causes import Cause, Failure, in_words
from lnorm_course.diagnose.diagnosis import Search
from lnorm_course.diagnose.inputs import Input
from lnorm_course.diagnose.layout import Layout
from lnorm_course.diagnose.otherwise import done_otherwise
from lnorm_course.diagnose.rounding import is_single, rounded_to
from lnorm_course.diagnose.run import EXACT, SINGLE, Run

__all__ = ["ShortSearch", "clauses_of", "explain", "search_for", "told"]

Results = Mapping[int, object]
ARRANGEMENTS: Mapping[str, Callable[[Tensor, tuple[int, ...]], Tensor]] = {
    "with the last two axes transposed": lambda y, shape: y.transpose(-1, -2),
    "with all axes in reverse order": lambda y, shape: y.permute(*range(y.ndim)[::-1]),
    "flattened, or with other axes": lambda y, shape: y.reshape(shape),
}


def search_for(run: Run, within: float) -> Search:
    """Return the search for the slips between a reference and what it is given."""
    key = (
        *(run.reference.key, tuple(run.axes), run.subject.takes_eps, within),
        *(None if p is None else tuple(p.flatten()[:64].tolist()) for p in (run.weight, run.bias)),
    )
    if key not in _SEARCHES:
        if len(_SEARCHES) > 8:
            _SEARCHES.clear()
        _SEARCHES[key] = _new_search(run, within)
    return _SEARCHES[key]


_SEARCHES: dict[tuple, Search] = {}


def _new_search(run: Run, within: float) -> Search:
    reference, inputs, weight, bias = run.reference, run.inputs, run.weight, run.bias

    def result(cause: Cause, number: int) -> Tensor:
        each = inputs[number]
        return reference.result(cause.slips, cause.mistake)(each.x, weight, bias, each.eps)

    right = [reference.result()(each.x, weight, bias, each.eps) for each in inputs]
    return ShortSearch(result, reference.mistakes, reference.layout.all_slips(), right, within)


class ShortSearch(Search):
    """A search among more slips than those of an exercise, of which the rare ones come alone."""

    most_likely = 80


def _causes(search: Search, inputs: list[Input], results: Results) -> list[Cause]:
    """Return the causes of the results: of all, or of those for the first shape alone.

    On rows with hardly any spread some slips show only together with others, which no clue tells,
    so these rows judge what the others have found.
    """
    flat = {n for n in results if inputs[n].is_flat}
    shapes = {n for n in results if inputs[n].is_shape}
    # The fewer inputs, the more causes have to be tried, so leave out few of them first. At last
    # leave out none: what fits all others may be wrong there, and hide what is right.
    for left_out in ({min(flat)}, flat, flat | shapes, set[int]()):
        search.most_slips = 3 if left_out > flat or not shapes else 2  # three are worth one search
        found = search.causes({n: r for n, r in results.items() if n not in left_out})
        found = [c for c in found if all(search.fits(results[n], c, n) for n in flat)]
        if found:
            return found
    return []


def told(causes: list[Cause], run: Run) -> str:
    """Say the causes, with the ε that is right here."""
    text = in_words(causes, run.reference.layout)
    given = "the given ε" if run.subject.takes_eps else f"ε = {run.reference.eps:g} here"
    return text.replace("uses the given ε", f"uses {given}")


def clauses_of(causes: list[Cause], layout: Layout) -> tuple[str, ...]:
    clauses = [slip.done for cause in causes for slip in cause.slips]
    clauses += [(c.mistake.__doc__ or "").split(".")[0] for c in causes if c.mistake]
    return tuple(dict.fromkeys(map(layout.in_its_letters, clauses)))


def explain(run: Run) -> tuple[Run, str, tuple[str, ...]]:
    """Return the run with the slips found, what to say, and the clauses; "" if nothing differs."""
    results: Results = {n: run.call(each.x, each.eps) for n, each in enumerate(run.inputs)}
    rights = [run.expected(each.x, each.eps) for each in run.inputs]
    equal = functools.partial(_all_same, results, rights)
    for within in (EXACT, SINGLE):
        if equal(within):
            return replace(run, within=SINGLE if is_single(run) else within), "", ()
    arranged = _arranged(results, rights)
    if arranged:
        words, results = arranged
        if _all_same(results, rights, SINGLE):
            shape = tuple(rights[0].shape)
            return (
                run,
                f"The numbers are right, but they come out {words}, not as {shape}.",
                (words,),
            )
    dtype = rounded_to(run, rights[0])
    if dtype:
        clause = f"something is computed in {dtype} and not in the dtype of x"
        return run, f"Rounded: {clause}, so digits are lost.", (clause,)
    for within in (EXACT, SINGLE)[: 1 + is_single(run)]:
        causes = _causes(search_for(run, within), run.inputs, results)
        if causes:
            text = told(causes, run)
            text = f"{text} And the numbers come out {words}." if arranged else text
            best = replace(run, within=within, slips=causes[0].slips, mistake=causes[0].mistake)
            return best, text, clauses_of(causes, run.reference.layout)
    done = done_otherwise(run, results, rights)
    if done:
        return run, done, (done.removesuffix("."),)
    return run, _unexplained(run, results, rights), ()


def _all_same(results: Results, rights: list[Tensor], within: float) -> bool:
    return all(same(results[n], right, within) for n, right in enumerate(rights))


def _arranged(results: Results, rights: list[Tensor]) -> tuple[str, Results] | None:
    """Return in which order the numbers come out, and the results in the right order."""
    first = results[0]
    if not isinstance(first, Tensor) or first.numel() != rights[0].numel():
        return None
    if first.shape == rights[0].shape:
        return None
    for words, undo in ARRANGEMENTS.items():
        undone: dict[int, object] = {}
        for n, right in enumerate(rights):
            value = results[n]
            if not isinstance(value, Tensor) or value.numel() != right.numel():
                break
            undone[n] = (
                undo(value, tuple(right.shape)) if value.ndim > 1 else value.reshape(right.shape)
            )
        if len(undone) == len(rights) and undone[0].shape == rights[0].shape:  # type: ignore[attr-defined]
            return words, undone
    return None


def _unexplained(run: Run, results: Results, rights: list[Tensor]) -> str:
    """Say what is different when nothing explains it."""
    for n, right in enumerate(rights):
        value = results[n]
        where = run.inputs[n].words
        if isinstance(value, Failure):
            return f"On {where}, it {value.remark}."
        if not isinstance(value, Tensor) or value.shape != right.shape:
            given = tuple(getattr(value, "shape", ()))
            return f"On {where}, the result has shape {given} and should have {tuple(right.shape)}."
        wrong = ~close_numbers(value, right, run.within)
        if wrong.any():
            if said := pattern(list(results.values()), rights, run.within):
                return said
            index = tuple(wrong.nonzero()[0].tolist())
            return (
                f"It differs, and nothing that I know explains this. First on {where}, at "
                f"{index}: {value[index].item():.5g}, where {right[index].item():.5g} is right."
            )
    return "It differs, and nothing that I know explains this."
