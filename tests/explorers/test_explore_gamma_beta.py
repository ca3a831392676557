"""The explorer of lesson 4 shows what γ and β do, whatever its controls stand at."""

import itertools
import re

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from explorer_fixtures import made_by_tests, moved_by_tests

from lnorm_utils.examples import encoded_points, normal
from lnorm_utils.explorers.gamma_beta import PRESETS, explore_gamma_beta

ENDS = itertools.product(("all features", "feature 0", "feature 3"), (-2.0, 2.0), (-3.0, 3.0))
STATES = [*ENDS, *(tuple(preset.values()) for preset in PRESETS.values())]
MEANS = r"mean(?:s from)? (\S+?)(?: to (\S+?))?"
STDS = MEANS.replace("mean", "standard deviation")


explorer = moved_by_tests(explore_gamma_beta)
explore = made_by_tests(explore_gamma_beta)


def default_rows():
    z = torch.randn(8, 6, generator=torch.Generator().manual_seed(4)).double().numpy()
    spread = np.exp(z[:, 4:5] / 2)
    return (z[:, :4] + [-1.0, 0.0, 0.5, 1.5]) * spread + 2 * z[:, 5:]


def torchs(rows, feature="all features", weight=1.0, bias=0.0):
    """Return the outputs (N, D), and those of the chosen features."""
    rows = torch.as_tensor(rows, dtype=torch.float64)
    features = rows.shape[1]
    chosen = range(features) if feature == "all features" else [int(feature.split()[1])]
    gamma, beta = torch.ones(features).double(), torch.zeros(features).double()
    for d in chosen:
        gamma[d], beta[d] = weight, bias
    y = F.layer_norm(rows, (features,), gamma, beta).numpy()
    return y, y[:, list(chosen)]


def check_counts(stairs, values):
    counts, edges, _ = stairs.get_data()
    np.testing.assert_array_equal(np.nan_to_num(counts), np.histogram(values, edges)[0])
    assert np.nansum(counts) == values.size


def check_moments(bars, dots, values, axis):
    mean = values.mean(axis)
    np.testing.assert_array_equal(dots.get_xdata(), np.arange(mean.size))
    np.testing.assert_allclose(dots.get_ydata(), mean, atol=1e-12)
    check_bars(bars, values, axis)


def check_bars(bars, values, axis):
    mean, std = values.mean(axis), values.std(axis)
    ends = np.array(bars.get_ydata()).reshape(-1, 3)
    np.testing.assert_array_equal(np.array(bars.get_xdata())[::3], np.arange(mean.size))
    np.testing.assert_allclose(ends[:, :2], np.stack([mean - std, mean + std], 1), atol=1e-12)
    assert np.isnan(ends[:, 2]).all()


def check_picture(explorer, rows, *state):
    every, chosen, feature_bars, feature_dots, row_bars, row_dots = explorer.moving
    y, those = torchs(rows, *state)
    check_counts(every, y)
    check_counts(chosen, those)
    check_moments(feature_bars, feature_dots, y, 0)
    check_moments(row_bars, row_dots, y, 1)


def numbers(texts):
    return [float(text.replace("−", "-")) for text in texts]


def check_words(words, rows, feature, weight, bias):
    count, are_all = len(rows), feature == "all features"
    who = f"all {np.shape(rows)[1]} features have" if are_all else f"{feature} has"
    whose = f"The {count} outputs of each feature" if are_all else f"Its {count} outputs"
    others = "" if are_all else "; the other features keep γ = 1 and β = 0"
    told = f"{MEANS} and {STDS}"
    plain = re.sub("mean.*? from.*? |standard deviation.*? from.*? ", "(?:from )?", told)
    found = re.fullmatch(
        rf"In every row {who} γ = (\S+) and β = (\S+)\. {whose} have {told} \(before γ and β: "
        rf"{plain}\)\. The {count} rows now have {told} \(before layer norm: {told}\){others}\.",
        words,
    )
    assert found, words
    assert numbers(found.groups()[:2]) == [weight, bias]
    y, those = torchs(rows, feature, weight, bias)
    those_at_first = torchs(rows, feature)[1]
    true = [
        end
        for values, axis in ((those, 0), (those_at_first, 0), (y, 1), (np.array(rows), 1))
        for moment in (values.mean(axis), values.std(axis))
        for end in (moment.min(), moment.max())
    ]
    texts = found.groups()[2:]
    said = [end for a, b in zip(texts[::2], texts[1::2], strict=True) for end in (a, b or a)]
    np.testing.assert_allclose(numbers(said), true, atol=0.006)


