"""Say what was done to numbers that would be right: they are cut off, moved, rounded, or scaled."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real

import torch
import torch.nn.functional as F
from torch import Tensor

from lnorm_course.checking.comparing import close_numbers, dtypes_agree
from lnorm_course.checking.factors import off_by_a_number, off_by_a_size, off_in_slices
from lnorm_utils.words import counted, dtype_name, significant

__all__ = ["off_by_slices", "unfinished"]

MOST_DECIMALS = 6
MOST_AXES = 4  # whose orders are all tried
MOST_BY_CHANCE = 3  # so few different numbers may be whole, or zeros, for another reason
FEWEST = 4  # different numbers that show what was done to each
AT_THE_END: Mapping[str, Callable[[Tensor], Tensor]] = {
    "the absolute value of": torch.abs,
    "the square of": torch.square,
    "the square root of": torch.sqrt,
    "one divided by": torch.reciprocal,
    "tanh of": torch.tanh,
    "the sigmoid of": torch.sigmoid,
    "the exponential of": torch.exp,
    "the logarithm of": torch.log,
    "the GELU of": F.gelu,
    "the SiLU of": F.silu,
}


def unfinished(
    results: Sequence[object],
    right: Sequence[object],
    within: float,
    sizes: Sequence[Mapping[str, int]] = (),
) -> str:
    """Say what was done to numbers that would be right; empty if nothing is known for sure.

    Args:
        results, right: what an attempt returned for the inputs, and what is right.
        within: how far a number may be from another one that is called equal.
        sizes: for each input, as `factors.sizes_of` returns them.
    """
    pairs = _pairs(results, right)
    if not pairs:
        return ""
    if all(_is_first_part(r, w, within) for r, w in pairs):
        return "You returned only the first part of the right result."
    if not all(dtypes_agree(r, w) for r, w in pairs):
        return ""
    if moved := _moved(pairs, within):
        return moved
    if any(r.shape != w.shape for r, w in pairs):
        return ""
    if not all(r.is_floating_point() and w.is_floating_point() for r, w in pairs):
        return ""
    gaps = [_has_gaps(r, w, within) for r, w in pairs]
    whole = (bool(close_numbers(r, w, within).all()) for r, w in pairs)
    if gaps[0] and all(gap or right for gap, right in zip(gaps, whole, strict=True)):
        return (
            "Some numbers are right, and all others are 0, as if they were never computed. Does "
            "your loop end too early, or skip something?"
        )
    if all(w.ndim > 1 for _, w in pairs) and all(
        close_numbers(_in_order(r), _in_order(w), within).all() for r, w in pairs
    ):
        return (
            "The numbers are right, but they are in the wrong places. `reshape` and `view` keep "
            "the numbers in reading order and only cut them into other rows. To swap axes, use "
            "`transpose` or `permute`."
        )
    return (
        _rounded(pairs)
        or off_by_a_number(pairs)
        or off_by_a_size(pairs, sizes)
        or _cut_off(pairs, within)
        or _changed_at_the_end(pairs, within)
    )


def off_by_slices(results: Sequence[object], right: Sequence[object]) -> str:
    """Say in which slices numbers are off by one number; empty if that isn't so for all inputs."""
    pairs = _pairs(results, right)
    if not pairs or any(r.shape != w.shape for r, w in pairs):
        return ""
    return off_in_slices(pairs)


def _pairs(results: Sequence[object], right: Sequence[object]) -> list[tuple[Tensor, Tensor]]:
    """Return the results beside the right ones; nothing unless all of them are numbers."""
    pairs = []
    for result, wanted in zip(results, right, strict=True):
        if _is_number(result) and _is_number(wanted):
            both = torch.tensor([[result], [wanted]], dtype=torch.float64)
            pairs.append((both[0], both[1]))
        elif isinstance(result, Tensor) and isinstance(wanted, Tensor) and wanted.ndim > 0:
            pairs.append((result, wanted))
    is_complex = any(r.is_complex() or w.is_complex() for r, w in pairs)
    return pairs if len(pairs) == len(right) and not is_complex else []


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _moved(pairs: Sequence[tuple[Tensor, Tensor]], within: float) -> str:
    """Say so if the right numbers stand at other indices."""

    def are_right(results: Iterable[Tensor]) -> bool:
        return all(
            r.shape == w.shape and bool(close_numbers(r, w, within).all())
            for r, (_, w) in zip(results, pairs, strict=True)
        )

    ndim = min(w.ndim for _, w in pairs)
    for one, other in itertools.combinations(range(ndim), 2):
        if are_right(r.transpose(one, other) if r.ndim == w.ndim else r for r, w in pairs):
            return f"The numbers are right, but axes {one} and {other} have changed places."
    if 2 < ndim <= MOST_AXES and all(r.ndim == w.ndim == ndim for r, w in pairs):
        for order in itertools.permutations(range(ndim)):
            if are_right(r.permute(order) for r, _ in pairs):
                return "The numbers are right, but your axes are in another order."
    if any(r.shape != w.shape for r, w in pairs):
        return ""
    off = [(r, w) for r, w in pairs if not close_numbers(r, w, within).all()]
    for axis in range(-1, -ndim - 1, -1) if off else ():
        orders = [_order(r.movedim(axis, 0), w.movedim(axis, 0), within) for r, w in off]
        if all(order is not None for order in orders):
            name = "the last axis" if axis == -1 else f"axis {pairs[0][1].ndim + axis}"
            is_reversed = all(order == sorted(order or (), reverse=True) for order in orders)
            how = "in reverse order" if is_reversed else "in another order"
            return f"The numbers are right, but {how} along {name}."
    return ""


