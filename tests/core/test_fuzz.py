"""Whatever is drawn: the op keeps its digits, pictures draw, and a check never fails.

Always the same examples are drawn; FUZZ_TIMES=10 draws ten times as many.
"""

import functools
import importlib
import math
import os
import pkgutil
import re
import sys
import warnings
from collections import namedtuple
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from exercise_banks import EXERCISES
from hypothesis import HealthCheck, assume, given, reject, settings
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir
from matplotlib.text import Text

import lnorm_utils
from lnorm_utils import LayerNorm, layer_norm
from lnorm_utils.exercises.engine.feedback import State
from lnorm_utils.plotting import (
    curves,
    hist_encoding,
    hist_layer_normed,
    number_lines,
    points_before_after,
    shared_cells,
)

# Hypothesis also draws numbers that stand in the modules that are loaded. All of them are, so that
# this file draws the same alone and among the others.
for found in pkgutil.walk_packages(lnorm_utils.__path__, "lnorm_utils."):
    importlib.import_module(found.name)

# What it remembers of them goes beside what pytest remembers.
set_hypothesis_home_dir(Path(__file__).parents[2] / ".pytest_cache" / "hypothesis")

settings.register_profile(
    "course",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("course")
TIMES = int(os.environ.get("FUZZ_TIMES", "1"))


def examples(number):
    return settings(max_examples=number * TIMES)


# The op and the module.

HALF = (torch.float16, torch.bfloat16)
DTYPES = [*HALF, torch.float32, torch.float64]
LAYOUTS = ["contiguous", "transposed", "sliced", "flipped", "expanded"]
NOT_FINITE = [math.nan, math.inf, -math.inf]
seeds = st.integers(0, 10_000)


def normals(shape, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def laid_out(values, layout):
    """Return a tensor of the shape of `values` with other strides; expanded also changes values."""
    if layout == "transposed":
        return values.mT.contiguous().mT if values.ndim > 1 else values
    if layout == "sliced":
        wide = torch.full((*values.shape[:-1], 2 * values.shape[-1]), 7.0, dtype=values.dtype)
        wide[..., ::2] = values
        return wide[..., ::2]
    if layout == "expanded":
        return values[:1].expand(values.shape)
    if layout == "flipped":  # the axes lie in memory in the opposite order
        order = tuple(reversed(range(values.ndim)))
        return values.permute(order).contiguous().permute(order)
    return values


@st.composite
def cases(draw, dtypes=DTYPES, smallest=0, most=5, bad=True):
    """Draw the arguments of `layer_norm`: x, normalized_shape, weight, bias, eps."""
    sizes = st.sampled_from([s for s in (1, 2, 3, 4, 5, 7, 0) if s >= smallest])
    shape = [*draw(st.lists(sizes, max_size=most - 1)), draw(st.one_of(sizes, st.just(67)))]
    normalized = tuple(shape[-draw(st.integers(1, len(shape))) :])
    dtype = draw(st.sampled_from(dtypes))
    scale = draw(st.sampled_from([10.0**power for power in range(-8, 9)]))
    offset = draw(st.sampled_from([0.0, 1.0, -30.0, 1e3, -1e5, 1e6]))
    seed = draw(seeds)
    x = scale * normals(shape, seed) + offset
    if draw(st.sampled_from([False, False, False, True])):
        x = torch.full_like(x, offset)
    if bad and x.numel():
        for place in draw(st.lists(st.integers(0, x.numel() - 1), max_size=2)):
            x.view(-1)[place] = draw(st.sampled_from(NOT_FINITE))
    x = laid_out(x.to(dtype), draw(st.sampled_from(LAYOUTS)))
    kind = draw(st.sampled_from([dtype, torch.float32])) if dtype in HALF else dtype
    parameters = [
        laid_out((3 * normals(normalized, seed + n)).to(kind), draw(st.sampled_from(LAYOUTS)))
        if draw(st.booleans())
        else None
        for n in (1, 2)
    ]
    return x, normalized, *parameters, draw(st.sampled_from([1e-5, 1e-12, 1e-3, 0.1, 1.0, 0.0]))


def from_the_first(x, normalized):
    """Subtract the first feature of each row, which changes no layer norm: in float64 this is exact
    up to one rounding of the difference, and a mean that was large against the spread is gone."""
    first = x.double()[(..., *(slice(0, 1) for _ in normalized))]
    return x.double() - first


def float64_reference(x, normalized, weight, bias, eps):
    weight, bias = (p if p is None else p.double() for p in (weight, bias))
    return F.layer_norm(from_the_first(x, normalized), normalized, weight, bias, eps)


def tolerance(x, normalized, weight, bias, eps):
    """Bound the error of each output by what the roundings on the way to it can do.

    With u the unit roundoff of the dtype of the statistics (float32 for half precision), the mean
    is off by about u · max |x|. The second centering takes that off again and leaves a rounding of
    the distances, u · max |x − mean|, and of what was off, u · u · max |x|. Everything after it is
    a relative rounding: square, mean, eps, root, product, γ, β. That makes 8 of each, and no factor
    for the conditioning max |x| / √(var + eps), which PyTorch's own float32 has: on the same rows
    its error reaches 10⁷ of these units, and ours 5. At last y is rounded to the dtype of x.
    """
    axes = tuple(range(-len(normalized), 0))
    u = torch.finfo(torch.float32 if x.dtype in HALF else x.dtype).eps / 2
    centered = from_the_first(x, normalized)
    centered = centered - centered.mean(axes, keepdim=True)
    std = (centered.square().mean(axes, keepdim=True) + eps).sqrt()
    largest = (t.abs().amax(axes, keepdim=True) / std for t in (centered, u * x.double()))
    weight = 1.0 if weight is None else weight.double().abs()
    bias = 0.0 if bias is None else bias.double().abs()
    error = 8 * u * (weight * sum(largest) + bias)
    kept = torch.finfo(x.dtype)
    y = weight * centered.abs() / std + bias
    rounding = kept.eps / 2 * y if x.dtype in HALF else 0.0
    return (error + rounding + kept.smallest_normal * kept.eps).expand(x.shape)


def assert_close_to_float64(y, x, normalized, *rest):
    assert y.shape == x.shape
    assert y.dtype == x.dtype
    if x.numel() == 0:
        return
    axes = tuple(range(-len(normalized), 0))
    finite = x.isfinite().all(-1, keepdim=True)
    for axis in axes[:-1]:
        finite = finite.all(axis, keepdim=True)
    constant = (from_the_first(x, normalized) == 0).double().amin(axes, keepdim=True) == 1
    finite, zero_by_zero = (
        m.expand(x.shape) for m in (finite, finite & constant & (rest[-1] == 0.0))
    )
    assert y[~finite].isnan().all()
    told = finite & ~zero_by_zero
    difference = (y.double() - float64_reference(x, normalized, *rest)).abs()
    allowed = tolerance(x, normalized, *rest)
    assert (difference <= allowed)[told].all(), (difference / allowed)[told].max()


@examples(250)
@given(cases())
def test_the_op_has_the_digits_of_float64_in_every_dtype_and_layout(case):
    assert_close_to_float64(layer_norm(*case), *case)


@examples(100)
@given(cases(), st.booleans())
def test_the_module_has_the_digits_of_float64_and_is_the_op(case, in_float32):
    x, normalized, weight, bias, eps = case
    affine = weight is not None
    bias = bias if affine else None
    kind = torch.float32 if in_float32 and x.dtype in HALF else x.dtype
    layer = LayerNorm(normalized, eps, affine, bias is not None, dtype=kind)
    with torch.no_grad():
        for own, value in ((layer.weight, weight), (layer.bias, bias)):
            if own is not None:
                own.copy_(value)
    y = layer(x).detach()
    own = [p if p is None else p.detach() for p in (layer.weight, layer.bias)]
    assert_close_to_float64(y, x, normalized, *own, eps)
    assert torch.equal(y.nan_to_num(), layer_norm(x, normalized, *own, eps).nan_to_num())


@examples(60)
@given(cases(dtypes=[torch.float64], smallest=1, bad=False))
def test_the_mean_of_a_row_is_zero_and_its_variance_below_one(case):
    x, normalized, _, _, eps = case
    axes = tuple(range(-len(normalized), 0))
    assume(eps > 0)
    y = layer_norm(x, normalized, eps=eps)
    allowed = tolerance(x, normalized, None, None, eps).amax(axes)
    assert (y.mean(axes).abs() <= allowed).all()
    assert (y.square().mean(axes) <= (1 + allowed).square()).all()


@examples(60)
@given(cases(dtypes=[torch.float64], smallest=1, bad=False), st.integers(-40, 40))
def test_a_constant_and_a_scale_change_nothing(case, power):
    x, normalized, weight, bias, eps = case
    assume(eps > 0)
    # Powers of two: scaled x is exact, so each step is scaled and its rounding stays the same.
    one, other = (
        layer_norm(2.0**p * x, normalized, weight, bias, 4.0**p * eps) for p in (0, power)
    )
    assert torch.equal(one, other)
    # Whole numbers: the sum is exact.
    x = (x / x.abs().max().clamp(min=1.0) * 1000).round()
    moved = x + 2.0 ** abs(power)
    allowed = sum(tolerance(t, normalized, weight, bias, eps) for t in (x, moved))
    difference = layer_norm(moved, normalized, weight, bias, eps) - layer_norm(
        x, normalized, weight, bias, eps
    )
    assert (difference.abs() <= allowed).all()


@examples(60)
@given(cases(smallest=1), st.data())
def test_a_row_does_not_see_the_others(case, data):
    x, normalized, *rest = case
    rows = x.reshape(-1, *normalized)
    row = data.draw(st.integers(0, len(rows) - 1))
    other = rows.clone()
    other[torch.arange(len(rows)) != row] = data.draw(st.sampled_from([math.nan, math.inf, 0, 9]))
    one, two = (layer_norm(t, normalized, *rest)[row] for t in (rows.clone(), other))
    assert torch.equal(one.isnan(), two.isnan())
    assert torch.equal(one.nan_to_num(), two.nan_to_num())


@examples(60)
@given(cases(smallest=1, bad=False), seeds)
def test_features_in_another_order_give_the_outputs_in_that_order(case, seed):
    x, normalized, weight, bias, eps = case
    assume(eps > 0 and x.isfinite().all())
    order = torch.randperm(normalized[-1], generator=torch.Generator().manual_seed(seed))
    there = [t if t is None else t[..., order] for t in (x, weight, bias)]
    difference = layer_norm(there[0], normalized, *there[1:], eps).double()
    difference -= layer_norm(x, normalized, weight, bias, eps)[..., order].double()
    allowed = 2 * tolerance(x, normalized, weight, bias, eps)[..., order]
    assert (difference.abs() <= allowed).all()


@examples(8)
@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=3),
    st.data(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0.1, 1.0, 0.01]),
    seeds,
)
def test_gradients_and_second_gradients_are_those_of_finite_differences(
    shape, data, affine, bias, eps, seed
):
    normalized = tuple(shape[-data.draw(st.integers(1, len(shape))) :])
    x = normals(shape, seed).requires_grad_()
    layer = LayerNorm(normalized, eps, affine, bias, dtype=torch.float64)
    for number, parameter in enumerate(layer.parameters()):
        parameter.data = normals(normalized, seed + number + 1) + 1
    own = [p.detach().clone().requires_grad_() for p in layer.parameters()]

    def op(x, *own):
        return layer_norm(x, normalized, *own, eps=eps)

    assert torch.autograd.gradcheck(op, (x, *own))
    assert torch.autograd.gradgradcheck(op, (x, *own))
    assert torch.autograd.gradcheck(layer, x)
    assert torch.autograd.gradgradcheck(layer, x)


