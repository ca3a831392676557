"""A table of what stays the same under which change."""

import textwrap
from collections.abc import Mapping

from matplotlib.patches import Rectangle

from lnorm_utils.plotting.picture import BLACK, SKY, WHITE, Picture, in_style, new_picture

__all__ = ["verdicts"]


@in_style
def verdicts(table: Mapping[str, Mapping[str, bool]], title: str) -> Picture:
    """Draw a table with a cell for each subject and change, which says "same" or "changes".

    Args:
        table: subject → change → whether the subject stays the same. All have the same changes, in
            the same order.
        title: the text above the table.

    Returns:
        A Figure with one panel; its `words` name the changes under which each subject stays.

    Raises:
        ValueError: the table is empty, or two subjects have different changes.

    >>> verdicts({"a sum": {"sorted": True, "doubled": False}}, "Sums").words
    'Sums. a sum: the same for sorted; changes for doubled.'
    """
    columns = list(next(iter(table.values()), {}))
    if not columns or any(list(row) != columns for row in table.values()):
        given = {name: list(row) for name, row in table.items()}
        raise ValueError(f"verdicts needs the same changes for all subjects, but got {given}.")
    width, height = 1.25 * len(columns) + 2.2, 0.42 * len(table) + 1.1
    picture, axes = new_picture(title, 1, 1, width, height)
    ax = axes[0, 0]
    for y, row in enumerate(table.values()):
        for x, is_same in enumerate(row.values()):
            color = SKY if is_same else WHITE
            cell = Rectangle((x, y), 1, 1, facecolor=color, edgecolor=BLACK, lw=1)
            ax.add_patch(cell).set_clip_on(False)
            word = "same" if is_same else "changes"
            ax.text(x + 0.5, y + 0.5, word, ha="center", va="center")
    ax.set(xlim=(0, len(columns)), ylim=(len(table), 0))
    ax.set_xticks([x + 0.5 for x in range(len(columns))], [textwrap.fill(c, 13) for c in columns])
    ax.set_yticks([y + 0.5 for y in range(len(table))], list(table))
    ax.xaxis.tick_top()
    ax.tick_params(length=0, labelsize=12)
    ax.spines[:].set_visible(False)
    ax.set_title(title, pad=12)
    picture.words = " ".join([f"{title}.", *(_told(name, row) for name, row in table.items())])
    return picture


def _told(name: str, row: Mapping[str, bool]) -> str:
    same = ", ".join(change for change, is_same in row.items() if is_same)
    changes = ", ".join(change for change, is_same in row.items() if not is_same)
    parts = [f"the same for {same}"] * bool(same) + [f"changes for {changes}"] * bool(changes)
    return f"{name}: {'; '.join(parts)}."
