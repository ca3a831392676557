"""Exercises on layer norm as a module."""

import itertools
import math
from collections.abc import Callable
from types import SimpleNamespace

import torch
from torch.nn import Parameter

from lnorm_utils.beliefs import Belief
from lnorm_utils.examples import encoded_points, normal
from lnorm_utils.exercises.engine.class_attempts import Observation, Observed
from lnorm_utils.exercises.engine.code_exercise import CodeExercise
from lnorm_utils.exercises.engine.prediction import Prediction, Wrong
from lnorm_utils.functional import layer_norm
from lnorm_utils.slips import LastAxes, WrongLayer

TOPIC = "module"
# Unequal axes, means that are not zero, rows with a spread of 1 and of 0.02, and ε that matters.
TABLE = normal(5, 4, seed=86).double() + 2
WORDS = 0.02 * normal(3, 2, 4, seed=87).double() + 1
IMAGES = normal(2, 3, 2, 4, seed=88).double() + 2
# So far from zero that E[x²] − E[x]² keeps nothing: both are exact multiples of 256.
FAR = 2.0**30 + torch.tensor([[[0, 1, 2, 5], [8, 0, 3, 5]], [[7, 1, 0, 0], [2, 2, 9, 3]]]).double()
GAMMA, BETA = normal(3, 2, 4, seed=89).double() + 1, normal(3, 2, 4, seed=90).double()
TARGETS = layer_norm(TABLE, 4, GAMMA[0, 0], BETA[0, 0])
NARROW = torch.ones(3, 1, dtype=torch.float64)  # the last axis is 1 and should be 4
GLOBAL = encoded_points().double()  # what `x` is in the notebook

means_of_words = Prediction(
    TOPIC,
    "means_of_words",
    answer=5 * 7,
    reason="One for each of the 7 positions of each of the 5 points.",
    wrong=[
        Wrong(
            5,
            "That is one mean for each point, over its positions and features together. Each "
            "position has its own mean.",
            Belief.ONE_MEAN_PER_SENTENCE,
        ),
        Wrong(
            3,
            "That is one mean for each feature, over the batch. Layer norm averages over the "
            "features.",
            Belief.OVER_THE_BATCH,
        ),
        Wrong(7, "That is one mean for each position. Each of the 5 points has its own."),
        Wrong(
            7 * 3,
            "That is one mean for each position and feature, over the batch. Layer norm averages "
            "over the features.",
            Belief.OVER_THE_BATCH,
        ),
        Wrong(1, "A single mean would mix all points. Each row has its own."),
        Wrong(5 * 7 * 3, "That is how many numbers there are. Three of them share one mean."),
    ],
    hints=[
        "Which axis disappears when you average?",
        "There is one mean for each pair of a point and a position.",
    ],
)


variance_after = Prediction(
    TOPIC,
    "variance_after",
    answer=0.03 / (0.03 + 0.01),
    reason="var / (var + ε) = 0.03 / 0.04. With so small a variance, ε shows.",
    wrong=[
        Wrong(1, "It would be 1 without ε. Here ε is a third of the variance, so it shows."),
        Wrong((0.03 / 0.04) ** 0.5, "That is the standard deviation. The variance is its square."),
        Wrong(
            0.03 / (0.03**0.5 + 0.01) ** 2,
            "You added ε outside the root. It belongs inside, beside the variance.",
            Belief.EPS_OUTSIDE_THE_ROOT,
        ),
        Wrong(
            0.03 / 0.01,
            "You divided by ε alone. The denominator is the variance plus ε.",
        ),
        Wrong(
            (0.03 / 0.04) ** 2,
            "You squared once too often. Dividing the row by √0.04 divides its variance by 0.04.",
        ),
    ],
    within=0.006,
    hints=[
        "The centered row is divided by √(var + ε). What does that do to its variance?",
        "Dividing a row by a number divides its variance by the square of that number.",
    ],
)


