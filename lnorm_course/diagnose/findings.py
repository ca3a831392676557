"""What only a whole layer shows: its gradient, its dtypes, its input, its state dict."""

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from lnorm_course.checking.search import Explanation, Raised
from lnorm_course.diagnose.explaining import MARGIN, Result, raised
from lnorm_course.diagnose.norms import Norm
from lnorm_course.diagnose.subject import Subject
from lnorm_course.diagnose.trials import NoGradientError, Trial, gradients, typical
from lnorm_utils.words import dtype_name, significant, spoken

__all__ = ["Finding", "Run", "findings"]

FAR = {2.0**-53: 1e7, 2.0**-24: 4096.0}  # means at which E[x²] − E[x]² has no digit left
LARGE = 300  # times a typical row, squares and sums leave float16
HALF = (torch.bfloat16, torch.float16)


@dataclass(frozen=True)
class Finding:
    """One sentence, and whether the layer is wrong because of it, with a clause that says why."""

    words: str
    is_wrong: bool = False
    slip: str = ""


@dataclass
class Run:
    """A layer beside its norm.

    Args:
        main: a typical trial, which the layer accepts.
        mode: whether a module is in `train`.
        unit: of rounding, of the dtype in which it computes what comes in as float64.
        parts: the wrong pieces that explain what it does.
    """

    subject: Subject
    norm: Norm
    main: Trial
    mode: bool | None = None
    unit: float = 2.0**-53
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

    def expected(self, x: Tensor) -> Tensor:
        """Return what the norm makes of x, with the pieces that explain the layer, in float64."""
        trial = replace(self.main, x=x.double())
        return trial.run(functools.partial(self.norm.result, self.parts))

    def error(self, x: Tensor, unit: float) -> tuple[float, float]:
        """Return by how much the layer is off, and how much of it rounding explains."""
        value, right = self.call(x), self.expected(x)
        if not isinstance(value, Tensor) or value.shape != right.shape:
            return torch.inf, 0.0
        off = (value.double() - right).abs()
        off[value.double().eq(right) | (value.isnan() & right.isnan())] = 0
        main = self.main
        explained = self.norm.rounding(x.double(), main.weight, main.bias, main.eps, unit)
        return off.nan_to_num(torch.inf).max().item(), explained


def findings(run: Run) -> list[Finding]:
    """Return what there is to say of a layer whose numbers are right, or explained."""
    return [
        *_in_place(run),
        *_other_inputs(run),
        *_far(run),
        *_gradients(run),
        *_dtypes(run),
        *_parameters(run),
        *_state_dict(run),
        *map(Finding, run.subject.notes),
    ]


def _in_place(run: Run) -> Iterator[Finding]:
    x, main = run.main.x.clone(), run.main
    with torch.no_grad():
        run.subject.call(x, main.weight, main.bias, main.eps, run.mode)
    if not torch.equal(x, main.x):
        slip = "it changes its input in place"
        words = "It changes its input in place, so whoever uses x afterwards gets other numbers."
        yield Finding(words, True, slip)


def _other_inputs(run: Run) -> Iterator[Finding]:
    x = run.main.x
    more = [("other numbers of the same shape", typical(x.shape, 61))]
    if x.ndim > 1:
        more.append(("an input that isn't contiguous", x.mT.contiguous().mT))
        more.append(("a long batch of 67", typical((67, *x.shape[1:]), 63)))
    for words, x in more:
        value = run.call(x)
        if isinstance(value, Raised):
            if not words.startswith("a long"):
                yield Finding(f"For {words}, it raises {value.kind}: {value.message[:100]}")
            continue
        off, explained = run.error(x, run.unit)
        if off > MARGIN[run.unit] * explained:
            yield Finding(f"It's wrong for {words}, by up to {significant(off, 2)}.", True)


def _far(run: Run) -> Iterator[Finding]:
    """Compare rows whose mean is large against their spread."""
    mean = FAR[run.unit]
    x = typical(run.main.x.shape, 41) + mean
    off, explained = run.error(x, run.unit)
    right = run.expected(x)
    if off <= max(explained, 1e-4 * right.abs().max().item()) or not right.isfinite().all():
        return
    where = f"at a mean of {mean:,.0f} and a spread of about 2"
    value = run.call(x)
    if isinstance(value, Tensor) and value.shape == x.shape and _is_a_factor(run, x, value):
        slip = "your variance loses its digits when the mean is large, as E[x²] − E[x]² does"
        yield Finding(f"{slip[0].upper()}{slip[1:]}: {where}, it's wrong.", True, slip)
    else:
        yield Finding(f"It goes wrong when the mean is large: {where}.", True)


