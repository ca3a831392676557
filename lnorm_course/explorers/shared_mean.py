"""Lesson 1: which cells of a tensor share a mean."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.transforms import ScaledTranslation
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from lnorm_course.explorers.engine.controls import Choice, Slider, Switch, Values, one_of
from lnorm_course.explorers.engine.drawing import Together
from lnorm_course.explorers.engine.explorer import Explorer, Presets
from lnorm_course.explorers.engine.figures import fixed_panels
from lnorm_course.explorers.engine.own_data import finite
from lnorm_utils.data import encoded_points
from lnorm_utils.functional import mean
from lnorm_utils.plotting.picture import BLACK, in_style, to_array
from lnorm_utils.words import counted, number

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
    "all": {"tensor": SEQUENCES, "over": "NLD"},
}
LAYER_NORM, BATCH_NORM = "This is layer norm", "This is batch norm, not layer norm"
NOT_LAYER_NORM = "That's not layer norm"
KNOWN = {
    (TABLE, "D"): LAYER_NORM,
    (SEQUENCES, "D"): LAYER_NORM,
    (IMAGES, "CHW"): f"{LAYER_NORM} of each image",
    (IMAGES, "C"): f"{LAYER_NORM} of each pixel",
    (TABLE, "N"): BATCH_NORM,
    (SEQUENCES, "NL"): BATCH_NORM,
    (IMAGES, "NHW"): BATCH_NORM,
}
# In inches, from the upper left corner of the panel; a tensor with own numbers gets more room.
WIDTH, OWN_WIDTH, HEIGHT, CAPTION, TOP, BOTTOM = 5.0, 6.7, 3.4, 0.55, 0.3, 2.35
LEFT, RIGHT = 0.55, 0.1  # of the cells of a tensor
HEAD, GAP = 0.24, 0.12  # above each block of a tensor, and between two side by side
SMALL: dict[str, Any] = {"fontsize": 10}
CENTERED: dict[str, Any] = {"ha": "center", "va": "center"}
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

    >>> explore_shared_mean(preset="one mean per sentence").words[:44]
    'Mean over L and D: 3 means of 8 cells each, '
    """
    tensors = _of_the_lesson() if x is None else _own(x)
    if tensor is None:
        tensor = SEQUENCES if x is None else next(iter(tensors))
    if over is None:
        over = "C" if tensor == IMAGES else "D"
    on = _switches({"tensor": tensor, "over": over}, tensors)
    all_presets = _presets(presets or {}, tensor, tensors)
    picture, (ax,) = fixed_panels(
        "Which cells share one mean",
        *(1, WIDTH if x is None else OWN_WIDTH, HEIGHT),
        {"left": 0, "right": 1, "bottom": 0, "top": 1 - CAPTION / HEIGHT},
    )
    ax.set(xlim=(0, picture.get_size_inches()[0]), ylim=(HEIGHT - CAPTION, 0), label="tensor")
    ax.set_axis_off()
    tables = {kind: Table(ax, kind, values, x is not None) for kind, values in tensors.items()}
    under_the_top = ScaledTranslation(0, -0.08, picture.dpi_scale_trans)
    caption = picture.text(0.5, 1, "", ha="center", va="top")
    caption.set_transform(picture.transFigure + under_the_top)

    def move(tensor: str, which: int, **on: bool) -> str:
        group = _group(tensor, tensors[tensor], on, which)
        for kind, table in tables.items():
            table.show(group.cells if kind == tensor else None)
        known = KNOWN.get((tensor, group.over), NOT_LAYER_NORM)
        caption.set_text(f"{_count(group)}{_which(group)}\n{known}")
        return _words(tensor, group, known)

    def count(values: Values) -> int:
        kind = values["tensor"]
        return _group(kind, tensors[kind], values, 1).means

    controls = {
        "tensor": Choice("kind of tensor", tensor, tensors, when=lambda _: len(tensors) > 1),
        **{letter: _switch(letter, on[letter]) for letter in "NLDCHW" if letter in on},
        "which": Slider(
            "which mean", which, range(1, max(map(Tensor.numel, tensors.values())) + 1), most=count
        ),
    }
    moving = [*(artist for table in tables.values() for artist in table.all), caption]
    # A narrow picture would have no room for the numbers in the cells of an instructor's tensor.
    narrow: Any = "views" if x is None else "fixed"
    return Explorer(picture, moving, move, controls, all_presets, preset, narrow=narrow)


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

    return Switch(f"over {letter}", on, when=there)


