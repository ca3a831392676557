"""Exercises of lesson 7, how a projection saves two features."""

import math

import torch

from lnorm_utils.examples import normal
from lnorm_utils.exercises.beliefs import Belief
from lnorm_utils.exercises.engine.exercise import Exercise

TOPIC = "projection"
# So spread out that nobody's ε matters, with a bias as large as the rest.
POINTS = 100 * normal(5, 2, seed=71).double() + 50
WEIGHT = normal(6, 2, seed=72).double()
BIAS = 100 * normal(6, seed=73).double()

rescue = Exercise(
    TOPIC,
    "rescue",
    inputs=[(POINTS, WEIGHT, BIAS)],
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
def normalizes_first(x, weight, bias):
    """You normalized the two features and projected what was left. By then one bit is left, and no
    projection brings back the rest."""
    return torch.nn.functional.layer_norm(x, x.shape[-1:]) @ weight.T + bias


@rescue.mistake(Belief.NOTHING_IS_LOST)
def normalizes_before_and_after(x, weight, bias):
    """You normalized twice. The first time, on two features, everything but one bit was lost.
    Normalize only after the projection."""
    hidden = torch.nn.functional.layer_norm(x, x.shape[-1:]) @ weight.T + bias
    return torch.nn.functional.layer_norm(hidden, hidden.shape[-1:])


@rescue.mistake()
def adds_the_bias_last(x, weight, bias):
    """You added the bias after layer norm. There it only moves all results alike; it belongs to the
    projection."""
    hidden = x @ weight.T
    return torch.nn.functional.layer_norm(hidden, hidden.shape[-1:]) + bias


@rescue.mistake()
def leaves_out_the_bias(x, weight, bias):
    """You left the bias out of the projection."""
    hidden = x @ weight.T
    return torch.nn.functional.layer_norm(hidden, hidden.shape[-1:])


@rescue.mistake(Belief.RESHAPE_SWAPS_AXES)
def reshapes_the_weight(x, weight, bias):
    """You reshaped the weight from (6, 2) to (2, 6). The shape fits, but `reshape` mixes the rows:
    transpose it."""
    hidden = x @ weight.reshape(weight.shape[1], weight.shape[0]) + bias
    return torch.nn.functional.layer_norm(hidden, hidden.shape[-1:])


@rescue.mistake(Belief.OVER_THE_BATCH)
def normalizes_over_the_points(x, weight, bias):
    """You normalized each column over the points. Layer norm takes each row, the six features of
    one point."""
    hidden = x @ weight.T + bias
    return torch.nn.functional.layer_norm(hidden.T, hidden.shape[:1]).T


enough = Exercise(
    TOPIC,
    "enough",
    hints=[
        "Lesson 6 counted the dimensions of the sphere. How many did layer norm take away?",
        "The features of a row add up to nothing, and their squares to D. Each of these takes one "
        "dimension, and as many as the points have must be left.",
    ],
)


@enough.answer
def two_more_than_the_points():
    """Layer norm takes two dimensions away, so four features leave the two that are needed."""
    return 4


@enough.mistake(Belief.NOTHING_IS_LOST)
def as_many_as_the_points():
    """You counted as if layer norm took nothing away. At size 2 the sphere has no dimension: it is
    two places."""
    return 2


@enough.mistake()
def one_more_than_the_points():
    """You counted the mean, which takes one dimension. That all rows have the same length takes
    another: at size 3 a circle is left."""
    return 3


@enough.mistake()
def the_size_of_this_lesson():
    """Six is enough, but not the smallest: its sphere has four dimensions, and the points have
    two."""
    return 6


rays = Exercise(
    TOPIC,
    "rays",
    hints=[
        "Without a bias, a point that is three times as far is projected three times as far.",
        "Layer norm removes a factor, but not its sign. Which points lie on one ray?",
    ],
)


@rays.answer
def one_for_each_ray():
    """Only (1, 0.5) and (3, 1.5) lie on one ray. (−1, −0.5) is on the other side of the origin."""
    return 4


@rays.mistake(Belief.NOTHING_IS_LOST)
def one_for_each_point():
    """You kept all five apart. (3, 1.5) is three times (1, 0.5), and layer norm removes the factor
    3."""
    return 5


@rays.mistake(Belief.SCALING_CHANGES_NOTHING)
def one_for_each_line():
    """You put (−1, −0.5) together with (1, 0.5). Its factor is −1, and layer norm keeps the sign:
    the result is turned around."""
    return 3


@rays.mistake(Belief.TWO_FEATURES_GIVE_PLUS_MINUS_1)
def one_for_each_sign():
    """That is how many there are without a projection, where only the sign of the difference is
    left. Of six features a whole direction is left."""
    return 2


growing_bias = Exercise(
    TOPIC,
    "growing_bias",
    hints=[
        "A large bias moves all points far from the origin, side by side. "
        "What does their direction, seen from the origin, still tell?",
        "A small patch of a sphere is nearly flat, and a linear decoder likes what is flat.",
    ],
)


@growing_bias.answer
def everything():
    """Far from the origin a small patch of the sphere is nearly flat, so direction tells all."""
    return 1


@growing_bias.mistake()
def the_bias_drowns_the_points():
    """You thought that a large bias drowns the points. They do come close together, but a decoder
    can multiply small differences."""
    return 0


@growing_bias.mistake()
def as_without_a_bias():
    """π/4 is the value without a bias, when only the direction from the origin is left. A bias lets
    the decoder see the length as well."""
    return math.pi / 4


@growing_bias.mistake()
def as_with_the_bias_so_far():
    """You expected no change. Layer norm removes what all six features have in common, and the six
    numbers of a bias differ."""
    return 0.87


@growing_bias.mistake()
def as_without_a_projection():
    """1/π is what two features keep. The six keep more, with any bias."""
    return 1 / math.pi


equal_bias = Exercise(
    TOPIC,
    "equal_bias",
    inputs=[(normal(3, 4, seed=74).double() + 2,), (normal(2, 6, seed=75).double(),)],
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


category = Exercise(
    TOPIC,
    "category",
    hints=[
        "How many features does one category have, and so how many numbers share a mean?",
        "What is a number minus itself?",
    ],
)


@category.answer
def nothing_is_left():
    """Each number is its own mean, so all three categories become β, which is 0 here."""
    return 0


@category.mistake(Belief.ONE_FEATURE_GIVES_1)
def one():
    """You expected 1. A single number is its own mean, and minus its mean it is 0."""
    return 1


@category.mistake(Belief.NOTHING_IS_LOST)
def stays_as_it_is():
    """You left the number as it was. Layer norm subtracts the mean, and that is the number
    itself."""
    return 2


@category.mistake(Belief.OVER_THE_BATCH)
def compared_with_the_other_categories():
    """You normalized 0, 1 and 2 together. They are three points, and layer norm never averages over
    the batch."""
    return 1.5**0.5
