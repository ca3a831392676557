"""What is right about results that no piece explains."""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor

from lnorm_diagnose.diagnosing.case import Case
from lnorm_diagnose.diagnosing.mixing import MOST_NAMED, listed
from lnorm_diagnose.diagnosing.search import Cause, Search
from lnorm_diagnose.diagnosing.subject import LETTERS
from lnorm_diagnose.diagnosing.trial_inputs import Kind
from lnorm_utils.words import significant, spoken

__all__ = ["cause_of", "other_parameters", "place"]

LEAST = 5  # rows to judge by
MOST = 2_000  # rows, or features, whose order is looked for
LARGEST_SQUARED = torch.finfo(torch.float16).max ** 0.5
SMALL = 0.01  # of the largest number; that's worth saying


def _tables(case: Case) -> tuple[Tensor, ...]:
    """Return what came out, and what is right before and after γ and β, as tables."""
    trial = case.trial
    bare = case.norm.result((), trial.x, None, None, trial.eps)
    return trial.rows(case.value), trial.rows(bare), trial.rows(case.right)


def cause_of(search: Search, most: int = 2) -> Cause:
    """Find the cause in wrong pieces, at most so many, or else in what makes all numbers right."""
    main, compared = search.main, search.compare()
    of_pair = {case.kind for case in search.cases} <= {Kind.PART, Kind.MAIN}
    is_wrong = main in compared.wrong and main.is_whole
    if of_pair and is_wrong and (slip := _zeroed(main)):
        return compared.because([slip])
    found = search.cause(most)
    if found.is_open and is_wrong and (slip := _law(main)):
        return found.because([slip], is_seen=not of_pair)
    return found


def _law(case: Case) -> str:
    """Say in which order rows or features come, or which γ and β make all numbers right."""
    y, bare, z = _tables(case)
    limit = case.trial.rows(case.limit())
    if len(y) < LEAST or not (y.isfinite().all() and z.isfinite().all()):
        return ""
    if said := _zeroed(case):
        return said
    as_they_were = (y == case.trial.rows(case.trial.x)).all(0)
    if as_they_were.any() and (as_they_were | ((y - z).abs() <= limit).all(0)).all():
        return f"features {listed(as_they_were)} come out as they went in, and all others are right"
    for what, *tables in (("features", y.T, z.T, limit.T), ("rows", y, z, limit)):
        own, right, near = (each[:MOST] for each in tables)
        of = torch.cdist(own, right, p=torch.inf).argmin(1)
        if ((own - right[of]).abs() <= near[of]).all() and not (of == torch.arange(len(of))).all():
            few = ", ".join(str(n) for n in of[: MOST_NAMED + 2].tolist())
            more = ", …" * (len(of) > MOST_NAMED + 2)
            return f"in place of {what} 0, 1, 2, … come the right numbers of {what} {few}{more}"
    return _affine(case, y, bare)


def _zeroed(case: Case) -> str:
    """Say that some numbers are 0, if all others are right, or right up to a factor."""
    y, z, limit = (case.trial.rows(each) for each in (case.value, case.right, case.limit()))
    if not (kept := y != 0).any():
        return "all numbers that came out are 0"
    # A ReLU leaves what is above 0.
    if kept.all() or not (z[~kept] > limit[~kept]).any():
        return ""
    overflows = case.trial.rows(case.trial.x).abs().amax(1) > LARGEST_SQUARED
    if torch.equal(~kept, overflows[:, None].expand_as(kept)):
        slip = "the rows in which a number is above 255 are 0, as if its square had become infinite"
        is_so = ((y - z).abs() <= limit)[~overflows].all()
        return f"{slip} in float16" if is_so else ""
    y, z, limit = y[kept], z[kept], limit[kept]
    zeros = f"{(~kept).sum()} of {kept.numel()} numbers are 0, and all others"
    if ((y - z).abs() <= limit).all():
        return f"{zeros} are right, as if a mask came behind it"
    factor = (y @ z / z.square().sum()).item()
    if ((y - factor * z).abs() <= max(1, abs(factor)) * limit).all():
        return f"{zeros} are {significant(factor)} times what's right, as dropout makes them"
    return ""


