"""Make, call, load and train a layer that a student wrote, and return what can be compared.

The grader's kernel runs this file too, so it imports nothing that knows answers. Its functions
return numbers and words, never a verdict.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import torch
from torch import Tensor, nn

from lnorm_course.checking.running import CallError

__all__ = ["Observation", "Observed", "describe", "load", "observe"]

OPTIONS = ("eps", "elementwise_affine", "bias")
NO_MODULE = "not an nn.Module"


class Observed(Enum):
    """What to look at in a layer. A student reads these words before a difference."""

    OUTPUT = "the output of a new layer"
    OUTPUT_AFTER_LOADING = "the output with other numbers in γ and β"
    PARAMETERS = "the names and shapes of its parameters"
    INPUT_GRADIENT = "the gradient of the input"
    STARTS = "the numbers that γ and β start at"
    SWITCHED_OFF = "what the layer has in place of a γ or β that is switched off"
    OUTPUT_IN_EVAL = "the output in `eval` mode, after a call in training"
    AFTER_A_STEP = "γ, then β, after one step of gradient descent"
    REFUSAL = "an input whose last axes don't fit"


@dataclass(frozen=True)
class Observation:
    """One look at a layer: how to make it, what to call it with, and what to look at then.

    Args:
        what: what to look at.
        shape: the layer's `normalized_shape`.
        options: the arguments after it, `eps`, `elementwise_affine`, `bias`; the last may be left
            out.
        x: the input.
        more: γ and β for OUTPUT_AFTER_LOADING, the targets for AFTER_A_STEP,
            the gradient of the output for INPUT_GRADIENT.
    """

    what: Observed
    shape: int | Sequence[int]
    options: tuple
    x: Tensor
    more: tuple[Tensor, ...] = ()

    @property
    def words(self) -> str:
        """What a student reads about where the difference was found."""
        pairs = zip(OPTIONS, self.options, strict=False)
        off = [f"{name}=False" for name, value in pairs if value is False]
        return "".join(f"with {switch}, " for switch in off) + self.what.value

    def arguments(self) -> tuple:
        """Return the arguments of `observe`: plain values that can be sent to another process."""
        return (self.what.name, self.shape, self.options, self.x, *self.more)


def observe(
    make: Callable,
    what: str,
    shape: int | Sequence[int],
    options: tuple,
    x: Tensor,
    *more: Tensor,
) -> object:
    """Make a layer in float64 and look at it; None if its forward returns nothing.

    Args:
        make: the student's class.
        what: the name of a member of `Observed`. For the others see `Observation`.
        shape: the layer's `normalized_shape`.
        options: the arguments after it.
        x: the input.
        more: further tensors.
    """
    layer = _made(make, shape, options)
    if isinstance(layer, nn.Module):
        layer.double()
    call = layer if callable(layer) else layer.forward
    if what == Observed.REFUSAL.name:
        return _refusal(call, shape, x)
    y = call(x)
    if y is None or y is ...:
        return y
    if not isinstance(y, Tensor):
        raise CallError("the `forward` of your class returns no tensor. Return one tensor.")
    return LOOKS[Observed[what]](layer, call, x, y, *more)


def describe(what: str, shape: object, options: tuple, x: Tensor, *more: Tensor) -> str:
    """Say in words how `observe` uses a class with these arguments."""
    sizes = tuple(shape) if isinstance(shape, tuple) else shape  # a torch.Size says its name
    made = ", ".join(map(repr, (sizes, *options)))
    return f"it was made with {made} and called with an input of shape {tuple(x.shape)}"


def _made(make: Callable, shape: int | Sequence[int], options: tuple) -> Any:
    """Make a layer. If its `__init__` doesn't set up `nn.Module`, say what to add to it."""
    advice = "In `__init__`, call `super().__init__()` first"
    try:
        layer = make(shape, *options)
    except AttributeError as error:
        if "Module.__init__()" in str(error):
            error.args = (f"{error}. {advice}",)
        raise
    if isinstance(layer, nn.Module) and "_parameters" not in vars(layer):
        raise AttributeError(advice)
    return layer


def _starts(layer: object) -> tuple[float, float]:
    """Return the means of γ and β, under either name; 1 and 0 if the layer has none."""
    return _mean(layer, ("weight", "gamma"), 1.0), _mean(layer, ("bias", "beta"), 0.0)


def _mean(layer: object, names: tuple[str, ...], otherwise: float) -> float:
    for name in names:
        value = getattr(layer, name, None)
        if isinstance(value, Tensor) and value.numel() > 0:
            return value.detach().double().mean().item()
    return otherwise


