"""The pictures show the numbers that they were given, and say so in words."""

import base64
import io
import re
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
import torch
from matplotlib.figure import Figure
from PIL import Image
from test_curves import draw_curves

from lnorm_utils import layer_norm
from lnorm_utils.data import dummy_points, encoded_points, normal, two_rings
from lnorm_utils.plotting import (
    hist_encoding,
    hist_layer_normed,
    invariance_table,
    number_lines,
    points_before_after,
    points_by_class,
    regions,
    shared_cells,
    signed_cells,
)
from lnorm_utils.words import fixed

NAN, INF = float("nan"), float("inf")
NAMES = {"title": "T", "xlabel": "in", "ylabel": "out"}
RISES, RINGS = np.linspace(0, 1, 81).reshape(9, 9), ["inner ring", "outer ring"]
SHADES = {"x": [[0.0, 0.0]], "classes": [0], "names": "ab", "most": 2, "columns": 2}
TRAINED = dummy_points().requires_grad_()
KINDS = {
    hist_encoding: lambda: hist_encoding(3 * normal(5, 40, seed=3) + 1),
    hist_layer_normed: lambda: hist_layer_normed([*TRAINED], layer_norm(TRAINED, 256)),
    shared_cells: lambda: shared_cells(normal(2, 3, 2, 2, seed=0), (1, 2, 3)),
    signed_cells: lambda: signed_cells(normal(8, 8, seed=0), **NAMES),
    invariance_table: lambda: invariance_table({"a": {"sorted": True, "doubled": False}}, "Sums"),
    number_lines: lambda: number_lines(encoded_points()),
    points_before_after: lambda: points_before_after(normal(9, 3, seed=0), normal(9, 3, seed=1)),
    points_by_class: lambda: points_by_class(*two_rings(), RINGS),
    regions: lambda: regions({"a": RISES}, *two_rings(16), RINGS, most=2.5, columns=2),
    draw_curves: lambda: draw_curves({"a": [3, 4, 1], "b": [1, 1, 2]}, log="xy"),
}


@pytest.fixture(scope="module", params=KINDS.values(), ids=[kind.__name__ for kind in KINDS])
def kind(request):
    """One kind of picture: how to make it, the picture, and what a notebook shows of it."""
    picture, shown = request.param(), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("IPython.display.display", lambda data, raw=False: shown.append(data))
        picture._ipython_display_()
    return SimpleNamespace(make=request.param, picture=picture, shown=shown)


def stairs(ax):
    return next(p for p in ax.patches if hasattr(p, "get_data")).get_data()


def test_a_picture_is_a_figure_with_an_alternative_and_words_and_large_text(kind):
    assert isinstance(kind.picture, Figure)
    assert 0 < len(kind.picture.alt) < 120
    assert kind.picture.words.endswith(".")
    texts = kind.picture.findobj(matplotlib.text.Text)
    assert min(t.get_fontsize() for t in texts if t.get_text()) >= 10


def test_a_picture_shows_in_a_notebook_as_an_image_with_its_words_under_it(kind):
    image, words = kind.shown
    first, *panels = re.findall(r'<img alt="([^"]*)" src="data:image/', image["text/html"])
    assert first == kind.picture.alt
    assert {*panels} <= {""}
    assert image["text/plain"] == kind.picture.alt
    assert Image.open(io.BytesIO(base64.b64decode(image["image/png"]))).size[0] >= 250
    assert kind.picture.words in words.data


def test_a_picture_is_the_same_again_and_in_a_readers_own_style(kind):
    with matplotlib.rc_context({"font.size": 30, "savefig.dpi": 20, "axes.spines.top": True}):
        assert base64.b64encode(kind.make().png()).decode() == kind.shown[0]["image/png"]


# Histograms and number lines.


@pytest.mark.parametrize("count", [1, 5])
def test_each_point_has_a_panel_with_all_its_values_and_a_frame_of_the_axis_after(count):
    points = 40 * normal(count, 300, seed=3)
    after = layer_norm(points, 300)
    both = [ax for ax in hist_layer_normed(points, after).axes if ax.patches]
    above = [ax for ax in both if "point" in ax.get_title()]
    below = [ax for ax in both if ax not in above]
    alone = [ax for ax in hist_encoding(points).axes if ax.patches]
    for panels, rows in ((alone, points), (above, points), (below, after)):
        for n, (ax, row) in enumerate(zip(panels, rows.double().numpy(), strict=True)):
            values, edges, _ = stairs(ax)
            assert values.tolist() == np.histogram(row, edges)[0].tolist()
            assert ax.get_xlim() == panels[0].get_xlim()
            low, high = ax.get_xlim()
            assert low <= edges[0] < row.min() < row.max() < edges[-1] <= high
            assert ax.get_ylim()[1] > values.max()
            title = f"mean {fixed(row.mean())}\nvariance {fixed(row.var())}"
            assert ax.get_title() == (title if panels is below else f"point {n}\n{title}")
    for ax in above:
        frame, (_, edges, _) = ax.patches[-1].get_bbox(), stairs(below[0])
        assert (frame.x0, frame.x1) == (edges[0], edges[-1])