# Pictures.

FORMS = {
    "float64": lambda a: a,
    "float32": lambda a: a.astype(np.float32),
    "list": lambda a: a.tolist(),
    "object": lambda a: a.astype(object),
    "integer": lambda a: np.nan_to_num(a).clip(-1e18, 1e18).astype(np.int64),
    "bool": lambda a: a > 0,
    "tensor": torch.as_tensor,
    "with grad": lambda a: torch.as_tensor(a).requires_grad_(),
    "bfloat16": lambda a: torch.as_tensor(a).bfloat16(),
    "complex": lambda a: a + 0j,
}
SCALES = [0.0, 5e-324, 1e-300, 1e-30, 1e-8, 1.0, 1.0, 1.0, 1e3, 1e8, 1e30, 1e99, 1e300]
OFFSETS = [0.0, 0.0, 0.0, 0.0, 1.0, -1e6, 1e16, 1e99, 1.7e308]
SPECIAL = [*NOT_FINITE, 0.0, -0.0, 5e-324, -1e99, -1.7e308]
NO_ARRAYS = ["text", None, {}, {"a": 1}, {1.0, 2.0}, [[1.0], [1.0, 2.0]], object(), len, [["a"]]]


@st.composite
def arrays(draw, shapes):
    """Draw something that is like an array, or, rarely, nothing of the kind."""
    if draw(st.integers(0, 15)) == 15:
        return draw(st.sampled_from(NO_ARRAYS))
    shape = draw(shapes)
    values = np.random.default_rng(draw(seeds)).standard_normal(shape)
    with np.errstate(all="ignore"):
        values = values * draw(st.sampled_from(SCALES)) + draw(st.sampled_from(OFFSETS))
        values = np.array(values)
        values[~np.isfinite(values)] = 1.7e308
        if values.size:
            for place in draw(st.lists(st.integers(0, values.size - 1), max_size=3)):
                values.flat[place] = draw(st.sampled_from(SPECIAL))
        return FORMS[draw(st.sampled_from(list(FORMS)))](values)


