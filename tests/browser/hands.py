"""A reader's hands on a page: keyboard, mouse, and touch."""

from site_page import NARROW, WIDE

# Away from the header of the page: a finger that touches beside one of its buttons presses that.
CENTER = "e => e.scrollIntoView({ block: 'center', behavior: 'instant' })"


class Keyboard:
    """A reader who has only keys."""

    options = {"size": WIDE}  # noqa: RUF012

    def __init__(self, page):
        self.page = page

    def press(self, button):
        button.press("Enter")

    def drag(self, slider, share):
        """Move a slider to its beginning, 0, or its end, 1."""
        slider.press("End" if share else "Home")


class Mouse(Keyboard):
    options = {"size": WIDE, "dark": True}  # noqa: RUF012

    def press(self, button):
        button.click()

    def drag(self, slider, share):
        now = float(slider.input_value()) / float(slider.get_attribute("max"))
        slider.evaluate(CENTER)
        box = slider.bounding_box()
        track, y = box["width"] - 16, box["y"] + box["height"] / 2
        self._move(*((box["x"] + 8 + at * track, y) for at in (now, 0.5, share)))

    def pull(self, handle, right, down):
        """Drag something by some pixels."""
        handle.evaluate(CENTER)
        box = handle.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self._move(*((x + share * right, y + share * down) for share in (0, 0.5, 1)))

    def _move(self, start, *places):
        self.page.mouse.move(*start)
        self.page.mouse.down()
        for x, y in places:
            self.page.mouse.move(x, y, steps=3)
        self.page.mouse.up()


class Touch(Mouse):
    options = {"size": NARROW, "has_touch": True, "is_mobile": True}  # noqa: RUF012

    def press(self, button):
        button.tap()

    def _move(self, *places):
        finger = self.page.context.new_cdp_session(self.page)
        kinds = ("touchStart", "touchMove", "touchMove")
        for kind, (x, y) in zip(kinds, places, strict=True):
            touch = {"type": kind, "touchPoints": [{"x": x, "y": y}]}
            finger.send("Input.dispatchTouchEvent", touch)
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        finger.detach()


def move_all(alive, hand):
    """Press all presets, and move all controls to their ends; look at each state."""
    chip = alive.root.locator(".chips").get_by_role("button")

    def choose(preset):
        hand.press(chip.get_by_text(preset, exact=True))
        alive.shows(alive.presets[preset])

    for preset in alive.presets:
        choose(preset)
    for number, control in enumerate(alive.about["controls"]):
        for preset in alive.presets:
            if number not in alive.frame["off"]:
                break
            choose(preset)
        assert number not in alive.frame["off"]
        box = alive.root.locator(".controls > *").nth(number)
        last = len(control["texts"]) - 1
        for place in (last, 0) if control["kind"] == "slider" else (*range(1, last + 1), 0):
            if control["kind"] == "slider":
                hand.drag(box.locator("input"), place / last)
            else:
                hand.press(box.get_by_role("button").nth(place))
            alive.moved(number, place)
