"""Measure in JupyterLab, from a key press to new pixels, every explorer beside the bare round trip
to the kernel and `interact`; also while the kernel is busy, and with a slow network. `make bench`.
"""

import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import nbformat
from browser_subject import DRAG_VALUES, PRESSES, SCRIPT, Dragged, Subject
from control_ends import with_a_slider
from explorers_bench import FRESH_FIGURE
from jupyterlab_page import Page, browser, can_measure, jupyterlab
from nbformat.v4 import new_code_cell, new_notebook

DELAY = 150  # ms, there and back
TRIALS = 3  # other work on the machine can only make it slower, so what is refused is tried again
BARE = """
import ipywidgets
slider = ipywidgets.IntSlider(max=20)
label = ipywidgets.HTML("<p>0</p>")
slider.observe(lambda change: label.set_trait("value", f"<p>{change.new}</p>"), "value")
ipywidgets.VBox([slider, label])
"""
INTERACT = f"""%matplotlib inline
import ipywidgets, matplotlib.pyplot as plt
{FRESH_FIGURE}
stops = [step / 20 for step in range(1, 21)]
ipywidgets.interactive(fresh_figure, difference=ipywidgets.SelectionSlider(options=stops))
"""
# It keeps the kernel busy, but not when all cells run.
BUSY = "import time\ntime.sleep(10 * ('is_again' in globals()))\nis_again = True"
AT_ONCE = 3  # so many are dragged in ten seconds
OTHERS = ("bare", "interact")


class Limits(NamedTuple):
    """What a prepared picture is measured against, and one that is not prepared."""

    frames: float  # at most so many animation frames of the same page from key press to pixels
    over_bare: float  # at most so many times the bare round trip
    under_interact: float  # `interact` takes at least so many times as long
    pictures: int  # of 60, at least
    late: float  # at most so much longer where the network is slow
    asked_over_bare: float  # where the kernel has to be asked: so many times the bare round trip


# What we want; and what is refused, for a machine that is busy misses a frame now and then.
TARGET = Limits(1, 0.6, 30, 58, 1.1, 1.6)
REFUSED = Limits(2.5, 1.2, 12, 45, 2.5, 5)


class Measured(NamedTuple):
    """The median ms from key press to pixels, of prepared pictures and others, and dragging."""

    ms: float
    drag: Dragged
    asked: float


def notebook_of(names):
    """Write the notebook that is measured, with a cell at its end that keeps the kernel busy."""
    calls = [f"from lnorm_utils.explorers import {name}\n{name}()" for name in names]
    cells = [new_code_cell(source) for source in (BARE, INTERACT, *calls, BUSY)]
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def measure(names):
    """Return the ms of an animation frame, {name: Measured} without and with a delay, and {name:
    Dragged} while the kernel was busy.
    """
    with tempfile.TemporaryDirectory() as folder, browser() as chromium:
        nbformat.write(notebook_of(names), Path(folder, "bench.ipynb"))
        with jupyterlab(folder) as address:
            page = Page(chromium, address, "bench.ipynb", script=SCRIPT)
            page.page.evaluate("network.withoutAhead = true")
            page.run_all()
            subjects = {n: Subject(page.page, i) for i, n in enumerate([*OTHERS, *names])}
            explorers = {name: subjects[name] for name in names}
            asked = []
            for delay, share in ((0, 0.5), (DELAY, 1)):
                set_delay(page.page, delay)
                asked.append({name: each.press_forth(share) for name, each in explorers.items()})
            set_delay(page.page, 0)
            page.page.evaluate("network.withoutAhead = false")
            frame = page.page.evaluate("frameTime()")
            prompt = measure_prepared(subjects, asked[0])
            busy = measure_busy(page, explorers)
            set_delay(page.page, DELAY)
            return frame, prompt, measure_prepared(subjects, asked[1]), busy


def set_delay(page, milliseconds):
    """Let every message be so late from now on."""
    page.evaluate("quiet(300, 2500)")
    page.evaluate("delay => { network.delay = delay; }", milliseconds)


