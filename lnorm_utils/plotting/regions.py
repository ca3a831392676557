"""What networks say of each point in the plane."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from numpy.typing import ArrayLike

from lnorm_utils.plotting.classes import LOOKS
from lnorm_utils.plotting.picture import BLACK, WHITE, Picture, in_style, new_picture, to_array
from lnorm_utils.words import counted

__all__ = ["regions"]

SIDE = 2.15  # inches, of a panel with its title
LEVELS = np.linspace(0, 1, 11)


@in_style
def regions(
    shares: Mapping[str, ArrayLike],
    x: ArrayLike,
    classes: ArrayLike,
    names: Sequence[str],
    *,
    most: float,
    columns: int,
) -> Picture:
    """Draw the probability of class 1 over the plane, in a panel for each network or step.

    A panel is white where the probability is a half, and has the color of the class that is more
    likely elsewhere, in ten shades.

    Args:
        shares: what stands over each panel, and the probability of class 1 at S × S points: (S, S).
            The points are those of a square grid, from -most to most along feature 0, the first
            axis, and along feature 1, the second.
        x: (N, 2), points that are drawn on top.
        classes: (N,), the class of each, 0 or 1.
        names: what the two classes are called.
        most: where the square ends.
        columns: how many panels stand side by side.

    Returns:
        A Figure; its `words` give the range of each panel.

    Raises:
        ValueError: the shapes don't fit, or there is no panel, or a number is no probability.

    >>> shares = {"before": [[0.5, 0.5], [0.5, 0.5]], "after": [[0.0, 1.0], [0.0, 1.0]]}
    >>> regions(shares, [[0.0, 0.5]], [1], ["in", "out"], most=1, columns=2).words
    'The probability of "out" in the plane is 50% (before); 0% to 100% (after).'
    """
    points, numbers = to_array(x), to_array(classes)
    panels = {name: to_array(values) for name, values in shares.items()}
    if points.ndim != 2 or points.shape[1] != 2 or numbers.shape != points.shape[:1]:
        raise ValueError(
            "regions needs points of shape (N, 2) and classes of shape (N,), but got shapes "
            f"{points.shape} and {numbers.shape}."
        )
    for name, values in panels.items():
        square = values.ndim == 2 and values.shape[0] == values.shape[1] > 1
        if not (square and ((values >= 0) & (values <= 1)).all()):
            raise ValueError(
                "regions needs probabilities of shape (S, S), from 0 to 1, but those of "
                f"{name!r} have shape {values.shape}, or leave that range."
            )
    if not panels or len(names) != 2:
        raise ValueError(
            "regions needs at least one panel and two names, but got "
            f"{counted(len(panels), 'panel')} and names {list(names)}."
        )
    alt = f"probabilities in the plane, {counted(len(panels), 'panel')}"
    rows = -(-len(panels) // columns)
    picture, axes = new_picture(alt, rows, columns, SIDE, SIDE + 0.2)
    for ax in axes.flat[len(panels) :]:
        ax.remove()
    first, second = (color for color, _ in LOOKS[:2])
    colors = LinearSegmentedColormap.from_list("regions", [first, WHITE, second])
    told = []
    for ax, (name, values) in zip(axes.flat, panels.items(), strict=False):
        grid = np.linspace(-most, most, len(values))
        ax.contourf(grid, grid, values.T, LEVELS, cmap=colors, vmin=0, vmax=1)
        for kind, (color, marker) in enumerate(LOOKS[:2]):
            ax.plot(*points[numbers == kind].T, marker, color=color, mec=BLACK, mew=0.5, ms=4)
        ax.set(aspect="equal", title=name, xticks=[], yticks=[])
        ax.spines[:].set_visible(True)
        low, high = f"{values.min():.0%}", f"{values.max():.0%}"
        told.append(f"{low if low == high else f'{low} to {high}'} ({name})".replace("\n", ", "))
    picture.legend(axes[0, 0].lines, names, loc="outside upper center", ncols=2)
    picture.words = f'The probability of "{names[1]}" in the plane is {"; ".join(told)}.'
    return picture
