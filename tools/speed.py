"""Measure the layer norms of the appendix, and write the table that it shows.

The functions are those of the notebook, timed with one thread. On Linux there's a second table, for
a process that keeps the memory of a tensor for the next one; and if there is a GPU, one for it. Run
`make notebooks` afterwards, because the notebook shows the tables.
"""

import ast
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import torch
import torch.nn.functional as F
from project import NOTEBOOKS
from torch.utils.benchmark import Timer

from lnorm_course.lessons.speed import TABLES
from lnorm_utils import layer_norm

LESSON = NOTEBOOKS / "appendix_speed.ipynb"
SHAPE = (4096, 4096)
ROUNDS, SECONDS = 7, 0.2  # SECONDS: for one function in a round
# Without it, a new tensor may get the memory that another has just given back, and whether it does
# depends on what else the process has done, such as compiling.
ALWAYS_NEW = {"MALLOC_MMAP_THRESHOLD_": "1000000", "MALLOC_TRIM_THRESHOLD_": "100000"}
KEPT = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "4000000000"}
WAYS = {
    "row means": "x.mean(dim=-1)",
    "row variances": "x.var(dim=-1)",
    "copy to old memory": "old.copy_(x)",
    "copy": "x.clone()",
    "F.layer_norm": "F.layer_norm(x, x.shape[1:])",
    "compiled": "compiled(x)",
    "compiled one_pass": "compiled_one_pass(x)",
    "layer_norm": "layer_norm(x, x.shape[1:])",
    **{name: f"{name}(x)" for name in ("two_pass", "one_pass", "in_place", "in_blocks")},
}


def functions_of(notebook):
    """Return the functions that the cells of a notebook define; of one name, the last."""
    names = {"torch": torch}
    for cell in nbformat.read(notebook, as_version=4).cells:
        if cell.cell_type == "code":
            defined = [n for n in ast.parse(cell.source).body if isinstance(n, ast.FunctionDef)]
            exec(compile(ast.Module(defined, []), f"<{notebook.name}>", "exec"), names)
    return names


def names_on(device):
    """Return what the calls use."""
    names = functions_of(LESSON) | {"F": F, "layer_norm": layer_norm}
    names["compiled"] = torch.compile(names["two_pass"])
    names["compiled_one_pass"] = torch.compile(names["one_pass"])
    names["x"] = torch.randn(SHAPE, generator=torch.Generator().manual_seed(0)).to(device)
    return names | {"old": torch.empty_like(names["x"])}


def milliseconds(device):
    """Time the calls in turn, so that other work on the machine meets all alike; return medians."""
    names = names_on(device)
    for call in [*WAYS.values()][4:]:  # all that are layer norms; it compiles them, too
        torch.testing.assert_close(
            eval(call, names), F.layer_norm(names["x"], SHAPE[1:]), rtol=0, atol=1e-5
        )
    rounds = [
        [
            Timer(call, globals=names).blocked_autorange(min_run_time=SECONDS)
            for call in WAYS.values()
        ]
        for _ in range(ROUNDS)
    ]
    medians = torch.tensor([[1000 * each.median for each in times] for times in rounds]).median(0)
    return dict(zip(WAYS, [round(ms, 2) for ms in medians.values.tolist()], strict=True))


def about(device):
    """Say what was measured, and on what."""
    cpu = Path("/proc/cpuinfo")
    found = cpu.exists() and re.search(r"^model name\s*: (.+)$", cpu.read_text(), re.MULTILINE)
    processor = found[1] if found else platform.processor() or platform.machine()
    where = torch.cuda.get_device_name() if device == "cuda" else f"{processor.strip()}, one thread"
    version = torch.__version__.split("+")[0]
    return f"{SHAPE} float32 on {where}; PyTorch {version}; medians of {ROUNDS}"


def table(device, variables):
    """Measure in a process of its own."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **variables}
    command = [sys.executable, __file__, device]
    return json.loads(subprocess.run(command, env=environment, stdout=-1, check=True).stdout)


def main():
    """Measure all devices in processes of their own, or one in this process."""
    if len(sys.argv) > 1:
        print(json.dumps({"about": about(sys.argv[1]), "milliseconds": milliseconds(sys.argv[1])}))
        return
    tables = {"cpu": table("cpu", ALWAYS_NEW)}
    if sys.platform == "linux":
        tables["cpu, kept memory"] = table("cpu", KEPT)
    if torch.cuda.is_available():
        tables["cuda"] = table("cuda", ALWAYS_NEW)
    TABLES.write_text(f"{json.dumps(tables, indent=1)}\n", encoding="utf-8")
    print("The appendix asserts what held for the table of the course. Run `make notebooks`.")


if __name__ == "__main__":
    main()
