"""What is done with a class that a student wrote, so that there are numbers to judge.

The kernel that grades runs this file by itself, as it runs `attempts.py`. What a trial returns is
numbers and words, never a verdict.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

__all__ = ["LOADED", "NAMES", "OFF", "OUTPUT", "REFUSED", "START", "TRAINED", "module", "words"]

# What a trial asks for. A student reads these words, and what an exercise has put before them, in
# front of the difference that was found.
OUTPUT = "the output of a new layer"
LOADED = "the output with other numbers in γ and β"
NAMES = "the names and shapes of its parameters"
START = "the numbers that γ and β start at"
OFF = "what stands in place of what is switched off"
TRAINED = "γ, then β, after one step of gradient descent"
REFUSED = "an input whose last axes do not fit"

NO_MODULE = "not an nn.Module"


def module(
    make: Callable,
    what: str,
    shape: int | Sequence[int],
    options: tuple,
    x: Tensor,
    *more: Tensor,
) -> object:
    """Make a layer in float64 and return what is asked for; None if its forward returns nothing.

    Args:
        make: the student's class.
        what: one of the names above, or words that end in one.
        shape: the layer's `normalized_shape`.
        options: what comes after it: `eps`, `elementwise_affine`, `bias`, as far as they are given.
        x: the input.
        more: for LOADED γ and β, for TRAINED the targets.
    """
    made = _made(make, shape, options)
    if isinstance(made, nn.Module):
        made.double()
    call = made if callable(made) else made.forward
    if what.endswith(REFUSED):
        return _refusal(call, shape, x)
    y = call(x)
    if y is None:
        return None
    if what.endswith(NAMES):
        return _names(made)
    if what.endswith(START):
        return _starts(made)
    if what.endswith(OFF):
        return _switched_off(made)
    if what.endswith(TRAINED):
        return _after_a_step(made, y, *more)
    if what.endswith(LOADED):
        _load(made, *more)
        return call(x)
    return y


def words(what: str, shape: int | Sequence[int], options: tuple, x: Tensor, *more: Tensor) -> str:
    """Say in words how `module` uses a class with these arguments."""
    made = ", ".join(map(repr, (shape, *options)))
    return f"made with {made} and called with an input of shape {tuple(x.shape)}"


def _made(make: Callable, shape: int | Sequence[int], options: tuple) -> object:
    """Make a layer; where `nn.Module` was not set up, say how that is done."""
    advice = "In `__init__`, call `super().__init__()` first"
    try:
        made = make(shape, *options)
    except AttributeError as error:
        if "Module.__init__()" in str(error):
            error.args = (f"{error}. {advice}",)
        raise
    if isinstance(made, nn.Module) and "_parameters" not in vars(made):
        raise AttributeError(advice)
    return made


def _starts(made: object) -> tuple[float, float]:
    """Return the mean of γ and that of β; 1 and 0 where there are none, which `NAMES` tells."""
    starts = []
    for names, neutral in ((("weight", "gamma"), 1.0), (("bias", "beta"), 0.0)):
        found = [getattr(made, name, None) for name in names]
        values = [each.detach().double().mean().item() for each in found if _is_tensor(each)]
        starts.append(values[0] if values else neutral)
    return tuple(starts)


def _is_tensor(value: object) -> bool:
    return isinstance(value, Tensor) and value.numel() > 0


def _switched_off(made: object) -> str:
    """Say what stands in place of γ and β, where they are no parameters."""
    names = {"weight", "bias"} - set(_parameters(made))
    if not all(hasattr(made, name) for name in names):
        return "nothing"
    return "None" if all(getattr(made, name) is None for name in names) else "not None"


def _parameters(made: object) -> dict[str, Tensor]:
    """Return what an optimizer finds, by name: nothing in an object that is no module."""
    return dict(made.named_parameters()) if isinstance(made, nn.Module) else {}


def _names(made: object) -> tuple:
    if not isinstance(made, nn.Module):
        return ((NO_MODULE,),)
    return tuple(sorted((name, *p.shape) for name, p in _parameters(made).items()))


@torch.no_grad()
def _load(made: object, weight: Tensor, bias: Tensor) -> None:
    """Put numbers into γ and β where they are found and fit; `NAMES` tells where they do not."""
    for name, value in (("weight", weight), ("bias", bias)):
        own = _parameters(made).get(name)
        if own is not None and own.shape == value.shape:
            own.copy_(value)


def _after_a_step(made: object, y: Tensor, targets: Tensor) -> Tensor:
    """Return γ and β after a step, as far as they have these names; or y, if it is no output."""
    if y.shape != targets.shape:
        return y
    loss = (y - targets).square().mean()
    if loss.requires_grad:
        loss.backward()
    with torch.no_grad():
        for parameter in _parameters(made).values():
            if parameter.grad is not None:
                parameter -= 0.5 * parameter.grad
    own = [getattr(made, name, None) for name in ("weight", "bias")]
    return torch.cat([torch.zeros(0), *(p.flatten() for p in own if p is not None)]).double()


def _refusal(call: Callable, shape: int | Sequence[int], x: Tensor) -> str | None:
    """Say in words whether an input is refused, and whether the error names both shapes."""
    try:
        y = call(x)
    except Exception as error:
        sizes = [shape] if isinstance(shape, int) else shape
        both = (", ".join(map(str, each)) for each in (sizes, x.shape))
        named = all(text in str(error) for text in both)
        return "an error that names both shapes" if named else "an error without both shapes"
    return None if y is None else "no error"
