"""What only a whole layer shows: its input, its dtypes, its parameters, and what it refuses."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from lnorm_diagnose.diagnosing.case import Case
from lnorm_diagnose.diagnosing.likeness import other_parameters
from lnorm_diagnose.diagnosing.search import Cause, Search
from lnorm_diagnose.diagnosing.subject import LETTERS, Subject, equal
from lnorm_diagnose.diagnosing.trial_inputs import DTYPES, OF_DTYPES, Kind
from lnorm_diagnose.fewest_slips import Raised
from lnorm_diagnose.slips.notation import Tag
from lnorm_utils.words import capitalized, dtype_name, spoken

__all__ = ["DIGITS_LOST", "Finding", "compare_as_held", "findings"]

DIGITS_LOST = "digits are lost when the mean is large, as E[x²] − E[x]² loses them"
NEAR = 1e-6  # of a number, by which a parameter may be off


class Finding(NamedTuple):
    """One sentence; and a clause, if the layer is wrong because of it."""

    words: str
    slip: str = ""


def _slip(slip: str, more: str) -> Finding:
    """Return what a layer does wrong: a clause, and how its sentence goes on."""
    return Finding(f"{capitalized(slip)}{more}", slip)


def findings(subject: Subject, search: Search, cause: Cause) -> Iterator[Finding]:
    """Yield what there is to say of a layer besides its numbers."""
    name = search.norm.name
    if subject.channels_first:
        yield Finding(
            "Its features are axis 1, as in images: what is said of the last axis is said of that."
        )
    yield from _of_precision(subject, cause)
    main, other = (case.trial.in_dtype() for case in search.cases[:-3:-1])
    single = replace(main, dtype=torch.float32).in_dtype()
    layer, inputs = subject.copy(main), [main.x.clone(), single.x.clone()]
    with torch.no_grad():
        y = subject.call(layer, main)
        before = y.clone()
        subject.call(layer, other)
        is_new = equal(y, before)
        subject.call(subject.copy(single), single)
        things = subject.returned(subject.copy(main), main)
    if not is_new:
        slip = "without gradients each call overwrites what the one before has returned"
        yield _slip(slip, f". {name} returns a new tensor.")
    if not all(map(torch.equal, inputs, (main.x, single.x))):
        more = ": whoever uses x afterwards gets other numbers."
        yield _slip("it changes its input in place", more)
    is_wrong = not cause.is_right or any(case.kind is Kind.FAR for case in cause.without)
    returned: dict[torch.dtype, list[str]] = {}
    for case in search.judged:
        if case.kind is not Kind.GRADIENT and case.value.dtype != case.trial.dtype:
            returned.setdefault(case.value.dtype, []).append(dtype_name(case.trial.dtype))
    for dtype, names in returned.items():
        slip = f"for {spoken(names)} it returns {dtype_name(dtype)}"
        minor = _slip(slip, f". {name} returns what it gets.")
        yield Finding(minor.words) if is_wrong else minor
    if isinstance(things, tuple) and len(things) > 1:
        yield Finding(f"It returns {len(things)} things; the first was compared.")
    pairs = ((case.trial.words, case.value) for case in search.cases)
    failed = [(words, error) for words, error in pairs if isinstance(error, Raised)]
    if any(error.kind == "NoGradientError" for _, error in failed):
        no_gradient = _slip("no gradient comes back through it", ", so nothing below it can learn.")
        # What computes with NumPy has none, and may be meant so.
        yield no_gradient if subject.is_module else Finding(no_gradient.words)
    if refused := [pair for pair in failed if pair[1].kind != "NoGradientError"]:
        words, error = spoken([words for words, _ in refused]), refused[0][1]
        first = f"First: {error.kind}: {error.message[:100]}"
        yield Finding(f"It doesn't take {words}. {first}")
    if not cause.is_open:
        yield from _parameters(subject, search, cause)


def _of_precision(subject: Subject, cause: Cause) -> Iterator[Finding]:
    """Yield what is wrong far from zero, or in a dtype, and how exactly it computes."""
    name = dtype_name(subject.computes_in)
    if any(Tag.ADDS_ONE in part.tags for parts in cause.found for part in parts):
        yield Finding("If it keeps γ − 1, as Gemma's norms do, then adding 1 is right.")
    if subject.computes_in in DTYPES[1:]:
        slip = f"it computes in {name}, or rounds as coarsely, whatever comes in"
        yield _slip(slip, ", so it's right to fewer digits than float32 has.")
    elif subject.computes_in != torch.float64 and cause.is_right:
        yield Finding(f"It computes in {name}, or rounds as coarsely, also if float64 comes in.")
    words = {case.kind: case.trial.words for case in cause.without}
    of_dtypes = [case.trial for case in cause.without if case.kind in OF_DTYPES]
    dtypes = [trial.words for trial in of_dtypes]
    if Kind.FAR in words:
        yield _slip(DIGITS_LOST, f": it's wrong on {words[Kind.FAR]}.")
    elif [trial.kind for trial in of_dtypes] == [Kind.OVERFLOW]:
        # Many right layers are for float32.
        yield Finding(f"In {dtypes[0]} a square is too large. Compute in float32 there.")
    elif dtypes and cause.is_right:
        slip = f"in {spoken(dtypes)} it's off by more than rounding explains"
        yield _slip(slip, ". In float64 no difference was found.")


def _parameters(subject: Subject, search: Search, cause: Cause) -> Iterator[Finding]:
    """Compare γ and β, and how they are called, with those of PyTorch's module."""
    norm, layer = search.norm, subject.layer
    learns = dict(layer.named_parameters()) if isinstance(layer, nn.Module) else {}
    for role, letter in LETTERS.items() if norm.module is not None and not cause.found else ():
        if role in norm.parameters:
            if not subject.has(role):
                words = f"No {letter} was found in it. It was compared for the {letter} of `like`."
                yield Finding(words)
        elif role in subject.takes or subject.held.get(role) in learns:
            main = search.main.trial
            changed: Any = ({role: torch.full(norm.shape, n).double()} for n in (2, 3))
            if not equal(*(subject.result(replace(main, **each)) for each in changed)):
                yield _slip(f"it has a {letter}", f". {norm.name} has none here.")
    held = {LETTERS[role]: path for role, path in subject.held.items()}
    if any(path not in LETTERS for path in held.values()):
        named = [f"{letter} is called `{path}`" for letter, path in held.items()]
        yield Finding(f"In its state dict {spoken(named)}.")
    if plain := [f"{letter} (`{path}`)" for letter, path in held.items() if path not in learns]:
        yield Finding(f"No optimizer finds {spoken(plain)}: that's no parameter of a module.")


