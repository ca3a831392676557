"""Find what shows in a layer's calls: errors, and how it treats inputs, dtypes, parameters."""

from collections.abc import Iterator
from dataclasses import replace
from textwrap import shorten
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from lnorm_diagnose.diagnosing.case import Case
from lnorm_diagnose.diagnosing.likeness import other_parameters
from lnorm_diagnose.diagnosing.search import Cause, Search
from lnorm_diagnose.diagnosing.straight_lines import loses_digits
from lnorm_diagnose.diagnosing.subject import LETTERS, Subject, equal
from lnorm_diagnose.diagnosing.trial_inputs import DTYPES, OF_DTYPES, Kind
from lnorm_diagnose.fewest_slips import Raised
from lnorm_diagnose.slips.notation import Tag
from lnorm_utils.words import capitalized, dtype_name, spoken

__all__ = ["DIGITS_LOST", "Finding", "compare_as_held", "findings"]

DIGITS_LOST = "digits are lost when the mean is large, as E[x²] − E[x]² loses them"
NEAR = 1e-6  # a parameter may be off by this fraction of 1 plus its absolute value


class Finding(NamedTuple):
    """A sentence about a layer and, if it explains a wrong result, the explanation as a clause."""

    words: str
    slip: str = ""
    is_seen: bool = False  # whether the slip only says what was seen


def _slip(slip: str, more: str) -> Finding:
    """Return a finding about a mistake, made from a clause and the rest of the sentence."""
    return Finding(f"{capitalized(slip)}{more}", slip)