sizes = st.integers(0, 4)
any_shape = st.lists(sizes, max_size=5).map(tuple)
one_shape = st.one_of(
    st.tuples(st.integers(1, 5), st.integers(1, 5)),
    st.tuples(st.integers(1, 3), st.integers(1, 2), st.integers(1, 4)),
    st.just((1, 3000)),
    any_shape,
)


def picture_or_sentence(draw, *arguments, **options):
    """Return the picture, drawn; or None if one clear sentence says why there is none."""
    sentence = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            picture = draw(*arguments, **options)
        except (ValueError, TypeError) as error:
            sentence, picture = str(error), None
        assert picture is None or picture.png().startswith(b"\x89PNG")
    assert picture or re.fullmatch(r"[A-Za-z][^\n]{20,}[^ .]\.", sentence), sentence
    return picture


def numbers_in(*values):
    """Return the numbers of each of what a picture was made from."""
    tensors = (
        value.detach().double() if isinstance(value, torch.Tensor) else value for value in values
    )
    return [np.asarray(value, dtype=float).ravel() for value in tensors]


def assert_words_for_numbers(picture, *values):
    """Finite data make no text with nan or inf, in titles, labels, ticks and words."""
    if not all(np.isfinite(v).all() for v in numbers_in(*values)):
        return
    texts = [t.get_text() for t in picture.findobj(Text)]
    for text in [*texts, picture.alt, picture.words]:
        assert not re.search(r"\b(nan|inf)\b", text, re.IGNORECASE), text


