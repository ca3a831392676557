"""Read programs with gaps, ⟨right ¦ wrong ⇒ sentence⟩, in exercises and models.

    x.mean(dim=⟨-1 ¦ 0 ⇒ That averages over the points. [over the batch] ¦ 1 ⇒ That's wrong, too.⟩)

An option with a sentence after `⇒` is wrong: a distractor. An option without one is right, as the
first option of every gap has to be. A gap may span several lines. Brackets hold what else is known
about a distractor, separated by commas. This can be the misconception behind it ("over the batch"),
a condition ("has clamp|std&!eps": the sentence is used only if the student's source has `clamp`, or
`std` without `eps`), or a `Tag` ("common").
"""

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import torch

from lnorm_diagnose.slips.misconceptions import Misconception

__all__ = ["MOST", "GapError", "Option", "Tag", "Template", "TextError", "parse", "split", "told"]

GAP = re.compile(r"⟨([^⟨⟩]*)⟩")
BRACKETS = re.compile(r"(?:(.*) )?\[([^\[\]]+)\]")
MOST = 600  # maximum number of programs in a template


class Tag(Enum):
    """What else a text can say about a distractor, in the words used in its brackets."""

    COMMON = "common"  # so frequent that it's tried together with every other option
    WHOLE = "whole"  # every choice of axes is tried in this gap, even if only a few are in others
    NEEDS_BETA = "needs β"  # it has no effect without β
    ALONE = "alone"  # so rare that it's never tried together with another option
    ADDS_ONE = "adds one"  # it's right for a layer that stores γ − 1
    EXERCISES = "exercises"  # it's used only in exercises, not to diagnose a layer
    LAYER_NORM = "layer norm"  # what it says isn't true of RMSNorm


TAGS = [tag.value for tag in Tag]


class TextError(ValueError):
    """A mistake in the text of exercises or of a model, with its file and line."""

    def __init__(self, path: Path, line: int, message: str) -> None:
        super().__init__(f"{path.name}, line {line}: {message}")


class GapError(ValueError):
    """A mistake in a program with gaps, with the index of the character where it is."""

    def __init__(self, message: str, at: int = 0) -> None:
        super().__init__(message)
        self.at = at


class Option(NamedTuple):
    """Code that can fill a gap: a right option, or a distractor.

    Args:
        gap: the number of the gap.
        number: the number of the option in its gap.
        code: its code, as it appears in the program.
        why: a sentence that says what's wrong with it; empty if it's right.
        misconceptions: the misconceptions behind it.
        has: what the student's source must contain, with `|` for or, `&` for and, and `!` for not.
        at: where it begins in the text of the program.
        tags: the tags in its brackets.
        step: the name of the model's step that its gap is in; empty in an exercise.
        is_axes: whether its code is a choice of axes that was put in place of AXES.
        value: the number that NUMBER stands for in its code; None if its code has no NUMBER.
        elsewhere: the sentence to use instead of `why` if the axes are wrong, too, because then the
            mean isn't taken over D numbers.
    """

    gap: int
    number: int
    code: str
    why: str = ""
    misconceptions: tuple[Misconception, ...] = ()
    has: str = ""
    at: int = 0
    tags: frozenset[Tag] = frozenset()
    step: str = ""
    is_axes: bool = False
    value: Any = None
    elsewhere: str = ""


class Template(NamedTuple):
    """A program with gaps.

    Args:
        code: the source before the first gap, between the gaps, and after the last gap.
        gaps: the options for each gap; the first options together make the answer.
    """

    code: tuple[str, ...]
    gaps: tuple[tuple[Option, ...], ...]

    @property
    def programs(self) -> list[tuple[int, ...]]:
        """All choices of one option per gap, as numbers; the last gap's number changes fastest."""
        return list(itertools.product(*(range(len(gap)) for gap in self.gaps)))

    @property
    def distractors(self) -> list[Option]:
        """The wrong options of all gaps."""
        return [option for gap in self.gaps for option in gap if option.why]

    def options(self, chosen: Sequence[int]) -> list[Option]:
        """Return the options with these numbers, one for each gap."""
        return [gap[number] for gap, number in zip(self.gaps, chosen, strict=True)]

    def program(self, options: Sequence[Option] = ()) -> str:
        """Return the source with these options, and with the first option in all remaining gaps."""
        chosen = {option.gap: option for option in options}
        codes = [chosen.get(n, gap[0]).code for n, gap in enumerate(self.gaps)]
        return "".join(map("".join, itertools.zip_longest(self.code, codes, fillvalue="")))

    def make(self, options: Sequence[Option] = ()) -> Any:
        """Return the function or the class that the source defines last.

        Raises:
            Exception: whatever the source raises when it's run.
        """
        names = {"__name__": __name__, "math": math, "torch": torch, "nn": torch.nn}
        exec(self.program(options), names)
        return [*names.values()][-1]