def test_a_variance_is_zero_only_if_rounding_alone_can_have_made_it():
    far = hist_encoding([[1000.0, 1001.4]])
    assert far.axes[0].get_title() == "point 0\nmean 1,000.70\nvariance 0.49"
    next_float = torch.nextafter(torch.tensor(1000.1), torch.tensor(2000.0)).item()
    rounded = hist_encoding(torch.tensor([[1000.1, next_float]]))
    assert rounded.axes[0].get_title() == "point 0\nmean 1,000.10\nvariance 0.00"
    small = hist_encoding(1e-3 * normal(1, 300, seed=0))
    assert small.axes[0].get_title().splitlines()[-1] != "variance 0.00"


# Tables.


def test_signed_cells_have_their_numbers_and_colors_by_sign_and_size():
    picture = signed_cells([[2.0, -2.0, 1e-9], [1.0, 0.0, NAN]], **NAMES)
    (ax,) = picture.axes
    assert " ".join(t.get_text() for t in ax.texts) == "2.00 −2.00 0.00 1.00 0.00 nan"
    strong, below, tiny, half, zero, _ = (np.array(cell.get_facecolor()[:3]) for cell in ax.patches)
    assert (zero == 1).all()
    np.testing.assert_allclose(tiny, 1, atol=1e-6)
    np.testing.assert_allclose(half, (strong + 1) / 2)
    assert abs(strong - below).max() > 0.3
    assert picture.words == "T. Out 0: 2.00, −2.00, 0.00; Out 1: 1.00, 0.00, nan."


@pytest.mark.parametrize(
    ("shape", "dim", "groups"),
    [
        ((4, 3), 0, 3),
        ((3, 2, 4), (1, 2), 3),
        ((3, 2, 4), (0, 1), 4),
        ((2, 3, 2, 2), (0, 2, 3), 3),
        ((30, 2), 1, 30),
    ],
)
def test_cells_have_the_same_mark_exactly_if_they_share_a_statistic(shape, dim, groups):
    x = normal(*shape, seed=1)
    figure = shared_cells(x, dim)
    texts = [t.get_text() for ax in figure.axes for t in ax.texts]
    marks = texts[1::2]
    statistic = x.mean(dim, keepdim=True)
    pairs = {*zip(marks, statistic.expand(shape).ravel().tolist(), strict=True)}
    assert len(pairs) == len(set(marks)) == groups
    assert texts[0::2] == [f"{v:.2f}".replace("-0.00", "0.00").replace("-", "−") for v in x.ravel()]
    assert f"{groups} groups of {x.numel() // groups}" in figure.words
    assert str(tuple(statistic.shape)) in figure.words


# Points before and after.


def test_each_verdict_stands_in_its_cell_and_in_the_words():
    rows = {
        "a sum": {"sorted": True, "doubled": False},
        "a size": {"sorted": True, "doubled": True},
    }
    picture = invariance_table(rows, "Sums")
    written = {t.get_text() for t in picture.axes[0].texts if t.get_position() != (1.5, 0.5)}
    assert written == {"same"}
    assert sorted(t.get_text() for t in picture.axes[0].texts) == ["changes", *["same"] * 3]
    assert picture.words.endswith("a size: the same for sorted, doubled.")


@pytest.mark.parametrize("features", [2, 3])
def test_points_with_two_or_three_features_are_drawn_where_they_are(features):
    before = normal(20, features, seed=0).double()
    after = layer_norm(before, features, eps=0.0)
    for ax, array in zip(points_before_after(before, after).axes, (before, after), strict=True):
        drawn = np.concatenate([line.get_xydata() for line in ax.lines])
        centered = array if features == 2 else array - array.mean(-1, keepdim=True)
        lengths = centered.norm(dim=-1).sort().values.numpy()
        assert np.sort(np.hypot(*drawn.T)) == pytest.approx(lengths)
        if features == 2:
            assert sorted(drawn.tolist()) == sorted(array.tolist())
            above = array.numpy()[before[:, 0] > before[:, 1]]
            assert ax.lines[0].get_xydata() == pytest.approx(above)


