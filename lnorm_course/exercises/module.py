"""Exercises on layer norm as a module."""

import itertools
import math
from collections.abc import Callable
from types import SimpleNamespace

import torch
from torch.nn import Parameter

from lnorm_course.checking.class_attempts import Observation, Observed
from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.watching import FINISHED_NORMS
from lnorm_course.exercises.module_shapes import (  # noqa: F401 - in this bank, too
    comes_alone,
    fits,
    kept,
    learned,
    odd_means,
    one_line,
    one_wide,
)
from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.layer import Around, Refusing, WrongLayer, with_parameters, with_switches
from lnorm_course.slips.models import LAST_AXES
from lnorm_utils.data import encoded_points, normal
from lnorm_utils.functional import layer_norm

TOPIC = "module"
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


mine = CodeExercise(
    observations=[
        Observation(Observed.STARTS, 4, (0.1,), TABLE),
        Observation(Observed.OUTPUT, 4, (0.1,), TABLE),
        Observation(Observed.OUTPUT, [4], (), WORDS),
        Observation(Observed.OUTPUT, torch.Size([3, 2, 4]), (0.1,), IMAGES),
        Observation(Observed.OUTPUT, (2, 4), (0.1,), FAR),
        Observation(Observed.PARAMETERS, (2, 4), (), WORDS),
        Observation(Observed.OUTPUT_AFTER_LOADING, (3, 2, 4), (0.1,), IMAGES, (GAMMA, BETA)),
        Observation(Observed.AFTER_A_STEP, 4, (0.1,), TABLE, (TARGETS,)),
        Observation(Observed.INPUT_GRADIENT, 4, (0.1,), TABLE, (TARGETS,)),
        Observation(Observed.PARAMETERS, 4, (0.1, True, False), TABLE),
        Observation(Observed.PARAMETERS, 4, (0.1, False), TABLE),
        Observation(Observed.SWITCHED_OFF, 4, (0.1, True, False), TABLE),
        Observation(Observed.SWITCHED_OFF, 4, (0.1, False), TABLE),
        Observation(Observed.OUTPUT, 4, (0.1, False), TABLE),
        Observation(Observed.OUTPUT_IN_EVAL, 4, (0.1,), TABLE),
        Observation(Observed.REFUSAL, 4, (), NARROW),
        Observation(Observed.REFUSAL, (2, 4), (), torch.ones(5, 3, 4).double()),
        Observation(Observed.OUTPUT, (3, 5), (0.1,), BLOCKS[0]),
        Observation(Observed.OUTPUT_AFTER_LOADING, (2, 3, 5), (0.1,), BLOCKS, BLOCKS_AFFINE),
        Observation(Observed.AFTER_A_STEP, 6, (0.1,), WIDE, (WIDE_TARGETS,)),
    ],
    norm=WrongLayer,
    layout=LAST_AXES,
    within=1e-5,
    without=FINISHED_NORMS,
    hints=[
        "Make a tuple of `normalized_shape` first. Its length says how many axes a row has.",
        "`tuple(range(-n, 0))` are the last n axes, as `mean` takes them for `dim`.",
        "What is switched off is None: `self.bias = None`. `forward` has to check for it.",
        "The error names two shapes: `raise ValueError(f'... {self.shape} ... {tuple(x.shape)}')`.",
    ],
)


@mine.answer
class MyLayerNorm(torch.nn.Module):
    """Your layer passes what the one of this course has to pass: every form of
    `normalized_shape`, ε inside the root, an offset of a billion, state dicts, training, switches,
    and the error."""

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True):
        super().__init__()
        if isinstance(normalized_shape, int):
            normalized_shape = (normalized_shape,)
        self.shape = tuple(normalized_shape)
        self.eps = eps
        self.weight = self.bias = None
        if elementwise_affine:
            self.weight = torch.nn.Parameter(torch.ones(self.shape))
        if elementwise_affine and bias:
            self.bias = torch.nn.Parameter(torch.zeros(self.shape))

    def forward(self, x):
        if tuple(x.shape[-len(self.shape) :]) != self.shape:
            raise ValueError(f"{self.shape} expected at the end of {tuple(x.shape)}")
        dim = tuple(range(-len(self.shape), 0))
        centered = x - x.mean(dim, keepdim=True)
        var = centered.square().mean(dim, keepdim=True)
        y = centered / (var + self.eps).sqrt()
        y = y if self.weight is None else self.weight * y
        return y if self.bias is None else y + self.bias


# What can be wrong in any layer norm that is a class, with the belief behind it: for other banks.
OF_ANY_LAYER: list[tuple[Callable, Belief | None]] = []


def _of_any_layer(belief: Belief | None = None) -> Callable[[Callable], Callable]:
    """Take a function as a mistake in `mine`, and in every other layer that a student writes."""

    def take(function: Callable) -> Callable:
        OF_ANY_LAYER.append((function, belief))
        return mine.mistake(belief)(function)

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


@mine.mistake()
def parameters_of_the_last_size(norm, *arguments):
    """Your γ and β have only the last size of `normalized_shape`. They have all of its sizes."""
    return with_parameters(
        norm, arguments, lambda name, v: (name, Parameter(v.flatten(0, -2)[0] if v.ndim > 1 else v))
    )


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


def _wrong_switches() -> None:
    """Give `mine` every layer with wrong switches, as a mistake."""
    for bias, affine in list(itertools.product(IN_PLACE_OF_BETA, IN_PLACE_OF_BOTH))[1:]:

        @mine.mistake()
        def wrong_switch(norm, *arguments, bias=bias, affine=affine):
            return with_switches(norm, arguments, bias, affine)

        words = {"bias": IN_PLACE_OF_BETA[bias], "elementwise_affine": IN_PLACE_OF_BOTH[affine]}
        done = "; with ".join(f"`{name}=False` {what}" for name, what in words.items() if what)
        wrong_switch.__doc__ = (
            f"With {done}. In a layer norm what is switched off is None, so that other code can "
            "ask."
        )


_wrong_switches()


@mine.mistake()
def nothing_refused(norm, *arguments):
    """Your layer checks no shapes. An input whose last axis has size 1 broadcasts, and nobody is
    told."""
    return Refusing(norm, arguments, lambda shape, given: None)


@mine.mistake()
def shapes_not_named(norm, *arguments):
    """You refuse an input that does not fit, but your error does not name both shapes. Write
    `normalized_shape` and the shape of the input into the message."""

    def refuse(shape, given):
        if given[-len(shape) :] != shape:
            raise ValueError

    return Refusing(norm, arguments, refuse)


@mine.mistake()
def only_the_last_size_checked(norm, *arguments):
    """You refuse a wrong last size, and nothing else. With `normalized_shape=(2, 4)` an input
    (5, 3, 4) has the right last size, and does not fit."""

    def refuse(shape, given):
        if given[-1] != shape[-1]:
            raise ValueError(f"{shape} expected at the end of {given}")

    return Refusing(norm, arguments, refuse)


put_in_bank(TOPIC, vars())
