"""What Magika says of a file when one of its norms has another formula."""

from functools import cache

import numpy as np
import torch

from lnorm_course.explorers.engine.controls import Choice
from lnorm_course.explorers.engine.explorer import Explorer, Presets
from lnorm_course.explorers.engine.figures import fixed_panels, line
from lnorm_course.lessons.file_types import (
    FORMULAS,
    as_codes,
    likeliest,
    magika,
    sample_files,
    with_norm,
)
from lnorm_utils.plotting.picture import BLACK, BLUE, GRAY, SKY, in_style
from lnorm_utils.words import fixed, spoken

__all__ = ["explore_file_types"]

FILES = (
    *("01_mean.ipynb", "07_projection_fix.ipynb", "modules.py", "README.md", "Makefile"),
    *("pride_and_prejudice.txt", "01_mean.png", "course.zip"),
)
WHICH = {"norm 1": ("norm_1",), "norm 2": ("norm_2",), "both": ("norm_1", "norm_2")}
KINDS = 5
PRESETS: Presets = {
    "nothing changed": {},
    "a mistake in both": {"formula": "ε outside the root", "which": "both"},
    "norm 2 as RMSNorm": {"formula": "RMSNorm"},
    "norm 1 left out": {"formula": "left out", "which": "norm 1"},
    "norm 2 over the batch": {"formula": "over the batch"},
    "a novel": {"file": "pride_and_prejudice.txt"},
}


@in_style
def explore_file_types(
    file: str = "01_mean.ipynb",
    formula: str = "as trained",
    which: str = "norm 2",
    preset: str | None = None,
    presets: Presets | None = None,
) -> Explorer:
    """Explore which kind Magika takes a file for, with another formula in its norms.

    The eight files go through the network together, in one batch.

    Args:
        file: one of eight sample files.
        formula: one of `FORMULAS`, "as trained" at the start.
        which: the norm that gets it, "norm 1", "norm 2" or "both".
        preset, presets: the preset to start with, and more of them, as in `Explorer`.

    Raises:
        ValueError: an argument is not one of those.

    >>> explore_file_types(preset="norm 2 as RMSNorm").words[:44]
    'Norm 2 has another formula, RMSNorm. 01_mean'
    """
    picture, (likely, places) = fixed_panels(
        "The likeliest kinds of a file, and γ of norm 1",
        *(2, 4.0, 3.7),
        {"left": 0.17, "right": 0.985, "bottom": 0.15, "top": 0.9, "wspace": 0.3},
    )
    likely.set(xlim=(0, 1), ylim=(KINDS - 0.4, -0.6), xlabel="probability", label="kinds")
    likely.set_yticks([])
    likely.grid(axis="x", color=GRAY, lw=0.5)
    bars = line(likely, "-", color=SKY, lw=18, solid_capstyle="butt")
    names = [
        likely.text(-0.02, row, "", ha="right", va="center", fontsize=10) for row in range(KINDS)
    ]
    shown = likely.text(0.97, KINDS - 1, "", ha="right", va="center", fontsize=10)
    gamma = magika().state_dict()["norm_1.weight"].numpy()
    line(places, "-", np.arange(len(gamma)), gamma, color=BLUE)
    places.axvline(len(gamma) / 2, color=BLACK, ls="--", lw=1)
    places.set(xlabel="place, four bytes each", ylabel="γ of norm 1", xlim=(-8, 519), ylim=(0, 2.8))

    def move(file: str, formula: str, which: str) -> str:
        found = _found(formula, which)
        row = found[FILES.index(file)]
        ends = [(0.0, probability, np.nan) for _, probability in row]
        bars.set_data(np.ravel(ends), np.repeat(np.arange(KINDS), 3))
        for text, (kind, _) in zip(names, row, strict=True):
            text.set_text(kind)
        shown.set_text(formula if formula == "as trained" else f"{which}: {formula}")
        return f"{_changed(formula, which)} {file} is {_told(row)}. {_kept(found)}"

    controls = {
        "file": Choice("file", file, FILES),
        "formula": Choice("formula", formula, FORMULAS),
        "which": Choice(
            "where", which, WHICH, when=lambda values: values["formula"] != "as trained"
        ),
    }
    return Explorer(picture, [bars, shown, *names], move, controls, PRESETS, preset, presets)


@cache
def _found(formula: str, which: str) -> list[list[tuple[str, float]]]:
    """Return the likeliest kinds of each file; a norm over the batch sees all of them."""
    model = with_norm(**dict.fromkeys(WHICH[which], FORMULAS[formula]))
    with torch.no_grad():
        return likeliest(model(as_codes(*(sample_files()[name] for name in FILES))), KINDS)


def _changed(formula: str, which: str) -> str:
    if formula == "as trained":
        return "Both norms are as trained."
    verb = "Both norms have" if which == "both" else f"{which.capitalize()} has"
    return f"{verb} another formula, {formula}."


def _told(row: list[tuple[str, float]]) -> str:
    return spoken([f"{kind} {fixed(probability)}" for kind, probability in row[:2]])


def _kept(found: list[list[tuple[str, float]]]) -> str:
    before = _found("as trained", "norm 2")
    kept = sum(now[0][0] == then[0][0] for now, then in zip(found, before, strict=True))
    return f"Of the {len(FILES)} files, {kept} keep their kind."
