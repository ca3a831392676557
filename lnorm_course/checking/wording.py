"""Say how a wrong result of code differs from the right one."""

import contextlib

import torch
from torch import Tensor

from lnorm_course.checking.comparing import differing, dtypes_agree, plain, same
from lnorm_course.checking.defusing import Unknown, kind_of, shown
from lnorm_utils.words import counted, significant

__all__ = ["difference", "side_by_side"]


def difference(attempt: object, right: object, within: float) -> str:
    """Say what is right about a wrong result of code, and where it first differs."""
    given, wanted = plain(attempt), plain(right)
    if not isinstance(wanted, Tensor):
        return f"yours is {shown(attempt)}, and it should be {shown(wanted)}."
    if isinstance(attempt, Tensor) and attempt.ndim == 0:
        return f"yours is a single number, and it should be a tensor {tuple(wanted.shape)}."
    if isinstance(attempt, Unknown) and attempt.kind.endswith(("function", "method")):
        return "your function returned a function. Call it, with parentheses after its name."
    if not isinstance(given, Tensor):
        numbers = "the numbers are right, but " if _has_the_numbers(attempt, wanted) else ""
        return f"{numbers}your function returned {kind_of(attempt)}. Return a torch.Tensor."
    if given.shape != wanted.shape:
        numbers = "the numbers are right, but " if _is_reshaped(given, wanted, within) else ""
        shape = f"your tensor has shape {tuple(given.shape)}. It should be {tuple(wanted.shape)}."
        return f"{numbers}{shape}"
    if not dtypes_agree(given, wanted):
        return f"your tensor has dtype {given.dtype}. It should be {wanted.dtype}."
    wrong = differing(given, wanted, within)
    index = tuple(wrong.nonzero()[0].tolist())
    rows = wrong.reshape(-1, wrong.shape[-1]).any(-1)
    right_rows = len(rows) - int(rows.sum())
    agree = f", and so are the numbers in {right_rows} of {counted(len(rows), 'row')}"
    yours, better = _told_apart(given[index].item(), wanted[index].item())
    return (
        f"shape and dtype are right{agree if right_rows else ''}. The first number that differs "
        f"is at {list(index)}: yours is {yours}, and it should be {better}."
    )


def side_by_side(attempt: object, right: object, within: float) -> str:
    """Return HTML with a part of the student's tensor beside the right one; empty if it can't be.

    What is shown are the last two axes around the first difference, at most six rows of eight. The
    student's numbers that differ are bold and carry the sign ≠.
    """
    given, wanted = plain(attempt), plain(right)
    if not (isinstance(given, Tensor) and isinstance(wanted, Tensor)) or wanted.ndim < 1:
        return ""
    if given.shape != wanted.shape or wanted.is_complex() or given.is_complex():
        return ""
    if not dtypes_agree(given, wanted):
        return ""
    wrong = differing(given, wanted, within)
    outer = tuple(wrong.nonzero()[0].tolist()[:-2])
    first = max(0, wrong.nonzero()[0].tolist()[-2] - 2) if wanted.ndim > 1 else 0
    part = (*outer, slice(first, first + 6), slice(8)) if wanted.ndim > 1 else (None, slice(8))
    cells = [
        _cells(given[part], wrong[part]),
        _cells(wanted[part], torch.zeros_like(wrong[part])),
    ]
    place = f" at {list(outer)}" if outer else ""
    heads = "".join(
        f"<th scope='col' style='text-align: center'>{name}{place}</th>"
        for name in ("yours", "right")
    )
    return f"<table><tr>{heads}</tr><tr>{''.join(f'<td>{c}</td>' for c in cells)}</tr></table>"


def _told_apart(one: float, other: float) -> tuple[str, str]:
    """Write two numbers with enough digits to show that they differ."""
    for digits in range(6, 18):
        written = significant(one, digits), significant(other, digits)
        if written[0] != written[1]:
            break
    return written


def _cells(numbers: Tensor, wrong: Tensor) -> str:
    rows = []
    for values, marks in zip(numbers.tolist(), wrong.tolist(), strict=True):
        shown = (
            f"<td><strong>≠ {significant(value)}</strong></td>"
            if mark
            else f"<td>{significant(value)}</td>"
            for value, mark in zip(values, marks, strict=True)
        )
        rows.append(f"<tr>{''.join(shown)}</tr>")
    return f"<table>{''.join(rows)}</table>"


def _is_reshaped(given: Tensor, wanted: Tensor, within: float) -> bool:
    """Tell whether a tensor of another shape has the right numbers, in their order."""
    return given.numel() == wanted.numel() and same(given.reshape(wanted.shape), wanted, within)


def _has_the_numbers(attempt: object, right: Tensor) -> bool:
    """Tell whether an attempt that is no tensor, such as a list, has the right numbers."""
    with contextlib.suppress(Exception):
        return same(torch.as_tensor(attempt, dtype=right.dtype), right, 1e-6)
    return False
