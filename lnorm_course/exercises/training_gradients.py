"""Exercises on training: what gradient each block gets."""

import math

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.models import GRADIENT_NORM
from lnorm_utils.data import normal

TOPIC = "training"

guess_of_4 = Prediction(
    answer=math.log(4),
    reason="The network gives each class the probability 1/4, and −ln(1/4) = ln 4.",
    wrong={
        math.log(2): "That is the loss of guessing between two classes. Here there are four.",
        2: "That is the loss in bits. Cross entropy in PyTorch uses the natural logarithm.",
        0.25: "That is the probability of each class. The loss is minus its logarithm.",
        0.75: "That is how often a guess is wrong. The loss is −ln of the probability.",
        0: "A loss of 0 means that the right class always gets the probability 1.",
        4: "That is the number of classes. The loss is minus the logarithm of a probability.",
    },
    within=0.006,
    hints=[
        "Which probability does a network that guesses give to each of four classes?",
        "The loss is minus the natural logarithm of the right class's probability.",
    ],
)


after_8 = Prediction(
    answer=1 + 8 * 0.5,
    reason="1 at the start, and a half from each block. In pre-LN the stream isn't normalized.",
    wrong={
        1: Belief.PRE_NORM_IS_POST_NORM(
            "That is post-LN, which normalizes the stream after each addition."
        ),
        8 * 0.5: "That is what the blocks add. The stream started with a variance of 1.",
        1.5**8: "You multiplied by 1.5 in each block. What f adds doesn't grow, because f gets a "
        "normalized row.",
        1 + 8: "Each block adds a variance of 1/2, not of 1.",
        5**0.5: "That is the standard deviation, the root of the variance.",
        1.5: "That is the variance after one block.",
    },
    within=0.006,
    hints=["Each block adds a variance of 1/2.", "Don't forget the variance at the start."],
)


ten_times = Prediction(
    answer=0.5,
    reason="Mean and standard deviation become ten times as large too, so LN(10 r) = LN(r).",
    wrong={
        5: "The row is ten times as large, but so is the standard deviation it's divided by.",
        0.05: "The row is ten times as large, too, not only what it's divided by.",
        -0.5: "A positive factor doesn't change the sign.",
        0: "The row isn't constant, so its layer norm isn't 0.",
    },
    within=0.006,
    hints=[
        "What happens to the mean and the standard deviation of the row?",
        "Subtract, then divide: which factor is left?",
    ],
)


slope = Prediction(
    answer=0.1,
    reason="All numbers are ten times as far apart, so the same small step moves the output a "
    "tenth as much. Layer norm divides the gradient by the standard deviation of the row.",
    wrong={
        1: "The output is the same at both rows. But a small step changes it less where all "
        "numbers are ten times as far apart.",
        10: "You multiplied by 10. Layer norm divides by the standard deviation, and that is ten "
        "times as large.",
        0: "Multiplying all numbers leaves the output as it is. But here one number moves by "
        "itself, and that changes the output, only less than before.",
        0.01: "You divided by the variance, which is 100 times as large. Layer norm divides by its "
        "root.",
        0.1**0.5: "You took the root of 10. The standard deviation is the root already, and it is "
        "ten times as large.",
    },
    within=0.006,
    hints=[
        "Layer norm of 10x is layer norm of x (lesson 3). How far must you move a number of 10x "
        "for the output to move as much as before?",
        "Layer norm divides by the standard deviation, and so does its slope. Which standard "
        "deviation does 10x have?",
    ],
)


gets_more = Prediction(
    answer="same",
    reason="The medians over 20 seeds are 7.0 and 6.9. That post-LN's last blocks get the most was "
    "true for a loss that pulls all rows in one direction.",
    wrong={
        "last": "That was so when one direction pulled all rows. With a direction of its own for "
        "each row it isn't.",
        "first": "It does with some seeds, and with others the last does. Look at the medians.",
    },
    hints=[
        "With one direction for all rows, the gradients of similar rows add up. Do they now?",
        "If the rows pull in random directions, how much is left of what added up before?",
    ],
)


# Gradients of three blocks: (blocks, D, D) and (blocks, D). Small ones show a forgotten root.
WEIGHT_GRADIENTS = normal(3, 4, 4, seed=110).double() + 0.5
BIAS_GRADIENTS = normal(3, 4, seed=111).double() - 0.5

block_norms = CodeExercise(
    inputs={
        "gradients of three blocks": (WEIGHT_GRADIENTS, BIAS_GRADIENTS),
        "smaller gradients": (0.01 * WEIGHT_GRADIENTS, 0.02 * BIAS_GRADIENTS),
        "five blocks of six features": (
            normal(5, 6, 6, seed=112).double(),
            normal(5, 6, seed=113).double(),
        ),
    },
    norm=lambda norm, weights, biases: norm.norms(weights, biases),
    layout=GRADIENT_NORM,
    hints=[
        "Square all gradients of a block, add them up, and take the root of the sum.",
        "`weights.square().sum((1, 2))` has one number for each block. The biases come on top.",
    ],
)


@block_norms.answer
def root_of_the_summed_squares(weights, biases):
    squares = weights.square().sum((1, 2)) + biases.square().sum(1)
    return squares.sqrt()


put_in_bank(TOPIC, vars(), further=("block_norms",))
