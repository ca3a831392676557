"""Measure, side by side and in alternation, what the tests and the package cost. `make bench`.

Notebooks: the strict suite against plain nbclient, which only executes them, in one process with as
many kernels at once as there are cores; and against the same number of kernels that only import.
Diagnosis: how long it takes to name what is wrong with an answer, over the wrong answers of the
tests, against a thousand small operations of PyTorch; half of them, and the slowest.
Grading: the same lessons, against nbclient, and against nbgrader where it's installed.
Explorers: one change, in a kernel, against `interact` with a fresh figure; then in JupyterLab in a
browser, from key press to new pixels.
Speed: the layer norms of the appendix, against a copy; this writes the table that it shows.
Site: each lesson as a page: what is transferred, its first picture, from key press to new pixels.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter

import diagnosis_bench
import explorers_bench
import nbformat
import speed_bench
from nbformat.v4 import new_code_cell, new_notebook
from project import PROJECT

PARTS = ("notebooks", "grading", "import", "diagnosis", "explorers", "speed", "browser", "site")
TRIALS = 3
IMPORTS = "import torch, matplotlib, ipywidgets"
NBCLIENT = """
import os, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import DEVNULL
import nbformat
from nbclient import NotebookClient

def execute(path):
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, kernel_name="python3", shutdown_kernel="immediate")
    client.execute(cwd=str(path.parent), stderr=DEVNULL)

with ThreadPoolExecutor(os.cpu_count()) as pool:
    list(pool.map(execute, sorted(Path(sys.argv[1]).glob("*.ipynb"))))
"""


@dataclass(frozen=True)
class Comparison:
    """What takes how many seconds, against what base; a comparison without target is a floor.

    `most` is how many seconds it may take, whatever the base takes.
    """

    what: str
    time: float
    against: str
    base: float
    target: float | None = None
    most: float | None = None

    @property
    def ratio(self):
        return self.time / self.base

    @property
    def verdict(self):
        if self.target is None:
            return ""
        slow = self.most is not None and self.time > self.most
        return "over" if slow or self.ratio > self.target else "within"


def seconds(*arguments):
    """Time a call of this Python; a call that fails is no measurement."""
    start = perf_counter()
    run = subprocess.run([sys.executable, *arguments], cwd=PROJECT, capture_output=True, text=True)
    duration = perf_counter() - start
    if run.returncode:
        sys.exit(f"\n{run.stdout}{run.stderr}\nThis call failed, so there is nothing to measure.")
    return duration


def in_alternation(rounds, **calls):
    """Time each call once a round, forward and backward in turn; return the medians."""
    times = {name: [] for name in calls}
    for number in range(rounds):
        for name in list(calls)[:: -1 if number % 2 else 1]:
            tell(f"round {number + 1} of {rounds}: {name}")
            times[name].append(seconds(*calls[name]))
    tell("")
    return {name: median(values) for name, values in times.items()}


def tell(progress):
    if sys.stderr.isatty():
        print(f"\r\033[K{progress}", end="", file=sys.stderr, flush=True)


def kernels_that_only_import(notebooks, folder):
    """Write as many notebooks as there are lessons, each with one cell of imports."""
    folder.mkdir()
    for path in notebooks.glob("*.ipynb"):
        notebook = new_notebook(cells=[new_code_cell(IMPORTS)])
        nbformat.write(notebook, folder / path.name)
    return folder


def measure_notebooks(notebooks, rounds):
    suite = ["-m", "pytest", "-q", "--rootdir", notebooks.parent, "-c", "pyproject.toml", notebooks]
    with tempfile.TemporaryDirectory() as folder:
        plain = shutil.copytree(notebooks, Path(folder) / "plain")
        floor = kernels_that_only_import(notebooks, Path(folder) / "floor")
        baselines = {"nbclient": ["-c", NBCLIENT, plain], "imports": ["-c", NBCLIENT, floor]}
        times = in_alternation(rounds, suite=suite, **baselines)
    yield Comparison("notebooks: pytest", times["suite"], "nbclient", times["nbclient"], 1.2)
    yield Comparison("notebooks: pytest", times["suite"], "kernels that import", times["imports"])


def measure_grading(notebooks, rounds):
    with tempfile.TemporaryDirectory() as folder:
        plain = shutil.copytree(notebooks, Path(folder) / "plain")
        calls = {
            "grading": ["-m", "lnorm_utils.grading", "grade", plain, "--as-root"],
            "nbclient": ["-c", NBCLIENT, plain],
        }
        if find_spec("nbgrader"):
            course = Path(folder) / "nbgrader"
            for place in ("source/lessons", "submitted/a_student/lessons"):
                shutil.copytree(plain, course / place)
            in_course = ["-m", "nbgrader", f"--CourseDirectory.root={course}"]
            seconds(*in_course[:2], "generate_assignment", in_course[2], "lessons")
            calls["nbgrader"] = [*in_course[:2], "autograde", "--force", in_course[2], "lessons"]
        times = in_alternation(rounds, **calls)
    for base in list(calls)[1:]:
        yield Comparison("grading the lessons", times["grading"], base, times[base])


def measure_import(rounds):
    calls = {"lnorm_utils": ["-c", "import lnorm_utils"], "torch": ["-c", "import torch"]}
    in_alternation(2, **calls)  # warm up the disk cache and the byte code
    times = in_alternation(rounds, **calls)
    yield Comparison(
        "import lnorm_utils", times["lnorm_utils"], "import torch", times["torch"], 1.05
    )


def measure_explorers():
    best = {}
    for _ in range(TRIALS):  # other work on the machine can only make it slower
        measured = explorers_bench.measure(PROJECT / "tests" / "tools")
        best = {name: min(time, best.get(name, time)) for name, time in measured.items()}
        comparisons = [
            Comparison(name, time, "interact", best["interact"], 0.1, most=0.012)
            for name, time in best.items()
            if name != "interact"
        ]
        if all(comparison.verdict == "within" for comparison in comparisons):
            break
    return comparisons


def measure_diagnosis():
    for _ in range(TRIALS):  # other work on the machine can only make it slower
        times = diagnosis_bench.measure()
        comparisons = [
            Comparison(
                f"diagnosis: {what}", times[what], "1,000 operations", times["base"], *limits
            )
            for what, *limits in (("median", 10, 0.06), ("slowest", 50, 0.3))
        ]
        if all(comparison.verdict == "within" for comparison in comparisons):
            break
    return comparisons


def measure_speed():
    if not any(map(shutil.which, ("g++", "clang++", "cl"))):
        print("The speed isn't measured, because torch.compile needs a C++ compiler.")
        return []
    for _ in range(TRIALS):  # other work on the machine disturbs some functions more than others
        comparisons = list(compare_speeds(speed_bench.measure()))
        if all(comparison.verdict != "over" for comparison in comparisons):
            break
    print("The appendix asserts what held for the table of the course. Run `make notebooks`.")
    return comparisons


def compare_speeds(tables):
    """Compare the blocks with PyTorch's own layer norm, and the compiled one with a copy."""
    for device, table in tables.items():
        times = {name: time / 1000 for name, time in table["milliseconds"].items()}
        for name, base in (("in_blocks", "F.layer_norm"), ("compiled", "copy")):
            target = 1.1 if device == "cpu" else None
            yield Comparison(f"{device}: {name}", times[name], base, times[base], target)


