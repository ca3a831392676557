"""Numbers with names as horizontal bars, each with what was expected of it."""

from collections.abc import Mapping

import numpy as np

from lnorm_utils.plotting.picture import BLACK, SKY, Picture, in_style, new_picture, to_array
from lnorm_utils.words import significant

__all__ = ["bars"]


@in_style
def bars(
    values: Mapping[str, float],
    expected: Mapping[str, float],
    *,
    title: str,
    xlabel: str,
) -> Picture:
    """Draw a bar for each value, from the top down, and a line across it where it was expected.

    Args:
        values: name → value, finite and not below 0.
        expected: name → what was expected of that value, for some or all of them.
        title, xlabel: the texts around the picture, with the unit.

    Returns:
        A Figure with one panel; its `words` have all numbers.

    Raises:
        ValueError: there are no values, one isn't finite or is below 0, or a name is expected that
            has none.

    >>> bars({"a": 2.0}, {"a": 3.0}, title="Times", xlabel="ms").words
    'Times, measured in ms: a 2 (predicted 3).'
    """
    lengths, marks = to_array(list(values.values())), to_array(list(expected.values()))
    together = np.concatenate([lengths, marks])
    if not len(lengths) or not (np.isfinite(together) & (together >= 0)).all():
        raise ValueError(
            "bars needs at least one value, and finite ones that aren't below 0, but got "
            f"{dict(values)} and {dict(expected)}."
        )
    if unknown := [name for name in expected if name not in values]:
        raise ValueError(f"bars has no value for {', '.join(unknown)}, of which one is expected.")
    places = {name: place for place, name in enumerate(values)}
    picture, axes = new_picture(title, 1, 1, 5.8, 0.36 * len(values) + 1.3)
    ax = axes[0, 0]
    ax.barh(range(len(values)), lengths, color=SKY, edgecolor=BLACK, lw=0.5, label="measured")
    at = [places[name] for name in expected]
    ax.plot(marks, at, "|", color=BLACK, markersize=18, markeredgewidth=3, label="predicted")
    ax.set_yticks(range(len(values)), list(values))
    ax.set(ylim=(len(values) - 0.4, -0.6), xlim=(0, None), xlabel=xlabel)
    ax.tick_params("y", length=0, labelsize=12)
    ax.set_title(title)
    picture.legend(loc="outside lower center", ncols=2)
    told = [
        f"{name} {significant(value, 3)}"
        + (f" (predicted {significant(expected[name], 3)})" if name in expected else "")
        for name, value in values.items()
    ]
    picture.words = f"{title}, measured in {xlabel}: {'; '.join(told)}."
    return picture
