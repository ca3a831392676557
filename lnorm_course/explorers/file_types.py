"""What type Magika assigns to a file when one or both of Magika's norms use a different formula."""

from functools import cache
from typing import Any

import numpy as np
import torch

from lnorm_course.explorers.engine import Choice, Explorer, line, panel
from lnorm_course.lessons.file_types import FORMULAS, as_codes, likeliest, sample_files, with_norm
from lnorm_utils.plotting.picture import BLUE, GRAY, in_style
from lnorm_utils.words import fixed, spoken

__all__ = ["explore_file_types"]

FILES = (
    *("01_mean.ipynb", "07_projection_fix.ipynb", "modules.py", "README.md", "Makefile"),
    *("pride_and_prejudice.txt", "01_mean.png", "course.zip"),
)
WHICH = {"norm 1": ("norm_1",), "norm 2": ("norm_2",), "both": ("norm_1", "norm_2")}
TRAINED = "as trained"
KINDS = 5
CONTROLS = {
    "file": Choice("file", FILES[0], FILES),
    "formula": Choice("formula", TRAINED, FORMULAS),
    "which": Choice("where", "norm 2", WHICH, when=lambda values: values["formula"] != TRAINED),
}
PRESETS: dict[str, dict[str, Any]] = {
    "nothing changed": {},
    "a mistake in both": {"formula": "ε outside the root", "which": "both"},
    "norm 2 as RMSNorm": {"formula": "RMSNorm"},
    "norm 1 left out": {"formula": "left out", "which": "norm 1"},
    "norm 2 over the batch": {"formula": "over the batch"},
    "a novel": {"file": "pride_and_prejudice.txt"},
}


def _said(file: str, formula: str, which: str) -> tuple[list[tuple[str, float]], int]:
    """Run the network on the files, with the given formula in the given norms.

    Return the given file's likeliest types with their probabilities, and the number of files whose
    likeliest type is unchanged.
    """
    now, trained = _of_all(formula, which), _of_all(TRAINED, "norm 2")
    kept = sum(one[0][0] == other[0][0] for one, other in zip(now, trained, strict=True))
    return now[FILES.index(file)], kept


@cache
def _of_all(formula: str, which: str) -> list[list[tuple[str, float]]]:
    """Return each file's likeliest types, with all files in one batch, for norms over the batch."""
    model = with_norm(**dict.fromkeys(WHICH[which], FORMULAS[formula]))
    with torch.no_grad():
        return likeliest(model(as_codes(*(sample_files()[name] for name in FILES))), KINDS)


@in_style
def explore_file_types(preset: str | None = None, **start: Any) -> Explorer:
    """Explore what type Magika assigns to a file when Magika's norms use a different formula.

    >>> explore_file_types(preset="norm 2 as RMSNorm").words[:44]
    'With RMSNorm in norm 2, 01_mean.ipynb is jav'
    """
    picture, ax = panel("the likeliest kinds of a file", 3.0, xlabel="probability")
    ax.set(xlim=(-0.5, 1.02), ylim=(KINDS - 0.4, -0.6), yticks=[])
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1])
    ax.spines["left"].set_visible(False)
    ax.grid(axis="x", color=GRAY, lw=0.5)
    bars = line(ax, "-", color=BLUE, lw=16, solid_capstyle="butt")
    look: dict[str, Any] = {"ha": "right", "va": "center", "fontsize": 11}
    names = [ax.text(-0.03, row, "", **look) for row in range(KINDS)]
    changed = ax.text(1, KINDS - 1, "", **look)

    def show(found: tuple[Any, int], file: str, formula: str, which: str) -> str:
        kinds, kept = found
        ends = [(0.0, probability, np.nan) for _, probability in kinds]
        bars.set_data(np.ravel(ends), np.repeat(np.arange(KINDS), 3))
        for text, (kind, _) in zip(names, kinds, strict=True):
            text.set_text(kind)
        is_trained = formula == TRAINED
        changed.set_text(TRAINED if is_trained else f"{which}: {formula}")
        where = "both norms" if which == "both" or is_trained else which
        begin = (
            f"{where} {formula}" if formula in (TRAINED, "left out") else f"{formula} in {where}"
        )
        likely = spoken([f"{kind} {fixed(probability)}" for kind, probability in kinds[:2]])
        return (
            f"With {begin}, {file} is {likely}. Of the {len(FILES)} files, {kept} keep their kind."
        )

    moving = [bars, changed, *names]
    return Explorer({picture: moving}, _said, show, CONTROLS, PRESETS, preset, start)
