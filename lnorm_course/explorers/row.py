"""The row: one word's numbers on their way through a norm, in a picture that all lessons share."""

import json
import re
from pathlib import Path
from typing import Any

import traitlets

from lnorm_course.explorers.engine.controls import one_of
from lnorm_course.explorers.engine.panels import HERE as ENGINE
from lnorm_course.explorers.engine.stills import Still
from lnorm_course.explorers.row_stills import stations, table
from lnorm_utils.data import encoded_points

__all__ = ["Row", "explore_row"]

HERE = Path(__file__).parent
# Each script imports only from those before it.
PARTS = ("numbers", "words", "links", "cells", "machine", "drawing", "painting", "buttons", "hands")
SCRIPTS = (ENGINE / "controls.js", *(HERE / f"row_{part}.js" for part in PARTS), HERE / "row.js")
# A widget needs a single script, so these are joined. Imports are dropped, because what they import
# is in the same script. Comments are dropped, because they'd be a seventh of what a page loads.
FOR_READERS = re.compile(r"^ *(import [^\n]*|//[^\n]*|/\*\*.*?\*/)\n", re.MULTILINE | re.DOTALL)
SCRIPT = FOR_READERS.sub("", "\n".join(file.read_text("utf-8") for file in SCRIPTS))
STYLE = "\n".join(file.read_text("utf-8") for file in (ENGINE / "explorer.css", HERE / "row.css"))
# Maps a name to what a picture shows: its words and their numbers (by default lesson 1's), its
# initial state, and its presets, which are changes to that state.
SHEETS: dict[str, Any] = json.loads((HERE / "row.json").read_text("utf-8"))
# Defaults for a sheet. Axes end at `reach`, and results are magnified by half of that.
SENTENCES = [["dogs", "bark"], ["birds", "sing"], ["bees", "hum"]]
DEFAULTS: dict[str, Any] = {"reach": 16, "sentences": SENTENCES, "letters": "abcdefgh"}


class Row(Still):
    """The widget of `explore_row`; it computes in the browser.

    `preset`, the name of the preset that was chosen last, can be set.
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
        """The full state of the current preset."""
        return {**self.page["start"], **self.page["states"][self.preset]}

    @property
    def alt(self) -> str:
        """A description of what the picture shows."""
        return str(self.page["alt"])

    @property
    def words(self) -> str:
        """A description of what there is to see in the current preset."""
        return str(self.state["says"])

    def png(self) -> bytes:
        """Draw the still image: one word at each stage of a norm, or all words in a table."""
        page, state = self.page, self.state
        rows = [state.get("rows", {}).get(str(at), row) for at, row in enumerate(page["x"])]
        if state["depth"] == "numbers":
            return table(rows, state, page["letters"], page["sentences"])
        own = (tuple(state.get(name) or ()) for name in ("gamma", "beta", "guess"))
        row = tuple(rows[state.get("at", 0)])
        return stations(row, *own, state.get("rms", False), page["reach"])


def explore_row(preset: str = "four numbers") -> Row:
    """Explore how a norm changes rows of numbers: drag a number, and see what follows.

    Args:
        preset: the state to start in, such as "one per word" or "batch norm". The picture offers
            all the presets listed in its entry in `row.json`.

    Raises:
        ValueError: `preset` is unknown.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, equations 3 and 4.

    >>> explore_row("one per sentence").words
    'Here the two words of a sentence share a mean. Is this layer norm?'
    """
    sheets = {name: sheet for sheet in SHEETS.values() for name in sheet["states"]}
    sheet = sheets[one_of(preset, sheets, "preset")]
    rows = encoded_points().double().flatten(0, 1).tolist()
    own = {"preset": preset, "x": rows, "decimals": "x" not in sheet}
    return Row({**DEFAULTS, **own, **sheet})
