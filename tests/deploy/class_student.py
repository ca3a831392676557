"""A student of the class: the requests that a browser sends, from the login to the last save."""

import json
import time
from contextlib import closing

import requests
import websocket
from jupyter_client.session import Session

LESSON = "01_mean.ipynb"
PLACE = f"contents/{LESSON}"
PATIENCE = 120  # seconds for a server to start, or for a cell


class Student:
    """A student with a name and a password for the hub at an address."""

    def __init__(self, address, name, password):
        self.hub, self.name, self.password = address, name, password
        self.home = f"{address}/user/{name}"
        self.web, self.kernel = requests.Session(), None

    def arrive(self):
        """Come as far as JupyterLab's page, with a kernel for the lesson."""
        assert self.log_in()
        end = time.monotonic() + PATIENCE
        while not self.web.get(f"{self.home}/lab").url.startswith(self.home):
            assert time.monotonic() < end, "The student's server doesn't start."
            time.sleep(0.5)
        wanted = {"path": LESSON, "name": LESSON, "type": "notebook", "kernel": {"name": "python3"}}
        self.kernel = self.api("POST", "sessions", json=wanted)["kernel"]["id"]

    def log_in(self):
        """Fill in the form, which also starts the server; return whether the hub lets them in."""
        self.web.get(f"{self.hub}/hub/login")
        form = {"username": self.name, "password": self.password, "_xsrf": self.xsrf("/hub/")}
        return self.web.post(f"{self.hub}/hub/login", data=form).ok

    def api(self, method, path, **options):
        """Ask the student's server, and return what its JSON says."""
        headers = {"X-XSRFToken": self.xsrf()}
        answer = self.web.request(method, f"{self.home}/api/{path}", headers=headers, **options)
        answer.raise_for_status()
        return answer.json()

    def xsrf(self, path=None):
        """Return what the hub, or by default the student's server, wants to see beside cookies."""
        return self.web.cookies.get("_xsrf", path=path or f"/user/{self.name}/")

    def work(self):
        """Run all code cells of the lesson; return the errors."""
        cells = self.api("GET", PLACE)["content"]["cells"]
        told = [self.run(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        return [text for text in told if "Error" in text]

    def run(self, code):
        """Run a cell in the kernel; return what it printed, its error, or "died"."""
        address = f"{self.home}/api/kernels/{self.kernel}/channels?_xsrf={self.xsrf()}"
        cookies = "; ".join(f"{each.name}={each.value}" for each in self.web.cookies)
        message, told = Session().msg("execute_request", {"code": code, "silent": False}), []
        address = address.replace("http", "ws", 1)
        with closing(websocket.create_connection(address, PATIENCE, cookie=cookies)) as socket:
            socket.send(json.dumps({**message, "channel": "shell"}, default=str))
            while True:
                heard = json.loads(socket.recv())
                content = heard["content"]
                if content.get("execution_state", "").endswith("restarting"):
                    return "died"
                if heard["parent_header"].get("msg_id") != message["header"]["msg_id"]:
                    continue
                if heard["msg_type"] in ("stream", "error"):
                    told.append(content.get("text") or f"{content['ename']}: {content['evalue']}")
                elif content.get("execution_state") == "idle":
                    return "".join(told)
