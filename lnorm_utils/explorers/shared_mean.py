"""Lesson 1: which cells of a tensor share a mean."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.text import Text
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from lnorm_utils.examples import encoded_points
from lnorm_utils.explorers.engine.controls import Choice, Slider, Switch, Values, one_of
from lnorm_utils.explorers.engine.explorer import Explorer, Presets
from lnorm_utils.explorers.engine.figures import fixed_panels, in_style
from lnorm_utils.explorers.engine.own_data import finite
from lnorm_utils.functional import mean
from lnorm_utils.numbers import counted, number
from lnorm_utils.plotting.picture import BLACK, to_array

__all__ = ["explore_shared_mean"]

TABLE, SEQUENCES, IMAGES = "(N, D)", "(N, L, D)", "(N, C, H, W)"
LETTERS = {TABLE: "ND", SEQUENCES: "NLD", IMAGES: "NCHW"}
SAME = {"D": "C", "C": "D"}  # a channel of an image is a feature of a pixel
SHAPES = {TABLE: (6, 4), SEQUENCES: (3, 2, 4), IMAGES: (3, 2, 2, 2)}
NAMES = {TABLE: "a table", SEQUENCES: "sequences", IMAGES: "images"}
MOST = 64
PRESETS: Presets = {
    "layer norm of a table": {"tensor": TABLE, "over": "D"},
    "layer norm of sequences": {"tensor": SEQUENCES, "over": "D"},
    "one mean per sentence": {"tensor": SEQUENCES, "over": "LD"},
    "per image": {"tensor": IMAGES, "over": "CHW"},
    "per pixel": {"tensor": IMAGES, "over": "C"},
    "batch norm of a table": {"tensor": TABLE, "over": "N"},
    "batch norm of images": {"tensor": IMAGES, "over": "NHW"},
    "all: one mean": {"tensor": SEQUENCES, "over": "NLD"},
}
KNOWN = {
    (TABLE, "D"): "This is layer norm.",
    (SEQUENCES, "D"): "This is layer norm.",
    (SEQUENCES, "LD"): "People often mistake this for layer norm, which averages over D alone.",
    (IMAGES, "CHW"): "This is layer norm of each image.",
    (IMAGES, "C"): "This is layer norm of each pixel.",
    (TABLE, "N"): "This is batch norm.",
    (SEQUENCES, "NL"): "This is batch norm.",
    (IMAGES, "NHW"): "This is batch norm.",
}
# In inches from the upper left; the cells of each tensor lie between two x.
WIDTH, HEIGHT, TOP, BOTTOM = 10.0, 5.0, 0.85, 3.65
PLACES = {TABLE: (0.6, 3.16), SEQUENCES: (3.84, 6.4), IMAGES: (7.1, 9.86)}
OWN_PLACE = (0.6, 9.8)
HEAD, GAP = 0.3, 0.2  # above each block of a tensor, and between two side by side
LIT = "#F5D899"


@in_style
def explore_shared_mean(
    tensor: str | None = None,
    over: str | None = None,
    which: int = 1,
    x: ArrayLike | None = None,
    preset: str | None = None,
    presets: Presets | None = None,
) -> Explorer:
    """Explore which cells of a table, of sequences and of images share one mean.

    Args:
        tensor: "(N, D)", "(N, L, D)" or "(N, C, H, W)"; by default the kind of `x`, or
            "(N, L, D)".
        over: the letters of the axes that a mean is taken over, such as "D" or "LD"; by default
            "D", or "C" for images.
        which: the number of the mean whose cells light up, from 1 to the number of cells. If there
            are fewer means, the last one lights up.
        x: (N, D), (N, L, D) or (N, C, H, W) with at most 64 cells, in place of the three shapes of
            the same 24 numbers. Numbers that are too long for their cells are left out.
        preset, presets: the preset to start with, and more of them, as in `Explorer`.

    Raises:
        ValueError: an argument has another shape or range, or a value is not finite.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, equation 3.

    >>> explore_shared_mean(preset="one mean per sentence").words[:65]
    '(N, L, D) = (3, 2, 4), mean over L and D: 3 means of 8 cells each'
    """
    tensors = _of_the_lesson() if x is None else _own(x)
    if tensor is None:
        tensor = SEQUENCES if x is None else next(iter(tensors))
    if over is None:
        over = "C" if tensor == IMAGES else "D"
    on = _switches({"tensor": tensor, "over": over}, tensors)
    all_presets = _presets(presets or {}, tensor, tensors)
    margins = {"left": 0, "right": 1, "bottom": 0, "top": 1}
    picture, (ax,) = fixed_panels("Which cells share one mean", 1, WIDTH, HEIGHT, margins)
    ax.set(xlim=(0, WIDTH), ylim=(HEIGHT, 0))
    ax.set_axis_off()
    tables = {kind: _draw(ax, kind, t, is_own=x is not None) for kind, t in tensors.items()}
    frame = Rectangle((0, 0), 1, 1, fill=False, ec=BLACK, lw=2.5, ls="--")
    lit = PathPatch(Path([(0, 0)]), fc=LIT, ec=BLACK)
    for patch in (frame, lit):
        ax.add_patch(patch)
    lit.set_linewidth(min(2.5, *(20 * table.cell.min() for table in tables.values())))
    most = max(t.numel() for t in tensors.values())
    # The lit cells hide the numbers below them, so their own numbers are drawn on top.
    numbers = [ax.text(0, 0, "", ha="center", va="center") for _ in range(most)]
    caption = ax.text(WIDTH / 2, HEIGHT - 0.08, "", ha="center", va="bottom", fontsize=15)

    def move(tensor: str, which: int, **on: bool) -> str:
        table, group = tables[tensor], _group(tensor, tensors[tensor], on, which)
        frame.set_bounds(*table.frame)
        lit.set_path(_outlines(table.corners[group.cells], table.cell))
        _write_again(numbers, table, group)
        caption.set_text(f"{_count(group)}\nlit: {_name(group)}, {_mean(group)}")
        return _words(f"{tensor} = {tuple(tensors[tensor].shape)}", tensor, group)

    def count(values: Values) -> int:
        kind = values["tensor"]
        return _group(kind, tensors[kind], values, 1).means

    controls = {
        "tensor": Choice("kind of tensor", tensor, tensors, when=lambda _: len(tensors) > 1),
        **{letter: _switch(letter, on[letter]) for letter in "NLDCHW" if letter in on},
        "which": Slider("which mean", which, range(1, most + 1), most=count),
    }
    moving = [frame, lit, *numbers, caption]
    return Explorer(picture, moving, move, controls, all_presets, preset, fixed=True)


def _of_the_lesson() -> dict[str, Tensor]:
    return {kind: encoded_points().double().reshape(shape) for kind, shape in SHAPES.items()}


def _own(values: ArrayLike) -> dict[str, Tensor]:
    x = torch.from_numpy(to_array(values))
    kinds = [kind for kind, letters in LETTERS.items() if len(letters) == x.ndim]
    if not kinds or not 1 <= x.numel() <= MOST:
        raise ValueError(
            f"explore_shared_mean needs x with 2, 3 or 4 axes and 1 to {MOST} cells, but got shape "
            f"{tuple(x.shape)}."
        )
    return {kinds[0]: finite(x, "explore_shared_mean")}


def _presets(own: Presets, tensor: str, tensors: Mapping[str, Tensor]) -> dict[str, dict[str, Any]]:
    built_in = {name: p for name, p in PRESETS.items() if p["tensor"] in tensors}
    return {
        name: _switches({"tensor": tensor, **values}, tensors, f"preset {name!r}: ")
        for name, values in {**built_in, **own}.items()
    }


def _switches(values: Values, tensors: Mapping[str, Tensor], where: str = "") -> dict[str, Any]:
    """Replace `over`, if there, by True or False for each letter of the tensors."""
    if "over" not in values:
        return dict(values)
    rest = dict(values)
    over = rest.pop("over")
    kind = one_of(values["tensor"], tensors, f"{where}tensor")
    if not isinstance(over, str) or set(over) - set(LETTERS[kind]) or len(set(over)) < len(over):
        raise ValueError(
            f"{where}over must be letters of {kind}, each at most once, but {over!r} was given."
        )
    there = {letter for kind in tensors for letter in LETTERS[kind]}
    return {**rest, **{a: a in over or SAME.get(a, a) in over for a in there}}


def _switch(letter: str, on: bool) -> Switch:
    def there(values: Values) -> bool:
        return letter in LETTERS[values["tensor"]]

    return Switch(f"mean over {letter}", on, when=there)


class Table(NamedTuple):
    """A tensor as it is drawn: the upper left corners of its cells, and the frame around it."""

    corners: NDArray  # (*x.shape, 2)
    texts: NDArray  # (*x.shape), the number in each cell as it is written
    cell: NDArray  # (2,), width and height
    frame: tuple[float, float, float, float]


def _draw(ax: Axes, kind: str, x: Tensor, is_own: bool) -> Table:
    """Draw a tensor as one table, or as a block of cells for each index of its outer axes."""
    *outer, rows, columns = x.shape
    left, right = OWN_PLACE if is_own else PLACES[kind]
    across, cell = _layout(x.shape, right - left)
    size = cell * (columns, rows)
    steps = size + np.array([GAP, HEAD])
    top = TOP + HEAD * bool(outer)
    blocks = [(left, top) + steps * (b % across, b // across) for b in range(math.prod(outer))]
    grid = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), -1) * cell
    corners = (np.array(blocks)[:, None, None] + grid).reshape(*x.shape, 2)
    ax.add_patch(PathPatch(_outlines(corners, cell), fc="white", ec="gray"))
    texts = _write_numbers(ax, x, corners, cell)
    for b, (x0, y0) in enumerate(blocks):
        _write_index(ax, LETTERS[kind], outer, b, (x0, y0 - 0.05), steps[0])
        if b % across == 0:
            for i in range(0, rows, math.ceil(0.2 / cell[1])):
                place = (x0 - 0.08, y0 + (i + 0.5) * cell[1])
                ax.text(*place, str(i), ha="right", va="center", fontsize=10)
        if b + across >= len(blocks):
            for i in range(0, columns, math.ceil(0.25 / cell[0])):
                place = (x0 + (i + 0.5) * cell[0], y0 + size[1] + 0.06)
                ax.text(*place, str(i), ha="center", va="top", fontsize=10)
    end_x, end_y = corners.reshape(-1, 2).max(0) + cell
    ax.text(left - 0.38, top + size[1] / 2, LETTERS[kind][-2], ha="center", va="center")
    ax.text((left + end_x) / 2, end_y + 0.26, LETTERS[kind][-1], ha="center", va="top")
    title = f"{kind} = {tuple(x.shape)}"
    name = "your tensor" if is_own else NAMES[kind]
    ax.text(left, 0.14, f"{name}\n{title}", va="top", fontsize=13)
    width = max(end_x - left, 0.1 * len(title)) + 0.6
    return Table(corners, texts, cell, (left - 0.5, 0.06, width, end_y + 0.44))


def _layout(shape: tuple[int, ...], width: float) -> tuple[int, NDArray]:
    """Find how many blocks go side by side, and the size of a cell, so that numbers fit in."""
    *outer, rows, columns = shape
    count, head = math.prod(outer), HEAD * bool(outer)
    best = (0.0, 1, np.zeros(2))
    for across in (*outer[1:], *range(1, count + 1)):
        room = (width + GAP) / across - GAP, (BOTTOM - TOP) / math.ceil(count / across) - head
        cell = np.minimum(np.array(room) / (columns, rows), (0.9, 0.47))
        fits = min(cell[0] / 0.57, cell[1] / 0.24, room[0] / 0.3, 1.0)
        if fits > best[0]:
            best = (fits, across, cell)
    return best[1:]


def _write_numbers(ax: Axes, x: Tensor, corners: NDArray, cell: NDArray) -> NDArray:
    """Write each number into its cell, if there is room, and return what was written."""
    texts = [number(value) for value in x.flatten().tolist()]
    if cell[1] < 0.2 or cell[0] < 0.107 * max(map(len, texts)):
        texts = [""] * len(texts)
    for (right, down), text in zip(corners.reshape(-1, 2) + cell / 2, texts, strict=True):
        ax.text(right, down, text, ha="center", va="center")
    return np.array(texts).reshape(x.shape)


def _write_again(numbers: Sequence[Text], table: Table, group: "Group") -> None:
    """Let the first of these texts show the numbers in the lit cells, and the others nothing."""
    places = table.corners[group.cells].reshape(-1, 2) + table.cell / 2
    texts = table.texts[group.cells].ravel()
    for text in numbers[len(places) :]:
        text.set_text("")
    for text, place, written in zip(numbers, places, texts, strict=False):
        text.set_text(written)
        text.set_position(place)


def _write_index(
    ax: Axes, letters: str, outer: list[int], block: int, place: tuple[float, float], room: float
) -> None:
    """Write the index of a block above it, in full where there is room."""
    index = np.unravel_index(block, outer) if outer else ()
    full = ", ".join(f"{a.lower()} = {i}" for a, i in zip(letters, index, strict=False))
    text = full if 0.09 * len(full) < room else ", ".join(map(str, index))
    ax.text(*place, text, va="bottom")


def _outlines(corners: NDArray, cell: NDArray) -> Path:
    around = np.array([(0, 0), (1, 0), (1, 1), (0, 1)]) * cell
    return Path.make_compound_path_from_polys(corners.reshape(-1, 1, 2) + around)


class Group(NamedTuple):
    """The cells that share one mean, and that mean."""

    over: str
    shape: tuple[int, ...]  # of all means, with keepdim
    place: tuple[int, ...]  # of this one among them
    cells: tuple[int | slice, ...]
    size: int
    mean: float
    means: int  # how many there are
    which: int  # the number of this one, from 1


def _group(kind: str, x: Tensor, on: Values, which: int) -> Group:
    over = [axis for axis, letter in enumerate(LETTERS[kind]) if on[letter]]
    means = mean(x, over) if over else x
    index = tuple(map(int, np.unravel_index(which - 1, means.shape)))
    cells = tuple(slice(None) if axis in over else i for axis, i in enumerate(index))
    letters = "".join(LETTERS[kind][axis] for axis in over)
    count = means.numel()
    value, size = means[index].item(), x.numel() // count
    return Group(letters, tuple(means.shape), index, cells, size, value, count, which)


def _count(group: Group) -> str:
    if not group.over:
        return f"no axis picked: each of {group.means} cells is its own mean, shape {group.shape}"
    cells = f"{counted(group.size, 'cell')}{' each' * (group.means > 1)}"
    return f"{counted(group.means, 'mean')} of {cells}, shape {group.shape} with keepdim"


def _mean(group: Group) -> str:
    of = f" {group.which} of {group.means}" if group.means > 1 else ""
    return f"mean{of} = {number(group.mean)}"


def _name(group: Group) -> str:
    return f"x[{', '.join(':' if isinstance(i, slice) else str(i) for i in group.cells)}]"


def _words(tensor: str, kind: str, group: Group) -> str:
    """Say in words which means there are, and which one's cells light up."""
    *first, last = list(group.over) or [""]
    over = f"mean over {', '.join(first)} and {last}: " if first else f"mean over {last}: "
    cells = counted(group.size, "cell") if group.size > 1 else "cell"
    lit = f"Mean {group.which} of {group.means}, at index {group.place}, is lit"
    if group.means == 1:
        lit = "It's lit"
    known = KNOWN.get((kind, group.over), "")
    return (
        f"{tensor}, {over if group.over else ''}{_count(group)}. {lit}: the {cells} "
        f"{_name(group)}, whose mean is {number(group.mean)}. {known}"
    ).rstrip()
