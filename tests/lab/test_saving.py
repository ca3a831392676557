"""What the course changes in JupyterLab: saving its own widgets, sending their changes, no news."""

import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import nbformat
import pytest
from jupyter_server.services.contents.largefilemanager import LargeFileManager
from jupyterlab_server.settings_utils import get_settings
from nbformat.v4 import new_code_cell, new_notebook, new_output

from lnorm_course.explorers import explore_offset
from lnorm_course.lab import server_extension
from lnorm_course.lab.server_extension import CONNECTION, WIDGET_VIEW


class Connection:
    """A connection to a kernel, as somebody else's extension may have set it."""

    def connect(self):
        return "connected"


@pytest.fixture
def server(tmp_path):
    """The parts of JupyterLab's server that the extension touches, with somebody else's hook."""
    manager = LargeFileManager(root_dir=str(tmp_path))
    manager.register_pre_save_hook(lambda model, **_: model["content"].metadata.update(other=1))
    server = SimpleNamespace(
        contents_manager=manager, web_app=SimpleNamespace(settings={CONNECTION: Connection})
    )
    server_extension._load_jupyter_server_extension(server)
    return server


def saved(server, data, metadata):
    output = new_output("display_data", data, metadata=metadata)
    notebook = new_notebook(cells=[new_code_cell("1", outputs=[output])])
    manager = server.contents_manager
    manager.save({"type": "notebook", "content": notebook, "format": "json"}, "a.ipynb")
    (cell,) = manager.get("a.ipynb")["content"].cells
    assert not cell.metadata.trusted
    found = nbformat.read(Path(manager.root_dir) / "a.ipynb", as_version=4)
    assert found.metadata.other == 1, "the other hook did not run"
    return found.cells[0].outputs[0].data


def test_an_explorer_is_saved_as_its_still_image(server):
    explorer = explore_offset()
    data, metadata = explorer._repr_mimebundle_()
    explorer.close()
    assert WIDGET_VIEW in data
    assert set(saved(server, data, metadata)) == {"text/html", "image/png", "text/plain"}


def test_somebody_elses_widget_is_saved_as_it_is_even_if_it_has_an_image(server):
    data = {WIDGET_VIEW: {"model_id": "1"}, "image/png": "aaaa", "text/plain": "a canvas"}
    assert saved(server, data, {}) == data


def test_what_a_slider_changes_is_sent_at_once(server):
    connection = server.web_app.settings[CONNECTION]()
    connection.websocket_handler = Mock()
    assert connection.connect() == "connected"
    connection.websocket_handler.set_nodelay.assert_called_once_with(True)


def test_there_is_no_news_and_no_search_for_updates():
    lab = Path(sys.prefix, "share", "jupyter", "lab")
    settings, _ = get_settings(
        str(lab / "settings"),
        str(lab / "schemas"),
        str(lab / "nothing"),
        schema_name="@jupyterlab/apputils-extension:notification",
    )
    assert settings["schema"]["properties"]["fetchNews"]["default"] == "false"
    assert settings["schema"]["properties"]["checkForUpdates"]["default"] is False
