"""Measure the pages of the web edition: what is transferred until an explorer has all its frames,
how soon its first picture stands, how soon another follows a key, and on which screens of a phone
a lesson's first question and its first explorer come. `make bench`.
"""

import gzip
import re
import subprocess
import sys
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import NamedTuple

from browser_subject import PRESSES, SCRIPT, Subject
from control_ends import with_a_slider
from jupyterlab_page import browser, can_measure
from project import LESSON_PATHS, PROJECT

MOST_BYTES, MOST_FRAMES = 1.5e6, 1
PHONE = {"width": 390, "height": 740}  # what bars leave of 844 pixels
LAST_QUESTION, LAST_EXPLORER = 2, 20  # the screens on which they begin at the latest
REFUSED_FRAMES = 2.5  # a machine that is busy misses a frame now and then
TRIALS = 3  # other work on the machine can only make it slower, so what is refused is tried again
VISITS = 3
PACKED = (".html", ".css", ".js", ".json", ".svg")  # what servers send packed with gzip
FIRST = """() => new Promise(resolve => {
    const place = document.querySelector('.lnorm-live');
    const look = () => {
        if (place.querySelector('.sheet > svg *')) resolve(performance.now());
        else requestAnimationFrame(look);
    };
    look();
})"""
SCREENS = """() => ['.lnorm-prediction', '.lnorm-live'].map(kind => {
    const { top } = document.querySelector(kind).getBoundingClientRect();
    return Math.floor((top + scrollY) / innerHeight) + 1;
})"""


class Measured(NamedTuple):
    """A lesson: bytes, ms from the request to the first picture, ms from a key to pixels."""

    bytes: float
    first: float
    ms: float
    frame: float  # ms of an animation frame
    question: int  # the screen of a phone on which the first one begins
    explorer: int

    def meets(self, frames):
        is_light = self.bytes <= MOST_BYTES and self.ms <= frames * self.frame
        is_soon = self.question <= LAST_QUESTION and self.explorer <= LAST_EXPLORER
        return is_light and is_soon


class Server(SimpleHTTPRequestHandler):
    """Serves files, and remembers which."""

    asked: set

    def __init__(self, *arguments, asked, **options):
        self.asked = asked
        super().__init__(*arguments, **options)

    def do_GET(self):
        self.asked.add(Path(self.translate_path(self.path)))
        super().do_GET()

    def log_message(self, *arguments):
        pass


def transferred(files):
    """Count the bytes of files as a server sends them."""
    contents = [(file, file.read_bytes()) for file in files if file.is_file()]
    return sum(len(gzip.compress(c) if f.suffix in PACKED else c) for f, c in contents)


def measure(chromium, address, asked, lesson):
    """Measure one lesson, visited anew each time, with its explorer in sight."""
    firsts = []
    for _ in range(VISITS):
        asked.clear()
        page = chromium.new_context(viewport={"width": 1366, "height": 768}).new_page()
        page.add_init_script(SCRIPT)
        page.goto(f"{address}notebooks/{lesson}.html", wait_until="commit")
        place = page.locator(".lnorm-live").first
        place.scroll_into_view_if_needed()
        firsts.append(page.evaluate(FIRST))
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(300)
        if len(firsts) < VISITS:
            page.context.close()
    frame = page.evaluate("frameTime()")
    ms = Subject(page, place).press_to_and_fro(PRESSES)
    page.context.close()
    size = transferred(asked)
    return Measured(size, median(firsts), ms, frame, *screens(chromium, address, lesson))


def screens(chromium, address, lesson):
    """Return the screens of a phone on which a lesson's first question and first explorer begin."""
    page = chromium.new_context(viewport=PHONE, is_mobile=True, has_touch=True).new_page()
    page.goto(f"{address}notebooks/{lesson}.html")
    found = page.evaluate(SCREENS)
    page.context.close()
    return found


def measure_all(site, lessons):
    """Return {lesson: Measured}."""
    asked = set()
    handler = partial(Server, directory=str(site), asked=asked)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, browser() as chromium:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        found = {lesson: measure(chromium, address, asked, lesson) for lesson in lessons}
        server.shutdown()
    return found


def report(found):
    """Print a row for each lesson, and return the names of those that are refused."""
    line = "{:24} {:>6} {:>14} {:>9} {:>8} {:>9} {:>9}  {}"
    columns = ["MB", "first picture", "key, ms", "/ frame", "question", "explorer", ""]
    print("On a phone, `question` and `explorer` say on which screen the first one begins.")
    print(line.format("web edition", *columns).rstrip())
    for lesson, one in found.items():
        fits = [one.meets(MOST_FRAMES), one.meets(REFUSED_FRAMES)]
        said = "within" if fits[0] else "over" if fits[1] else "refused"
        row = [f"{one.bytes / 1e6:.2f}", f"{one.first:.0f}", f"{one.ms:.1f}"]
        row += [f"{one.ms / one.frame:.2f}", one.question, one.explorer]
        print(line.format(lesson, *row, said), flush=True)
    return [lesson for lesson, one in found.items() if not one.meets(REFUSED_FRAMES)]


def main():
    if not can_measure("The web edition"):
        return 0
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "site")
        command = [sys.executable, "-m", "lnorm_utils.web", "site", "--out", out]
        subprocess.run(command, cwd=PROJECT, check=True, stdout=subprocess.DEVNULL)
        sliding = re.compile(rf"\b(?:{'|'.join(with_a_slider())})\(")
        lessons = [path.stem for path in LESSON_PATHS if sliding.search(path.read_text("utf-8"))]
        for _ in range(TRIALS):
            lessons = lessons and report(measure_all(out, lessons))
    if lessons:
        print(f"Refused each time: {', '.join(lessons)}.")
    return int(bool(lessons))


if __name__ == "__main__":
    sys.exit(main())
