"""Describe an unexplained wrong result by the first place where it differs from the right one."""

import contextlib
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import torch
from torch import Tensor

from lnorm_course.checking.comparing import differing, dtypes_agree, plain, same
from lnorm_course.checking.sanitizing import Unknown, kind_of, shown
from lnorm_utils.words import counted, significant

__all__ = ["UNKNOWN", "difference"]

UNKNOWN = "I don't recognize this mistake."
FUNCTIONS = [f"a {kind.__name__}" for kind in (FunctionType, BuiltinFunctionType, MethodType)]
NUMBERS = "the numbers are right, but "


def difference(attempt: object, right: object, tol: float) -> tuple[str, str]:
    """Say what is right about a wrong result, and where it first differs.

    Returns:
        A sentence and HTML, which is "" unless shape and dtype are right. The HTML shows part of
        the student's tensor beside the same part of the right one: at most six rows around the
        first difference, with their first eight numbers. The student's numbers that differ are bold
        and marked with ≠.
    """
    given, wanted = plain(attempt), plain(right)
    if not (isinstance(given, Tensor) and isinstance(wanted, Tensor)):
        return _of_kinds(attempt, wanted), ""
    if given.shape != wanted.shape:
        numbers = NUMBERS if same(given.flatten(), wanted.flatten(), tol) else ""
        shape = tuple(given.shape)
        told = f"{numbers}your tensor has shape {shape}. It should be {tuple(wanted.shape)}."
        return told, ""
    if not dtypes_agree(given, wanted):
        return f"your tensor has dtype {given.dtype}. It should be {wanted.dtype}.", ""
    wrong = torch.atleast_2d(differing(given, wanted, tol))
    index = wrong.nonzero()[0].tolist()
    rows = wrong.reshape(-1, wrong.shape[-1]).any(-1)
    right_rows = len(rows) - int(rows.sum())
    agree = f", and so are the numbers in {right_rows} of {counted(len(rows), 'row')}"
    first = tuple(index[-given.ndim :])
    yours, better = _told_apart(given[first].item(), wanted[first].item())
    told = (
        f"shape and dtype are right{agree if right_rows else ''}. The first number that differs "
        f"is at {list(first)}: yours is {yours}, and it should be {better}."
    )
    return told, _side_by_side(given, wanted, wrong, index)


def _of_kinds(attempt: object, wanted: object) -> str:
    """Say what was returned, and what kind or value was expected."""
    if not isinstance(wanted, Tensor):
        return f"yours is {shown(attempt)}, and it should be {shown(wanted)}."
    if isinstance(attempt, Tensor):
        return f"yours is a single number, and it should be a tensor {tuple(wanted.shape)}."
    if isinstance(attempt, Unknown) and attempt.kind in FUNCTIONS:
        return "your function returned a function. Call it, with parentheses after its name."
    told = f"your function returned {kind_of(attempt)}. Return a torch.Tensor."
    with contextlib.suppress(Exception):  # not everything can be converted to a tensor
        if same(torch.as_tensor(attempt, dtype=wanted.dtype), wanted, 1e-6):
            return f"{NUMBERS}{told}"
    return told


def _side_by_side(given: Tensor, wanted: Tensor, wrong: Tensor, index: list[Any]) -> str:
    *outer, row, _ = index
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
