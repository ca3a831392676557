"""The explorer of lesson 3 shows the numbers of layer norm, whatever its sliders stand at."""

import re

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from explorer_fixtures import made_by_tests, moved_by_tests
from matplotlib.backends.backend_agg import RendererAgg

from lnorm_utils.explorers.amplitude import PRESETS, explore_amplitude
from lnorm_utils.plotting.picture import number

NUMBER = r"(\d+(?:\.\d+)?(?:e[+−]\d+)?)"
ENDS = [(sigma, eps) for sigma in (0, 1e-4, 1.0) for eps in (1e-8, 1.0)]
STATES = [*ENDS, *((p["amplitude"], p["eps"]) for p in PRESETS.values())]


explorer = moved_by_tests(explore_amplitude)
explore = made_by_tests(explore_amplitude)


def standard(row):
    row = np.asarray(row, dtype=np.float64)
    return (row - row.mean()) / row.std()


def default_row():
    return standard(torch.randn(256, generator=torch.Generator().manual_seed(3)))


def torchs(rows, eps):
    rows = torch.from_numpy(rows)
    return F.layer_norm(rows, rows.shape[-1:], eps=eps).numpy()


def check_picture(explorer, shape, sigma, eps):
    before, after, outside, inside, dots, here, *stds = explorer.moving
    y = torchs(sigma * shape, eps)
    for stairs, values in ((before, sigma * shape), (after, y)):
        counts, edges, _ = stairs.get_data()
        np.testing.assert_array_equal(counts, np.histogram(values, edges)[0])
        assert counts.sum() == shape.size
    assert np.abs(y).max() < after.get_data().edges[-1]
    for ax, text, std in zip(explorer.picture.axes, stds, (sigma, y.std()), strict=False):
        assert text.axes is ax
        assert text.get_text() == f"standard deviation\n{number(std, 0)}"
    assert len(stds) == 2
    np.testing.assert_allclose(here.get_xdata(), [sigma] * 3)
    np.testing.assert_allclose(here.get_ydata(), [0, y.std(), 1], atol=1e-12)
    before_dots = np.array(dots.get_xdata())
    np.testing.assert_allclose(
        dots.get_ydata(), torchs(before_dots[:, None] * shape, eps).std(1), atol=1e-12
    )
    for line, formula in (
        (inside, lambda s: s / (s**2 + eps) ** 0.5),
        (outside, lambda s: s / (s + eps)),
    ):
        at = np.array(line.get_xdata())
        assert (at.min(), at.max(), at.size > 30) == (0, 1, True)
        np.testing.assert_allclose(line.get_ydata(), formula(at))


def check_words(words, shape, sigma, eps):
    if sigma == 0:
        assert f"All {shape.size} features are equal." in words
        assert words.endswith("every feature becomes 0.")
        return
    said = [float(n.replace("−", "-")) for n in re.findall(rf"(?:=|is|be) {NUMBER}", words)]
    after = torchs(sigma * shape, eps).std()
    true = [sigma, eps**0.5, sigma / eps**0.5, after, sigma / (sigma + eps)]
    np.testing.assert_allclose(said, true, rtol=0.05, atol=0.006)
    assert f"is {number(sigma / (sigma**2 + eps) ** 0.5)} = σ / √(σ² + ε). With" in words
    assert words.endswith(f"be {number(sigma / (sigma + eps))} = σ / (σ + ε).")


@pytest.mark.parametrize(("sigma", "eps"), STATES)
def test_the_picture_and_the_words_are_layer_norm_at_every_end_and_preset(explorer, sigma, eps):
    explorer.controls["amplitude"].value = sigma
    explorer.controls["eps"].value = eps
    check_picture(explorer, default_row(), sigma, eps)
    check_words(explorer.words, default_row(), sigma, eps)


def test_the_sliders_go_from_end_to_end(explorer):
    controls = explorer.controls
    ends = {name: [c.options[0][1], c.options[-1][1]] for name, c in controls.items()}
    assert ends == {"amplitude": [0, 1.0], "eps": [1e-8, 1.0]}
    assert min(len(control.options) for control in controls.values()) >= 30


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_moves_the_sliders_and_is_what_one_can_start_with(explorer, explore, name):
    explorer.controls["amplitude"].value, explorer.controls["eps"].value = 0.1, 1e-3
    explorer.chooser.value = name
    assert explorer.values == PRESETS[name]
    started = explore(preset=name)
    assert started.values == PRESETS[name]
    assert started.words == explorer.words


def test_a_constant_row_becomes_zero_and_never_nan(explorer):
    explorer.chooser.value = "as in a network"
    explorer.chooser.value = "constant row"
    before, after, _, _, _, here, *stds = explorer.moving
    for stairs in (before, after):
        counts, edges, _ = stairs.get_data()
        (bin_,) = np.flatnonzero(counts)
        assert edges[bin_] < 0 < edges[bin_ + 1]
    assert list(here.get_data()[1]) == [0, 0, 1]
    assert [text.get_text() for text in stds] == ["standard deviation\n0"] * 2
    assert "nan" not in explorer.foreground.value.lower()


def test_a_row_as_small_as_the_root_of_eps_is_brought_to_the_root_of_a_half(explorer):
    explorer.chooser.value = "as small as √ε"
    assert "After layer norm its standard deviation is 0.71 = σ / √(σ² + ε)." in explorer.words
    explorer.chooser.value = "far below √ε"
    assert explorer.words.endswith("it would be 0.91 = σ / (σ + ε).")


