"""The pictures show the numbers that they were given, and say so in words."""

import base64
import io

import matplotlib
import numpy as np
import pytest
import torch
from looks import PICTURES
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from PIL import Image

from lnorm_utils import layer_norm
from lnorm_utils.examples import dummy_points, encoded_points, normal
from lnorm_utils.plotting import (
    curves,
    hist_encoding,
    hist_layer_normed,
    number_lines,
    points_before_after,
    shared_cells,
)
from lnorm_utils.plotting.picture import limits, new_picture, number, to_array

EACH = [pytest.param(make, id=name) for name, (make, *_) in PICTURES.items()]


@pytest.fixture(params=EACH)
def make(request):
    return request.param


@pytest.fixture
def picture(make):
    return make()


def stairs(ax):
    return next(p for p in ax.patches if hasattr(p, "get_data")).get_data()


def titles(figure):
    return [ax.get_title() for ax in figure.axes if ax.get_title()]


def test_a_picture_is_a_figure_with_an_alternative_and_words(picture):
    assert isinstance(picture, Figure)
    assert 10 < len(picture.alt) < 120 or picture.alt == "Title"
    assert picture.words.endswith(".")
    assert "nan" not in picture.words


def test_a_picture_shows_in_a_notebook_as_an_image_with_its_words_under_it(picture, monkeypatch):
    shown = []
    monkeypatch.setattr(
        "IPython.display.display", lambda data, raw=False: shown.append((data, raw))
    )
    picture._ipython_display_()
    (image, image_is_raw), (words, _) = shown
    assert image_is_raw
    assert image["text/html"].startswith(f'<img alt="{picture.alt}" src="data:image/png;base64,')
    assert image["image/png"] in image["text/html"]
    assert image["text/plain"] == picture.alt
    png = base64.b64decode(image["image/png"])
    assert Image.open(io.BytesIO(png)).size[0] >= 250
    assert words.data == f"**In words.** {picture.words}"


def test_all_text_is_at_least_ten_points(picture):
    picture.png()
    sizes = [t.get_fontsize() for t in picture.findobj(matplotlib.text.Text) if t.get_text()]
    assert min(sizes) >= 10


def test_a_picture_does_not_depend_on_the_readers_own_style(make):
    expected = make().png()
    with matplotlib.rc_context({"font.size": 30, "savefig.dpi": 20, "axes.spines.top": True}):
        assert make().png() == expected


def test_a_picture_is_the_same_bytes_when_it_is_drawn_again(picture):
    assert picture.png() == picture.png()


def test_no_picture_is_registered_with_pyplot(picture):
    import matplotlib.pyplot as plt

    assert plt.get_fignums() == []


def test_each_panel_has_its_own_points_mean_and_variance():
    points = dummy_points()[:, 0].double().numpy()
    expected = [
        f"point {n}\nmean {p.mean():.2f}\nvariance {p.var():.2f}" for n, p in enumerate(points)
    ]
    assert titles(hist_encoding(dummy_points())) == [e.replace("-", "−") for e in expected]


@pytest.mark.parametrize("count", [1, 2, 4, 5, 9])
def test_there_is_a_panel_for_each_point_and_all_values_are_counted(count):
    points = 40 * normal(count, 300, seed=3)
    figure = hist_encoding(points)
    panels = [ax for ax in figure.axes if ax.patches]
    assert len(panels) == count
    for ax, point in zip(panels, points.numpy(), strict=True):
        values, edges, _ = stairs(ax)
        assert values.sum() == 300
        assert values.tolist() == np.histogram(point, edges)[0].tolist()
        assert ax.get_xlim()[0] <= edges[0] < points.min()
        assert ax.get_xlim()[1] >= edges[-1] > points.max()
        assert ax.get_ylim()[1] > values.max()


