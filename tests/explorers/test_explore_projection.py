"""The explorer of lesson 7 shows what least squares recovers behind nn.Linear and layer norm."""

import itertools
import math
import re

import matplotlib
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from explorer_fixtures import made_by_tests
from torch import nn

from lnorm_utils.examples import normal
from lnorm_utils.explorers.projection import _apart, explore_projection

SIZES = [2, 3, 4, 6, 8, 16, 32, 64]
PRESETS = [
    ("two features, no bias", (2, False, 1.0)),
    ("six features as in the lesson", (6, True, 1.0)),
    ("six features, no bias", (6, False, 1.0)),
    ("sixty-four, no bias: π/4", (64, False, 1.0)),
    ("large bias", (6, True, 10.0)),
    ("two features, large bias", (2, True, 10.0)),
]


explore = made_by_tests(explore_projection)


def default_points():
    return normal(400, 2, seed=399).double().numpy()


def shuffled(points):
    """Put points in the order in which the explorer halves them."""
    return points[torch.randperm(len(points), generator=torch.Generator().manual_seed(7))].numpy()


def pytorch_weights(size):
    """Return weight and bias as PyTorch initializes them."""
    with torch.random.fork_rng():
        torch.manual_seed(2634)
        linear = nn.Linear(2, size)
    return linear.weight.detach().double(), linear.bias.detach().double()


def codes(x, size, scale):
    """Project and normalize with PyTorch's own functions."""
    weight, bias = pytorch_weights(size)
    return F.layer_norm(F.linear(torch.tensor(x), weight, scale * bias), (size,)).numpy()


def least_squares(x, others, size, scale):
    """Return R² on the second half of x, and what becomes of others, with numpy's solver."""
    half = len(x) // 2
    code, target = codes(x, size, scale), x[:half].mean(0)
    middle = code[:half].mean(0)
    fit = np.linalg.lstsq(code[:half] - middle, x[:half] - target, rcond=1e-4)[0]
    wrong = x[half:] - target - (code[half:] - middle) @ fit
    r2 = 1 - (wrong**2).sum() / ((x[half:] - x[half:].mean(0)) ** 2).sum()
    return r2, (codes(others, size, scale) - middle) @ fit + target


def lines(explorer, label):
    found = [line for ax in explorer.picture.axes for line in ax.lines if line.get_label() == label]
    return [np.stack(line.get_data(), axis=1).astype(float) for line in found]


def on_rays(explorer):
    return np.concatenate(lines(explorer, "point on a ray"))


def assert_shows(explorer, x, size, bias, bias_scale):
    r2, recovered = least_squares(x, on_rays(explorer), size, bias_scale * bias)
    ((at, height),) = lines(explorer, "R² now")[0]
    assert (at, height) == (size, pytest.approx(r2, abs=1e-8))
    np.testing.assert_allclose(
        np.concatenate(lines(explorer, "point recovered")), recovered, atol=1e-7
    )
    said = re.search(r"to (\d+) features .*recovers a share R² = (−?\d+\.\d\d)\.", explorer.words)
    assert int(said[1]) == size
    assert float(said[2].replace("−", "-")) == pytest.approx(r2, abs=0.00501)


@pytest.mark.parametrize("size", [*SIZES, 5])
def test_at_every_size_and_bias_the_picture_shows_what_least_squares_recovers(explore, size):
    explorer = explore(size=size)
    for bias, bias_scale in itertools.product((True, False), (0.1, 1.0, 10.0)):
        explorer.controls["bias"].value = bias
        explorer.controls["bias_scale"].value = bias_scale
        assert_shows(explorer, default_points(), size, bias, bias_scale)


def test_the_curves_are_r2_by_size_with_the_bias_and_without(explore):
    explorer = explore()
    for scale, label in ((1, "R² with its bias"), (0, "R² without a bias")):
        expected = [
            [size, least_squares(default_points(), np.ones((1, 2)), size, scale)[0]]
            for size in SIZES
        ]
        np.testing.assert_allclose(lines(explorer, label)[0], expected, atol=1e-8)


def test_the_curves_tell_the_story_of_the_lesson(explore):
    explorer = explore()
    with_bias, without = (
        dict(lines(explorer, f"R² {kind}")[0]) for kind in ("with its bias", "without a bias")
    )
    assert without[2] == pytest.approx(1 / math.pi, abs=0.01)
    assert without[64] == pytest.approx(math.pi / 4, abs=0.01)
    assert with_bias[6] == pytest.approx(0.87, abs=0.005)
    assert all(with_bias[size] > without[size] + 0.05 for size in SIZES[2:])
    assert with_bias[3] < without[3]


