"""Find what is right about results that no distractor explains."""

from collections.abc import Mapping

import torch
from torch import Tensor

from lnorm_diagnose.diagnosing.case import Case
from lnorm_diagnose.diagnosing.mixing import MOST_NAMED, listed
from lnorm_diagnose.diagnosing.search import Cause, Search
from lnorm_diagnose.diagnosing.straight_lines import straight_lines, told_apart
from lnorm_diagnose.diagnosing.subject import LETTERS
from lnorm_diagnose.diagnosing.trial_inputs import DTYPES, Kind
from lnorm_utils.words import capitalized, dtype_name, significant, spoken

__all__ = ["cause_of", "other_parameters", "place"]

LEAST = 5  # the fewest rows to judge by
MOST = 2_000  # the order of at most this many rows, or features, is checked
LARGEST_SQUARED = torch.finfo(torch.float16).max ** 0.5
SMALL = 0.01  # if all errors are below this fraction of the largest number, the diagnosis says so


def _tables(case: Case) -> tuple[Tensor, ...]:
    """Return three tables: the output, and the right output without and with γ and β."""
    trial = case.trial
    bare = case.norm.result((), trial.x, None, None, trial.eps)
    return trial.rows(case.value), trial.rows(bare), trial.rows(case.right)


def cause_of(search: Search, most: int = 2) -> Cause:
    """Find a cause: at most `most` distractors or, if none fits, a law that all numbers follow."""
    main, compared = search.main, search.compare()
    of_pair = {case.kind for case in search.cases} <= {Kind.PART, Kind.MAIN}
    is_wrong = main in compared.wrong and main.is_whole
    if of_pair and is_wrong and (slip := _zeroed(main)):
        return compared.because([slip])
    found = search.cause(most)
    where = "" if of_pair else f"for shape {tuple(main.trial.x.shape)}: "
    if found.is_open and is_wrong and (slip := _law(main, where)):
        return found.because([slip], is_seen=not of_pair)
    return found


def _law(case: Case, where: str) -> str:
    """Say which rows or features are 0, unchanged, or reordered, or how γ and β differ.

    Args:
        where: what goes before a sentence that may not be true of another shape.
    """
    y, bare, z = _tables(case)
    if len(y) < LEAST or not (y.isfinite().all() and z.isfinite().all()):
        return ""
    said = _at_places(case, y, z)
    return f"{where}{said}" if said else _affine(case, y, bare)


def _at_places(case: Case, y: Tensor, z: Tensor) -> str:
    """Say which rows or features are 0, unchanged, or reordered, if that explains everything."""
    limit = case.trial.rows(case.limit())
    if said := _zeroed(case):
        return said
    of_x, off = case.trial.rows(case.trial.x), (y - z).abs() > limit
    for axis, what in enumerate(("features", "rows")):
        same = (y == of_x).all(axis)
        if same.any() and not (off.any(axis) & ~same).any():
            return f"{_kept(what, same)}, and all others are right"
    if said := _normalized_alone(case, y, limit, ~(y == of_x).all(0)):
        return said
    for what, *tables in (("features", y.T, z.T, limit.T), ("rows", y, z, limit)):
        own, right, near = (each[:MOST] for each in tables)
        for part in (slice(LEAST), slice(None)):  # the first few usually rule out reordering
            of = torch.cdist(own[part], right, p=torch.inf).argmin(1)
            if not ((own[part] - right[of]).abs() <= near[of]).all():
                break
        else:
            if not (of == torch.arange(len(of))).all():
                few = ", ".join(str(n) for n in of[: MOST_NAMED + 2].tolist())
                more = ", …" * (len(of) > MOST_NAMED + 2)
                return f"in place of {what} 0, 1, 2, … come the right numbers of {what} {few}{more}"
    return ""


def _kept(what: str, which: Tensor) -> str:
    one = f"{what[:-1]} {listed(which)} comes out as it went in"
    return f"{what} {listed(which)} come out as they went in" if which.sum() > 1 else one


def _normalized_alone(case: Case, y: Tensor, limit: Tensor, which: Tensor) -> str:
    """If only these features are normalized, without the others, say so."""
    trial = case.trial
    if which.all() or which.sum() < 2 or trial.axes > 1:
        return ""
    g, b = (p if p is None else p[which] for p in (trial.weight, trial.bias))
    z = case.norm.result((), trial.rows(trial.x)[:, which], g, b, trial.eps)
    if not ((y[:, which] - z).abs() <= 2 * limit[:, which]).all():
        return ""
    return f"{_kept('features', ~which)}; the rest is normalized separately"


