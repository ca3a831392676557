"""Nothing here uses the network, and of JupyterLab the course sets only what it has to."""

import json
import socket

import nbval.kernel
import pytest
from offline import NetworkError
from project import PROJECT

SERVER = "lnorm_course.lab.server_extension"
NEWS = "@jupyterlab/apputils-extension:notification"


def test_the_course_configures_its_extension_and_the_news_and_nothing_else():
    files = {path.name: json.loads(path.read_text("utf-8")) for path in PROJECT.glob(".jupyter/*")}
    assert files == {
        "server_extension.json": {"ServerApp": {"jpserver_extensions": {SERVER: True}}},
        "overrides.json": {NEWS: {"fetchNews": "false", "checkForUpdates": False}},
    }


def test_no_test_gets_to_the_network():
    for host in ("192.0.2.1", "example.org"):
        with pytest.raises(NetworkError, match=f".*{host}.* was requested"):
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