def assert_inside(ax, xs, ys):
    """What is finite of these coordinates lies within the limits of the axes."""
    for values, (low, high) in ((xs, ax.get_xlim()), (ys, ax.get_ylim())):
        values = np.asarray(values, dtype=float)
        values = values[np.isfinite(values)]
        assert ((min(low, high) <= values) & (values <= max(low, high))).all(), (values, low, high)


def assert_all_finite_points_are_drawn(axes, values):
    (numbers,) = numbers_in(values)
    drawn = np.concatenate([line.get_ydata() for ax in axes for line in ax.lines])
    assert np.isfinite(drawn).sum() == np.isfinite(numbers).sum()


@examples(10)
@given(arrays(one_shape))
def test_a_histogram_draws_every_finite_value(values):
    if picture := picture_or_sentence(hist_encoding, values):
        assert_words_for_numbers(picture, values)
        steps = [(ax, p.get_data()) for ax in picture.axes for p in ax.patches]
        for ax, (counts, edges, _) in steps:
            assert_inside(ax, edges, counts)
        counted = sum(counts.sum() for _, (counts, _, _) in steps)
        assert counted == sum(np.isfinite(v).sum() for v in numbers_in(values))


@examples(6)
@given(arrays(one_shape), arrays(one_shape), st.booleans())
def test_histograms_before_and_after_draw_every_finite_value(before, after, same):
    after = before if same else after
    if picture := picture_or_sentence(hist_layer_normed, before, after):
        assert_words_for_numbers(picture, before, after)
        steps = [
            (ax, p.get_data()) for ax in picture.axes for p in ax.patches if hasattr(p, "get_data")
        ]
        for ax, (counts, edges, _) in steps:
            assert_inside(ax, edges, counts)
        counted = sum(counts.sum() for _, (counts, _, _) in steps)
        assert counted == sum(np.isfinite(v).sum() for v in numbers_in(before, after))