def compare_as_held(subject: Subject, search: Search, cause: Cause) -> Cause:
    """Return what is known of a layer if the γ and β count that it and `like` hold, too.

    Args:
        cause: what is known with the same γ and β in both.
    """
    norm, like, tensors = search.norm, search.norm.parameters, subject.tensors(subject.layer)
    if "weight" not in like or not subject.is_module:
        return cause
    mine = {  # others go by such a name, but are both in one, or something else
        role: tensors[path]
        for role, path in subject.held.items()
        if role in like and tensors[path].numel() == like[role].numel()
    }
    given: Any = {"bias": None, **like, "roles": tuple(mine)}
    trials = [replace(c.trial, **given) for c in search.cases if c.kind is not Kind.WIDTH]
    stored = (torch.finfo(p.dtype).eps / 2 for p in mine.values())
    own = subject.changed(is_as_held=True, held={role: subject.held[role] for role in mine})
    u = max([subject.unit_roundoff, *stored])  # γ − 1 is rounded, too
    compared = Search([Case(norm, t, own.result(t), u) for t in trials]).compare()
    is_new, mine_is_new = (all(map(_is_constant, ps.values())) for ps in (like, mine))
    adds_one = any(Tag.ADDS_ONE in part.tags for parts in cause.found for part in parts)
    if compared.is_right and not cause.is_right and (not is_new or adds_one):
        note = f" With the same numbers in both it would differ. {cause.words}".rstrip()
        remark = " That's with the γ and β that each of them holds."
        return compared._replace(remark=remark + note * bool(mine))
    near = {role: NEAR * (1 + p.double().abs().flatten()) for role, p in mine.items()}
    words = "" if compared.is_right else other_parameters(mine, like, near)
    if not words or (is_new and not cause.is_right):
        return cause
    slip = f"it holds other numbers than `like`: {words}"
    if not cause.is_right or (is_new and not mine_is_new):  # which norm, `like` says
        return cause._replace(remark=f" {capitalized(slip)}.")
    same = " With the same numbers in both no difference was found."
    return cause._replace(is_right=False, remark=same).because([slip])


def _is_constant(p: Tensor) -> bool:
    """Tell whether a parameter is as a new layer has it."""
    return bool(p.min() == p.max())
