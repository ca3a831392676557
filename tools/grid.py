"""Train all runs of lesson 15's grid, one after the other, and write them with what made them."""

import hashlib
import itertools
import json
import math
import platform
import sys
import time
from pathlib import Path

import torch

from lnorm_course.lessons.transformer import grid, training
from lnorm_course.lessons.transformer.model import PLACES
from lnorm_course.lessons.transformer.text import austen, entropies

FILE = Path(grid.__file__).with_name("grid.json")


def provenance():
    """Say what the numbers depend on."""
    training_codes, validation_codes = grid.split()
    return {
        "made by": "make tool NAME=grid",
        "model": "6 blocks, 64 features, 4 heads, pieces of 64 characters, weights N(0, 0.02²), "
        "embeddings N(0, (0.02 · how many times as large they start)²)",
        "training": f"Adam, {grid.STEPS} steps of {training.BATCH} pieces, float32, one thread",
        "losses": f"cross entropy in nats: training, means over {grid.EVERY} steps; validation",
        "characters": {"training": len(training_codes), "validation": len(validation_codes)},
        "entropies of the validation text": entropies(validation_codes)._asdict(),
        "sha256 of the text": hashlib.sha256(austen().encode()).hexdigest(),
        "versions": {"torch": torch.__version__, "python": platform.python_version()},
        "machine": f"{platform.machine()}, {torch.backends.cpu.get_cpu_capability()}",
    }


def plain(value):
    """Round to five digits; what isn't finite becomes null, because JSON has no nan."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, float):
        return float(f"{value:.5g}") if math.isfinite(value) else None
    return value


def lines(runs):
    """Write one line for each run, so that a diff shows which changed."""
    yield "{"
    yield f'"provenance": {json.dumps(provenance(), indent=1, ensure_ascii=False)},'
    yield '"runs": ['
    yield ",\n".join(json.dumps(run) for run in runs)
    yield "]}\n"


def main():
    torch.set_num_threads(1)
    runs = []
    for seed, place, rate, (warm_up, embeddings) in itertools.product(
        grid.SEEDS, PLACES, grid.RATES, grid.BEGINNINGS
    ):
        begin = time.perf_counter()
        of = [place, rate, warm_up, seed, embeddings]
        run = grid.train_run(*of)
        runs.append({"of": of, "left": plain(list(run))})
        took = time.perf_counter() - begin
        print(*of, f"validation {run.validation:.3f}, {took:.0f} s", flush=True)
    FILE.write_text("\n".join(lines(runs)), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
