"""The pictures of the report: what a class got right, and what it believes."""

import textwrap
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from lnorm_staff.grading.report.summary import ExerciseCount, Misconception
from lnorm_utils.plotting.picture import BLACK, BLUE, GRAY, ORANGE, WHITE, Picture, new_picture

__all__ = ["misconception_bars", "right_bars"]

# What each part of a bar says, and the states in it; in gray the hatches tell them apart.
PARTS = (
    ("right", ("right",), BLUE, WHITE, ""),
    ("wrong", ("wrong",), ORANGE, BLACK, "//"),
    ("not attempted or missing", ("not attempted", "missing"), WHITE, BLACK, ""),
    ("crashed or timed out", ("crashed", "timed out"), GRAY, BLACK, "xx"),
)
WIDTH, HEIGHT_OF_A_BAR, HEIGHT_OF_THE_REST = 9, 0.42, 1.3


def right_bars(lesson: str, counts: Sequence[ExerciseCount]) -> Picture:
    """Draw a bar for each exercise of a lesson: how many students are right, wrong, and so on."""
    right = ", ".join(f"{count.label} {count.right} of {count.students}" for count in counts)
    picture, ax = _bars(f"Right answers in {lesson}: {right}", len(counts))
    left = [0] * len(counts)
    for label, states, color, ink, hatch in PARTS:
        sizes = [count.number(*states) for count in counts]
        if not any(sizes) and label != "right":
            continue
        bars = ax.barh(
            range(len(counts)), sizes, left=left, color=color, hatch=hatch, edgecolor=BLACK,
            linewidth=0.5, label=label,
        )  # fmt: skip
        numbers = [str(size) if size else "" for size in sizes]
        box = {"boxstyle": "round,pad=0.15", "facecolor": color, "edgecolor": "none"}
        for text in ax.bar_label(bars, numbers, label_type="center", color=ink):
            if hatch and text.get_text():
                text.set_bbox(box)
        left = [a + b for a, b in zip(left, sizes, strict=True)]
    _name_bars(ax, [count.label for count in counts], max(left) * 1.01)
    picture.legend(loc="outside upper center", ncols=len(PARTS))
    return picture


def misconception_bars(misconceptions: Sequence[Misconception]) -> Picture:
    """Draw a bar for each misconception: how many students show it."""
    told = ", ".join(f"{each.what}, {each.students} of {each.of}" for each in misconceptions)
    picture, ax = _bars(f"Students who show each misconception: {told}", len(misconceptions), 1.2)
    sizes = [each.students for each in misconceptions]
    colors = [ORANGE if each.is_belief else WHITE for each in misconceptions]
    bars = ax.barh(range(len(sizes)), sizes, color=colors, edgecolor=BLACK, linewidth=0.5)
    ax.bar_label(bars, [f"{each.students} of {each.of}" for each in misconceptions], padding=4)
    names = ["\n".join(textwrap.wrap(each.what.replace("`", ""), 44)) for each in misconceptions]
    _name_bars(ax, names, max(sizes) * 1.15)
    return picture


def _bars(alt: str, number: int, room: float = 1) -> tuple[Picture, Axes]:
    height = HEIGHT_OF_THE_REST + number * room * HEIGHT_OF_A_BAR
    picture, axes = new_picture(alt, 1, 1, WIDTH, height)
    return picture, axes[0, 0]


def _name_bars(ax: Axes, names: Sequence[str], most: float) -> None:
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set(xlim=(0, most), xlabel="students")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.tick_params(axis="y", length=0)
