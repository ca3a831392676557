# Installed with the package, and read by the JupyterLab of the same environment.
"""Save a picture with sliders as a still image, for without its kernel it opens as an error box."""

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def keep_still_images(model, **_):
    """Drop the widget view of each output that has an image to show in its place."""
    if model["type"] != "notebook":
        return
    for cell in model["content"]["cells"]:
        for output in cell.get("outputs", ()):
            if "image/png" in output.get("data", ()):
                output["data"].pop(WIDGET_VIEW, None)


c = get_config()  # noqa: F821, JupyterLab puts it here
c.FileContentsManager.pre_save_hook = keep_still_images
