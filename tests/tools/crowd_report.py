"""Write what a crowd has found as a page of Markdown."""

import time
from statistics import median

import psutil
from crowd_measures import percentile

IN_TIME = 0.95  # of the cells of a class that works
AIMS = """Aims: for one alone, the first cell's result within 15 s; 300 MiB for a student; thirty
students on two cores and 24 GiB, the last of them at the first cell within 68 to 98 s. What misses
an aim is no failure."""
CLASSES = """At a pace, {pace} work together with 95 % of their cells back in time; all at once,
{once} do. A cell is back in time if it takes at most twice as long as for one student alone, or a
tenth of a second longer. At a pace, everybody runs a cell every 10 s on average, which is about ten
times as often as somebody who reads the lesson; the largest class is tried first. All at once,
everybody presses Run All in the same second, and the class grows until it waits too long."""
COSTS = """MiB (PSS) after one run of lesson 6. `files` is their share of the programs and libraries
that all students read from the same files. A start, up to the first cell's result, took {:.1f}
processor seconds of the student's own processes and {:.1f} of hub and proxy."""
CROWD = """It took {:.0f} s. The crowd itself, without its browsers, ran on the same cores and used
{:.0f} of their {:.0f} seconds."""


def write(crowd, students, used, cores):
    """Return the page."""
    gib = psutil.virtual_memory().total / 2**30
    took = time.monotonic() - crowd.began
    parts = [
        f"# A crowd of {students} on {cores} and {gib:.0f} GiB",
        CROWD.format(took, used, took * psutil.cpu_count()),
        AIMS,
        *("## Phases", phases(crowd.times)),
        *("## What a student costs", costs(crowd)),
        *("## The largest class", sizes(crowd)),
        *("## Moving sliders", sliders(crowd)),
        *("## When something goes wrong", faults(crowd)),
        *("## One student at another's door", access(crowd)),
        *("## Failures", failures(crowd)),
    ]
    return "\n\n".join(parts) + "\n"


def phases(times):
    """Return a row for each phase."""
    head = ["phase", "done", "median, s", "95th percentile, s", "longest, s", "failed"]
    return table(head, ([*row[:2], *map(seconds, row[2:5]), row[5]] for row in times.rows()))


def costs(crowd):
    """Return memory and processor seconds of a student."""
    rows = []
    for who, found in crowd.memory.items():
        for what in ("all", "own", "files"):
            values = [getattr(each, what) for each in found]
            rows.append([f"{who}: {what}", f"{median(values):.0f}", f"{max(values):.0f}"])
    if crowd.hub_memory:
        rows.append(["hub and proxy: all", f"{crowd.hub_memory.all:.0f}", ""])
    return "\n\n".join(
        [table(["memory", "median, MiB", "most, MiB"], rows), COSTS.format(*crowd.costs)]
    )


def sizes(crowd):
    """Return how many could work together."""
    alone = max(crowd.alone.values(), default=0)
    head = ["how", "students", "cells", "in time", "slowest cell, median s", "alone, s"]
    rows = []
    for how, found in (("at a pace", crowd.at_pace), ("all at once", crowd.at_once)):
        for size, cells, share, slowest in found:
            slow = seconds(median(slowest)) if slowest else "–"
            rows.append([how, size, cells, f"{share:.1%}", slow, seconds(alone)])
    best = {
        how: max((size for size, _, share, _ in found if share >= IN_TIME), default=0)
        for how, found in (("pace", crowd.at_pace), ("once", crowd.at_once))
    }
    words = CLASSES.format(**best)
    return f"{table(head, rows)}\n\n{words}"


def sliders(crowd):
    """Return how soon pictures come."""
    explorers = [student.explorer for student in crowd.students if student.explorer]
    waits = [wait for each in explorers for wait in each.waits]
    moves = len(waits) + sum(each.prepared for each in explorers)
    lines = []
    if moves:
        share = 1 - len(waits) / moves
        lines.append(f"All together: of {moves} moves, {share:.1%} had their picture already.")
    if waits:
        lines.append(
            f"The other pictures came after {1000 * median(waits):.0f} ms (median) and "
            f"{1000 * percentile(waits):.0f} ms (95th percentile), through the proxy and back."
        )
    head = ["in Chromium, from key press to pixels", "who moves sliders", "prepared, ms"]
    head += ["asked for, ms", "from frame to frame, ms"]
    rows = [
        [student.name, who, *(f"{each:.1f}" for each in waits)]
        for student in crowd.browsers
        for who, waits in student.waits.items()
    ]
    return "\n\n".join([" ".join(lines), table(head, rows) if rows else "No browser was there."])


def faults(crowd):
    """Return what the others noticed of each fault."""
    head = ["meanwhile", "cells and saves of the others", "failed", "longest, s", "what came of it"]
    rows = []
    for what, outcome in crowd.faults:
        found, failed = crowd.times.seconds[what], crowd.times.problems[what]
        rows.append([what, len(found), len(failed), seconds(max(found, default=None)), outcome])
    return table(head, rows)


def access(crowd):
    """Return what became of each attempt."""
    words = {True: "yes", False: "no"}
    rows = (
        [each.what, words[each.owner], "YES" if each.other else "no", each.reason]
        for each in crowd.tried
    )
    return table(["what is tried", "the owner can", "the other can", "because"], rows)


def failures(crowd):
    """Return what failed and what was left out."""
    lines = [f"- {p}: {each}" for p, found in crowd.times.problems.items() for each in found[:5]]
    lines += [f"- Access: {each.what} ({each.reason})" for each in crowd.tried if each.other]
    lines += [f"- Nobody could try: {each.what}" for each in crowd.tried if not each.owner]
    lines += [f"- Left out: {each}." for each in crowd.left_out]
    return "\n".join(lines) or "None."


def table(head, rows):
    """Return a table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| {} |".format(" | ".join(str(cell) for cell in row)) for row in lines)


def seconds(value):
    """Write seconds."""
    return "–" if value is None else f"{value:.2f}" if value < 10 else f"{value:.0f}"