def test_two_features_are_counted_at_their_two_places_in_the_picture_and_in_words():
    points = torch.tensor([[2.0, 1.0], [5.0, 1.0], [0.0, 1.0], [1.0, 1.0]])
    picture = points_before_after(points, layer_norm(points, 2))
    assert "2 lie within 0.01 of (1, −1), 1 within 0.01 of (−1, 1)" in picture.words
    texts = {t.get_text(): t.xy for t in picture.axes[1].texts}
    assert texts == {"2 points here": (1, -1), "1 point here": (-1, 1)}


# Points by class.


def test_each_class_is_drawn_with_a_color_and_a_marker_of_its_own():
    x, ring = two_rings()
    picture = points_by_class(x, ring, ["inner", "outer"])
    inner, outer = picture.axes[0].lines
    for line, own in ((inner, x[ring == 0]), (outer, x[ring == 1])):
        assert line.get_xydata().tolist() == own.tolist()
    assert inner.get_color() != outer.get_color()
    assert inner.get_marker() != outer.get_marker()
    assert picture.words.startswith('64 points of class "inner", ')
    assert points_by_class([[1.0, 0.0]], [0], ["a", "b"]).words.endswith('0 points of class "b".')


def test_a_place_has_the_color_of_the_class_that_is_likely_there():
    rises = torch.linspace(0, 1, 21).expand(21, 21)  # along feature 1
    picture = regions({"up": rises, "right": rises.T}, **SHADES)
    image = Image.open(io.BytesIO(picture.png())).convert("RGB")
    scale = image.height / picture.bbox.height
    up, right = picture.axes

    def color(ax, *point):
        across, from_below = scale * ax.transData.transform(point)
        return image.getpixel((round(across), image.height - round(from_below)))

    assert color(up, -1.8, -1.8) == color(up, 1.8, -1.8) == color(right, -1.8, 1.8)
    assert color(up, -1.8, 1.8) == color(up, 1.8, 1.8) == color(right, 1.8, -1.8)
    assert np.ptp([color(up, -1.8, 1.8), color(up, -1.8, -1.8)], axis=0).max() > 50


# What cannot be drawn.


@pytest.mark.parametrize(
    ("draw", "error", "words"),
    [
        (lambda: hist_encoding(torch.ones(4)), ValueError, "(4,)"),
        (lambda: number_lines(torch.ones(4)), ValueError, "(4,)"),
        (lambda: hist_encoding([[1.0], [1.0, 2.0]]), TypeError, "equal length"),
        (lambda: hist_encoding("abc"), TypeError, "the str given"),
        (
            lambda: hist_layer_normed(normal(3, 4, seed=0), normal(2, 4, seed=0)),
            ValueError,
            "(2, 4)",
        ),
        (lambda: shared_cells(torch.ones(2, 3), None), TypeError, "dim must name axes"),
        (lambda: shared_cells(torch.ones(2, 3), 2), ValueError, "2 was given"),
        (lambda: shared_cells(torch.ones(1, 1, 1, 1, 1), 0), ValueError, "(1, 1, 1, 1, 1)"),
        (lambda: signed_cells(torch.ones(13, 2), **NAMES), ValueError, "(13, 2)"),
        (lambda: invariance_table({"a": {"x": True}, "b": {"y": True}}, "t"), ValueError, "'y'"),
        (lambda: points_before_after(torch.ones(3, 4), torch.ones(3, 4)), ValueError, "(3, 4)"),
        (lambda: points_by_class(torch.ones(3, 2), [0, 0], ["a"]), ValueError, "(2,)"),
        (lambda: points_by_class([[NAN, 1.0]], [0], ["a"]), ValueError, "finite values"),
        (lambda: points_before_after([[NAN, 1.0]], [[0.0, 1.0]]), ValueError, "1 number that"),
        (lambda: regions({"one": [[0.5, 1.5]] * 2}, **SHADES), ValueError, "'one'"),
        (lambda: draw_curves({"a": [1, 2, 3]}, [1.0, 2.0]), ValueError, "(3,)"),
        (lambda: draw_curves({"a": [0, 1]}, (1, 2), rounding=True), ValueError, "('y', 'xy')"),
        (lambda: draw_curves({str(n): [1, 2, 3] for n in range(5)}), ValueError, "5 lines"),
    ],
)
def test_what_cannot_be_drawn_is_named(draw, error, words):
    with pytest.raises(error, match=re.escape(words)):
        draw()


def test_what_is_not_finite_is_left_out_and_told():
    assert "no finite value" in hist_encoding([[NAN, INF]]).words
    words = number_lines([[NAN, 1.0, 3.0], [NAN, INF, NAN]]).words
    assert "point 0 has mean 2.00, standard deviation 1.00; point 1 has no finite value" in words
    nothing = draw_curves({"a": [-3.0, INF, 1.0]}, (-INF, 2.0, INF), log="xy")
    assert nothing.png()
    assert "cannot be drawn" in nothing.words
