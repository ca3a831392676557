"""Students in a real browser: Chromium opens the lesson through the hub and moves a slider."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

from browser_subject import PRESSES, SCRIPT, Subject
from crowd_student import LESSON
from jupyterlab_page import SETTINGS, START_SECONDS, Page, find_browser

ARGUMENTS = [
    *("--no-sandbox", "--disable-background-networking"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # this machine only
]
WORD = "I was here."
IS_CHANGED = "document.querySelector('.lm-TabBar-tab.jp-mod-dirty') !== null"
SET = """async ([base, all]) => {
    const token = document.cookie.split('; ').find(c => c.startsWith('_xsrf='))?.slice(6);
    for (const [name, raw] of Object.entries(all)) {
        const answer = await fetch(`${base}/lab/api/settings/${name}`, {
            method: 'PUT', headers: {'X-XSRFToken': token}, body: JSON.stringify({raw}),
        });
        if (!answer.ok) throw new Error(`${answer.status} for the settings of JupyterLab`);
    }
}"""


class BrowserStudent:
    """A student in a browser of their own, with the phases of a `Student`.

    Playwright wants one thread for all calls.
    """

    def __init__(self, hub, name, code, times):
        self.hub, self.name, self.code, self.times = hub, name, code, times
        self.home = f"{hub.address}/user/{name}"
        self.thread, self.rest = ThreadPoolExecutor(1), ExitStack()
        self.has_come = self.has_left = False
        self.waits = {}  # while → milliseconds: prepared, asked for, and from frame to frame

    async def arrive(self):
        """Log in, start the server, open the lesson, and run all of it; True if that worked."""
        phase = "in a browser: from login to the lesson, run"
        self.has_come = await self._do(phase, self._arrive)
        return self.has_come

    async def move_sliders(self, meanwhile):
        """Measure the time from a key press to new pixels while others do something."""
        phase = "in a browser: move a slider"
        return await self._do(phase, lambda: self._move_sliders(meanwhile))

    async def save_and_come_back(self):
        """Write something, save, open the lesson again, and find it."""
        return await self._do("in a browser: save and come back", self._come_back)

    async def leave(self):
        """Close the browser."""
        if not self.has_left:
            self.has_left = True
            await self._call(self.rest.close)
            self.thread.shutdown()

    async def _do(self, phase, work):
        with suppress(Exception), self.times.phase(phase, self.name):
            await self._call(work)
            return True
        return False

    def _call(self, work):
        return asyncio.get_running_loop().run_in_executor(self.thread, work)

    def _arrive(self):
        from playwright.sync_api import sync_playwright  # it's there, or nobody has a browser

        playwright = self.rest.enter_context(sync_playwright())
        self.chromium = playwright.chromium.launch(executable_path=find_browser(), args=ARGUMENTS)
        self.rest.callback(self.chromium.close)
        context = self.chromium.new_context()
        page = context.new_page()
        page.set_default_timeout(START_SECONDS * 3000)
        page.goto(f"{self.hub.address}/hub/login")
        page.fill("input[name=username]", self.name)
        page.fill("input[name=password]", self.code)
        page.click("input[type=submit], button[type=submit]")
        page.wait_for_url(f"{self.home}/lab**", wait_until="domcontentloaded")
        raw = {":".join(n.rsplit("/", 1)): json.dumps(v) for n, v in SETTINGS.items()}
        page.evaluate(SET, [f"/user/{self.name}", raw])
        self.state = context.storage_state()
        context.close()
        self._open()
        self.lesson.run_all()

    def _open(self):
        address = f"{self.home}/lab/workspaces/{{}}/tree/{{}}"
        self.lesson = Page(self.chromium, address, LESSON, script=SCRIPT, storage_state=self.state)

    def _move_sliders(self, meanwhile):
        page = self.lesson.page
        place = page.locator(".jp-CodeCell").filter(has=page.locator(".lnorm-explorer"))
        place.scroll_into_view_if_needed()
        subject = Subject(page, place.locator(".jp-Cell-outputArea").first)
        page.evaluate("network.withoutAhead = false")
        page.evaluate("quiet(300, 5000)")
        frame = page.evaluate("frameTime()")
        prepared = subject.press_to_and_fro(PRESSES)
        page.evaluate("network.withoutAhead = true")
        self.waits[meanwhile] = prepared, subject.press_forth(1), frame

    def _come_back(self):
        page = self.lesson.page
        cell = page.locator(".jp-CodeCell .cm-content").first
        cell.click()
        page.keyboard.press("Control+Home")
        page.keyboard.type(f"# {WORD}\n")
        page.wait_for_function(IS_CHANGED)
        page.keyboard.press("Control+s")
        page.wait_for_function(f"!({IS_CHANGED})")
        page.close()
        self._open()
        self.lesson.page.get_by_text(f"# {WORD}").first.wait_for(timeout=START_SECONDS * 1000)
