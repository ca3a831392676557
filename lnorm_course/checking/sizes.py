"""Notice that an attempt is right for the sizes of the first input, and for no others."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor

from lnorm_course.checking.errors import Error
from lnorm_course.checking.running import Outcome

__all__ = ["only_these_fit", "perhaps_only_these_fit", "shapes_in"]

FROM_THE_INPUT = "Take sizes from the input, such as `x.shape[-1]`."


def shapes_in(value: object) -> list[tuple[int, ...]]:
    """Return the shapes of all tensors in an input."""
    if isinstance(value, Tensor):
        return [tuple(value.shape)]
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, tuple | list):
        return [shape for each in value for shape in shapes_in(each)]
    return []


def only_these_fit(
    inputs: Sequence[tuple],
    wrong: Sequence[int],
    result: object = None,
    right: object = None,
    outcome: Outcome | None = None,
) -> str:
    """Say that an attempt fits only the sizes of the first input; empty if that isn't sure.

    Args:
        inputs: of all calls.
        wrong: the numbers of those for which the attempt is wrong, or the first one that it fails
            on.
        result, right: what the attempt returned for the first of these, and what is right; None
            if it failed.
        outcome: of all calls, if it failed.
    """
    if not _is_right_for_one_size(inputs, wrong):
        return ""
    ours, theirs = shapes_in(inputs[0]), shapes_in(inputs[wrong[0]])
    changed = list(_changed_sizes(ours, theirs))
    if outcome:
        error = outcome.error
        text = error.message if isinstance(error, Error) and not error.advice else ""
        told = {int(number) for number in re.findall(r"\b\d+\b", text)}
        sure = any(before in told for before, _ in changed) or "out of bounds" in text
    elif not (isinstance(result, Tensor) and isinstance(right, Tensor)):
        sure = False
    elif result.shape != right.shape:
        pairs = zip(result.shape, right.shape, strict=False)
        sure = result.ndim == right.ndim and all(p in changed for p in pairs if p[0] != p[1])
    else:
        sure = _is_off_by_a_size(result, right, changed)
    if not sure:
        return ""
    first, other = next(p for p in zip(ours, theirs, strict=False) if p[0] != p[1])
    if outcome:
        return f"your answer fits only sizes such as {first}. With {other} {outcome.remark}"
    return (
        f"your answer fits only sizes such as {first}, and is wrong for {other}. {FROM_THE_INPUT}"
    )


def perhaps_only_these_fit(inputs: Sequence[tuple], wrong: Sequence[int]) -> str:
    """Ask whether an attempt fits only the sizes of the first input, if it may be so."""
    if not _is_right_for_one_size(inputs, wrong):
        return ""
    return "The sizes are different there, too. Is a size a fixed number in your code?"


def _is_right_for_one_size(inputs: Sequence[tuple], wrong: Sequence[int]) -> bool:
    return all(shapes_in(inputs[n]) != shapes_in(inputs[0]) for n in wrong)


def _changed_sizes(
    ours: Sequence[tuple[int, ...]], theirs: Sequence[tuple[int, ...]]
) -> Iterator[tuple[int, int]]:
    """Yield the size of each axis in the lesson, and in the other input, where they differ."""
    for one, other in zip(ours, theirs, strict=False):
        yield from ((a, b) for a, b in zip(one, other, strict=False) if a != b)


def _is_off_by_a_size(result: Tensor, right: Tensor, changed: Sequence[tuple[int, int]]) -> bool:
    """Tell whether all numbers are off by a quotient of two sizes, or by its root."""
    ratios = (result.double() / right.double()).flatten()
    ratios = ratios[~ratios.isnan()]
    if not len(ratios) or not ratios.isfinite().all():
        return False
    first = ratios[0].item()
    if not torch.allclose(ratios, ratios[:1], rtol=1e-4, atol=0) or first <= 0:
        return False
    powers = (math.log(first) / math.log(after / before) for before, after in changed)
    return any(abs(power - each) < 1e-3 for power in powers for each in (-1, -0.5, 0.5, 1))
