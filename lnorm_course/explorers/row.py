"""The row: the numbers of one word on their way through a norm, one picture for all lessons."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import torch
import traitlets
from torch import Tensor

from lnorm_course.explorers.engine.controls import one_of
from lnorm_course.explorers.engine.panels import HERE as ENGINE
from lnorm_course.explorers.engine.stills import Still
from lnorm_utils.data import encoded_points
from lnorm_utils.functional import layer_norm_steps
from lnorm_utils.plotting import number_lines, shared_cells
from lnorm_utils.plotting.picture import GRAY, MEAN, SPREAD, Picture, in_style

__all__ = ["Row", "explore_row"]

HERE = Path(__file__).parent
# Each imports only those before it.
PARTS = ("numbers", "buttons", "cells", "machine", "hands", "words", "links")
SCRIPTS = (ENGINE / "controls.js", *(HERE / f"row_{part}.js" for part in PARTS), HERE / "row.js")
# One script, as a widget needs it: what a file imports stands above it.
SCRIPT = "\n".join(
    re.sub(r"^import .*\n", "", file.read_text("utf-8"), flags=re.MULTILINE) for file in SCRIPTS
)
STYLES = (ENGINE / "explorer.css", HERE / "row.css")
STYLE = "\n".join(file.read_text("utf-8") for file in STYLES)
# Name → what a picture shows: its words and their numbers (without them, those of lesson 1), the
# state that it starts in, and others, which are changes of it.
SHEETS: dict[str, Any] = json.loads((HERE / "row.json").read_text("utf-8"))
REACH = 16  # how far an axis goes; half of that is how many times as large results are shown
SENTENCES = [["dogs", "bark"], ["birds", "sing"], ["bees", "hum"]]


class Row(Still):
    """The widget of `explore_row`, which computes in the browser.

    `preset`, the name of the preset that was shown last, can be set.
    """

    _esm = SCRIPT
    _css = STYLE
    preset = traitlets.Unicode().tag(sync=True)

    def __init__(self, page: dict[str, Any]) -> None:
        super().__init__(page, preset=page["preset"])

    @traitlets.validate("preset")
    def _known(self, proposal: Any) -> str:
        return one_of(proposal["value"], self.page["states"], "preset")

    @property
    def state(self) -> dict[str, Any]:
        """What the preset shows."""
        return {**self.page["start"], **self.page["states"][self.preset]}

    @property
    def alt(self) -> str:
        """What the picture shows."""
        return str(self.page["alt"])

    @property
    def words(self) -> str:
        """What there is to see in the preset."""
        return str(self.state["says"])

    def png(self) -> bytes:
        """Draw what stands where no widget runs: a word at its stations, or all in a table."""
        state, x = self.state, [*map(tuple, self.page["x"])]
        for at, row in state.get("rows", {}).items():
            x[int(at)] = tuple(row)
        if state["depth"] == "numbers":
            return _table(tuple(x), len(self.page["sentences"][0]), state.get("over") or "D")
        if "guess" in state:
            return number_lines([x[0]]).png()
        affine = (tuple(state.get(name) or ()) for name in ("gamma", "beta"))
        row, rms = x[state.get("at", 0)], state.get("rms", False)
        return _stations(row, *affine, rms, self.page["reach"])


@cache
def _table(rows: tuple[tuple[float, ...], ...], length: int, over: str) -> bytes:
    words = torch.tensor(rows, dtype=torch.float64).unflatten(0, (-1, length))
    return shared_cells(words, tuple(map("NLD".index, over))).png()


def _way(x: Tensor, gamma: Tensor, beta: Tensor, rms: bool, zoom: int) -> dict[str, Tensor]:
    """Return what a row is at each station, by its name."""
    steps = layer_norm_steps(x, len(x))
    y = x / x.square().mean().sqrt() if rms else steps.x_hat
    way = {"x": x} if rms else {"x": x, "− mean": x - steps.mean}
    way["÷ RMS" if rms else "÷ spread"] = y
    way[f"× {zoom}"] = zoom * y
    return {**way, "· γ + β": zoom * (gamma * y + beta)} if len(gamma) else way


@cache  # many presets begin with the same picture
@in_style
def _stations(*args: Any) -> bytes:
    row, gamma, beta, rms, reach = args
    x = torch.tensor(row, dtype=torch.float64)
    way = _way(x, torch.tensor(gamma), torch.tensor(beta), rms, reach // 2)
    picture = Picture("", 5.8, 0.62 * len(way) + 0.4)
    ax = picture.subplots()
    lines = torch.stack([*way.values()])
    heights = torch.arange(len(way))
    means, spreads = lines.mean(1), lines.std(1, correction=0)
    until = [*way].index(f"× {reach // 2}")
    edges = (means - spreads)[:until], (means + spreads)[:until]
    ax.fill_betweenx(heights[:until], *edges, color=SPREAD, alpha=0.25, lw=0)
    ax.plot(means, heights, color=MEAN, lw=2.5)
    ax.plot(lines, heights.expand(len(x), -1).T, color=GRAY, lw=1, zorder=1)
    for line, height in zip(lines.tolist(), heights.tolist(), strict=True):
        ax.axhline(height, color=GRAY, lw=1.5, zorder=0)
        for at in sorted({*line}):
            name = "".join(letter for letter, v in zip("abcdefgh", line, strict=False) if v == at)
            look = {"boxstyle": "round,pad=0.25", "fc": "#4a535c", "ec": "white"}
            ax.text(
                at, height, name, color="white", ha="center", va="center", fontsize=9, bbox=look
            )
    ax.set_yticks(heights, [*way])
    ax.set(xlim=(-reach, reach), ylim=(len(way) - 0.6, -0.6), xticks=[])
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return picture.png()


def explore_row(preset: str = "four numbers") -> Row:
    """Explore the numbers of words on their way through a norm: drag one, and see what changes.

    Args:
        preset: the state to start in, such as "one per word" or "batch norm". The picture has the
            presets that stand beside it in `row.json`.

    Raises:
        ValueError: `preset` is unknown.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, equations 3 and 4.

    >>> explore_row("one per sentence").words
    'Here the two words of a sentence share a mean. Is this layer norm?'
    """
    sheets = {name: sheet for sheet in SHEETS.values() for name in sheet["states"]}
    sheet = sheets[one_of(preset, sheets, "preset")]
    rows = encoded_points().double().flatten(0, 1).tolist()
    own = {
        "reach": REACH,
        "preset": preset,
        "sentences": SENTENCES,
        "letters": "abcdefgh",
        "x": rows,
    }
    return Row({**own, "decimals": "x" not in sheet, **sheet})