def test_sequences_have_a_panel_for_each_point_and_position():
    names = [title.splitlines()[0] for title in titles(hist_encoding(encoded_points()))]
    assert names[:3] == ["point 0, position 0", "point 0, position 1", "point 1, position 0"]
    assert len(names) == 6


def test_before_and_after_stand_above_each_other_with_the_band_between():
    before = dummy_points()
    after = layer_norm(before, 256)
    figure = hist_layer_normed(before, after)
    above, below = figure.axes[:4], figure.axes[4:]
    for n in range(4):
        values, edges, _ = stairs(below[n])
        assert values.tolist() == np.histogram(after[n, 0].numpy(), edges)[0].tolist()
        assert below[n].get_title() == "mean 0.00\nvariance 1.00"
        assert above[n].get_title().startswith(f"point {n}\n")
        band = above[n].patches[-1].get_bbox()
        assert (band.x0, band.x1) == (edges[0], edges[-1])
    assert len({ax.get_xlim() for ax in above}) == len({ax.get_xlim() for ax in below}) == 1


@pytest.mark.parametrize(
    "values",
    [
        torch.full((2, 5), 3.0),
        torch.zeros(1, 1),
        torch.tensor([[1.0, float("nan"), float("inf")], [1.0, 2.0, 3.0]]),
        torch.full((1, 3), float("nan")),
        torch.arange(12).reshape(3, 4),
        normal(2, 3, seed=0).requires_grad_(),
        normal(2, 3, seed=0).bfloat16(),
        [[1, 2], [3, 4]],
        1e30 * normal(2, 8, seed=0),
    ],
    ids=["constant", "one", "nan inf", "all nan", "int", "grad", "bfloat16", "list", "huge"],
)
@pytest.mark.parametrize("draw", [hist_encoding, lambda x: hist_layer_normed(x, x)])
def test_any_array_makes_a_histogram_of_its_finite_values(draw, values):
    figure = draw(values)
    figure.png()
    array = torch.as_tensor(values).detach().double()
    counted = sum(stairs(ax)[0].sum() for ax in figure.axes if ax.patches)
    rows = len(figure.axes) // min(len(array), 4)
    assert counted == array.isfinite().sum() * rows
    assert all("nan" not in title and "inf" not in title for title in titles(figure))


@pytest.mark.parametrize("shape", [(4,), (1, 2, 3, 4), (0, 4), (3, 0), ()])
@pytest.mark.parametrize("draw", [hist_encoding, number_lines])
def test_an_array_that_holds_no_points_is_named(draw, shape):
    with pytest.raises(ValueError, match=r"\(N, D\)") as error:
        draw(torch.ones(shape))
    assert str(error.value) == (
        "A picture of points needs an array of shape (N, D) or (N, L, D) with at least one "
        f"element, but got shape {shape}."
    )


def test_small_numbers_keep_their_digits_and_rounding_has_none():
    narrow = hist_encoding(1e-3 * normal(2, 300, seed=0))
    assert "variance 0.00" not in narrow.words
    assert "variance 1" in narrow.words
    assert "e−06" in narrow.words
    zero_mean = hist_encoding([[1.0, -1.0 + 1e-9]])
    assert zero_mean.axes[0].get_title() == "point 0\nmean 0.00\nvariance 1.00"


def test_a_variance_is_zero_only_if_rounding_alone_can_have_made_it():
    far = hist_encoding([[1000.0, 1001.4]])
    assert far.axes[0].get_title() == "point 0\nmean 1000.70\nvariance 0.49"
    next_float = torch.nextafter(torch.tensor(1000.1), torch.tensor(2000.0)).item()
    rounded = hist_encoding(torch.tensor([[1000.1, next_float]]))
    assert rounded.axes[0].get_title() == "point 0\nmean 1000.10\nvariance 0.00"


@pytest.mark.parametrize(("features", "bins"), [(9, 8), (100, 20), (1000, 40)])
def test_more_features_make_narrower_bins_up_to_a_limit(features, bins):
    values, edges, _ = stairs(hist_encoding(normal(1, features, seed=0)).axes[0])
    assert (len(values), len(edges)) == (bins, bins + 1)