@examples(10)
@given(arrays(one_shape))
def test_number_lines_draw_every_finite_value(values):
    if picture := picture_or_sentence(number_lines, values):
        assert_words_for_numbers(picture, values)
        (ax,) = picture.axes
        for line in ax.lines:
            assert_inside(ax, *line.get_data())
        for segment in ax.collections[0].get_segments():
            assert_inside(ax, *segment.reshape(-1, 2).T)
        (numbers,) = numbers_in(values)
        assert np.isfinite(ax.lines[0].get_xdata()).sum() == np.isfinite(numbers).sum()


two_or_three = st.one_of(
    st.tuples(st.integers(1, 5), st.sampled_from([2, 3])),
    st.tuples(st.integers(1, 40), st.sampled_from([2, 3])),
    st.tuples(st.integers(0, 5), st.integers(1, 4)),
    any_shape,
)


@examples(10)
@given(st.data(), two_or_three, st.booleans())
def test_points_before_and_after_are_drawn_inside(data, shape, other):
    before = data.draw(arrays(st.just(shape)))
    after = data.draw(arrays(two_or_three if other else st.just(shape)))
    if picture := picture_or_sentence(points_before_after, before, after):
        assert_words_for_numbers(picture, before, after)
        for ax in picture.axes:
            for line in ax.lines:
                assert_inside(ax, *line.get_data())
        finite = np.ones(shape[0], dtype=bool)
        for numbers in numbers_in(before, after):
            finite &= np.isfinite(numbers.reshape(shape)).all(1)
        drawn = sum(len(line.get_xdata()) for ax in picture.axes for line in ax.lines)
        assert drawn == 2 * finite.sum()


@examples(12)
@given(
    arrays(
        st.one_of(
            st.lists(st.integers(1, 3), min_size=2, max_size=4).map(tuple),
            st.lists(st.integers(1, 3), min_size=2, max_size=4).map(tuple),
            st.lists(st.integers(0, 3), max_size=5).map(tuple),
        )
    ),
    st.sampled_from([0, -1, 1, (0, 1), [-1, -2], [0, -1], -2, 2, (1, 2, 3), 5, (), None, "0", 1.5]),
)
def test_a_table_has_a_cell_for_each_number(values, dim):
    if picture := picture_or_sentence(shared_cells, values, dim):
        assert_words_for_numbers(picture, values)
        cells = [(ax, patch) for ax in picture.axes for patch in ax.patches]
        for ax, patch in cells:
            assert_inside(ax, *patch.get_bbox().get_points().T)
        assert len(cells) == sum(v.size for v in numbers_in(values))


lengths = st.sampled_from([1, 2, 3, 12, 2000, 0])


@examples(12)
@given(st.data(), lengths, st.sampled_from(["", "x", "y", "xy"]), st.booleans())
def test_curves_draw_every_finite_value(data, length, log, joined):
    shapes = st.sampled_from([*[(length,)] * 12, (length, 1), (), (length + 1,)])
    x = data.draw(arrays(shapes))
    most = data.draw(st.sampled_from([1, 2, 4, 5, 0]))
    lines = data.draw(st.lists(arrays(shapes), min_size=min(most, 1), max_size=most))
    lines = {f"line {n}": line for n, line in enumerate(lines)}
    levels = {f"level {n}": v for n, v in enumerate(data.draw(st.lists(heights, max_size=2)))}
    options = {"title": "Title", "xlabel": "x", "ylabel": "y", "log": log, "joined": joined}
    if picture := picture_or_sentence(curves, x, lines, levels=levels, **options):
        assert_words_for_numbers(picture, x, list(levels.values()), *lines.values())
        (ax,) = picture.axes
        for line in ax.lines[: len(lines)]:
            xs, ys = (np.asarray(d, dtype=float) for d in line.get_data())
            seen = np.isfinite(xs) & np.isfinite(ys)
            seen &= (xs > 0) | (ax.get_xscale() != "log")
            seen &= (ys > 0) | (ax.get_yscale() != "log")
            assert_inside(ax, xs[seen], ys[seen])


heights = st.sampled_from([0.0, 0.5, -3.0, 1e-9, 1e99, *NOT_FINITE])


