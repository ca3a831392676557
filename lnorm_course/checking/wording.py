"""Say how a wrong result of code differs from the right one."""

import contextlib

import torch
from torch import Tensor

from lnorm_course.checking.comparing import differing, dtypes_agree, plain, same
from lnorm_course.checking.defusing import Unknown, kind_of, shown
from lnorm_utils.words import counted, significant

__all__ = ["difference", "side_by_side"]

NUMBERS = "the numbers are right, but "


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
        numbers = NUMBERS if _has_the_numbers(attempt, wanted) else ""
        return f"{numbers}your function returned {kind_of(attempt)}. Return a torch.Tensor."
    if given.shape != wanted.shape:
        numbers = NUMBERS if same(given.flatten(), wanted.flatten(), within) else ""
        shape = tuple(given.shape)
        return f"{numbers}your tensor has shape {shape}. It should be {tuple(wanted.shape)}."
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
    if not (isinstance(given, Tensor) and isinstance(wanted, Tensor)) or given.is_complex():
        return ""
    if given.shape != wanted.shape or not dtypes_agree(given, wanted):
        return ""
    wrong = torch.atleast_2d(differing(given, wanted, within))
    *outer, row, _ = wrong.nonzero()[0].tolist()
    part = (*outer, slice(max(0, row - 2), max(0, row - 2) + 6), slice(8))
    place = f" at {outer}" if outer else ""
    heads = cells = ""
    for name, numbers, marks in (("yours", given, wrong), ("right", wanted, 0 * wrong)):
        heads += f"<th scope='col' style='text-align: center'>{name}{place}</th>"
        cells += f"<td>{_table(torch.atleast_2d(numbers)[part], marks[part])}</td>"
    return f"<table><tr>{heads}</tr><tr>{cells}</tr></table>"


def _told_apart(one: float, other: float) -> tuple[str, str]:
    """Write two numbers with enough digits to show that they differ."""
    for digits in range(6, 18):
        written = significant(one, digits), significant(other, digits)
        if written[0] != written[1]:
            break
    return written


def _table(numbers: Tensor, wrong: Tensor) -> str:
    rows = ""
    for values, marks in zip(numbers.tolist(), wrong.tolist(), strict=True):
        written = zip(map(significant, values), marks, strict=True)
        cells = (f"<strong>≠ {each}</strong>" if mark else each for each, mark in written)
        rows += f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
    return f"<table>{rows}</table>"


def _has_the_numbers(attempt: object, right: Tensor) -> bool:
    """Tell whether an attempt that is no tensor, such as a list, has the right numbers."""
    with contextlib.suppress(Exception):
        return same(torch.as_tensor(attempt, dtype=right.dtype), right, 1e-6)
    return False
