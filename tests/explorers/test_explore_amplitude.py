"""The explorer of lesson 3 shows the numbers of layer norm, whatever its sliders stand at."""

import re

import numpy as np
import torch
import torch.nn.functional as F
from explorer_fixtures import every_state, moved_by_tests

from lnorm_course.explorers import explore_amplitude
from lnorm_utils.words import number

explorer = moved_by_tests(explore_amplitude)


def standard(row):
    row = np.asarray(row, dtype=np.float64)
    return (row - row.mean()) / row.std()


def default_row():
    return standard(torch.randn(64, generator=torch.Generator().manual_seed(3)))


def torchs(rows, eps):
    rows = torch.from_numpy(rows)
    return F.layer_norm(rows, rows.shape[-1:], eps=eps).numpy()


def check_picture(explorer, shape, sigma, eps):
    *strips, outside, inside, measured, here = explorer.moving
    sizes, dots, stds = strips[:2], strips[2:4], strips[4:]
    y = torchs(sigma * shape, eps)
    for those, values in zip(dots, (sigma * shape, y), strict=True):
        np.testing.assert_allclose(those.get_xdata(), values, atol=1e-12)
        assert np.ptp(those.get_ydata()) < 0.6
    assert dots[0].get_ydata().min() > dots[1].get_ydata().max()
    for size, text, std in zip(sizes, stds, (sigma, y.std()), strict=True):
        np.testing.assert_allclose(size.get_xdata(), [-std, 0, std], atol=1e-12)
        assert text.get_text() == f"standard deviation {number(std, beside=0)}"
    np.testing.assert_allclose(here.get_xdata(), [sigma] * 3)
    np.testing.assert_allclose(here.get_ydata(), [0, y.std(), 1], atol=1e-12)
    sigmas = np.array(measured.get_xdata())
    np.testing.assert_allclose(
        measured.get_ydata(), torchs(sigmas[:, None] * shape, eps).std(1), atol=1e-12
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
    said = re.findall(r"(?:is|be) (\d[\d,]*(?:\.\d+)?(?:e[+−]?\d+)?)", words)
    said = [float(n.replace("−", "-").replace(",", "")) for n in said]
    after = torchs(sigma * shape, eps).std()
    true = [sigma, sigma / eps**0.5, after, sigma / (sigma + eps)]
    np.testing.assert_allclose(said, true, rtol=0.05, atol=0.006)


def test_in_every_state_the_picture_and_the_words_are_those_of_layer_norm(explorer):
    for values in every_state(explorer):
        check_picture(explorer, default_row(), *values.values())
        check_words(explorer.words, default_row(), *values.values())


def test_a_constant_row_becomes_zero_and_never_nan(explorer):
    explorer.preset = "as in a network"
    explorer.preset = "constant row"
    *_, before, after, first_std, second_std, _, _, _, here = explorer.moving
    for dots in (before, after):
        assert set(np.array(dots.get_xdata())) == {0.0}
    assert list(here.get_data()[1]) == [0, 0, 1]
    for text in (first_std, second_std):
        assert text.get_text() == "standard deviation 0.00"
    assert "nan" not in explorer.frame()["svg"].lower()
