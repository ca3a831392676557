"""A simulated student: the requests that a browser sends from the login to the last save."""

import copy
import json
import pwd
import re
from contextlib import suppress
from urllib.parse import quote

from aiohttp import ClientResponseError, ClientSession, ClientTimeout, CookieJar
from crowd_kernel import Kernel
from crowd_work import Worker

LESSON = "06_two_feature_collapse.ipynb"
XSRF = re.compile(r'name="_xsrf" value="([^"]+)"')
EVENT = "data: "
START_SECONDS = 300


class Student(Worker):
    """A student at a seat.

    Args:
        hub: a `Hub` that runs.
        name, code: the seat, and what opens it.
        times: a `Times`, which each phase is written to.
    """

    def __init__(self, hub, name, code, times):
        self.hub, self.name, self.code, self.times = hub, name, code, times
        self.home = f"{hub.address}/user/{name}"
        self.web = self.kernel = self.session = self.notebook = None
        self.saved = None  # the last notebook that the server said it has saved
        self.has_come = False
        self.explorer = None  # whose sliders were moved
        self.home_mib = None  # how small the home is, if it's small

    @property
    def uid(self):
        """The number of the student's account; it's there after the first login."""
        return pwd.getpwnam(self.name).pw_uid

    async def arrive(self, how=""):
        """Come to the first cell's result as a student does; True if all of it worked.

        how: what the names of the phases begin with.
        """
        steps = {
            "log in": self.log_in,
            "start the server": self.start_server,
            "open the lesson": self.open_lesson,
            "start a kernel": self.start_kernel,
            "run the first cell, the imports": lambda: self.run_cell(0),
        }
        with suppress(Exception), self.times.phase(f"{how}all of this", self.name):
            for name, step in steps.items():
                with self.times.phase(f"{how}{name}", self.name):
                    await step()
            self.has_come = True
        return self.has_come

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
        if self.home_mib:
            self.hub.limit_home(self.name, self.home_mib)

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

    async def restart_server(self):
        """Start a server that has died, as the button on the hub's page does."""
        hub = f"{self.hub.address}/hub"
        await self._text("GET", f"{hub}/home")
        headers = {"X-XSRFToken": self.cookies(f"{hub}/")["_xsrf"], "Referer": f"{hub}/home"}
        server = f"{hub}/api/users/{self.name}/server"
        await self._text("POST", server, headers=headers, json={})
        await self.start_server()

    async def open_lesson(self):
        """Read the lesson."""
        self.notebook = (await self.api("GET", f"contents/{quote(LESSON)}"))["content"]

    async def start_kernel(self):
        """Open a session with a kernel, and connect to it."""
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
        await self.connect()

    async def connect(self):
        """Connect to the kernel of the session."""
        if self.kernel:
            await self.kernel.close()
        address = f"{self.home}/api/kernels/{self.session['kernel']['id']}/channels"
        self.kernel = await Kernel.connect(self.web, address, self.hub.address)

    async def move_sliders(self, seconds):
        """Drag the sliders of the explorer for a while."""
        with suppress(Exception), self.times.phase("move sliders", self.name):
            self.explorer = self.kernel.explorers[-1]
            await self.explorer.play(seconds, seed=self.name)

    async def save(self, text):
        """Write something into the title of the lesson, and save the notebook."""
        draft = copy.deepcopy(self.notebook)
        draft["cells"][0]["source"] = text
        model = {"type": "notebook", "format": "json", "content": draft}
        await self.api("PUT", f"contents/{quote(LESSON)}", json=model)
        self.notebook = self.saved = draft

    async def check_saved(self):
        """Read the notebook again.

        Raises:
            RuntimeError: it's not what was saved last.
        """
        found = (await self.api("GET", f"contents/{quote(LESSON)}"))["content"]
        for kept, read in zip(self.saved["cells"], found["cells"], strict=True):
            if "".join(kept["source"]) != "".join(read["source"]):
                raise RuntimeError("Saved work is lost.")

    async def come_back(self):
        """Log in anew, and find the saved work, and the kernel with its variables."""
        await self.log_in()
        await self._text("GET", f"{self.home}/lab")
        await self.check_saved()
        sessions = await self.api("GET", "sessions")
        if [each["id"] for each in sessions] != [self.session["id"]]:
            raise RuntimeError("The kernel's session is gone.")
        await self.connect()
        if (await self.kernel.run("print(points.shape)")).text != "torch.Size([1000, 2])\n":
            raise RuntimeError("The kernel has lost its variables.")

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
        found = self.web.cookie_jar.filter_cookies(address)
        return {name: cookie.value for name, cookie in found.items()}

    async def _text(self, method, address, **options):
        async with self.web.request(method, address, **options) as answer:
            return await answer.text()