@pytest.mark.parametrize("draw", [hist_encoding, number_lines, shared_cells])
@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([[1.0, 1e300]], "up to 1e+100, but got 1e+300"),
        ([[1.7e308, -1.7e308]], "up to 1e+100, but got 1.7e+308"),
        (
            [[1.0], [1.0, 2.0]],
            "rows of equal length, but cannot make one of what was given, a list",
        ),
        (np.array([[1j]]), "real numbers"),
        (torch.tensor([[1j]]), "real numbers"),
        ({}, "a dict"),
    ],
)
def test_what_cannot_be_drawn_is_named_and_not_drawn_in_part(draw, values, words):
    with pytest.raises((ValueError, TypeError)) as raised:
        draw(values)
    assert words in str(raised.value)


@pytest.mark.parametrize("log", ["x", "y", "xy"])
def test_a_logarithmic_axis_without_any_point_is_drawn(log):
    picture = curves([math.nan] * 2, {"a": [1, 2]}, title="t", xlabel="x", ylabel="y", log=log)
    assert picture.png()
    assert "cannot be drawn" in picture.words


# Exercises.


class UnspeakableError(Exception):
    def __str__(self):
        raise ValueError


ERRORS = [ValueError, TypeError, AttributeError, StopIteration, RecursionError, UnspeakableError]
ERRORS += [SystemExit, GeneratorExit, BaseException, MemoryError, AssertionError]
BASES = [object, int, float, str, list, tuple, dict, torch.Tensor, np.ndarray, torch.nn.Module]
SPOILED = [
    "__eq__",
    "__ne__",
    "__lt__",
    "__repr__",
    "__str__",
    "__format__",
    "__bool__",
    "__len__",
    "__iter__",
    "__next__",
    "__hash__",
    "__float__",
    "__int__",
    "__index__",
    "__getitem__",
    "__contains__",
    "__call__",
    "__sub__",
    "__rsub__",
    "__abs__",
    "__array__",
    "__array_ufunc__",
    "__array_function__",
    "__array_interface__",
    "__torch_function__",
    "__class__",
    "__getattr__",
    "__getattribute__",
    "__reduce_ex__",
    "__name__",
    "__module__",
    "__dict__",
]
SPOILED += [
    "shape",
    "ndim",
    "dtype",
    "item",
    "tolist",
    "detach",
    "cpu",
    "forward",
    "named_parameters",
]
MEMBERS = ["__init__", "__call__", "forward", "weight", "bias", "named_parameters"]
DOES = ["raises", "property raises", "says True", "is itself", "says a text", "is None"]
TENSORS = [str(d) for d in vars(torch).values() if isinstance(d, torch.dtype)]
Pair = namedtuple("Pair", "first second")
# Objects that no recipe makes, each made anew, because some can be used only once.
SINGLE = {
    "object": object,
    "NotImplemented": lambda: NotImplemented,
    "iterator": lambda: iter([3]),
    "generator": lambda: (number for number in range(3)),
    "range": lambda: range(10**12),
    "slice": lambda: slice(3),
    "huge": lambda: 10**400,
    "Decimal": lambda: Decimal("NaN"),
    "Fraction": lambda: Fraction(1, 3),
    "named tuple": lambda: Pair(3, 2),
    "bytes": lambda: b"\xff",
    "surrogate": lambda: "\ud800",
    "list in itself": lambda: (lambda a: a.append(a) or a)([]),
    "deep list": lambda: functools.reduce(lambda inner, _: [inner], range(5000), []),
    "module": lambda: torch,
    "tensor class": lambda: torch.Tensor,
    "layer": lambda: torch.nn.LayerNorm(3),
    "layer class": lambda: torch.nn.BatchNorm1d,
    "parameter": lambda: torch.nn.Parameter(torch.ones(2)),
    "sparse tensor": lambda: torch.eye(3).to_sparse(),
    "meta tensor": lambda: torch.ones(2, 3, device="meta"),
    "expanded tensor": lambda: torch.ones(1).expand(10**9),
    "masked array": lambda: np.ma.masked,
    "array of objects": lambda: np.array([object(), None], dtype=object),
    "array of words": lambda: np.array(["a", "b"]),
    "array of dates": lambda: np.array(["2026-01-01"], dtype="datetime64[D]"),
    "records": lambda: np.zeros(2, dtype=[("a", int)]),
    "exception": lambda: ValueError("three"),
    "lambda": lambda: lambda: 3,
}

