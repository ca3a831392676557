"""What explorers are made of: stops, markers, and texts that are measured."""

import io
import re

import numpy as np
import pytest
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.font_manager import FontProperties

from lnorm_course.explorers.engine import Slider
from lnorm_course.explorers.engine.drawing import FewElements, drawn, svg
from lnorm_utils.plotting import new_picture


def test_stops_that_round_to_the_same_text_get_more_digits():
    assert Slider("n", 1, [0.123451, 0.123452, 1.0]).texts() == ["0.123451", "0.123452", "1"]
    assert Slider("n", 1, range(5)).nearest("n", np.int64(3)) == 3


def test_places_are_written_with_two_decimals_and_numbers_in_texts_with_all():
    picture, axes = new_picture("A line", 1, 1, 4, 3)
    axes[0, 0].plot([1 / 3, 2 / 3])
    axes[0, 0].set_title("variance 0.0067 < 0.12345")
    drawing = svg(picture, [picture], "few")
    assert "variance 0.0067 &lt; 0.12345" in drawing
    assert not re.search(r"\.\d{3}", "".join(re.findall(r"<[^>]+>", drawing)))


def test_all_markers_of_a_line_are_drawn_at_their_places():
    picture, axes = new_picture("Three dots", 1, 1, 4, 3)
    picture.set_dpi(72)
    (line,) = axes[0, 0].plot([1.0, 2.0, np.nan, 4.0], [1.0, 3.0, 1.0, 2.0], "o")
    picture.draw_without_rendering()  # which finds the limits of the axes
    drawing = drawn(picture, [line], "few")
    path = re.search(r'<g style="marker: url\(#[^)]+\)">\s*<path d="([^"]+)"', drawing)
    places = np.array(re.findall(r"[ML] ([\d.]+) ([\d.]+)", path[1]), dtype=float)
    height = picture.get_figheight() * 72
    expected = axes[0, 0].transData.transform([(1, 1), (2, 3), (4, 2)]) * (1, -1) + (0, height)
    assert places == pytest.approx(expected, abs=0.051)  # a place has one decimal


@pytest.mark.parametrize(("text", "is_math"), [("$x^2$", True), ("$x^2$", False), ("one", False)])
def test_a_text_is_measured_as_matplotlib_does(text, is_math):
    ours, theirs = (
        renderer(100, 100, io.StringIO(), *name).get_text_width_height_descent(
            text, FontProperties(size=12), is_math
        )
        for renderer, *name in ((FewElements, "few"), (RendererSVG,))
    )
    assert ours == theirs
