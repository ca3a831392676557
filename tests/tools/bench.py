"""Measure, side by side and in alternation, what readers wait for. `make bench`.

Diagnosis: how long it takes to name what is wrong with an answer, over the wrong answers of the
tests, against a thousand small operations of PyTorch; half of them, and the slowest.
Explorers: one change, in a kernel, against `interact` with a fresh figure.
Speed: the layer norms of the appendix, against a copy; this writes the table that it shows.
Pages: each lesson as a page: what is transferred, its first picture, from key press to new pixels.
"""

import argparse
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass

import diagnosis_bench
import explorers_bench
import speed_table
from project import PROJECT

PARTS = ("diagnosis", "explorers", "speed", "pages")
TRIALS = 3


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
        comparisons = list(compare_speeds(speed_table.measure()))
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
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    options = parser.parse_args()
    comparisons = []
    if "diagnosis" in options.only:
        comparisons += measure_diagnosis()
    if "explorers" in options.only:
        comparisons += measure_explorers()
    if "speed" in options.only:
        comparisons += measure_speed()
    print(f"medians, {os.cpu_count()} cores")
    report(comparisons)
    over = any(comparison.verdict == "over" for comparison in comparisons)
    if "pages" in options.only:
        command = [sys.executable, PROJECT / "tests" / "tools" / "pages_bench.py"]
        over |= subprocess.run(command).returncode != 0
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
