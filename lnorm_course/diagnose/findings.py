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
from lnorm_course.diagnose.explaining import DOUBLE, MARGIN, SINGLE, Result, raised
from lnorm_course.diagnose.norms import Norm
from lnorm_course.diagnose.subject import LETTERS, Subject
from lnorm_course.diagnose.trials import NoGradientError, Trial, gradients, typical
from lnorm_utils.words import capitalized, dtype_name, significant, spoken

__all__ = ["HALF", "Dtypes", "Finding", "Run", "findings"]

FAR = {DOUBLE: 1e7, SINGLE: 4096.0}  # means at which E[x²] − E[x]² has no digit left
LOST = 1e-4  # of the largest number, at least
LARGE = 300  # times a typical row, squares and sums leave float16
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
        unit: of rounding, of the dtype in which it computes what comes in as float64.
        parts: the wrong pieces that explain what it does.
    """

    subject: Subject
    norm: Norm
    main: Trial
    mode: bool = False
    unit: float = DOUBLE
    parts: Explanation = ()

    def result(self, trial: Trial) -> Result:
        """Return what the layer makes of a trial, or its error."""
        try:
            return trial.run(functools.partial(self.subject.call, is_training=self.mode))
        except Exception as error:
            return raised(error)

    def call(self, x: Tensor) -> Result:
        """Return what it makes of x, with the ε, γ and β of the main trial."""
        return self.result(replace(self.main, x=x))

    def error(self, x: Tensor, unit: float) -> tuple[float, float, float]:
        """Return by how much it's off, how much of it rounding explains, and the largest number."""
        main, value = replace(self.main, x=x.double()), self.call(x)
        try:
            right = main.run(functools.partial(self.norm.result, self.parts))
        except RuntimeError:  # its slips may fail on other shapes
            return 0.0, 0.0, 0.0
        if not isinstance(value, Tensor) or value.shape != right.shape:
            return torch.inf, 0.0, 0.0
        off = (value.double() - right).abs()
        off[value.double().eq(right) | right.isnan()] = 0
        explained = self.norm.rounding(main.x, main.weight, main.bias, main.eps, unit)
        return off.nan_to_num(torch.inf).max().item(), explained, right.abs().max().item()


def findings(run: Run) -> Iterator[Finding]:
    """Yield what there is to say of a layer whose numbers are right, or explained."""
    main, subject = run.main, run.subject
    x = main.x.clone()
    with torch.no_grad():
        subject.call(x, main.weight, main.bias, main.eps, run.mode)
    if not torch.equal(x, main.x):
        slip = "it changes its input in place"
        yield Finding(f"{capitalized(slip)}: whoever uses x afterwards gets other numbers.", slip)
    more = {"other numbers of the same shape": typical(x.shape, 61)}
    if x.ndim > 1:
        more["an input that isn't contiguous"] = main.x.mT.contiguous().mT
        more["a long batch of 67"] = typical((67, *x.shape[1:]), 63)
    for words, x in more.items():
        if isinstance(run.call(x), Raised):
            continue
        off, explained, _ = run.error(x, run.unit)
        if off > MARGIN[run.unit] * explained:
            words = f"it's wrong for {words}, by up to {significant(off, 2)}"
            yield Finding(f"{capitalized(words)}.", words)
    yield from _far(run)
    yield from _gradients(run)
    yield from _dtypes(run)
    yield from _parameters(run)
    yield from map(Finding, subject.notes)


def _far(run: Run) -> Iterator[Finding]:
    """Compare rows whose mean is large against their spread."""
    mean = FAR[run.unit]
    x = typical(run.main.x.shape, 41) + mean
    off, explained, largest = run.error(x, run.unit)
    if not isinstance(run.call(x), Raised) and off > max(explained, LOST * largest):
        slip = "digits are lost when the mean is large, as E[x²] − E[x]² loses them"
        where = f"at a mean of {mean:,.0f} and a spread of about 2, it's off by"
        yield Finding(f"{capitalized(slip)}: {where} {significant(off, 2)}.", slip)


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


def _dtypes(run: Run) -> Iterator[Finding]:
    """Run it in other dtypes."""
    x = typical(run.main.x.shape, 71)
    x = x - x.mean(-1, keepdim=True)
    for dtype in (torch.float32, *HALF):
        name, unit = dtype_name(dtype), max(run.unit, torch.finfo(dtype).eps / 2)
        value = run.call(x.to(dtype))
        if isinstance(value, Raised):
            slip = f"it fails in {name}" * (dtype == torch.float32)
            yield Finding(f"In {name} it raises {value.kind}: {value.message[:100]}", slip)
            continue
        off, explained, _ = run.error(x.to(dtype), unit)
        if off > explained:
            slip = f"in {name} it's off by {significant(off, 2)}"
            words = f"{capitalized(slip)}, and rounding explains {significant(explained, 2)}."
            yield Finding(words, slip)
        elif dtype == torch.float16 and not run.parts:
            off, explained, _ = run.error((LARGE * x).to(dtype), unit)
            if off > explained:
                yield Finding(
                    f"In float16 it goes wrong at a spread of {LARGE} and more, as if squares "
                    "became infinite. PyTorch computes the statistics in float32."
                )
        if value.dtype != dtype:
            yield Finding(f"For {name} it returns {dtype_name(value.dtype)}.")


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
