"""The explorer of lesson 5 shows what nn.BatchNorm1d and nn.functional.layer_norm give."""

import re
from itertools import pairwise

import matplotlib
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from explorer_fixtures import made_by_tests
from torch import nn

from lnorm_utils.examples import normal
from lnorm_utils.explorers.batch import explore_batch

SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256]
CLOUD, NOW, LAYER = "batch norm, 40 batches", "batch norm, this batch", "layer norm"


explore = made_by_tests(explore_batch)


def own(rows=12, features=3, seed=1):
    return 2 * normal(rows, features, seed=seed).double() + 1


def drawn(x):
    """Draw the batches as the explorer says it does: row 0, and company from the others."""
    generator = torch.Generator().manual_seed(5)
    company = torch.randint(1, len(x), (40, 255), generator=generator)
    return [torch.cat([x[:1], x[rows]]) for rows in company]


def drawn_without(x):
    """Draw the batches of the running statistics: from all rows but row 0."""
    generator = torch.Generator().manual_seed(8)
    return x[torch.randint(1, len(x), (40, 256), generator=generator)]


def by_torch(x, size):
    """Let nn.BatchNorm1d see 40 batches with row 0, for its outputs, and let another see 40
    without it, for what that keeps of feature 0."""
    layer, other = (nn.BatchNorm1d(x.shape[1], affine=False).double().train() for _ in range(2))
    outputs, kept = [], [(0.0, 1.0)]
    for batch, without in zip(drawn(x), drawn_without(x), strict=True):
        outputs.append(layer(batch[:size])[0].numpy())
        other(without[:size])
        kept.append((other.running_mean[0].item(), other.running_var[0].item()))
    return np.array(outputs), np.array(kept).T


def dots(explorer, label):
    (line,) = [a for a in explorer.moving if a.get_label() == label]
    return line.get_ydata()


def kept(explorer):
    """The two running statistics, each up to now."""
    return [ax.lines[0] for ax in explorer.picture.axes[1:]]


def to_come(explorer):
    """The two running statistics, each from now on."""
    return [ax.lines[1] for ax in explorer.picture.axes[1:]]


def numbers(words):
    return [float(n.replace("−", "-")) for n in re.findall(r"−?\d+(?:\.\d+)?", words)]


@pytest.mark.parametrize("size", [*SIZES[1:], 3, 100])
def test_outputs_and_running_statistics_are_those_of_batch_norm_in_train_mode(explore, size):
    x = own()
    explorer = explore(x=x, batch_size=size)
    outputs, running = by_torch(x, size)
    for draws in (0, 1, 39, 40, 57):
        explorer.controls["draws"].value = draws
        np.testing.assert_allclose(dots(explorer, CLOUD), outputs.ravel(), atol=1e-10)
        np.testing.assert_allclose(dots(explorer, NOW), outputs[draws % 40], atol=1e-10)
        seen = draws % 40 + 1
        for line, values in zip(kept(explorer), running, strict=True):
            np.testing.assert_allclose(line.get_ydata(), values[: seen + 1], atol=1e-10)
            assert list(line.get_xdata()) == list(range(seen + 1))
            assert line.get_markevery() == [seen]
            assert line.get_color() == "#0072B2"
        for line, values in zip(to_come(explorer), running, strict=True):
            np.testing.assert_allclose(line.get_ydata(), values[seen:], atol=1e-10)
            assert list(line.get_xdata()) == list(range(seen, 41))
            assert line.get_color() == "#BBBBBB"
            assert line.get_marker() == "None"
        assert {*kept(explorer), *to_come(explorer)} < {*explorer.moving}


@pytest.mark.parametrize(("size", "mean", "variance"), [(2, 0.2, 0.6), (256, 0.1, 0.2)])
def test_after_forty_batches_the_running_statistics_are_near_the_population(
    explore, size, mean, variance
):
    explorer = explore(batch_size=size, draws=39)
    for line, ax, near in zip(
        kept(explorer), explorer.picture.axes[1:], (mean, variance), strict=True
    ):
        assert abs(line.get_ydata()[-1] - ax.lines[2].get_ydata()[0]) < near


