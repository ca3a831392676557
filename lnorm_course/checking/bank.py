"""Make the exercises of a bank from its text, which `bank_text` describes."""

import ast
import contextlib
import linecache
import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import torch

from lnorm_course.checking.bank_text import Entry, Section, fail, sections, setups
from lnorm_course.checking.choosing import GapError, Template, parse, told
from lnorm_course.checking.class_attempts import Observation, Observed
from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import Exercise, put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.slips.beliefs import Belief

__all__ = ["BankLoader"]


class BankLoader:
    """Makes a module of a text, as Python's own loaders do of code.

    Args:
        name: of the module.
        path: of the text.
    """

    def __init__(self, name: str, path: str) -> None:
        self.path = Path(path)

    def create_module(self, spec: object) -> None:
        """Let Python make the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Fill the module with the exercises, and put them in the bank of their topic.

        Raises:
            BankError: something is wrong in the text.
        """
        reader, topic = _Reader(self.path, vars(module)), self.path.stem
        reader.names |= {"math": math, "torch": torch, "nn": torch.nn, "TOPIC": topic}
        for line, source in setups(self.path):
            reader.run(source, line, reader.names)
        all_of_it = list(sections(self.path))
        made = {each.name: reader.exercise(each) for each in all_of_it}
        put_in_bank(topic, made, [each.name for each in all_of_it if each.further])
        reader.names |= {**made, "__all__": list(made)}