def _affine(case: Case, y: Tensor, bare: Tensor) -> str:
    """Say which other γ and β make all numbers right."""
    trial, away = case.trial, bare - bare.mean(0)
    g = (away * y).sum(0) / away.square().sum(0)
    b = (y - g * bare).mean(0)
    fitted = replace(trial, weight=g.reshape(case.norm.shape), bias=b.reshape(case.norm.shape))
    fit = Case(case.norm, fitted, case.value, case.unit, case.stored)
    if not (g.isfinite().all() and fit.is_right) or not g.any():
        return ""
    # No closer than this do the numbers tell them.
    limit = trial.rows(fit.limit()).amax(0)
    near_g = limit / away.square().mean(0).sqrt()
    near = {"weight": near_g, "bias": limit + near_g * bare.mean(0).abs()}
    right = {"weight": trial.weight, "bias": trial.bias}
    return other_parameters({"weight": g, "bias": b}, right, near)


def other_parameters(
    own: Mapping[str, Tensor], right: Mapping[str, Tensor | None], near: Mapping[str, Tensor]
) -> str:
    """Say how γ and β, under their roles, differ from the right ones; nothing if they don't.

    Args:
        near: by how much each number may be off.
    """
    mine, theirs = (
        {role: p.detach().double().flatten() for role, p in each.items() if p is not None}
        for each in (own, right)
    )
    found = []
    for role, other, new in (("weight", "bias", 1.0), ("bias", "weight", 0.0)):
        if role not in mine:
            continue
        letter, p = LETTERS[role], mine[role]
        as_new = torch.full_like(p, new)
        q, swapped = theirs.get(role, as_new), theirs.get(other, torch.full_like(p, torch.nan))
        here = f"{_numbers(q)} is right" if role in theirs else "there is none here"
        ways: tuple[tuple[Tensor, Tensor, str], ...] = (
            (p, q, ""),
            (p, as_new, f"{letter} is {new:g} everywhere, as in a new layer"),
            (
                p.sort().values,
                q.sort().values,
                f"the numbers of {letter} are at other features, in another order",
            ),
            (p + 1, q, f"{letter} is less by 1, as if it were to be added"),
            (p - 1, q, f"{letter} is more by 1, as if 1 had been added"),
            (-p, q, f"{letter} has the other sign"),
            (p / 2, q, f"{letter} counts twice"),
            (p, swapped, f"in place of {letter} there's {LETTERS[other]}"),
            (p, p, f"it has {letter} = {_numbers(p)}, where {here}"),
        )
        close = near[role] * (1 + 1e-9)
        found += [next(said for one, two, said in ways if ((one - two).abs() <= close).all())]
    found = [words for words in found if words]
    return spoken(found, are_clauses=True) if found else ""


def _numbers(p: Tensor) -> str:
    """Return a tensor in words, the first four numbers.

    >>> _numbers(torch.tensor([1.5, 2.0, -1e-12, 0.0, 1.0]))
    '(1.5, 2, 0, 0, …)'
    """
    few = ", ".join(f"{round(number, 9) + 0.0:.4g}" for number in p[:4].tolist())
    return f"({few}{', …' * (len(p) > 4)})"


def place(case: Case) -> str:
    """Say where what came out differs first, and what is right about it."""
    main, y, z = case.trial, case.value, case.right
    if y.shape != z.shape:
        return f"For an input of shape {tuple(main.x.shape)} it returns {tuple(y.shape)}."
    wrong, limit = case.off(), main.rows(case.limit())
    index = tuple(wrong.nonzero()[0].tolist())
    numbers = [significant(each[index].item(), 5) for each in (y, z)]
    found = [f"On {main.words}, at {index}: {numbers[0]}, where {numbers[1]} is right."]
    share = ((y - z).abs().max() / z.abs().max()).item()
    if share < SMALL:
        found.append(
            f"No number is off by more than {significant(share, 1)} of the largest one there."
        )
    for what, bad in (("features", main.rows(wrong).any(0)), ("rows", main.rows(wrong).any(1))):
        if bad.sum() <= len(bad) // 2:
            found.append(f"Of {len(bad)} {what}, counted from 0, only {listed(bad)} differ.")
    if case.kind is Kind.MAIN:
        own, right, _ = _tables(case)
        own = own if main.bias is None else own - main.bias.flatten()
        own = own if main.weight is None else own / main.weight.flatten()
        factor = (own * right).sum(-1, True) / right.square().sum(-1, True)
        scale = 1.0 if main.weight is None else main.weight.flatten().abs()
        near = (1 + factor.abs()) * limit / scale
        least, most = (significant(f.item(), 4) for f in factor.aminmax())
        is_so = ((own - factor * right).abs() <= near).all() and factor.abs().min() > SMALL
        if is_so and least != most:
            found.append(f"Each row is right up to a factor, from {least} to {most}.")
    return " ".join(found)
