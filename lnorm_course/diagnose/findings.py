"""What only a whole layer shows: its gradient, its dtypes, its input, its parameters."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn

from lnorm_course.checking.search import Raised
from lnorm_course.diagnose.explaining import DOUBLE, Explained, Search
from lnorm_course.diagnose.run import HALF, Finding, Run
from lnorm_course.diagnose.subject import LETTERS
from lnorm_course.diagnose.trials import NoGradientError, Trial, gradients, typical
from lnorm_utils.words import capitalized, dtype_name, significant, spoken

__all__ = ["compare_as_held", "findings", "times_right"]


def findings(run: Run, explained: Explained, is_known: bool) -> Iterator[Finding]:
    """Yield what there is to say of a layer; of γ and β, if its numbers are right or explained."""
    main, x, name = run.main, run.main.x.clone(), run.norm.name
    others = (main.weight, main.bias, main.eps, run.mode)
    with torch.no_grad():
        y = run.subject.call(x, *others)
        before, is_changed = y.clone(), not torch.equal(x, main.x)
        run.subject.call(typical(x.shape, 71), *others)
    if is_changed:
        slip = "it changes its input in place"
        yield Finding(f"{capitalized(slip)}: whoever uses x afterwards gets other numbers.", slip)
    if not torch.equal(y.nan_to_num(), before.nan_to_num()):
        slip = "without gradients each call overwrites what the one before has returned"
        yield Finding(f"{capitalized(slip)}. {name} returns a new tensor.", slip)
    if is_known:
        yield from _gradients(run, explained)
        yield from _parameters(run, explained)
    returned: dict[torch.dtype, list[str]] = {}
    for dtype in (torch.float64, torch.float32, *HALF[::-1]):
        value = run.result(replace(main, dtype=dtype))
        if isinstance(value, Tensor) and value.dtype != dtype:
            returned.setdefault(value.dtype, []).append(dtype_name(dtype))
    for dtype, names in returned.items():
        slip = f"for {spoken(names)} it returns {dtype_name(dtype)}"
        yield Finding(f"{capitalized(slip)}. {name} returns what it gets.", slip, True)
    if run.subject.returns > 1:
        yield Finding(f"It returns {run.subject.returns} things; the first was compared.")


def _gradients(run: Run, explained: Explained) -> Iterator[Finding]:
    """Look whether the right gradient comes back to γ and β, and any to x."""
    subject = run.subject
    weight, bias = (
        p if p is None else p.clone().requires_grad_() for p in (run.main.weight, run.main.bias)
    )
    trial, given = replace(run.main, weight=weight, bias=bias), {"weight": weight, "bias": bias}
    mine = subject.copy(trial.x.dtype, trial.weight, trial.bias, run.mode)
    learns = dict(mine.named_parameters()) if isinstance(mine, nn.Module) else {}
    leaves = {
        role: learns.get(subject.held[role]) if role in subject.held else p
        for role, p in given.items()
        if p is not None and subject.has(role)
    }
    known = {role: leaf for role, leaf in leaves.items() if leaf is not None}
    try:
        call = partial(subject.call, mode=run.mode)
        own = dict(zip(known, gradients(trial, call, *known.values())[1:], strict=True))
    except NoGradientError:
        yield Finding("No gradient comes back through it, so nothing below it can learn.")
        return
    except Exception as error:
        yield Finding(f"Its gradient can't be computed: {Raised.of(error).message[:100]}")
        return
    if explained.wrong:
        return
    at = (p for role, p in given.items() if p is not None and role in known)
    right = gradients(trial, partial(run.norm.result, ()), *at)[1:]
    for (role, y), z in zip(own.items(), right, strict=True):
        letter = LETTERS[role]
        if not y.any():
            slip = f"no gradient reaches {letter}"
            yield Finding(f"{capitalized(slip)}, so training changes nothing there.", slip)
        elif y.numel() == z.numel():
            times = times_right(y, z, 1e-7 if run.unit == DOUBLE else 1e-3)
            if times:
                slip = f"the gradient of {letter} is {times}"
                yield Finding(f"{capitalized(slip)}, so it learns otherwise.", slip)


def times_right(y: Tensor, z: Tensor, within: float = 1e-7) -> str:
    """Say by what a gradient must be divided to be right, if it isn't."""
    y, z = y.double().flatten(), z.flatten()
    factor, within = (y @ z / (z @ z)).item(), within * z.abs().max().item()
    if (y - z).abs().max() <= within:
        return ""
    is_scaled = (y - factor * z).abs().max() <= within
    return f"{significant(factor)} times what it should be" if is_scaled else "wrong"


