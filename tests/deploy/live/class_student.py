"""A simulated student: the requests that a browser sends from the login to the last save."""

import asyncio
import json
import re
from contextlib import suppress
from urllib.parse import quote

from aiohttp import ClientResponseError, ClientSession, ClientTimeout, CookieJar
from class_kernel import Kernel, connection_file_of
from yarl import URL

LESSON = "06_two_feature_collapse.ipynb"
XSRF = re.compile(r'name="_xsrf" value="([^"]+)"')
EVENT = "data: "
START_SECONDS, PATIENCE = 300, 240


class Student:
    """A student at a seat.

    Args:
        hub: a `Hub` that runs.
        name, code: the seat, and what opens it.
    """

    def __init__(self, hub, name, code):
        self.hub, self.name, self.code = hub, name, code
        self.home = f"{hub.address}/user/{name}"
        self.web = self.kernel = self.session = self.notebook = None

    async def arrive(self):
        """Come to the first cell's result as a student does."""
        await self.log_in()
        await self.start_server()
        await self.open_lesson()
        await self.start_kernel()
        await self.run_cells(range(1))

    async def log_in(self):
        """Fill in the form of the hub."""
        await self.leave()
        self.web = ClientSession(
            cookie_jar=CookieJar(unsafe=True),  # unsafe: cookies of an address without a name
            middlewares=[self.hub.watch],
            timeout=ClientTimeout(total=START_SECONDS),
            raise_for_status=True,
        )
        page = await self._text("GET", f"{self.hub.address}/hub/login")
        form = {"username": self.name, "password": self.code}
        form["_xsrf"] = XSRF.search(page).group(1)
        # What follows would start the server at once.
        answer = await self.web.post(
            f"{self.hub.address}/hub/login", data=form, allow_redirects=False
        )
        if "Location" not in answer.headers:
            raise PermissionError("The hub refused the login.")

    async def start_server(self):
        """Ask for the server, watch its progress, and open JupyterLab's page."""
        await self._text("GET", f"{self.hub.address}/hub/spawn/{self.name}")
        progress = f"{self.hub.address}/hub/api/users/{self.name}/server/progress"
        with suppress(ClientResponseError):  # 400: it runs already
            async with self.web.get(progress) as answer:
                async for line in answer.content:
                    event = line.decode()
                    if event.startswith(EVENT):
                        event = json.loads(event.removeprefix(EVENT))
                        if event.get("failed"):
                            raise RuntimeError(f"The hub says: {event.get('message')}")
                        if event.get("ready"):
                            break
        await self._text("GET", f"{self.home}/lab")

    async def open_lesson(self):
        """Read the lesson."""
        self.notebook = (await self.api("GET", f"contents/{quote(LESSON)}"))["content"]

    async def start_kernel(self):
        """Open a session with a kernel, as JupyterLab does, and connect to that."""
        self.session = await self.api(
            "POST",
            "sessions",
            json={
                "path": LESSON,
                "name": LESSON,
                "type": "notebook",
                "kernel": {"name": self.notebook["metadata"]["kernelspec"]["name"]},
            },
        )
        number = self.session["kernel"]["id"]
        while not (file := connection_file_of(self.hub.servers([self.name]), number)):
            await asyncio.sleep(0.2)
        self.kernel = Kernel(file)

    async def run_cells(self, numbers=None):
        """Run cells of the lesson one after another, all without numbers.

        Raises:
            RuntimeError: a cell raised an error.
            TimeoutError: one took longer than a student has patience.
        """
        cells = [cell for cell in self.notebook["cells"] if cell["cell_type"] == "code"]
        for number in range(len(cells)) if numbers is None else numbers:
            async with asyncio.timeout(PATIENCE):
                reply = await self.kernel.run("".join(cells[number]["source"]))
            if not reply.is_ok:
                raise RuntimeError(f"Cell {number + 1} of the lesson raised {reply.text}")

    async def leave(self):
        """Close all connections."""
        if self.kernel:
            await self.kernel.close()
        if self.web:
            await self.web.close()
        self.kernel = self.web = None

    async def api(self, method, path, **options):
        """Ask the student's server, and return what its JSON says."""
        headers = {"X-XSRFToken": self.xsrf}
        address = f"{self.home}/api/{path}"
        async with self.web.request(method, address, headers=headers, **options) as answer:
            return await answer.json()

    @property
    def xsrf(self):
        """What the student's server wants to see beside the cookie."""
        return self.cookies(f"{self.home}/")["_xsrf"]

    def cookies(self, address):
        """Return the cookies that the browser would send there."""
        found = self.web.cookie_jar.filter_cookies(URL(address))
        return {name: cookie.value for name, cookie in found.items()}

    async def _text(self, method, address, **options):
        async with self.web.request(method, address, **options) as answer:
            return await answer.text()