class Table:
    """A tensor as one table, or as a block of cells for each index of its outer axes."""

    def __init__(self, ax: Axes, kind: str, x: Tensor, is_own: bool) -> None:
        *outer, rows, columns = x.shape
        across, self.cell = _layout(x.shape, ax.get_xlim()[1] - LEFT - RIGHT)
        size = self.cell * (columns, rows)
        steps = size + np.array([GAP, HEAD])
        top = TOP + HEAD * bool(outer)
        count = math.prod(outer)
        blocks = [(LEFT, top) + steps * (b % across, b // across) for b in range(count)]
        grid = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), -1) * self.cell
        self.corners = (np.array(blocks)[:, None, None] + grid).reshape(*x.shape, 2)
        self.cells = PathPatch(_outlines(self.corners, self.cell), fc="white", ec="gray")
        self.lit = PathPatch(Path([(0, 0)]), fc=LIT, ec=BLACK)
        self.lit.set_linewidth(min(2.5, 20 * self.cell.min()))
        for patch in (self.cells, self.lit):
            ax.add_patch(patch)
        texts = _write_numbers(ax, x, self.corners, self.cell)
        for b, (x0, y0) in enumerate(blocks):
            texts.append(_write_index(ax, LETTERS[kind], outer, b, (x0, y0 - 0.03), steps[0]))
            if b % across == 0:
                for i in range(0, rows, math.ceil(0.2 / self.cell[1])):
                    place = (x0 - 0.06, y0 + (i + 0.5) * self.cell[1])
                    texts.append(ax.text(*place, str(i), ha="right", va="center", **SMALL))
            if b + across >= len(blocks):
                for i in range(0, columns, math.ceil(0.25 / self.cell[0])):
                    place = (x0 + (i + 0.5) * self.cell[0], y0 + size[1] + 0.04)
                    texts.append(ax.text(*place, str(i), ha="center", va="top", **SMALL))
        end_x, end_y = self.corners.reshape(-1, 2).max(0) + self.cell
        down, right = LETTERS[kind][-2], LETTERS[kind][-1]
        name = "your tensor" if is_own else NAMES[kind]
        texts += [
            ax.text(LEFT - 0.4, top + size[1] / 2, down, **CENTERED, **SMALL),
            ax.text((LEFT + end_x) / 2, end_y + 0.2, right, ha="center", va="top", **SMALL),
            ax.text(LEFT, 0.05, f"{name}: {kind} = {tuple(x.shape)}", va="top", **SMALL),
        ]
        # What is drawn first before what covers it.
        self.all: list[Artist] = [self.cells, self.lit, Together(texts)]

    def show(self, cells: tuple[int | slice, ...] | None) -> None:
        """Show the tensor with some of its cells lit, or hide it."""
        for artist in self.all:
            artist.set_visible(cells is not None)
        if cells is not None:
            self.lit.set_path(_outlines(self.corners[cells], self.cell))


def _layout(shape: tuple[int, ...], width: float) -> tuple[int, NDArray]:
    """Find how many blocks go side by side, and the size of a cell, so that numbers fit in."""
    *outer, rows, columns = shape
    count, head = math.prod(outer), HEAD * bool(outer)
    best = (0.0, 1, np.zeros(2))
    for across in (*outer[1:], *range(1, count + 1)):
        room = (width + GAP) / across - GAP, (BOTTOM - TOP) / math.ceil(count / across) - head
        cell = np.minimum(np.array(room) / (columns, rows), (1.05, 0.42))
        fits = min(cell[0] / 0.46, cell[1] / 0.2, room[0] / 0.3, 1.0)
        if fits > best[0]:
            best = (fits, across, cell)
    return best[1:]


def _write_numbers(ax: Axes, x: Tensor, corners: NDArray, cell: NDArray) -> list[Artist]:
    """Write each number into its cell, if there is room."""
    texts = [number(value) for value in x.flatten().tolist()]
    if cell[1] < 0.18 or cell[0] < 0.09 * max(map(len, texts)):
        return []
    places = (corners.reshape(-1, 2) + cell / 2).tolist()
    return [
        ax.text(right, down, text, **CENTERED, **SMALL)
        for (right, down), text in zip(places, texts, strict=True)
    ]


def _write_index(
    ax: Axes, letters: str, outer: list[int], block: int, place: tuple[float, float], room: float
) -> Artist:
    """Write the index of a block above it, in full where there is room."""
    index = np.unravel_index(block, outer) if outer else ()
    full = ", ".join(f"{a.lower()} = {i}" for a, i in zip(letters, index, strict=False))
    text = full if 0.075 * len(full) < room else ", ".join(map(str, index))
    return ax.text(*place, text, va="bottom", **SMALL)


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
        return f"{group.means} cells, each its own mean"
    cells = f"{counted(group.size, 'cell')}{' each' * (group.means > 1)}"
    return f"{counted(group.means, 'mean')} of {cells}"


def _which(group: Group) -> str:
    return f"; mean {group.which} is {number(group.mean)}"


def _name(group: Group) -> str:
    return f"x[{', '.join(':' if isinstance(i, slice) else str(i) for i in group.cells)}]"


def _words(tensor: str, group: Group, known: str) -> str:
    """Say in words which means there are, and what those cells have that light up."""
    *first, last = list(group.over) or [""]
    over = f"{', '.join(first)} and {last}" if first else last
    means = f"Mean over {over}" if over else "No axis picked"
    mixed = ": it mixes words" if (tensor, group.over) == (SEQUENCES, "LD") else ""
    return (
        f"{means}: {_count(group)}, shape {group.shape} with keepdim. {_name(group)} is lit, with "
        f"mean {number(group.mean)}. {known}{mixed}."
    )
