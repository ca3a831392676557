"""An exercise in code as a program with gaps: a student chooses what stands in each.

The templates are in `exercises/choices`, in a file for each topic. There, `== name ==` begins the
program of an exercise, and a gap is written as

    x.mean(dim=⟨-1 ¦ 1 ⇒ That averages over the positions.⟩)

A piece with a sentence behind `⇒` is wrong, and one without is right, together with all others that
are. A gap may go over several lines.
"""

import functools
import itertools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

__all__ = [
    "FOLDER",
    "MOST",
    "Piece",
    "Template",
    "outcomes",
    "parse",
    "template_of",
    "templates_in",
    "to_change",
]

FOLDER = Path(__file__).parents[1] / "exercises" / "choices"
HEADING = re.compile(r"^== (\w+) ==\n", re.MULTILINE)
GAP = re.compile(r"⟨([^⟨⟩]*)⟩")
MOST = 600  # programs of one template


@dataclass(frozen=True)
class Piece:
    """What can stand in a gap.

    Args:
        code: as it stands in the program.
        why: a sentence that says what's wrong with it; empty if it's right.
    """

    code: str
    why: str = ""


@dataclass(frozen=True)
class Template:
    """A program with gaps.

    Args:
        code: what stands before the first gap, between two gaps, and behind the last one.
        gaps: the pieces of each gap, ordered by their code, so that the order tells nothing.
    """

    code: tuple[str, ...]
    gaps: tuple[tuple[Piece, ...], ...]

    @property
    def programs(self) -> list[tuple[int, ...]]:
        """All ways to choose: for each gap the number of its piece; the last one changes first."""
        return list(itertools.product(*(range(len(gap)) for gap in self.gaps)))

    def program(self, chosen: Sequence[int]) -> str:
        """Return the source with these pieces."""
        pieces = [gap[n].code for gap, n in zip(self.gaps, chosen, strict=True)]
        return "".join(map("".join, itertools.zip_longest(self.code, pieces, fillvalue="")))

    def attempt(self, chosen: Sequence[int]) -> object:
        """Return the function or the class that the source defines last.

        Raises:
            Exception: what the source raises when it's run.
        """
        names = {"__name__": __name__, "math": math, "torch": torch, "nn": torch.nn}
        exec(self.program(chosen), names)
        return [*names.values()][-1]

    @property
    def right(self) -> dict[int, int]:
        """For each gap the number of a piece that is right."""
        return {
            gap: next(n for n, piece in enumerate(pieces) if not piece.why)
            for gap, pieces in enumerate(self.gaps)
        }

    def marked(self, chosen: Sequence[int]) -> list[int]:
        """Number the gaps with a piece that is wrong."""
        return [n for n, (gap, at) in enumerate(zip(self.gaps, chosen, strict=True)) if gap[at].why]


def parse(text: str) -> Template:
    """Read a program with gaps.

    Raises:
        ValueError: a gap isn't written as it should be, or there are too many programs.

    >>> template = parse("y = ⟨x ¦ -x ⇒ That's the wrong sign.⟩")
    >>> template.gaps
    ((Piece(code='-x', why="That's the wrong sign."), Piece(code='x', why='')),)
    >>> template.program([1])
    'y = x'
    """
    code, inside = GAP.split(text)[::2], GAP.split(text)[1::2]
    for part in code:
        if sign := next((sign for sign in "⟨⟩¦⇒" if sign in part), ""):
            line = next(line.strip() for line in part.splitlines() if sign in line)
            raise ValueError(f"A {sign} stands outside of a gap ⟨…⟩: {line}")
    template = Template(tuple(code), tuple(map(_pieces, inside)))
    if not inside:
        raise ValueError("A template needs a gap ⟨…⟩ at least.")
    if (count := math.prod(map(len, template.gaps))) > MOST:
        raise ValueError(f"The gaps make {count} programs, and at most {MOST} are tried.")
    return template


def _pieces(gap: str) -> tuple[Piece, ...]:
    told = " ".join(gap.split())
    pieces = []
    for part in gap.split("¦"):
        code, *why = (" ".join(each.split()) for each in part.split("⇒"))
        if len(why) > 1 or (why and not why[0].endswith(".")):
            raise ValueError(f"A wrong piece is code, ⇒, and a sentence with a period: ⟨{told}⟩")
        pieces.append(Piece(code, *why))
    if len({piece.code for piece in pieces}) < max(2, len(pieces)):
        raise ValueError(f"A gap needs two or more pieces, all different: ⟨{told}⟩")
    if all(piece.why for piece in pieces):
        raise ValueError(f"A gap needs a piece that is right: ⟨{told}⟩")
    return tuple(sorted(pieces, key=lambda piece: piece.code))


@functools.cache
def templates_in(file: Path) -> dict[str, Template]:
    """Read a file of templates: exercise name → template; none if there's no such file.

    Raises:
        ValueError: one of them is written wrongly.
    """
    if not file.exists():
        return {}
    _, *parts = HEADING.split(file.read_text("utf-8"))
    found = {}
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        try:
            found[name] = parse(text.strip())
        except ValueError as problem:
            raise ValueError(f"In the program of {name!r}: {problem}") from None
    return found


def template_of(topic: str, name: str) -> Template | None:
    """Return the template of an exercise, if it has one.

    Raises:
        ValueError: one of the templates on this topic is written wrongly.
    """
    return templates_in(FOLDER / f"{topic}.txt").get(name) if topic else None


def to_change(
    template: Template, chosen: Sequence[int], is_right: Callable[[tuple[int, ...]], bool]
) -> list[int]:
    """Number the fewest gaps whose change makes a program right; none if it's right as it is.

    Only gaps with a piece that is wrong are changed, so each has a sentence. Changing all of them
    makes the program right. `choosing.js` does the same on a page.

    Args:
        template: with the gaps.
        chosen: the number of a piece for each gap.
        is_right: whether a program does what the exercise asks for.
    """
    if is_right(tuple(chosen)):
        return []
    marked = template.marked(chosen)
    for count in range(1, len(marked)):
        for gaps in itertools.combinations(marked, count):
            others = (
                range(len(gap)) if n in gaps else [chosen[n]] for n, gap in enumerate(template.gaps)
            )
            if any(map(is_right, itertools.product(*others))):
                return list(gaps)
    return marked


def outcomes(template: Template, is_right: Callable[[tuple[int, ...]], bool]) -> bytes:
    """Tell of each program whether it's right: its bit, counted from the lowest of each byte."""
    bits = sum(is_right(chosen) << n for n, chosen in enumerate(template.programs))
    return bits.to_bytes((len(template.programs) + 7) // 8, "little")