def test_the_point_is_in_no_batch_of_the_running_statistics(explore):
    x = own()
    far = x.clone()
    far[0] = 1000.0
    before, after = explore(x=x, batch_size=2, draws=39), explore(x=far, batch_size=2, draws=39)
    for one, other in zip(kept(before), kept(after), strict=True):
        np.testing.assert_array_equal(one.get_ydata(), other.get_ydata())


def test_at_the_last_batch_the_words_say_that_the_next_press_starts_over(explore):
    explorer = explore(draws=38)
    for over in (False, True, False):
        assert explorer.words.endswith(" The next press starts over.") == over
        explorer.controls["draws"].click()


def test_of_two_points_batch_norm_says_which_is_larger(explore):
    explorer = explore(preset="batch of two")
    sentence = " With two points, batch norm only says which of the two is larger: +1 or −1"
    assert f"{sentence}. " in explorer.words
    assert (np.abs(dots(explorer, CLOUD)) > 0.9).all()
    assert "over all 40 batches from −1.00 to 1.00." in explorer.words
    explorer.controls["batch_size"].value = 4
    assert "With two points" not in explorer.words
    x = own()
    x[3] = x[0]
    explorer = explore(x=x, batch_size=2)
    assert (dots(explorer, CLOUD) == 0).any()
    assert f"{sentence}, or closer to 0 where the two are equal or almost so." in explorer.words


def test_the_small_dots_can_be_seen_from_the_back_and_in_the_legend(explore):
    picture = explore().picture
    (line,) = [line for line in picture.axes[0].lines if line.get_label() == CLOUD]
    (handle,) = [h for h in picture.legends[0].legend_handles if h.get_label() == CLOUD]
    for dot in (line, handle):
        assert dot.get_markersize() == 5
        assert dot.get_alpha() == 0.5


def test_layer_norm_stands_still_at_every_batch_size_and_in_all_company(explore):
    x = own()
    explorer = explore(x=x)
    expected = F.layer_norm(x[0], (3,)).numpy()
    for size in SIZES:
        explorer.controls["batch_size"].value = size
        for draws in (0, 7, 39):
            explorer.controls["draws"].value = draws
            np.testing.assert_allclose(dots(explorer, LAYER), expected, atol=1e-12)


def test_batch_norm_jitters_less_in_larger_batches(explore):
    explorer = explore()
    spreads = []
    for size in (4, 16, 64, 256):
        explorer.controls["batch_size"].value = size
        spreads.append(dots(explorer, CLOUD).reshape(40, 4).std(axis=0).mean())
    assert all(1.4 < a / b < 2.8 for a, b in pairwise(spreads))


def test_in_a_batch_of_one_batch_norm_has_no_dot_and_the_words_say_why(explore):
    x = own()
    explorer = explore(x=x, preset="batch of one")
    with pytest.raises(ValueError, match="more than 1 value"):
        nn.BatchNorm1d(3).double()(x[:1])
    assert np.isnan(dots(explorer, CLOUD)).all()
    assert np.isnan(dots(explorer, NOW)).all()
    assert all(np.isnan(line.get_ydata()).all() for line in kept(explorer))
    assert all(np.isnan(line.get_ydata()).all() for line in to_come(explorer))
    assert "nn.BatchNorm1d refuses" in explorer.words
    assert "there are no running statistics" in explorer.words
    assert f"into {F.layer_norm(x[0], (3,))[0]:.2f}, as" in explorer.words.replace("−", "-")
    explorer.controls["batch_size"].value = 2
    assert np.isfinite(dots(explorer, NOW)).all()


