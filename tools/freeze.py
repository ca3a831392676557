"""Re-execute notebooks and freeze them, so that executing them again changes no byte.

`make notebooks` freezes all of them; `make notebooks ARGS=notebooks/01_mean.ipynb` those named.
"""

import json
import os
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import DEVNULL

import nbformat
from compared_outputs import comparable_outputs, read_record, record_of
from jupyter_client import AsyncKernelManager
from nbclient import NotebookClient
from nbval.kernel import CURRENT_ENV_KERNEL_NAME, NbvalKernelspecManager
from project import NOTEBOOK_PATHS

from lnorm_course.lab.server_extension import WIDGET_VIEW

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
os.environ["LNORM_PROGRESS"] = ""  # what a student has solved is not frozen
# Set by an instructor on purpose; everything else is the memory of a front end.
KEPT_CELL_METADATA = {"slideshow"}
KEPT_TAGS = {"hide-input"}  # of code that only draws or asserts, which the web edition folds
FOLDED = {"jupyter": {"source_hidden": True}}  # JupyterLab shows its first line


def frozen_text(notebook):
    """Return the text of the file in which a notebook is kept, in the one form it can have."""
    notebook = nbformat.from_dict(notebook)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    for cell in notebook.cells:
        tags = [tag for tag in cell.metadata.get("tags", []) if tag in KEPT_TAGS]
        cell.metadata = {k: v for k, v in cell.metadata.items() if k in KEPT_CELL_METADATA}
        cell.metadata |= {"tags": tags} if tags else {}
        if cell.cell_type == "code":
            cell.outputs = [output for output in map(still, cell.outputs) if output]
    first = next((cell for cell in notebook.cells if cell.cell_type == "code"), None)
    if first and first.source.startswith(("from ", "import ")):  # so that the lesson comes sooner
        first.metadata |= FOLDED
    with warnings.catch_warnings(action="ignore"):  # that an id was missing: now it is not
        _, notebook = nbformat.validator.normalize(notebook)
    nbformat.validate(notebook)
    return nbformat.writes(notebook) + "\n"


def still(output):
    """Drop the widget view from an output, for without its state it opens as an error box."""
    if WIDGET_VIEW not in output.get("data", {}):
        return output
    data = {mime: value for mime, value in output.data.items() if mime != WIDGET_VIEW}
    return nbformat.from_dict({**output, "data": data}) if data else None


def read(path):
    """Read a notebook for execution, without what a front end or an earlier run has left in it."""
    with warnings.catch_warnings(action="ignore"):  # as above
        notebook = nbformat.reads(frozen_text(nbformat.read(path, as_version=4)), as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return notebook


def execute(path, on_cell_start=None):
    """Run all cells of a notebook in a new kernel of this environment, as nbval does."""
    kernel = AsyncKernelManager(
        kernel_name=CURRENT_ENV_KERNEL_NAME, kernel_spec_manager=NbvalKernelspecManager()
    )
    client = NotebookClient(
        read(path),
        km=kernel,
        timeout=60,
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
        force_raise_errors=True,
        shutdown_kernel="immediate",
        on_cell_start=on_cell_start,
    )
    return client.execute(cwd=str(path.parent), cleanup_kc=True, stderr=DEVNULL)


def freeze(path):
    """Execute a notebook, replace its file, and return how many outputs the tests compare.

    If a cell fails, say which one, leave the file as it was, and return None.
    """
    started = []
    try:
        notebook = execute(path, on_cell_start=lambda cell, cell_index: started.append(cell))
    except Exception as error:  # whatever it is, the other notebooks are still to be frozen
        number = sum(cell.cell_type == "code" for cell in started)
        where = f"code cell {number}" if number else "reading it"
        print(f"{path.name}: {where} failed, the file is left as it was.\n{error}", flush=True)
        return None
    text = frozen_text(notebook)
    replace(path, text)
    cells = nbformat.reads(text, as_version=4).cells
    compared = sum(comparable_outputs(cell.get("outputs", [])) for cell in cells)
    print(f"{path.name}: {compared} outputs that tests compare", flush=True)
    return compared


def replace(path, text):
    """Write a file whole or not at all."""
    draft = path.with_suffix(path.suffix + ".draft")
    draft.write_text(text, encoding="utf-8", newline="\n")
    draft.replace(path)


def freeze_all(paths):
    """Freeze notebooks, as many at once as there are cores; return what each of them compares."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(paths, pool.map(freeze, paths), strict=True))


def update_record(folder, compared):
    """Record what was frozen, keep what was not, and forget notebooks that are gone."""
    record = {name: n for name, n in read_record(folder).items() if (folder / name).exists()}
    record |= {path.name: n for path, n in compared.items() if n is not None}
    record_of(folder).parent.mkdir(parents=True, exist_ok=True)
    replace(record_of(folder), json.dumps(record, indent=1, sort_keys=True) + "\n")


def main(arguments):
    paths = [Path(argument).resolve() for argument in arguments] or NOTEBOOK_PATHS
    compared = freeze_all(paths)
    for folder in {path.parent for path in paths}:
        update_record(folder, {path: n for path, n in compared.items() if path.parent == folder})
    return int(None in compared.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
