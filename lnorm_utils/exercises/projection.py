"""Exercises on how a projection saves two features."""

import math

import torch

from lnorm_utils.beliefs import Belief
from lnorm_utils.examples import normal, projection
from lnorm_utils.exercises.engine.code_exercise import CodeExercise
from lnorm_utils.exercises.engine.prediction import Prediction, Wrong
from lnorm_utils.functional import layer_norm
from lnorm_utils.modules import PositionalEncoding
from lnorm_utils.slips import TABLE

TOPIC = "projection"
# The lesson's own, and so spread out that nobody's ε matters, with a bias as large as the rest.
THREE = torch.tensor([[2.0, 1.0], [4.0, -1.0], [0.5, -2.0]]).double()
PROJECT = projection(2, 6, seed=11).double().requires_grad_(False)
POINTS = 100 * normal(5, 2, seed=71).double() + 50
WEIGHT = normal(6, 2, seed=72).double()
BIAS = 100 * normal(6, seed=73).double()

three_8 = Prediction(
    TOPIC,
    "three_8",
    answer=(-1, 1),
    reason="Both are 2.5 away from their mean, 5.5, and the 3 is the smaller one.",
    wrong=[
        Wrong((1, -1), "The 3 lies below the mean, so it ends below 0."),
        Wrong((-2.5, 2.5), "Those are the distances from the mean. Divide by the deviation."),
        Wrong(
            (-(0.5**0.5), 0.5**0.5),
            "You divided the sum of squares by D − 1, which is 1. Divide it by 2.",
            Belief.VARIANCE_OVER_D_MINUS_1,
        ),
        Wrong((0, 0), "That would be so if the two features were equal."),
    ],
    within=0.006,
    hints=["What's the mean of 3 and 8?", "Both are 2.5 away from it. So what's the deviation?"],
)


sphere_10 = Prediction(
    TOPIC,
    "sphere_10",
    answer=8,
    reason="The features add up to 0, and their squares to 10. Each equation takes one dimension.",
    wrong=[
        Wrong(
            10,
            "Each output obeys two equations, so it can't lie just anywhere.",
            Belief.NOTHING_IS_LOST,
        ),
        Wrong(9, "One of the two equations is missing: the sum is 0, and the length is √10."),
        Wrong(2, "That's how many dimensions are lost."),
    ],
    hints=[
        "Which two equations does every output obey?",
        "Each equation takes one dimension away from the ten.",
    ],
)


alone = Prediction(
    TOPIC,
    "alone",
    answer=2,
    reason="In `eval` mode the running statistics count: (10 − 4) / √9.",
    wrong=[
        Wrong(
            0,
            "That would be so if batch norm still took its mean from the batch. In `eval` mode it "
            "uses the running mean.",
        ),
        Wrong(6, "That's 10 − 4. Divide it by the standard deviation."),
        Wrong(6 / 9, "You divided by the variance. Divide by its root."),
        Wrong(10, "In `eval` mode, batch norm still normalizes, by its running statistics."),
    ],
    hints=["Which mean does batch norm use in `eval` mode?", "Subtract 4, and divide by √9."],
)


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
        "Which of the two must come first, so that layer norm gets six features?",
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
    """You normalized the two features and projected what was left. That's only one bit, and no
    projection brings back the rest."""
    return norm.standardize(x) @ weight.T + bias


@rescue.mistake(Belief.NOTHING_IS_LOST)
def normalizes_before_and_after(norm, x, weight, bias):
    """You normalized twice. The first time, on two features, everything but one bit was lost."""
    return norm.standardize(norm.standardize(x) @ weight.T + bias)


@rescue.mistake()
def projects_only(norm, x, weight, bias):
    """You projected, but didn't normalize. Layer norm comes after the projection."""
    return x @ weight.T + bias


@rescue.mistake()
def weight_not_transposed(norm, x, weight, bias):
    """You multiplied by `weight` as it is. It has a row for each of the six features, so rows of
    points need its transpose."""
    return norm.standardize(x @ weight + bias)


@rescue.mistake()
def adds_the_bias_last(norm, x, weight, bias):
    """You added the bias after layer norm. There it moves all results by the same amount. It
    belongs to the projection."""
    return norm.standardize(x @ weight.T) + bias


@rescue.mistake()
def leaves_out_the_bias(norm, x, weight, bias):
    """You left the bias out of the projection."""
    return norm.standardize(x @ weight.T)


@rescue.mistake(Belief.RESHAPE_SWAPS_AXES)
def reshapes_the_weight(norm, x, weight, bias):
    """You reshaped the weight from (6, 2) to (2, 6). The shape fits, but `reshape` mixes up the
    rows. Transpose it."""
    hidden = x @ weight.reshape(weight.shape[1], weight.shape[0]) + bias
    return norm.standardize(hidden)


