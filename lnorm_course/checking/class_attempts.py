"""Create, call, load, and train a student's layer, and return results that can be compared.

The grader's kernel runs this file too, so it imports nothing that contains the answers. Its
functions return numbers and words, never a verdict.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from lnorm_course.checking.errors import CallError

__all__ = ["LOOKS", "look", "observe"]

OPTIONS = ("eps", "elementwise_affine", "bias")


def look(
    what: str, shape: int | Sequence[int], options: tuple, x: Tensor, more: tuple = ()
) -> tuple[str, tuple]:
    """Return a description of what to look at in a layer, and the arguments for `observe`.

    Args:
        what: what to look at, one of `LOOKS`.
        shape: the layer's `normalized_shape`.
        options: the layer's other arguments, `eps`, `elementwise_affine`, and `bias`, in this
            order; `bias` is optional.
        x: the input.
        more: γ and β for OUTPUT_AFTER_LOADING, the targets for AFTER_A_STEP, or the
            gradient of the output for INPUT_GRADIENT.
    """
    pairs = zip(OPTIONS, options, strict=False)
    off = [f"with {name}=False, " for name, value in pairs if value is False]
    return "".join(off) + LOOKS[what][0], (what, shape, options, x, *more)


def observe(
    make: Callable, what: str, shape: int | Sequence[int], options: tuple, x: Tensor, *more: Tensor
) -> object:
    """Create a layer from a student's class in float64, look at it, and return what is seen.

    If the layer returns None or `...`, this function does, too.
    For the arguments after `make`, see `look`.
    """
    layer = make(shape, *options)
    if not isinstance(layer, nn.Module):
        forward = getattr(layer, "forward", None)
        if callable(forward) and ((y := forward(x)) is None or y is ...):
            return y  # the lesson's own cell, with nothing written yet
        raise CallError("your class isn't a module. Begin it with `class …(nn.Module):`.")
    layer.double()
    if what == "REFUSAL":
        return _refusal(layer, shape, x)
    y = layer(x)
    if y is None or y is ...:
        return y
    if not isinstance(y, Tensor):
        raise CallError("the `forward` of your class doesn't return a tensor. Return one tensor.")
    return LOOKS[what][1](layer, x, y, *more)


def _held(layer: nn.Module) -> list[Any]:
    """Return a layer's γ and β as tensors, with None for one that isn't a tensor or is empty."""
    held = (getattr(layer, name, None) for name in ("weight", "bias"))
    return [p.detach().double() if isinstance(p, Tensor) and p.numel() else None for p in held]


def _starts(layer: nn.Module, *_: Tensor) -> tuple[float, ...]:
    """Return the initial means of γ and β; a missing γ counts as 1, and a missing β as 0."""
    starts = zip(_held(layer), (1.0, 0.0), strict=True)
    return tuple(start if p is None else p.mean().item() for p, start in starts)


def _switched_off(layer: nn.Module, *_: Tensor) -> str:
    """Say what the layer has in place of a `weight` or `bias` that isn't a parameter."""
    names = {"weight", "bias"} - set(dict(layer.named_parameters()))
    if not all(hasattr(layer, name) for name in names):
        return "nothing"
    return "None" if all(getattr(layer, name) is None for name in names) else "not None"


def _names_and_shapes(layer: nn.Module, *_: Tensor) -> tuple:
    # A parameter with two names appears once in named_parameters(), but twice in a state dict.
    named = {**layer.state_dict(), **dict(layer.named_parameters())}
    buffers = {name: f"{name} (a buffer)" for name, _ in layer.named_buffers()}
    return tuple(sorted((buffers.get(name, name), *t.shape) for name, t in named.items()))


def _after_loading(layer: nn.Module, x: Tensor, y: Tensor, *numbers: Tensor) -> Tensor:
    """Copy numbers into γ and β where the shapes match, and return the layer's new output."""
    held = layer.state_dict()  # its tensors share their memory with the layer's
    for name, value in zip(("weight", "bias"), numbers, strict=False):
        if name in held and held[name].shape == value.shape:
            held[name].copy_(value)
    return layer(x)


def _after_a_step(layer: nn.Module, x: Tensor, y: Tensor, targets: Tensor) -> Tensor:
    """Return γ and β after a step of gradient descent, or `y` if it has the wrong shape."""
    if y.shape != targets.shape:
        return y
    loss = (y - targets).square().mean()
    if loss.requires_grad:
        loss.backward()
    for parameter in layer.parameters():
        if parameter.grad is not None:
            parameter.data -= 0.5 * parameter.grad
    return torch.cat([torch.zeros(0), *(p.flatten() for p in _held(layer) if p is not None)])


def _input_gradient(layer: nn.Module, x: Tensor, y: Tensor, gradient: Tensor) -> Tensor:
    """Return the gradient of the input, or the output if its shape is wrong."""
    x = x.clone().requires_grad_()
    y = layer(x)
    if y.shape != gradient.shape:
        return y
    if y.requires_grad:
        (y * gradient).sum().backward()  # `y.backward` would spend ⅓ s on imports first
    return torch.zeros_like(x) if x.grad is None else x.grad


def _refusal(layer: nn.Module, shape: int | Sequence[int], x: Tensor) -> str | None:
    """Say whether the layer rejects this input, and if so, whether its error names both shapes."""
    try:
        y = layer(x)
    except Exception as error:
        sizes = [shape] if isinstance(shape, int) else shape
        both = (", ".join(map(str, each)) for each in (sizes, x.shape))
        named = all(text in str(error) for text in both)
        return "an error that names both shapes" if named else "an error without both shapes"
    return None if y is None else "no error"


# The properties of a layer that can be looked at. Each name maps to the words that introduce a
# difference, and to a function of the layer, an input, and its output. `_refusal` takes the layer,
# a shape, and an input instead, because there is no output.
LOOKS: dict[str, tuple[str, Callable]] = {
    "OUTPUT": ("the output of a new layer", lambda layer, x, y: y),
    "OUTPUT_AFTER_LOADING": ("the output with different numbers in γ and β", _after_loading),
    "PARAMETERS": ("the names and shapes of its parameters", _names_and_shapes),
    "INPUT_GRADIENT": ("the gradient of the input", _input_gradient),
    "STARTS": ("the initial values of γ and β", _starts),
    "SWITCHED_OFF": ("what the layer has in place of a γ or β that is switched off", _switched_off),
    "OUTPUT_IN_EVAL": (
        "the output in `eval` mode, after a call in training",
        lambda layer, x, y: layer.eval()(x),
    ),
    "AFTER_A_STEP": ("γ, then β, after one step of gradient descent", _after_a_step),
    "REFUSAL": ("an input whose last axes don't fit", _refusal),
}