def test_a_point_alone_has_its_own_name_in_the_words():
    words = hist_encoding([[1.0, 3.0]]).words
    assert words == (
        "Histograms, 1 in all: point 0 has mean 2.00, variance 1.00. "
        "All values lie between 1.00 and 3.00."
    )


def test_a_new_picture_has_no_words_yet_and_numbers_become_float64():
    assert new_picture("Nothing", 1, 1, 2, 2)[0].words == ""
    for numbers in ([1, 2], np.array([1, 2]), torch.tensor([1, 2]), torch.ones(2).half()):
        assert to_array(numbers).dtype == np.float64


@pytest.mark.parametrize(
    ("values", "what"), [([[1.0], [1.0, 2.0]], "list"), ("abc", "str"), (1j, "complex")]
)
def test_what_holds_no_numbers_is_named(values, what):
    with pytest.raises(TypeError, match=r"\.$") as error:
        to_array(values)
    assert str(error.value) == (
        "A picture needs an array of real numbers with rows of equal length, but cannot make one "
        f"of what was given, a {what}."
    )


def test_a_number_whose_square_may_overflow_is_refused_and_infinity_is_not():
    inf = float("inf")
    assert to_array([inf, -inf, 1e100, -1e100]).tolist() == [inf, -inf, 1e100, -1e100]
    with pytest.raises(
        ValueError, match=r"^A picture shows numbers up to 1e\+100, but got 2e\+100\.$"
    ):
        to_array([inf, -2e100])


@pytest.mark.parametrize(
    ("value", "text"),
    [(1e5, "1e+05"), (99_999.0, "99999.00"), (0.01, "0.01"), (0.009, "0.009"), (-2.0, "−2.00")],
)
def test_numbers_have_two_decimals_where_these_say_something(value, text):
    assert number(value) == text


def test_limits_leave_room_also_where_all_values_are_one():
    assert limits(np.array([2.0, 4.0]), 0.1) == pytest.approx((1.8, 4.2))
    assert limits(np.array([5.0, 5.0])) == pytest.approx((4.75, 5.25))
    assert limits(np.zeros(2)) == pytest.approx((-0.05, 0.05))
    assert limits(np.array([np.nan])) == pytest.approx((-0.05, 1.05))


def test_points_that_were_transposed_are_not_compared():
    with pytest.raises(ValueError, match=r"\(3, 2, 4\).*\(2, 3, 4\)"):
        hist_layer_normed(torch.ones(3, 2, 4), torch.ones(2, 3, 4))


def test_what_is_not_finite_is_left_out_and_told():
    nan, inf = float("nan"), float("inf")
    assert hist_encoding([[nan, inf]]).words == (
        "Histograms, 1 in all: point 0 has no finite value. There is no finite value."
    )
    words = number_lines([[nan, 1.0, 3.0], [nan, inf, nan]]).words
    assert "point 0 has mean 2.00, standard deviation 1.00; point 1 has no finite value" in words
    before, after = [[2.0, 1.0], [nan, 1.0], [0.0, 1.0]], [[1.0, -1.0], [0.0, 1.0], [inf, 1.0]]
    words = points_before_after(before, after).words
    assert "2 that are not finite are left out. Before: 1 have" in words
    nothing = points_before_after([[nan] * 3], [[nan] * 3])
    nothing.png()
    assert nothing.words.endswith("there is nothing to see.")


def test_two_shapes_that_differ_are_both_named():
    with pytest.raises(ValueError, match=r"\(3, 4\).*\(3, 5\)"):
        hist_layer_normed(torch.ones(3, 4), torch.ones(3, 5))


