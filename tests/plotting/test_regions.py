"""The plane in the colors of what a network says of each place."""

import io

import numpy as np
import pytest
import torch
from PIL import Image

from lnorm_utils.plotting import regions

POINTS = {"x": [[0.0, 0.0]], "classes": [0], "names": "ab", "most": 2, "columns": 2}


def test_a_place_has_the_color_of_the_class_that_is_likely_there():
    rises = torch.linspace(0, 1, 21).expand(21, 21)  # along feature 1
    picture = regions({"up": rises, "right": rises.T}, **POINTS)
    image = Image.open(io.BytesIO(picture.png())).convert("RGB")
    scale = image.height / picture.bbox.height
    up, right = picture.axes

    def color(ax, *point):
        across, from_below = scale * ax.transData.transform(point)
        return image.getpixel((round(across), image.height - round(from_below)))

    assert color(up, -1.8, -1.8) == color(up, 1.8, -1.8) == color(right, -1.8, 1.8)
    assert color(up, -1.8, 1.8) == color(up, 1.8, 1.8) == color(right, 1.8, -1.8)
    assert np.ptp([color(up, -1.8, 1.8), color(up, -1.8, -1.8)], axis=0).max() > 50


def test_shares_outside_0_and_1_are_named():
    with pytest.raises(ValueError, match="from 0 to 1, but those of 'one'"):
        regions({"one": [[0.5, 1.5]] * 2}, **POINTS)
