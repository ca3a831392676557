"""A notebook file, as the rules look at it."""

import json
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import nbformat

IMAGES = {"image/png", "image/jpeg"}


@dataclass(frozen=True)
class Lesson:
    """A notebook file, as it is written and as it is read."""

    path: Path

    @cached_property
    def text(self):
        return self.path.read_text("utf-8")

    @cached_property
    def raw(self):
        return json.loads(self.text)

    @cached_property
    def notebook(self):
        with warnings.catch_warnings(action="ignore"):  # a rule speaks about ids
            return nbformat.reads(self.text, as_version=4)

    def cells(self, cell_type):
        return [cell for cell in self.notebook.cells if cell.cell_type == cell_type]

    def outputs(self):
        """Yield each output with the number of its code cell, counted from 1."""
        for number, cell in enumerate(self.cells("code"), start=1):
            for output in cell.outputs:
                yield number, output

    def output_texts(self):
        """Yield all that an output says, pictures aside, with the number of its code cell."""
        for number, output in self.outputs():
            if output.output_type == "stream":
                yield number, output.text
            for mime, value in output.get("data", {}).items():
                if mime not in IMAGES:
                    yield number, value if isinstance(value, str) else json.dumps(value)