@pytest.mark.parametrize(("feature", "weight", "bias"), STATES)
def test_the_picture_and_the_words_are_layer_norm_at_every_end_and_preset(
    explorer, feature, weight, bias
):
    for name, value in {"feature": feature, "weight": weight, "bias": bias}.items():
        explorer.controls[name].value = value
    check_picture(explorer, default_rows(), feature, weight, bias)
    check_words(explorer.words, default_rows(), feature, weight, bias)


def test_the_controls_go_from_end_to_end(explorer):
    controls = explorer.controls
    ends = [controls[n].options[i][1] for n in ("weight", "bias") for i in (0, -1)]
    assert ends == [-2.0, 2.0, -3.0, 3.0]
    assert len(controls["weight"].options) >= 40
    assert len(controls["bias"].options) >= 60
    assert controls["feature"].description == "change only"
    assert controls["feature"].options == (
        *("all features", "feature 0", "feature 1", "feature 2", "feature 3"),
    )


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_moves_the_controls_and_is_what_one_can_start_with(explorer, explore, name):
    explorer.controls["feature"].value = "feature 2"
    explorer.chooser.value = name
    assert explorer.values == PRESETS[name]
    started = explore(preset=name)
    assert started.values == PRESETS[name]
    assert started.words == explorer.words


def test_a_feature_with_gamma_zero_is_its_beta_in_every_row(explore):
    explorer = explore(feature="feature 1", weight=0.0, bias=2.0)
    _, chosen, bars, dots, *_ = explorer.moving
    assert dots.get_ydata()[1] == 2.0
    assert list(bars.get_ydata()[3:5]) == [2.0, 2.0]
    assert sorted(np.nan_to_num(chosen.get_data().values))[-2:] == [0, 8]


def test_the_gamma_of_one_feature_leaves_the_others_where_they_were(explorer):
    explorer.chooser.value = "as initialized"
    dots = explorer.moving[3]
    before = np.array(dots.get_ydata())
    explorer.controls["feature"].value = "feature 2"
    explorer.controls["weight"].value = -2.0
    np.testing.assert_allclose(dots.get_ydata(), before * [1, 1, -2, 1], atol=1e-12)


def test_all_rows_have_one_mean_and_one_spread_whatever_they_had_before(explorer):
    explorer.chooser.value = "all stretched and moved"
    words = explorer.words
    assert "The 8 rows now have mean 3.00 and standard deviation 2.00 (before layer norm: " in words
    assert words.endswith("means from −2.88 to 2.86 and standard deviations from 0.43 to 5.48).")


def test_the_picture_at_gamma_one_and_beta_zero_stays_in_the_background(explorer):
    explorer.chooser.value = "all stretched and moved"
    histogram, features, rows = explorer.picture.axes
    x_hat = torchs(default_rows())[0]
    check_counts(histogram.patches[0], x_hat)
    for ax, axis in ((features, 0), (rows, 1)):
        zero, bars = ax.lines[:2]
        assert list(zero.get_ydata()) == [0, 0]
        check_bars(bars, x_hat, axis)
        assert not {bars, zero} & {*explorer.moving}


def test_the_means_of_the_rows_before_are_marked_where_they_fit(explorer, explore):
    triangles = explorer.picture.axes[2].lines[-1]
    assert triangles.get_marker() == "^"
    np.testing.assert_allclose(triangles.get_ydata(), default_rows().mean(1), atol=1e-6)
    far = explore(x=default_rows() + 100)
    assert [line for line in far.picture.axes[2].lines if line.get_marker() == "^"] == []
    assert "(before layer norm: means from 97.12 to 102.86 and" in far.words


def skewed(features, rows=40):
    """Return rows in which the mean and the spread of feature 0 reach beyond its values."""
    x = np.zeros((rows, features))
    x[:, 0] = 1
    x[::4] = np.arange(features)
    return x


