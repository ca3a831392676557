"""Measure each lesson of the web edition: what is transferred until its explorer has all frames,
how soon the first picture stands, and how soon another one follows a key.
"""

import gzip
import subprocess
import sys
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

from jupyterlab_page import browser
from project import LESSON_PATHS, PROJECT

MOST_MEGABYTES, MOST_FRAMES = 1.5, 1
PRESSES = 16
PACKED = (".html", ".css", ".js", ".json", ".svg")  # what servers send packed with gzip
FIRST = """async () => {
    const place = document.querySelector('.lnorm-live');
    while (!place.querySelector('.sheet > svg *')) await new Promise(requestAnimationFrame);
    return performance.now();
}"""
# The ms of an animation frame, and from each move of a slider until another picture is painted.
MOVES = """async (place, presses) => {
    const frame = () => new Promise(requestAnimationFrame);
    const painted = () => new Promise((resolve) => { setTimeout(resolve); });
    const slider = place.querySelector('input[type=range]:enabled');
    const shown = () => place.querySelector('.sheet > svg').innerHTML;
    const times = [];
    for (let i = 0; i < presses; i += 1) {
        const before = shown();
        await frame();
        await painted();
        if (i % 2 ? Number(slider.value) : Number(slider.value) === Number(slider.max))
            slider.stepDown();
        else slider.stepUp();
        const pressed = performance.now();
        slider.dispatchEvent(new Event('input', { bubbles: true }));
        while (shown() === before && performance.now() < pressed + 2000) await frame();
        await painted();
        times.push(performance.now() - pressed);
    }
    const first = await frame();
    for (let i = 0; i < 29; i += 1) await frame();
    return [(await frame() - first) / 30, times];
}"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


def measure(chromium, address, lesson):
    """Return megabytes, ms to the first picture, ms from a key to pixels, ms of a frame."""
    page = chromium.new_context(viewport={"width": 1366, "height": 768}).new_page()
    answers = []
    page.on("response", lambda answer: answers.append(answer))
    page.goto(f"{address}notebooks/{lesson}.html", wait_until="commit")
    page.locator("footer").wait_for(state="attached")
    place, first = page.locator(".lnorm-live").first, float("nan")
    if place.count():  # some lessons have a row alone
        place.scroll_into_view_if_needed()
        first = page.evaluate(FIRST)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(300)
    sizes = [len(packed(answer)) for answer in answers if answer.ok]
    frame, times = 0.0, [float("nan")]
    if place.locator("input[type=range]:enabled").count():
        frame, times = place.evaluate(MOVES, PRESSES)
    page.context.close()
    return sum(sizes) / 1e6, first, median(times), frame


def packed(answer):
    """Return what a server sends."""
    body = answer.body()
    return gzip.compress(body) if urlsplit(answer.url).path.endswith(PACKED) else body


def main():
    line = "{:24} {:>6} {:>14} {:>8} {:>8}  {}"
    is_over = False
    with tempfile.TemporaryDirectory() as folder, browser() as chromium:
        command = [sys.executable, "-m", "lnorm_staff.web", "site", "--out", Path(folder, "site")]
        subprocess.run(command, cwd=PROJECT, check=True, stdout=subprocess.DEVNULL)
        handler = partial(Quiet, directory=str(Path(folder, "site")))
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            address = f"http://127.0.0.1:{server.server_port}/"
            print(line.format("web edition", "MB", "first picture", "key, ms", "/ frame", ""))
            for path in LESSON_PATHS:
                size, first, ms, frame = measure(chromium, address, path.stem)
                frames = ms / frame if frame else 0.0
                over = size > MOST_MEGABYTES or frames > MOST_FRAMES
                numbers = (f"{size:.2f}", f"{first:.0f}", f"{ms:.1f}", f"{frames:.2f}")
                print(line.format(path.stem, *numbers, "over" if over else "within"), flush=True)
                is_over |= over
            server.shutdown()
    return int(is_over)


if __name__ == "__main__":
    sys.exit(main())