def _zeroed(case: Case) -> str:
    """If some numbers are 0 and all others are right, or right up to a factor, say so."""
    y, z, limit = (case.trial.rows(each) for each in (case.value, case.right, case.limit()))
    if not (kept := y != 0).any():
        return "all numbers that came out are 0"
    # If no positive number became 0, it may be a ReLU, which a distractor explains.
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
        return f"{zeros} are right, as if a mask came after it"
    factor = (y @ z / z.square().sum()).item()
    if ((y - factor * z).abs() <= max(1, abs(factor)) * limit).all():
        return f"{zeros} are {significant(factor)} times what's right, as dropout makes them"
    return ""


def _affine(case: Case, y: Tensor, bare: Tensor) -> str:
    """Say how γ and β differ from the right ones, if that alone explains all numbers."""
    trial, away = case.trial, bare - bare.mean(0)
    g = (away * y).sum(0) / away.square().sum(0)
    b = (y - g * bare).mean(0)
    made = g * bare + b
    limit = case.trial.rows(case.rounding(made.reshape(case.value.shape)) + case.stored)
    if not g.isfinite().all() or not ((y - made).abs() <= limit).all() or not g.any():
        return ""
    # The numbers determine γ and β only to within these limits.
    limit = limit.amax(0)
    near_g = limit / away.square().mean(0).sqrt()
    near = {"weight": near_g, "bias": limit + near_g * bare.mean(0).abs()}
    right = {"weight": trial.weight, "bias": trial.bias}
    return other_parameters({"weight": g, "bias": b}, right, near)


def other_parameters(
    own: Mapping[str, Tensor], right: Mapping[str, Tensor | None], near: Mapping[str, Tensor]
) -> str:
    """Say how γ and β, given by role, differ from the right ones; return "" if they don't.

    Args:
        near: how far off each number may be, keyed by role.
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
        times = (p @ q / (q @ q)).item()
        here = f"{_numbers(q)} is right" if role in theirs else "there should be none"
        ways: tuple[tuple[Tensor, Tensor, str], ...] = (
            (p, q, ""),
            (p, as_new, f"{letter} is {new:g} everywhere, as in a new layer"),
            (
                p.sort().values,
                q.sort().values,
                f"the numbers of {letter} are at other features, in another order",
            ),
            (p + 1, q, f"{letter} is smaller by 1, as if 1 were added later"),
            (p - 1, q, f"{letter} is larger by 1, as if 1 had been added"),
            (p - 2, q, f"{letter} is larger by 2, as if 1 had been added twice"),
            (-p, q, f"{letter} has the opposite sign"),
            (p / 2, q, f"{letter} is counted twice"),
            (p, swapped, f"in place of {letter} there's {LETTERS[other]}"),
            (p, q.exp(), f"in place of {letter} there's e to the power of {letter}"),
            *(
                (p, q.to(d).double(), f"{letter} is rounded to {dtype_name(d)}")
                for d in DTYPES[:0:-1]
            ),
            (p, times * q, f"{letter} is {significant(times)} times what's right"),
            (p, p, f"it has {letter} = {_numbers(p)}, where {here}"),
        )
        close = near[role] * (1 + 1e-9)
        found += [next(said for one, two, said in ways if ((one - two).abs() <= close).all())]
    found = [words for words in found if words]
    return spoken(found, are_clauses=True) if found else ""


def _numbers(p: Tensor) -> str:
    """Format the first four numbers of a tensor for use in a sentence.

    >>> _numbers(torch.tensor([1.5, 2.0, -1e-12, 0.0, 1.0]))
    '(1.5, 2, 0, 0, …)'
    """
    few = ", ".join(f"{round(number, 9) + 0.0:.4g}" for number in p[:4].tolist())
    return f"({few}{', …' * (len(p) > 4)})"


def place(case: Case) -> str:
    """Say where the output first differs, and what is right about it."""
    main, y, z = case.trial, case.value, case.right
    if y.shape != z.shape:
        return f"For an input of shape {tuple(main.x.shape)} it returns {tuple(y.shape)}."
    wrong = case.off()
    index = tuple(wrong.nonzero()[0].tolist())
    numbers = told_apart(y[index], z[index], digits=5)
    found = [f"On {main.words}, at {index}: {numbers[0]}, where {numbers[1]} is right."]
    share = ((y - z).abs().max() / z.abs().max()).item()
    if share < SMALL:
        found.append(
            f"No number is off by more than {significant(share, 1)} of the largest one there."
        )
    for what, bad in (("features", main.rows(wrong).any(0)), ("rows", main.rows(wrong).any(1))):
        if bad.sum() <= len(bad) // 2:
            found.append(f"Of {len(bad)} {what}, counted from 0, only {listed(bad)} differ.")
    if case.kind is Kind.MAIN and (said := straight_lines(case)[0]):
        found.append(f"{capitalized(said)}.")
    return " ".join(found)
