"""Exercises on what a network doesn't notice, and on the relatives of layer norm."""

import torch

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.exercises.invariances_weights import (  # noqa: F401 - in this bank, too
    MATRIX,
    SMALL,
    SQUARE,
    aligned,
    by_ten,
    five_x,
    len_64,
    unit_w,
    unseen,
)
from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.models import RMS_NORM
from lnorm_utils.data import normal
from lnorm_utils.functional import standardize

TOPIC = "invariances"
# Means that aren't zero, and rows so narrow that an ε shows.
ROWS = normal(8, 6, seed=4).double() + 1
SPREADS = torch.tensor([0.1, 0.05, 0.02, 0.01, 0.005]).double()
NARROW = SPREADS[:, None] * (normal(5, 5, seed=5).double() + 1)


root_ms = CodeExercise(
    inputs={
        "eight rows of six features with ε = 0.1": (ROWS, 0.1),
        "narrow rows with ε = 0.01": (NARROW, 0.01),
    },
    norm=lambda norm, a, eps: norm.standardize(a, eps=eps),
    layout=RMS_NORM,
    hints=[
        "Square the features of each row, take the mean, add ε, and take the root.",
        "Nothing is subtracted. Keep the averaged axis, so that the division broadcasts.",
    ],
)


@root_ms.answer
def over_the_root_of_the_mean_square(a, eps):
    return a / (a.square().mean(dim=-1, keepdim=True) + eps).sqrt()


only_rms = Prediction(
    answer="W + c",
    reason="It adds the same number to all outputs of a point. Layer norm subtracts that with the "
    "mean, and RMSNorm has no mean.",
    wrong={
        "3 W": "That's a factor for the whole row, and the root has it too, so it cancels.",
        "3 x": "That's a factor for the whole row, and the root has it too, so it cancels here as "
        "well.",
        "one point × 3": "The root is taken for each point by itself, so the 3 cancels.",
        "x + c": "RMSNorm notices it, but layer norm does too: W c differs between outputs.",
        "one weight vector × 3": "RMSNorm notices it, and layer norm does too.",
        "none": "There's one. Think of what subtracting the mean takes away.",
    },
    hints=[
        "The two norms differ in the mean. What does subtracting it take away from a row?",
        "Which of the six changes adds the same number to all six outputs of a point?",
    ],
)


alike = CodeExercise(
    inputs={
        "the weights of this lesson": (MATRIX,),
        "a layer from five features to five": (SQUARE,),
        "a layer from four features to seven, with small weights": (SMALL,),
    },
    hints=[
        "The mean of a point's outputs is the mean over the rows of W, times x.",
        "Subtract something from W such that the outputs of each point add up to 0.",
    ],
)


@alike.answer
def without_the_mean_weight_vector(matrix):
    return matrix - matrix.mean(dim=0, keepdim=True)


@alike.mistake()
def unchanged(matrix):
    """That's W as it was. The outputs then have a mean, and RMSNorm doesn't subtract it."""
    return matrix


@alike.mistake()
def mean_of_each_vector(matrix):
    """You subtracted the mean of each weight vector. The mean of the outputs runs over the outputs,
    and those are the rows of W (`dim=0`)."""
    return matrix - matrix.mean(1, keepdim=True)


@alike.mistake()
def mean_of_each_vector_without_an_axis(matrix):
    """Your mean runs along each weight vector, and has lost its axis. The mean of the outputs runs
    over the outputs (`dim=0`)."""
    return matrix - matrix.mean(1)


@alike.mistake()
def one_mean(matrix):
    """You subtracted one mean of all weights. Each input feature has a mean of its own, over the
    outputs."""
    return matrix - matrix.mean()


@alike.mistake()
def mean_added(matrix):
    """You added the mean. Subtract it."""
    return matrix + matrix.mean(0, keepdim=True)


@alike.mistake()
def sum_subtracted(matrix):
    """You subtracted the sum over the outputs. Divide it by their number."""
    return matrix - matrix.sum(0, keepdim=True)


@alike.mistake()
def only_the_mean(matrix):
    """That's what must go away. Subtract it from W."""
    return matrix.mean(0, keepdim=True).expand_as(matrix)


@alike.mistake()
def both_means(matrix):
    """You subtracted the mean of each weight vector too. Only the mean over the outputs has to
    go."""
    centered = matrix - matrix.mean(0, keepdim=True)
    return centered - centered.mean(1, keepdim=True)


@alike.mistake()
def standardized(matrix):
    """You also divided by a standard deviation. RMSNorm divides, and it does so for each point."""
    centered = matrix - matrix.mean(0, keepdim=True)
    return centered / centered.square().mean(0, keepdim=True).sqrt()


