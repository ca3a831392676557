"""Exercises of lesson 2, how spread out one point is."""

import torch

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.slips.beliefs import Belief
from lnorm_utils.data import encoded_points, normal

TOPIC = "variance"
D_MINUS_1 = Belief.VARIANCE_OVER_D_MINUS_1
X = encoded_points().double()
# At 2²⁸ the square has neighbors 16 apart in float64, so E[x²] − E[x]² gives 0 whatever the order
# of its sums; the variances of these rows are about 1. They are also far from each other, so that
# no single number can be subtracted from all of them first.
ROW = torch.arange(6).reshape(2, 3, 1)
FAR = 1.5 * (torch.arange(24).reshape(2, 3, 4).double() % 3) + 2.0**28 + 2.0**25 * ROW
# In the narrow row, anything that is added shows; in the others, the divisor does.
UNEQUAL = normal(5, 3, 6, seed=22).double() * torch.tensor([[1e-4], [1], [3]])

touched = Prediction(
    answer=16,
    reason="The number takes part in the mean and the variance of its own row, and of no other.",
    wrong={
        1: "The number also changes the mean of its row, which is subtracted from 15 others.",
        5 * 16: Belief.ONE_MEAN_PER_SENTENCE(
            "These are all words of that sentence. Each word has a mean of its own."
        ),
        8: Belief.OVER_THE_BATCH(
            "These are the numbers at the same position and feature in all points. Layer norm "
            "averages over the features."
        ),
        8 * 16: Belief.OVER_THE_BATCH(
            "That's one word in all points. Layer norm never averages over the batch."
        ),
        640: "That would need one mean of all numbers. Each row has its own.",
    },
    hints=[
        "Which other numbers share their mean with the one that changes?",
        "The last axis goes into the mean. How many numbers does a row have?",
    ],
)


shape_again = Prediction(
    answer=(1, 5, 16),
    reason="The mean runs over axis 0, which stays with size 1. Layer norm doesn't do this.",
    wrong={
        (5, 16): "That's the shape without `keepdim=True`, which drops axis 0.",
        (8, 5, 1): "That's the shape for `dim=-1`. Here the mean runs over axis 0.",
        (8, 1, 16): "That's the shape for `dim=1`. Axes are counted from 0.",
        (8, 5, 16): "That's the shape of `x`. The axis that you average over shrinks.",
    },
    hints=[
        "Axes are counted from 0, and only the one that you average over changes its size.",
        "Which size does `keepdim=True` leave there?",
    ],
)


unsure = Prediction(
    answer=0.5,
    reason="It gives both rings one half, and the loss of that is −ln(1/2) = ln 2 for every point.",
    wrong={
        0.69: "That's the loss. The loss is minus the logarithm of a probability.",
        0.31: "That's 1 − 0.69. The loss is minus the logarithm of a probability.",
        0: "Then the loss would be infinite for the points of the inner ring.",
        1: "Then the loss would be infinite for the points of the outer ring.",
    },
    hints=[
        "The loss of a point is minus the logarithm of the probability of its own ring.",
        "Which probability p has −ln p = ln 2? And the other ring gets the rest.",
    ],
)


which_stops = Prediction(
    answer="learns",
    reason="Points that are alike can be told apart, if the numbers are large enough.",
    wrong={
        "guesses": "A factor does leave the points alike. But it makes everything behind it "
        "larger, and the gradients that come back.",
        "NaN": "NaN comes from numbers that grow without a bound. With the factor, the rows are as "
        "large as those of the networks that learn.",
    },
    hints=[
        "A step on a weight is as large as its gradient, which is a product with the number that "
        "the weight is multiplied by. What does the factor do to that?",
        "Points that differ by 0.007 of their size still differ. Do the weights move far enough to "
        "make use of it?",
    ],
)


by_hand = Prediction(
    answer=56 / 4,
    reason="The squares are 16, 4, 0 and 36. They add up to 56, and there are four of them.",
    wrong={
        56 / 3: D_MINUS_1(
            "You divided the sum of the squares by D − 1. By the heading above, the variance is "
            "their mean."
        ),
        56: "56 is the sum of the squared distances. The variance is their mean.",
        14**0.5: "That's the standard deviation, the root of the variance.",
        200 / 4: "That's the mean of the squared numbers. Subtract 6 before you square.",
        12 / 4: "That's the mean of the distances without their signs. Square them instead.",
        0: "The distances themselves always add up to zero. Square them before you add.",
    },
    hints=[
        "Write down how far each number is from 6, and square the four distances.",
        "The variance is the mean of these squares. How many squares are there?",
    ],
)


