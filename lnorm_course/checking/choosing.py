"""An exercise in code as a program with gaps: a student chooses what stands in each.

The templates are in the banks. A gap is written as

    x.mean(dim=⟨-1 ¦ 0 ⇒ That averages over the points. [over the batch] ¦ 1 ⇒ That's wrong, too.⟩)

A piece with a sentence behind `⇒` is wrong, and one without is right, together with all others that
are. The first one is right. A belief behind a mistake stands in brackets. A gap may go over several
lines.
"""

import itertools
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import torch

from lnorm_course.slips.beliefs import Belief

__all__ = [
    "MOST",
    "GapError",
    "Piece",
    "Template",
    "outcomes",
    "parse",
    "to_change",
    "told",
]

GAP = re.compile(r"⟨([^⟨⟩]*)⟩")
MOST = 600  # programs of one template


class GapError(ValueError):
    """What's wrong in a program with gaps, and at which character."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


@dataclass(frozen=True)
class Piece:
    """What can stand in a gap.

    Args:
        code: as it stands in the program.
        why: a sentence that says what's wrong with it; empty if it's right.
        belief: the common belief behind it, if any.
        at: where it begins in the text of the program.
    """

    code: str
    why: str = ""
    belief: Belief | None = None
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True)
class Template:
    """A program with gaps.

    Args:
        code: what stands before the first gap, between two gaps, and behind the last one.
        gaps: the pieces of each gap, ordered by their code, so that the order tells nothing.
        first: for each gap the number of the piece that is written first.
    """

    code: tuple[str, ...]
    gaps: tuple[tuple[Piece, ...], ...]
    first: tuple[int, ...] = ()

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

    def single(self) -> Iterator[tuple[int, ...]]:
        """Yield the programs with one wrong piece, and the first piece in each other gap."""
        for n, gap in enumerate(self.gaps):
            for number in sorted(range(len(gap)), key=lambda number: gap[number].at):
                if gap[number].why:
                    yield (*self.first[:n], number, *self.first[n + 1 :])

    def marked(self, chosen: Sequence[int]) -> list[int]:
        """Number the gaps with a piece that is wrong."""
        return [n for n, (gap, at) in enumerate(zip(self.gaps, chosen, strict=True)) if gap[at].why]


def parse(text: str) -> Template:
    """Read a program with gaps.

    Raises:
        GapError: a gap isn't written as it should be, or there are too many programs.

    >>> template = parse("y = ⟨x ¦ -x ⇒ That's the wrong sign.⟩")
    >>> [(piece.code, piece.why) for piece in template.gaps[0]]
    [('-x', "That's the wrong sign."), ('x', '')]
    >>> template.program([1])
    'y = x'
    """
    code, at = GAP.split(text)[::2], 0
    for part, inside in itertools.zip_longest(code, GAP.findall(text), fillvalue=""):
        if stray := re.search("[⟨⟩¦⇒]", part):
            line = part[part.rfind("\n", 0, stray.start()) + 1 :].partition("\n")[0].strip()
            raise GapError(f"A {stray[0]} stands outside of a gap ⟨…⟩: {line}", at + stray.start())
        at += len(part) + len(inside) + 2
    gaps = [_pieces(found[1], found.start(1)) for found in GAP.finditer(text)]
    if not gaps:
        raise GapError("A template needs a gap ⟨…⟩ at least.", 0)
    if (count := math.prod(map(len, gaps))) > MOST:
        raise GapError(f"The gaps make {count} programs, and at most {MOST} are tried.", 0)
    ordered = [tuple(sorted(gap, key=lambda piece: piece.code)) for gap in gaps]
    first = [pieces.index(gap[0]) for pieces, gap in zip(ordered, gaps, strict=True)]
    return Template(tuple(code), tuple(ordered), tuple(first))


def told(words: str) -> tuple[str, Belief | None]:
    """Split a sentence from the belief behind it.

    Raises:
        ValueError: there's no such belief.

    >>> sentence, belief = told("That averages over the points. [over the batch]")
    >>> sentence, belief.name
    ('That averages over the points.', 'OVER_THE_BATCH')
    """
    if not words.endswith("]"):
        return words, None
    sentence, _, belief = words.removesuffix("]").rpartition(" [")
    name = belief.upper().replace(" ", "_")
    if name not in Belief.__members__:
        known = ", ".join(each.lower().replace("_", " ") for each in Belief.__members__)
        raise ValueError(f"There's no belief [{belief}]. Choose one of: {known}.")
    return sentence, Belief[name]


def _pieces(gap: str, at: int) -> list[Piece]:
    """Read the pieces of a gap that begins at a character, in the order of the text."""
    shown = " ".join(gap.split())
    pieces: list[Piece] = []
    for part in gap.split("¦"):
        start = at + len(part) - len(part.lstrip())
        code, *why = (" ".join(each.split()) for each in part.split("⇒"))
        try:
            sentence, belief = told(why[0]) if why else ("", None)
        except ValueError as problem:
            raise GapError(str(problem), start) from None
        if len(why) > 1 or (why and not sentence.endswith(".")):
            form = "A wrong piece is code, ⇒, and a sentence with a period"
            raise GapError(f"{form}: ⟨{shown}⟩", start)
        pieces.append(Piece(code, sentence, belief, start))
        at += len(part) + 1
    if len({piece.code for piece in pieces}) < max(2, len(pieces)):
        raise GapError(f"A gap needs two or more pieces, all different: ⟨{shown}⟩", pieces[-1].at)
    if all(piece.why for piece in pieces):
        raise GapError(f"A gap needs a piece that is right: ⟨{shown}⟩", pieces[0].at)
    return pieces


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
