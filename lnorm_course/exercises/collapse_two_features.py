"""Exercises on what is left of two features: the sign of their difference, and ε."""

import torch

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.models import Model, axes_of
from lnorm_utils.data import normal

TOPIC = "collapse"
# Differences on both sides of √ε, for ε = 0.1.
DIFFERENCES = torch.tensor([-3.0, -0.4, 0.1, 0.7, 5.0]).double()
PAIRS = Model(
    "layer_norm",
    axes=axes_of(("the points", "the two features"), (1,), {(0,): Belief.OVER_THE_BATCH}),
)

torch_var = Prediction(
    answer=3,
    reason="PyTorch divided the sum of squares, 12, by D − 1 = 3. Layer norm divides it by D = 4.",
    wrong={
        4: Belief.VARIANCE_OVER_D_MINUS_1(
            "That's the sum of squares divided by D − 1. Layer norm divides it by D."
        ),
        16 / 3: "You divided by 3 and multiplied by 4. It's the other way around.",
        2: "That's the root of 4, the standard deviation with D − 1.",
        1: "You divided by 4. Only the divisor changes, from 3 to 4.",
        12: "That's the sum of squares. Divide it by the number of features.",
    },
    within=0.006,
    hints=[
        "By which number does `row.var()` divide the sum of the squared distances?",
        "4 times D − 1 is that sum. Which number does layer norm divide it by?",
    ],
)


left_out = Prediction(
    answer="b",
    reason="Its answers depend on the company of a point, so it has a batch norm in training mode. "
    "`network.eval()` makes it use its running statistics.",
    wrong={
        "a": "`torch.no_grad()` saves memory, and changes no answer.",
        "c": "`network.train()` is the mode in which a batch norm takes its means from the batch. "
        "That's what went wrong here.",
    },
    hints=[
        "The answers depend on which points come together. In which mode is batch norm like that?",
        "A new network is in training mode. Which of the lines changes the mode to the other one?",
    ],
)


y_var = Prediction(
    answer=4,
    reason="Multiplying by 2 makes the variance 2² times as large. Adding 3 doesn't change it.",
    wrong={
        1: "That's the variance before γ and β.",
        2: "That's the standard deviation. The variance is its square.",
        7: "You added β to it. A number added to all features moves them, and their mean.",
        5: "You took γ + β. Only γ changes how far the features are from their mean.",
    },
    hints=[
        "How far are the features from their mean, once all are multiplied by γ?",
        "Twice as far, and the variance is a mean of squares. What does β change about that?",
    ],
)


places = Prediction(
    answer=2,
    reason="A point whose first feature is larger goes to one place, every other point to the "
    "other.",
    wrong={
        1: Belief.TWO_FEATURES_GIVE_PLUS_MINUS_1(
            "A point whose first feature is larger and one whose second feature is larger still "
            "differ after layer norm. So there is more than one place."
        ),
        1000: Belief.NOTHING_IS_LOST(
            "You kept all points apart. But both features of a point are equally far from their "
            "mean, and layer norm divides by that distance."
        ),
        4: "There would be four if each feature could be −1 or 1 on its own. But the features of a "
        "point add up to 0, so they always have opposite signs.",
        3: "You counted a third place, for points with two equal features. Random numbers are "
        "hardly ever equal.",
    },
    hints=[
        "Subtract the mean of a pair in your head. How far is each number from it?",
        "Both numbers are equally far from the mean, one above it and one below. What can differ?",
    ],
)


def _pairs(delta):
    """Make points with two features, (N, 2), from their differences, (N,)."""
    return torch.stack((delta / 2, -delta / 2), -1)


from_delta = CodeExercise(
    inputs={
        "differences from −3 to 5 with ε = 0.1": (DIFFERENCES, 0.1),
        "random differences with ε = 0.001": (normal(6, seed=62).double(), 1e-3),
        "differences of about 0.01 with ε = 0.01": (0.01 * normal(7, seed=63).double(), 0.01),
    },
    norm=lambda norm, delta, eps: norm.standardize(_pairs(delta), eps=eps)[:, 0],
    layout=PAIRS,
    hints=[
        "Layer norm divides the distance from the mean by the root of variance plus ε.",
        "The text above gives you the distance and the variance.",
    ],
)