def test_three_lines_stand_at_one_bit_the_direction_and_everything(explore):
    ax = explore().picture.axes[0]
    flat = [line.get_ydata()[0] for line in ax.lines if list(line.get_xdata()) == [0, 1]]
    assert flat == pytest.approx([1 / math.pi, math.pi / 4, 1])
    names = [(t.get_text(), t.get_position()[1]) for t in ax.texts]
    assert [name.split(":")[0] for name, _ in names] == ["1/π", "π/4", "1"]
    assert all(abs(y - height) < 0.15 for (_, y), height in zip(names, flat, strict=True))
    assert ax.get_xscale() == "log"


def test_the_static_points_lie_on_four_rays_from_the_origin_at_four_distances(explore):
    rays = np.array(lines(explore(), "point on a ray"))
    assert rays.shape == (4, 4, 2)
    distances = np.linalg.norm(rays, axis=2)
    np.testing.assert_allclose(distances, distances[[0] * 4])
    assert (np.diff(distances, axis=1) > 0.3).all()
    directions = rays / distances[..., None]
    np.testing.assert_allclose(directions, directions[:, [0] * 4])
    assert (np.linalg.norm(directions[:, 0] - directions[[1, 2, 3, 0], 0], axis=1) > 1).all()


def test_without_a_bias_points_on_one_ray_coincide_and_with_it_they_separate(explore):
    explorer = explore(size=6, bias=False)
    for ray in lines(explorer, "point recovered"):
        assert np.ptp(ray, axis=0).max() < 0.001
    explorer.controls["bias"].value = True
    lengths = []
    for scale in (0.1, 1.0, 10.0):
        explorer.controls["bias_scale"].value = scale
        rays = np.array(lines(explorer, "point recovered"))
        lengths.append(np.linalg.norm(rays[:, -1] - rays[:, 0], axis=1).min())
    assert 0.01 < lengths[0] < lengths[1] / 2 < lengths[2] / 4


@pytest.mark.parametrize(("name", "values"), PRESETS)
def test_the_words_count_the_points_and_measure_the_rays(explore, name, values):
    explorer = explore(preset=name)
    before = np.array(lines(explorer, "point on a ray"))
    after = np.array(lines(explorer, "point recovered"))
    different = []
    for place in after.reshape(-1, 2):
        if all(np.linalg.norm(place - other) > 0.0185 for other in different):
            different.append(place)
    ends = [np.linalg.norm(rays[:, -1] - rays[:, 0], axis=1).mean() for rays in (before, after)]
    few = len(different) <= 4
    count = f"The 16 points on 4 rays come back at {len(different)} different places; " * few
    expected = (
        f"{count}{'t' if few else 'T'}he nearest and the farthest point of a ray, {ends[0]:.2f} "
        f"apart before, are {ends[1]:.2f} apart on average."
    )
    assert explorer.words.endswith(f". {expected}")
    assert ("come back at" in explorer.words) == few
    assert few == (not values[1] or values[0] == 2)
    bias = {False: "without a bias,", True: "with its bias,"}[values[1]]
    bias = "with 10 times its bias," if values[1:] == (True, 10.0) else bias
    assert bias in explorer.words
    r2 = lines(explorer, "R² now")[0][0, 1]
    for number in (r2, *ends):
        assert abs(100 * number % 1 - 0.5) > 1e-3, number


@pytest.mark.parametrize(("name", "values"), PRESETS)
def test_a_preset_moves_the_controls_and_the_picture(explore, name, values):
    explorer = explore(size=8)
    explorer.chooser.value = name
    assert tuple(explorer.values.values()) == values
    assert_shows(explorer, default_points(), *values)
    assert explore(preset=name).words == explorer.words


def test_an_instructors_presets_and_starts_stand_beside_the_built_in_ones(explore):
    explorer = explore(size=10, bias_scale=0.5, presets={"wide": {"size": 48}})
    assert explorer.values == {"size": 10, "bias": True, "bias_scale": 0.5}
    assert {"wide", "large bias"} < set(explorer.presets)
    explorer.chooser.value = "wide"
    assert_shows(explorer, default_points(), 48, True, 0.5)
    assert "with 0.5 times its bias" in explorer.words


