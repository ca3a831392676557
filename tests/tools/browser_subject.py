"""A slider in a page, pressed and dragged by `browser_bench.py`: how soon its picture follows."""

from pathlib import Path
from statistics import median
from typing import NamedTuple

PRESSES, DRAG_VALUES, DRAG_SECONDS = 16, 60, 2
SCRIPT = Path(__file__).with_suffix(".js").read_text("utf-8")


class Dragged(NamedTuple):
    """What was seen while a slider was dragged."""

    pictures: int
    blank: int
    after: float  # ms from the last value to the last picture
    is_right: bool  # whether the last picture is that of the last value


class Subject:
    """A slider in the page, with the output in which its picture stands.

    output: the number of a cell of a notebook, or a place in any page.
    """

    def __init__(self, page, output):
        self.page = page
        if isinstance(output, int):
            output = page.locator(".jp-CodeCell").nth(output).locator(".jp-Cell-outputArea")
        self.output = output
        self.is_ours = self.output.locator(".lnorm-explorer").count() > 0
        self.most = "max" if self.is_ours else "aria-valuemax"
        handles = self.output.locator("input[type=range]:enabled, .noUi-handle").all()
        self.handle = max(handles, key=self._last)
        self.forth = ""

    def _last(self, handle):
        return round(float(handle.get_attribute(self.most)))

    @property
    def place(self):
        value = self.handle.input_value() if self.is_ours else self._value()
        return round(float(value))

    def _value(self):
        return self.handle.get_attribute("aria-valuenow")

    def go(self, place):
        """Move the slider there, and wait until the kernel has nothing more to say."""
        self.handle.focus()
        self.page.keyboard.press("Home")
        for _ in range(place):
            self.page.keyboard.press("ArrowRight")
        self.page.evaluate("quiet(300, 2500)")

    def press(self, keys, between=60):
        """Press keys, at even times between two frames; return the median time."""
        self.handle.focus()
        times = []
        for number, key in enumerate(keys):
            wait = 16 * (7 * number % PRESSES + 0.5) / PRESSES
            times.append(self.output.evaluate("(o, [k, w]) => press(o, k, w)", [key, wait]))
            self.page.wait_for_timeout(between)
        return median(times)

    def press_to_and_fro(self, presses):
        """Press keys at the middle, where all is prepared."""
        self.go(self._last(self.handle) // 2)
        return self.press(["ArrowRight", "ArrowLeft"] * (presses // 2))

    def press_forth(self, share):
        """Press keys towards the farther end, and go a share of the way, but not far."""
        place, last = self.place, self._last(self.handle)
        self.forth = self.forth or ("ArrowRight" if place < last / 2 else "ArrowLeft")
        left = last - place if self.forth == "ArrowRight" else place
        return self.press([self.forth] * min(PRESSES // 2, int(share * left)))

    def drag(self, rest=700):
        """Send as many keys as a fast hand, up and down the slider."""
        keys, place, step, last = [], self.place, 1, self._last(self.handle)
        for _ in range(DRAG_VALUES):
            step = step if 0 <= place + step <= last else -step
            place += step
            keys.append("ArrowRight" if step > 0 else "ArrowLeft")
        self.handle.focus()
        arguments = [keys, 1000 * DRAG_SECONDS, rest]
        seen = self.output.evaluate("(o, [k, ms, rest]) => drag(o, k, ms, rest)", arguments)
        is_right = self.place == place
        if self.is_ours and is_right:
            back = ["ArrowRight", "ArrowLeft"] if place < last else ["ArrowLeft", "ArrowRight"]
            self.press(back)
            is_right = self.output.evaluate("shown") == seen["picture"]
        return Dragged(seen["pictures"], seen["blank"], seen["after"], is_right)
