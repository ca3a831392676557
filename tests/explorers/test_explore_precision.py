"""The explorer of lesson 13 shows what PyTorch computes in each dtype, and judges it rightly."""

import math

import pytest
import torch
import torch.nn.functional as F
from explorer_fixtures import every_state, made_by_tests, moved_by_tests

from lnorm_utils.explorers import explore_precision

explorer = moved_by_tests(explore_precision)
explore = made_by_tests(explore_precision)
BITS = {"float16": 11, "bfloat16": 8, "float32": 24}


def default_row():
    row = torch.randn(16, generator=torch.Generator().manual_seed(140)).double().round(decimals=4)
    return (row - row.mean()) / row.std(correction=0)


def torchs(x, eps):
    return F.layer_norm(x, x.shape, eps=eps)


def bits(found, right, most):
    """Return how many bits are right, not rounded to a whole number."""
    error = ((found.double() - right).abs().max() / right.abs().max()).item()
    return min(most, -math.log2(error)) if error else most


def by_hand(x, eps):
    """Return what PyTorch makes of two passes, and of E[x²] − E[x]², in the dtype of x."""
    centered = x - x.mean()
    for var in (centered.square().mean(), x.square().mean() - x.mean().square()):
        yield centered / (var + eps).sqrt()


def check_verdict(text, found, right, most, room=1.5):
    """Check a verdict; a sum that is rounded otherwise may cost or save a bit."""
    if not found.isfinite().all():
        assert text == "NaN"
    elif not found.any():
        assert text == "zeros"
    else:
        told = 0 if text == "nonsense" else int(text)
        assert abs(told - max(0, bits(found, right, most))) < room


def check(explorer, shape, dtype, spread, offset, eps):
    careful, two, one, *moving = explorer.moving
    bars, texts, limit = moving[:4], moving[4:8], moving[8]
    exact = offset + spread * shape
    right, x = torchs(exact, eps), exact.to(getattr(torch, dtype))
    assert set(limit.get_xdata()) == {BITS[dtype]}
    for dots in (careful, two, one):
        torch.testing.assert_close(torch.from_numpy(dots.get_xdata()), right)
    shown = torch.from_numpy(careful.get_ydata())
    inside = shown.isfinite()
    if dtype != "float32":  # there the library rounds the mean, which shows far from zero
        library = torchs(x, eps).double()
        room = 4 * 2.0 ** -BITS[dtype] + 1e-6 * offset / spread
        torch.testing.assert_close(shown[inside], library[inside], rtol=room, atol=room)
    told = [text.get_text() for text in texts]
    for bar, text in zip(bars, told, strict=True):
        assert bar.get_width() == (int(text) if text.isdigit() else 0)
        assert text.isdigit() or text in ("NaN", "zeros", "nonsense")
    check_verdict(told[0], torchs(x.double(), eps), right, BITS[dtype], room=0.5001)
    for way, text in zip(by_hand(x, eps), told[2:], strict=True):
        check_verdict(text, way, right, BITS[dtype])
    names = ("row rounded, then exact", "statistics in float32", "two passes", "E[x²] − E[x]²")
    for name, text in zip(names, told, strict=True):
        assert f"{name}: {text}" in explorer.words


def test_in_every_state_the_picture_and_the_words_are_those_of_the_dtype(explorer):
    for values in every_state(explorer):
        check(explorer, default_row(), **values)


def told(explorer, preset):
    explorer.preset = preset
    return [text.get_text() for text in explorer.moving[7:11]]


def test_each_preset_shows_what_it_is_called(explorer):
    assert min(map(int, told(explorer, "all is well"))) >= 9
    assert told(explorer, "squares overflow")[2:] == ["zeros", "zeros"]
    assert not any(explorer.moving[1].get_ydata())
    assert told(explorer, "ε is lost") == ["11", "11", "NaN", "NaN"]
    assert told(explorer, "far from zero") == ["5", "5", "5", "nonsense"]
    assert told(explorer, "the row itself is lost")[:3] == ["3", "3", "3"]
    assert told(explorer, "float32, to compare") == ["24", "24", "24", "24"]


def test_a_row_beyond_the_largest_float16_is_nan_however_it_is_computed(explorer):
    explorer.values = {"dtype": "float16", "spread": 1e5, "offset": 0.0, "eps": 1e-5}
    assert [text.get_text() for text in explorer.moving[7:11]] == ["NaN"] * 4
    explorer.dtype = "bfloat16"
    assert [text.get_text() for text in explorer.moving[7:10]] == ["8", "8", "8"]


@pytest.mark.parametrize("row", [[7.0, 9.0], [[1, 2, 6]], [1e100, -1e100, 0]])
def test_a_row_of_ones_own_is_centered_and_scaled(explore, row):
    flat = torch.tensor(row, dtype=torch.float64).flatten()
    flat = flat / flat.abs().max()
    shape = (flat - flat.mean()) / flat.std(correction=0)
    explorer = explore(row=row, spread=3.0)
    check(explorer, shape, **explorer.values)