WAYS = {
    "unchanged": lambda x, *more: x,
    "last": lambda *arguments: arguments[-1],
    "all": lambda *arguments: arguments,
    "integers": lambda x, *more: x.int(),
    "half": lambda x, *more: x.half(),
    "array": lambda x, *more: x.numpy(),
    "list": lambda x, *more: x.tolist(),
    "empty": lambda x, *more: x[..., :0],
    "one axis more": lambda x, *more: x[None],
    "complex": lambda x, *more: x + 0j,
    "sparse": lambda x, *more: x.to_sparse(),
    "with grad": lambda x, *more: x.requires_grad_(),
    "zeroed": lambda x, *more: x.zero_(),
    "resized": lambda x, *more: x.resize_(0),
    "input of another dtype": lambda x, *more: setattr(x, "data", x.data.int()),
    "no argument": lambda: 3,
    "five arguments": lambda a, b, c, d, e: a,
    "keyword only": lambda *, x: x,
    "keywords": lambda **named: named,
    "print": print,
    "len": len,
    "partial": functools.partial(torch.add, other=1),
    "method": "text".join,
    "generator function": lambda *arguments: (yield arguments),
    "closed output": lambda *arguments: sys.stdout.close(),
    "endless recursion": lambda *arguments: WAYS["endless recursion"](*arguments),
}

plain_objects = st.one_of(
    st.booleans(),
    st.none(),
    st.integers(-3, 30),
    st.integers(),
    st.floats(),
    st.complex_numbers(),
    st.text(max_size=20),
    st.sampled_from(["rows", "columns", "both", "neither", "batch", "pre", "post", "<b>"]),
    st.binary(max_size=5),
)
methods = st.lists(st.tuples(st.sampled_from(SPOILED), st.sampled_from(DOES)), max_size=4)
single_objects = st.one_of(
    st.tuples(st.just("plain"), plain_objects),
    st.tuples(st.just("single"), st.sampled_from(list(SINGLE))),
    st.tuples(
        st.just("tensor"),
        st.lists(st.integers(0, 4), max_size=4),
        st.sampled_from(TENSORS),
        st.sampled_from([0, 1, 2, math.nan, -math.inf]),
    ),
    st.tuples(
        st.just("array"),
        st.lists(st.integers(0, 4), max_size=4),
        st.sampled_from(["f2", "f4", "f8", "i1", "u8", "?", "c8", "O", "U3", "V4", "m8[s]"]),
    ),
    st.tuples(
        st.just("spoiled"),
        st.sampled_from(BASES),
        methods,
        st.sampled_from(ERRORS),
        st.sampled_from([False, False, True]),
    ),
)
objects = st.recursive(
    single_objects,
    lambda inner: st.tuples(
        st.just("container"),
        st.sampled_from([list, tuple, set, frozenset, dict, torch.Size, iter, np.array]),
        st.lists(inner, max_size=3),
    ),
    max_leaves=4,
)
attempts = st.one_of(
    objects,
    st.tuples(st.just("function"), objects),
    st.tuples(st.just("error"), st.sampled_from(ERRORS)),
    st.tuples(st.just("way"), st.sampled_from(list(WAYS))),
    st.tuples(
        st.just("class"),
        st.sampled_from([object, torch.nn.Module, torch.nn.Linear]),
        st.dictionaries(
            st.sampled_from(MEMBERS),
            st.one_of(objects, st.tuples(st.just("error"), st.sampled_from(ERRORS))),
            max_size=3,
        ),
    ),
)


def method(what, error):
    def raises(*arguments, **named):
        raise error

    if what == "raises":
        return raises
    if what == "property raises":
        return property(raises)
    results = {"says True": True, "says a text": "text", "is None": None}
    return lambda *arguments, **named: results.get(what, arguments[0] if arguments else None)


def spoiled(base, methods, error, of_class):
    """Make an object of a class, or the class itself, whose methods raise or lie."""
    made = {name: method(what, error) for name, what in methods}
    if of_class:
        meta = type("Meta", (type(base),), made)
        return meta("Spoiled", (base,), {})
    if "__torch_function__" in made:
        made["__torch_function__"] = classmethod(made["__torch_function__"])
    kind = type("Spoiled", (base,), made)
    if issubclass(kind, torch.Tensor):
        return torch.Tensor.as_subclass(torch.ones(2, 3), kind)
    if issubclass(kind, np.ndarray):
        return np.ndarray.__new__(kind, (2, 3))
    instance = base.__new__(kind, *([3] if base in (int, float, str) else []))
    return instance