def _switched_off(layer: object) -> str:
    """Say whether `weight` and `bias` are None if they were switched off."""
    names = {"weight", "bias"} - set(_parameters(layer))
    if not all(hasattr(layer, name) for name in names):
        return "nothing"
    return "None" if all(getattr(layer, name) is None for name in names) else "not None"


def _parameters(layer: object) -> dict[str, Tensor]:
    """Return what an optimizer finds, by name; nothing if the object isn't a module."""
    return dict(layer.named_parameters()) if isinstance(layer, nn.Module) else {}


def _names_and_shapes(layer: object) -> tuple:
    if not isinstance(layer, nn.Module):
        return ((NO_MODULE,),)
    # If a parameter has two names, named_parameters() leaves one out, and a state dict has both.
    named = {**layer.state_dict(), **_parameters(layer)}
    buffers = {name: f"{name} (a buffer)" for name, _ in layer.named_buffers()}
    return tuple(sorted((buffers.get(name, name), *t.shape) for name, t in named.items()))


@torch.no_grad()
def load(layer: object, *numbers: Tensor) -> None:
    """Put numbers into γ and β, if there are any, a state dict holds them and the shapes fit."""
    held = layer.state_dict(keep_vars=True) if isinstance(layer, nn.Module) else {}
    for name, value in zip(("weight", "bias"), numbers, strict=False):
        parameter = held.get(name)
        if parameter is not None and parameter.shape == value.shape:
            parameter.copy_(value)


def _after_loading(layer: object, call: Callable, x: Tensor, *numbers: Tensor) -> object:
    load(layer, *numbers)
    return call(x)


def _in_eval(layer: object, call: Callable, x: Tensor) -> object:
    if isinstance(layer, nn.Module):
        layer.eval()
    return call(x)


def _after_a_step(layer: object, y: Tensor, targets: Tensor) -> Tensor:
    """Return γ and β after a step of gradient descent, or `y` if it has the wrong shape."""
    if y.shape != targets.shape:
        return y
    loss = (y - targets).square().mean()
    if loss.requires_grad:
        loss.backward()
    with torch.no_grad():
        for parameter in _parameters(layer).values():
            if parameter.grad is not None:
                parameter -= 0.5 * parameter.grad
    found = [getattr(layer, name, None) for name in ("weight", "bias")]
    numbers = [parameter.flatten() for parameter in found if isinstance(parameter, Tensor)]
    return torch.cat([torch.zeros(0), *numbers]).double()


def _input_gradient(call: Callable, x: Tensor, gradient: Tensor) -> Tensor:
    """Return the gradient of the input, or the output if it has the wrong shape."""
    x = x.clone().requires_grad_()
    y = call(x)
    if y.shape != gradient.shape:
        return y
    if y.requires_grad:
        (y * gradient).sum().backward()  # `y.backward(gradient)` imports a third of a second
    return torch.zeros_like(x) if x.grad is None else x.grad


def _refusal(call: Callable, shape: int | Sequence[int], x: Tensor) -> str | None:
    """Say whether the layer raises an error for this input, and whether that names both shapes."""
    try:
        y = call(x)
    except Exception as error:
        sizes = [shape] if isinstance(shape, int) else shape
        both = (", ".join(map(str, each)) for each in (sizes, x.shape))
        named = all(text in str(error) for text in both)
        return "an error that names both shapes" if named else "an error without both shapes"
    return None if y is None else "no error"


LOOKS: dict[Observed, Callable[..., object]] = {  # of (layer, call, x, y, *more)
    Observed.OUTPUT: lambda layer, call, x, y: y,
    Observed.OUTPUT_AFTER_LOADING: lambda layer, call, x, y, *more: _after_loading(
        layer, call, x, *more
    ),
    Observed.PARAMETERS: lambda layer, call, x, y: _names_and_shapes(layer),
    Observed.INPUT_GRADIENT: lambda layer, call, x, y, gradient: _input_gradient(call, x, gradient),
    Observed.STARTS: lambda layer, call, x, y: _starts(layer),
    Observed.SWITCHED_OFF: lambda layer, call, x, y: _switched_off(layer),
    Observed.OUTPUT_IN_EVAL: lambda layer, call, x, y: _in_eval(layer, call, x),
    Observed.AFTER_A_STEP: lambda layer, call, x, y, targets: _after_a_step(layer, y, targets),
}