def _is_a_factor(run: Run, x: Tensor, value: Tensor) -> bool:
    """Tell whether each row is right up to a factor, or not a number: only its divisor is off."""
    main = run.main
    y = value.double() if main.bias is None else value.double() - main.bias
    right = run.expected(x) - (0 if main.bias is None else main.bias)
    factor = (y * right).mean(-1, True) / right.square().mean(-1, True)
    rows = ((y - factor * right).abs() <= 0.02 * (1 + factor.abs()) * (1 + right.abs())).all(-1)
    return bool((rows | ~y.isfinite().all(-1)).all())


def _gradients(run: Run) -> Iterator[Finding]:
    """Look whether a gradient comes back to x, γ and β."""
    main, subject = run.main, run.subject
    weight, bias = (
        p if p is None else p.clone().requires_grad_() for p in (main.weight, main.bias)
    )
    trial = replace(main, weight=weight, bias=bias)
    mine = subject.copy(main.x.dtype, weight, bias, run.mode)
    roles = [("γ", "weight", weight), ("β", "bias", bias)]
    leaves = {}
    for letter, role, value in roles:
        if isinstance(mine, nn.Module) and role in subject.held:
            leaves[letter] = dict(mine.named_parameters()).get(subject.held[role])
        elif value is not None and (role in subject.takes or "both" in subject.takes):
            leaves[letter] = value
    known = {letter: leaf for letter, leaf in leaves.items() if leaf is not None}
    known = {letter: leaf for letter, leaf in known.items() if leaf.requires_grad}
    call = functools.partial(subject.call, is_training=run.mode)
    try:
        _, *found = gradients(trial, call, *known.values())
    except NoGradientError:
        yield Finding("No gradient comes back through it, so nothing below it can learn.")
        return
    except Exception as error:
        yield Finding(f"Its gradient can't be computed: {raised(error).message[:100]}")
        return
    silent = [letter for letter, each in zip(known, found, strict=True) if not each.any()]
    if silent and not run.parts:
        slip = f"no gradient reaches {spoken(silent)}"
        words = f"{slip[0].upper()}{slip[1:]}, so training changes nothing there."
        yield Finding(words, True, slip)


def _dtypes(run: Run) -> Iterator[Finding]:
    """Run it in other dtypes."""
    x = typical(run.main.x.shape, 71)
    x = x - x.mean(-1, keepdim=True)
    for dtype in (torch.float32, *HALF):
        name, mine = dtype_name(dtype), x.to(dtype)
        value = run.call(mine)
        unit = torch.finfo(dtype).eps / 2
        if isinstance(value, Raised):
            words = f"In {name}, it raises {value.kind}: {value.message}"
            yield Finding(words, dtype == torch.float32)
            continue
        off, explained = run.error(mine, max(unit, run.unit))
        if off > explained:
            off, explained = significant(off, 2), significant(explained, 2)
            words = f"In {name}, it's off by {off}; rounding explains {explained}."
            yield Finding(words, True, f"its numbers are wrong in {name}")
        elif dtype == torch.float16 and not run.parts:
            off, explained = run.error((LARGE * x).to(dtype), unit)
            if off > explained:
                yield Finding(
                    f"In float16, it goes wrong at a spread of {LARGE} and more, as if squares "
                    "became infinite. PyTorch computes the statistics in float32."
                )
        if value.dtype != dtype:
            yield Finding(f"For {name}, it returns {dtype_name(value.dtype)}.")


def _parameters(run: Run) -> Iterator[Finding]:
    """Compare which parameters there are with those of the module that it should be like."""
    for letter, role in (("γ", "weight"), ("β", "bias")):
        if run.norm.module is None or run.parts:
            return
        own = getattr(run.norm.module, role, None)
        if own is None and run.subject.has(role):
            slip = f"it has a {letter}"
            yield Finding(f"It has a {letter}. {run.norm.name} has none here.", True, slip)
        elif own is not None and not run.subject.has(role):
            yield Finding(f"It has no {letter}, and was compared for the {letter} of `like`.")


def _state_dict(run: Run) -> Iterator[Finding]:
    """Compare the names in the state dict with those of PyTorch's module."""
    layer, subject = run.subject.layer, run.subject
    if not subject.held:
        return
    learns = dict(layer.named_parameters()) if isinstance(layer, nn.Module) else {}
    letters = {"weight": "γ", "bias": "β"}
    named = [f"{letters[r]} is called `{n}`" for r, n in subject.held.items() if n != r]
    if named:
        yield Finding(f"In its state dict {spoken(named)}.")
    plain = [f"{letters[r]} (`{n}`)" for r, n in subject.held.items() if n not in learns]
    if plain and isinstance(layer, nn.Module):
        are = "aren't parameters" if len(plain) > 1 else "isn't a parameter"
        yield Finding(f"No optimizer finds {spoken(plain)}: in this module that {are}.")
    elif plain:
        yield Finding("It's no `nn.Module`, so no optimizer finds its γ and β.")
