"""The row: the numbers of one word on their way through a norm, one picture for all lessons."""

import json
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import torch
import traitlets

from lnorm_course.explorers.engine.controls import one_of
from lnorm_course.explorers.engine.panels import HERE as ENGINE
from lnorm_course.explorers.engine.reruns import close_former_run
from lnorm_course.explorers.engine.stills import shown
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


class Row(anywidget.AnyWidget):
    """The widget of `explore_row`, which computes in the browser."""

    _esm = SCRIPT
    _css = STYLE
    page = traitlets.Dict().tag(sync=True)

    def __init__(self, page: dict[str, Any]) -> None:
        super().__init__(page=page)
        self.alt, self.words = page["alt"], page["presets"][page["preset"]]["says"]
        close_former_run(self)

    def png(self) -> bytes:
        """Draw what stands where no widget runs: a word on two lines, or all words in a table."""
        state = {**self.page["start"], **self.page["presets"][self.page["preset"]]["state"]}
        x = torch.tensor(state["x"]).double().reshape(*np.shape(self.page["sentences"]), -1)
        if state["depth"] == "numbers":
            return shared_cells(x, tuple(map("NLD".index, state.get("over") or "D"))).png()
        row = x.flatten(0, 1)[state["at"]]
        picture = number_lines(torch.stack([row, layer_norm(row, len(row))]))
        picture.axes[0].set_yticks([0, 1], ["x", "layer norm"])
        return picture.png()

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        return shown(self, super()._repr_mimebundle_(**kwargs))


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
    one_of(preset, [name for sheet in SHEETS.values() for name in sheet["states"]], "preset")
    sheet = next(sheet for sheet in SHEETS.values() if preset in sheet["states"])
    rows = sheet.get("x") or encoded_points().double().flatten(0, 1).tolist()
    page = {"preset": preset, "sentences": SENTENCES, "letters": "abcdefgh", **sheet}
    start = {"at": 0, **sheet["start"], "x": rows}
    presets = {name: _preset(dict(state), rows) for name, state in page.pop("states").items()}
    return Row({"decimals": "x" not in sheet, **page, "start": start, "presets": presets})


def _preset(state: dict[str, Any], rows: list[list[float]]) -> dict[str, Any]:
    """Take what is said off a state, and write out all rows, if some are others."""
    says, others = state.pop("says"), state.pop("rows", None)
    if others is not None:
        state["x"] = [others.get(str(at), row) for at, row in enumerate(rows)]
    return {"state": state, "says": says}