@pytest.mark.parametrize(("size", "draws"), [(2, 0), (8, 3), (256, 39), (64, 85)])
def test_the_words_give_the_numbers_of_the_picture(explore, size, draws):
    x = own()
    outputs, running = by_torch(x, size)
    batch, of_0, others = draws % 40, outputs[:, 0], x[1:, 0].numpy()
    expected = [1, size, 40, 0, of_0[batch], batch + 1, 40, of_0.min(), of_0.max()]
    expected += [1, -1] * (size == 2) + [0] * (size == 2 and bool((abs(outputs) < 0.9).any()))
    expected += [F.layer_norm(x[0], (3,))[0], batch + 1, size, 0]
    expected += [running[0, batch + 1], others.mean()]
    expected += [running[1, batch + 1], others.var()]
    words = explore(x=x, batch_size=size, draws=draws).words
    assert numbers(words) == pytest.approx([float(e) for e in expected], abs=0.00501)
    assert (f"batches of {size} without the point, the" in words) == (batch > 0)
    assert ("anything from" in words) == (size > 2)


def test_the_words_at_the_start_are_far_from_a_rounding_boundary(explore):
    for preset in (None, "batch of 256", "after 40 batches of two"):
        explorer = explore(preset=preset)
        outputs = dots(explorer, CLOUD).reshape(40, 4)[:, 0]
        batch = explorer.values["draws"]
        said = [outputs[batch], outputs.min(), outputs.max(), dots(explorer, LAYER)[0]]
        said += [line.get_ydata()[batch + 1] for line in kept(explorer)]
        for value in said:
            assert abs(100 * value % 1 - 0.5) > 1e-3, value


def test_the_population_is_what_the_company_is_drawn_from(explore):
    x = own()
    lines = [ax.lines[2].get_ydata() for ax in explore(x=x).picture.axes[1:]]
    assert lines[0] == pytest.approx([x[1:, 0].mean().item()] * 2)
    assert lines[1] == pytest.approx([x[1:, 0].var(correction=0).item()] * 2)


def test_each_press_draws_other_company_and_after_forty_batches_the_first_is_back(explore):
    explorer = explore()
    shown = []
    for presses in range(41):
        assert explorer.values["draws"] == presses
        shown.append(explorer.foreground.value)
        explorer.controls["draws"].click()
    assert len(set(shown)) == 40
    assert shown[40] == shown[0]


def test_the_default_point_is_one_of_a_population_with_means_and_spreads_of_its_own(explore):
    explorer = explore(batch_size=256, draws=39)
    x = torch.tensor([3.0, 0, -2, 1]) + torch.tensor([2, 1, 1, 0.5]) * normal(1000, 4, seed=5)
    x[0] = torch.tensor([4.0, 1.5, -3, 1.2])
    outputs, running = by_torch(x.double(), 256)
    np.testing.assert_allclose(dots(explorer, NOW), outputs[39], atol=1e-10)
    np.testing.assert_allclose(kept(explorer)[0].get_ydata(), running[0], atol=1e-10)


def test_at_every_size_nothing_lies_outside_the_axes_and_no_limit_moves(explore):
    explorer = explore(batch_size=5)
    axes = explorer.picture.axes
    limits = [(*ax.get_xlim(), *ax.get_ylim()) for ax in axes]
    for _, size in explorer.controls["batch_size"].options:
        explorer.controls["batch_size"].value = size
        for line in explorer.moving:
            x, y = map(np.asarray, line.get_data())
            seen = np.isfinite(y)
            left, right, low, high = limits[axes.index(line.axes)]
            assert ((left <= x[seen]) & (x[seen] <= right)).all()
            assert ((low <= y[seen]) & (y[seen] <= high)).all()
    assert [(*ax.get_xlim(), *ax.get_ylim()) for ax in axes] == limits


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("batch of eight", (8, 0)),
        ("batch of two", (2, 0)),
        ("batch of 256", (256, 0)),
        ("batch of one", (1, 0)),
        ("after 40 batches of two", (2, 39)),
        ("after 40 batches of 256", (256, 39)),
    ],
)
def test_a_preset_moves_the_controls_and_the_picture(explore, name, values):
    explorer = explore(batch_size=16)
    explorer.chooser.value = name
    assert tuple(explorer.values.values()) == values
    assert explorer.words == explore(batch_size=values[0], draws=values[1]).words
    assert explore(preset=name).words == explorer.words