def _order(result: Tensor, right: Tensor, within: float) -> list[int] | None:
    """Return where in the right tensor each slice of a result stands; None if not all do."""
    flat = result.reshape(len(result), -1).double()
    wanted = right.reshape(len(right), -1).double()
    if not (flat.numel() and flat.isfinite().all() and wanted.isfinite().all()):
        return None
    order = torch.cdist(flat, wanted, p=torch.inf).argmin(1)
    is_close = bool(close_numbers(result, right[order], within).all())
    found: list[int] = order.tolist()
    return found if is_close and sorted(found) == list(range(len(right))) else None


def _is_first_part(result: Tensor, right: Tensor, within: float) -> bool:
    """Tell whether a result is what a loop, or a loop in a loop, computes on its first pass."""
    part = right
    while part.ndim and part.numel() >= result.numel() > 0:
        part = part[0]
        if part.numel() == result.numel() < right.numel():
            return bool(close_numbers(result.reshape(part.shape), part, within).all())
    return False


def _has_gaps(result: Tensor, right: Tensor, within: float) -> bool:
    """Tell whether whole slices along an axis are 0 in place of right, and all else is right."""
    is_right = close_numbers(result, right, within)
    if not is_right.any() or is_right.all() or result[~is_right].any():
        return False
    slices = (is_right.movedim(axis, 0).reshape(n, -1) for axis, n in enumerate(right.shape))
    return any(bool((marks == marks[:, :1]).all()) for marks in slices)


def _in_order(numbers: Tensor) -> Tensor:
    return numbers.flatten().sort().values


def _rounded(pairs: Sequence[tuple[Tensor, Tensor]]) -> str:
    """Say so if the right numbers were rounded, to decimals or to a narrower dtype."""
    result = torch.cat([r.flatten() for r, _ in pairs]).double()
    right = torch.cat([w.flatten() for _, w in pairs]).double()
    for decimals in range(MOST_DECIMALS + 1):
        exact = 10**decimals * result
        near = (result - right).abs() <= (0.5 + 1e-3) / 10**decimals
        if (
            len(result.unique()) > MOST_BY_CHANCE
            and near.all()
            and ((exact - exact.round()).abs() <= 1e-9 + 1e-6 * exact.abs()).all()
        ):
            kept = counted(decimals, "decimal") if decimals else "whole numbers"
            return f"Your numbers are rounded to {kept}. Return them as they are."
    for dtype in (torch.float16, torch.bfloat16):
        is_near = torch.allclose(result, right, rtol=0.01, atol=0.01)
        if (
            is_near
            and len(result.unique()) > MOST_BY_CHANCE
            and _fits(result, dtype)
            and not _fits(right, dtype)
        ):
            kept = dtype_name(dtype)
            return f"Your numbers are rounded to {kept}. Compute them in the dtype of the input."
    return ""


def _cut_off(pairs: Sequence[tuple[Tensor, Tensor]], within: float) -> str:
    """Say so if numbers are right between two limits, and what would be beyond stands on them."""
    result, right = (torch.cat([each[n].flatten() for each in pairs]).double() for n in (0, 1))
    if not result.numel() or not (result.isfinite().all() and right.isfinite().all()):
        return ""
    low, high = result.min(), result.max()
    if not close_numbers(result, right.clamp(low, high), within).all():
        return ""
    limits = []
    for words, limit, is_beyond in (("below", low, right < low), ("above", high, right > high)):
        beyond = right[is_beyond & ~close_numbers(result, right, within)]
        if len(beyond.unique()) > 1:
            limits.append(f"{words} {significant(limit.item())}")
    if not limits or len(result.unique()) <= MOST_BY_CHANCE:
        return ""
    return f"Your numbers are right, but cut off: none is {' or '.join(limits)}."


def _changed_at_the_end(pairs: Sequence[tuple[Tensor, Tensor]], within: float) -> str:
    """Say so if something was done to each right number that doesn't belong there."""
    if len({number for result, _ in pairs for number in result.flatten().tolist()}) < FEWEST:
        return ""
    for words, function in AT_THE_END.items():
        if all(close_numbers(r, function(w), within).all() for r, w in pairs):
            return f"Each of your numbers is {words} the right one."
    return ""


def _fits(numbers: Tensor, dtype: torch.dtype) -> bool:
    return bool((numbers.to(dtype).double() == numbers).all())
