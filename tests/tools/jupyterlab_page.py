"""Open JupyterLab in a browser, as a student sees it, and read what a test needs from it."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote
from uuid import uuid4

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Keep all cells in the page, even those out of sight, and fetch no news from the network.
SETTINGS = {
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}
START_SECONDS, CELLS_SECONDS = 60, 120
IS_IDLE = """[...document.querySelectorAll('.jp-StatusBar-TextItem')]
    .some(item => item.textContent.endsWith('| Idle'))"""
NUMBER = re.compile(r"^\[\d+\]:$")  # the prompt of a cell that has run
# A folded cell has no number.
ALL_RAN = """[...document.querySelectorAll('.jp-Notebook .jp-CodeCell .jp-InputPrompt')]
    .filter(prompt => !prompt.closest('.jp-CodeCell').querySelector('.jp-InputPlaceholder'))
    .every(prompt => /^\\[\\d+\\]:$/.test(prompt.textContent.trim()))"""


@contextmanager
def browser():
    """Start Chromium without a window; the variable `CHROMIUM` can name a different browser."""
    found = map(shutil.which, (os.environ.get("CHROMIUM", ""), *BROWSERS))
    path = next(filter(None, found), None)
    if path is None:
        raise LookupError(
            "There is no Chromium here. On Debian and Ubuntu: sudo apt install chromium. "
            "Elsewhere, give its path: CHROMIUM=/path/to/chrome make browser."
        )
    from playwright.sync_api import sync_playwright  # only `make browser` installs it

    arguments = ["--no-sandbox", "--disable-background-networking"]
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=arguments)
        yield chromium
        chromium.close()


@contextmanager
def jupyterlab(folder):
    """Start JupyterLab on a folder, with settings of its own, and yield its address."""
    with tempfile.TemporaryDirectory() as own:
        settings = Path(own, "settings")
        for plugin, values in SETTINGS.items():
            file = settings / f"{plugin}.jupyterlab-settings"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(values), "utf-8")
        places = {
            "JUPYTER_RUNTIME_DIR": own,
            "JUPYTER_CONFIG_DIR": own,
            "JUPYTERLAB_SETTINGS_DIR": str(settings),
            "JUPYTERLAB_WORKSPACES_DIR": own,
            "LNORM_PROGRESS": "",
            "OMP_NUM_THREADS": "1",
        }
        options = ["--no-browser", "--allow-root", "--ServerApp.port=0", f"--notebook-dir={folder}"]
        with open(Path(own, "log"), "wb") as log:
            server = subprocess.Popen(
                [sys.executable, "-m", "jupyterlab", *options],
                env={**os.environ, **places},
                stdout=log,
                stderr=log,
            )
        try:
            yield _address(Path(own), server)
        finally:
            server.terminate()
            server.wait(30)


def _address(runtime, server):
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and server.poll() is None:
        for file in runtime.glob("jpserver-*.json"):
            about = json.loads(file.read_text("utf-8") or "{}")
            if about.get("port"):
                return f"{about['url']}lab/workspaces/{{}}/tree/{{}}?token={about['token']}"
        time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not start:\n{(runtime / 'log').read_text('utf-8')}")


class Page:
    """A notebook in JupyterLab, and the errors that the browser's console has shown.

    Args:
        options: further options of the browser's page, such as `has_touch`.
    """

    def __init__(self, browser, address, name, width=1366, height=1000, **options):
        self.page = browser.new_page(viewport={"width": width, "height": height}, **options)
        self.errors = []
        self.page.on("console", self._remember)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        # The page has its own workspace, so that no tab of an earlier page is opened again.
        self.page.goto(address.format(uuid4().hex, quote(name)))
        self.page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=START_SECONDS * 1000)

    def _remember(self, message):
        if message.type == "error":
            self.errors.append(message.text)

    def run_all(self):
        """Choose "Run All Cells" from the menu, and wait until all have run."""
        self.page.wait_for_function(IS_IDLE, timeout=START_SECONDS * 1000)
        self.menu("Edit", "Clear Outputs of All Cells")  # clears their numbers, too
        self.menu("Run", "Run All Cells")
        self.page.wait_for_function(f"{ALL_RAN} && {IS_IDLE}", timeout=CELLS_SECONDS * 1000)

    def menu(self, name, entry):
        """Choose an entry of a menu."""
        self.page.get_by_role("menuitem", name=name, exact=True).click()
        self.page.get_by_text(entry, exact=True).click()

    def run_cell(self, number):
        """Run one cell again, and wait until it is done."""
        cell = self.page.locator(".jp-CodeCell").nth(number)
        before = cell.locator(".jp-InputPrompt").first.inner_text()
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        prompt = cell.locator(".jp-InputPrompt", has_text=NUMBER, has_not_text=before)
        prompt.first.wait_for()

    @property
    def explorers(self):
        """The explorers of the notebook, from top to bottom."""
        return self.page.locator(".lnorm-explorer")