def test_an_instructors_presets_and_starts_stand_beside_the_built_in_ones(explore):
    explorer = explore(batch_size=3, draws=2, presets={"a dozen": {"batch_size": 12}})
    assert explorer.values == {"batch_size": 3, "draws": 2}
    assert {"a dozen", "batch of two"} < set(explorer.presets)
    explorer.chooser.value = "a dozen"
    assert explorer.values == {"batch_size": 12, "draws": 2}


@pytest.mark.parametrize("shape", [(4, 2), (6, 8), (3, 2, 4)])
def test_own_data_may_be_small_or_have_positions(explore, shape):
    x = normal(*shape, seed=3).requires_grad_()
    explorer = explore(x=x)
    rows = x.detach().double().reshape(-1, shape[-1])
    np.testing.assert_allclose(dots(explorer, CLOUD), by_torch(rows, 8)[0].ravel(), atol=1e-10)
    np.testing.assert_allclose(dots(explorer, LAYER), F.layer_norm(rows[0], rows.shape[1:]))


def test_constant_data_become_zero_and_not_noise(explore):
    explorer = explore(x=np.full((5, 3), 0.1))
    assert (np.abs(dots(explorer, CLOUD)) < 1e-9).all()
    assert numbers(explorer.words)[4] == 0
    assert "−0.00" not in explorer.words


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"x": []},
            "An explorer needs data of shape (N, D) or (N, L, D) with at least one element, but "
            "got shape (0,).",
        ),
        (
            {"x": [[1.0, float("nan")]] * 4},
            "An explorer needs finite numbers, but 4 of 8 are NaN or infinite.",
        ),
        (
            {"x": np.ones((1, 3))},
            "This explorer needs data with at least 4 rows, but got shape (1, 3).",
        ),
        (
            {"x": np.ones((5, 1))},
            "This explorer needs data with at least 2 features, but got shape (5, 1).",
        ),
        ({"x": np.ones((5, 9))}, "This explorer needs 2 to 8 features, but got 9."),
        (
            {"batch_size": 0},
            "batch_size must be a whole number between 1 and 256, but 0 was given.",
        ),
        (
            {"batch_size": 300},
            "batch_size must be a whole number between 1 and 256, but 300 was given.",
        ),
        (
            {"batch_size": 2.5},
            "batch_size must be a whole number between 1 and 256, but 2.5 was given.",
        ),
        ({"draws": -1}, "draws must be a whole number from 0 on, but -1 was given."),
        (
            {"preset": "batch of ten"},
            "preset must be one of 'batch of eight', 'batch of two', 'batch of 256', 'batch of "
            "one', 'after 40 batches of two', 'after 40 batches of 256', but 'batch of ten' was "
            "given.",
        ),
        (
            {"presets": {"mine": {"size": 2}}},
            "preset 'mine': the name of a control must be one of 'batch_size', 'draws', but 'size' "
            "was given.",
        ),
    ],
)
def test_bad_input_gets_one_sentence(options, sentence):
    with pytest.raises(ValueError, match=r".") as error:
        explore_batch(**options)
    assert str(error.value) == sentence


def test_it_is_the_same_each_time_and_leaves_the_callers_random_state_alone(explore):
    torch.manual_seed(99)
    before = torch.random.get_rng_state()
    first = explore(draws=5).words
    assert torch.equal(torch.random.get_rng_state(), before)
    torch.manual_seed(1)
    assert explore(draws=5).words == first


def test_it_fits_a_projector(explore):
    picture = explore().picture
    width, height = picture.get_size_inches()
    assert width <= 10
    assert height <= 5.2
    texts = [t for ax in picture.axes for t in (ax.title, ax.xaxis.label, ax.yaxis.label)]
    texts += picture.legends[0].get_texts()
    assert min(text.get_fontsize() for text in texts) >= 12
    assert min(t.get_fontsize() for t in picture.findobj(matplotlib.text.Text)) >= 10
