"""Exercises on layer norm as a module: `normalized_shape`, parameters, and state dicts."""

import torch

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.slips.beliefs import Belief

TOPIC = "module"

one_line = Prediction(
    answer=2,
    reason="`std` divides by D − 1, and ε stands outside the root.",
    wrong={
        0: "`std` divides by D − 1, and ε is added to the standard deviation, not to the variance.",
        1: "There is one more. Look at the divisor of `std`, and at where ε stands.",
        3: "The mean is right: over the last axis, which stays with size 1. Two things are left.",
    },
    hints=[
        "By what does `x.std` divide, if you don't tell it?",
        "What is ε added to here, and what in the formula?",
    ],
)


odd_means = Prediction(
    answer="b",
    reason="Each feature has its own γ and β, so the features of a row no longer cancel.",
    wrong={
        "a": "ε changes the variance of a row. Its mean is subtracted before that, and stays 0.",
        "c": "Then the network would have been trained with another norm. But a right layer norm "
        "gives such rows, too: look at what comes after standardizing.",
    },
    hints=[
        "The standardized rows have mean 0. What comes after that?",
        "Does a scale of its own for each feature keep a mean of 0?",
    ],
)


comes_alone = Prediction(
    answer=0.8,
    reason="Layer norm uses only the row itself, so its company doesn't matter.",
    wrong={
        0: Belief.TRAINING_MODE(
            "That is what a mean over the batch would give: a row alone is its own mean. Layer "
            "norm averages over the features of the row."
        ),
        0.8 / 32: Belief.OVER_THE_BATCH(
            "You divided by the batch size. Layer norm never looks at the batch."
        ),
        0.8 * 32: Belief.OVER_THE_BATCH(
            "You multiplied by the batch size. Layer norm never looks at the batch."
        ),
        1: "A row alone isn't scaled to 1. It's normalized over its own features.",
    },
    hints=[
        "Over which numbers does layer norm take the mean of this row?",
        "Does any of them belong to another row?",
    ],
)


learned = Prediction(
    answer=2 * 3 * 5 * 5,
    reason="75 for γ and 75 for β: one for each place in an image, shared by all images.",
    wrong={
        3 * 5 * 5: "That is γ alone. β has as many.",
        2 * 3: "That's one γ and one β for each channel, shared by its 25 pixels. This layer was "
        "made with three axes, and γ has all three.",
        2: Belief.SINGLE_GAMMA_AND_BETA(
            "You gave the whole layer one γ and one β. Each place of the normalized axes has its "
            "own."
        ),
        2 * 5 * 5: "You gave each of the 25 pixels one γ and one β for all its channels. The "
        "channels are normalized axes too, and have their own.",
        4 * 2 * 3 * 5 * 5: "You counted all four images. The layer doesn't know the batch: all "
        "images share γ and β.",
        4 * 3 * 5 * 5: "That is how many numbers the images have. The layer doesn't know the "
        "batch, and it has both a γ and a β.",
        2 * (3 + 5 + 5): "You added the sizes, 3 + 5 + 5. A tensor of that shape has 3 · 5 · 5 "
        "numbers.",
    },
    hints=[
        "γ has the shape that the layer was made with. How many numbers is that?",
        "3 · 5 · 5 numbers for γ. Then β.",
    ],
)


fits = CodeExercise(
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
    answer=(3, 4),
    reason="γ has 4 numbers, so the one feature of each row is broadcast to four. Nobody is told.",
    wrong={
        (3, 1): "x − mean does have that shape. But then it's multiplied by γ, which has 4 "
        "numbers, and PyTorch broadcasts.",
        "error": "An error would be better. But the small layer checks nothing, and PyTorch can "
        "broadcast a last axis of size 1.",
        (4,): "The three rows stay: γ is broadcast to each of them.",
        (1, 4): "The three rows stay: each of them gets four features.",
        (3, 1, 4): "γ has a single axis. It's matched with the last axis of x.",
        (4, 3): "The rows stay in front. The last axis is the one that grows.",
    },
    hints=[
        "The mean over a last axis of size 1 works. Which shapes are multiplied after that?",
        "How does PyTorch broadcast a last axis of size 1 against one of size four?",
    ],
)


kept = Prediction(
    answer=0.5,
    reason="ε isn't a parameter, so it isn't in the state dict. The new layer keeps its own.",
    wrong={
        0.1: Belief.STATE_DICT_HOLDS_ALL(
            "You loaded ε along with γ and β. A state dict holds parameters (and buffers), and ε "
            "is only an argument of the class."
        ),
        1e-5: "Neither layer has this ε. 1e-5 is the default, and both layers were made with an "
        "`eps` of their own.",
        0.1 + 0.5: "You added the two. One layer has one ε.",
    },
    hints=[
        "Which two names are in the state dict of a layer norm?",
        "`eps` is an argument of `__init__`. Which `eps` did the new layer get there?",
    ],
)


put_in_bank(TOPIC, vars(), further=("fits",))
