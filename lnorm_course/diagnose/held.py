"""Compare a module with its reference as they are, each with the γ and β that it holds."""

from collections.abc import Sequence
from dataclasses import replace

import torch

from lnorm_course.checking.search import Raised
from lnorm_course.diagnose.explaining import Explained, Search
from lnorm_course.diagnose.findings import Run
from lnorm_course.diagnose.subject import LETTERS
from lnorm_course.diagnose.trials import Trial
from lnorm_utils.words import significant, spoken

__all__ = ["compare_as_held"]


def compare_as_held(
    runs: Sequence[Run], trials: Sequence[Trial], run: Run, explained: Explained, looks: str
) -> tuple[tuple[Run, Explained, str], str, str]:
    """Return what is known of a layer if its own γ and β count, too.

    Args:
        runs: the layer in all modes that differ.
        run, explained, looks: what is known with the same γ and β in both.

    Returns:
        That again, or what is known now; what to add to "no difference"; and a note.
    """
    found, held = (run, explained, looks), _as_held(run, trials)
    agrees = bool(held) and all(_agrees(each, held) for each in runs)
    if not held or explained.is_right is agrees:
        return found, "", ""
    if not agrees and explained.is_right:
        words = _other_numbers(run)
        if all(p is None or p.min() == p.max() for p in (held[-1].weight, held[-1].bias)):
            return found, f" {words}", ""  # `like` is new, and only says which norm it should be
        slip, words = (
            words.removesuffix("."),
            f"{words} With the same numbers in both no difference was found.",
        )
        return (run, explained._replace(is_right=False, words=words, slips=(slip,)), ""), "", ""
    if agrees and _is_convention(run, explained, held[-1]):
        note = f"With the same numbers in both it would differ. {explained.words or looks}"
        remark = " That's with the γ and β that each of them holds."
        return (run, Explained(True), ""), remark, note
    return found, "", ""


def _as_held(run: Run, trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials with the γ and β of `like`, if the layer holds γ or β, too."""
    own = [getattr(run.norm.module, role, None) for role in LETTERS]
    if own[0] is None or run.is_given or not run.subject.held:
        return []
    g, b = (p if p is None else p.detach().double() for p in own)
    return [replace(trial, weight=g, bias=b) for trial in trials]


def _agrees(run: Run, held: Sequence[Trial]) -> bool:
    """Tell whether a layer gives what `like` does, each with the γ and β that it holds."""
    run, search = replace(run, is_as_held=True), Search(run.norm, held, run.unit)
    values = ((n, run.result(held[n])) for n in reversed(range(len(held))))
    return all(
        isinstance(value, Raised) or search.equal(search.scaled(value, n), search.right[n])
        for n, value in values
    )


def _other_numbers(run: Run) -> str:
    """Say how the γ and β that a layer holds differ from those of `like`."""
    found = []
    for role, path in run.subject.held.items():
        own, like = run.subject.tensor(path), getattr(run.norm.module, role, None)
        if like is None or own.numel() != like.numel():
            continue
        p, q = (each.detach().double().flatten() for each in (own, like))
        letter, near = f"its {LETTERS[role]}", 1e-6 * q.abs().max().item()
        if torch.allclose(p, q, 0, near):
            continue
        if torch.allclose(p.sort().values, q.sort().values, 0, near):
            found.append(f"{letter} has the same numbers in another order")
        elif torch.allclose(p + 1, q, 0, 1e-6 + near):
            found.append(f"{letter} is less by 1, as if it were to be added")
        elif p.min() == p.max():
            found.append(f"{letter} is {significant(p[0])} everywhere, as if it weren't loaded")
        else:
            found.append(f"{letter} has other numbers")
    return f"It holds other numbers than `like`: {spoken(found or ['γ or β'], True)}."


def _is_convention(run: Run, explained: Explained, held: Trial) -> bool:
    """Tell whether what explains a layer would show with the γ and β of `like`.

    If it would, and doesn't, the layer holds γ and β in another way than `like`.
    """
    search = Search(run.norm, [held])
    if explained.found:
        return not any(search.equal(search.result(p, 0), search.right[0]) for p in explained.found)
    return all(p is None or p.min() < p.max() for p in (held.weight, held.bias))
