"""Check what a widget leaves behind where widgets don't run."""


def assert_is_still(widget):
    """Fail unless a widget comes with an image of itself and with its words."""
    bundle, metadata = widget._repr_mimebundle_()
    assert bundle["image/png"].startswith("iVBOR")
    assert bundle["text/plain"] == f"{widget.alt}. {widget.words}"
    assert metadata == {"lnorm_utils": {"has_still_image": True}}
