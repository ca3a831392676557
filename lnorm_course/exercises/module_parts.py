"""What the exercises on layers share: inputs, and what can be wrong in a layer."""

import itertools
import math
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import torch
from torch.nn import Parameter

from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.layer import Around, WrongLayer, with_parameters, with_switches
from lnorm_utils.data import encoded_points, normal
from lnorm_utils.functional import layer_norm

Mistake = tuple[Callable, Belief | None]

# Unequal axes, means that are not zero, rows with a spread of 1 and of 0.02, and ε that matters.
TABLE = normal(5, 4, seed=86).double() + 2
WORDS = 0.02 * normal(3, 2, 4, seed=87).double() + 1
IMAGES = normal(2, 3, 2, 4, seed=88).double() + 2
# So far from zero that E[x²] − E[x]² keeps nothing: both are exact multiples of 256.
FAR = 2.0**30 + torch.tensor([[[0, 1, 2, 5], [8, 0, 3, 5]], [[7, 1, 0, 0], [2, 2, 9, 3]]]).double()
GAMMA, BETA = normal(3, 2, 4, seed=89).double() + 1, normal(3, 2, 4, seed=90).double()
TARGETS = layer_norm(TABLE, 4, GAMMA[0, 0], BETA[0, 0])
# The same in other sizes, for layers that take the sizes above for granted.
WIDE = normal(3, 6, seed=91).double() + 2
WIDE_AFFINE = normal(6, seed=93).double() + 1, normal(6, seed=95).double()
WIDE_TARGETS = layer_norm(WIDE, 6, *WIDE_AFFINE)
BLOCKS = normal(3, 2, 3, 5, seed=97).double() + 2
BLOCKS_AFFINE = normal(2, 3, 5, seed=98).double() + 1, normal(2, 3, 5, seed=99).double()
NARROW = torch.ones(3, 1, dtype=torch.float64)  # the last axis is 1 and should be 4
GLOBAL = encoded_points().double()  # what `x` is in the notebook
FITS_INPUTS = {
    f"the sizes {sizes} and {shape}": (sizes, shape)
    for sizes, shape in (
        ((3, 2, 4), (2, 4)),
        ((3, 2, 4), [4]),
        ((3, 2, 4), (3, 2)),
        ((3, 2, 4), (4, 2)),
        ((3, 2, 4), (3, 4)),
        ((3, 2, 4), torch.Size([3, 2, 4])),
        ((5, 3, 4), (2, 4)),
        ((3, 8), (2, 4)),
        ((3, 1), (4,)),
        ((4,), (2, 4)),
        ((2,), (2, 4)),
        ((2, 4, 3), (2, 4)),
        ((3, 2, 4), 4),
        ((4, 3), 4),
    )
}

# What can be wrong in any layer norm that is a class, with the belief behind it.
OF_ANY_LAYER: list[Mistake] = []


def _of_any_layer(belief: Belief | None = None) -> Callable[[Callable], Callable]:
    """Take a function as a mistake in every layer that a student writes."""

    def take(function: Callable) -> Callable:
        OF_ANY_LAYER.append((function, belief))
        return function

    return take


@_of_any_layer(Belief.ATTRIBUTES_ARE_TRAINED)
def no_module(norm, *arguments):
    """Your class is not made from `nn.Module`: γ and β are in no state dict, and no training step
    moves them."""
    layer = WrongLayer(norm, *arguments).double()
    return SimpleNamespace(forward=layer, weight=layer.weight, bias=layer.bias)


@_of_any_layer(Belief.ATTRIBUTES_ARE_TRAINED)
def plain_tensors(norm, *arguments):
    """Your γ and β are no parameters, so no training step moves them. Wrap each in
    `nn.Parameter`."""
    return with_parameters(norm, arguments, lambda name, value: (name, value))