class _Reader:
    """Makes exercises, with the names that the code in front of a text defines."""

    def __init__(self, path: Path, names: dict[str, Any]) -> None:
        self.path, self.names = path, names

    def fail(self, line: int, message: str) -> NoReturn:
        fail(self.path, line, message)

    @contextlib.contextmanager
    def telling(self, line: int, what: str) -> Iterator[None]:
        """Say of an error in which line of the text it is."""
        try:
            yield
        except SyntaxError as error:
            self.fail(line, f"{what} isn't Python: {error.msg}.")
        except Exception as error:
            frames, trace = [], error.__traceback__
            while trace:
                frames.append((trace.tb_frame.f_code.co_filename, trace.tb_lineno))
                trace = trace.tb_next
            own = [number for file, number in frames if file == str(self.path)]
            self.fail(own[-1] if own else line, f"{what} raises {type(error).__name__}: {error}.")

    def run(self, source: str, line: int, scope: dict[str, Any]) -> None:
        """Run code that begins in a line of the text."""
        try:
            tree = ast.parse(source)
        except SyntaxError as error:
            self.fail(line + (error.lineno or 1) - 1, f"this isn't Python: {error.msg}.")
        with self.telling(line, "this code"):
            ast.increment_lineno(tree, line - 1)
            exec(compile(tree, str(self.path), "exec"), self.names, scope)

    def value(self, source: str, line: int) -> Any:
        """Evaluate an expression."""
        with self.telling(line, f"`{source}`"):
            return eval(source, self.names)

    def told(self, entry: Entry) -> tuple[str, str, Belief | None]:
        """Split an entry into its code, the sentence, and the belief behind it."""
        source, _, words = f" {entry.rest}".partition(" # ")
        try:
            sentence, belief = told(words.strip())
        except ValueError as problem:
            self.fail(entry.line, str(problem))
        if not sentence.endswith("."):
            self.fail(entry.line, "two spaces, #, and a sentence with a period are expected.")
        return source.strip(), sentence, belief

    def exercise(self, section: Section) -> Exercise:
        """Make the exercise that a section describes."""
        return self.code(section) if section.is_code else self.prediction(section)

    def options(self, section: Section, words: Sequence[str]) -> dict[str, Any]:
        given = {e.word: self.value(e.rest, e.line) for e in section.entries if e.word in words}
        return given | {"hints": [entry.rest for entry in section.all("hint")]}

    def prediction(self, section: Section) -> Prediction:
        options = self.options(section, ["within", "choose"])
        values: list[object] = []
        said: dict[str, list[tuple]] = {"right": [], "wrong": []}
        for entry in section.all("right") + section.all("wrong"):
            source, message, belief = self.told(entry)
            value = self.value(source, entry.line)
            if any(value == other for other in values):
                self.fail(entry.line, f"the value {value!r} is written twice.")
            values.append(value)
            said[entry.word].append((value, belief(message) if belief else message))
        answer, reason = said["right"][0]
        return Prediction(
            answer=answer,
            reason=reason,
            also=dict(said["right"][1:]),
            wrong=dict(said["wrong"]),
            choices=options.pop("choose", ()),
            **options,
        )

    def code(self, section: Section) -> CodeExercise:
        options = self.options(section, ["layout", "without", "within"])
        for entry in section.all("norm"):
            given = f"lambda norm, {section.parameters}: " if section.parameters else ""
            options["norm"] = self.value(given + entry.rest, entry.line)
        exercise = CodeExercise(
            inputs=dict(pair for entry in section.all("on") for pair in self.inputs(entry)),
            observations=[self.observation(entry) for entry in section.all("see")],
            **options,
        )
        exercise.template = template = self.template(section.all("gaps")[0])
        answer = exercise.answer(self.answer(template))
        for entry in section.all("right"):
            answer.__doc__ = self.told(entry)[1]
        for entry in section.all("wrong"):
            _, message, belief = self.told(entry)
            exercise.mistake(belief)(self.mistake(section, entry, message, exercise.norm))
        for entry in section.all("mistakes"):
            for mistake, belief in self.value(entry.rest, entry.line):
                exercise.mistake(belief)(mistake)
        return exercise

    def inputs(self, entry: Entry) -> list[tuple[str, tuple]]:
        place, colon, values = entry.rest.partition(": ")
        if colon:
            return [(place, self.value(f"({values},)", entry.line))]
        return list(self.value(entry.rest, entry.line).items())

    def observation(self, entry: Entry) -> Observation:
        what, _, more = entry.rest.partition(", ")
        if what not in Observed.__members__:
            self.fail(entry.line, f"{what!r} isn't one of {', '.join(Observed.__members__)}.")
        return Observation(Observed[what], *self.value(f"({more},)", entry.line))

    def template(self, entry: Entry) -> Template:
        """Parse a program with gaps, and see that it's Python with each single wrong piece."""

        def line(at: int) -> int:
            return entry.below_line + entry.below[:at].count("\n")

        try:
            template = parse(entry.below)
        except GapError as problem:
            self.fail(line(problem.at), str(problem))
        for chosen in [template.first, *template.single()]:
            pieces = [gap[n] for gap, n in zip(template.gaps, chosen, strict=True)]
            wrong = next((piece for piece in pieces if piece.why), None)
            what = f"the program with {wrong.code!r}" if wrong else "the program"
            with self.telling(line(wrong.at if wrong else 0), what):
                compile(template.program(chosen), self.path.name, "exec")
            if chosen == template.first and wrong:
                self.fail(line(wrong.at), "the first piece of a gap is right, without a sentence.")
        return template

    def answer(self, template: Template) -> Callable:
        """Return the function or class with the first pieces, whose source can be looked up."""
        source, scope = template.program(template.first), dict(self.names)
        name = f"<{self.path.stem}: {hash(source)}>"
        linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
        exec(compile(source, name, "exec"), scope)
        return list(scope.values())[-1]

    def mistake(
        self, section: Section, entry: Entry, message: str, norm: Callable | None
    ) -> Callable:
        """Return the function that an entry describes."""
        source, _, _ = self.told(entry)
        if not source and not entry.below:
            self.fail(entry.line, "in front of # stands what the mistake returns.")
        body = textwrap.indent(entry.below or f"return {source}", "    ")
        given = ", ".join(["norm"] * bool(norm) + [section.parameters or "*arguments"])
        line = entry.below_line - 1 if entry.below else entry.line - 1
        scope: dict[str, Any] = {}
        self.run(f"def mistake({given}):\n{body}", line, scope)
        scope["mistake"].__doc__ = message
        return scope["mistake"]
