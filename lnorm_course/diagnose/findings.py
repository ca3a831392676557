"""What only a whole layer shows: its gradient, its dtypes, its input, its parameters."""

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from lnorm_course.checking.search import Explanation, Raised
from lnorm_course.diagnose.explaining import DOUBLE, SINGLE, Result
from lnorm_course.diagnose.norms import Norm
from lnorm_course.diagnose.subject import LETTERS, Subject
from lnorm_course.diagnose.trials import NoGradientError, Trial, gradients, typical
from lnorm_utils.words import capitalized, dtype_name, significant, spoken

__all__ = ["HALF", "Dtypes", "Finding", "Run", "findings"]

HALF = (torch.bfloat16, torch.float16)


class Finding(NamedTuple):
    """One sentence; and a clause, if the layer is wrong because of it; or if by nothing else."""

    words: str
    slip: str = ""
    is_minor: bool = False


class Dtypes(TorchDispatchMode):
    """Note in which floating-point dtypes tensors come out of operations, as `seen`."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[torch.dtype] = set()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        tensors = (each for each in tree_leaves(result) if isinstance(each, Tensor))
        self.seen |= {each.dtype for each in tensors if each.ndim and each.is_floating_point()}
        return result


@dataclass
class Run:
    """A layer beside its norm.

    Args:
        main: a typical trial, which the layer takes.
        mode: whether a module is in `train`.
        dtype: the lowest in which it computes what comes in as float64.
        parts: the wrong pieces that explain what it does.
        is_given: whether γ or β were given, so those that each holds don't matter.
        is_as_held: whether it keeps its own γ and β, and doesn't take those of a trial.
    """

    subject: Subject
    norm: Norm
    main: Trial
    mode: bool = False
    dtype: torch.dtype = torch.float64
    parts: Explanation = ()
    is_given: bool = False
    is_as_held: bool = False

    @property
    def unit(self) -> float:
        """The unit of rounding of that dtype, if it isn't half precision."""
        return DOUBLE if self.dtype == torch.float64 else SINGLE

    def result(self, trial: Trial) -> Result:
        """Return what the layer makes of a trial, or its error."""
        try:
            mine = replace(trial, x=trial.x.to(trial.dtype))
            if self.is_as_held:
                mine = replace(mine, weight=None, bias=None)
            value = mine.run(functools.partial(self.subject.call, is_training=self.mode))
            return value.clone()  # the next call may overwrite it
        except Exception as error:
            return Raised.of(error)

    def call(self, x: Tensor) -> Result:
        """Return what it makes of x, with the ε, γ and β of the main trial."""
        return self.result(replace(self.main, x=x))


def findings(run: Run, is_known: bool) -> Iterator[Finding]:
    """Yield what there is to say of a layer; of γ and β, if its numbers are right or explained."""
    main, x = run.main, run.main.x.clone()
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
        yield Finding(f"{capitalized(slip)}. {run.norm.name} returns a new tensor.", slip)
    if is_known:
        yield from _gradients(run)
        yield from _parameters(run)
    returned: dict[torch.dtype, list[str]] = {}
    for dtype in (torch.float64, torch.float32, *HALF):
        value = run.result(replace(main, dtype=dtype))
        if isinstance(value, Tensor) and value.dtype != dtype:
            returned.setdefault(value.dtype, []).append(dtype_name(dtype))
    for dtype, names in returned.items():
        slip = f"for {spoken(names)} it returns {dtype_name(dtype)}"
        yield Finding(f"{capitalized(slip)}. {run.norm.name} returns what it gets.", slip, True)
    yield from map(Finding, run.subject.notes)


def _gradients(run: Run) -> Iterator[Finding]:
    """Look whether a gradient comes back to x, γ and β."""
    main, subject = run.main, run.subject
    weight, bias = (
        p if p is None else p.clone().requires_grad_() for p in (main.weight, main.bias)
    )
    mine = subject.copy(main.x.dtype, weight, bias, run.mode)
    learns = dict(mine.named_parameters()) if isinstance(mine, nn.Module) else {}
    leaves = {
        LETTERS[role]: learns.get(subject.held[role]) if role in subject.held else given
        for role, given in (("weight", weight), ("bias", bias))
        if subject.has(role)
    }
    known = {letter: leaf for letter, leaf in leaves.items() if leaf is not None}
    call = functools.partial(subject.call, is_training=run.mode)
    try:
        _, *found = gradients(replace(main, weight=weight, bias=bias), call, *known.values())
    except NoGradientError:
        yield Finding("No gradient comes back through it, so nothing below it can learn.")
        return
    except Exception as error:
        yield Finding(f"Its gradient can't be computed: {Raised.of(error).message[:100]}")
        return
    if run.parts or run.dtype in HALF:
        return
    silent = [letter for letter, each in zip(known, found, strict=True) if not each.any()]
    if silent:
        slip = f"no gradient reaches {spoken(silent)}"
        yield Finding(f"{capitalized(slip)}, so training changes nothing there.", slip)
    given = {letter: p for letter, p in (("γ", weight), ("β", bias)) if p is not None}
    right = functools.partial(run.norm.result, ())
    _, *expected = gradients(replace(main, weight=weight, bias=bias), right, *given.values())
    should = dict(zip(given, expected, strict=True))
    for letter, mine in zip(known, found, strict=True):
        if letter in silent or mine.numel() != should[letter].numel():
            continue
        y, z = mine.double().flatten(), should[letter].flatten()
        within = (1e-7 if run.unit == DOUBLE else 1e-3) * z.abs().max()
        if (y - z).abs().max() > within:
            factor = (y @ z / (z @ z)).item()
            is_scaled = (y - factor * z).abs().max() <= within
            other = f"{significant(factor)} times what it should be" if is_scaled else "wrong"
            slip = f"the gradient of {letter} is {other}"
            yield Finding(f"{capitalized(slip)}, so it learns otherwise.", slip)


def _parameters(run: Run) -> Iterator[Finding]:
    """Compare γ and β, and how they are called, with those of PyTorch's module."""
    subject, like, name = run.subject, run.norm.module, run.norm.name
    for role, letter in LETTERS.items():
        own = getattr(like, role, None)
        if like is not None and not run.parts and (own is None) == subject.has(role):
            if own is None:
                yield Finding(f"It has a {letter}. {name} has none here.", f"it has a {letter}")
            else:
                yield Finding(f"It has no {letter}, and was compared for the {letter} of `like`.")
    held = {LETTERS[role]: path for role, path in subject.held.items()}
    named = [f"{letter} is called `{path}`" for letter, path in held.items()]
    if any(path not in LETTERS for path in held.values()):
        yield Finding(f"In its state dict {spoken(named)}.")
    learns = dict(subject.layer.named_parameters()) if subject.is_module else {}
    if plain := [f"{letter} (`{path}`)" for letter, path in held.items() if path not in learns]:
        yield Finding(
            f"No optimizer finds {spoken(plain)}, because that's no parameter of a module."
        )