def report(comparisons):
    """Print a row for each comparison."""
    line = "{:20} {:>6}  {:20} {:>6}  {:>5}  {:>6}  {}"
    print(line.format("what", "s", "against", "s", "ratio", "target", ""))
    for c in comparisons:
        numbers = (f"{c.time:.3f}", c.against, f"{c.base:.3f}", f"{c.ratio:.2f}")
        print(line.format(c.what, *numbers, c.target or "floor", c.verdict).rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="rounds over the notebooks")
    parser.add_argument("--import-rounds", type=int, default=15)
    parser.add_argument("--notebooks", type=Path, default=PROJECT / "notebooks")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    options = parser.parse_args()
    comparisons = []
    if "notebooks" in options.only:
        comparisons += measure_notebooks(options.notebooks.resolve(), options.rounds)
    if "grading" in options.only:
        comparisons += measure_grading(options.notebooks.resolve(), options.rounds)
    if "import" in options.only:
        comparisons += measure_import(options.import_rounds)
    if "diagnosis" in options.only:
        comparisons += measure_diagnosis()
    if "explorers" in options.only:
        comparisons += measure_explorers()
    if "speed" in options.only:
        comparisons += measure_speed()
    print(f"medians, {os.cpu_count()} cores; notebooks: {options.rounds} rounds in alternation")
    report(comparisons)
    over = any(comparison.verdict == "over" for comparison in comparisons)
    for part in ("browser", "site"):
        if part in options.only:
            command = [sys.executable, PROJECT / "tests" / "tools" / f"{part}_bench.py"]
            over |= subprocess.run(command).returncode != 0
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
