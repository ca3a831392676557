"""Define what all pictures share: their style, their words, and how a notebook shows them."""

import base64
import html
import io
import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any

import matplotlib
import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox, BboxBase
from numpy.typing import ArrayLike, NDArray

# Colors by Okabe & Ito 2008 that can be told apart with every common form of color vision. In
# grayscale, some look alike, so a letter, a dash, or a marker goes with each.
BLUE, ORANGE, GREEN, PINK = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
SKY, VERMILION, YELLOW, BLACK, GRAY = "#56B4E9", "#D55E00", "#F0E442", "#000000", "#BBBBBB"
WHITE = "#FFFFFF"
# These colors mean the same in every picture, including those of row.css and rings.css.
DATA, MEAN, SPREAD, AFFINE, RIGHT = "#4A535C", "#B5370E", "#8A5A00", "#6F3FB0", "#14784A"
LAYER_NORM, BATCH_NORM, NO_NORM = "#006A78", "#9B2F7C", "#6E6E6E"
INNER, OUTER = BLUE, "#C25F00"  # two kinds of points

STYLE: dict[Any, Any] = {
    "font.size": 12,
    "axes.titlesize": 12,
    "axes.labelsize": 12,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "legend.fontsize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 2,
    "savefig.dpi": 100,
    **dict.fromkeys(("figure.autolayout", "figure.constrained_layout.use"), False),
}
# The text in a drawing gets the font of the page around it, whatever machine drew it.
FAMILY = re.compile(r"(?<=font-family: )[^;\"]+")
FONT = "-apple-system, BlinkMacSystemFont, 'Segoe UI', Helvetica, Arial, sans-serif"
TAG = re.compile(r"<[^>]*>")  # in tags, numbers are coordinates, not text to read
FINER = re.compile(r"(?<=\.\d\d)\d+")  # digits beyond a hundredth of a point, which no screen shows
# A decorator for functions that draw in the course's style (fonts, lines, and axes).
in_style = matplotlib.rc_context(STYLE)


class Picture(Figure):
    """A Figure with two descriptions: a one-line `alt`, and `words`, which say what it shows.

    A notebook shows it as an image, whose text alternative is `alt`, with `words` under it. It
    isn't a pyplot figure: pyplot doesn't keep it in memory, and `plt.show()` doesn't draw it again.
    """

    def __init__(self, alt: str, width: float, height: float) -> None:
        super().__init__(figsize=(width, height), layout="constrained")
        self.alt = alt
        self.words = ""

    def lay_out(self) -> None:
        """Lay out the picture only once, because a second layout would move things a little."""
        if layout := self.get_layout_engine():
            layout.execute(self)
        self.set_layout_engine(None)  # otherwise, each file would be drawn twice

    @in_style
    def savefig(self, fname: Any, **options: Any) -> None:
        self.lay_out()
        super().savefig(fname, **options)

    def png(self) -> bytes:
        """Return the picture as the bytes of a PNG file."""
        file = io.BytesIO()
        self.savefig(file, format="png")
        return file.getvalue()

    def _ipython_display_(self) -> None:
        from IPython.display import Markdown, display

        # Neither JupyterLab nor its HTML export takes alt text from an image's metadata.
        data = {
            # This must come first, because it does the layout.
            "image/png": base64.b64encode(self.png()).decode(),
            "text/html": f"<div>{''.join(self._images())}</div>",
            "text/plain": self.alt,
        }
        display(data, raw=True)
        display(Markdown(f"**In words.** {self.words}"))

    def _images(self) -> Iterator[str]:
        """Yield the legend and the panels as HTML images, which wrap if there's little room.

        Pairs of neighboring panels stay together as long as possible, so a row of four becomes two
        rows of two. The first image has the text alternative.
        """
        if len(self.axes) == 1:
            yield self._image(self.bbox, self.alt)
            return
        rows: dict[Any, list[Any]] = {legend: [legend] for legend in self.legends}
        for ax in self.axes:
            spec = ax.get_subplotspec()
            rows.setdefault(spec.rowspan.start if spec else 0, []).append(ax)
        boxes = {part: part.get_tightbbox() for row in rows.values() for part in row}
        alts = itertools.chain([self.alt], itertools.repeat(""))
        for row in rows.values():
            low, high = min(boxes[part].y0 for part in row), max(boxes[part].y1 for part in row)
            for pair in (row[at : at + 2] for at in range(0, len(row), 2)):
                yield '<span style="display: inline-flex; flex-wrap: wrap">'
                for part in pair:
                    for other in boxes:
                        other.set_visible(other is part)
                    place = Bbox.from_extents(boxes[part].x0, low, boxes[part].x1, high).padded(4)
                    yield self._image(place, next(alts))
                yield "</span>"
            yield "<br>"
        for part in boxes:
            part.set_visible(True)

    def _image(self, place: BboxBase, alt: str) -> str:
        """Return a part of the picture as an HTML image: SVG, or PNG if that's smaller."""
        inches = place.transformed(self.dpi_scale_trans.inverted())
        vectors, sharp = io.StringIO(), io.BytesIO()
        with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "lnorm"}):
            self.savefig(vectors, format="svg", bbox_inches=inches, metadata={"Date": None})
        self.savefig(sharp, format="png", bbox_inches=inches, dpi=150)
        drawing = FAMILY.sub(FONT, vectors.getvalue())
        text = TAG.sub(lambda tag: FINER.sub("", tag[0]), drawing).encode()
        is_small = len(text) < len(sharp.getvalue())
        data, kind = (text, "svg+xml") if is_small else (sharp.getvalue(), "png")
        width, height = (round(96 * side) for side in (inches.width, inches.height))
        look = f' width="{width}" style="aspect-ratio: {width} / {height}"'
        return image_tag(base64.b64encode(data).decode(), alt, kind, look)


