"""Exercises of lesson 2, how spread out one point is."""

import torch

from lnorm_utils.beliefs import Belief
from lnorm_utils.examples import encoded_points, normal
from lnorm_utils.exercises.engine.code_exercise import CodeExercise
from lnorm_utils.exercises.engine.prediction import Prediction, Wrong

TOPIC = "variance"
D_MINUS_1 = Belief.VARIANCE_OVER_D_MINUS_1
X = encoded_points().double()
# At 2²⁸ the square has neighbors 16 apart in float64, so E[x²] − E[x]² gives 0 whatever the order
# of its sums; the variances of these rows are about 0.5.
FAR = torch.arange(24).reshape(2, 3, 4).double() % 3 + 2.0**28 * torch.tensor([[1.0], [2], [4]])
# In the narrow row, anything that is added shows; in the others, the divisor does.
UNEQUAL = normal(2, 3, 5, seed=22).double() * torch.tensor([[1e-4], [1], [3]])

means_again = Prediction(
    TOPIC,
    "means_again",
    answer=8 * 5,
    reason="One for each of the eight points at each of the five positions.",
    wrong=[
        Wrong(
            8,
            "That's one mean for each point. Each of its five positions has its own.",
            Belief.ONE_MEAN_PER_SENTENCE,
        ),
        Wrong(
            5 * 16,
            "That's one mean for each position and feature, taken over the batch. Layer norm "
            "averages over the features.",
            Belief.OVER_THE_BATCH,
        ),
        Wrong(5, "That's one mean for each position. Each of the eight points has its own."),
        Wrong(8 * 16, "You averaged over the positions. Layer norm averages over the features."),
        Wrong(
            16,
            "Either you counted the numbers in each mean, or you took one mean for each feature. "
            "Layer norm averages over the features.",
        ),
        Wrong(8 * 5 * 16, "That's how many numbers there are. 16 of them share each mean."),
    ],
    hints=[
        "How many rows does the tensor have? A row is one point at one position.",
        "Only the last axis goes into the mean. Multiply the sizes of the other two.",
    ],
)


shape_again = Prediction(
    TOPIC,
    "shape_again",
    answer=(1, 5, 16),
    reason="The mean runs over axis 0, which stays with size 1. Layer norm doesn't do this.",
    wrong=[
        Wrong((5, 16), "That's the shape without `keepdim=True`, which drops axis 0."),
        Wrong((8, 5, 1), "That's the shape for `dim=-1`. Here the mean runs over axis 0."),
        Wrong((8, 1, 16), "That's the shape for `dim=1`. Axes are counted from 0."),
        Wrong((8, 5, 16), "That's the shape of `x`. The axis that you average over shrinks."),
    ],
    hints=[
        "Axes are counted from 0, and only the one that you average over changes its size.",
        "Which size does `keepdim=True` leave there?",
    ],
)


reshape_again = Prediction(
    TOPIC,
    "reshape_again",
    answer=(0, 1),
    reason="`reshape` reads 0 to 5 in order and fills rows of two.",
    wrong=[
        Wrong(
            (0, 3),
            "That's the first row after `transpose`, which swaps the axes. `reshape` reads the "
            "numbers in order.",
            Belief.RESHAPE_SWAPS_AXES,
        ),
        Wrong((0, 1, 2), "That's the first row before `reshape`. The new rows hold two numbers."),
        Wrong((0, 2), "`reshape` leaves out no number: it reads them in order."),
    ],
    hints=[
        "Write down the six numbers in the order in which you read them.",
        "Fill three rows of two with them, from the top left.",
    ],
)


by_hand = Prediction(
    TOPIC,
    "by_hand",
    answer=56 / 4,
    reason="The squares are 16, 4, 0 and 36. They add up to 56, and there are four of them.",
    wrong=[
        Wrong(
            56 / 3, "That's 56 / 3. The mean of four squares is their sum divided by 4.", D_MINUS_1
        ),
        Wrong(56, "56 is the sum of the squared distances. The variance is their mean."),
        Wrong(14**0.5, "That's the standard deviation, the root of the variance."),
        Wrong(200 / 4, "That's the mean of the squared numbers. Subtract 6 before you square."),
        Wrong(12 / 4, "That's the mean of the distances without their signs. Square them instead."),
        Wrong(0, "The distances themselves always add up to zero. Square them before you add."),
    ],
    hints=[
        "Write down how far each number is from 6, and square the four distances.",
        "The variance is the mean of these squares. How many squares are there?",
    ],
)


