"""The text of a bank, `exercises/mean.txt`, as its exercises and their entries.

    ```python
    X = encoded_points().double()
    ```

    # A comment, here or in front of an entry.
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

The code in front runs first, and has `math`, `torch`, and `nn`. An exercise of a side trip is
marked as `(further)`. An entry is a word and what stands behind it. It goes on in the next line if
that is indented by more than eight spaces, and a program stands below it, indented by eight. The
sentence about a value or a mistake stands behind `#`, and in brackets the common belief behind it.

| word | for | what stands behind it |
|---|---|---|
| `right` | both | a value and why it's right, first the answer; of code only what a student reads |
| `wrong` | both | a value; for code what a mistake returns, or a program with `return` below |
| `hint` | both | from the gentlest to the strongest |
| `within` | both | how far a number may be from the right one |
| `choose` | values | a list of the numbers to choose from |
| `on` | functions | what an input is called, a colon, and the arguments; or a dictionary |
| `see` | classes | the arguments of an `Observation`, first OUTPUT or the like |
| `norm`, `layout`, `without` | code | as in `CodeExercise` |
| `mistakes` | code | pairs of a mistake and its belief or None, which code in front makes |
| `gaps` | code | the program with gaps below; its first pieces are the answer |
"""

import re
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, NoReturn

__all__ = ["BankError", "Entry", "Section", "fail", "sections", "setups"]

HEAD = re.compile(r"(\w+)(?:\(([\w, ]+)\))?(  \(further\))?")
SETUP = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OF_VALUES = ("right", "wrong", "hint", "within", "choose")
OF_CODE = (
    *("on", "see", "norm", "layout", "without", "within"),
    *("right", "wrong", "mistakes", "hint", "gaps"),
)


class BankError(ValueError):
    """What's wrong in the text of a bank, with its file and line."""


class Entry(NamedTuple):
    """A word, what stands behind it, and the program below, each with its line in the file."""

    line: int
    word: str
    rest: str
    below: str
    below_line: int


class Section(NamedTuple):
    """What a text says of one exercise."""

    line: int
    name: str
    parameters: str
    further: bool
    entries: list[Entry]

    @property
    def is_code(self) -> bool:
        """Tell whether the answer is a function or a class."""
        return bool(self.parameters or self.all("gaps"))

    def all(self, word: str) -> list[Entry]:
        """Return the entries with this word."""
        return [entry for entry in self.entries if entry.word == word]


def setups(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the source of the code that runs first."""
    text = path.read_text("utf-8")
    for found in SETUP.finditer(text):
        yield text[: found.start(1)].count("\n") + 1, found[1]


def sections(path: Path) -> Iterator[Section]:
    """Yield what a text says of each exercise, and run nothing.

    Raises:
        BankError: a line isn't written as it should be.
    """
    text = SETUP.sub(lambda code: "\n" * code[0].count("\n"), path.read_text("utf-8"))
    lines = ["" if re.match("( {4})?# ", line) else line for line in text.splitlines()]
    starts = [n for n, line in enumerate(lines) if line[:1].strip()]
    names: set[str] = set()
    for start, end in pairwise([*starts, len(lines)]):
        if not (head := HEAD.fullmatch(lines[start])):
            fail(path, start + 1, "an exercise begins as `name`, `name(x)`, or `name  (further)`.")
        name, parameters, further = head.groups(default="")
        entries = list(_entries(path, lines[:end], start + 1))
        section = Section(start + 1, name, parameters, bool(further), entries)
        _check(path, section, names)
        names.add(name)
        yield section


def _entries(path: Path, lines: list[str], first: int) -> Iterator[Entry]:
    depths = [len(line) - len(line.lstrip()) if line.strip() else 99 for line in lines]
    starts = [n for n in range(first, len(lines)) if depths[n] < 8]
    for start, end in pairwise([*starts, len(lines)]):
        if depths[start] != 4:
            fail(path, start + 1, "a word such as `right` is indented by four spaces.")
        body = next((n for n in range(start, end) if depths[n] == 8), end)
        word, *rest = " ".join(line.strip() for line in lines[start:body]).split(maxsplit=1)
        below = textwrap.dedent("\n".join(lines[body:end])).rstrip()
        yield Entry(start + 1, word, "".join(rest).strip(), below, body + 1)


def _check(path: Path, section: Section, names: set[str]) -> None:
    if section.name in names:
        fail(path, section.line, f"there are two exercises called {section.name!r}.")
    words = OF_CODE if section.is_code else OF_VALUES
    for entry in section.entries:
        if entry.word not in words:
            fail(path, entry.line, f"{entry.word!r} isn't one of the words {', '.join(words)}.")
        if not entry.rest and not entry.below:
            fail(path, entry.line, f"nothing stands behind {entry.word!r}.")
    for word in ("hint", "gaps" if section.is_code else "right"):
        if not section.all(word):
            fail(path, section.line, f"{section.name!r} has no `{word}`.")


def fail(path: Path, line: int, message: str) -> NoReturn:
    """Tell an author what's wrong in a line of a text.

    Raises:
        BankError: always.
    """
    raise BankError(f"{path.name}, line {line}: {message}") from None
