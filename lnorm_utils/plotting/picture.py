"""What every picture has in common: its style, its words, and how a notebook shows both."""

import base64
import html
import io
from collections.abc import Iterable
from typing import Any

import matplotlib
import numpy as np
from matplotlib.backend_bases import RendererBase
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from lnorm_utils.words import significant

# Okabe & Ito 2008: told apart with every common form of color vision. In gray, some are alike:
# a letter, a dash or a marker goes with each.
BLUE, ORANGE, GREEN, PINK = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
SKY, VERMILION, YELLOW, BLACK, GRAY = "#56B4E9", "#D55E00", "#F0E442", "#000000", "#BBBBBB"
WHITE = "#FFFFFF"
MEAN, SPREAD = VERMILION, ORANGE  # in every picture; numbers that go in or come out are blue

LARGEST = 1e100  # the square of a larger number, or the way between two, may overflow

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
}
# A decorator: what the function draws has the fonts, the lines, and the axes of the course.
in_style = matplotlib.rc_context(STYLE)


class Picture(Figure):
    """A Figure that carries its words: `alt`, one phrase, and `words`, what there is to see.

    In a notebook it shows as an image, whose text alternative is `alt`, with `words` under it. It
    is no pyplot figure: nothing keeps it alive, and `plt.show()` does not draw it again.
    """

    def __init__(self, alt: str, width: float, height: float, layout: Any) -> None:
        super().__init__(figsize=(width, height), layout=layout)
        self.alt = alt
        self.words = ""

    @in_style
    def draw(self, renderer: RendererBase) -> None:
        super().draw(renderer)
        # Laid out once: a second layout starts from the first and would move things a little.
        self.set_layout_engine("none")

    @in_style
    def png(self) -> bytes:
        """Draw the picture as a PNG file."""
        file = io.BytesIO()
        self.savefig(file, format="png")
        return file.getvalue()

    def _ipython_display_(self) -> None:
        from IPython.display import Markdown, display

        png = base64.b64encode(self.png()).decode()
        # Neither JupyterLab nor its HTML export reads an alt out of the metadata of an image.
        display(
            {"text/html": image_tag(png, self.alt), "image/png": png, "text/plain": self.alt},
            raw=True,
        )
        display(Markdown(f"**In words.** {self.words}"))


def image_tag(png: str, alt: str) -> str:
    """Write an image in base64 as HTML."""
    return f'<img alt="{html.escape(alt)}" src="data:image/png;base64,{png}">'


def tint(color: str, share: float) -> tuple[float, ...]:
    """Mix white with a color, as much of it as the share, from 0 to 1, says."""
    return tuple(1 + share * (part - 1) for part in to_rgb(color))


@in_style
def new_picture(
    alt: str,
    rows: int,
    columns: int,
    width: float,
    height: float,
    layout: str | None = "constrained",
    **kwargs: Any,
) -> tuple[Picture, NDArray]:
    """Make a picture with rows × columns axes, each of width × height inches, in the style."""
    picture = Picture(alt, columns * width, rows * height, layout)
    return picture, picture.subplots(rows, columns, squeeze=False, **kwargs)


def to_array(values: ArrayLike) -> NDArray[np.float64]:
    """Make a float64 array of anything that holds numbers, also a tensor with grad or on a GPU.

    Raises:
        TypeError: it holds something else, or rows of unequal length.
        ValueError: one of the numbers is finite and above 1e100.
    """
    try:
        array = _to_array(values)
    except (TypeError, ValueError) as error:
        raise TypeError(
            "A picture needs an array of real numbers with rows of equal length, but cannot make "
            f"one of what was given, a {type(values).__name__}."
        ) from error
    largest = np.abs(array, where=np.isfinite(array), out=np.zeros_like(array)).max(initial=0.0)
    if largest > LARGEST:
        raise ValueError(
            f"A picture shows numbers up to {significant(LARGEST)}, but got "
            f"{significant(largest, 3)}."
        )
    return array


def _to_array(values: Any) -> NDArray[np.float64]:
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = (values if values.is_complex() else values.double()).numpy()
    elif isinstance(values, list | tuple):
        values = [_to_array(value) for value in values]
    if np.iscomplexobj(values):
        raise TypeError
    return np.asarray(values, dtype=np.float64)


def to_points(values: ArrayLike) -> tuple[NDArray[np.float64], list[str]]:
    """Make rows (points, D) of an array (N, D) or (N, L, D), and a name for each row.

    Raises:
        ValueError: the array has another number of axes, or no elements.
    """
    array = to_array(values)
    if array.ndim not in (2, 3) or array.size == 0:
        raise ValueError(
            "A picture of points needs an array of shape (N, D) or (N, L, D) with at least one "
            f"element, but got shape {array.shape}."
        )
    if array.ndim == 2 or array.shape[1] == 1:
        names = [f"point {n}" for n in range(len(array))]
    else:
        names = [
            f"point {n}, position {p}" for n in range(len(array)) for p in range(array.shape[1])
        ]
    return array.reshape(-1, array.shape[-1]), names


def limits(values: NDArray, margin: float = 0.05) -> tuple[float, float]:
    """Find axis limits with all finite values inside, and some room where they are all one."""
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
    room = margin * (high - low) or margin * max(abs(high), 1.0)
    return float(low - room), float(high + room)


def phrase(parts: Iterable[str], most: int = 8) -> str:
    """Join parts to a list in words, and say how many were left out where there are too many."""
    parts = list(parts)
    more = f"; and {len(parts) - most} more" if len(parts) > most else ""
    return "; ".join(parts[:most]) + more