def parse(text: str) -> Template:
    """Read an exercise's program with gaps.

    Raises:
        GapError: a gap is malformed, or the gaps allow too many programs.

    >>> template = parse("y = ⟨x ¦ -x ⇒ That's the wrong sign.⟩")
    >>> [(option.code, option.why) for option in template.gaps[0]]
    [('x', ''), ('-x', "That's the wrong sign.")]
    >>> template.program()
    'y = x'
    """
    code, gaps = split(text)
    if not gaps:
        raise GapError("A template needs at least one gap ⟨…⟩.")
    if (count := math.prod(map(len, gaps))) > MOST:
        raise GapError(f"The gaps allow {count} programs, but at most {MOST} are tried.")
    for option in itertools.chain(*gaps):
        for tag in option.tags:
            raise GapError(f"[{tag.value}] is allowed only in models: {option.code}", option.at)
    return Template(tuple(code), tuple(map(tuple, gaps)))


def split(text: str) -> tuple[list[str], list[list[Option]]]:
    """Split a program into the source outside its gaps and the options for each gap.

    Raises:
        GapError: a gap is malformed.
    """
    outside = GAP.sub(lambda gap: " " * len(gap[0]), text)
    if stray := re.search("[⟨⟩¦⇒]", outside):
        line = text[text.rfind("\n", 0, stray.start()) + 1 :].partition("\n")[0].strip()
        raise GapError(f"There is a {stray[0]} outside of a gap ⟨…⟩: {line}", stray.start())
    gaps = [list(_options(n, found)) for n, found in enumerate(GAP.finditer(text))]
    return GAP.split(text)[::2], gaps


def _options(gap: int, found: re.Match) -> Iterator[Option]:
    shown, at, codes = f"⟨{' '.join(found[1].split())}⟩", found.start(1), set()
    for number, part in enumerate(found[1].split("¦")):
        start = at + len(part) - len(part.lstrip())
        code, *why = (" ".join(each.split()) for each in part.split("⇒"))
        try:
            option = (told(why[0]) if why else Option(0, 0, ""))._replace(gap=gap, number=number)
        except ValueError as problem:
            raise GapError(str(problem), start) from None
        if len(why) > 1 or (why and not option.why.endswith(".")):
            form = "A distractor needs code, ⇒, and a sentence with a period"
            raise GapError(f"{form}: {shown}", start)
        if option.why and not number:
            raise GapError(f"A gap's first option is right and has no sentence: {shown}", start)
        yield option._replace(code=code, at=start)
        codes.add(code)
        at += len(part) + 1
    if len(codes) < max(2, number + 1):
        raise GapError(f"A gap needs two or more options, all different: {shown}", start)


def told(words: str) -> Option:
    """Read what is said about a mistake: its sentences, and the notes in brackets.

    Raises:
        ValueError: a note in brackets is neither a misconception nor a tag.

    >>> option = told("That averages over the points. [over the batch, has mean, common]")
    >>> option.why, option.misconceptions[0].name, option.has, *option.tags
    ('That averages over the points.', 'OVER_THE_BATCH', 'mean', <Tag.COMMON: 'common'>)
    """
    found = BRACKETS.fullmatch(words)
    if not found:
        return Option(0, 0, "", words)
    option = Option(0, 0, "", found[1] or "")
    for known in found[2].split(", "):
        word, _, rest = known.partition(" ")
        name = known.upper().replace(" ", "_")
        if word == "has":
            option = option._replace(has=rest)
        elif known in TAGS:
            option = option._replace(tags=option.tags | {Tag(known)})
        elif name in Misconception.__members__:
            option = option._replace(misconceptions=(*option.misconceptions, Misconception[name]))
        else:
            misconceptions = (each.lower().replace("_", " ") for each in Misconception.__members__)
            choices = ", ".join([*misconceptions, "has …", *TAGS])
            said = f"[{known}] is neither a misconception nor a tag. Choose one of: {choices}."
            raise ValueError(said)
    return option
