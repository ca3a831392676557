"""Re-execute notebooks and freeze them, so that executing them again changes no byte.

`make notebooks` freezes all notebooks; `make notebooks ARGS=notebooks/01_mean.ipynb` freezes only
those named. Both also write the tables of lessons and, in the lessons' title cells, the minutes.
"""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import DEVNULL

import nbformat
from compared_outputs import comparable_outputs, read_record, record_of
from lesson_tables import write_tables
from nbclient import NotebookClient
from project import NOTEBOOK_PATHS

from lnorm_course.lab.lesson_files import whole, write
from lnorm_course.lab.server_extension import WIDGET_VIEW

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
os.environ["LNORM_PROGRESS"] = ""  # don't freeze anybody's progress
HIDDEN = "hide-input"  # marks code that only draws or asserts; the web edition collapses it
FOLDED = {"jupyter": {"source_hidden": True}}  # JupyterLab then shows only the first line


def frozen_text(notebook):
    """Return the canonical text of a notebook's file."""
    notebook = nbformat.from_dict(notebook)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in notebook.cells:  # all other metadata is the state of a front end
        cell.metadata = {"tags": [HIDDEN]} if HIDDEN in cell.metadata.get("tags", []) else {}
    for cell in code:
        for output in cell.outputs:  # a widget without its state opens as an error box
            output.get("data", {}).pop(WIDGET_VIEW, None)
        cell.outputs = [output for output in cell.outputs if output.get("data", True)]
    if code and code[0].source.startswith(("from ", "import ")):  # fold the imports away
        code[0].metadata |= FOLDED
    nbformat.validate(notebook)
    return nbformat.writes(notebook) + "\n"


def execute(path):
    """Run all cells of a notebook in a new kernel."""
    client = NotebookClient(
        nbformat.read(path, as_version=4),
        timeout=60,
        coalesce_streams=True,
        force_raise_errors=True,
        shutdown_kernel="immediate",
    )
    return client.execute(cwd=str(path.parent), stderr=DEVNULL)


def freeze(path):
    """Execute a notebook, replace its file, and return how many outputs the tests compare.

    If a cell fails, print its code and its error, leave the file unchanged, and return None.
    """
    try:
        notebook = execute(path)
        text = frozen_text(notebook)
    except Exception as error:  # whatever it is, the other notebooks must still be frozen
        print(f"{path.name} was left unchanged: {error}", flush=True)
        return None
    with whole(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")
    compared = sum(comparable_outputs(cell.get("outputs", [])) for cell in notebook.cells)
    print(f"{path.name}: {compared} outputs compared by tests", flush=True)
    return compared


def main(arguments):
    """Freeze notebooks, one per core at a time, and record how many outputs the tests compare."""
    paths = [Path(argument).resolve() for argument in arguments] or NOTEBOOK_PATHS
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        each = zip(paths, pool.map(freeze, paths), strict=True)
    frozen = {path.name: compared for path, compared in each if compared is not None}
    folder = paths[0].parent
    record = {n: c for n, c in (read_record(folder) | frozen).items() if (folder / n).exists()}
    write(dict(sorted(record.items())), record_of(folder))
    return int(len(frozen) < len(paths))


if __name__ == "__main__":
    write_tables()
    sys.exit(main(sys.argv[1:]))
