"""What the project sets in JupyterLab: how a picture is saved, and when a change of it is sent."""

import sys
from pathlib import Path

import nbformat
import pytest
from freeze import WIDGET_VIEW
from jupyter_server.services.contents.largefilemanager import LargeFileManager
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from jupyter_server.services.kernels.websocket import KernelWebsocketHandler
from nbformat.v4 import new_code_cell, new_notebook, new_output
from traitlets.config import PyFileConfigLoader

pytestmark = pytest.mark.filterwarnings("ignore:Overriding existing pre_save_hook")
PROJECT = Path(__file__).parent.parent


def config_of_project():
    return PyFileConfigLoader("jupyter_server_config.py", str(PROJECT / ".jupyter")).load_config()


@pytest.fixture
def manager(tmp_path):
    """The part of JupyterLab's server that saves, as the project configures it."""
    config = config_of_project()
    return LargeFileManager(config=config, root_dir=str(tmp_path))


def saved(manager, data):
    output = new_output("display_data", data)
    notebook = new_notebook(cells=[new_code_cell("1", outputs=[output])])
    manager.save({"type": "notebook", "content": notebook, "format": "json"}, "a.ipynb")
    return nbformat.read(Path(manager.root_dir) / "a.ipynb", as_version=4).cells[0].outputs[0].data


def test_a_widget_that_has_an_image_is_saved_as_that_image(manager):
    data = {WIDGET_VIEW: {"model_id": "1"}, "image/png": "aaaa", "text/html": "<img>"}
    assert saved(manager, data) == {"image/png": "aaaa", "text/html": "<img>"}


def test_any_other_widget_is_saved_as_it_is(manager):
    data = {WIDGET_VIEW: {"model_id": "1"}, "text/plain": "a slider"}
    assert saved(manager, data) == data


def test_a_file_that_is_no_notebook_is_saved_as_it_is(manager):
    manager.save({"type": "file", "content": WIDGET_VIEW, "format": "text"}, "a.txt")
    assert (Path(manager.root_dir) / "a.txt").read_text() == WIDGET_VIEW


def test_the_configuration_is_installed_with_the_package():
    installed = Path(sys.prefix) / "etc" / "jupyter" / "jupyter_server_config.py"
    assert installed.read_text() == (PROJECT / ".jupyter" / "jupyter_server_config.py").read_text()


def test_what_a_slider_changes_is_sent_at_once(monkeypatch):
    done = []
    monkeypatch.setattr(ZMQChannelsWebsocketConnection, "connect", lambda self: done.append("on"))
    handler = KernelWebsocketHandler.__new__(KernelWebsocketHandler)
    handler.set_nodelay = done.append
    connection = config_of_project().ServerApp.kernel_websocket_connection_class
    connection = connection.__new__(connection)
    connection.websocket_handler = handler
    connection.connect()
    assert done == [True, "on"]