def findings(subject: Subject, search: Search, cause: Cause) -> Iterator[Finding]:
    """Yield what there is to say about a layer besides the cause of its wrong numbers."""
    name = search.norm.name
    if subject.channels_first:
        yield Finding(
            "Its features are on axis 1, as in images: wherever the text says the last axis, read "
            "axis 1."
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
        slip = "without gradients, each call overwrites what the previous one returned"
        yield _slip(slip, f". {name} returns a new tensor.")
    if not all(map(torch.equal, inputs, (main.x, single.x))):
        more = ": code that uses x afterwards gets different numbers."
        yield _slip("it changes its input in place", more)
    is_wrong = not cause.is_right or any(case.kind is Kind.FAR for case in cause.without)
    returned: dict[torch.dtype, list[str]] = {}
    for case in search.judged:
        if case.kind is not Kind.GRADIENT and case.value.dtype != case.trial.dtype:
            returned.setdefault(case.value.dtype, []).append(dtype_name(case.trial.dtype))
    for dtype, names in returned.items():
        slip = f"for {spoken(names)} it returns {dtype_name(dtype)}"
        minor = _slip(slip, f". {name} returns the dtype it gets.")
        yield Finding(minor.words) if is_wrong else minor
    if isinstance(things, tuple) and len(things) > 1:
        yield Finding(f"It returns {len(things)} things; only the first was compared.")
    pairs = ((case.trial.words, case.value) for case in search.cases)
    failed = [(words, error) for words, error in pairs if isinstance(error, Raised)]
    if any(error.kind == "NoGradientError" for _, error in failed):
        no_gradient = _slip("no gradient comes back through it", ", so nothing before it learns.")
        # A function that computes with NumPy has no gradient, perhaps on purpose.
        yield no_gradient if subject.is_module else Finding(no_gradient.words)
    if refused := [pair for pair in failed if pair[1].kind != "NoGradientError"]:
        words, error = spoken([words for words, _ in refused]), refused[0][1]
        first = f"The first error is {error.kind}: {shorten(error.message, 100, placeholder=' …')}"
        yield Finding(f"It raises an error on {words}. {first}")
    if not cause.is_open:
        yield from _parameters(subject, search, cause)


def _of_precision(subject: Subject, cause: Cause) -> Iterator[Finding]:
    """Say what is wrong far from zero or in some dtypes, and how precisely the layer computes."""
    name = dtype_name(subject.computes_in)
    if any(Tag.ADDS_ONE in part.tags for parts in cause.found for part in parts):
        yield Finding("If it stores γ − 1, as Gemma's norms do, then adding 1 is right.")
    if subject.computes_in in DTYPES[1:]:
        slip = f"it computes in {name}, or rounds as coarsely, whatever comes in"
        yield _slip(slip, ", so it's right to fewer digits than float32 has.")
    elif subject.computes_in != torch.float64 and cause.is_right:
        yield Finding(f"It computes in {name}, or rounds as coarsely, even for float64 input.")
    of_dtypes = [case.trial for case in cause.without if case.kind in OF_DTYPES]
    dtypes = [trial.words for trial in of_dtypes]
    if far := [case for case in cause.without if case.kind is Kind.FAR]:
        is_wrong = f"it's wrong on {far[0].trial.words}"
        if loses_digits(far[0], subject.computes_in):
            yield _slip(DIGITS_LOST, f": {is_wrong}.")
        else:
            yield _slip(is_wrong, f". Perhaps {DIGITS_LOST}.")._replace(is_seen=True)
    elif [trial.kind for trial in of_dtypes] == [Kind.OVERFLOW]:
        # This isn't a mistake, because many correct layers are written for float32.
        what = f"Something overflows in {dtypes[0]}, probably a square or the mean of the squares"
        yield Finding(f"{what}. Compute both in float32.")
    elif dtypes and cause.is_right:
        slip = f"in {spoken(dtypes)} it's off by more than rounding explains"
        yield _slip(slip, ". In float64 no difference was found.")


def _parameters(subject: Subject, search: Search, cause: Cause) -> Iterator[Finding]:
    """Compare γ and β, and their names, with those of PyTorch's module."""
    norm, layer = search.norm, subject.layer
    learns = dict(layer.named_parameters()) if isinstance(layer, nn.Module) else {}
    for role, letter in LETTERS.items() if norm.module is not None and not cause.found else ():
        if role in norm.parameters:
            if not subject.has(role):
                words = f"No {letter} was found in it. It was compared with the {letter} of `like`."
                yield Finding(words)
        elif role in subject.takes or subject.held.get(role) in learns:
            main = search.main.trial
            changed: Any = ({role: torch.full(norm.shape, n).double()} for n in (2, 3))
            if not equal(*(subject.result(replace(main, **each)) for each in changed)):
                yield _slip(f"it has a {letter}", f". {norm.name} has none here.")
    held = {LETTERS[role]: path for role, path in subject.held.items()}
    if any(path not in LETTERS for path in held.values()):
        named = [f"{letter} is called `{path}`" for letter, path in held.items()]
        yield Finding(f"In its state dict, {spoken(named)}.")
    if plain := [f"{letter} (`{path}`)" for letter, path in held.items() if path not in learns]:
        yield Finding(f"No optimizer finds {spoken(plain)}, which isn't a parameter of a module.")


def compare_as_held(subject: Subject, search: Search, cause: Cause) -> Cause:
    """Return the cause, adjusted after comparing the γ and β that the layer and `like` hold.

    Args:
        cause: the cause found with the same γ and β in both.
    """
    norm, like, tensors = search.norm, search.norm.parameters, subject.tensors(subject.layer)
    if "weight" not in like or not subject.is_module:
        return cause
    mine = {  # a tensor of a different size may hold both γ and β, or something unrelated
        role: tensors[path]
        for role, path in subject.held.items()
        if role in like and tensors[path].numel() == like[role].numel()
    }
    given: Any = {"bias": None, **like, "roles": tuple(mine)}
    trials = [replace(c.trial, **given) for c in search.cases if c.kind is not Kind.WIDTH]
    stored = (torch.finfo(p.dtype).eps / 2 for p in mine.values())
    own = subject.changed(is_as_held=True, held={role: subject.held[role] for role in mine})
    u = max([subject.unit_roundoff, *stored])  # a stored γ − 1 was rounded, too
    compared = Search([Case(norm, t, own.result(t), u) for t in trials]).compare()
    is_new, mine_is_new = (all(map(_is_constant, ps.values())) for ps in (like, mine))
    adds_one = any(Tag.ADDS_ONE in part.tags for parts in cause.found for part in parts)
    if compared.is_right and not cause.is_right and (not is_new or adds_one):
        why = "It multiplies by 1 + γ." if adds_one and len(cause.slips) == 1 else cause.words
        note = f" With the same numbers in both, it would differ. {why}".rstrip()
        remark = " This is with the γ and β that each of them holds."
        return compared._replace(remark=remark + note * bool(mine))
    near = {role: NEAR * (1 + p.double().abs().flatten()) for role, p in mine.items()}
    words = "" if compared.is_right else other_parameters(mine, like, near)
    if not words or (is_new and not cause.is_right):
        return cause
    slip = f"it holds different numbers than `like`: {words}"
    if not cause.is_right or (is_new and not mine_is_new):  # `like` only shows which norm is meant
        return cause._replace(remark=f" {capitalized(slip)}.")
    same = " With the same numbers in both, no difference was found."
    return cause._replace(is_right=False, remark=same).because([slip])


def _is_constant(p: Tensor) -> bool:
    """Return whether a parameter is constant, as in a new layer."""
    return bool(p.min() == p.max())
