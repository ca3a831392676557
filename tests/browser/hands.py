"""A reader's hands on a page: keyboard, mouse, and touch."""

from site_page import NARROW, WIDE


class Keyboard:
    """A reader who has only keys."""

    passes_others = False  # on the way to an end
    options = {"size": WIDE}  # noqa: RUF012

    def __init__(self, page):
        self.page = page

    def press(self, button):
        button.focus()
        self.page.keyboard.press("Enter")

    def drag(self, slider, end):
        slider.focus()
        self.page.keyboard.press("End" if end else "Home")


class Mouse(Keyboard):
    passes_others = True
    options = {"size": WIDE, "dark": True}  # noqa: RUF012

    def press(self, button):
        button.click()

    def drag(self, slider, end):
        slider.scroll_into_view_if_needed()
        last = float(slider.get_attribute("max"))
        mouse = self.page.mouse
        mouse.move(*along(slider, float(slider.input_value()) / last))
        mouse.down()
        mouse.move(*along(slider, 0.5), steps=3)
        mouse.move(*along(slider, end), steps=3)
        mouse.up()

    def pull(self, handle, right, down):
        """Drag something by some pixels."""
        x, y = middle(handle)
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(x + right, y + down, steps=4)
        self.page.mouse.up()


class Touch(Keyboard):
    passes_others = True
    options = {"size": NARROW, "has_touch": True, "is_mobile": True}  # noqa: RUF012

    def press(self, button):
        button.tap()

    def drag(self, slider, end):
        slider.scroll_into_view_if_needed()
        last = float(slider.get_attribute("max"))
        path = [float(slider.input_value()) / last, 0.5, end]
        self._touch(along(slider, share) for share in path)

    def pull(self, handle, right, down):
        x, y = middle(handle)
        self._touch((x + share * right, y + share * down) for share in (0, 0.5, 1))

    def _touch(self, places):
        finger = self.page.context.new_cdp_session(self.page)
        kinds = ("touchStart", "touchMove", "touchMove")
        for kind, (x, y) in zip(kinds, places, strict=True):
            points = [{"x": x, "y": y}]
            finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        finger.detach()


def move_all(alive, hand):
    """Press all presets, and move all controls to their ends; look at each state."""
    alive.check()
    chip = alive.root.locator(".chips").get_by_role("button")

    def choose(preset):
        hand.press(chip.get_by_text(preset, exact=True))
        alive.state = [*alive.presets[preset]]
        alive.check()

    for preset in alive.presets:
        choose(preset)
    for number, control in enumerate(alive.about["controls"]):
        for preset in alive.presets:
            if number not in alive.frame["off"]:
                break
            choose(preset)
        assert number not in alive.frame["off"]
        _move_to_all_ends(alive, number, control, hand)


def _move_to_all_ends(alive, number, control, hand):
    """Move a control to both ends, or to all that can be chosen; look at each."""
    box = alive.root.locator(".controls > *").nth(number)
    if control["kind"] == "slider":
        last = len(control["texts"]) - 1
        for end in (1, 0):
            hand.drag(box.locator("input"), end)
            if hand.passes_others:
                alive.moved(number, last // 2)
            alive.moved(number, last * end)
            alive.check()
    else:
        for place in (*range(1, len(control["texts"])), 0):
            hand.press(box.get_by_role("button").nth(place))
            alive.moved(number, place)
            alive.check()


def middle(handle):
    """Scroll to something, and return where its middle is."""
    handle.scroll_into_view_if_needed()
    box = handle.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def along(slider, share):
    """Return a place on a track, from 0 at its beginning to 1 at its end."""
    box = slider.bounding_box()
    return box["x"] + 8 + share * (box["width"] - 16), box["y"] + box["height"] / 2