def _plain(plain: str, words: str) -> None:
    @_of_any_layer(Belief.ATTRIBUTES_ARE_TRAINED)
    def one_plain_tensor(norm, *arguments):
        return with_parameters(
            norm, arguments, lambda name, v: (name, v if name == plain else Parameter(v))
        )

    one_plain_tensor.__doc__ = (
        f"Your {words} is no parameter: there is none called `{plain}`. Wrap it in `nn.Parameter`."
    )


_plain("weight", "γ")
_plain("bias", "β")


def _wrapped_as(held: str) -> None:
    """Take two mistakes: to hold a finished layer by this name."""

    @_of_any_layer()
    def registered_twice(norm, *arguments):
        return Around(held, WrongLayer(norm, *arguments), shows=True)

    @_of_any_layer()
    def registered_inside(norm, *arguments):
        return Around(held, WrongLayer(norm, *arguments), shows=False)

    registered_twice.__doc__ = (
        f"Your state dict also holds {held}.weight and {held}.bias, so PyTorch's does not load."
    )
    registered_inside.__doc__ = (
        f"Your parameters are called {held}.weight and {held}.bias, so PyTorch's state dict does "
        "not load: it holds weight and bias."
    )


for held in ("norm", "ln", "layer_norm"):
    _wrapped_as(held)


@_of_any_layer(Belief.SINGLE_GAMMA_AND_BETA)
def parameters_of_size_1(norm, *arguments):
    """Your γ and β are of size 1. There is one of each for every feature."""
    return with_parameters(norm, arguments, lambda name, v: (name, Parameter(v.flatten()[:1])))


@_of_any_layer(Belief.SINGLE_GAMMA_AND_BETA)
def single_numbers(norm, *arguments):
    """Your γ and β are single numbers. There is one of each for every feature."""
    return with_parameters(norm, arguments, lambda name, v: (name, Parameter(v.flatten()[0])))


@_of_any_layer()
def other_names(norm, *arguments):
    """Your parameters are called gamma and beta. State dicts go by name, so PyTorch's would not
    load: call them weight and bias."""
    layer = with_parameters(
        norm,
        arguments,
        lambda name, value: ({"weight": "gamma", "bias": "beta"}[name], Parameter(value)),
    )
    layer.weight = layer.bias = None
    return layer


def _without(names: tuple[str, ...], words: str) -> None:
    @_of_any_layer()
    def missing(norm, *arguments):
        return with_parameters(
            norm, arguments, lambda name, v: (name, None if name in names else Parameter(v))
        )

    missing.__doc__ = f"Your layer has {words}. A layer norm learns both."


_without(("bias",), "a γ, but no β")
_without(("weight",), "a β, but no γ")
_without(("weight", "bias"), "no γ and no β")


@_of_any_layer()
def nothing_moves(norm, *arguments):
    """A training step does not move your γ and β: the output does not depend on them, as far as
    PyTorch knows. Look for `detach`, `.data`, `no_grad` or `requires_grad=False`."""
    return WrongLayer(norm, *arguments).requires_grad_(False)


@_of_any_layer()
def no_gradient_of_the_input(norm, *arguments):
    """No gradient reaches the input, so nothing that comes before your layer would learn. Look for
    `detach`, `.data` or `no_grad`."""
    layer = WrongLayer(norm, *arguments)
    layer.register_forward_pre_hook(lambda module, given: (given[0].detach(),))
    return layer


@_of_any_layer(Belief.ATTRIBUTES_ARE_TRAINED)
def buffers(norm, *arguments):
    """Your γ and β are buffers. A state dict holds those, but no training step moves them. Wrap
    each in `nn.Parameter` in place of `register_buffer`."""
    layer = WrongLayer(norm, *arguments)
    for name, value in list(layer.named_parameters()):
        delattr(layer, name)
        layer.register_buffer(name, value.detach())
    return layer


@_of_any_layer()
def made_in_forward(norm, *arguments):
    """Your `forward` makes a new γ and β in each call, so what was learned or loaded is lost. Make
    them in `__init__`."""
    layer = WrongLayer(norm, *arguments)

    def make_again(module, given):
        for name, start in (("weight", 1.0), ("bias", 0.0)):
            if getattr(module, name) is not None:
                setattr(module, name, Parameter(torch.full(module.normalized_shape, start)))

    layer.register_forward_pre_hook(make_again)
    return layer


