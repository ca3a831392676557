"""JupyterLab is open to its user only, trusts no notebook unasked, and nothing uses the network."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import nbval.kernel
import pytest
from offline import NetworkError
from project import NOTEBOOK_PATHS, PROJECT

SERVER = "lnorm_course.lab.server_extension"
NEWS = "@jupyterlab/apputils-extension:notification"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Start JupyterLab on the originals, without a user's settings: what it says of itself."""
    own = tmp_path_factory.mktemp("jupyter")
    places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
    server = subprocess.Popen(
        [sys.executable, "-m", "lnorm_course", "--edit", "--no-browser", "--port=0"],
        env={**kept, **dict.fromkeys(places, str(own))},
        cwd=PROJECT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield about(server, own)
    finally:
        server.terminate()
        server.wait(30)


def about(server, folder):
    end = time.monotonic() + 60
    while time.monotonic() < end and server.poll() is None:
        for file in folder.glob("jpserver-*.json"):
            found = json.loads(file.read_text("utf-8") or "{}")
            if found.get("port") and is_listening(found["port"]):
                return found
        time.sleep(0.1)
    raise RuntimeError("JupyterLab did not start")


def is_listening(port):
    """Tell whether a server answers; Jupyter writes its file a moment before."""
    with socket.socket() as attempt:
        return attempt.connect_ex(("127.0.0.1", port)) == 0


def ask(lab, what, token=""):
    """Return the status of an answer, and the answer."""
    request = urllib.request.Request(lab["url"] + what)
    if token:
        request.add_header("Authorization", f"token {token}")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refused:
        return refused.code, b""


def test_jupyterlab_listens_on_this_machine_only(lab):
    assert lab["hostname"] in ("localhost", "127.0.0.1", "::1")


@pytest.mark.parametrize("what", ["api/contents/01_mean.ipynb", "api/kernels", "api/terminals"])
def test_jupyterlab_answers_only_who_has_the_token(lab, what):
    assert len(lab["token"]) >= 32
    assert not lab["password"]
    assert ask(lab, what)[0] == 403
    assert ask(lab, what, token="x" * len(lab["token"]))[0] == 403
    assert ask(lab, what, lab["token"])[0] == 200


def test_no_notebook_of_the_course_is_trusted_unasked(lab):
    for path in NOTEBOOK_PATHS:
        status, answer = ask(lab, f"api/contents/{path.name}", lab["token"])
        cells = [c for c in json.loads(answer)["content"]["cells"] if c.get("outputs")]
        assert (status, bool(cells)) == (200, True)
        assert not all(cell["metadata"]["trusted"] for cell in cells)


def test_the_course_configures_its_extension_and_the_news_and_nothing_else():
    files = {path.name: json.loads(path.read_text("utf-8")) for path in PROJECT.glob(".jupyter/*")}
    assert files == {
        "server_extension.json": {"ServerApp": {"jpserver_extensions": {SERVER: True}}},
        "overrides.json": {NEWS: {"fetchNews": "false", "checkForUpdates": False}},
    }


def test_no_test_gets_to_the_network():
    for host in ("192.0.2.1", "example.org"):
        with pytest.raises(NetworkError, match=f"this asks for .*{host}"):
            socket.create_connection((host, 80), timeout=1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()


def test_no_notebook_gets_to_the_network():
    manager, client = nbval.kernel.start_new_kernel(
        kernel_name=nbval.kernel.CURRENT_ENV_KERNEL_NAME
    )
    try:
        code = "import urllib.request; urllib.request.urlopen('http://192.0.2.1', timeout=1)"
        reply = client.execute_interactive(code, timeout=60, output_hook=bool)
        assert reply["content"]["ename"] == "NetworkError"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