first = Prediction(
    TOPIC,
    "first",
    answer=-3.4520 / 6.3756**0.5,
    reason="The root of 6.3756 is 2.5250, and layer norm uses the variance that divides by D.",
    wrong=[
        Wrong(-3.4520 / 8.5008**0.5, "The variance 8.5008 divides by D − 1.", D_MINUS_1),
        Wrong(-3.4520 / 6.3756, "That's −3.4520 / 6.3756. Divide by the root of the variance."),
        Wrong(
            -3.4520 / 8.5008,
            "That's −3.4520 / 8.5008. Layer norm takes the variance that divides by D, and divides "
            "by its root.",
            D_MINUS_1,
        ),
        Wrong(-3.8049 / 6.3756**0.5, "This divides −3.8049. Subtract the mean first."),
        Wrong(-3.4520, "That's the centered number. Divide it by the standard deviation."),
        Wrong(3.4520 / 6.3756**0.5, "The size is right. But the first number is below the mean."),
    ],
    within=0.006,
    hints=[
        "Layer norm uses the first formula of this lesson. By which number does that divide?",
        "Divide −3.4520 by the standard deviation, which is the root of that variance.",
    ],
)


row_vars = CodeExercise(
    TOPIC,
    "row_vars",
    inputs={"the x of this lesson": (X,), "rows with a spread of 0.0001, 1 and 3": (UNEQUAL,)},
    norm=lambda norm, x: norm.variance(x),
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


divisor = Prediction(
    TOPIC,
    "divisor",
    answer=24 - 1,
    reason="It sees 24 numbers and divides by one less, so the result is a little above 1.",
    wrong=[
        Wrong(
            24,
            "That's how many numbers there are. Without `correction=0`, `torch.std` divides by "
            "one less.",
        ),
        Wrong(8 - 1, "That's one less than a row has. `torch.std` sees all 24 numbers at once."),
        Wrong(8, "That's the length of a row. `torch.std` sees all 24 numbers at once."),
        Wrong(24 - 3, "That's one less for each row. `torch.std` sees no rows, only 24 numbers."),
    ],
    hints=[
        "Without `dim`, `torch.std` doesn't know about rows. It sees one list of numbers.",
        "It does what `torch.var` does by default.",
    ],
)


at_best = Prediction(
    TOPIC,
    "at_best",
    answer=0,
    reason="The difference of two multiples of 8 is a multiple of 8, and 0 is the closest to 1/4.",
    wrong=[
        Wrong(
            0.25,
            "On paper that's the result. But in float32 both numbers are multiples of 8 by now, "
            "and so is their difference.",
            Belief.ONE_PASS_IS_AS_GOOD,
        ),
        Wrong(8, "It can return 8, but another multiple of 8 is closer to a quarter."),
        Wrong(-8, "It can return −8, but another multiple of 8 is closer to a quarter."),
        Wrong(float("nan"), "You get NaN from the root of a negative variance, not from this."),
    ],
    hints=[
        "The two numbers that are subtracted are multiples of 8. What about their difference?",
        "Among the multiples of 8, look for the one that is closest to a quarter.",
    ],
)


one_pass = Prediction(
    TOPIC,
    "one_pass",
    answer="below",
    reason="Welford's method reads each number once, and squares only distances from a running "
    "mean, which are small.",
    wrong=[
        Wrong(
            "above",
            "That's so for E[x²] − E[x]², but not because it takes one pass: it subtracts two "
            "large squares. Welford's method squares only distances.",
        ),
        Wrong(
            "between",
            "It does lose more digits than two passes. But it never squares a large number, so it "
            "loses few.",
        ),
    ],
    hints=[
        "Which numbers does Welford's method square? Are they large at this offset?",
        "Near 10,000, neighbors in float32 are 0.001 apart. How far off can the running mean be?",
    ],
)


far_std = CodeExercise(
    TOPIC,
    "far_std",
    inputs={
        "the x of this lesson": (X,),
        "rows with an offset of 2²⁸ and more": (FAR,),
        "rows with a spread of 0.0001, 1 and 3": (UNEQUAL,),
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
