"""The explorer of lesson 13 shows what PyTorch computes in each dtype, and judges it rightly."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from lnorm_course.explorers.precision import (
    BITS,
    OFFSETS,
    PRESETS,
    SPREADS,
    bits_of,
    explore_precision,
    normed,
    row,
)

STARTS = {"dtype": "float16", "spread": 1.0, "offset": 0.0, "eps": 1e-5}
ENDS = {
    "dtype": tuple(BITS),
    "spread": (SPREADS[0], SPREADS[-1]),
    "offset": (OFFSETS[0], OFFSETS[-1]),
    "eps": (1e-12, 1e-3),
}


def bits(found, right, most):
    """Return how many bits are right, not rounded to a whole number."""
    error = ((found.double() - right).abs().max() / right.abs().max()).item()
    return min(most, -math.log2(error)) if error else most


def by_hand(x, eps):
    """Return the norm in float64, in float32, by two passes, and by E[x²] − E[x]²."""
    # A mean that is off by its last digit costs bits far from zero, so it is rounded once.
    centered, wide = (v - v.double().mean().to(v.dtype) for v in (x, x.float()))
    yield F.layer_norm(x.double(), x.shape, eps=eps)
    # PyTorch subtracts the mean after it has divided, which loses bits far from zero.
    yield F.layer_norm(wide, x.shape, eps=eps).to(x.dtype)
    for var in (centered.square().mean(), x.square().mean() - x.mean().square()):
        yield centered / (var + eps).sqrt()


def check_verdict(told, found, right, most, room):
    """Check a verdict; a sum that is rounded otherwise may cost or save a bit."""
    if not found.isfinite().all():
        assert told == "NaN"
    elif not found.any():
        assert told == "zeros"
    else:
        told = 0 if told == "nonsense" else told
        assert abs(told - max(0, bits(found, right, most))) < room


def states():
    """List the presets, and the start with one control at its ends."""
    ends = [{name: end} for name, values in ENDS.items() for end in values]
    return [{**STARTS, **values} for values in (*PRESETS.values(), *ends)]


def test_the_ways_are_those_of_pytorch_and_their_right_bits_are_counted():
    for dtype, spread, offset, eps in map(dict.values, states()):
        found, exact = normed(dtype, spread, offset, eps), offset + spread * row()
        x, right = exact.to(getattr(torch, dtype)), F.layer_norm(exact, (16,), eps=eps)
        rooms = (0.5001, 1.5, 1.5, 1.5)
        for told, way, room in zip(found.verdicts.values(), by_hand(x, eps), rooms, strict=True):
            check_verdict(told, way, right, BITS[dtype], room)
        near = x[row().abs().round(decimals=9).argmax()]
        centered = near - x.double().mean().to(x.dtype)
        expected = torch.stack([near, centered**2, near**2, torch.tensor(eps).double().to(x.dtype)])
        torch.testing.assert_close(found.stored, expected, equal_nan=True, rtol=0, atol=0)


def test_bits_are_those_that_python_writes():
    for number in (1.63867, -0.1, 65504.0, 6e-8, math.inf):
        (found,) = bits_of(torch.tensor([number]).half(), 16)
        assert "".join(map(str, found)) == f"{int(np.float16(number).view(np.uint16)):016b}"


def told(values):
    return [*normed(**{**STARTS, **values}).verdicts.values()]


def test_each_preset_shows_what_it_is_called():
    assert min(told(PRESETS["all is well"])) >= 9
    assert told(PRESETS["squares overflow"])[2:] == ["zeros", "zeros"]
    assert told(PRESETS["ε is lost"]) == [11, 11, "NaN", "NaN"]
    assert told(PRESETS["far from zero"]) == [5, 5, 5, "nonsense"]
    assert told(PRESETS["the row itself is lost"])[:3] == [3, 3, 3]
    assert told(PRESETS["float32, to compare"]) == [24, 24, 24, 24]
    assert told({"spread": 1e5}) == ["NaN"] * 4
    assert told({"spread": 1e5, "dtype": "bfloat16"})[:3] == [8, 8, 8]


def test_cells_and_bars_show_what_was_computed():
    explorer = explore_precision(preset="squares overflow")
    words, found = explorer.words, normed("float16", 300.0, 0.0, 1e-5)
    cells, bars = explorer.panels.values()
    ones = {(y, x) for mark in cells[1:6:2] for x, y in mark.get_xydata().astype(int).tolist()}
    assert ones == {*map(tuple, np.argwhere(bits_of(found.stored, 16)).tolist())}
    assert [len(mark.get_xdata()) for mark in cells[:6:2]] == [4, 20, 40]
    assert [bar.get_width() for bar in bars[4:8]] == [11, 11, 0, 0]
    assert [text.get_text() for text in bars[8:]] == ["11", "11", "zeros", "zeros"]
    assert "x² as ∞" in words
