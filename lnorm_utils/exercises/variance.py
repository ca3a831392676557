"""Exercises of lesson 2, how spread out one point is."""

import torch

from lnorm_utils.beliefs import Belief
from lnorm_utils.examples import encoded_points, normal
from lnorm_utils.exercises.engine.code_exercise import CodeExercise
from lnorm_utils.exercises.engine.prediction import Prediction, Wrong

TOPIC = "variance"
D_MINUS_1 = Belief.VARIANCE_OVER_D_MINUS_1
X = encoded_points().double()
# At 2²⁸ the square has neighbors 16 apart in float64, so that one pass gives 0 in whatever order
# its sums are taken; the variances of these rows are about 0.5.
FAR = torch.arange(24).reshape(2, 3, 4).double() % 3 + 2.0**28 * torch.tensor([[1.0], [2], [4]])
# In the narrow row, whatever is added shows; in the others, which number divides.
UNEQUAL = normal(2, 3, 5, seed=22).double() * torch.tensor([[1e-4], [1], [3]])

by_hand = Prediction(
    TOPIC,
    "by_hand",
    answer=56 / 4,
    reason="The squares are 16, 4, 0 and 36: they add up to 56, and there are four.",
    wrong=[
        Wrong(56 / 3, "That's 56 / 3. The formula above divides by 4.", D_MINUS_1),
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


row_vars = CodeExercise(
    TOPIC,
    "row_vars",
    inputs={"the x of this lesson": (X,), "rows with a spread of 0.0001, 1 and 3": (UNEQUAL,)},
    norm=lambda norm, x: norm.variance(x),
    hints=[
        "Three steps, as by hand: center each row, square, and average over the features.",
        "Both means, that of the row and that of its squares, run over the last axis and keep it.",
    ],
)


@row_vars.answer
def mean_of_squared_distances(x):
    centered = x - x.mean(dim=-1, keepdim=True)
    return centered.square().mean(dim=-1, keepdim=True)


@row_vars.mistake()
def only_the_mean(norm, x):
    """These are the means of the rows. The variance is the mean of the squared distances."""
    return norm.mean(x)


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
        "Does layer norm estimate a population from a sample, or is the row all there is?",
        "Divide −3.4520 by the standard deviation, which is the root of that variance.",
    ],
)


divisor = Prediction(
    TOPIC,
    "divisor",
    answer=24 - 1,
    reason="It sees 24 numbers and divides by one less, so the result is a little more than 1.",
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
        "Without `dim`, `torch.std` knows nothing of rows: it sees one list of numbers.",
        "It has the same habit as `torch.var`, and nobody told it otherwise.",
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
        Wrong(8, "One pass can return 8, but another multiple of 8 is closer to a quarter."),
        Wrong(-8, "One pass can return −8, but another multiple of 8 is closer to a quarter."),
        Wrong(float("nan"), "NaN only comes from the root of a negative variance, not from this."),
    ],
    hints=[
        "The two numbers that one pass subtracts are multiples of 8. What about their difference?",
        "Among the multiples of 8, look for the one that lies nearest to a quarter.",
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
        "Center each row, average the squares of what is left, and take the root at the very end.",
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