def _parameters(run: Run, explained: Explained) -> Iterator[Finding]:
    """Compare γ and β, and how they are called, with those of PyTorch's module."""
    subject, like, name = run.subject, run.norm.module, run.norm.name
    for role, letter in LETTERS.items():
        own = getattr(like, role, None)
        if like is not None and not explained.found and (own is None) == subject.has(role):
            if own is None:
                yield Finding(f"It has a {letter}. {name} has none here.", f"it has a {letter}")
            else:
                yield Finding(f"It has no {letter}, and was compared for the {letter} of `like`.")
    held = {LETTERS[role]: path for role, path in subject.held.items()}
    if any(path not in LETTERS for path in held.values()):
        named = [f"{letter} is called `{path}`" for letter, path in held.items()]
        yield Finding(f"In its state dict {spoken(named)}.")
    learns = dict(subject.layer.named_parameters()) if subject.is_module else {}
    if plain := [f"{letter} (`{path}`)" for letter, path in held.items() if path not in learns]:
        yield Finding(
            f"No optimizer finds {spoken(plain)}, because that's no parameter of a module."
        )


def compare_as_held(
    run: Run, trials: Sequence[Trial], explained: Explained
) -> tuple[Explained, str, str]:
    """Return what is known of a layer if the γ and β count that it and `like` hold, too.

    Args:
        explained: what is known with the same γ and β in both.

    Returns:
        That again, or what is known now; what to add to "no difference"; and a note.
    """
    like, subject = run.norm.module, run.subject
    g, b = (getattr(like, role, None) for role in LETTERS)
    if g is None or run.is_given or not subject.held:
        return explained, "", ""
    g, b = (p if p is None else p.detach().double() for p in (g, b))
    held = [replace(t, weight=g, bias=b) for t in trials if t.kind in ("main", "flat")]
    own, search = replace(run, is_as_held=True), Search(run.norm, held, run.unit)
    values = [own.result(trial) for trial in held]
    agrees = all(isinstance(v, Raised) or search.is_right(v, n) for n, v in enumerate(values))
    words = "" if agrees else _other_numbers(run)
    is_new = all(map(_is_constant, (g, b)))
    is_trained = not all(_is_constant(subject.tensor(path)) for path in subject.held.values())
    if words and explained.is_right and not (is_new and is_trained):  # which norm, `like` says
        same = "With the same numbers in both no difference was found."
        return Explained(False, f"{words} {same}", (words.removesuffix("."),)), "", ""
    if words:
        note = words * (not explained.is_right and not is_new)
        return explained, f" {words}" * explained.is_right, note
    if explained.is_right or not agrees or (is_new and not explained.found):
        return explained, "", ""
    # Does what explains it show with the γ and β of `like`? Then they are held in another way.
    last = len(held) - 1
    if any(search.equal(search.result(p, last), search.right[last]) for p in explained.found):
        return explained, "", ""
    note = f"With the same numbers in both it would differ. {explained.words}".strip()
    return Explained(True), " That's with the γ and β that each of them holds.", note


def _is_constant(p: Tensor | None) -> bool:
    """Tell whether a parameter is as a new layer has it."""
    return p is None or bool(p.min() == p.max())


def _other_numbers(run: Run) -> str:
    """Say how the γ and β that a layer holds differ from those of `like`."""
    found = []
    for role, path in run.subject.held.items():
        own, like = run.subject.tensor(path), getattr(run.norm.module, role, None)
        if like is None or own.numel() != like.numel():
            continue
        p, q = (each.detach().double().flatten() for each in (own, like))
        swap = getattr(run.norm.module, "bias" if role == "weight" else "weight", None)
        letter, near = f"its {LETTERS[role]}", 1e-6 * q.abs().max().item()
        if torch.allclose(p, q, 0, near):
            continue
        if torch.allclose(p.sort().values, q.sort().values, 0, near):
            found.append(f"{letter} has the same numbers in another order")
        elif _is_constant(p):
            why = f"where that of `like` is {significant(q[0])}"
            why = why if _is_constant(q) else "as if it weren't loaded"
            found.append(f"{letter} is {significant(p[0])} everywhere, {why}")
        elif swap is not None and torch.allclose(p, swap.detach().double().flatten(), 0, near):
            found.append(f"{letter} has the numbers of the other one")
        elif torch.allclose(p + 1, q, 0, 1e-6 + near):
            found.append(f"{letter} is less by 1, as if it were to be added")
        else:
            found.append(f"{letter} has other numbers")
    return f"It holds other numbers than `like`: {spoken(found, True)}." if found else ""
