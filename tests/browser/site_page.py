"""A page of the web edition, in a browser that may speak to no other host."""

from functools import cache
from urllib.parse import unquote, urlsplit

from axe_playwright_python.sync_playwright import Axe

from lnorm_course import explorers
from lnorm_staff.web.baking import typeset

HOME = "https://course.example/"  # where Playwright answers with the files of a site
WIDE, NARROW = (1366, 768), (360, 740)
# What the explorer shows, in the page's own notation: ids, which are random, become numbers.
SCRIPT = """
const inOrder = (root) => {
    const ids = [...root.querySelectorAll('[id]')].map(e => e.id);
    return ids.reduce((text, id, i) => text.replaceAll(id, `id-${i}`), root.innerHTML);
};
window.looks = (root, svgs) => {
    const isSame = [...root.querySelectorAll('.sheet > svg')].map((drawn, i) => {
        const other = drawn.cloneNode();
        other.innerHTML = svgs[i];
        return inOrder(drawn) === inOrder(other);
    });
    return {
        words: root.querySelector('p').textContent,
        is_same_picture: isSame.length === svgs.length && isSame.every(Boolean),
        places: [...root.querySelectorAll('.controls > *')].map(box => {
            const slider = box.querySelector('input');
            if (slider) return Number(slider.value);
            return [...box.querySelectorAll('button')].findIndex(b => b.ariaPressed === 'true');
        }),
        pressed: [...root.querySelectorAll('.chips [aria-pressed=true]')].map(e => e.textContent),
    };
};
"""
# What doesn't fit in an explorer, or can't be read or held: small type, a scale at which 10 pt are
# less than 12 pixels, a short track, what ends beyond the edge or has to be scrolled to.
MISFITS = """root => {
    const box = (e) => e.getBoundingClientRect();
    const misfits = {
        small: (e) => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())
            && !e.closest('svg') && e.offsetParent && parseFloat(getComputedStyle(e).fontSize) < 12,
        scaled: (e) => e.matches('.sheet > svg')
            && 10 * box(e).width / e.viewBox.baseVal.width < 11.99,
        short: (e) => e.matches('input[type=range]') && box(e).width < 160,
        over: (e) => !e.closest('.sheet, .chips') && box(e).right > box(root).right + 1,
        scrolls: (e) => e.matches('.scene') && e.scrollWidth > e.clientWidth,
    };
    return [...root.querySelectorAll('*')].flatMap((e) => Object.keys(misfits)
        .filter((name) => misfits[name](e)).map((name) => `${name}: ${e.outerHTML.slice(0, 80)}`));
}"""


def seconds_a_move(page, element, moves):
    """Return how long a move takes the page's own thread; `moves` is a script of a hundred.

    What else the machine does doesn't count.
    """
    browser = page.context.new_cdp_session(page)
    browser.send("Performance.enable", {"timeDomain": "threadTicks"})

    def busy():
        metrics = browser.send("Performance.getMetrics")["metrics"]
        return {each["name"]: each["value"] for each in metrics}["TaskDuration"]

    before = busy()
    element.evaluate(moves)
    return (busy() - before) / 100


def serious(page, **where):
    """Name what axe calls serious or critical."""
    # Without this, axe also describes each element that passed, which takes it as long again.
    found = Axe().run(page, options={"resultTypes": ["violations"]}, **where).response
    return [
        f"{violation['id']}: {node['target']}"
        for violation in found["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


@cache
def made(topic):
    """Make the explorer of a topic in Python, once."""
    return getattr(explorers, f"explore_{topic}")()


class Visit:
    """A reader's visit: a window, and what went wrong in it.

    site: a folder, beyond which nothing may be fetched.
    options: for the browser, such as `has_touch`.
    """

    def __init__(self, chromium, site, size=WIDE, dark=False, **options):
        self.site, self.wrong = site, []
        self.context = chromium.new_context(
            viewport=dict(zip(("width", "height"), size, strict=True)),
            color_scheme="dark" if dark else "light",
            **options,
        )
        self.context.route("**/*", self._answer)
        self.context.add_init_script(SCRIPT)
        self.page = self.context.new_page()
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("requestfailed", self._failed)

    def _answer(self, route):
        file = self.site / unquote(urlsplit(route.request.url).path[1:] or "index.html")
        if not route.request.url.startswith(HOME):
            route.abort()
        elif file.is_file():
            route.fulfill(path=file)
        else:
            route.fulfill(status=404)

    def _failed(self, request):
        if request.failure != "net::ERR_ABORTED":  # the reader has gone to another page
            self.wrong.append(f"{request.failure}: {request.url}")

    def _hear(self, message):
        if message.type in ("error", "warning"):
            self.wrong.append(f"{message.text} {message.location['url']}")

    def open(self, name):
        """Open a page of the site."""
        self.page.goto(HOME + name)
        return self

    @property
    def explorers(self):
        """The explorers of the page, in order, each drawn because it has come into sight."""
        for place in self.page.locator(".lnorm-live").all():
            place.scroll_into_view_if_needed()
            topic, preset = (place.get_attribute(f"data-{of}") for of in ("topic", "preset"))
            yield Alive(self.page, place.locator(".lnorm-explorer"), topic, preset, typeset)

    def close(self):
        """Close the window, in which nothing may have gone wrong."""
        self.context.close()
        assert self.wrong == []


class Alive:
    """An explorer in a page or in JupyterLab, beside the same one in Python, which starts alike.

    written: how the page writes what Python says.
    """

    def __init__(self, page, root, topic, preset="", written=lambda frame: frame):
        self.page, self.root, self.explorer, self.written = page, root, made(topic), written
        self.about, self.presets = self.explorer.page, self.explorer.presets
        self.shows(self.presets.get(preset, self.explorer.state))

    @property
    def frame(self):
        """What Python computes for the present state."""
        return self.explorer.frame(self.state)

    def moved(self, number, place):
        """Assert that the page shows what Python computes after a control was moved."""
        self.shows((*self.state[:number], place, *self.state[number + 1 :]))

    def shows(self, state):
        """Assert that the page shows what Python computes for a state."""
        self.state = tuple(state)
        frame = self.written(self.frame)
        seen, svgs = None, frame["svgs"]
        for _ in range(100):
            seen = self.root.evaluate("(root, svgs) => looks(root, svgs)", svgs)
            if seen["is_same_picture"] and seen["words"] == frame["words"]:
                break
            self.page.wait_for_timeout(50)
        kinds = [control["kind"] for control in self.about["controls"]]
        assert seen == {
            "words": frame["words"],
            "is_same_picture": True,
            "places": [
                -1 if kind == "choice" and n in frame["off"] else place
                for n, (kind, place) in enumerate(zip(kinds, self.state, strict=True))
            ],
            "pressed": [name for name, state in self.presets.items() if state == self.state],
        }, [panel["alt"] for panel in self.about["panels"]]
