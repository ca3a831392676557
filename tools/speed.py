"""Measure the layer norms of the appendix, and write the table that it shows.

The functions are those of the notebook. All are timed in one process with one thread, in turn,
so that other work on the machine meets all of them alike. On Linux there's a second table, for
a process that keeps the memory of a tensor for the next one; and if there is a GPU,
one for it. Run `make notebooks` afterwards, because the notebook shows the tables.
"""

import ast
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

import nbformat
import torch
import torch.nn.functional as F
from project import NOTEBOOKS

from lnorm_course.lessons.speed import TABLES
from lnorm_utils import layer_norm

LESSON = NOTEBOOKS / "appendix_speed.ipynb"
SHAPE = (4096, 4096)
ROUNDS = 7
# Without it, a new tensor may get the memory that another has just given back, and whether it does
# depends on what else the process has done, such as compiling.
ALWAYS_NEW = {"MALLOC_MMAP_THRESHOLD_": "1000000", "MALLOC_TRIM_THRESHOLD_": "100000"}
KEPT = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "4000000000"}


def functions_of(notebook):
    """Return the functions that the cells of a notebook define; of one name, the last."""
    names = {"torch": torch}
    for cell in nbformat.read(notebook, as_version=4).cells:
        if cell.cell_type == "code":
            defined = [n for n in ast.parse(cell.source).body if isinstance(n, ast.FunctionDef)]
            exec(compile(ast.Module(defined, []), f"<{notebook.name}>", "exec"), names)
    return names


def calls(device):
    """Return {name: a call to be timed}."""
    own = functions_of(LESSON)
    x = torch.randn(SHAPE, generator=torch.Generator().manual_seed(0)).to(device)
    old = torch.empty_like(x)
    compiled, compiled_one_pass = map(torch.compile, (own["two_pass"], own["one_pass"]))
    made = {
        "row means": lambda: x.mean(dim=-1),
        "row variances": lambda: x.var(dim=-1),
        "copy to old memory": lambda: old.copy_(x),
        "copy": lambda: x.clone(),
        "F.layer_norm": lambda: F.layer_norm(x, x.shape[1:]),
        "compiled": lambda: compiled(x),
        "compiled one_pass": lambda: compiled_one_pass(x),
        "layer_norm": lambda: layer_norm(x, x.shape[1:]),
        **{
            name: lambda function=own[name]: function(x)
            for name in ("two_pass", "one_pass", "in_place", "in_blocks")
        },
    }
    for name, call in made.items():
        if name not in ("row means", "row variances", "copy to old memory", "copy"):
            torch.testing.assert_close(call(), F.layer_norm(x, x.shape[1:]), rtol=0, atol=1e-5)
    return made


def milliseconds(device):
    """Time each call once a round, forward and backward in turn, and return the medians."""
    made = calls(device)  # which also warms up, and compiles
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    times = {name: [] for name in made}
    for number in range(ROUNDS):
        for name in list(made)[:: -1 if number % 2 else 1]:
            wait()
            start = perf_counter()
            made[name]()
            wait()
            times[name].append(1000 * (perf_counter() - start))
    return {name: round(median(values), 2) for name, values in times.items()}


def about(device):
    """Say what was measured, and on what."""
    cpu = Path("/proc/cpuinfo")
    found = cpu.exists() and re.search(r"^model name\s*: (.+)$", cpu.read_text(), re.MULTILINE)
    processor = found[1] if found else platform.processor() or platform.machine()
    where = torch.cuda.get_device_name() if device == "cuda" else f"{processor.strip()}, one thread"
    version = torch.__version__.split("+")[0]
    return f"{SHAPE} float32 on {where}; PyTorch {version}; medians of {ROUNDS}"


def table(device, **variables):
    """Measure in a process of its own."""
    command = [sys.executable, __file__, device]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **ALWAYS_NEW, **variables}
    return json.loads(subprocess.run(command, env=environment, stdout=-1, check=True).stdout)


def measure():
    """Write the tables, and return them."""
    tables = {"cpu": table("cpu")}
    if sys.platform == "linux":
        tables["cpu, kept memory"] = table("cpu", **KEPT)
    if torch.cuda.is_available():
        tables["cuda"] = table("cuda")
    TABLES.write_text(f"{json.dumps(tables, indent=1)}\n", encoding="utf-8")
    return tables


def main():
    """Measure everything and print it, or one device in this process, for the first."""
    if len(sys.argv) > 1:
        torch.set_num_threads(1)
        print(json.dumps({"about": about(sys.argv[1]), "milliseconds": milliseconds(sys.argv[1])}))
    elif not any(map(shutil.which, ("g++", "clang++", "cl"))):
        sys.exit("torch.compile is measured, too, and needs a C++ compiler.")
    else:
        print(json.dumps(measure(), indent=1))
        print("The appendix asserts what held for the table of the course. Run `make notebooks`.")


if __name__ == "__main__":
    main()