comes_alone = Prediction(
    TOPIC,
    "comes_alone",
    answer=0.8,
    reason="Layer norm uses only the row itself, so its company doesn't matter.",
    wrong=[
        Wrong(
            0,
            "That is what a mean over the batch would give: a row alone is its own mean. Layer "
            "norm averages over the features of the row.",
            Belief.TRAINING_MODE,
        ),
        Wrong(
            0.8 / 32,
            "You divided by the batch size. Layer norm never looks at the batch.",
            Belief.OVER_THE_BATCH,
        ),
        Wrong(
            0.8 * 32,
            "You multiplied by the batch size. Layer norm never looks at the batch.",
            Belief.OVER_THE_BATCH,
        ),
        Wrong(1, "A row alone isn't scaled to 1. It's normalized over its own features."),
    ],
    hints=[
        "Over which numbers does layer norm take the mean of this row?",
        "Does any of them belong to another row?",
    ],
)


learned = Prediction(
    TOPIC,
    "learned",
    answer=2 * 3 * 5 * 5,
    reason="75 for γ and 75 for β: one for each place in an image, shared by all images.",
    wrong=[
        Wrong(3 * 5 * 5, "That is γ alone. β has as many."),
        Wrong(
            2 * 3,
            "One γ and one β for each channel is what `GroupNorm(1, 3)` has. This layer was made "
            "with three axes, and γ has all three.",
        ),
        Wrong(
            2,
            "You gave the whole layer one γ and one β. Each place of the normalized axes has its "
            "own.",
            Belief.SINGLE_GAMMA_AND_BETA,
        ),
        Wrong(
            2 * 5 * 5,
            "You gave each of the 25 pixels one γ and one β for all its channels. The channels "
            "are normalized axes too, and have their own.",
        ),
        Wrong(
            4 * 2 * 3 * 5 * 5,
            "You counted all four images. The layer doesn't know the batch: all images share γ "
            "and β.",
        ),
        Wrong(
            4 * 3 * 5 * 5,
            "That is how many numbers the images have. The layer doesn't know the batch, and it "
            "has both a γ and a β.",
        ),
        Wrong(
            2 * (3 + 5 + 5),
            "You added the sizes, 3 + 5 + 5. A tensor of that shape has 3 · 5 · 5 numbers.",
        ),
    ],
    hints=[
        "γ has the shape that the layer was made with. How many numbers is that?",
        "3 · 5 · 5 numbers for γ. Then β.",
    ],
)


fits = CodeExercise(
    TOPIC,
    "fits",
    inputs={
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
    },
    hints=[
        "Make a tuple of an `int` first. Then the two ends can be compared.",
        "`x_shape[-2:]` are the last two sizes. How many do you need here?",
    ],
)


@fits.answer
def the_last_sizes_are_those(x_shape, normalized_shape):
    if isinstance(normalized_shape, int):
        normalized_shape = (normalized_shape,)
    last = x_shape[-len(normalized_shape) :]
    return tuple(last) == tuple(normalized_shape)


def _sizes(shape):
    return (shape,) if isinstance(shape, int) else tuple(shape)


@fits.mistake()
def only_the_last_size_compared(x_shape, normalized_shape):
    """You compared the very last size only. An input (5, 3, 4) then passes for (2, 4), though its
    last two sizes are 3 and 4."""
    return x_shape[-1] == _sizes(normalized_shape)[-1]


@fits.mistake()
def the_last_size_compared_with_all(x_shape, normalized_shape):
    """You compared the last size with `normalized_shape` as it was given. Only one of its four
    forms is a number: make a tuple of it first."""
    return x_shape[-1] == normalized_shape


@fits.mistake()
def compared_from_the_front(x_shape, normalized_shape):
    """You compared the first sizes. The batch comes first, and the layer doesn't know it. Count
    from the end."""
    sizes = _sizes(normalized_shape)
    return tuple(x_shape[: len(sizes)]) == sizes


@fits.mistake()
def the_whole_shape_compared(x_shape, normalized_shape):
    """You asked for the whole shape to be equal. The axes before the normalized ones may have any
    size."""
    return tuple(x_shape) == _sizes(normalized_shape)


