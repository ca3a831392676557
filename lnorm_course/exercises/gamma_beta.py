"""Exercises of lesson 4, the learned scale and shift."""

import torch

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.exercises.gamma_beta_scale import (  # noqa: F401 - in this bank, too
    BIAS,
    BIAS_OF_6,
    WEIGHT,
    WEIGHT_OF_6,
    feature_2,
    gammas,
    lost_axis,
    minus_2x,
    of_512,
    rescale,
    trained,
    var_eps,
    y_mean,
)
from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.models import WAY_BACK
from lnorm_utils.data import normal
from lnorm_utils.functional import layer_norm_steps

TOPIC = "gamma_beta"
FOUR, OFFSET = normal(4, 4, seed=44).double(), normal(4, seed=45).double()  # W and b
FIVE, OFFSET_OF_5 = normal(5, 6, seed=46).double(), normal(5, seed=47).double()
# The way back: unequal axes, a mean that is not zero, and rows of very different size.
WITHIN = 1e-9  # so that an ε of 1e-5 beside the root shows
ROWS = normal(2, 3, 4, seed=42).double() * torch.tensor([[1.0], [20.0], [0.1]]) + 2
STEPS = layer_norm_steps(ROWS, 4, WEIGHT, BIAS, eps=0.1)
STEPS_OF_6 = layer_norm_steps(
    normal(5, 2, 6, seed=48).double() + 2, 6, WEIGHT_OF_6, BIAS_OF_6, eps=0.1
)


folded_bias = CodeExercise(
    # The first has as many outputs as features, so that a wrong axis fits as well, and is wrong.
    inputs={
        "a linear layer from four features to four": (FOUR, OFFSET, WEIGHT, BIAS),
        "a linear layer from six features to five": (FIVE, OFFSET_OF_5, WEIGHT_OF_6, BIAS_OF_6),
    },
    hints=[
        "Put y = γ · x_hat + β into W y + b, and multiply it out. Which part has no x_hat in it?",
        "β goes through the layer like any other input.",
    ],
)


@folded_bias.answer
def beta_goes_through_the_layer(matrix, offset, weight, bias):
    return offset + matrix @ bias


@folded_bias.mistake()
def beta_as_it_is(matrix, offset, weight, bias):
    """You added β itself. The layer multiplies its input by W, and β is part of that input."""
    return offset + bias


@folded_bias.mistake()
def without_the_old_bias(matrix, offset, weight, bias):
    """That's what β adds. The layer's own b is still there, so add both."""
    return matrix @ bias


@folded_bias.mistake()
def nothing_added(matrix, offset, weight, bias):
    """You left b as it was, so β is lost."""
    return offset


@folded_bias.mistake()
def beta_times_gamma(matrix, offset, weight, bias):
    """You multiplied β by γ as well. γ multiplies only x_hat, and β is added after that."""
    return offset + matrix @ (weight * bias)


@folded_bias.mistake()
def along_the_wrong_axis(matrix, offset, weight, bias):
    """You summed over the outputs of W. Each output sums over the features: `W @ bias`."""
    return offset + matrix.T @ bias


@folded_bias.mistake()
def diagonal_only(matrix, offset, weight, bias):
    """You used only the diagonal of W. Each output gets something from the β of every feature."""
    return offset + matrix.diagonal() * bias[: len(offset)]


@folded_bias.mistake()
def b_through_the_layer(matrix, offset, weight, bias):
    """You sent b through the layer too. It's added after W, so it stays as it is."""
    return matrix @ (offset + bias)


@folded_bias.mistake()
def subtracted(matrix, offset, weight, bias):
    """You subtracted what β adds. Add it."""
    return offset - matrix @ bias


@folded_bias.mistake()
def gamma_in_place_of_beta(matrix, offset, weight, bias):
    """That's γ sent through the layer. γ goes into W, and β goes into b."""
    return offset + matrix @ weight


other_row = Prediction(
    answer=-3.8049,
    reason="Standardized, the two rows are the same, so γ and β turn both into the row `one`.",
    wrong={
        20 * -3.8049 + 3: Belief.NOTHING_IS_LOST(
            "Then each row would get its own numbers back. But γ and β only hold the mean and "
            "deviation of `one`."
        ),
        -3.8049 + 3: Belief.NOTHING_IS_LOST(
            "Then the + 3 would come back. It was subtracted with the mean of `other`, and γ and β "
            "don't hold that mean."
        ),
        20 * -3.8049: Belief.NOTHING_IS_LOST(
            "Then the factor 20 would come back. It was divided away with the deviation of "
            "`other`, and γ and β don't hold that deviation."
        ),
        -1.3671: "That's the standardized number. γ and β still act on it.",
    },
    within=0.006,
    hints=[
        "Standardizing `other` takes away its mean and its standard deviation. How does the result "
        "differ from that of `one`?",
        "γ and β are the same for both rows. Is their input the same, too?",
    ],
)


way_back = CodeExercise(
    inputs={
        "the y of other points": (STEPS.y, WEIGHT, BIAS, STEPS.mean, 1 / STEPS.rstd),
        "the y of five points of two words with six features": (
            STEPS_OF_6.y,
            WEIGHT_OF_6,
            BIAS_OF_6,
            STEPS_OF_6.mean,
            1 / STEPS_OF_6.rstd,
        ),
    },
    norm=lambda way, y, weight, bias, mean, root: way.undo(y, weight, bias, mean, root),
    layout=WAY_BACK,
    within=WITHIN,
    hints=[
        "Write down the four operations from x to y in order. Undo the last one first.",
        "Forward, you subtract the mean, divide by the root, multiply by γ, and add β.",
    ],
)


@way_back.answer
def four_steps_backward(y, weight, bias, mean, root):
    x_hat = (y - bias) / weight
    return x_hat * root + mean


put_in_bank(TOPIC, vars(), further=("folded_bias", "way_back"))