def measure_prepared(subjects, asked):
    """Measure each subject when all is prepared that can be."""
    found = {}
    for name, subject in subjects.items():
        ms = subject.press_to_and_fro(6 if name == "interact" else PRESSES)  # it is slow
        found[name] = Measured(ms, subject.drag(), asked.get(name, ms))
    return found


def measure_busy(page, explorers):
    """Drag each explorer while the kernel runs a cell of ten seconds."""
    found = {}
    names = list(explorers)
    cell = page.page.locator(".jp-CodeCell").last
    for some in (names[i : i + AT_ONCE] for i in range(0, len(names), AT_ONCE)):
        page.page.evaluate("quiet(300, 2500)")
        cell.locator(".cm-content").click()
        page.page.keyboard.press("Control+Enter")
        cell.get_by_text("[*]:").wait_for()
        found |= {name: explorers[name].drag(rest=300) for name in some}
        if cell.get_by_text("[*]:").count() == 0:
            print("The kernel was done before the drags were.")
        cell.get_by_text("[*]:").wait_for(state="detached")
    return found


def meets(name, limits, frame, prompt, late, busy):
    """Say whether an explorer meets limits."""
    one, slow = prompt[name], late[name]
    bare, interact = (prompt[other].ms for other in OTHERS)
    return (
        one.ms <= limits.frames * frame
        # No picture can come before the next animation frame, however quick the machine is.
        and one.ms <= max(frame, limits.over_bare * bare)
        and one.ms <= max(frame, interact / limits.under_interact)
        and slow.ms <= limits.late * one.ms
        and one.asked <= limits.asked_over_bare * bare
        and all(
            drag.pictures >= limits.pictures and drag.blank == 0 and drag.is_right
            for drag in (one.drag, slow.drag, busy[name])
        )
    )


def report(frame, prompt, late, busy):
    """Print a row for each, and return the names of those that are refused."""
    line = "{:20} {:>6} {:>6} {:>7} {:>9} {:>10} {:>9} {:>7}   {:>6} {:>10} {:>9}  {}"
    columns = ["ms", "/ bare", "/ frame", "interact/", "not ready", "pictures", "busy"]
    columns += ["ms late", "not ready", "pictures", ""]
    print(f"An animation frame lasts {frame:.1f} ms; late is {DELAY} ms, there and back.")
    print(line.format("key press to pixels", *columns).rstrip())
    refused = []
    for name, (ms, drag, asked) in prompt.items():
        said = ""
        if name not in OTHERS:
            fits = [meets(name, li, frame, prompt, late, busy) for li in (TARGET, REFUSED)]
            said = "within" if fits[0] else "over" if fits[1] else "refused"
            refused += [name] * (said == "refused")
        ratios = [ms / prompt["bare"].ms, ms / frame, prompt["interact"].ms / ms]
        row = [f"{ms:.1f}", *(f"{ratio:.2f}" for ratio in ratios[:2]), f"{ratios[2]:.0f}"]
        row += [f"{asked:.1f}", seen(drag), seen(busy[name]) if name in busy else ""]
        row += [f"{late[name].ms:.1f}", f"{late[name].asked:.1f}", seen(late[name].drag)]
        print(line.format(name, *row, said).rstrip(), flush=True)
    return refused


def seen(drag):
    """Write what was seen in a drag: pictures, and what went wrong."""
    blank = f" {drag.blank} blank" if drag.blank else ""
    return f"{drag.pictures}{blank}{'' if drag.is_right else ' WRONG'}"


def main():
    if not can_measure("The browser"):
        return 0
    print(f"JupyterLab in Chromium: medians of {PRESSES} keys; drags of {DRAG_VALUES} values")
    names = with_a_slider()
    for _ in range(TRIALS):
        names = names and report(*measure(names))
    if names:
        print(f"Refused each time: {', '.join(names)}.")
    return int(bool(names))


if __name__ == "__main__":
    sys.exit(main())
