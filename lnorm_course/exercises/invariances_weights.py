"""Exercises on what a network doesn't notice: changes of its weights."""

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.models import WEIGHT_NORM
from lnorm_utils.data import normal

TOPIC = "invariances"
POINTS = normal(8, 5, seed=1).double()
MATRIX = normal(6, 5, seed=2).double()
# As many outputs as inputs, so that a wrong axis fits as well, and is wrong.
SQUARE = normal(5, 5, seed=3).double() + 0.5
# Weights so small that an ε of 1e-5 shows.
SMALL = 0.001 * normal(7, 4, seed=6).double() + 0.0005

# About lessons 3, 1, and 6.
five_x = Prediction(
    answer=0.8,
    reason="The 5 cancels, because the standard deviation is five times as large too. The − 3 is "
    "subtracted with the mean.",
    wrong={
        4: "The standard deviation also becomes five times as large, so the 5 cancels.",
        1: "That's 5 · 0.8 − 3. Layer norm comes last, and takes both away.",
        -0.8: "A positive factor keeps the signs. Only a negative one turns them around.",
        0.8 - 3: "The − 3 is part of the mean, and the mean is subtracted.",
        0.16: "You divided by 5. The standard deviation does that, and the row had times 5.",
    },
    hints=[
        "What happens to a mean and to a standard deviation if you add a number to all features?",
        "What happens to both if you multiply all features by 5?",
    ],
)


aligned = Prediction(
    answer=5,
    reason="Six means of shape (6,) are lined up with the columns, so column 5 gets the mean of "
    "row 5. With `keepdim=True` each row gets its own.",
    wrong={
        2: "That's what was wanted. Six means of shape (6,) are lined up with the last axis.",
        0: "Row 0 has its mean subtracted from column 0, in each row.",
        6: "Rows are counted from 0, so the last of the six is row 5.",
    },
    hints=[
        "Which shape do the means have without `keepdim=True`?",
        "PyTorch lines up shapes at their last axis. Which of the six means meets the last column?",
    ],
)


len_64 = Prediction(
    answer=8,
    reason="The squares of a standardized row add up to D = 64, so its length is √64.",
    wrong={
        64: "That's what the squares add up to. The length is the root of it.",
        1: "That's the standard deviation. The length has 64 squares under the root.",
        0: "The features add up to 0. The length is the root of the sum of their squares.",
        62**0.5: "D − 2 is how many dimensions are left. The length is that of D features.",
        63**0.5: "You divided by D − 1 in the variance. Layer norm divides by D.",
    },
    hints=[
        "The variance is the mean of the squares, and it's 1. What is their sum?",
        "The length is the root of the sum of the squares.",
    ],
)


by_ten = Prediction(
    answer="no norm",
    reason="Each layer norm divides the 10 away again.",
    wrong={
        "both": "Each layer norm divides by the standard deviation of the row, which is ten times "
        "as large too.",
        "neither": "Something must divide the 10 away again. Look for it in both networks.",
        "layer norm": "You think that a norm makes a factor larger. It divides by the standard "
        "deviation of the row.",
    },
    hints=[
        "What does a layer norm make of a row, and of ten times that row?",
        "The ReLU of 10 · a is 10 times the ReLU of a. What do eight such layers do?",
    ],
)


unit_w = CodeExercise(
    inputs={
        "the points and weights of this lesson": (POINTS, MATRIX),
        "a layer from five features to five": (POINTS, SQUARE),
        "three points and a layer from four features to seven, with small weights": (
            normal(3, 4, seed=7).double(),
            SMALL,
        ),
    },
    norm=lambda norm, x, matrix: norm.layer(x, matrix),
    layout=WEIGHT_NORM,
    hints=[
        "The weight vector of one output is one row of the matrix. Along which axis do you sum?",
        "`matrix.norm(dim=…, keepdim=True)` is a length. With it you get a new matrix, and the "
        "rest is `x @ … .T`.",
    ],
)


@unit_w.answer
def each_vector_by_its_length(x, matrix):
    return x @ (matrix / matrix.norm(dim=1, keepdim=True)).T


@unit_w.mistake()
def not_transposed(norm, x, matrix):
    """You multiplied by W as it is. Each output is a weight vector times x, and with the points in
    front that's `x @ … .T`."""
    return norm.points(x) @ norm.standardize(matrix)


unseen = Prediction(
    answer=4,
    reason="It notices a change of one weight vector, and a shift of all points.",
    wrong={
        6: Belief.WEIGHTS_AND_DATA_ALIKE(
            "Layer norm notices some of them. Ask of each whether it does the same to all six "
            "outputs of a point."
        ),
        5: Belief.WEIGHTS_AND_DATA_ALIKE(
            "Some of the changes multiply or shift each output by another amount. Find all of "
            "those."
        ),
        3: "Look again at `W + c`, which adds the same number to all six outputs of a point, and "
        "at `one point × 3`, which multiplies all six.",
        2: "Either you counted those that it notices, or you missed some that do the same to all "
        "six outputs of a point.",
        1: "There are more: whatever adds or multiplies a whole row of outputs goes away.",
        0: "Ten times W went unnoticed above.",
    },
    hints=[
        "Ask each time: what happens to the six outputs of one point?",
        "If all six get the same factor, or the same number added, layer norm takes it away.",
    ],
)


put_in_bank(TOPIC, vars(), further=("unit_w",))
