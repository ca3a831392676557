"""Make the exercises of a bank from its text, such as `exercises/mean.txt`.

    ```python
    X = encoded_points().double()
    ```

    # A comment, here or before an entry.
    how_many  (further)
        right  3 * 2  # Each row has a mean of its own.
        wrong  8  # That's one for each position and feature. Layer norm never averages over the
               batch. [over the batch]
        hint   How many rows are there?

    center(x)
        on     the x of this lesson: X
        norm   norm.center(x)
        wrong  norm.mean(x)  # You returned the means. Subtract them from their rows.
        hint   Subtract from each row its own mean.
        gaps
            def centered(x):
                return ⟨x - x.mean(-1, True) ¦ x ⇒ That's x as it was.⟩

The Python block runs first, with `math`, `torch`, and `nn` already imported. An exercise on a side
trip is marked `(further)`. An entry is a word and the text after it. A line that is indented by
more than eight spaces continues the text. If an entry has a program, it comes last, indented by
eight spaces. A value or a mistake is explained by a sentence after `#`, which may be followed, in
brackets, by the misconception behind the mistake.

| word | for | what follows it |
|---|---|---|
| `right` | both | a value and why it's right (the first is the answer); for code, only the reason |
| `wrong` | both | a value; for code, what a mistake returns, or code below that uses `return` |
| `hint` | both | a hint; hints go from the gentlest to the strongest |
| `tol` | both | the absolute tolerance; for a tensor, both the absolute and the relative one |
| `choose` | values | a list of the numbers to choose from |
| `on` | functions | an input's name, a colon, and the arguments; or a dictionary of such pairs |
| `see` | classes | the arguments of `class_attempts.look`, of which the first is one of `LOOKS` |
| `norm` | code | the right result, computed with the model's steps (methods of `norm`) |
| `model`, `without` | code | as in `CodeExercise` |
| `mistakes` | code | `Mistake`s created by the Python block |
| `gaps` | code | on the lines below, the program with gaps; their first options are right |
"""

import math
import re
import textwrap
import traceback
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import torch

from lnorm_course.checking.class_attempts import LOOKS, look
from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import Exercise
from lnorm_course.checking.prediction import Prediction
from lnorm_diagnose.fewest_slips import Mistake
from lnorm_diagnose.slips.misconceptions import Misconception
from lnorm_diagnose.slips.notation import GapError, Template, TextError, parse, told

__all__ = ["BankLoader", "Entry", "Section", "sections"]

HEAD = re.compile(r"(\w+)(?:\(([\w, ]+)\))?(  \(further\))?")
SETUP = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTIONS = ("tol", "choose", "model", "without")
OF_VALUES = ("right", "wrong", "hint", "tol", "choose")
OF_CODE = (
    *("on", "see", "norm", "model", "without", "tol"),
    *("right", "wrong", "mistakes", "hint", "gaps"),
)


class Entry(NamedTuple):
    """An entry: its keyword, the text after it, and the code below, with their line numbers."""

    line: int
    word: str
    rest: str
    below: str
    below_line: int

    def line_of(self, at: int) -> int:
        """Return the line number of the program's character at index `at`."""
        return self.below_line + self.below[:at].count("\n")


class Section(NamedTuple):
    """What a bank's text says about one exercise."""

    line: int
    name: str
    parameters: str
    is_further: bool
    entries: list[Entry]

    @property
    def is_code(self) -> bool:
        """Tell whether the answer is a function or a class."""
        return bool(self.parameters or self.all("gaps"))

    def all(self, *words: str) -> list[Entry]:
        """Return the entries with these words."""
        return [entry for entry in self.entries if entry.word in words]