def test_the_bias_scale_is_gray_while_there_is_no_bias(explore):
    explorer = explore(bias=False)
    assert explorer.controls["bias_scale"].disabled
    shown = explorer.foreground.value
    explorer.controls["bias_scale"].value = 10.0
    assert explorer.foreground.value == shown
    explorer.controls["bias"].value = True
    assert not explorer.controls["bias_scale"].disabled
    assert explorer.foreground.value != shown


def test_at_all_settings_nothing_lies_outside_the_axes_and_no_limit_moves(explore):
    explorer = explore(size=5)
    axes = explorer.picture.axes
    limits = [(*ax.get_xlim(), *ax.get_ylim()) for ax in axes]
    stops = ([v for _, v in explorer.controls[n].options] for n in ("size", "bias_scale"))
    for size, scale in itertools.product(*stops):
        explorer.controls["size"].value, explorer.controls["bias_scale"].value = size, scale
        for line in explorer.moving:
            x, y = map(np.asarray, line.get_data())
            left, right, low, high = limits[axes.index(line.axes)]
            assert ((left < x) & (x < right) & (low < y) & (y < high)).all()
    assert [(*ax.get_xlim(), *ax.get_ylim()) for ax in axes] == limits


@pytest.mark.parametrize(
    "points",
    [
        normal(40, 2, seed=1).double(),
        1e3 + normal(40, 2, seed=1).double(),
        1e-3 * normal(5, 8, 2, seed=1).double().requires_grad_(),
    ],
)
def test_own_points_are_fitted_and_drawn_at_their_own_scale(explore, points):
    explorer = explore(points=points, size=4, bias=False)
    x = shuffled(points.detach().reshape(-1, 2))
    r2, recovered = least_squares(x, on_rays(explorer), 4, 0.0)
    low, high = explorer.picture.axes[1].get_xlim()
    assert high == -low == pytest.approx(1.5 * np.linalg.norm(on_rays(explorer), axis=1).max())
    shown = np.concatenate(lines(explorer, "point recovered"))
    np.testing.assert_allclose(shown, recovered.clip(low, high), atol=1e-6 * high)
    assert lines(explorer, "R² now")[0][0, 1] == pytest.approx(max(r2, -0.08), abs=1e-6)


def test_what_is_far_off_is_drawn_at_the_edge_and_said_as_it_is(explore):
    points = normal(8, 2, seed=2).double()
    explorer = explore(points=points, size=3)
    r2, recovered = least_squares(shuffled(points), on_rays(explorer), 3, 1.0)
    edge = explorer.picture.axes[1].get_xlim()[1]
    assert r2 < -0.1
    assert np.abs(recovered).max() > edge
    assert lines(explorer, "R² now")[0][0, 1] == -0.08
    assert np.abs(lines(explorer, "point recovered")).max() == edge
    assert f"a share R² = {r2:.2f}.".replace("-", "−") in explorer.words


def test_a_little_less_than_nothing_is_said_as_zero_without_a_sign(explore):
    # Along the border between the two results of two features, they say nothing.
    weight, _ = pytorch_weights(2)
    w = weight[0] - weight[1]
    z = normal(400, 2, seed=5).double()
    explorer = explore(points=z[:, :1] * w + 100 * z[:, 1:] * torch.stack([w[1], -w[0]]), size=2)
    assert -0.004 < lines(explorer, "R² now")[0][0, 1] < -0.001
    assert "a share R² = 0.00." in explorer.words


@pytest.mark.parametrize(("size", "shape"), [(2, "two places"), (3, "a circle"), (4, None)])
def test_where_a_bias_is_of_no_help_the_words_say_why(explore, size, shape):
    explorer = explore(size=size)
    why = f"Layer norm of {size} features leaves {shape}: a bias cannot bring back two coordinates"
    for scale in (0.1, 1.0, 10.0):
        explorer.controls["bias_scale"].value = scale
        assert ("cannot bring back" in explorer.words) == (shape is not None)
        assert (f". {why} from that. The" in explorer.words) == (shape is not None)
    explorer.controls["bias"].value = False
    assert "cannot bring back" not in explorer.words
    assert "come back at" in explorer.words