def test_measured_and_formula_are_one_number_at_every_stop(explorer):
    for _, eps in explorer.controls["eps"].options:
        for _, sigma in explorer.controls["amplitude"].options[1::5]:
            explorer.controls["amplitude"].value, explorer.controls["eps"].value = sigma, eps
            formula = number(sigma / (sigma**2 + eps) ** 0.5)
            assert f"deviation is {formula} = σ / √(σ² + ε)." in explorer.words


def test_the_standard_deviations_stand_over_the_bars_and_inside_their_panels(explorer):
    renderer = RendererAgg(720, 360, 72)
    for sigma, eps in STATES:
        explorer.controls["amplitude"].value, explorer.controls["eps"].value = sigma, eps
        explorer.picture.draw(renderer)
        for bars, text in zip(explorer.moving[:2], explorer.moving[-2:], strict=True):
            ax, box = text.axes, text.get_window_extent(renderer)
            inside = ax.get_window_extent(renderer)
            assert inside.x0 <= box.x0 < box.x1 <= inside.x1
            assert box.y1 <= inside.y1
            top = ax.transData.transform((0, bars.get_data().values.max()))[1]
            assert top < box.y0


def test_nothing_but_what_moves_moves(explorer):
    explorer.chooser.value = "as in a network"
    limits = [(ax.get_xlim(), ax.get_ylim()) for ax in explorer.picture.axes]
    background = explorer.children[-1].children[0].value
    former = explorer.foreground.value
    for sigma, eps in STATES:
        explorer.controls["amplitude"].value, explorer.controls["eps"].value = sigma, eps
        for ax in explorer.picture.axes:
            (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
            for line in ax.lines[1:]:
                x, y = np.array(line.get_xdata()), np.array(line.get_ydata())
                assert left <= x.min() <= x.max() <= right
                assert low <= y.min() <= y.max() <= high
            for stairs in ax.patches:
                assert stairs.get_data().values.max() <= high
    assert limits == [(ax.get_xlim(), ax.get_ylim()) for ax in explorer.picture.axes]
    assert explorer.children[-1].children[0].value == background
    assert explorer.foreground.value != former


def test_the_outline_of_the_row_after_is_the_row_with_eps_zero(explorer):
    outline = explorer.picture.axes[1].patches[0]
    counts, edges, _ = outline.get_data()
    np.testing.assert_array_equal(counts, np.histogram(default_row(), edges)[0])
    assert outline.get_label() == "with ε = 0"


@pytest.mark.parametrize(
    "row",
    [[7.0, 9.0], [[1, 2, 6]], np.float32([3e8, 5e8, 4e8]), [0, 5e-324], [1e100, -1e100, 0]],
)
def test_a_row_of_ones_own_is_centered_and_scaled(explore, row):
    flat = np.ravel(np.array(row, dtype=np.float64))
    explorer = explore(row=row, amplitude=0.01, eps=1e-4)
    check_picture(explorer, standard(flat / np.abs(flat).max()), 0.01, 1e-4)
    assert "its standard deviation is 0.71 = " in explorer.words


def test_a_row_with_grad_can_be_explored(explore):
    row = torch.tensor([1.0, 2.0, 6.0], requires_grad=True)
    check_picture(explore(row=row), standard([1, 2, 6]), 1.0, 1e-5)


def test_own_presets_stand_beside_the_built_in_ones(explore):
    explorer = explore(presets={"mine": {"eps": 0.02}}, preset="mine")
    assert explorer.values == {"amplitude": 1.0, "eps": 0.02}
    assert list(explorer.presets) == [*PRESETS, "mine"]


SHAPE = "row must have shape (D,) or (1, D) with at least 2 features, but has shape "
SENTENCES = {
    "empty": ({"row": []}, SHAPE + "(0,)."),
    "a number": ({"row": 3.0}, SHAPE + "()."),
    "one feature": ({"row": [[3.0]]}, SHAPE + "(1, 1)."),
    "two rows": ({"row": [[1.0, 2.0], [3.0, 4.0]]}, SHAPE + "(2, 2)."),
    "no row": ({"row": np.zeros((0, 4))}, SHAPE + "(0, 4)."),
    "constant": (
        {"row": [7.0] * 3},
        "row must hold numbers that differ, but all 3 are 7.",
    ),
    "NaN": (
        {"row": [1.0, float("nan"), float("inf")]},
        "An explorer needs finite numbers, but 2 of 3 are NaN or infinite.",
    ),
    "too large": (
        {"row": [1e308, -1e308, 0]},
        "A picture shows numbers up to 1e+100, but got 1e+308.",
    ),
    "amplitude": (
        {"amplitude": 2},
        "amplitude must be a number between 0 and 1, but 2 was given.",
    ),
    "eps": (
        {"eps": 0},
        "eps must be a number between 1e−8 and 1, but 0 was given.",
    ),
    "NaN eps": (
        {"eps": float("nan")},
        "eps must be a number between 1e−8 and 1, but nan was given.",
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
    nudged = explore(row=default_row() * (1 + 1e-6 * np.cos(np.arange(256))))
    for name in PRESETS:
        nudged.chooser.value = explorer.chooser.value = name
        assert nudged.values == PRESETS[name]
        assert nudged.words == explorer.words