@pytest.mark.parametrize(
    ("shape", "dim", "groups"),
    [
        ((4, 3), -1, 4),
        ((4, 3), 0, 3),
        ((3, 2, 4), -1, 6),
        ((3, 2, 4), (1, 2), 3),
        ((3, 2, 4), (0, 1), 4),
        ((2, 3, 2, 2), (1, 2, 3), 2),
        ((2, 3, 2, 2), 1, 8),
        ((2, 3, 2, 2), (0, 2, 3), 3),
        ((9, 4), (-1,), 9),
        ((30, 2), 1, 30),
    ],
)
def test_cells_have_one_letter_exactly_if_they_share_a_statistic(shape, dim, groups):
    x = normal(*shape, seed=1)
    figure = shared_cells(x, dim)
    texts = [t.get_text() for ax in figure.axes for t in ax.texts]
    letters = np.array(texts[1::2]).reshape(shape)
    statistic = x.mean(dim, keepdim=True).expand(shape).numpy()
    pairs = {*zip(letters.ravel().tolist(), statistic.ravel().tolist(), strict=True)}
    assert len(pairs) == len(set(letters.ravel())) == groups
    assert texts[0::2] == [f"{v:.2f}".replace("-0.00", "0.00").replace("-", "−") for v in x.ravel()]
    assert (
        f"in {groups} groups of {x.numel() // groups}. Each group shares one mean" in figure.words
    )
    assert f"have shape {tuple(x.mean(dim, keepdim=True).shape)}" in figure.words
    assert "one γ;" in shared_cells(x, dim, what="γ").words


def test_cells_of_neighboring_groups_differ_in_color_too():
    figure = shared_cells(normal(3, 2, 4, seed=0), -1)
    colors = [to_hex(p.get_facecolor()) for ax in figure.axes for p in ax.patches]
    assert len(set(colors)) == 6
    assert len(set(colors[:4])) == 1


def test_the_words_of_a_table_name_the_cells_of_each_group():
    words = shared_cells([[1.0, 2.0], [3.0, 4.0]], dim=0).words
    assert words.endswith("Group A is `x[:, 0]`; B is `x[:, 1]`.")


@pytest.mark.parametrize(("counted", "same"), [(-1, 2), (-3, 0), ((-3, 1), (0, 1))])
def test_an_axis_counted_from_the_end_is_the_same_axis(counted, same):
    x = normal(3, 2, 4, seed=0)
    assert shared_cells(x, counted).words == shared_cells(x, same).words


def test_only_the_axes_that_are_averaged_over_are_called_whole():
    assert "Group A is `x[0, 0, :]`" in shared_cells(torch.ones(1, 3, 2), -1).words


@pytest.mark.parametrize("dim", [0.5, None, "0", (0, "1")])
def test_an_axis_of_a_table_is_an_integer(dim):
    with pytest.raises(TypeError, match="dim must be an integer"):
        shared_cells(torch.ones(2, 3), dim)


@pytest.mark.parametrize(
    ("shape", "dim", "axes", "named"),
    [
        ((4,), 0, None, "(4,)"),
        ((1, 1, 1, 1, 1), 0, None, "(1, 1, 1, 1, 1)"),
        ((0, 3), 0, None, "(0, 3)"),
        ((2, 3), 0, "NLD", "'NLD'"),
        ((2, 3), 2, None, "2 was given"),
        ((2, 3), (0, -2), None, "each once"),
        ((2, 3), (), None, "()"),
    ],
)
def test_a_tensor_or_axis_that_makes_no_table_is_named(shape, dim, axes, named):
    with pytest.raises(ValueError, match=r"shared_cells|dim") as error:
        shared_cells(torch.ones(shape), dim, axes)
    assert named in str(error.value)