@pytest.mark.parametrize(("count", "said"), [(1, "1 place"), (2, "2 different places")])
def test_the_words_count_the_places_at_which_points_come_back(count, said):
    before = torch.eye(2).double().repeat(8, 1)
    after = before if count == 2 else torch.zeros(16, 2).double()
    assert f"The 16 points on 4 rays come back at {said}; the nearest and" in _apart(before, after)


@pytest.mark.parametrize("size", [2, 3])
def test_layer_norm_of_two_and_three_features_leaves_two_places_and_a_circle(size):
    code = codes(default_points(), size, 10.0)
    middle = abs(np.linalg.norm(code, axis=1) - math.sqrt(size)) < 0.01
    assert middle.mean() > 0.98
    assert np.linalg.matrix_rank(code, tol=1e-6) == size - 1


def test_sorted_points_are_recovered_as_well_as_others(explore):
    points = normal(400, 2, seed=1).double()
    explorer = explore(points=points[points[:, 0].argsort()], size=6)
    assert lines(explorer, "R² now")[0][0, 1] > 0.8


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"points": []},
            "An explorer needs data of shape (N, D) or (N, L, D) with at least one element, but "
            "got shape (0,).",
        ),
        (
            {"points": [[1.0, float("nan")]] * 8},
            "An explorer needs finite numbers, but 8 of 16 are NaN or infinite.",
        ),
        (
            {"points": [[1.0, 2.0]]},
            "This explorer needs data with at least 8 rows, but got shape (1, 2).",
        ),
        (
            {"points": np.ones((9, 1))},
            "This explorer needs data with at least 2 features, but got shape (9, 1).",
        ),
        (
            {"points": np.ones((9, 3))},
            "This explorer needs points with 2 features, but got 3.",
        ),
        (
            {"points": [[1.0, 2.5]] * 9},
            "This explorer needs points that differ, but the half of them that is to be "
            "recovered is nothing but (1.0, 2.5).",
        ),
        ({"size": 1}, "size must be a whole number between 2 and 64, but 1 was given."),
        ({"size": 65}, "size must be a whole number between 2 and 64, but 65 was given."),
        ({"bias": 2}, "bias must be True or False, but 2 was given."),
        ({"bias_scale": 0}, "bias_scale must be a number between 0.1 and 10, but 0 was given."),
        ({"bias_scale": 11}, "bias_scale must be a number between 0.1 and 10, but 11 was given."),
        (
            {"preset": "small bias"},
            "preset must be one of 'two features, no bias', 'six features as in the lesson', 'six "
            "features, no bias', 'sixty-four, no bias: π/4', 'large bias', 'two features, large "
            "bias', but 'small bias' was given.",
        ),
        (
            {"presets": {"mine": {"scale": 2}}},
            "preset 'mine': the name of a control must be one of 'size', 'bias', 'bias_scale', but "
            "'scale' was given.",
        ),
    ],
)
def test_bad_input_gets_one_sentence(options, sentence):
    with pytest.raises(ValueError, match=r".") as error:
        explore_projection(**options)
    assert str(error.value) == sentence


def test_it_is_the_same_each_time_and_leaves_the_callers_random_state_alone(explore):
    torch.manual_seed(99)
    before = torch.random.get_rng_state()
    first = explore().words
    assert torch.equal(torch.random.get_rng_state(), before)
    torch.manual_seed(1)
    assert explore().words == first


def test_it_fits_a_projector(explore):
    picture = explore().picture
    width, height = picture.get_size_inches()
    assert width <= 10
    assert height <= 5.2
    texts = [t for ax in picture.axes for t in (ax.title, ax.xaxis.label, ax.yaxis.label)]
    texts += [*picture.legends[0].get_texts(), *picture.axes[0].texts]
    assert min(text.get_fontsize() for text in texts) >= 12
    assert min(t.get_fontsize() for t in picture.findobj(matplotlib.text.Text)) >= 10


def test_points_of_which_only_the_half_to_recover_is_all_one_are_refused(explore):
    order = torch.randperm(9, generator=torch.Generator().manual_seed(7))
    points = normal(9, 2, seed=0)
    points[order[4:]] = torch.tensor([1.0, 2.5])
    with pytest.raises(ValueError, match=r"is nothing but \(1\.0, 2\.5\)\.$"):
        explore(points=points)
    points[order[5]] = 0.0
    assert "R²" in explore(points=points).words
