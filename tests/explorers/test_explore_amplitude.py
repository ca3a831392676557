"""The explorer of lesson 3 shows the numbers of layer norm, whatever its sliders stand at."""

import re

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from explorer_fixtures import every_state, made_by_tests, moved_by_tests

from lnorm_utils.explorers import explore_amplitude
from lnorm_utils.numbers import number

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
        assert text.get_text() == f"standard deviation\n{number(std, beside=0)}"
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
    said = re.findall(r"(?:=|is|be) (\d[\d,]*(?:\.\d+)?(?:e[+−]?\d+)?)", words)
    said = [float(n.replace("−", "-").replace(",", "")) for n in said]
    after = torchs(sigma * shape, eps).std()
    true = [sigma, sigma / eps**0.5, eps**0.5, after, sigma / (sigma + eps)]
    np.testing.assert_allclose(said, true, rtol=0.05, atol=0.006)
    assert f"is {number(sigma / (sigma**2 + eps) ** 0.5)} = σ / √(σ² + ε). With" in words
    assert words.endswith(f"be {number(sigma / (sigma + eps))} = σ / (σ + ε).")


def test_in_every_state_the_picture_and_the_words_are_those_of_layer_norm(explorer):
    for values in every_state(explorer):
        check_picture(explorer, default_row(), *values.values())
        check_words(explorer.words, default_row(), *values.values())


def test_a_constant_row_becomes_zero_and_never_nan(explorer):
    explorer.preset = "as in a network"
    explorer.preset = "constant row"
    before, after, _, _, _, here, *stds = explorer.moving
    for stairs in (before, after):
        counts, edges, _ = stairs.get_data()
        (bin_,) = np.flatnonzero(counts)
        assert edges[bin_] < 0 < edges[bin_ + 1]
    assert list(here.get_data()[1]) == [0, 0, 1]
    assert [text.get_text() for text in stds] == ["standard deviation\n0.00"] * 2
    assert "nan" not in explorer.frame()["svg"].lower()


def test_a_row_as_small_as_the_root_of_eps_is_brought_to_the_root_of_a_half(explorer):
    explorer.preset = "as small as √ε"
    assert "After layer norm it is 0.71 = σ / √(σ² + ε)." in explorer.words
    explorer.preset = "far below √ε"
    assert explorer.words.endswith("it would be 0.91 = σ / (σ + ε).")


def test_measured_and_formula_are_one_number_at_every_stop(explorer):
    for eps in explorer.stops["eps"][::6]:
        for sigma in explorer.stops["amplitude"][1::8]:
            explorer.amplitude, explorer.eps = sigma, eps
            formula = number(sigma / (sigma**2 + eps) ** 0.5)
            assert f"it is {formula} = σ / √(σ² + ε)." in explorer.words


def test_the_outline_of_the_row_after_is_the_row_with_eps_zero(explorer):
    outline = explorer.picture.axes[1].patches[0]
    counts, edges, _ = outline.get_data()
    np.testing.assert_array_equal(counts, np.histogram(default_row(), edges)[0])
    assert "ε" in outline.get_label()


@pytest.mark.parametrize(
    "row",
    [[7.0, 9.0], [[1, 2, 6]], np.float32([3e8, 5e8, 4e8]), [0, 5e-324], [1e100, -1e100, 0]],
)
def test_a_row_of_ones_own_is_centered_and_scaled(explore, row):
    flat = np.ravel(np.array(row, dtype=np.float64))
    explorer = explore(row=row, amplitude=0.01, eps=1e-4)
    check_picture(explorer, standard(flat / np.abs(flat).max()), 0.01, 1e-4)
    assert "it is 0.71 = " in explorer.words
