"""Train all runs of lesson 15's grid one by one, and write the results with their provenance."""

import hashlib
import itertools
import json
import platform
import time
from pathlib import Path

import torch

from lnorm_course.lessons.transformer import grid
from lnorm_course.lessons.transformer.model import PLACES
from lnorm_course.lessons.transformer.text import austen

FILE = Path(grid.__file__).with_name("grid.json")
# Numbers are rounded to five digits. A number that isn't finite becomes null, as JSON has no nan.
PLAIN = {"parse_float": lambda text: float(f"{float(text):.5g}"), "parse_constant": lambda _: None}


def main():
    torch.set_num_threads(1)
    made = {
        "made by": "make tool NAME=grid",
        "sha256 of the text": hashlib.sha256(austen().encode()).hexdigest(),
        "versions": {"torch": torch.__version__, "python": platform.python_version()},
        "machine": f"{platform.machine()}, {torch.backends.cpu.get_cpu_capability()}",
    }
    runs = []  # one line per run, so that a diff shows which runs changed
    for seed, place, rate, (warm_up, embeddings) in itertools.product(
        grid.SEEDS, PLACES, grid.RATES, grid.BEGINNINGS
    ):
        begin = time.perf_counter()
        of = [place, rate, warm_up, seed, embeddings]
        run = grid.train_run(*of)
        left = json.loads(json.dumps(run), **PLAIN)
        runs.append(json.dumps({"of": of, "left": left}))
        took = time.perf_counter() - begin
        print(*of, f"validation {run.validation:.3f}, {took:.0f} s", flush=True)
    lines = ",\n".join(runs)
    text = f'{{\n"provenance": {json.dumps(made, indent=1)},\n"runs": [\n{lines}\n]}}\n'
    FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