def test_number_lines_show_every_feature_the_means_and_the_deviations():
    points = encoded_points()
    (ax,) = number_lines(points).axes
    features, means = (line.get_xdata() for line in ax.lines)
    assert features.tolist() == points.double().ravel().tolist()
    assert means == pytest.approx(points.double().mean(-1).ravel().numpy())
    bars = np.array(ax.collections[0].get_segments())[:, :, 0]
    deviation = points.double().std(-1, correction=0).ravel().numpy()
    assert (bars[:, 1] - bars[:, 0]) / 2 == pytest.approx(deviation)
    low, high = ax.get_xlim()
    assert low < points.min() < points.max() < high


def test_points_with_two_features_are_drawn_as_they_are():
    before, after = normal(20, 2, seed=0), layer_norm(normal(20, 2, seed=0), 2)
    for ax, array in zip(points_before_after(before, after).axes, (before, after), strict=True):
        drawn = np.concatenate([line.get_xydata() for line in ax.lines])
        above = array.double().numpy()[before[:, 0] > before[:, 1]]
        assert ax.lines[0].get_xydata() == pytest.approx(above)
        assert sorted(drawn.tolist()) == sorted(array.double().tolist())
        assert drawn.min() > ax.get_xlim()[0]
        assert drawn.max() < ax.get_ylim()[1]


def test_points_with_three_features_lie_on_a_circle_after():
    points = normal(50, 3, seed=0)
    _, ax = points_before_after(points, layer_norm(points.double(), 3, eps=0.0)).axes
    drawn = np.concatenate([line.get_xydata() for line in ax.lines])
    assert np.hypot(*drawn.T) == pytest.approx(np.full(50, 3**0.5))


def test_two_features_are_counted_at_their_two_places_in_the_picture_and_in_words():
    points = torch.tensor([[2.0, 1.0], [5.0, 1.0], [0.0, 1.0], [1.0, 1.0]])
    picture = points_before_after(points, layer_norm(points, 2))
    assert "Before: 2 have a first feature above the second" in picture.words
    assert (
        "2 lie within 0.01 of (1, −1), 1 within 0.01 of (−1, 1), and 1 elsewhere" in picture.words
    )
    texts = {t.get_text(): t.xy for t in picture.axes[1].texts}
    assert texts == {"2 points here": (1, -1), "1 points here": (-1, 1)}


def test_the_words_say_circle_only_if_it_is_one():
    points = normal(50, 3, seed=0)
    on_circle = points_before_after(points, layer_norm(points.double(), 3, eps=0.0))
    assert on_circle.words.endswith("all lie on a circle of radius 1.73.")
    assert "they lie between" in points_before_after(points, points).words


def test_dots_that_are_not_joined_are_told_by_their_range():
    picture = draw_curves({"a": [3, 1, 2], "b": [5, 5, 5]}, joined=False)
    assert 'The dots "a" lie between 1 and 3. The dots "b" are all at 5.' in picture.words
    assert {line.get_linestyle() for line in picture.axes[0].lines} == {"None"}
    lost = draw_curves({"a": [float("nan")] * 3}, joined=False)
    assert 'The dots "a" cannot be drawn.' in lost.words


@pytest.mark.parametrize("shapes", [((3, 4), (3, 4)), ((3, 2), (4, 2)), ((0, 2), (0, 2))])
def test_points_that_cannot_be_drawn_are_named(shapes):
    with pytest.raises(ValueError, match="points_before_after") as error:
        points_before_after(*(torch.ones(s) for s in shapes))
    assert all(str(s) in str(error.value) for s in shapes)


def draw_curves(lines, x=(1.0, 10.0, 100.0), **options):
    return curves(x, lines, title="Title", xlabel="n", ylabel="y", **options)


def test_curves_draw_their_data_apart_by_dash_and_marker():
    (ax,) = draw_curves({"a": [1, 2, 3], "b": [3, 2, 1]}, log="xy", levels={"half": 0.5}).axes
    first, second, level = ax.lines
    assert first.get_ydata().tolist() == [1, 2, 3]
    assert first.get_linestyle() != second.get_linestyle()
    assert first.get_marker() != second.get_marker()
    assert level.get_ydata() == [0.5, 0.5]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert [t.get_text() for t in ax.texts] == ["half = 0.5"]


