"""Collect the mistakes people make in a norm, or in attention, as programs with gaps.

A model consists of one or more texts in this folder, each of which builds on those before it. The
first option of a gap is right, and each distractor says what was done and what the norm does
instead:

    return ⟨var.sqrt() ¦ var ⇒ There is no root. {norm} takes the root of the variance.⟩

The option `AXES` stands for each wrong choice of axes that the exercise's tensors allow. Inside
an option, `NUMBER` stands for a number that is fitted to a layer's results, and `GROUPS` for each
usual number of groups or heads.
"""

import ast
import builtins
import functools
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F

from lnorm_diagnose.slips.misconceptions import Misconception
from lnorm_diagnose.slips.notation import GapError, Option, Tag, TextError, split
from lnorm_utils.data import encoded_points
from lnorm_utils.words import spoken

__all__ = ["LAST", "OF_LAYER_NORM", "OF_RMS_NORM", "RMS_NORM", "SENTENCES", "TABLE", "AxisChoices"]
__all__ += ["ErrorModel", "axes_of", "last_axes"]

FOLDER = Path(__file__).parent
OF_LAYER_NORM = {
    "variance": "variance",
    "deviation": "standard deviation",
    "squared": "distances",
    "does": "subtracts the mean, and divides by the root of variance plus ε",
}
OF_RMS_NORM = {
    "variance": "mean square",
    "deviation": "root of the mean square",
    "squared": "numbers themselves",
    "does": "divides by the root of mean square plus ε",
}
STEP = re.compile(r"def (\w+)")
COMMENT = re.compile(r"^#.*", re.MULTILINE)
NUMBER, GROUPS = re.compile(r"\bNUMBER\b"), re.compile(r"\bGROUPS\b")
# The numbers of groups or heads that are tried in place of GROUPS.
COUNTS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 96, 128)


class AxisChoices(NamedTuple):
    """The right axes in words, and the words, code, and misconception of each wrong choice."""

    right: str = ""
    wrong: Sequence[tuple[str, str, Misconception | None]] = ()
    in_part: bool = True  # whether all wrong choices are tried even in gaps without `Tag.WHOLE`