def make(recipe):
    """Make the object that a recipe describes; recipes can be printed, objects not always."""
    kind, *how = recipe
    if kind == "plain":
        return how[0]
    if kind == "single":
        return SINGLE[how[0]]()
    if kind == "tensor":
        shape, dtype, value = how
        return torch.full(shape, value).to(getattr(torch, dtype.removeprefix("torch.")))
    if kind == "array":
        return np.zeros(*how)
    if kind == "spoiled":
        return spoiled(*how)
    if kind == "container":
        outer, inner = how
        inner = [make(one) for one in inner]
        return outer(dict(enumerate(inner)) if outer is dict else inner)
    if kind == "function":
        return lambda *arguments, **named: make(how[0])
    if kind == "error":
        return method("raises", how[0])
    if kind == "way":
        return WAYS[how[0]]
    base, members = how
    made = {
        name: make(one)
        if name in ("weight", "bias") or one[0] == "error"
        else make(("function", one))
        for name, one in members.items()
    }
    return type("Layer", (base,), made)


def made(recipe):
    try:
        return make(recipe)
    except KeyboardInterrupt:
        raise
    except BaseException:  # there is no such object
        reject()


def is_the_answer(exercise, attempt):
    """Tell by other means than `check` whether a prediction is right."""
    if exercise.inputs is not None:
        return False
    for right in (answer() for answer in exercise.answers):
        if isinstance(right, str):
            if isinstance(attempt, str) and str.lower(attempt).split() == right.lower().split():
                return True
        elif isinstance(right, bool):
            if np.array(attempt).dtype == bool and np.array_equal(attempt, right):
                return True
        elif np.array(attempt).dtype.kind in "iuf" and np.shape(attempt) == np.shape(right):
            return np.allclose(np.array(attempt, float), right, rtol=0, atol=exercise.within)
    return False


@examples(80)
@given(attempts)
def test_a_check_tells_any_object_in_words_and_calls_only_the_answer_right(recipe):
    for exercise in EXERCISES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            feedback = exercise.check(made(recipe))
        assert feedback.state in (State.RIGHT, State.WRONG, State.NOT_ATTEMPTED), exercise.name
        if feedback.state is State.RIGHT:
            assert is_the_answer(exercise, made(recipe)), exercise.name
        else:
            assert len(feedback.message.split()) > 2, exercise.name
        assert repr(feedback).startswith(feedback.state.value)
        assert feedback._repr_html_()


class AlwaysEqual(str):
    __hash__ = None

    def __eq__(self, other):
        return True


class Unclassed:
    def __call__(self, *arguments):
        return self

    @property
    def __class__(self):
        raise ValueError


class Exiting:
    @property
    def __float__(self):
        raise SystemExit


class AlwaysClose(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, arguments=(), named=None):
        if function is torch.allclose:
            return True
        return super().__torch_function__(function, types, arguments, named or {})


FOUND = {
    "an error without words": method("raises", UnspeakableError),
    "closed output": WAYS["closed output"],
    "a class that is not told": Unclassed(),
    "returns what has no class": lambda *arguments: Unclassed(),
    "returns what exits": lambda *arguments: Exiting(),
    "a word that equals all others": AlwaysEqual("x"),
    "a billion numbers": torch.ones(1).expand(10**9),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_was_once_found_is_told_and_is_not_right(name):
    for exercise in EXERCISES:
        feedback = exercise.check(FOUND[name])
        assert feedback.state in (State.WRONG, State.NOT_ATTEMPTED)
        assert len(feedback.message.split()) > 2


def test_a_tensor_does_not_answer_for_pytorch_whether_it_is_right():
    for exercise in EXERCISES:
        if exercise.inputs and exercise.trial is None:
            answer = exercise.answers[0]

            def zeros(*arguments, answer=answer):
                right = torch.as_tensor(answer(*arguments))
                return torch.zeros_like(right).as_subclass(AlwaysClose)

            if exercise.expected(answer)[0] is not True:
                assert exercise.check(zeros).state is State.WRONG, exercise.name