look_up = Prediction(
    TOPIC,
    "look_up",
    answer="more",
    reason="Most of what the linear decoder couldn't read is still there.",
    wrong=[
        Wrong(
            "same",
            "It would be the same if the rest were lost. But a linear decoder can only multiply "
            "and add. What it can't read may still be there.",
        ),
        Wrong(
            "less",
            "It would be less if different points had almost the same six numbers. With a bias, "
            "points as near the origin as these don't.",
        ),
    ],
    hints=[
        "Do two different points ever get the same six numbers?",
        "A linear decoder fits one flat map for all points. Does looking up need a flat map?",
    ],
)


# Points of the lesson's spread, and outputs that have lost their length to layer norm.
SIX = projection(2, 6, seed=11).double().requires_grad_(False)
FOUR = projection(2, 4, seed=75).double().requires_grad_(False)
WIDE = torch.nn.Linear(2, 7).double().requires_grad_(False)
WIDE.weight.copy_(normal(7, 2, seed=76) + 1)
WIDE.bias.copy_(2 * normal(7, seed=77) + 1)


def _normed(linear, x1, x2):
    """Project one point, and normalize: the arguments of `point_back`."""
    hidden = linear(torch.tensor([x1, x2]).double())
    return layer_norm(hidden, len(hidden)), linear.weight.data, linear.bias.data


point_back = CodeExercise(
    TOPIC,
    "point_back",
    inputs={
        "the point (2, 1) in the lesson's six features": _normed(SIX, 2.0, 1.0),
        "the point (−1.5, 0.5) in four features": _normed(FOUR, -1.5, 0.5),
        "the point (3, −2) in seven features": _normed(WIDE, 3.0, -2.0),
    },
    hints=[
        "The matrix has one row for each feature: two numbers of C · W, then one of −y. "
        "`y[:, None]` is y as a column, and `torch.cat([...], dim=1)` puts columns side by side.",
        "On the right side is −C · b as a column, `(bias.mean() - bias)[:, None]`. The solution is "
        "a column too, (x₀, x₁, s): return its first two numbers, as a row.",
    ],
)


@point_back.answer
def solve_for_the_point_and_s(y, weight, bias):
    centered = weight - weight.mean(dim=0)
    equations = torch.cat([centered, -y[:, None]], dim=1)
    right_side = (bias.mean() - bias)[:, None]
    solution = torch.linalg.lstsq(equations, right_side).solution
    return solution[:2, 0]


def _solved(weight, bias, y=None):
    """Solve weight · x − s · y = −bias, where s is 1 if there is no y."""
    columns = weight if y is None else torch.cat([weight, -y[:, None]], dim=1)
    return torch.linalg.lstsq(columns, -bias[:, None]).solution[:, 0]


def _centered(x):
    return x - x.mean(dim=0)


@point_back.mistake()
def without_s(y, weight, bias):
    """You left out s, as if layer norm had divided by 1. It's a third unknown: put −y into the
    matrix as a third column."""
    return _solved(_centered(weight), _centered(bias) - y)


@point_back.mistake(Belief.NOTHING_IS_LOST)
def only_the_projection_undone(y, weight, bias):
    """You solved W · x + b = y, as if there had been no layer norm. It subtracted the mean and
    divided by s."""
    return _solved(weight, bias - y)


@point_back.mistake()
def weight_not_centered(y, weight, bias):
    """You centered b, but not W. Layer norm subtracts the mean of both."""
    return _solved(weight, _centered(bias), y)[:2]


@point_back.mistake()
def nothing_centered(y, weight, bias):
    """You solved W · x − s · y = −b, without C. Layer norm has subtracted the mean, so W must be
    centered too."""
    return _solved(weight, bias, y)[:2]


@point_back.mistake()
def the_other_sign(y, weight, bias):
    """Both signs are flipped. The right side is −C · b, with a minus."""
    return _solved(_centered(weight), -_centered(bias), y)[:2]


@point_back.mistake()
def s_as_well(y, weight, bias):
    """You returned s as well. Return the first two unknowns only."""
    return _solved(_centered(weight), _centered(bias), y)


@point_back.mistake()
def as_a_column(y, weight, bias):
    """The numbers are right, but they are a column of shape (2, 1). Return shape (2,)."""
    return _solved(_centered(weight), _centered(bias), y)[:2, None]


enough = Prediction(
    TOPIC,
    "enough",
    answer=4,
    reason=(
        "Layer norm takes two dimensions away, so four features leave the two that the points have."
    ),
    wrong=[
        Wrong(
            2,
            "At size 2, layer norm leaves two places. It takes dimensions away, so you need more "
            "of them than the points have.",
        ),
        Wrong(
            3,
            "At size 3, layer norm leaves a circle, which has one dimension. Subtracting the mean "
            "takes one away, and making all rows equally long takes another.",
        ),
        Wrong(
            6,
            "Six is enough, but a smaller size is too. At six, the sphere has four dimensions, and "
            "the points have two.",
        ),
    ],
    hints=[
        "Lesson 6 counted the dimensions of the sphere. How many did layer norm take away?",
        "The features of a row add up to 0, and their squares to D. Each of these equations takes "
        "one dimension away. What's left must hold the two dimensions of the points.",
    ],
)