@fits.mistake(Belief.RESHAPE_SWAPS_AXES)
def numbers_counted(x_shape, normalized_shape):
    """You compared how many numbers there are. (3, 8) has enough for (2, 4) only if it is reshaped,
    and then features get mixed. Compare the sizes, axis by axis."""
    x_numbers, numbers = 1, 1
    for size in x_shape:
        x_numbers *= size
    for size in _sizes(normalized_shape):
        numbers *= size
    return x_numbers % numbers == 0


@fits.mistake()
def a_list_compared_with_a_tuple(x_shape, normalized_shape):
    """You compare with `normalized_shape` as it was given. In Python a list is never equal to a
    tuple, whatever is in it: make a tuple of it first."""
    if isinstance(normalized_shape, int):
        normalized_shape = (normalized_shape,)
    return x_shape[-len(normalized_shape) :] == normalized_shape


@fits.mistake()
def sizes_in_any_order(x_shape, normalized_shape):
    """You asked whether each size occurs somewhere. They must stand at the end, and in that
    order."""
    return all(size in tuple(x_shape) for size in _sizes(normalized_shape))


@fits.mistake()
def whatever_broadcasts(x_shape, normalized_shape):
    """You let every shape pass that broadcasts. An input (3, 1) then becomes (3, 4), with numbers
    that nobody has put in."""
    sizes = _sizes(normalized_shape)
    pairs = zip(reversed(tuple(x_shape)), reversed(sizes), strict=False)
    return all(a == b or a == 1 for a, b in pairs)


@fits.mistake()
def a_size_of_one_accepted(x_shape, normalized_shape):
    """You accepted a size of 1 where another size is asked for. It would broadcast, so an input
    (3, 1) would become (3, 4). Layer norm asks for equal sizes."""
    last = tuple(x_shape)[-len(_sizes(normalized_shape)) :]
    sizes = _sizes(normalized_shape)
    return len(last) == len(sizes) and all(a in (b, 1) for a, b in zip(last, sizes, strict=True))


@fits.mistake()
def only_as_many_as_the_shorter_has(x_shape, normalized_shape):
    """You compared from the end, and stopped where the shorter shape ends, as `zip` does. An input
    (4,) then passes for (2, 4), though it has no second axis. Compare the lengths too."""
    pairs = zip(reversed(tuple(x_shape)), reversed(_sizes(normalized_shape)), strict=False)
    return all(a == b for a, b in pairs)


@fits.mistake()
def last_sizes_in_a_zip(x_shape, normalized_shape):
    """You took the last sizes and compared them in pairs, and `zip` stops where the shorter shape
    ends. An input (2,) then passes for (2, 4), though it has no second axis. Compare the lengths
    too."""
    sizes = _sizes(normalized_shape)
    return all(a == b for a, b in zip(x_shape[-len(sizes) :], sizes, strict=False))


one_wide = Prediction(
    TOPIC,
    "one_wide",
    answer=(3, 4),
    reason="γ has 4 numbers, so the one feature of each row is broadcast to four. Nobody is told.",
    wrong=[
        Wrong(
            (3, 1),
            "x − mean does have that shape. But then it's multiplied by γ, which has 4 numbers, "
            "and PyTorch broadcasts.",
        ),
        Wrong(
            "error",
            "An error would be better. But the small layer checks nothing, and PyTorch can "
            "broadcast a last axis of size 1.",
        ),
        Wrong((4,), "The three rows stay: γ is broadcast to each of them."),
        Wrong((1, 4), "The three rows stay: each of them gets four features."),
        Wrong((3, 1, 4), "γ has a single axis. It's matched with the last axis of x."),
        Wrong((4, 3), "The rows stay in front. The last axis is the one that grows."),
    ],
    hints=[
        "The mean over a last axis of size 1 works. Which shapes are multiplied after that?",
        "How does PyTorch broadcast a last axis of size 1 against one of size four?",
    ],
)


