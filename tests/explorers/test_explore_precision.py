"""The explorer of lesson 13 shows what PyTorch computes in each dtype, and judges it rightly."""

import math

import torch
import torch.nn.functional as F
from explorer_fixtures import every_state, moved_by_tests

from lnorm_course.explorers import explore_precision
from lnorm_utils.words import significant

explorer = moved_by_tests(explore_precision)
BITS = {"float16": 11, "bfloat16": 8, "float32": 24}
CELLS = {"float16": [1, 5, 10], "bfloat16": [1, 8, 7], "float32": [1, 8, 23]}


def default_row():
    row = torch.randn(16, generator=torch.Generator().manual_seed(140)).round(decimals=4).double()
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


def check_cells(explorer, shape, exact, dtype, eps):
    """Read the numbers off their bits; they are the farthest feature, its squares, and ε."""
    zeros, ones, texts = (explorer.moving[a:b] for a, b in ((0, 3), (3, 6), (7, 11)))
    assert [len(corners([part])) // 4 for part in zeros] == CELLS[dtype]
    dark = {*corners(ones)}
    bits = "".join(str(int(cell in dark)) for cell in sorted(corners(zeros)))
    size = len(bits) // 4
    bars = explorer.moving[6].get_path().vertices[::2]  # one in each dark cell
    assert sorted((int(y), int(x * size)) for x, y in bars) == sorted(
        (int(y), round(x * size)) for y, x in dark
    )
    whole = torch.tensor([int(bits[n * size :][:size], 2) for n in range(4)])
    kind = getattr(torch, dtype)
    stored = whole.to(torch.int16 if size == 16 else torch.int32).view(kind)
    x = exact.to(kind)
    near = x[shape.abs().round(decimals=9).argmax()]
    centered = near - x.double().mean().to(kind)
    right = torch.stack([near, centered**2, near**2, torch.tensor(eps).double().to(kind)])
    torch.testing.assert_close(stored, right, equal_nan=True, rtol=0, atol=0)
    for text, value in zip(texts, stored.tolist(), strict=True):
        told = text.get_text().split("stored: ")[1]
        assert f" as {told}" in explorer.words
        if math.isfinite(value):
            assert told == significant(value, 6)
        else:
            assert told in ("∞", "−∞", "NaN")


def corners(patches):
    """Return where cells begin: row, and from left to right."""
    vertices = [v for patch in patches for v in patch.get_path().vertices[::5].tolist()]
    return [(y, x) for x, y in vertices]


def check(explorer, shape, dtype, spread, offset, eps):
    frames, bars, texts = (explorer.moving[n : n + 4] for n in (11, 15, 19))
    exact = offset + spread * shape
    right, x = torchs(exact, eps), exact.to(getattr(torch, dtype))
    assert {frame.get_width() for frame in frames} == {BITS[dtype]}
    check_cells(explorer, shape, exact, dtype, eps)
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
    return [text.get_text() for text in explorer.moving[19:23]]


def test_each_preset_shows_what_it_is_called(explorer):
    assert min(map(int, told(explorer, "all is well"))) >= 9
    assert told(explorer, "squares overflow")[2:] == ["zeros", "zeros"]
    assert told(explorer, "ε is lost") == ["11", "11", "NaN", "NaN"]
    assert told(explorer, "far from zero") == ["5", "5", "5", "nonsense"]
    assert told(explorer, "the row itself is lost")[:3] == ["3", "3", "3"]
    assert told(explorer, "float32, to compare") == ["24", "24", "24", "24"]


def test_a_row_beyond_the_largest_float16_is_nan_however_it_is_computed(explorer):
    explorer.values = {"dtype": "float16", "spread": 1e5, "offset": 0.0, "eps": 1e-5}
    assert [text.get_text() for text in explorer.moving[19:23]] == ["NaN"] * 4
    explorer.dtype = "bfloat16"
    assert [text.get_text() for text in explorer.moving[19:22]] == ["8", "8", "8"]
