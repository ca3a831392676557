"""An exercise whose answer is a function or a class."""

import contextlib
import functools
import inspect
import itertools
import textwrap
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from lnorm_course.checking import running
from lnorm_course.checking.class_attempts import Observation, Observed, observe
from lnorm_course.checking.comparing import same
from lnorm_course.checking.defusing import trusted
from lnorm_course.checking.errors import Error
from lnorm_course.checking.exercise import CLOSED, Exercise
from lnorm_course.checking.feedback import Feedback, State, first_sentence, with_remark
from lnorm_course.checking.patterns import only_these_fit, pattern, perhaps_only_these_fit
from lnorm_course.checking.running import Outcome
from lnorm_course.checking.search import (
    Explanation,
    Explanations,
    Mistake,
    Raised,
    in_words,
)
from lnorm_course.checking.spot import find_spot
from lnorm_course.checking.wording import difference, side_by_side
from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.models import SENTENCES, Model
from lnorm_course.slips.notation import Piece, Template
from lnorm_utils.words import capitalized

__all__ = ["CodeExercise"]

ONE_SIZE = "right for the lesson's sizes alone"


class CodeExercise(Exercise):
    """A question that is answered by a function, or by a class.

    Answers and mistakes are functions that take the arguments in `inputs`. A student who makes a
    mistake reads its docstring, and one who is right reads that of the answer, if it has one.

    Args:
        hints: as for every `Exercise`.
        inputs: for a function, the arguments of each call, by what they are called: {"the x of
            this lesson": (x,)}. The first are the lesson's own.
        observations: for a class, what to look at in the layers made from it.
        norm: (norm, *inputs) -> the right result, if `norm` has the steps of `layout`. The search
            then knows what people do otherwise in them. Mistakes take `norm` too, first.
        layout: the model of what people do otherwise: layer norm over some of the inputs' axes, or
            another one in `slips`.
        within: how far an element of a tensor may be from the answer, also relative to it.
        without: functions that the lesson's text rules out, such as "torch.std" and
            "lnorm_utils.standardize".

    >>> double = CodeExercise(inputs={"the number 3": (3,)}, hints=[])
    >>> @double.answer
    ... def twice(x):
    ...     return 2 * x
    >>> @double.mistake()
    ... def squared(x):
    ...     "You squared it."
    ...     return x * x
    >>> double.check(lambda x: x**2)
    Not yet: You squared it.
    >>> double.check(lambda x: x + x)
    Right.
    """

    def __init__(
        self,
        *,
        hints: Sequence[str],
        inputs: Mapping[str, tuple] | None = None,
        observations: Sequence[Observation] | None = None,
        norm: Callable | None = None,
        layout: Model = SENTENCES,
        within: float = 1e-6,
        without: Sequence[str] = (),
    ) -> None:
        super().__init__(hints, within)
        self.without = tuple(without)
        self.inputs: list[tuple]
        self.observations = list(observations or ())
        if observations:
            self.use_class = observe
            self.inputs = [each.arguments() for each in observations]
            self.places = [each.words for each in observations]
        else:
            given = inputs or {}
            self.inputs, self.places = list(given.values()), [f"on {place}" for place in given]
        self.norm, self.layout = norm, layout
        self.mistakes: list[Callable] = []
        self.beliefs: dict[Callable, Belief | None] = {}
        self._answer: Callable | None = None
        # The program with gaps that `choose` shows, with the answer in its first pieces.
        self.template: Template | None = None

    def __dir__(self) -> list[str]:
        return ["check", "hint", "choose", "solution"]

    def answer(self, function: Callable) -> Callable:
        """Take a function as the right one, which `solution` shows."""
        self._answer = function
        return function

    def mistake(self, belief: Belief | None = None) -> Callable[[Callable], Callable]:
        """Take a function as a mistake, and the common belief it comes from, if any."""

        def take(function: Callable) -> Callable:
            self.mistakes.append(function)
            self.beliefs[function] = belief
            return function

        return take

    def attempt(self, mistake: Callable) -> Callable:
        """Return what a student writes who makes this mistake and no slip."""
        return functools.partial(mistake, self.layout.norm) if self.norm else mistake

    @functools.cached_property
    def right(self) -> list:
        """What the answer returns for each of the inputs."""
        return self.expected(self.given_answer)

    def expected(self, function: Callable) -> list:
        """Compute what an attempt returns for each of the inputs."""
        return [self._call(function, running.fresh(arguments)) for arguments in self.inputs]

    @functools.cached_property
    def search(self) -> Explanations:
        """The search for the cause of a result."""
        mistakes = [
            Mistake(
                each,
                " ".join((each.__doc__ or "").split()),
                tuple(filter(None, [self.beliefs[each]])),
                bool(self.norm),
            )
            for each in self.mistakes
        ]
        model = self.layout if self.norm else None
        choices = self.template.wrong if self.template else []
        arguments = inspect.signature(self.given_answer).parameters
        return Explanations(
            self._result, mistakes, choices, model, self.right, self.within, arguments
        )

    @property
    def given_answer(self) -> Callable:
        """The answer, which every exercise has."""
        if self._answer is None:
            raise ValueError(f"The exercise {self.name!r} has no answer yet: give it one.")
        return self._answer

    def _call(self, function: Callable, arguments: tuple) -> object:
        return self.use_class(function, *arguments) if self.use_class else function(*arguments)

    def _result(self, parts: Explanation, number: int) -> object:
        pieces = [part for part in parts if isinstance(part, Piece)]
        if self.template and pieces and not pieces[0].norm:
            program = self.template.attempt(self.template.with_pieces(pieces))
            return self._call(program, running.fresh(self.inputs[number]))
        mistake = next((part.function for part in parts if isinstance(part, Mistake)), None)
        function = mistake or self.norm or self.given_answer
        if self.norm:
            norm = self.layout.with_pieces(pieces) if pieces else self.layout.norm
            function = functools.partial(function, norm)
        return self._call(function, self.inputs[number])

    def judge(self, attempt: object) -> Feedback:
        """Return what `check` shows: for a mistake without a name, also where to look.

        If one place can be changed so that all is right, this isn't two mistakes, whatever two
        would give the same. The grader doesn't look for a place.
        """
        feedback = super().judge(attempt)
        if feedback.state is not State.WRONG or not feedback.place_says_more:
            return feedback
        if not (spot := find_spot(attempt, self._is_right_for, len(self.inputs))):
            return feedback
        told = f"Look at `{spot}`: changing only this would make it right."
        beside = feedback.beside_place or feedback
        return replace(beside, message=f"{told} {capitalized(beside.message)}", is_unknown=False)

    @property
    def last_help(self) -> str:  # type: ignore[override]
        """What a student reads after the last hint."""
        choose = "`.choose()` lets you build it from given pieces. " if self.template else ""
        return f"{choose}{super().last_help}"

    def is_right_with(self, chosen: Sequence[int]) -> bool:
        """Tell whether the template's program is right with these pieces, without a diagnosis."""
        if (template := self.template) is None:
            raise ValueError(f"The exercise {self.name!r} has no template.")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                attempt = template.attempt(chosen)
            except Exception:  # what the pieces make together isn't always a program
                return False
            return all(map(functools.partial(self._is_right_for, attempt), range(len(self.inputs))))

    def _is_right_for(self, attempt: object, number: int) -> bool:
        results = running.results(
            attempt, [self.inputs[number]], self.use_class, without=self.without
        ).values
        return bool(results) and self._is_right(number, results[0])

    def choose(self) -> None:
        """Show a program with gaps, and let a student choose what stands in each."""
        if self.template is None or CLOSED.exists():
            super().choose()
            return
        from IPython.display import display

        from lnorm_course.checking.choosing import choosing

        display(choosing(self, self.template))

    def _is_right(self, number: int, result: object) -> bool:
        """Tell whether this is the right result for one of the inputs."""
        with contextlib.suppress(Exception):  # an object of the student's that raises
            return self.search.equal(trusted(result), self.right[number])
        return False

    def _judge_trusted(self, outcome: Outcome) -> Feedback:
        results, kind = outcome.values, "class" if self.use_class else "function"
        if results and all(result is ... for result in results):
            return Feedback(State.NOT_ATTEMPTED, f"your {kind} returns nothing yet.")
        empty = [n for n, result in enumerate(results) if result is None or result is ...]
        if empty:
            where = f"{self.places[empty[0]]}: " if empty[0] else ""
            asked = "Is `return` inside an `if`?" if where else "Did you forget `return`?"
            told = f"{where}your {kind} returns nothing. {asked}"
            return Feedback(State.WRONG, told, place_says_more=True)
        wrong = [n for n, r in enumerate(results) if not same(r, self.right[n], self.within)]
        if outcome.error:
            return self._judge_failure(outcome, wrong)
        if not wrong:
            message = inspect.getdoc(self.given_answer) or ""
            return Feedback(State.RIGHT, f"{message} {outcome.remark}".strip())
        found = self.search.of(dict(enumerate(results)), outcome.code)
        if self.use_class and not found:
            found = self._first_of_several(results, wrong, outcome.code)

        def unnamed() -> Feedback:
            return with_remark(self._by_numbers(results, wrong), outcome.remark)

        return with_remark(self._named(found, unnamed), outcome.remark) if found else unnamed()

    def _judge_failure(self, outcome: Outcome, wrong: list[int]) -> Feedback:
        """Say why an attempt fails on an input, or name a mistake that shows before that."""
        results, error, remark = dict(enumerate(outcome.values)), outcome.error, outcome.remark
        number = len(results)
        found: list[Explanation] = []
        where = f"{self.places[number]} " if number else ""
        if self.use_class:
            where = f"{self.places[number]}: " if number else ""
        elif where and not wrong:
            where = f"your answer is right {self.places[0]}, but {where}"
        unnamed = Feedback(State.WRONG, f"{where}{remark}", place_says_more=True)
        known = [results] if wrong else []
        if isinstance(error, Error):
            known.insert(0, results | {number: Raised(error.kind, error.message)})
        for most, each in itertools.product((1, 3), known):
            found = found or self.search.of(each, outcome.code, most)
        if found:
            return with_remark(self._named(found, lambda: unnamed), f"And {remark}")
        is_first = not (wrong or self.use_class)
        made = self.inputs[: number + 1]
        if is_first and (fits := only_these_fit(made, [number], [], [], failed=True)):
            return Feedback(State.WRONG, f"{fits} {capitalized(remark)}", ONE_SIZE)
        return unnamed

    def _first_of_several(self, results: list, wrong: list[int], code: str) -> list[Explanation]:
        """Of several things that are wrong in a class, explain the one that shows first."""
        kinds = [observation.what for observation in self.observations]
        first = kinds[wrong[0]]
        shown = {n for n, kind in enumerate(kinds) if kind == first or n <= wrong[0]}
        found = self.search.of({n: results[n] for n in shown}, code, most=1)
        # γ is 1 and β is 0 there, so it can't show what is done with them.
        if first in (Observed.STARTS, Observed.OUTPUT):
            pieces = [part for (part,) in found if isinstance(part, Piece) and part.norm]
            return [(piece,) for piece in pieces if piece.step != "affine"]
        return found

    def _named(self, found: Sequence[Explanation], unnamed: Callable[[], Feedback]) -> Feedback:
        """Name what explains the results; two things only if no place is found."""
        name, message = in_words(found)
        beliefs = dict.fromkeys(b for parts in found for part in parts for b in part.beliefs)
        beside = unnamed() if len(found[0]) > 1 else None
        return Feedback(
            State.WRONG,
            message,
            name,
            tuple(beliefs),
            place_says_more=beside is not None,
            beside_place=beside,
        )

    def _by_numbers(self, results: list, wrong: list[int]) -> Feedback:
        """Say what the numbers show, or where the first one differs."""
        number = wrong[0]
        is_later = number > 0 and not self.use_class
        if is_later and (fits := only_these_fit(self.inputs, wrong, results, self.right)):
            return Feedback(State.WRONG, fits, ONE_SIZE)
        if shown := pattern(results, self.right, self.within):
            return Feedback(State.WRONG, shown, first_sentence(shown), place_says_more=True)
        right = self.right[number]
        told = difference(results[number], right, self.within)
        table = side_by_side(results[number], right, self.within)
        where = f"{self.places[number]}: {told}"
        if is_later:
            where = f"your answer is right {self.places[0]}, but not {where}"
            where = f"{where} {perhaps_only_these_fit(self.inputs, wrong)}".strip()
        return Feedback(
            State.WRONG,
            capitalized(where),
            table=table,
            place_says_more=True,
            is_unknown=bool(table),
        )

    def shown_solution(self) -> Feedback:
        if self.template:
            code = self.template.program(self.template.first)
            return Feedback(State.SOLUTION, "", code=code)
        lines = textwrap.dedent(inspect.getsource(self.given_answer)).splitlines()
        code = "\n".join(line for line in lines if not line.startswith("@"))
        return Feedback(State.SOLUTION, "", code=code)
