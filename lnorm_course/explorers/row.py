"""The row: the numbers of one word on their way through a norm, one picture for all lessons."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import torch

from lnorm_course.explorers.engine.controls import one_of
from lnorm_course.explorers.engine.panels import HERE as ENGINE
from lnorm_course.explorers.engine.stills import Still
from lnorm_utils.data import encoded_points
from lnorm_utils.functional import layer_norm
from lnorm_utils.plotting import number_lines, shared_cells

__all__ = ["Row", "explore_row"]

HERE = Path(__file__).parent
SCRIPTS = (ENGINE / "controls.js", HERE / "row_core.js", HERE / "row.js")
STYLES = (ENGINE / "explorer.css", HERE / "row.css")
SCRIPT, STYLE = ("\n".join(file.read_text("utf-8") for file in one) for one in (SCRIPTS, STYLES))
# Name → what a picture shows: its words and their numbers (without them, those of lesson 1), the
# state that it starts in, and others, which are changes of it.
SHEETS: dict[str, Any] = json.loads((HERE / "row.json").read_text("utf-8"))
SENTENCES = [["dogs", "bark"], ["birds", "sing"], ["bees", "hum"]]


class Row(Still):
    """The widget of `explore_row`, which computes in the browser."""

    _esm = SCRIPT
    _css = STYLE

    def __init__(self, page: dict[str, Any]) -> None:
        super().__init__(page)
        self.state = {**page["start"], **page["states"][page["preset"]]}
        self.alt, self.words = page["alt"], self.state["says"]

    def png(self) -> bytes:
        """Draw what stands where no widget runs: a word on two lines, or all words in a table."""
        x = [*map(tuple, self.page["x"])]
        for at, row in self.state.get("rows", {}).items():
            x[int(at)] = tuple(row)
        if self.state["depth"] != "numbers":
            return _two_lines(x[self.state.get("at", 0)])
        return _table(tuple(x), len(self.page["sentences"][0]), self.state.get("over") or "D")


@cache  # many presets begin with the same picture
def _two_lines(row: tuple[float, ...]) -> bytes:
    x = torch.tensor(row, dtype=torch.float64)
    picture = number_lines(torch.stack([x, layer_norm(x, len(x))]))
    picture.axes[0].set_yticks([0, 1], ["x", "layer norm"])
    return picture.png()


@cache
def _table(rows: tuple[tuple[float, ...], ...], length: int, over: str) -> bytes:
    words = torch.tensor(rows, dtype=torch.float64).unflatten(0, (-1, length))
    return shared_cells(words, tuple(map("NLD".index, over))).png()


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
    own = {"preset": preset, "sentences": SENTENCES, "letters": "abcdefgh", "x": rows}
    return Row({**own, "decimals": "x" not in sheet, **sheet})