first = Prediction(
    answer=-3.4520 / 6.3756**0.5,
    reason="The root of 6.3756 is 2.5250, and layer norm uses the variance that divides by D.",
    wrong={
        -3.4520 / 8.5008**0.5: D_MINUS_1("The variance 8.5008 divides by D − 1."),
        -3.4520 / 6.3756: "That's −3.4520 / 6.3756. Divide by the root of the variance.",
        -3.4520 / 8.5008: D_MINUS_1(
            "That's −3.4520 / 8.5008. Layer norm takes the variance that divides by D, and divides "
            "by its root."
        ),
        -3.8049 / 6.3756**0.5: "This divides −3.8049. Subtract the mean first.",
        -3.4520: "That's the centered number. Divide it by the standard deviation.",
        3.4520 / 6.3756**0.5: "The size is right. But the first number is below the mean.",
    },
    within=0.006,
    hints=[
        "Layer norm uses the first formula of this lesson. By which number does that divide?",
        "Divide −3.4520 by the standard deviation, which is the root of that variance.",
    ],
)


row_vars = CodeExercise(
    inputs={
        "the x of this lesson": (X,),
        "five points of three words with six features": (UNEQUAL,),
    },
    norm=lambda norm, x: norm.variance(x),
    without=["lnorm_utils.variance"],
    hints=[
        "Three steps, as by hand: center each row, square, and average over the features.",
        "You need the mean of the row and that of the squares. Both keep the last axis.",
    ],
)


@row_vars.answer
def mean_of_squared_distances(x):
    centered = x - x.mean(dim=-1, keepdim=True)
    return centered.square().mean(dim=-1, keepdim=True)


@row_vars.mistake()
def only_the_mean(norm, x):
    """You returned the means of the rows. The variance is the mean of the squared distances."""
    return norm.mean(x)


at_best = Prediction(
    answer=0,
    reason="The difference of two multiples of 8 is a multiple of 8, and 0 is the closest to 1/4.",
    wrong={
        0.25: Belief.ONE_PASS_IS_AS_GOOD(
            "On paper that's the result. But in float32 both numbers are multiples of 8 by now, "
            "and so is their difference."
        ),
        8: "It can return 8, but another multiple of 8 is closer to a quarter.",
        -8: "It can return −8, but another multiple of 8 is closer to a quarter.",
        float("nan"): "You get NaN from the root of a negative variance, not from this.",
    },
    hints=[
        "The two numbers that are subtracted are multiples of 8. What about their difference?",
        "Among the multiples of 8, look for the one that is closest to a quarter.",
    ],
)


one_pass = Prediction(
    answer="below",
    reason="Welford's method reads each number once, and squares only distances from a running "
    "mean, which are small.",
    wrong={
        "above": "That's so for E[x²] − E[x]², but not because it takes one pass: it subtracts two "
        "large squares. Welford's method squares only distances.",
        "between": "It does lose more digits than two passes. But it never squares a large number, "
        "so it loses few.",
    },
    hints=[
        "Which numbers does Welford's method square? Are they large at this offset?",
        "Near 10,000, neighbors in float32 are 0.001 apart. How far off can the running mean be?",
    ],
)


far_std = CodeExercise(
    inputs={
        "the x of this lesson": (X,),
        "rows with an offset of 2²⁸ and more": (FAR,),
        "five points of three words with six features": (UNEQUAL,),
    },
    norm=lambda norm, x: norm.root(norm.variance(x)),
    hints=[
        "Which comes first: squaring the large numbers, or making them small?",
        "Center each row, average the squares of what's left, and take the root at the very end.",
    ],
)


@far_std.answer
def root_after_two_passes(x):
    centered = x - x.mean(dim=-1, keepdim=True)
    return centered.square().mean(dim=-1, keepdim=True).sqrt()


@far_std.mistake()
def adds_eps(norm, x):
    """You added ε = 1e-5 to the variance. Here you compute the standard deviation without ε."""
    return norm.root(norm.variance(x) + 1e-5)


put_in_bank(TOPIC, vars(), further=("one_pass", "far_std"))
