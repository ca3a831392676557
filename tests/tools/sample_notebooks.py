"""Make small notebooks, for tests that break one thing in a copy."""

import contextlib
import io

import freeze
import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

PICTURE = """
png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJg"
png += "gg=="
view = {"model_id": "0", "version_major": 2, "version_minor": 0}
image = f'<img alt="one pixel" src="data:image/png;base64,{png}">'
data = {"image/png": png, "text/html": image, "application/vnd.jupyter.widget-view+json": view}
display(data, raw=True)
display(Markdown("**In words.** One pixel."))
"""


def sample_notebook(*more_cells):
    """Make a notebook that hasn't run yet and shows text, a stream, and a widget's picture."""
    cells = [
        new_markdown_cell("# How much is 6 times 7?"),
        new_code_cell("from IPython.display import Markdown, display"),
        new_code_cell("print('six times seven')\n6 * 7"),
        new_code_cell(PICTURE.strip()),
        *map(new_code_cell, more_cells),
        new_markdown_cell("The end."),
    ]
    return new_notebook(cells=cells)


def course(root, **notebooks):
    """Freeze notebooks, each given by its name, in root/notebooks; return that folder."""
    folder = root / "notebooks"
    for each in (folder, freeze.record_of(folder).parent):
        each.mkdir(parents=True)
    for name, notebook in notebooks.items():
        nbformat.write(notebook, folder / f"{name}.ipynb")
    with contextlib.redirect_stdout(io.StringIO()) as said:
        failed = freeze.main(sorted(folder.glob("*.ipynb")))
    assert not failed, said.getvalue()
    return folder


def edit(path, change):
    """Apply a function to the cells of a saved notebook, and change nothing else."""
    notebook = nbformat.read(path, as_version=4)
    change(notebook.cells)
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