@alike.mistake()
def standardized_with_layer_norm_too(matrix):
    """You standardized the columns of W. Only their means have to go: RMSNorm divides by
    itself."""
    return standardize(matrix.T).T


@alike.mistake()
def standardized_weight_vectors(matrix):
    """You standardized each weight vector. The mean of the outputs runs over the outputs (`dim=0`),
    and RMSNorm divides by itself."""
    return standardize(matrix)


in_two = Prediction(
    answer=4,
    reason="One for each of the two groups in each of the two images.",
    wrong={
        2: "That's one for each group, or one for each image. Each group of each image has its "
        "own.",
        8: "That's one for each channel of each image, as InstanceNorm takes it.",
        12: "That's one for each pixel of each image, as layer norm over the channels takes it.",
        24: "Each pixel would have two groups then. A group has all pixels of its channels.",
        48: "That's how many numbers there are. Twelve of them share a mean.",
    },
    hints=[
        "Two of the four channels make a group, with all of their pixels.",
        "How many groups does an image have, and how many images are there?",
    ],
)


flatter = Prediction(
    answer=0.1,
    reason="A step of ten times the size changes the direction of 10 W as much, so the slope is a "
    "tenth.",
    wrong={
        10: "You may have thought of the outputs without a norm. Here they don't change, but each "
        "weight is ten times as long.",
        1: "The loss is the same, but the gradient isn't: W is ten times as far from the origin.",
        0.01: "Two things make 10 W slower. This question is about the gradient only.",
        100: "The loss is the same at both places. Ask how far you have to go for the same change "
        "of direction.",
        0: "At right angles to W there's still a slope, and it's not flat.",
    },
    hints=[
        "L(10 W) = L(W). Take the derivative with respect to W on both sides.",
        "On the left the chain rule gives a factor of 10. What's the gradient at 10 W then?",
    ],
)


faster = Prediction(
    answer=100,
    reason="The gradient is a tenth, and the step has to be ten times as long.",
    wrong={
        10: "That only makes up for the gradient, which is a tenth. The step also has to be ten "
        "times as long, because W is.",
        1: "With the same rate the direction of 10 W turns far more slowly.",
        0.1: "A smaller rate makes it worse: both the gradient and the turn are too small.",
        0.01: "At the same rate 10 W turns more slowly already. Ask whether it needs a larger rate "
        "or a smaller one.",
        1000: "Count again: the gradient is shorter, and W is longer.",
    },
    hints=[
        "To turn 10 W by the same angle, how much longer must a step be?",
        "And by how much is the gradient shorter? Multiply the two.",
    ],
)


adam = Prediction(
    answer=10,
    reason="Each number moves by the same step as at W, because Adam divides out the size of the "
    "gradient. But 10 W is ten times as long, so the steps have to be, too.",
    wrong={
        100: "That's right for plain gradient descent, where the gradient is a tenth as well. Adam "
        "divides by the size of the gradient.",
        1: "Then each number moves as far as at W. But 10 W is ten times as long, so it turns a "
        "tenth as much.",
        0.1: "A smaller rate makes it worse: at the same rate 10 W already turns too little.",
        1000: "Two things made plain gradient descent slower at 10 W. With Adam, one of them is "
        "gone.",
    },
    hints=[
        "Two things make a longer W slower with plain gradient descent. Which does Adam undo?",
        "To turn a longer W by the same angle, how much longer must a step be?",
    ],
)


decayed = Prediction(
    answer=1,
    reason="Layer norm divides by the standard deviation, and that has shrunk as much.",
    wrong={
        0.99**100: Belief.DECAY_SHRINKS_THE_FUNCTION(
            "That's what's left of W. The outputs are those of layer norm, which divides by the "
            "standard deviation."
        ),
        0.99: Belief.DECAY_SHRINKS_THE_FUNCTION(
            "One step shrinks W to that. Layer norm doesn't notice a factor that all weights have."
        ),
        0: Belief.DECAY_SHRINKS_THE_FUNCTION(
            "Each step takes away 1 % of what is left, not of the beginning. And layer norm "
            "doesn't notice such a factor at all."
        ),
        0.99**200: Belief.DECAY_SHRINKS_THE_FUNCTION(
            "That's what's left of the squares of W. Layer norm divides by the standard deviation, "
            "which shrinks with W."
        ),
    },
    within=0.001,
    hints=[
        "One hundred steps multiply W by 0.99 each. Is that one of the six changes?",
        "What does layer norm do with a factor that all weights have?",
    ],
)


put_in_bank(TOPIC, vars(), further=("root_ms", "in_two", "flatter", "faster", "adam", "decayed"))
