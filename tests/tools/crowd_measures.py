"""What the crowd measures: how long each phase took, what failed, memory, and processor time."""

import contextlib
import math
import time
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import NamedTuple

import psutil

TOGETHER, NOTICED = 2, 0.1  # times as long as alone; and seconds that nobody notices


class Times:
    """How long each phase took, and who failed at it."""

    def __init__(self):
        self.seconds = defaultdict(list)  # phase → seconds
        self.problems = defaultdict(list)  # phase → what went wrong, in a sentence

    @contextlib.contextmanager
    def phase(self, name, who):
        """Time a phase; one that raises is a failure, and is raised again."""
        start = time.perf_counter()
        try:
            yield
        except Exception as problem:
            self.problems[name].append(f"{who}: {said(problem)}")
            raise
        self.seconds[name].append(time.perf_counter() - start)

    def rows(self):
        """Return (phase, how many, median, 95th percentile, the longest, failures)."""
        for name in dict.fromkeys([*self.seconds, *self.problems]):
            found = self.seconds[name]
            numbers = (median(found), percentile(found), max(found)) if found else (None,) * 3
            yield name, len(found), *numbers, len(self.problems[name])


def percentile(values, share=0.95):
    """Return the smallest of the values that at least this share of them doesn't exceed."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


def share_in_time(waits, alone):
    """Return the share of cells that came back within twice the time that one student alone waits.

    waits, alone: (cell, seconds), and cell → seconds. What is late by less than a tenth of a second
    is in time, because nobody notices. A cell that never came back has math.inf seconds.
    """
    limits = {cell: max(TOGETHER * wait, wait + NOTICED) for cell, wait in alone.items()}
    return sum(wait <= limits[cell] for cell, wait in waits) / len(waits)


def said(problem):
    """Say a problem in one line."""
    text = " ".join(str(problem).split()) or type(problem).__name__
    return text if len(text) < 200 else f"{text[:197]}..."


class Memory(NamedTuple):
    """MiB of processes. Pages that n processes share count 1/n for each."""

    own: float  # what they have computed and made
    files: float  # their share of programs and libraries, which all read from the same files

    @property
    def all(self):
        return self.own + self.files


def memory(processes):
    """Measure the memory of processes, from the system's own sum over their pages."""
    found = dict.fromkeys(("Pss:", "Pss_File:"), 0)
    for process in processes:
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines():
                name, *value = line.split()
                if name in found:
                    found[name] += int(value[0])
    every, files = (kib / 1024 for kib in found.values())
    return Memory(every - files, files)


def processor_seconds(processes):
    """Return the seconds that processes and their ended children have computed."""
    total = 0.0
    for process in processes:
        with contextlib.suppress(psutil.Error):
            total += sum(process.cpu_times()[:4])
    return total
