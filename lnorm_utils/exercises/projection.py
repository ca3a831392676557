"""Exercises of lesson 7, how a projection saves two features."""

import math

import torch

from lnorm_utils.beliefs import Belief
from lnorm_utils.examples import normal, projection
from lnorm_utils.exercises.engine.code_exercise import CodeExercise
from lnorm_utils.exercises.engine.prediction import Prediction, Wrong
from lnorm_utils.modules import PositionalEncoding
from lnorm_utils.slips import TABLE

TOPIC = "projection"
# The lesson's own, and so spread out that nobody's ε matters, with a bias as large as the rest.
THREE = torch.tensor([[2.0, 1.0], [4.0, -1.0], [0.5, -2.0]]).double()
PROJECT = projection(2, 6, seed=11).double().requires_grad_(False)
POINTS = 100 * normal(5, 2, seed=71).double() + 50
WEIGHT = normal(6, 2, seed=72).double()
BIAS = 100 * normal(6, seed=73).double()

rescue = CodeExercise(
    TOPIC,
    "rescue",
    inputs={
        "the three points of this lesson": (THREE, PROJECT.weight.data, PROJECT.bias.data),
        "five points with a spread of 100": (POINTS, WEIGHT, BIAS),
    },
    norm=lambda norm, x, weight, bias: norm.standardize(x @ weight.T + bias),
    layout=TABLE,
    within=1e-4,
    hints=[
        "Which of the two must come first, so that layer norm has six features to work on?",
        "For rows of points, W x is a matrix product with the transpose of `weight`. The bias is "
        "part of the projection.",
    ],
)


@rescue.answer
def project_first(x, weight, bias):
    hidden = x @ weight.T + bias
    return torch.nn.functional.layer_norm(hidden, hidden.shape[-1:])


@rescue.mistake(Belief.NOTHING_IS_LOST)
def normalizes_first(norm, x, weight, bias):
    """You normalized the two features and projected what was left. By then one bit is left, and no
    projection brings back the rest."""
    return norm.standardize(x) @ weight.T + bias


@rescue.mistake(Belief.NOTHING_IS_LOST)
def normalizes_before_and_after(norm, x, weight, bias):
    """You normalized twice. The first time, on two features, everything but one bit was lost."""
    return norm.standardize(norm.standardize(x) @ weight.T + bias)


@rescue.mistake()
def projects_only(norm, x, weight, bias):
    """You projected, and did not normalize. Layer norm comes after the projection."""
    return x @ weight.T + bias


@rescue.mistake()
def weight_not_transposed(norm, x, weight, bias):
    """You multiplied by `weight` as it is. It has a row for each of the six features, so rows of
    points need its transpose."""
    return norm.standardize(x @ weight + bias)


@rescue.mistake()
def adds_the_bias_last(norm, x, weight, bias):
    """You added the bias after layer norm. There it only moves all results alike; it belongs to the
    projection."""
    return norm.standardize(x @ weight.T) + bias


@rescue.mistake()
def leaves_out_the_bias(norm, x, weight, bias):
    """You left the bias out of the projection."""
    return norm.standardize(x @ weight.T)


@rescue.mistake(Belief.RESHAPE_SWAPS_AXES)
def reshapes_the_weight(norm, x, weight, bias):
    """You reshaped the weight from (6, 2) to (2, 6). The shape fits, but `reshape` mixes the rows:
    transpose it."""
    hidden = x @ weight.reshape(weight.shape[1], weight.shape[0]) + bias
    return norm.standardize(hidden)


enough = Prediction(
    TOPIC,
    "enough",
    answer=4,
    reason=(
        "Layer norm takes two dimensions away, so four features leave the two that are needed."
    ),
    wrong=[
        Wrong(
            2,
            "At size 2 the sphere has no dimension: it is two places. Layer norm takes dimensions "
            "away, so more are needed than the points have.",
        ),
        Wrong(
            3,
            "At size 3 a circle is left, which has one dimension. The mean takes one, and that all "
            "rows have the same length takes another.",
        ),
        Wrong(
            6,
            "Six is enough, but not the smallest: its sphere has four dimensions, and the points "
            "have two.",
        ),
    ],
    hints=[
        "Lesson 6 counted the dimensions of the sphere. How many did layer norm take away?",
        "The features of a row add up to nothing, and their squares to D. Each of these takes one "
        "dimension, and as many as the points have must be left.",
    ],
)


