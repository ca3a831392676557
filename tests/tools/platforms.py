"""Re-execute all notebooks, as strictly as the tests do, in many environments. `make platforms`.

In a copy of the project whose path has a space and letters that are not ASCII. The last two are
of another kind: each cell runs twice in a row, and the oldest versions that the ranges of
`pyproject.toml` admit are installed into an environment of their own (torch aside).
"""

import argparse
import copy
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from time import perf_counter

import freeze
import nbformat
from copies import copy_of_project, run
from nbclient import NotebookClient
from packaging.requirements import Requirement

FOLDER = "Über die Schicht – a course"
ENVIRONMENTS = {
    "as it is": {},
    "1 thread": {"OMP_NUM_THREADS": "1"},
    "2 threads": {"OMP_NUM_THREADS": "2"},
    "ATen default": {"ATEN_CPU_CAPABILITY": "default"},
    "ATen avx2": {"ATEN_CPU_CAPABILITY": "avx2"},
    "time zone": {"TZ": "Asia/Kathmandu"},
    "locale C": {"LC_ALL": "C", "LANG": "C"},
    "hash seed 0": {"PYTHONHASHSEED": "0"},
    "hash seed 4711": {"PYTHONHASHSEED": "4711"},
}
# Without this right, root may not write either where the files say so.
AS_NOBODY_SPECIAL = ["setpriv", "--bounding-set", "-dac_override", "--inh-caps", "-dac_override"]


def suite(course, *arguments, python=sys.executable, prefix=(), **environment):
    """Run the strict suite on a course; return whether it is green, and its last words."""
    command = [*prefix, python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--color=no"]
    done = run(course, [*command, *(arguments or ["notebooks"])], **environment)
    said = done.stdout + done.stderr
    if done.returncode:
        return False, said.strip()[-3000:]
    return True, re.search(r"outputs compared: .*", said)[0]


def environments(course):
    """Yield the name of each way to run the strict suite, and what runs it."""
    for name, environment in ENVIRONMENTS.items():
        yield name, lambda environment=environment: suite(course, **environment)
    # Where Python takes ASCII for the encoding of files, pytest-xdist needs an ASCII path.
    ascii_only = {**ENVIRONMENTS["locale C"], "PYTHONUTF8": "0"}
    plain = copy_of_project(course.parent / "plain")
    yield "locale C without UTF-8", lambda: suite(plain, **ascii_only)
    home = course.parent / "another home"
    home.mkdir()
    yield "another, empty home", lambda: suite(course, HOME=str(home), XDG_CACHE_HOME=str(home))
    paths = sorted(f"notebooks/{path.name}" for path in (course / "notebooks").glob("*.ipynb"))
    yield "from the last lesson to the first", lambda: suite(course, *reversed(paths))
    yield "a checkout that is read-only", lambda: read_only(course)
    yield "each cell twice in a row", lambda: each_cell_twice(course)
    yield "the oldest versions of the ranges", lambda: oldest(course)


def read_only(course):
    prefix = AS_NOBODY_SPECIAL if os.name == "posix" and os.geteuid() == 0 else ()
    mode(course, "a-w")
    try:
        probe = f"open({str(course / 'notebooks' / 'probe')!r}, 'w')"
        if subprocess.run(
            [*prefix, sys.executable, "-c", probe], stderr=subprocess.DEVNULL
        ).returncode:
            return suite(course, prefix=prefix)
        return False, "It could be written to all the same, so this was not tried."
    finally:
        mode(course, "u+w")


def mode(folder, change):
    subprocess.run(["chmod", "-R", change, folder], check=True)


def each_cell_twice(course):
    """Run each cell twice in a row: no error, and the same output both times."""
    number = 0
    for path in sorted((course / "notebooks").glob("*.ipynb")):
        notebook = freeze.read(path)
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        notebook.cells = [copy.deepcopy(cell) for cell in cells for _ in range(2)]
        for index, cell in enumerate(notebook.cells):
            cell.id = f"cell-{index}"
        client = NotebookClient(notebook, kernel_name="python3", timeout=60, coalesce_streams=True)
        client.execute(cwd=str(path.parent), stderr=subprocess.DEVNULL)
        for first, second in zip(notebook.cells[::2], notebook.cells[1::2], strict=True):
            number += 1
            if outputs(first) != outputs(second):
                return False, f"{path.name}: the second run says something else:\n{first.source}"
    return True, f"cells run twice: {number}"


def outputs(cell):
    """Return what an output says, without its number and without the view of a widget."""
    frozen = [freeze.still(nbformat.from_dict(output)) for output in cell.outputs]
    for output in frozen:
        output.pop("execution_count", None)
    return frozen


def oldest(course):
    """Run the suite with the lowest version that each range admits, torch aside."""
    project = tomllib.loads((course / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["lab"]]
    wanted += project["optional-dependencies"]["test"]
    lowest = []
    for requirement in map(Requirement, wanted):
        (least,) = (s.version for s in requirement.specifier if s.operator == ">=")
        exact = requirement.name == "torch"
        lowest.append(str(requirement) if exact else f"{requirement.name}=={least}.*")
    folder = course.parent / "oldest"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    install = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *lowest]
    subprocess.run(install, check=True)
    return suite(course, python=python)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", help="names of environments")
    options = parser.parse_args()
    line = "{:36} {:>5}  {:6}  {}"
    print(line.format("environment", "s", "", ""), flush=True)
    red = 0
    with tempfile.TemporaryDirectory() as folder:
        course = copy_of_project(Path(folder) / FOLDER)
        for name, look in environments(course):
            if options.only and name not in options.only:
                continue
            start = perf_counter()
            is_green, words = look()
            red += not is_green
            verdict = "green" if is_green else "RED"
            print(line.format(name, f"{perf_counter() - start:.0f}", verdict, words), flush=True)
    return int(red > 0)


if __name__ == "__main__":
    sys.exit(main())