@pytest.mark.parametrize(
    ("values", "log", "words"),
    [
        ([1, 2, 3], "", "goes from 1 at n = 1 to 3 at n = 100."),
        ([1, 9, 3], "", "to 3 at n = 100, and between 1 and 9 on the way."),
        ([1, 1e-9, -5], "", "to −5 at n = 100."),
        ([5, 1, 1e-9], "", "to 0 at n = 100."),
        ([1000, 1, -0.5], "", "to −0.5 at n = 100."),
        ([1, 2, 999.5], "", "to 1,000 at n = 100."),
        ([1e-6, 2e-6, 3e-6], "", "goes from 1e−06 at n = 1 to 3e−06 at n = 100."),
        ([float("nan"), 2, 3], "", "goes from 2 at n = 10 to 3"),
        ([float("nan")] * 3, "", "cannot be drawn."),
        ([-1, 0, -2], "y", "cannot be drawn."),
        ([1e-7, 2e-3, 90], "y", "goes from about 1e−7 at n = 1 to about 1e+2 at n = 100."),
    ],
)
def test_the_words_of_a_curve_give_its_course(values, log, words):
    assert words in draw_curves({"a": values}, log=log).words


def test_a_place_that_a_logarithmic_axis_does_not_have_is_not_told():
    words = draw_curves({"a": [1, 2, 3]}, (0.0, 10.0, 100.0), log="x").words
    assert "goes from 2 at n = 10 to 3 at n = 100." in words
    assert (
        'The dots "a" are all at about 1e+0.'
        in draw_curves({"a": [1, -2, float("nan")]}, log="y", joined=False).words
    )


@pytest.mark.parametrize("lost", [float("nan"), float("inf"), float("-inf"), 0.0, -3.0])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_place_that_a_logarithmic_axis_does_not_have_makes_no_tick_and_no_limit(lost, at):
    x, y = np.array([1.0, 10.0, 100.0]), [2.0, 5.0, 3.0]
    x[at] = lost
    picture = curves(x, {"a": y}, title="Title", xlabel="n", ylabel="y", log="xy")
    picture.png()
    (ax,) = picture.axes
    assert ax.get_xticks().tolist() == np.delete(x, at).tolist()
    low, high = ax.get_xlim()
    assert 0.5 < low < high < 200


def test_where_no_point_can_be_drawn_on_logarithmic_axes_there_is_a_picture_all_the_same():
    inf = float("inf")
    picture = draw_curves({"a": [-3.0, inf, 1.0]}, (-inf, 2.0, inf), log="xy")
    picture.png()
    assert 'The line "a" cannot be drawn.' in picture.words


def test_an_axis_that_does_not_exist_is_not_made_logarithmic():
    with pytest.raises(ValueError, match="'Y' was given"):
        draw_curves({"a": [1, 2, 3]}, log="Y")


def test_the_words_name_each_level():
    words = draw_curves({"a": [1, 2, 3]}, levels={"π/4": np.pi / 4}).words
    assert words.startswith("Title. ")
    assert words.endswith('A thin line marks "π/4" at 0.785.')


@pytest.mark.parametrize(
    ("x", "lines", "named"),
    [
        ([1.0, 2.0], {"a": [1, 2, 3]}, "(3,)"),
        ([], {"a": []}, "(0,)"),
        ([1.0], {}, "0 lines"),
        ([1.0], {str(i): [1] for i in range(5)}, "5 lines"),
        ([[1.0]], {"a": [1]}, "(1, 1)"),
    ],
)
def test_curves_that_cannot_be_drawn_are_named(x, lines, named):
    with pytest.raises(ValueError, match=r"curves needs|The line") as error:
        draw_curves(lines, x)
    assert named in str(error.value)
