"""Measure the layer norms of the appendix, and write the tables that it shows.

The functions are those of the notebook, timed with one thread. On Linux, there's a second table for
a process in which each new tensor reuses the memory of an earlier one. Run `make notebooks`
afterward, because the notebook shows the tables.
"""

import json
import os
import platform
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from unittest.mock import patch

import torch
import torch.nn.functional as F
from lesson_parts import parts_of
from torch.utils.benchmark import Timer

from lnorm_course.lessons.speed import TABLES

SHAPE = (4096, 4096)
ROUNDS, SECONDS = 7, 0.2  # SECONDS is the time for one function in one round
# Without these settings, a new tensor may get memory that another one has just freed. Whether this
# happens depends on what else the process has done, such as compiling.
ALWAYS_NEW = {"MALLOC_MMAP_THRESHOLD_": "1000000", "MALLOC_TRIM_THRESHOLD_": "100000"}
KEPT = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "4000000000"}
NORMS = {
    "F.layer_norm": "F.layer_norm(x, x.shape[1:])",
    "compiled": "compiled_two_pass(x)",
    "compiled one_pass": "compiled_one_pass(x)",
    "layer_norm": "layer_norm(x, x.shape[1:])",
    **{name: f"{name}(x)" for name in ("two_pass", "one_pass", "in_place", "in_blocks")},
}
CALLS = {
    "row means": "x.mean(dim=-1)",
    "row variances": "x.var(dim=-1)",
    "copy to old memory": "old.copy_(x)",
    "copy": "x.clone()",
    **NORMS,
}


def used():
    """Return the names that the calls use: the notebook's, plus compiled functions and tensors."""
    names = vars(parts_of("appendix_speed"))
    names |= {f"compiled_{name}": torch.compile(names[name]) for name in ("two_pass", "one_pass")}
    x = torch.randn(SHAPE, generator=torch.Generator().manual_seed(0))
    return names | {"x": x, "old": torch.empty_like(x)}


def milliseconds():
    """Return each call's median time; the calls take turns, so that other work affects them all."""
    names = used()
    right = F.layer_norm(names["x"], SHAPE[1:])
    for call in NORMS.values():  # this compiles them, too
        torch.testing.assert_close(eval(call, names), right, rtol=0, atol=1e-5)
    timers = {name: Timer(call, globals=names) for name, call in CALLS.items()}
    rounds = [
        [1000 * timer.blocked_autorange(min_run_time=SECONDS).median for timer in timers.values()]
        for _ in range(ROUNDS)
    ]
    return {name: round(median(ms), 2) for name, *ms in zip(timers, *rounds, strict=True)}


def about():
    """Say what was measured, and on what machine."""
    cpu = Path("/proc/cpuinfo")
    found = cpu.exists() and re.search(r"^model name\s*: (.+)$", cpu.read_text(), re.MULTILINE)
    processor = found[1] if found else platform.processor() or platform.machine()
    version = torch.__version__.split("+")[0]
    where = f"{processor.strip()}, one thread; PyTorch {version}"
    return f"{SHAPE} float32 on {where}; medians of {ROUNDS}"


def main():
    """Measure in processes that allocate memory in different ways, and write the tables."""
    ways = {"cpu": ALWAYS_NEW, **({"cpu, kept memory": KEPT} if sys.platform == "linux" else {})}
    tables = {}
    for name, variables in ways.items():
        process = ProcessPoolExecutor(mp_context=get_context("spawn"))
        with patch.dict(os.environ, {**variables, "OMP_NUM_THREADS": "1"}), process:
            measured = process.submit(milliseconds).result()
        tables[name] = {"about": about(), "milliseconds": measured}
    TABLES.write_text(f"{json.dumps(tables, indent=1)}\n", encoding="utf-8")
    print("The appendix still asserts what was true of the old tables. Run `make notebooks`.")


if __name__ == "__main__":
    main()