kept = Prediction(
    TOPIC,
    "kept",
    answer=0.5,
    reason="ε isn't a parameter, so it isn't in the state dict. The new layer keeps its own.",
    wrong=[
        Wrong(
            0.1,
            "You loaded ε along with γ and β. A state dict holds parameters (and buffers), and ε "
            "is only an argument of the class.",
            Belief.STATE_DICT_HOLDS_ALL,
        ),
        Wrong(
            1e-5,
            "Neither layer has this ε. 1e-5 is the default, and both layers were made with an "
            "`eps` of their own.",
        ),
        Wrong(0.1 + 0.5, "You added the two. One layer has one ε."),
    ],
    hints=[
        "Which two names are in the state dict of a layer norm?",
        "`eps` is an argument of `__init__`. Which `eps` did the new layer get there?",
    ],
)


mine = CodeExercise(
    TOPIC,
    "mine",
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
        Observation(Observed.REFUSAL, 4, (), NARROW),
        Observation(Observed.REFUSAL, (2, 4), (), torch.ones(5, 3, 4).double()),
    ],
    norm=WrongLayer,
    layout=LastAxes(),
    within=1e-5,
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


def with_parameters(norm, arguments, change):
    """Make a layer with other things in place of γ and β, as far as they are there."""
    layer = WrongLayer(norm, *arguments)
    for name, value in list(layer.named_parameters()):
        delattr(layer, name)
        setattr(layer, *change(name, value.detach()))
    return layer


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


class Around(torch.nn.Module):
    """A module that holds a finished layer by some name, and shows its γ and β or does not."""

    def __init__(self, name: str, layer: torch.nn.Module, shows: bool) -> None:
        super().__init__()
        setattr(self, name, layer)
        if shows:
            self.weight, self.bias = layer.weight, layer.bias
        self.forward = layer.forward


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


def _starting_at(gamma: int, beta: int, words: str) -> None:
    @_of_any_layer()
    def start(norm, *arguments):
        starts = {"weight": gamma, "bias": beta}
        return with_parameters(
            norm, arguments, lambda name, v: (name, Parameter(torch.full_like(v, starts[name])))
        )

    start.__doc__ = f"{words} γ is what the row is multiplied by and starts at 1, β at 0."


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


def _with_switches(norm, arguments, without_bias, without_affine):
    """Make a layer that has something else than None in place of what is switched off."""
    layer = WrongLayer(norm, *arguments)
    in_place = without_affine if layer.weight is None else (None, without_bias)
    for name, start, what in zip(("weight", "bias"), (1.0, 0.0), in_place, strict=True):
        if what and getattr(layer, name) is None:
            delattr(layer, name)
            if what == "parameter":
                setattr(layer, name, Parameter(torch.full(layer.normalized_shape, start)))
            elif what == "number":
                setattr(layer, name, start)
    return layer


def _wrong_switches() -> None:
    """Give `mine` every layer with wrong switches, as a mistake."""
    for bias, affine in list(itertools.product(IN_PLACE_OF_BETA, IN_PLACE_OF_BOTH))[1:]:

        @mine.mistake()
        def wrong_switch(norm, *arguments, bias=bias, affine=affine):
            return _with_switches(norm, arguments, bias, affine)

        words = {"bias": IN_PLACE_OF_BETA[bias], "elementwise_affine": IN_PLACE_OF_BOTH[affine]}
        done = "; with ".join(f"`{name}=False` {what}" for name, what in words.items() if what)
        wrong_switch.__doc__ = (
            f"With {done}. In a layer norm what is switched off is None, so that other code can "
            "ask."
        )


_wrong_switches()


class Refusing(WrongLayer):
    """A wrong layer that refuses an input in its own way.

    Args:
        norm, arguments: those of `WrongLayer`.
        refuse: (normalized shape, shape of the input) -> None, or it raises.
    """

    def __init__(self, norm, arguments, refuse):
        super().__init__(norm, *arguments)
        self.refuse_shape = refuse

    def refuse(self, x):
        self.refuse_shape(self.normalized_shape, tuple(x.shape))


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
