"""Take the code out of a notebook."""

from collections.abc import Mapping

__all__ = ["code_cells"]


def code_cells(notebook: Mapping) -> list[str]:
    """Return the sources of the code cells."""
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