def _setups(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line number and the source of each Python block that runs before the exercises."""
    text = path.read_text("utf-8")
    for found in SETUP.finditer(text):
        yield text[: found.start(1)].count("\n") + 1, found[1]


def sections(path: Path) -> Iterator[Section]:
    """Yield what a text says about each exercise, without running any of it.

    Raises:
        TextError: a line doesn't follow the format.
    """
    text = SETUP.sub(lambda code: "\n" * code[0].count("\n"), path.read_text("utf-8"))
    text = re.sub("^( {4})?# .*", "", text, flags=re.MULTILINE)
    names: set[str] = set()
    for line, part in _parts(text, 1, r"\S"):
        head, _, body = part.partition("\n")
        if not (found := HEAD.fullmatch(head)):
            form = "an exercise begins with `name`, `name(x)`, or `name  (further)`."
            raise TextError(path, line, form)
        name, parameters, further = found.groups(default="")
        entries = []
        for at, entry in _parts(body, line + 1, r" {0,7}\S"):
            if not re.match(r" {4}\S", entry):
                raise TextError(path, at, "a word like `right` must be indented by four spaces.")
            (_, said), *below = _parts(entry, at, r" {8}\S")
            word, _, rest = " ".join(map(str.strip, said.splitlines())).partition(" ")
            program = textwrap.dedent("".join(each for _, each in below)).rstrip()
            entries.append(Entry(at, word, rest.strip(), program, at + said.count("\n")))
        section = Section(line, name, parameters, bool(further), entries)
        for at, problem in _problems(section, names):
            raise TextError(path, at, problem)
        names.add(name)
        yield section


def _parts(text: str, line: int, start: str) -> Iterator[tuple[int, str]]:
    """Yield each part's line and text; a part begins with a line that matches `start`."""
    for part in re.split(rf"^(?={start})", text, flags=re.MULTILINE):
        if part.strip():
            yield line, part
        line += part.count("\n")


def _problems(section: Section, names: set[str]) -> Iterator[tuple[int, str]]:
    if section.name in names:
        yield section.line, f"there are two exercises called {section.name!r}."
    words = OF_CODE if section.is_code else OF_VALUES
    for entry in section.entries:
        if entry.word not in words:
            yield entry.line, f"{entry.word!r} isn't one of the words {', '.join(words)}."
        if not entry.rest and not entry.below:
            yield entry.line, f"nothing follows {entry.word!r}."
    for word in ("hint", "gaps" if section.is_code else "right"):
        if not section.all(word):
            yield section.line, f"{section.name!r} has no `{word}`."


class BankLoader(SourceFileLoader):
    """Makes a module from a bank's text, as Python's own loader does from code."""

    def exec_module(self, module: ModuleType) -> None:
        """Add the exercises to the module, and register them under their topic.

        Raises:
            TextError: the text contains a mistake.
        """
        self.names, self.text = vars(module), Path(self.path)
        topic = self.text.stem
        self.names |= {"math": math, "torch": torch, "nn": torch.nn, "TOPIC": topic}
        for line, source in _setups(self.text):
            self.run(source, line, "exec")
        found = list(sections(self.text))
        made = {each.name: self.exercise(each) for each in found}
        for each in found:
            made[each.name].put_in_bank(topic, each.name, each.is_further)
        self.names |= {**made, "__all__": list(made)}

    def run(
        self, source: str, line: int, mode: str = "eval", names: dict[str, Any] | None = None
    ) -> Any:
        """Run code that begins at `line` of the text; return its value if it's an expression."""
        try:
            code = compile("\n" * (line - 1) + source, self.path, mode)
            return eval(code, self.names, names)
        except SyntaxError as error:
            is_own = error.filename == self.path
            at = error.lineno if is_own and error.lineno else line
            said = f"this isn't Python: {error.msg}."
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            at = [line, *(f.lineno or line for f in frames if f.filename == self.path)][-1]
            said = f"this raises {type(error).__name__}: {error}."
        raise TextError(self.text, at, said)

    def told(self, entry: Entry) -> tuple[str, str, tuple[Misconception, ...]]:
        """Split an entry into its code, its sentences, and any misconception in brackets."""
        source, _, words = f" {entry.rest}".partition(" # ")
        try:
            option = told(words.strip())
        except ValueError as problem:
            raise TextError(self.text, entry.line, str(problem)) from None
        if not option.why.endswith("."):
            form = "expected two spaces, `#`, and a sentence with a period."
            raise TextError(self.text, entry.line, form)
        if len(option.misconceptions) > 1 or option.has or option.tags:
            raise TextError(self.text, entry.line, "brackets must hold one misconception here.")
        return source.strip(), option.why, option.misconceptions

    def exercise(self, section: Section) -> Exercise:
        """Make the exercise that a section describes."""
        options = {e.word: self.run(e.rest, e.line) for e in section.all(*OPTIONS)}
        options["hints"] = [entry.rest for entry in section.all("hint")]
        return self.code(section, options) if section.is_code else self.values(section, options)

    def values(self, section: Section, options: dict[str, Any]) -> Prediction:
        said: dict[str, list[Mistake]] = {"right": [], "wrong": []}
        for entry in section.all("right", "wrong"):
            source, why, misconceptions = self.told(entry)
            value = self.run(source, entry.line)
            if any(value == other for known in said.values() for other, *_ in known):
                raise TextError(self.text, entry.line, f"the value {value!r} is written twice.")
            said[entry.word].append(Mistake(value, why, misconceptions))
        right = [(value, reason) for value, reason, _ in said["right"]]
        return Prediction(right=right, wrong=said["wrong"], **options)

    def code(self, section: Section, options: dict[str, Any]) -> CodeExercise:
        parameters = section.parameters or "*arguments"
        for entry in section.all("norm"):
            options["by_steps"] = self.run(f"lambda norm, {parameters}: {entry.rest}", entry.line)
        options["inputs"] = {}
        for entry in section.all("on"):
            words, colon, values = entry.rest.partition(": ")
            inputs = self.run(f"({values},)" if colon else entry.rest, entry.line)
            options["inputs"] |= {words: inputs} if colon else inputs
        names = {name: name for name in LOOKS} | {"look": look}
        seen = [self.run(f"look({e.rest})", e.line, names=names) for e in section.all("see")]
        for entry in section.all("right"):
            options["reason"] = self.told(entry)[1]
        given = f"norm, {parameters}" if "by_steps" in options else parameters
        mistakes = [self.mistake(entry, given) for entry in section.all("wrong")]
        for entry in section.all("mistakes"):
            mistakes += self.run(entry.rest, entry.line)
        template = self.template(section.all("gaps")[0])
        return CodeExercise(template, looks=seen, mistakes=mistakes, **options)

    def mistake(self, entry: Entry, given: str) -> Mistake:
        source, why, misconceptions = self.told(entry)
        if not source and not entry.below:
            raise TextError(self.text, entry.line, "expected what the mistake returns before `#`.")
        body = textwrap.indent(entry.below or f"return {source}", "    ")
        line, scope = (entry.below_line if entry.below else entry.line), dict[str, Any]()
        self.run(f"def mistake({given}):\n{body}", line - 1, "exec", scope)
        return Mistake(scope["mistake"], why, misconceptions)

    def template(self, entry: Entry) -> Template:
        """Read a program with gaps, run its answer, and check that each distractor compiles."""
        try:
            template = parse(entry.below)
        except GapError as problem:
            raise TextError(self.text, entry.line_of(problem.at), str(problem)) from None
        self.run("template.make()", entry.below_line, names={"template": template})
        for option in template.distractors:
            try:
                compile(template.program([option]), "<gaps>", "exec")
            except SyntaxError as error:
                said = f"the program with {option.code!r} isn't Python: {error.msg}."
                raise TextError(self.text, entry.line_of(option.at), said) from None
        return template
