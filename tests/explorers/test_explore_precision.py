"""The explorer of lesson 13 shows what PyTorch computes in each dtype, and judges it rightly."""

import math

import torch
import torch.nn.functional as F

from lnorm_course.explorers.precision import BITS, explore_precision, row

OTHERS = [{name: value} for name, value in (("dtype", "bfloat16"), ("dtype", "float32"))]
OTHERS += [{"spread": 1e-4}, {"spread": 1e5}, {"dtype": "bfloat16", "spread": 1e5}]
OTHERS += [{"offset": 1e4}, {"eps": 1e-12}, {"eps": 1e-3}]
CALLED = {  # what is said of the ways, for each preset
    "all is well": ("11", "11", "10", "10"),
    "squares overflow": ("11", "11", "zeros", "zeros"),
    "ε is lost": ("11", "11", "NaN", "NaN"),
    "far from zero": ("5", "5", "5", "nonsense"),
    "the row itself is lost": ("3", "3", "3"),
    "float32, to compare": ("24", "24", "24", "24"),
}


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
        error = ((found.double() - right).abs().max() / right.abs().max()).item()
        bits = min(most, -math.log2(error)) if error else most
        assert abs((0 if told == "nonsense" else int(told)) - max(0, bits)) < room


def test_verdicts_and_bits_are_those_of_pytorch_and_each_preset_shows_what_it_is_called():
    explorer = explore_precision()
    start, (cells, bars) = explorer.values_of(explorer.state), explorer.panels.values()
    presets = {state: name for name, state in explorer.presets.items()}
    for state in (*presets, *(explorer.state_of(start | values) for values in OTHERS)):
        words = explorer.move_to(state)
        dtype, spread, offset, eps = explorer.values_of(state).values()
        exact = offset + spread * row()
        x, right = exact.to(getattr(torch, dtype)), F.layer_norm(exact, (16,), eps=eps)
        told = [text.get_text() for text in bars[8:]]
        rooms = (0.5001, 1.5, 1.5, 1.5)
        for verdict, way, room in zip(told, by_hand(x, eps), rooms, strict=True):
            check_verdict(verdict, way, right, BITS[dtype], room)
        widths = [bar.get_width() for bar in bars[4:8]]
        assert widths == [int(verdict) if verdict.isdigit() else 0 for verdict in told]
        called = CALLED.get(presets.get(state), ())
        assert tuple(told[: len(called)]) == called

        near = x[row().abs().round(decimals=9).argmax()]
        centered = near - x.double().mean().to(x.dtype)
        stored = torch.stack([near, centered**2, near**2, torch.tensor(eps).double().to(x.dtype)])
        size = 8 * x.itemsize
        numbers = stored.view({16: torch.int16, 32: torch.int32}[size]).tolist()
        bits = [f"{number & 2**size - 1:0{size}b}" for number in numbers]
        ones = {(y, x) for mark in cells[1:6:2] for x, y in mark.get_xydata().astype(int).tolist()}
        assert ones == {(y, x) for y in range(4) for x in range(size) if bits[y][x] == "1"}
        assert sum(len(mark.get_xdata()) for mark in cells[:6:2]) == 4 * size
        assert ("x² as ∞" in words) == stored[2].isinf()