def image_tag(data: str, alt: str, kind: str = "png", look: str = "") -> str:
    """Return the HTML tag of an image whose data is in base64."""
    return f'<img alt="{html.escape(alt)}" src="data:image/{kind};base64,{data}"{look}>'


def tint(color: str, share: float) -> tuple[float, ...]:
    """Mix white with a color; `share`, from 0 to 1, is the amount of color."""
    return tuple(1 + share * (part - 1) for part in to_rgb(color))


@in_style
def new_picture(
    alt: str, rows: int, columns: int, width: float, height: float, **options: Any
) -> tuple[Picture, NDArray]:
    """Make a picture with rows × columns axes, each of width × height inches."""
    picture = Picture(alt, columns * width, rows * height)
    return picture, picture.subplots(rows, columns, squeeze=False, **options)


def to_array(values: ArrayLike) -> NDArray[np.float64]:
    """Make a float64 array from whatever holds numbers, even a tensor with grad or on a GPU."""
    try:
        return _to_array(values)
    except (TypeError, ValueError) as error:
        raise TypeError(
            "A picture needs an array of real numbers with rows of equal length, but one can't be "
            f"made from the {type(values).__name__} given."
        ) from error


def _to_array(values: Any) -> NDArray[np.float64]:
    if hasattr(values, "detach"):
        values = values.detach().cpu().double()
    elif isinstance(values, list | tuple):
        values = [_to_array(value) for value in values]
    return np.asarray(values, dtype=np.float64)


def to_points(values: ArrayLike) -> tuple[NDArray[np.float64], list[str]]:
    """Return an array (N, D) or (N, L, D) as rows (points, D), and a name for each row."""
    array = to_array(values)
    if array.ndim not in (2, 3) or array.size == 0:
        raise ValueError(
            "A picture of points needs an array of shape (N, D) or (N, L, D) with at least one "
            f"element, but got shape {array.shape}."
        )
    names = [f"point {n}" for n in range(len(array))]
    if array.ndim == 3 and array.shape[1] > 1:
        names = [f"{name}, position {p}" for name in names for p in range(array.shape[1])]
    return array.reshape(-1, array.shape[-1]), names


def limits(values: NDArray, margin: float = 0.05) -> tuple[float, float]:
    """Return axis limits around all finite values; there's a margin even if all are equal."""
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
    room = margin * (high - low) or margin * max(abs(high), 1.0)
    return float(low - room), float(high + room)


def listing(parts: Iterable[str], most: int = 8) -> str:
    """Join parts with semicolons, and if there are more than `most`, say how many are left out."""
    parts = list(parts)
    more = f"; and {len(parts) - most} more" if len(parts) > most else ""
    return "; ".join(parts[:most]) + more
