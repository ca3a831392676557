"""An exercise whose answer is a function or a class."""

import contextlib
import functools
import inspect
import textwrap
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from lnorm_course.checking import running
from lnorm_course.checking.causes import Cause, Failure, in_words
from lnorm_course.checking.choosing import Template
from lnorm_course.checking.class_attempts import (
    Observation,
    Observed,
    describe,
    load,
    observe,
)
from lnorm_course.checking.comparing import same
from lnorm_course.checking.defusing import trusted
from lnorm_course.checking.diagnosis import Search
from lnorm_course.checking.exercise import CLOSED, Exercise
from lnorm_course.checking.factors import sizes_of
from lnorm_course.checking.feedback import Feedback, State, first_sentence
from lnorm_course.checking.patterns import off_by_slices, unfinished
from lnorm_course.checking.place import place
from lnorm_course.checking.sizes import only_these_fit, perhaps_only_these_fit
from lnorm_course.checking.variants import Variants
from lnorm_course.checking.wording import difference, side_by_side
from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.forward import NormWithSlips, combined
from lnorm_course.slips.layer import WrongLayer
from lnorm_course.slips.layout import SENTENCES, Layout
from lnorm_utils.words import capitalized

__all__ = ["CodeExercise"]

QUICK = {Observed.OUTPUT, Observed.OUTPUT_AFTER_LOADING}
SIZES_ARE_FIXED = "the sizes of the lesson are fixed in the code"
UNKNOWN = "I don't recognize this mistake. "