class ErrorModel:
    """A program with gaps that are filled while it runs.

    Args:
        *names: the names of the texts in `folder`, each after those that it builds on.
        axes: the choices of axes that the tensors allow.
        called: the name of the norm, as written at the beginning of a sentence.
        size: the letter for the number of values that share a mean.
        words: further words that the texts refer to by name, in braces.
        folder: the folder with the texts.

    Raises:
        TextError: a text has a mistake in it; raised when the model is first used.
    """

    def __init__(
        self,
        *names: str,
        axes: AxisChoices | None = None,
        called: str = "Layer norm",
        size: str = "D",
        words: Mapping[str, str] = OF_LAYER_NORM,
        folder: Path = FOLDER,
    ) -> None:
        self._paths, self._axes = [folder / f"{name}.txt" for name in names], axes or AxisChoices()
        self._words = {**words, "norm": called, "D": size, "right": self._axes.right}
        self._words["less"] = f"{size} − 1"

    @functools.cached_property
    def _read(self) -> tuple[list[Option], list[CodeType]]:
        """Read the texts; return all distractors, and programs that run the chosen options."""
        distractors: list[Option] = []
        programs: list[CodeType] = []
        known, count = {*vars(builtins), *NAMES}, 0
        for path in self._paths:
            text = COMMENT.sub("", path.read_text("utf-8"))
            try:
                outside, gaps = split(text)
                each = [self._wrong(gap, text, count + n) for n, gap in enumerate(gaps)]
                codes = [_switch(gap[0], own, text) for gap, own in zip(gaps, each, strict=True)]
                parts = itertools.zip_longest(outside, codes, fillvalue="")
                tree = _with_choices(ast.parse("".join(map("".join, parts)), path))
                programs.append(compile(tree, path, "exec"))
            except GapError as error:
                raise TextError(path, _line(text, error.at), str(error)) from None
            except SyntaxError as error:
                said = f"this isn't Python: {error.msg}."
                raise TextError(path, error.lineno or 1, said) from None
            distractors += itertools.chain(*each)
            count += len(gaps)
            names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
            known |= {name.id for name in names if isinstance(name.ctx, ast.Store)}
            known |= {getattr(node, "name", getattr(node, "arg", "")) for node in ast.walk(tree)}
            for name in names:
                if name.id not in known:
                    raise TextError(path, name.lineno, f"{name.id!r} isn't defined.")
        return distractors, programs

    def _wrong(self, gap: Sequence[Option], text: str, number: int) -> list[Option]:
        """Return the distractors of a gap; gaps are numbered across all texts."""
        step = STEP.findall(text, 0, gap[0].at)[-1]
        each = (option for part in gap[1:] for option in self._each(part))
        return [p._replace(gap=number, number=n, step=step) for n, p in enumerate(each, 1)]

    def _each(self, option: Option) -> Iterator[Option]:
        """Yield an option with its words filled in; for AXES or GROUPS, one for each choice."""
        if GROUPS.search(option.code):
            for count in COUNTS:
                why = _filled(option, {**self._words, "count": str(count)})
                yield option._replace(code=GROUPS.sub(str(count), option.code), why=why)
            return
        if option.code != "AXES":
            words = self._words
            if NUMBER.search(option.code):
                option, words = option._replace(value=1.0), {**words, "number": "{number}"}
            if "{less}" in option.why:
                other = {**words, "less": "one less than the count"}
                option = option._replace(elsewhere=_filled(option, other))
            yield option._replace(why=_filled(option, words))
            return
        for wrong, code, misconception in self._axes.wrong:
            if Tag.WHOLE in option.tags or self._axes.in_part or misconception:
                why = _filled(option, {**self._words, "wrong": wrong})
                behind = (misconception,) if misconception else ()
                yield option._replace(code=code, why=why, misconceptions=behind, is_axes=True)

    @property
    def distractors(self) -> list[Option]:
        """The wrong options of all gaps."""
        return self._read[0]

    @functools.cached_property
    def _class(self) -> Any:
        """The class whose methods are the steps."""
        sight = dict(NAMES)
        for program in self._read[1]:
            exec(program, sight)
        return [each for each in sight.values() if isinstance(each, type)][-1]

    def with_distractors(self, distractors: Sequence[Option] = ()) -> Any:
        """Return an object whose methods are the steps, with these distractors swapped in."""
        steps = self._class()
        steps.chosen = {option.gap: option.number for option in distractors}
        steps.numbers = {option.gap: option.value for option in distractors}
        return steps


def _with_choices(program: ast.Module) -> ast.Module:
    """Make each method of a class begin by reading the choices made for its object."""
    for each in program.body:
        for step in each.body if isinstance(each, ast.ClassDef) else ():
            assert isinstance(step, ast.FunctionDef)
            step.body[:0] = ast.parse("chosen, numbers = self.chosen, self.numbers").body
    return program


def _filled(option: Option, words: Mapping[str, str]) -> str:
    """Return the sentence of an option with the names in braces replaced by words."""
    try:
        return option.why.format(**words)
    except (LookupError, ValueError):
        choices = ", ".join(f"{{{word}}}" for word in words)
        said = f"a word in braces must be one of {choices}: {option.why}"
        raise GapError(said, option.at) from None


def _switch(right: Option, wrong: Sequence[Option], text: str) -> str:
    """Return code that evaluates the chosen option, with each option on its original line."""
    line = _line(text, text.rfind("⟨", 0, right.at))
    code, gap = "(", wrong[0].gap if wrong else None
    for option in (right, *wrong):
        code += "\n" * (_line(text, option.at) - line)
        line = _line(text, option.at)
        try:
            compile(f"({option.code})", "<option>", "eval")
        except SyntaxError as error:
            raise GapError(f"{option.code!r} isn't Python: {error.msg}.", option.at) from None
        is_it = f"chosen[{gap}] == {option.number}" if option.number else f"{gap} not in chosen"
        code += f"({NUMBER.sub(f'numbers[{gap}]', option.code)}) if {is_it} else "
    return f"{code}None" + "\n" * (_line(text, text.find("⟩", right.at)) - line) + ")"


def _line(text: str, at: int) -> int:
    """Return the line number of the character at an index."""
    return text.count("\n", 0, at) + 1


