"""What only a whole layer shows: its gradient, its dtypes, its input, its parameters."""

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from lnorm_course.checking.search import Explanation
from lnorm_course.diagnose.explaining import DOUBLE, SINGLE, Result, raised
from lnorm_course.diagnose.norms import Norm
from lnorm_course.diagnose.subject import LETTERS, Subject
from lnorm_course.diagnose.trials import NoGradientError, Trial, gradients
from lnorm_utils.words import capitalized, dtype_name, spoken

__all__ = ["HALF", "Dtypes", "Finding", "Run", "findings"]

HALF = (torch.bfloat16, torch.float16)


class Finding(NamedTuple):
    """One sentence; and a clause, if the layer is wrong because of it."""

    words: str
    slip: str = ""


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
    """

    subject: Subject
    norm: Norm
    main: Trial
    mode: bool = False
    dtype: torch.dtype = torch.float64
    parts: Explanation = ()

    @property
    def unit(self) -> float:
        """The unit of rounding of that dtype, if it isn't half precision."""
        return DOUBLE if self.dtype == torch.float64 else SINGLE

    def result(self, trial: Trial) -> Result:
        """Return what the layer makes of a trial, or its error."""
        try:
            mine = replace(trial, x=trial.x.to(trial.dtype))
            return mine.run(functools.partial(self.subject.call, is_training=self.mode))
        except Exception as error:
            return raised(error)

    def call(self, x: Tensor) -> Result:
        """Return what it makes of x, with the ε, γ and β of the main trial."""
        return self.result(replace(self.main, x=x))


def findings(run: Run) -> Iterator[Finding]:
    """Yield what there is to say of a layer whose numbers are right, or explained."""
    main, subject = run.main, run.subject
    x = main.x.clone()
    with torch.no_grad():
        subject.call(x, main.weight, main.bias, main.eps, run.mode)
    if not torch.equal(x, main.x):
        slip = "it changes its input in place"
        yield Finding(f"{capitalized(slip)}: whoever uses x afterwards gets other numbers.", slip)
    yield from _gradients(run)
    yield from _parameters(run)
    for dtype in (torch.float32, *HALF):
        value = run.result(replace(main, dtype=dtype))
        if isinstance(value, Tensor) and value.dtype != dtype:
            yield Finding(f"For {dtype_name(dtype)} it returns {dtype_name(value.dtype)}.")
    yield from map(Finding, subject.notes)


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
        yield Finding(f"Its gradient can't be computed: {raised(error).message[:100]}")
        return
    silent = [letter for letter, each in zip(known, found, strict=True) if not each.any()]
    if silent and not run.parts:
        slip = f"no gradient reaches {spoken(silent)}"
        yield Finding(f"{capitalized(slip)}, so training changes nothing there.", slip)


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
