"""The course's own hub for a class: what `make hub` runs, with a folder and accounts of its own."""

import asyncio
import contextlib
import os
import pwd
import random
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
from project import PROJECT

HOST = "127.0.0.1"
PROGRAM = PROJECT / "deploy" / "hub.py"
READY_SECONDS, END_SECONDS = 90, 30


class Hub:
    """A hub on this machine only; a context that removes all that it has made.

    Args:
        students: how many seats there are.
    """

    def __init__(self, students):
        name = f"class-{secrets.token_hex(2)}"  # there may be another one on this machine
        self.codes = {f"{name}-{n:02}": secrets.token_hex(8) for n in range(1, students + 1)}
        self.has_accounts = os.getuid() == 0
        self.port = three_free_ports()
        self.address, self.proxy_api, self.hub = (
            f"http://{HOST}:{self.port + number}" for number in range(3)
        )
        self.most_requests, self.requests = 1000 * students, 0

    async def __aenter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="class-"))
        self.log = self.folder / "log"
        places = {"LNORM_HUB_STATE": str(self.folder), "LNORM_HUB_PORT": str(self.port)}
        self.environment = {**os.environ, **places}
        seats = self.folder / "seats.csv"
        seats.write_text("".join(f"{name},{code}\n" for name, code in self.codes.items()))
        seats.chmod(0o600)
        self.started = {part: self._start(part) for part in ("proxy", "hub")}
        try:
            await self._wait()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *error):
        for process in reversed(self.started.values()):
            await _end(process)
        while left := self.servers():
            for process in left:
                with contextlib.suppress(psutil.Error):
                    process.kill()
            psutil.wait_procs(left, END_SECONDS)
        for name in self.codes if self.has_accounts else ():
            with contextlib.suppress(KeyError):
                pwd.getpwnam(name)
                subprocess.run(["userdel", "--remove", name], check=True, capture_output=True)
        shutil.rmtree(self.folder)

    def _start(self, part):
        with self.log.open("ab") as log:
            command = [sys.executable, str(PROGRAM), part]
            # A session of its own: Ctrl+C comes here only.
            return subprocess.Popen(
                command, env=self.environment, stdout=log, stderr=log, start_new_session=True
            )

    async def _wait(self):
        end = time.monotonic() + READY_SECONDS
        while time.monotonic() < end and self.started["hub"].poll() is None:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                reader, writer = await asyncio.open_connection(HOST, self.port)
                writer.write(b"GET /hub/health HTTP/1.0\r\n\r\n")
                answer = await reader.readline()
                writer.close()
                if b" 200 " in answer:
                    return
            await asyncio.sleep(0.1)
        raise RuntimeError(f"The hub doesn't start. Its log:\n{self.log.read_text()[-3000:]}")

    async def watch(self, request, handler):
        """Let requests go to this hub only, and only so many."""
        self.requests += 1
        if request.url.host != HOST:
            raise RuntimeError(f"A page sent a student to {request.url.host}.")
        if self.requests > self.most_requests:
            raise RuntimeError(f"The class stops after {self.most_requests} requests.")
        return await handler(request)

    @property
    def proxy_token(self):
        """What the hub shows the proxy."""
        return (self.folder / "proxy_token").read_text()

    def secrets(self):
        """Return the files that only the hub may read."""
        return [path for path in self.folder.iterdir() if path.is_file()]

    def processes(self):
        """Return the hub, the proxy, and what they have started, but no student's server."""
        theirs = {process.pid for process in self.servers()}
        found = []
        for started in self.started.values():
            with contextlib.suppress(psutil.Error):
                process = psutil.Process(started.pid)
                found += [process, *process.children(recursive=True)]
        return [process for process in found if process.pid not in theirs]

    def servers(self, names=()):
        """Find the processes of students: those of the accounts, or else those the hub started."""
        names, found = set(names) or set(self.codes), []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if self.has_accounts:
                    is_theirs = process.username() in names
                else:
                    about = process.environ()
                    is_theirs = about.get("JUPYTERHUB_USER") in names and self.hub in about.get(
                        "JUPYTERHUB_API_URL", ""
                    )
                found += [process] * is_theirs
        return found


async def _end(process):
    process.terminate()
    try:
        await asyncio.to_thread(process.wait, END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def three_free_ports():
    """Find the first of three free ports in a row."""
    while True:
        # As root, those that no student can take while the hub restarts.
        port = random.randrange(20000, 32000, 3) if os.getuid() else random.randrange(600, 1020, 3)
        with contextlib.suppress(OSError), contextlib.ExitStack() as sockets:
            for number in range(3):
                sockets.enter_context(socket.socket()).bind((HOST, port + number))
            return port