rays = Prediction(
    TOPIC,
    "rays",
    answer=4,
    reason=("(1, 0.5) and (3, 1.5) lie on one ray. (−1, −0.5) is on the other side of the origin."),
    wrong=[
        Wrong(
            5,
            "You kept all five apart. (3, 1.5) is three times (1, 0.5), and layer norm removes "
            "the factor 3.",
            Belief.NOTHING_IS_LOST,
        ),
        Wrong(
            3,
            "There would be three if layer norm removed a factor of −1 too, as between (1, 0.5) "
            "and (−1, −0.5). It doesn't: with the sign, the result changes its sign as well.",
            Belief.SCALING_CHANGES_NOTHING,
        ),
        Wrong(
            2,
            "That's how many there are without a projection, where only the sign of the "
            "difference is left. Six features keep more than that.",
        ),
    ],
    hints=[
        "Without a bias, a point that is three times as far is projected three times as far.",
        "Layer norm removes a factor, but not its sign. Which points lie on one ray?",
    ],
)


ring_loss = Prediction(
    TOPIC,
    "ring_loss",
    answer=0.69,
    reason="The rings differ in their distance from the origin, and that's gone.",
    wrong=[
        Wrong(
            0,
            "Later layers do have a bias. But points on one ray have become one point before they "
            "get there, and one point can't be in both rings.",
            Belief.NOTHING_IS_LOST,
        ),
        Wrong(
            0.35,
            "Half of it would need half of the answer. Which of the two rings a point lies on is "
            "all in its distance from the origin.",
        ),
        Wrong(
            0.5,
            "That's the share of right answers when the network guesses. Its loss is then 0.69, "
            "which is −log 0.5.",
        ),
    ],
    hints=[
        "How do the two rings differ?",
        "Take a point on the inner ring and double it. What does the network see of the two?",
    ],
)


growing_bias = Prediction(
    TOPIC,
    "growing_bias",
    answer=1,
    reason=(
        "A large bias moves all points to a small patch of the sphere. It's nearly flat, so a "
        "linear decoder can read it."
    ),
    wrong=[
        Wrong(
            0,
            "A large bias does bring the points close together. But a decoder can multiply small "
            "differences by a large number, so that's no loss.",
        ),
        Wrong(
            math.pi / 4,
            "π/4 is the value without a bias, when only the direction from the origin is left. A "
            "bias lets the decoder see the length as well.",
        ),
        Wrong(
            0.87,
            "That's the value with the projection's own bias. Layer norm removes only the mean of "
            "a bias. Its six numbers differ, so its size matters.",
        ),
        Wrong(1 / math.pi, "1/π is what two features keep. The six keep more, with any bias."),
    ],
    hints=[
        "A large bias moves all points far from the origin, side by side. What can you still tell "
        "from their direction?",
        "Seen from far away, all points lie on a small patch of the sphere. Is it curved or flat?",
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
        "Multiply out √D · (W x + b). Which part has no x in it?",
        "That part must equal the encoding e. D is the last number in the shape of `encoding`.",
    ],
)


@equal_bias.answer
def divided_by_root_d(encoding):
    return encoding / encoding.shape[-1] ** 0.5


@equal_bias.mistake()
def the_encoding_as_it_is(encoding):
    """As a bias, your e would be multiplied by √D together with W x. Divide by √D first."""
    return encoding


@equal_bias.mistake()
def multiplied_by_root_d(encoding):
    """You multiplied by √D, and the layer multiplies by √D once more. Divide instead."""
    return encoding * encoding.shape[-1] ** 0.5


@equal_bias.mistake()
def divided_by_d(encoding):
    """You divided by D. The factor in front of the brackets is its root."""
    return encoding / encoding.shape[-1]


@equal_bias.mistake()
def divided_by_root_l(encoding):
    """You took the root of L, the number of positions. Take the root of D, the number of
    features."""
    return encoding / encoding.shape[0] ** 0.5


category = Prediction(
    TOPIC,
    "category",
    answer=2,
    reason=(
        "Category 0 becomes zeros. The features of category 2 are twice those of category 1, and "
        "layer norm removes the factor 2."
    ),
    wrong=[
        Wrong(
            3,
            "You kept all three apart. Without a bias, the six features of category 2 are twice "
            "those of category 1, and layer norm removes a factor.",
            Belief.NOTHING_IS_LOST,
        ),
        Wrong(
            1,
            "That would be so for a layer norm over the number itself. Here it gets six features. "
            "Those of category 0 are zeros, but those of category 1 differ from each other.",
        ),
        Wrong(
            6,
            "That's how many features each result has. Count how many of the three results differ.",
        ),
    ],
    hints=[
        "Without a bias, what are the six features of the first category? And those of the last "
        "one, compared with those of the one before it?",
        "Layer norm removes a positive factor. Which categories differ only by one?",
    ],
)
