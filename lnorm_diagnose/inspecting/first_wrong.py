"""Find the first module whose output isn't finite, or is too far from the output in float64."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.utils._pytree import tree_map_only

from lnorm_diagnose.inspecting.copies import copied, floats, left_alone
from lnorm_diagnose.inspecting.rounding import Float64, bound, plain_operations, sum_abs_terms
from lnorm_utils.words import dtype_name, significant

__all__ = ["FirstWrong", "Wrong", "first_wrong"]

ROW = 8  # shorter rows aren't judged individually


@dataclass(frozen=True)
class Wrong:
    """A module whose output is wrong, although what came into it was right.

    Args:
        name: its name in `model.named_modules()`; "" is the model itself.
        kind: its class.
        words: what is wrong with its output, as one sentence.

    >>> print(Wrong("", "Net", "inf from finite numbers."))
    The model itself (Net): inf from finite numbers.
    """

    name: str
    kind: str
    words: str

    def __str__(self) -> str:
        return f"{self.name or 'The model itself'} ({self.kind}): {self.words}"


@dataclass
class FirstWrong:
    """What `first_wrong` found.

    Args:
        not_finite: the first module whose output has nan or infinity although its input had none.
        off: the first module whose output is off by more than its dtype explains.
        compared: how many calls of modules were compared with float64.
        skipped: which calls weren't compared, and why, one sentence each.

    >>> FirstWrong(Wrong("0.norm", "LayerNorm", "inf from finite numbers."), compared=1)
    0.norm (LayerNorm): inf from finite numbers.
    """

    not_finite: Wrong | None = None
    off: Wrong | None = None
    compared: int = 0
    skipped: tuple[str, ...] = ()

    def __str__(self) -> str:
        found = [str(each) for each in dict.fromkeys((self.not_finite, self.off)) if each]
        nothing = f"Nothing found. Outputs compared with float64: {self.compared}."
        return "\n".join([*(found or [nothing]), *(f"Skipped {each}" for each in self.skipped)])

    __repr__ = __str__


def first_wrong(model: nn.Module, *inputs: Any, **named: Any) -> FirstWrong:
    """Find the first module whose output isn't finite, or is off by more than its dtype explains.

    It runs a copy of the model, and passes the input of each module to a float64 copy of that
    module, too. There, a module that contains others is given their actual outputs, so that only
    its own lines are judged. The model itself, its mode, its statistics, and the random state don't
    change. Dropout is switched off.

    The largest number y of a row may be off by 2 · (√n · u + √m · v) · (|y| + Σ|∂y/∂x · x|). Here
    n is the number of operations, and m is the total number of terms in their sums. u is half the
    step from 1 to the next number of the dtype, and v is the same for float32, or u if that's
    smaller. The sum Σ is over all inputs of the module and its own parameters. So the bound doesn't
    depend on the kernel. It assumes that each operation rounds once, that sums, in any order, are
    kept in float32 or better, and that rounding goes up as often as down. It finds code, such
    as E[x²] − E[x]², whose own rounding matters more than that of its input.

    Args:
        model: any module, in the mode in which it should be judged, on any device that supports
            float64. A compiled model is judged as it was before `torch.compile`.
        inputs, named: what the model is called with; tensors may be inside tuples, lists, and
            dicts.

    Returns:
        `FirstWrong`: print it, or read `not_finite` and `off`.

    Raises:
        TypeError: `model` is not a module, can't be copied, or is TorchScript.
        ValueError: there are no inputs.
        Exception: whatever the model raises on these inputs.

    Source: for the square roots, Higham and Mary 2019, "A New Approach to Probabilistic Rounding
    Error Analysis"; for Σ|∂y/∂x · x| from random samples, Trejo and Kreinovich 2001.

    >>> first_wrong(nn.Linear(4, 4), torch.ones(2, 4))
    Nothing found. Outputs compared with float64: 1.
    """
    actual = copied(model, "first_wrong")
    if not inputs and not named:
        raise ValueError(
            "first_wrong needs the inputs that the model is called with, but got none."
        )
    found, calls = FirstWrong(), list[_Call]()
    pairs = zip(
        actual.named_modules(), copied(model, "first_wrong").double().modules(), strict=True
    )
    for (name, module), exact in pairs:
        for each in (module, exact):
            if isinstance(each, nn.modules.dropout._DropoutNd):
                each.eval()
            if isinstance(each, nn.MultiheadAttention | nn.RNNBase):  # dropout is built in
                each.dropout = 0.0
        _watch(name, module, exact, calls, found)
    with left_alone():
        actual(*inputs, **named)
    return found


@dataclass
class _Call:
    """An unfinished call to a module.

    Args:
        name: the name of the module.
        exact: the same module in float64.
        args, kwargs: what came in.
        inside: the outputs so far of the modules inside it, keyed by their float64 copies.
    """

    name: str
    exact: nn.Module
    args: tuple
    kwargs: dict
    inside: dict[nn.Module, list[Any]] = field(default_factory=lambda: defaultdict(list))

    def exactly(self, double: Callable[[Tensor], Tensor]) -> tuple[list[Tensor], tuple[int, int]]:
        """Run the module in float64, and count its roundings; `double` converts its inputs."""

        def convert(value: Any) -> Any:
            return tree_map_only(Tensor, lambda x: double(x) if x.is_floating_point() else x, value)

        args, kwargs = convert((self.args, self.kwargs))
        own = {key: double(p) for key, p in self.exact.named_parameters(recurse=False)}
        with _replayed(convert(dict(self.inside))), plain_operations(), Float64() as counter:
            found = floats(functional_call(self.exact, own, args, kwargs))
        return found, (counter.operations, counter.terms)

    def output(self, place: int, double: Callable[[Tensor], Tensor]) -> Tensor:
        return self.exactly(double)[0][place]


def _watch(
    name: str, module: nn.Module, exact: nn.Module, calls: list[_Call], found: FirstWrong
) -> None:
    """Compare each call of a module with the same module in float64."""

    def before(_: nn.Module, args: tuple, kwargs: dict) -> None:  # modules may overwrite inputs
        calls.append(_Call(name, exact, *tree_map_only(Tensor, Tensor.clone, (args, kwargs))))

    def after(_: nn.Module, args: tuple, kwargs: dict, output: Any) -> None:
        call, given = calls.pop(), floats(output)
        if calls:
            calls[-1].inside[exact].append(tree_map_only(Tensor, Tensor.clone, output))
        if given and (found.off is None or found.not_finite is None):
            _compare(call, given, found)

    module.register_forward_pre_hook(before, with_kwargs=True)
    module.register_forward_hook(after, with_kwargs=True)


def _compare(call: _Call, given: list[Tensor], found: FirstWrong) -> None:
    """Compare a module's output with that in float64; record it if it's the first wrong one."""
    name, kind = call.name, type(call.exact).__name__
    try:
        right, counts = call.exactly(Tensor.double)
        again, _ = call.exactly(Tensor.double)  # to see whether the module is random
        failure = _failure(given, right, again)
    except Exception as error:
        failure = f"it raises {type(error).__name__}: {str(error).splitlines()[0]}"
    if failure:
        found.skipped += (f"{name or 'the model itself'} ({kind}): in float64 {failure}",)
        right = [torch.full_like(each, torch.nan).double() for each in given]
    else:
        found.compared += 1
    came_in = floats((call.args, call.kwargs, [*call.inside.values()]))
    had = {test: any(test(each).any() for each in came_in) for test in (torch.isnan, torch.isinf)}
    for place, (y, z) in enumerate(zip(given, right, strict=True)):
        u = torch.finfo(y.dtype).eps / 2  # the unit roundoff
        if found.not_finite is None and any(f(y).any() and not had[f] for f in had):
            found.not_finite = Wrong(name, kind, _about_not_finite(y, z, failure, call.exact))
        elif not (found.off or failure) and _about_error(y, z, bound(u, z, 0, *counts)):
            # It's off by too much unless some terms are larger than their sum. How large are they?
            terms = sum_abs_terms(z, partial(call.output, place))
            if words := _about_error(y, z, bound(u, z, terms, *counts)):
                found.off = Wrong(name, kind, words)


@contextmanager
def _replayed(inside: dict[nn.Module, list[Any]]) -> Iterator[None]:
    """Make modules return their recorded outputs, in order, with float64 as the default dtype."""
    default = torch.get_default_dtype()
    for module, outputs in inside.items():
        left = iter(outputs)
        # An attribute of the object takes precedence over a method of its class.
        module.forward = lambda *args, left=left, **kwargs: next(left)
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(default)
        for module in inside:
            del module.forward


def _failure(given: list[Tensor], right: list[Tensor], again: list[Tensor]) -> str | None:
    if [each.shape for each in right] != [each.shape for each in given]:
        return "it gives different shapes"
    same = all(
        torch.equal(y.nan_to_num(), z.nan_to_num()) for y, z in zip(right, again, strict=True)
    )
    return None if same else "it gives different numbers each time"


def _about_not_finite(y: Tensor, right: Tensor, failure: str | None, module: nn.Module) -> str:
    bad = ~y.isfinite()
    what = "nan" if y.isnan().any() else "infinity"
    where = f"the output has {what} in {int(bad.sum()):,} of {y.numel():,} places"
    dtype = dtype_name(y.dtype)
    for name, parameter in module.named_parameters():
        if not parameter.isfinite().all():
            return f"{where}, because its `{name}` has infinity or nan, perhaps from a cast."
    if failure:
        return f"{where}, but its input had none."
    if not right[bad].isfinite().all():
        return f"{where}, as it does in float64: precision isn't the cause."
    largest = right[bad].abs().max().item()
    most = torch.finfo(y.dtype).max
    over = f", and {dtype} ends at {significant(most)}" if largest > most else ""
    return f"{where}; in float64, numbers there reach {significant(largest)}{over}."


def _about_error(y: Tensor, right: Tensor, limit: Tensor) -> str | None:
    """Say by how much an output is off; return None if rounding explains it."""
    y = y.double()
    known = y.isfinite() & right.isfinite() & limit.isfinite()
    error, size, limit = (
        _largest(each.where(known, 0.0)) for each in ((y - right).abs(), right, limit)
    )
    if not (error > limit).any():
        return None
    worst = (error / limit).nan_to_num(0.0).argmax()
    off, explained, scale = (each.flatten()[worst].item() for each in (error, limit, size))
    return (
        f"the output is off by {significant(off, 2)}, where numbers reach {significant(scale, 2)} "
        f"in float64; rounding explains {significant(explained, 2)}."
    )


def _largest(x: Tensor) -> Tensor:
    """Return the largest absolute value in each row, or in all of x if its rows are short."""
    if x.ndim > 1 and x.shape[-1] >= ROW:
        return x.abs().amax(dim=-1)
    return x.abs().max()[None] if x.numel() else x.new_zeros(1)
