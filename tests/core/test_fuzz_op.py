"""Whatever tensor is given: the op and the module keep their digits."""

import torch
import torch.nn.functional as F
from fuzzing import NOT_FINITE, examples, seeds
from hypothesis import assume, given
from hypothesis import strategies as st

from lnorm_utils import layer_norm

HALF = (torch.float16, torch.bfloat16)
DTYPES = [*HALF, torch.float32, torch.float64]
LAYOUTS = ["contiguous", "transposed", "sliced", "flipped", "expanded"]


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
def cases(draw, dtypes=DTYPES, smallest=0, bad=True):
    """Draw the arguments of `layer_norm`: x, normalized_shape, weight, bias, eps."""
    sizes = st.sampled_from([s for s in (1, 2, 3, 4, 5, 7, 0) if s >= smallest])
    shape = [*draw(st.lists(sizes, max_size=4)), draw(st.one_of(sizes, st.just(67)))]
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


@examples(60)
@given(cases(dtypes=[torch.float64], smallest=1, bad=False), st.integers(-40, 40))
def test_a_power_of_two_in_x_and_in_the_root_of_eps_changes_no_bit(case, power):
    x, normalized, weight, bias, eps = case
    assume(eps > 0)
    # Both are scaled, because another layout in memory adds up in another order.
    one, other = (
        layer_norm(2.0**p * x, normalized, weight, bias, 4.0**p * eps) for p in (0, power)
    )
    assert torch.equal(one, other)
