"""A JupyterLab server extension that saves our widgets as images and sends changes without delay.

A picture with sliders needs its kernel; without it, the picture opens as an error box. So when a
notebook is saved, only the still image of each of our widgets is stored. The extension also sends
small messages without delay. Otherwise, the operating system would hold each message back until
the browser had acknowledged the previous one, which would delay a slider by 40 ms. Other widgets
are saved as usual, and other pre-save hooks still run.
"""

from collections.abc import Mapping
from typing import Any

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
CONNECTION = "kernel_websocket_connection_class"


def _keep_still_images(model: Mapping[str, Any], **_: object) -> None:
    """Drop the views of our own widgets from a notebook that is about to be saved."""
    if model["type"] != "notebook":
        return
    for cell in model["content"].get("cells", ()):
        for output in cell.get("outputs", ()):
            if "lnorm_utils" in output.get("metadata", ()):
                output["data"].pop(WIDGET_VIEW, None)


def _at_once(connection: type) -> type:
    """Extend a kernel connection class so that small messages aren't held back."""

    class AtOnce(connection):
        def connect(self) -> object:
            self.websocket_handler.set_nodelay(True)
            return super().connect()

    return AtOnce


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "lnorm_course.lab.server_extension"}]


def _load_jupyter_server_extension(server: Any) -> None:
    server.contents_manager.register_pre_save_hook(_keep_still_images)
    settings = server.web_app.settings
    settings[CONNECTION] = _at_once(settings[CONNECTION])
