"""Exercises on how a projection saves two features: the norm behind it, and the way back."""

import torch

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.models import TABLE
from lnorm_utils.data import normal, projection
from lnorm_utils.functional import layer_norm

TOPIC = "projection"
# The lesson's own, and so spread out that nobody's ε matters, with a bias as large as the rest.
THREE = torch.tensor([[2.0, 1.0], [4.0, -1.0], [0.5, -2.0]]).double()
PROJECT = projection(2, 6, seed=11).double().requires_grad_(False)
POINTS = 100 * normal(5, 2, seed=71).double() + 50
WEIGHT = normal(6, 2, seed=72).double()
BIAS = 100 * normal(6, seed=73).double()

three_8 = Prediction(
    answer=(-1, 1),
    reason="Both are 2.5 away from their mean, 5.5, and the 3 is the smaller one.",
    wrong={
        (1, -1): "The 3 lies below the mean, so it ends below 0.",
        (-2.5, 2.5): "Those are the distances from the mean. Divide by the deviation.",
        (-(0.5**0.5), 0.5**0.5): Belief.VARIANCE_OVER_D_MINUS_1(
            "You divided the sum of squares by D − 1, which is 1. Divide it by 2."
        ),
        (0, 0): "That would be so if the two features were equal.",
    },
    within=0.006,
    hints=["What's the mean of 3 and 8?", "Both are 2.5 away from it. So what's the deviation?"],
)


unmoved = Prediction(
    answer="c",
    reason="The factor makes both 12 times as large. The same numbers on every row change neither.",
    wrong={
        "a": "Adding the same numbers made the rows as large as the factor did, and it still "
        "guessed.",
        "b": "They stay the same if rows and differences are multiplied by the same 12, and then "
        "the network learned.",
        "d": "Two hidden layers of that size are enough for the rings, and eight with a larger "
        "start. The weights can do it; the start can't.",
    },
    hints=[
        "For each of the four: does the factor change it? Do the added numbers?",
        "What was too small is changed by the factor, and not by the added numbers.",
    ],
)


from_he = Prediction(
    answer="guesses",
    reason="All biases are 0, so the first layer norm removes how far out a point is, as it did "
    "with the bias taken away.",
    wrong={
        "learned": "Each of the two trains the network alone. But look in lesson 1 at what He's "
        "start does to the bias of the first map.",
        "NaN": "NaN comes from numbers that grow without a bound. Layer norm keeps those of a row "
        "small.",
    },
    hints=[
        "In He's start, what is the bias of the first map?",
        "Without it, W(3x) = 3 Wx. What does the layer norm behind the map make of a factor?",
    ],
)


mends = Prediction(
    answer="b",
    reason="With different biases in front of the first layer norm, points on one ray become "
    "different rows.",
    wrong={
        "a": "The same number on all features is gone with the mean of the row.",
        "c": "The second map stands behind the first layer norm, where the radius is gone already.",
        "d": "The last map stands behind all layer norms, where the radius is gone already.",
    },
    hints=[
        "Where does the radius get lost?",
        "What is added has to come before that, and has to survive the subtraction of the mean.",
    ],
)


alone = Prediction(
    answer=2,
    reason="In `eval` mode the running statistics count: (10 − 4) / √9.",
    wrong={
        0: "That would be so if batch norm still took its mean from the batch. In `eval` mode it "
        "uses the running mean.",
        6: "That's 10 − 4. Divide it by the standard deviation.",
        6 / 9: "You divided by the variance. Divide by its root.",
        10: "In `eval` mode, batch norm still normalizes, by its running statistics.",
    },
    hints=["Which mean does batch norm use in `eval` mode?", "Subtract 4, and divide by √9."],
)


rescue = CodeExercise(
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
    """Your result is that of a projection without a bias. Each feature has a bias of its own. One
    number for all features would be subtracted again by layer norm."""
    return norm.standardize(x @ weight.T)


@rescue.mistake(Belief.RESHAPE_SWAPS_AXES)
def reshapes_the_weight(norm, x, weight, bias):
    """You reshaped the weight from (6, 2) to (2, 6). The shape fits, but `reshape` mixes up the
    rows. Transpose it."""
    hidden = x @ weight.reshape(weight.shape[1], weight.shape[0]) + bias
    return norm.standardize(hidden)


look_up = Prediction(
    answer="more",
    reason="Most of what the linear decoder couldn't read is still there.",
    wrong={
        "same": "It would be the same if the rest were lost. But a linear decoder can only "
        "multiply and add. What it can't read may still be there.",
        "less": "It would be less if different points had almost the same six numbers. With a "
        "bias, points as near the origin as these don't.",
    },
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
def one_mean_for_the_weight(y, weight, bias):
    """You subtracted one mean from all of W. Layer norm averages over the features, so subtract the
    mean of each column."""
    return _solved(weight - weight.mean(), _centered(bias), y)[:2]


@point_back.mistake()
def the_last_two(y, weight, bias):
    """You returned the last two unknowns. The first two are the point, and the last is s."""
    return _solved(_centered(weight), _centered(bias), y)[1:]


@point_back.mistake()
def s_first(y, weight, bias):
    """You returned s and the first coordinate. Put −y behind the columns of C · W, or return the
    other two unknowns."""
    return _solved(_centered(weight), _centered(bias), y)[[2, 0]]


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


put_in_bank(TOPIC, vars(), further=("point_back",))
