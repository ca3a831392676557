"""A hub for a class of three on this machine, as `make hub` starts it, with accounts of its own."""

import contextlib
import os
import random
import re
import secrets
import signal
import socket
import subprocess
import sys

import psutil
import pytest
import urllib3
from project import PROJECT

SEATS, CONFIG = PROJECT / "deploy" / "seats.py", PROJECT / "deploy" / "jupyterhub_config.py"
HOST = "127.0.0.1"


@pytest.fixture(scope="package")
def seats():
    """Return three names with their passwords; as root they are accounts of this machine."""
    name = f"class{secrets.token_hex(2)}"  # there may be another class
    if os.geteuid() != 0:
        yield dict.fromkeys([f"{name}-01", f"{name}-02", f"{name}-03"], secrets.token_hex(8))
        return
    told = subprocess.check_output([sys.executable, SEATS, "3", name], text=True)
    seats = dict(re.findall(r"username +(\S+)\npassword +(\S+)", told))
    yield seats
    # A kernel ends a moment after its server, and until then its account is in use.
    running = psutil.process_iter(["username"])
    psutil.wait_procs([each for each in running if each.info["username"] in seats], timeout=30)
    for account in seats:
        subprocess.run(["userdel", "--remove", account], check=True, capture_output=True)


@pytest.fixture(scope="package")
def start_hub(seats, tmp_path_factory):
    """Start a hub, in the same folder each time; a context that gives its address."""
    folder = tmp_path_factory.mktemp("hub")

    @contextlib.contextmanager
    def start(**settings):
        port = three_free_ports()
        settings |= {"LNORM_HUB_PORT": str(port), "LNORM_HUB_PASSWORD": min(seats.values())}
        command = [sys.executable, "-m", "jupyterhub", "-f", CONFIG]
        hub = subprocess.Popen(command, cwd=folder, env=os.environ | settings)
        try:
            retries = urllib3.Retry(10, backoff_factor=0.1, status_forcelist=[404, 503])  # 50 s
            urllib3.request("GET", f"http://{HOST}:{port}/hub/health", retries=retries)
            yield f"http://{HOST}:{port}"
        finally:
            hub.send_signal(signal.SIGINT)
            hub.wait(60)

    return start


def three_free_ports():
    """Find the first of three free ports in a row."""
    while True:
        port = random.randrange(20000, 32000, 3)
        with contextlib.suppress(OSError), contextlib.ExitStack() as sockets:
            for number in range(port, port + 3):
                sockets.enter_context(socket.socket()).bind((HOST, number))
            return port
