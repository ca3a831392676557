"""Tell how long a class waits on the hub, and what a student costs: make waits STUDENTS=30.

All students come within a minute, and each runs the whole lesson. The page docs/hub.md says what
came of it.
"""

import asyncio
import os
import random
import sys
import time
from pathlib import Path
from statistics import median

import psutil
from class_hub import Hub
from class_student import Student

MOST_STUDENTS, MINUTE = 100, 60


def memory(processes):
    """Return MiB; pages that n processes share count 1/n for each."""
    kib = 0
    for process in processes:
        lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text("ascii").splitlines()
        kib += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return kib / 1024


def processor_seconds(processes):
    """Return the seconds that processes and their ended children have computed."""
    return sum(sum(process.cpu_times()[:4]) for process in processes)


async def come(student, after):
    """Come after some seconds; return how long the first cell took to come back."""
    await asyncio.sleep(after)
    start = time.monotonic()
    await student.arrive()
    waited = time.monotonic() - start
    await student.run_cells()
    return waited


async def measure(number):
    """Yield lines about a class of so many."""
    chance = random.Random(0)
    async with Hub(number) as hub:
        first, *others = [Student(hub, *seat) for seat in hub.codes.items()]
        try:
            alone = await come(first, 0)
            yield f"one alone waits {alone:.1f} s for the first cell"
            theirs = processor_seconds(hub.servers([first.name]))
            yield f"{theirs:.1f} s of a core for the start and the lesson of one student"
            waits = await asyncio.gather(*(come(s, chance.uniform(0, MINUTE)) for s in others))
            if waits:
                last = f"median {median(waits):.0f} s, longest {max(waits):.0f} s"
                yield f"{len(waits)} who come in the same minute: {last}"
            found = [memory(hub.servers([name])) for name in hub.codes]
            yield f"memory of a student: median {median(found):.0f} MiB, most {max(found):.0f} MiB"
            yield f"memory of the hub and its proxy: {memory(hub.processes()):.0f} MiB"
        finally:
            await asyncio.gather(*(student.leave() for student in (first, *others)))


async def main(number):
    print(f"{number} students, {os.cpu_count()} cores, {psutil.virtual_memory().total >> 30} GiB")
    async for line in measure(number):
        print(line, flush=True)


if __name__ == "__main__":
    count = int(sys.argv[1])
    if not 1 <= count <= MOST_STUDENTS:
        sys.exit(f"{count} students were given. Expected 1 to {MOST_STUDENTS}.")
    asyncio.run(main(count))
