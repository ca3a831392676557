"""An exercise whose answer is a function or a class."""

import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lnorm_course.checking import running
from lnorm_course.checking.choosing import choosing, program_data
from lnorm_course.checking.class_attempts import observe
from lnorm_course.checking.exercise import Exercise
from lnorm_course.checking.fault_location import locate_fault
from lnorm_course.checking.feedback import Feedback, State, with_remark
from lnorm_course.checking.patterns import A_FIXED_SIZE, only_these_fit, pattern
from lnorm_course.checking.running import Outcome
from lnorm_course.checking.search import Search
from lnorm_course.checking.unrecognized import UNKNOWN, difference
from lnorm_course.progress_files import CHOSEN, keep
from lnorm_diagnose.fewest_slips import Explanation, Mistake, Raised, in_words
from lnorm_diagnose.slips.models import SENTENCES, ErrorModel
from lnorm_diagnose.slips.notation import Option, Template
from lnorm_utils.words import capitalized, first_sentence

__all__ = ["CodeExercise"]

ONE_SIZE = "right only for the lesson's sizes"


class CodeExercise(Exercise):
    """A question that is answered by a function or a class.

    Args:
        template: the program with gaps, whose first options are the answer.
        hints: as for every `Exercise`.
        reason: the explanation that is shown after a right answer.
        inputs: for a function, the arguments of each call, by description: {"the x of this
            lesson": (x,)}. The first inputs are the lesson's own.
        looks: for a class, what to look at in its layers, as returned by `class_attempts.look`.
        by_steps: if the steps of `model` can compute the right result, a function of (steps,
            *inputs) that returns it. The search then tries the model's known errors, too, and
            mistakes take `steps` as an additional first argument.
        model: the error model, either one for layer norm over some of the inputs' axes or another
            one from `slips`.
        mistakes: further wrong answers.
        tol: as for every `Exercise`.
        without: functions that the lesson doesn't allow here, such as "torch.std" and
            "lnorm_utils.standardize".

    >>> from lnorm_diagnose.slips.notation import parse
    >>> program = parse("def double(x): return ⟨2 * x ¦ x * x ⇒ You squared it.⟩")
    >>> double = CodeExercise(program, hints=[], inputs={"the number 3": (3,)})
    >>> double.check(lambda x: x**2)
    Not yet: You squared it.
    >>> double.check(lambda x: x + x)
    Right.
    """

    last_help = f"`.choose()` lets you build the answer from given pieces. {Exercise.last_help}"

    def __init__(
        self,
        template: Template,
        *,
        hints: Sequence[str],
        reason: str = "",
        inputs: Mapping[str, tuple] | None = None,
        looks: Sequence[tuple[str, tuple]] = (),
        by_steps: Callable | None = None,
        model: ErrorModel = SENTENCES,
        mistakes: Sequence[Mistake] = (),
        tol: float = 1e-6,
        without: Sequence[str] = (),
    ) -> None:
        super().__init__(hints, tol)
        self.template, self.reason, self.without = template, reason, tuple(without)
        self.answer = template.make()
        self.by_steps, self.model, self.mistakes = by_steps, model, list(mistakes)
        self.inputs: list[tuple] = list((inputs or {}).values())
        self.input_words = [f"on {words}" for words in inputs or {}]
        if looks:
            self.use_class = observe
            self.input_words, self.inputs = map(list, zip(*looks, strict=True))

    def __dir__(self) -> list[str]:
        return ["check", "hint", "choose", "solution"]

    def shown_choices(self) -> Any:
        def solved() -> None:
            if self.name:
                keep(self.topic, self.name, CHOSEN)

        return choosing(program_data(self.template, self.right_programs), solved)

    def shown_solution(self) -> Feedback:
        return Feedback(State.SOLUTION, "", code=self.template.program())

    @functools.cached_property
    def right(self) -> list:
        """The answer's result for each of the inputs."""
        return [self._call(self.answer, running.fresh(arguments)) for arguments in self.inputs]

    @functools.cached_property
    def search(self) -> Search:
        """The search for the mistakes that lead to a result."""
        options = self.model.distractors if self.by_steps else []
        own = self.template.distractors
        return Search(self.run, self.right, self.mistakes, own, options, self.tol)

    @property
    def right_programs(self) -> list[tuple[int, ...]]:
        """The template's right programs, each given by the indices of its options."""
        return [*filter(self.is_right_with, self.template.programs)]

    def make(self, parts: Explanation) -> Callable:
        """Return the attempt of a student who gets only these parts wrong."""
        options = [part for part in parts if isinstance(part, Option)]
        mistake = next((part.answer for part in parts if isinstance(part, Mistake)), None)
        if options and not options[0].step:
            return self.template.make(options)
        if self.by_steps:
            return functools.partial(mistake or self.by_steps, self.model.with_distractors(options))
        return mistake or self.answer

    def _call(self, attempt: Callable, arguments: tuple) -> object:
        return self.use_class(attempt, *arguments) if self.use_class else attempt(*arguments)

    def run(self, parts: Explanation, number: int) -> object:
        """Return the result, on one of the inputs, of an attempt with these wrong parts."""
        return self._call(self.make(parts), running.fresh(self.inputs[number]))

    def is_right_with(self, chosen: Sequence[int]) -> bool:
        """Tell whether the template's program with these options is right, without a diagnosis."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                attempt = self.template.make(self.template.options(chosen))
            except Exception:  # not every combination of options is a valid program
                return False
            return self._is_right(attempt)

    def _is_right(self, attempt: object) -> bool:
        """Tell whether an attempt is right on all inputs.

        The last one, which is often the smallest, is tried first.
        """
        for given, right in zip(self.inputs[::-1], self.right[::-1], strict=True):
            made = running.results(attempt, [given], self.use_class, without=self.without).values
            if not made or not self.search.equal(made[0], right):
                return False
        return True

    def judge_outcome(self, outcome: Outcome) -> Feedback:
        """Say that an attempt is right, name its mistake, or at least show where it goes wrong.

        If one change to the source would make everything right, explanations with two mistakes
        aren't considered, even if some would give the same results.
        """
        results = outcome.values
        if results and all(result is ... for result in results):
            kind = "class" if self.use_class else "function"
            return Feedback(State.NOT_ATTEMPTED, f"your {kind} returns nothing yet.")
        wrong = [n for n, r in enumerate(results) if not self.search.equal(r, self.right[n])]
        if not wrong and not outcome.error:
            return with_remark(Feedback(State.RIGHT, self.reason), outcome.remark)
        found, fault = self._find(outcome, wrong, 1), ""
        if not found:
            fault = locate_fault(outcome.attempt, self._is_right, len(self.inputs))
            found = [] if fault else self._find(outcome, wrong, 2)
        if found:
            return self._named(found, outcome)
        unnamed = (
            self._failure(outcome, wrong) if outcome.error else self._by_numbers(outcome, wrong)
        )
        if not fault and not unnamed.table:
            return unnamed
        told = f"Look at `{fault}`: changing only this would make it right." if fault else UNKNOWN
        return replace(unnamed, message=f"{told} {capitalized(unnamed.message)}")

    def _find(self, outcome: Outcome, wrong: list[int], most: int) -> list[Explanation]:
        """Return what explains the results and the error or, failing that, the results alone."""
        results, error = dict(enumerate(outcome.values)), outcome.error
        known = [results] if wrong else []
        if isinstance(error, Raised):
            known.insert(0, results | {len(results): error})
        found = (self.search.find(each, outcome.code, most) for each in known)
        return next(filter(None, found), [])

    def _named(self, found: Sequence[Explanation], outcome: Outcome) -> Feedback:
        """Name the mistakes that explain the results."""
        name, message = in_words(found)
        behind = dict.fromkeys(m for parts in found for part in parts for m in part.misconceptions)
        # If several explanations fit, the message names all of them, with no shorter first version.
        first = f"{name}." if len(found) == 1 and message != f"{name}." else ""
        named = Feedback(State.WRONG, message, name, tuple(behind), found, first=first)
        return with_remark(named, f"And {outcome.remark}" if outcome.error else outcome.remark)

    def _failure(self, outcome: Outcome, wrong: list[int]) -> Feedback:
        """Say how an attempt fails, and on which input."""
        number, remark = len(outcome.values), outcome.remark
        where = f"{self.input_words[number]}{': ' if self.use_class else ' '}" if number else ""
        if where and not (wrong or self.use_class):
            made = self.inputs[: number + 1]
            if fits := only_these_fit(made, [number]):
                return Feedback(State.WRONG, f"{fits} {capitalized(remark)}", ONE_SIZE)
            where = f"your answer is right {self.input_words[0]}, but {where}"
        return Feedback(State.WRONG, f"{where}{remark}")

    def _by_numbers(self, outcome: Outcome, wrong: list[int]) -> Feedback:
        """Describe the pattern in wrong numbers, or if there is none, the first difference."""
        number, results = wrong[0], outcome.values
        if shown := pattern(results, self.right, self.tol):
            return with_remark(Feedback(State.WRONG, shown, first_sentence(shown)), outcome.remark)
        differs, table = difference(results[number], self.right[number], self.tol)
        told = f"{self.input_words[number]}: {differs}"
        if number > 0 and not self.use_class:
            perhaps = A_FIXED_SIZE if only_these_fit(self.inputs, wrong) else ""
            told = f"your answer is right {self.input_words[0]}, but not {told} {perhaps}".strip()
        return with_remark(Feedback(State.WRONG, capitalized(told), table=table), outcome.remark)