def axes_of(
    names: Sequence[str],
    right: tuple[int, ...],
    misconceptions: Mapping[tuple[int, ...], Misconception] | None = None,
) -> AxisChoices:
    """Return the choices of axes for tensors whose axes have these names.

    Args:
        names: what people call each axis.
        right: the axes over which the mean and the variance are taken.
        misconceptions: maps wrong choices of axes to the common misconceptions behind them.

    >>> axes_of(("the batch", "the features"), (1,)).wrong[1][:2]
    ('the batch and the features', '(0, 1)')
    """
    alone = " alone" * (len(right) == 1)
    some = (
        axes
        for size in range(1, len(names) + 1)
        for axes in itertools.combinations(range(len(names)), size)
        if axes != right
    )

    def words(axes: tuple[int, ...]) -> str:
        return spoken([names[axis] for axis in axes])

    wrong = [(words(axes), str(axes), (misconceptions or {}).get(axes)) for axes in some]
    return AxisChoices(words(right) + alone, wrong, in_part=len(names) <= 3)


def last_axes(count: int) -> AxisChoices:
    """Return the choices of axes for a norm over the last `count` axes, without duplicates.

    >>> [words for words, *_ in last_axes(2).wrong][1:4]
    ['the first axis, the batch', 'the last axis alone', 'axis 1 alone']
    """
    dim, seen = tuple(range(-count, 0)), dict[str, tuple]()
    for choice in (*LAST.wrong, ("the axis before the last", "-2", None)):
        names = {"dim": dim, **NAMES}
        of = [_axes(eval(choice[1], names, {"x": torch.empty([1] * n)}), n) for n in (3, 4, 5)]
        if of != [_axes(dim, n) for n in (3, 4, 5)]:
            seen.setdefault(str(of), choice)
    alone = "the last axis alone" if count == 1 else f"the last {count} axes"
    return AxisChoices(alone, [*seen.values()])


def _axes(dim: int | tuple[int, ...], ndim: int) -> list[int]:
    return sorted(axis % ndim for axis in ((dim,) if isinstance(dim, int) else dim))


# The names that the texts may use.
NAMES: Mapping[str, Any] = {
    "torch": torch,
    "F": F,
    "inf": math.inf,
    # The number of values of x that share a mean.
    "share": lambda x, dim: x.numel() // max(1, x.sum(dim).numel()),
    "count": lambda dim: 1 if isinstance(dim, int) else len(dim),
    "median": lambda x, dim: x.median(dim, keepdim=True).values,  # over one axis
    "points": encoded_points().double(),  # the x of many lessons
    "away": lambda x, dim: x - x.mean(dim, keepdim=True),
    "one_pass": lambda x, dim: x.square().mean(dim, True) - x.mean(dim, True).square(),
}
_BATCH = Misconception.OVER_THE_BATCH
WORDS = axes_of(
    ("the batch", "the positions", "the features"),
    (2,),
    dict.fromkeys(((0,), (0, 1), (0, 2), (0, 1, 2)), _BATCH)
    | {(1,): Misconception.OVER_THE_POSITIONS, (1, 2): Misconception.ONE_MEAN_PER_SENTENCE},
)
ROWS = axes_of(("the batch", "the features"), (1,), dict.fromkeys(((0,), (0, 1)), _BATCH))
POINTS = axes_of(("the points", "the features"), (1,), dict.fromkeys(((0,), (0, 1)), _BATCH))
LAST = AxisChoices(
    "the last axes, as many as `normalized_shape` has",
    (
        ("all axes, the batch included", "tuple(range(x.ndim))", _BATCH),
        ("the first axis, the batch", "0", _BATCH),
        ("the last axis alone", "-1", None),
        ("axis 1 alone", "1", None),
        ("the last two axes", "(-2, -1)", None),
        ("all axes but the first", "tuple(range(1, x.ndim))", None),
        ("all axes but the last", "tuple(range(x.ndim - 1))", _BATCH),
        ("the first axes, as many as `normalized_shape` has", "tuple(range(count(dim)))", _BATCH),
        ("all axes but the normalized ones", "tuple(range(x.ndim - count(dim)))", _BATCH),
    ),
)
SENTENCES = ErrorModel("norm_steps", axes=WORDS)
TABLE = ErrorModel("norm_steps", axes=ROWS)
RMS_TEXTS = ("norm_steps", "rms_norm_steps")
RMS_NORM = ErrorModel(*RMS_TEXTS, axes=POINTS, called="RMSNorm", words=OF_RMS_NORM)
