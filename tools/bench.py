"""Measure how much data each lesson of the web edition transfers, and how fast its explorer is.

The amount includes everything that is loaded until the explorer has all its frames. Two times
are measured: from loading the page to the first picture, and from moving the slider to the next
picture.
"""

import gzip
import sys
import tempfile
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

from jupyterlab_page import browser
from project import LESSON_PATHS
from site_page import HOME, Visit

from lnorm_staff.web import __main__ as web

MOST_MEGABYTES, MOST_MS = 1.5, 1000 / 60  # MOST_MS is one frame on most screens
PRESSES = 16
PACKED = (".html", ".css", ".js", ".json", ".svg")  # files that servers compress with gzip
FIRST = """async (place) => {
    while (!place.querySelector('.sheet > svg *')) await new Promise(requestAnimationFrame);
    return performance.now();
}"""
# The milliseconds from each move of a slider until the next picture is painted.
MOVES = """async (place, presses) => {
    const frame = () => new Promise(requestAnimationFrame);
    const painted = () => new Promise((resolve) => { setTimeout(resolve); });
    const slider = place.querySelector('input[type=range]:enabled');
    const shown = () => place.querySelector('.sheet > svg').innerHTML;
    const [start, times] = [Number(slider.value), []];
    for (let i = 0; i < presses; i += 1) {
        const before = shown();
        await frame();
        await painted();
        slider.value = i % 2 ? start : start + (start < slider.max ? 1 : -1);
        const pressed = performance.now();
        slider.dispatchEvent(new Event('input', { bubbles: true }));
        while (shown() === before && performance.now() < pressed + 2000) await frame();
        await painted();
        times.push(performance.now() - pressed);
    }
    return times;
}"""


def measure(chromium, site, lesson):
    """Return megabytes, ms to the first picture, and median ms from a move to the next picture."""
    visit, answers = Visit(chromium, site), []
    page, first, times = visit.page, float("nan"), [float("nan")]
    page.on("response", lambda answer: answers.append(answer))
    page.goto(f"{HOME}notebooks/{lesson}.html", wait_until="commit")
    page.locator("footer").wait_for(state="attached")
    place = page.locator(".lnorm-live").first
    if place.count():  # some lessons have no explorer
        place.scroll_into_view_if_needed()
        first = place.evaluate(FIRST)
    page.wait_for_load_state("networkidle")
    size = sum(len(packed(answer)) for answer in answers if answer.ok)
    if place.locator("input[type=range]:enabled").count():
        times = place.evaluate(MOVES, PRESSES)
    visit.close()
    return size / 1e6, first, median(times)


def packed(answer):
    """Return the body of an answer as a server sends it."""
    body = answer.body()
    return gzip.compress(body) if urlsplit(answer.url).path.endswith(PACKED) else body


def main():
    verdicts = []
    with tempfile.TemporaryDirectory() as folder, browser() as chromium:
        site = Path(folder, "site")
        web.main(["site", "--out", str(site)])
        print(f"{'web edition':24}     MB  first picture  key, ms")
        for path in LESSON_PATHS:
            size, first, ms = measure(chromium, site, path.stem)
            verdicts.append("over" if size > MOST_MEGABYTES or ms > MOST_MS else "within")
            print(f"{path.stem:24} {size:6.2f} {first:14.0f} {ms:8.1f}  {verdicts[-1]}", flush=True)
    return int("over" in verdicts)


if __name__ == "__main__":
    sys.exit(main())