@pytest.mark.parametrize(
    "rows", [default_rows(), *map(skewed, (2, 3, 5, 12)), np.eye(2)], ids=lambda x: str(x.shape)
)
def test_nothing_but_what_moves_moves_and_all_of_it_is_inside_the_axes(explore, rows):
    explorer = explore(x=rows)
    background = explorer.children[-1].children[0].value
    limits = [(ax.get_xlim(), ax.get_ylim()) for ax in explorer.picture.axes]
    first, last = (explorer.controls["feature"].options[i] for i in (1, -1))
    states = itertools.product(("all features", first, last), (-2.0, 0.0, 2.0), (-3.0, 3.0))
    for feature, weight, bias in states:
        for name, value in {"feature": feature, "weight": weight, "bias": bias}.items():
            explorer.controls[name].value = value
        low, high = explorer.picture.axes[0].get_ylim()
        for line in explorer.moving[2:]:
            assert low < np.nanmin(line.get_ydata()) <= np.nanmax(line.get_ydata()) < high
        counts = explorer.moving[0].get_data().values
        assert np.nansum(counts) == rows.size
        assert np.nanmax(counts) < explorer.picture.axes[0].get_xlim()[1]
    assert limits == [(ax.get_xlim(), ax.get_ylim()) for ax in explorer.picture.axes]
    assert explorer.children[-1].children[0].value == background


@pytest.mark.parametrize("features", [2, 3, 7])
def test_features_and_rows_are_counted_in_whole_numbers(explore, features):
    for ax in explore(x=normal(2, features, seed=0)).picture.axes[1:]:
        assert all(tick == round(tick) for tick in ax.get_xticks())


def test_positions_are_rows_as_well(explore):
    x = encoded_points().requires_grad_()
    explorer = explore(x=x, feature="feature 3", weight=-2.0, bias=3.0)
    rows = x.detach().reshape(6, 4).double().numpy()
    check_picture(explorer, rows, "feature 3", -2.0, 3.0)
    check_words(explorer.words, rows, "feature 3", -2.0, 3.0)


def test_constant_rows_become_beta(explore):
    explorer = explore(x=np.full((3, 2), 7.0), bias=2.0)
    check_picture(explorer, np.full((3, 2), 7.0), "all features", 1.0, 2.0)
    assert "The 3 rows now have mean 2.00 and standard deviation 0.00 (" in explorer.words
    assert "nan" not in explorer.foreground.value.lower()


def test_own_presets_stand_beside_the_built_in_ones(explore):
    explorer = explore(presets={"mine": {"feature": "feature 2", "bias": 0.25}}, preset="mine")
    assert explorer.values == {"feature": "feature 2", "weight": 1.0, "bias": 0.25}
    assert list(explorer.presets) == [*PRESETS, "mine"]


NEEDS = "An explorer needs data of shape (N, D) or (N, L, D) with at least one element, but got "
FEATURES = "'all features', 'feature 0', 'feature 1', 'feature 2', 'feature 3'"
SENTENCES = {
    "empty": ({"x": []}, NEEDS + "shape (0,)."),
    "four axes": ({"x": np.zeros((2, 2, 2, 2))}, NEEDS + "shape (2, 2, 2, 2)."),
    "one row": (
        {"x": [[1.0, 2.0]]},
        "This explorer needs data with at least 2 rows, but got shape (1, 2).",
    ),
    "one feature": (
        {"x": [[1.0], [2.0]]},
        "This explorer needs data with at least 2 features, but got shape (2, 1).",
    ),
    "13 features": (
        {"x": np.zeros((2, 13))},
        "This explorer needs data with 2 to 12 features, but got 13.",
    ),
    "NaN": (
        {"x": [[1.0, float("nan")], [2.0, 3.0]]},
        "An explorer needs finite numbers, but 1 of 4 are NaN or infinite.",
    ),
    "weight": (
        {"weight": 4},
        "weight must be a number between −2 and 2, but 4 was given.",
    ),
    "bias": (
        {"bias": float("nan")},
        "bias must be a number between −3 and 3, but nan was given.",
    ),
    "feature": (
        {"feature": "feature 4"},
        f"feature must be one of {FEATURES}, but 'feature 4' was given.",
    ),
    "preset": (
        {"preset": "lecture"},
        f"preset must be one of {', '.join(map(repr, PRESETS))}, but 'lecture' was given.",
    ),
}


@pytest.mark.parametrize(("arguments", "sentence"), SENTENCES.values(), ids=SENTENCES)
def test_bad_input_gets_one_clear_sentence(explore, arguments, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        explore(**arguments)


def test_the_words_do_not_hang_on_the_last_digits(explorer, explore):
    nudged = explore(x=default_rows() * (1 + 1e-6 * np.cos(np.arange(32)).reshape(8, 4)))
    for name in PRESETS:
        nudged.chooser.value = explorer.chooser.value = name
        assert nudged.values == PRESETS[name]
        assert nudged.words == explorer.words
