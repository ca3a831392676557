"""Small notebooks that keep every rule, for tests that then break one thing in a copy."""

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


ASKS = "how_many.check(...)"


def sample_notebook(*more_cells):
    """Make a notebook that was not run yet and shows text, a stream and a picture of a widget."""
    cells = [
        new_markdown_cell("# How much is 6 times 7?"),
        new_code_cell("from IPython.display import Markdown, display"),
        new_code_cell("print('six times seven')\n6 * 7"),
        new_code_cell(PICTURE.strip()),
        *map(new_code_cell, more_cells),
        new_markdown_cell("The end."),
    ]
    return new_notebook(cells=cells)


def sample_lesson(following=None, asks_about_earlier_ones=False):
    """Make such a notebook with all that a lesson has besides.

    Args:
        following: the file of the next lesson, if there is one.
        asks_about_earlier_ones: whether it begins with questions, as the first lesson doesn't.
    """
    notebook = sample_notebook(ASKS, "6 * 9")
    title, imports, numbers, picture, question, answer, end = notebook.cells
    minutes = 10 if asks_about_earlier_ones else 5
    title.source += f"\n\n**Time:** {minutes} minutes. **You need:** your fingers."
    imports.source += "\nfrom lnorm_utils.exercises.mean import how_many"
    end.source = "## Recap\n\n**References.** A table of products."
    if following:
        end.source += f"\n\n**Next:** [the next one]({following})"
    recall = [
        new_markdown_cell("## Before you start\n\n1. How many?\n2. How long?\n3. How wide?"),
        new_code_cell("\n".join([ASKS] * 3)),
    ]
    notebook.cells = [
        *(title, imports, *(recall if asks_about_earlier_ones else ()), numbers, picture),
        new_markdown_cell("**Predict.** How much is 6 times 9?"),
        *(question, answer),
        new_markdown_cell("## The trap: it isn't 42\n\nIt's 54."),
        end,
    ]
    return notebook


def course(root, **notebooks):
    """Freeze notebooks, each given by its name, in root/notebooks; return that folder."""
    folder = root / "notebooks"
    folder.mkdir()
    for name, notebook in notebooks.items():
        nbformat.write(notebook, folder / f"{name}.ipynb")
    with contextlib.redirect_stdout(io.StringIO()) as said:
        failed = freeze.main(sorted(folder.glob("*.ipynb")))
    assert not failed, said.getvalue()
    return folder


def edit(path, change):
    """Change a saved notebook by a function of its cells, and nothing else."""
    notebook = nbformat.read(path, as_version=4)
    change(notebook.cells)
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
