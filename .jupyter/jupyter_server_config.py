# Installed with the package, and read by the JupyterLab of the same environment.
"""Save a picture with sliders as a still image, for without its kernel it opens as an error box.

And send what a slider changes at once: the system would keep a small message until the browser has
confirmed the one before, which takes 40 ms.
"""

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def keep_still_images(model, **_):
    """Drop the widget view of each output that has an image to show in its place."""
    if model["type"] != "notebook":
        return
    for cell in model["content"]["cells"]:
        for output in cell.get("outputs", ()):
            if "image/png" in output.get("data", ()):
                output["data"].pop(WIDGET_VIEW, None)


class AtOnce(ZMQChannelsWebsocketConnection):
    """A connection to a kernel that does not collect small messages."""

    def connect(self):
        self.websocket_handler.set_nodelay(True)
        return super().connect()


c = get_config()  # noqa: F821, JupyterLab puts it here
c.FileContentsManager.pre_save_hook = keep_still_images
c.ServerApp.kernel_websocket_connection_class = AtOnce