@from_delta.answer
def half_of_it_over_the_root(delta, eps):
    half = delta / 2
    return half / (half**2 + eps).sqrt()


@from_delta.mistake()
def the_whole_difference(norm, delta, eps):
    """You took δ for the distance from the mean. The mean lies in the middle, so each feature is
    only half as far from it."""
    return norm.standardize(_pairs(2 * delta), eps=eps)[:, 0]


@from_delta.mistake()
def the_whole_difference_divided(norm, delta, eps):
    """You divided δ, and not the distance from the mean. Each feature is δ/2 away from it."""
    return 2 * norm.standardize(_pairs(delta), eps=eps)[:, 0]


@from_delta.mistake()
def half_of_it_over_the_whole(norm, delta, eps):
    """You took δ² for the variance. It is δ²/4, the square of the distance from the mean."""
    return norm.standardize(_pairs(2 * delta), eps=eps)[:, 0] / 2


@from_delta.mistake()
def half_of_it_over_half_the_square(norm, delta, eps):
    """You took δ²/2 for the variance. It is δ²/4, the square of the distance from the mean."""
    return norm.standardize(_pairs(2**0.5 * delta), eps=eps)[:, 0] / 2**0.5


@from_delta.mistake()
def half_the_square_and_no_eps(norm, delta, eps):
    """Your numbers are ±1/√2, whatever ε is. Without ε they would be ±1, so you divided by √2 times
    the distance from the mean, and left ε out."""
    return delta.sign() / 2**0.5


@from_delta.mistake()
def all_of_it_over_half_the_square(norm, delta, eps):
    """You divided δ, and took δ²/2 for the variance. Each feature is δ/2 away from the mean, and
    the variance is the square of that."""
    return norm.standardize(_pairs(2**0.5 * delta), eps=eps)[:, 0] * 2**0.5


@from_delta.mistake()
def the_second_feature(norm, delta, eps):
    """Those are the numbers of the second feature. Where δ is positive, the first feature is the
    larger one, so it ends above 0."""
    return norm.standardize(_pairs(delta), eps=eps)[:, 1]


root_eps = Prediction(
    answer=1 / 5**0.5,
    reason="The variance is ε/4, and √ε/2 over √(ε/4 + ε) is 1/√5, whatever ε is.",
    wrong={
        1.0: "That's the result without ε. Here ε is four times as large as the variance, so it "
        "makes a difference.",
        -1 / 5**0.5: "That's the second feature. The first one is larger, so it ends above 0.",
        1 / 2**0.5: "That's the result at δ/2 = √ε. Here δ itself is √ε, and each feature is only "
        "half as far from the mean.",
        0.001**0.5 / 2: "That's the distance from the mean. Layer norm divides it by the root of "
        "variance plus ε.",
        0.001**0.5 / 2 / (0.001**0.5 / 2 + 0.001): Belief.EPS_OUTSIDE_THE_ROOT(
            "You added ε to the standard deviation, where 0.001 hardly counts beside 0.0158. It is "
            "added to the variance, which is only 0.00025."
        ),
        0.2: "One fifth is var / (var + ε), the variance of the output. The feature is the root of "
        "that.",
        0.5: "You divided by √ε alone. The variance of the pair, ε/4, is under the root too.",
        1 / 6**0.5: Belief.VARIANCE_OVER_D_MINUS_1(
            "You divided the sum of squares by D − 1, so your variance was ε/2. Divide by D, and "
            "it's ε/4."
        ),
        0.0: "ε makes small differences smaller, but never zero.",
    },
    within=0.006,
    hints=[
        "Put δ/2 = √ε/2 into the formula of this lesson. What's under the root?",
        "You get √ε/2 divided by √(ε/4 + ε).",
    ],
)


put_in_bank(TOPIC, vars())