rays = Prediction(
    TOPIC,
    "rays",
    answer=4,
    reason=(
        "Only (1, 0.5) and (3, 1.5) lie on one ray. (−1, −0.5) is on the other side of the origin."
    ),
    wrong=[
        Wrong(
            5,
            "You kept all five apart. (3, 1.5) is three times (1, 0.5), and layer norm removes "
            "the factor 3.",
            Belief.NOTHING_IS_LOST,
        ),
        Wrong(
            3,
            "There would be three if a factor of −1 were removed too, as from (1, 0.5) to "
            "(−1, −0.5). Layer norm keeps the sign: the result is turned around.",
        ),
        Wrong(
            2,
            "That is how many there are without a projection, where only the sign of the "
            "difference is left. Of six features a whole direction is left.",
        ),
    ],
    hints=[
        "Without a bias, a point that is three times as far is projected three times as far.",
        "Layer norm removes a factor, but not its sign. Which points lie on one ray?",
    ],
)


growing_bias = Prediction(
    TOPIC,
    "growing_bias",
    answer=1,
    reason=(
        "Far from the origin a small patch of the sphere is nearly flat, so direction tells all."
    ),
    wrong=[
        Wrong(
            0,
            "A large bias does bring the points close together. But a decoder can multiply small "
            "differences, so it loses nothing by that.",
        ),
        Wrong(
            math.pi / 4,
            "π/4 is the value without a bias, when only the direction from the origin is left. A "
            "bias lets the decoder see the length as well.",
        ),
        Wrong(
            0.87,
            "That is the value with the projection's own bias. Layer norm removes what all six "
            "features have in common, but the numbers of a bias differ, so its size matters.",
        ),
        Wrong(1 / math.pi, "1/π is what two features keep. The six keep more, with any bias."),
    ],
    hints=[
        "A large bias moves all points far from the origin, side by side. "
        "What does their direction, seen from the origin, still tell?",
        "A small patch of a sphere is nearly flat, and a linear decoder likes what is flat.",
    ],
)


equal_bias = CodeExercise(
    TOPIC,
    "equal_bias",
    inputs={
        "the encoding of this lesson": (PositionalEncoding(max_len=2, d_model=6).pe.double(),),
        "three positions with four features": (normal(3, 4, seed=74).double(),),
    },
    hints=[
        "Multiply out √D · (W x + b). What must the part without x be?",
        "That part must be the encoding e. D is the last number in the shape of `encoding`.",
    ],
)


@equal_bias.answer
def divided_by_root_d(encoding):
    return encoding / encoding.shape[-1] ** 0.5


@equal_bias.mistake()
def the_encoding_as_it_is(encoding):
    """As a bias, your e would be multiplied by √D together with W x. Make it so much smaller
    before."""
    return encoding


@equal_bias.mistake()
def multiplied_by_root_d(encoding):
    """You made it larger by √D, and the layer multiplies it by √D once more. Go the other way."""
    return encoding * encoding.shape[-1] ** 0.5


@equal_bias.mistake()
def divided_by_d(encoding):
    """You divided by D. The factor in front of the brackets is its root."""
    return encoding / encoding.shape[-1]


@equal_bias.mistake()
def divided_by_root_l(encoding):
    """You took the root of L, the number of positions. The factor has D, the number of features, in
    it."""
    return encoding / encoding.shape[0] ** 0.5


category = Prediction(
    TOPIC,
    "category",
    answer=0,
    reason="Each number is its own mean, so all three categories become β, which is 0 here.",
    wrong=[
        Wrong(
            1,
            "A single number is its own mean, and minus its mean it is 0, not 1. The categories "
            "are three points, so they share no mean.",
        ),
        Wrong(
            2,
            "2 is the number as it came. Layer norm subtracts the mean, and that is the number "
            "itself.",
        ),
        Wrong(
            1.5**0.5,
            "You normalized 0, 1 and 2 together. They are three points, and layer norm never "
            "averages over the batch.",
            Belief.OVER_THE_BATCH,
        ),
    ],
    hints=[
        "How many features does one category have, and so how many numbers share a mean?",
        "What is a number minus itself?",
    ],
)