class CodeExercise(Exercise):
    """A question that is answered by a function, or by a class.

    Answers and mistakes are functions that take the arguments in `inputs`. A student who makes a
    mistake reads its docstring, and one who is right reads that of the answer, if it has one.

    Args:
        hints: as for every `Exercise`.
        inputs: for a function, the arguments of each call, by what they are called: {"the x of
            this lesson": (x,)}. The first are the lesson's own.
        observations: for a class, what to look at in the layers made from it.
        norm: (norm, *inputs) -> the right result, if `norm` is a `NormWithSlips` without slips. The
            search then names all slips of layer norm by itself. Mistakes take `norm` too, first.
        layout: the axes of the inputs, what normalizes over which of them, and which model has the
            slips that are searched: layer norm, or another one in `slips`.
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
        layout: Layout = SENTENCES,
        within: float = 1e-6,
        without: Sequence[str] = (),
    ) -> None:
        super().__init__(hints, within)
        self.without = tuple(without)
        self.inputs: list[tuple]
        self.observations = list(observations or ())
        if observations:
            self.use_class, self.describe = observe, describe
            self.inputs = [each.arguments() for each in observations]
            self.places = [each.words for each in observations]
        else:
            given = inputs or {}
            self.inputs, self.places = list(given.values()), [f"on {place}" for place in given]
        self.norm, self.layout = norm, layout
        self.mistakes: list[Callable] = []
        self.of_pieces: set[Callable] = set()  # the mistakes that are wrong pieces of the template
        self.beliefs: dict[Callable, Belief | None] = {}
        self._answer: Callable | None = None
        # The program with gaps that `choose` shows, with the answer in its first pieces.
        self.template: Template | None = None
        self._layers: dict[int, WrongLayer] = {}

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
        return functools.partial(mistake, self.layout.model()) if self.norm else mistake

    @functools.cached_property
    def right(self) -> list:
        """What the answer returns for each of the inputs."""
        return self.expected(self.given_answer)

    def expected(self, function: Callable) -> list:
        """Compute what an attempt returns for each of the inputs."""
        return [self._call(function, running.fresh(arguments)) for arguments in self.inputs]

    @functools.cached_property
    def search(self) -> Search:
        """The search for the cause of a result."""
        slips = self.layout.all_slips() if self.norm else []
        quick = [number for number in reversed(range(len(self.inputs))) if self._is_quick(number)]
        quick.sort(key=self._output_of, reverse=True)  # new layers need no numbers in γ and β
        return Search(self._result, self.mistakes, slips, self.right, self.within, quick)

    @functools.cached_property
    def _variants(self) -> Variants:
        return Variants(self.given_answer, self.inputs, self.search.equal)

    @property
    def _sizes(self) -> list[dict[str, int]]:
        """The sizes of each input, by the code that gives them; none for a class."""
        if self.use_class:
            return []
        names = list(inspect.signature(self.given_answer).parameters)
        return [sizes_of(names, arguments) for arguments in self.inputs]

    @property
    def given_answer(self) -> Callable:
        """The answer, which every exercise has."""
        if self._answer is None:
            raise ValueError(f"The exercise {self.name!r} has no answer yet: give it one.")
        return self._answer

    def _call(self, function: Callable, arguments: tuple) -> object:
        return self.use_class(function, *arguments) if self.use_class else function(*arguments)

    def _result(self, cause: Cause, number: int) -> object:
        function = cause.mistake or self.norm or self.given_answer
        if self.norm:
            norm = combined(*cause.slips, model=self.layout.model)
            if not cause.mistake and self._is_quick(number):
                with torch.no_grad():
                    return self._layer(number, norm).forward(self.observations[number].x)
            function = functools.partial(function, norm)
        return self._call(function, self.inputs[number])

    def _is_quick(self, number: int) -> bool:
        """Tell whether only `forward` of a finished layer has to run."""
        return bool(self.observations) and self.observations[number].what in QUICK

    def _output_of(self, number: int) -> bool:
        return bool(self.observations) and self.observations[number].what is Observed.OUTPUT

    def _layer(self, number: int, norm: NormWithSlips) -> WrongLayer:
        """Return a new layer. It is made only once, because nothing that uses it changes it."""
        if number not in self._layers:
            observation = self.observations[number]
            layer = WrongLayer(norm, observation.shape, *observation.options).double()
            load(layer, *observation.more)
            self._layers[number] = layer
        self._layers[number].norm = norm
        return self._layers[number]

    def judge(self, attempt: object) -> Feedback:
        """Return what `check` shows: for a mistake without a name, also where to look.

        The grader sees no source, so it says all of it but the place.
        """
        feedback = super().judge(attempt)
        is_named = feedback.mistake and not feedback.is_symptom
        if feedback.state is not State.WRONG or is_named:
            return feedback
        if not (found := place(attempt, self.inputs, self._is_right, self.use_class, self.without)):
            return feedback
        told = f"Look at `{found}`: changing only this would make it right."
        more = feedback.message.removeprefix(UNKNOWN)
        return replace(feedback, message=f"{told} {capitalized(more)}")

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
        results, _ = running.results(
            attempt, [self.inputs[number]], self.use_class, self.describe, without=self.without
        )
        return bool(results) and self._is_right(number, results[0])

    def choose(self) -> None:
        """Show a program with gaps, and let a student choose what stands in each."""
        if self.template is None or CLOSED.exists():
            super().choose()
            return
        from IPython.display import display

        from lnorm_course.checking.choosing_widget import choosing

        display(choosing(self, self.template))

    def _is_right(self, number: int, result: object) -> bool:
        """Tell whether this is the right result for one of the inputs."""
        with contextlib.suppress(Exception):  # an object of the student's that raises
            return self.search.equal(trusted(result), self.right[number])
        return False

    def _judge_values(self, results: list, remark: str) -> Feedback:
        kind = "class" if self.use_class else "function"
        if results and all(result is ... for result in results):
            return Feedback(State.NOT_ATTEMPTED, f"your {kind} returns nothing yet.")
        empty = [n for n, result in enumerate(results) if result is None or result is ...]
        if empty:
            where = f"{self.places[empty[0]]}: " if empty[0] else ""
            asked = "Is `return` inside an `if`?" if where else "Did you forget `return`?"
            return Feedback(State.WRONG, f"{where}your {kind} returns nothing. {asked}")
        wrong = [n for n, r in enumerate(results) if not same(r, self.right[n], self.within)]
        if len(results) < len(self.inputs):
            return self._judge_failure(dict(enumerate(results)), wrong, remark)
        if not wrong:
            message = inspect.getdoc(self.given_answer) or ""
            return Feedback(State.RIGHT, f"{message} {remark}".strip())
        feedback = self._diagnosis(dict(enumerate(results)))
        if self.use_class:  # of several things that are wrong, name the one that shows first
            kinds = [kind for kind, *_ in self.inputs]
            alike = {n for n, kind in enumerate(kinds) if kind == kinds[wrong[0]]}
            shown = alike | set(range(wrong[0] + 1))
            partly = {n: results[n] for n in shown}
            feedback = feedback or self._diagnosis(partly, self._output_of(wrong[0]))
        feedback = feedback or self._of_a_variant(dict(enumerate(results)), wrong)
        feedback = feedback or self._in_another_shape(results)
        feedback = feedback or self._first_difference(results, wrong)
        return replace(feedback, message=f"{feedback.message} {remark}".strip())

    def _judge_failure(self, results: dict[int, object], wrong: list, remark: str) -> Feedback:
        """Say why an attempt fails on an input, or name a mistake that shows before that."""
        number = len(results)
        feedback = self._diagnosis({**results, number: Failure(remark)})
        if feedback is None and wrong:
            feedback = self._diagnosis(results)
        if feedback:
            return replace(feedback, message=f"{feedback.message} And {remark}")
        is_first = not (wrong or self.use_class)
        if is_first and (fits := only_these_fit(self.inputs, [number], None, None, remark)):
            return Feedback(State.WRONG, fits, SIZES_ARE_FIXED)
        where = f"{self.places[number]} " if number and not self.use_class else ""
        if where and not wrong:
            where = f"your answer is right {self.places[0]}, but {where}"
        return Feedback(State.WRONG, f"{where}{remark}")

    def _diagnosis(self, results: dict[int, object], is_layer_new: bool = False) -> Feedback | None:
        """Name the cause of the results, if the search finds one.

        Args:
            results: by the number of the input.
            is_layer_new: whether γ is 1 and β is 0 in all of them. Then the results can't show a
                slip with γ or β.
        """
        causes = self.search.causes(results)
        if is_layer_new:
            slips = (cause for cause in causes if not cause.mistake)
            causes = [c for c in slips if not any(slip.is_affine for slip in c.slips)]
        if not causes:
            return None
        # Prefer the exercise's own message to that of the search, and that to a piece's.
        own = [c for c in causes if c.mistake and c.mistake not in self.of_pieces]
        causes = own[:1] or [c for c in causes if not c.mistake] or causes[:1]
        beliefs = [self.beliefs.get(cause.mistake) for cause in causes if cause.mistake]
        beliefs += [slip.belief for cause in causes for slip in cause.slips]
        message = in_words(causes, self.layout)
        return Feedback(
            State.WRONG,
            message,
            first_sentence(message),
            tuple(dict.fromkeys(belief for belief in beliefs if belief)),
        )

    def _of_a_variant(self, results: dict[int, object], wrong: list) -> Feedback | None:
        """Name what was done if the results are those of the answer with one thing changed."""
        if self.use_class or not (words := self._variants.name(results, wrong)):
            return None
        where = self._first_difference(list(results.values()), wrong)
        told = where.message.removeprefix(UNKNOWN)
        return Feedback(State.WRONG, f"{words} {told}", words, table=where.table, is_symptom=True)

    def _in_another_shape(self, results: list) -> Feedback | None:
        """Name the cause of results that are in another shape, too."""
        pairs = list(zip(results, self.right, strict=True))
        if not all(isinstance(r, Tensor) and isinstance(w, Tensor) for r, w in pairs):
            return None
        if any(r.numel() != w.numel() or r.ndim < 1 for r, w in pairs):
            return None
        other = next(((r, w) for r, w in pairs if r.shape != w.shape), None)
        if other is None:
            return None
        shapes = f"your tensor has shape {tuple(other[0].shape)}, not {tuple(other[1].shape)}."
        for way in (lambda r, w: r.mT if r.ndim > 1 else r, lambda r, w: r.reshape(w.shape)):
            put = {n: way(*pair) for n, pair in enumerate(pairs)}
            if any(put[n].shape != w.shape for n, w in enumerate(self.right)):
                continue
            if feedback := self._diagnosis(put):
                return replace(feedback, message=f"{feedback.message} And {shapes}")
        return None

    def _first_difference(self, results: list, wrong: list) -> Feedback:
        number = wrong[0]
        if number and not self.use_class:
            given, right = results[number], self.right[number]
            if fits := only_these_fit(self.inputs, wrong, given, right, ""):
                return Feedback(State.WRONG, fits, SIZES_ARE_FIXED)
        if message := unfinished(results, self.right, self.within, self._sizes):
            return Feedback(State.WRONG, message, first_sentence(message), is_symptom=True)
        right = self.right[number]
        told = difference(results[number], right, self.within)
        table = side_by_side(results[number], right, self.within)
        where = f"{self.places[number]}: {told}"
        if number and not self.use_class:
            where = f"your answer is right {self.places[0]}, but not {where}"
            where = f"{where} {perhaps_only_these_fit(self.inputs, wrong)}".strip()
        if slices := off_by_slices(results, self.right):
            where = f"{slices} {capitalized(where)}"
        unknown = UNKNOWN if table else ""
        return Feedback(State.WRONG, f"{unknown}{capitalized(where)}", table=table)

    def shown_solution(self) -> Feedback:
        if self.template:
            code = self.template.program(self.template.first)
            return Feedback(State.SOLUTION, "", code=code)
        lines = textwrap.dedent(inspect.getsource(self.given_answer)).splitlines()
        code = "\n".join(line for line in lines if not line.startswith("@"))
        return Feedback(State.SOLUTION, "", code=code)