def _starting_at(gamma: int, beta: int, words: str) -> None:
    @_of_any_layer()
    def start(norm, *arguments):
        starts = {"weight": gamma, "bias": beta}
        return with_parameters(
            norm, arguments, lambda name, v: (name, Parameter(torch.full_like(v, starts[name])))
        )

    start.__doc__ = f"{words} γ is what the row is multiplied by and starts at 1, β at 0."


@_of_any_layer()
def gamma_around_zero(norm, *arguments):
    """Your γ starts at 0, and you multiply by 1 + γ. A new layer is right like this, but one with
    the γ of PyTorch's isn't. Let γ start at 1, and multiply by γ itself."""

    def layer_norm(x, weight, bias, axes, eps):
        return norm.layer_norm(x, None if weight is None else 1 + weight, bias, axes, eps)

    around = SimpleNamespace(layer_norm=layer_norm)
    return with_parameters(
        around, arguments, lambda name, value: (name, Parameter(torch.zeros_like(value)))
    )


_starting_at(0, 0, "Your γ starts at 0, so a new layer returns 0 for every input.")
_starting_at(1, 1, "Your β starts at 1, so a new layer adds 1 to every number.")
_starting_at(0, 1, "Your γ starts at 0 and your β at 1, so a new layer returns 1 for every input.")


@_of_any_layer()
def reads_a_global(norm, *arguments):
    """Your `forward` normalizes the notebook's `x`, whatever it is given. Use the name of its
    argument."""
    layer = WrongLayer(norm, *arguments)
    layer.register_forward_pre_hook(lambda module, arguments: (GLOBAL,))
    return layer


@_of_any_layer(Belief.RESHAPE_SWAPS_AXES)
def features_brought_first_by_reshape(norm, *arguments):
    """You brought the features to the front by `reshape`, which puts numbers of several rows
    together. Average over the last axes where they are."""
    layer = WrongLayer(norm, *arguments)

    def reshaped(module, arguments, y):
        (x,) = arguments
        rows = x.reshape(math.prod(layer.normalized_shape), -1)
        x_hat = norm.standardize(rows, 0, layer.eps).reshape(x.shape)
        return norm.affine(x_hat, layer.weight, layer.bias)

    layer.register_forward_hook(reshaped)
    return layer


# What can stand in place of β with `bias=False`, and of γ and β with `elementwise_affine=False`.
IN_PLACE_OF_BETA = {
    None: "",
    "parameter": "there is still a β",
    "nothing": "your layer has no attribute `bias`",
    "number": "your `bias` is something else than None",
}
IN_PLACE_OF_BOTH = {
    (None, None): "",
    ("parameter", "parameter"): "there are still a γ and a β",
    ("parameter", None): "there is still a γ",
    (None, "parameter"): "there is still a β",
    ("nothing", "nothing"): "your layer lacks the attribute `weight` or `bias`",
    ("number", "number"): "your `weight` or `bias` is something else than None",
}


def wrong_switches() -> Iterator[Mistake]:
    """Yield every layer with wrong switches, as a mistake."""
    for bias, affine in list(itertools.product(IN_PLACE_OF_BETA, IN_PLACE_OF_BOTH))[1:]:

        def wrong_switch(norm, *arguments, bias=bias, affine=affine):
            return with_switches(norm, arguments, bias, affine)

        words = {"bias": IN_PLACE_OF_BETA[bias], "elementwise_affine": IN_PLACE_OF_BOTH[affine]}
        done = "; with ".join(f"`{name}=False` {what}" for name, what in words.items() if what)
        wrong_switch.__doc__ = (
            f"With {done}. In a layer norm what is switched off is None, so that other code can "
            "ask."
        )
        yield wrong_switch, None
