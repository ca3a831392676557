"""Exercises of lesson 2, how spread out one point is."""

import torch

from lnorm_utils.examples import normal
from lnorm_utils.exercises.beliefs import Belief
from lnorm_utils.exercises.engine.exercise import Exercise

TOPIC = "variance"
POINTS = 2 * normal(2, 3, 4, seed=21).double() + 3
# At 2²⁸ the square has neighbors 16 apart in float64, so that one pass gives 0 in whatever order
# its sums are taken; the variances of these rows are about 0.5.
FAR = torch.arange(24).reshape(2, 3, 4).double() % 3 + 2.0**28 * torch.tensor([[1.0], [2], [4]])
TABLE = normal(3, 5, seed=23).double() - 1
# So narrow that whatever is added to a variance shows.
NARROW = 1e-4 * normal(3, 5, seed=22).double()

by_hand = Exercise(
    TOPIC,
    "by_hand",
    hints=[
        "Write down how far each number is from 6, and square the four distances.",
        "The variance is the mean of these squares. How many squares are there?",
    ],
)


@by_hand.answer
def mean_squared_distance():
    """The squares are 16, 4, 0 and 36: they add up to 56, and there are four."""
    return 56 / 4


@by_hand.mistake(Belief.VARIANCE_OVER_D_MINUS_1)
def divides_by_d_minus_1():
    """You divided 56 by 3. The formula above divides by 4, the number of features."""
    return 56 / 3


@by_hand.mistake()
def forgets_to_divide():
    """56 is the sum of the squared distances. Their mean is asked for."""
    return 56


@by_hand.mistake()
def takes_the_root():
    """That is the standard deviation, the root of the variance. Leave the root out."""
    return 14**0.5


@by_hand.mistake()
def does_not_subtract_the_mean():
    """You averaged the squares of the numbers themselves. Subtract the mean first, then square."""
    return (4 + 16 + 36 + 144) / 4


@by_hand.mistake()
def does_not_square():
    """That is the mean of the distances without their signs. The variance squares each of them."""
    return (4 + 2 + 0 + 6) / 4


@by_hand.mistake()
def lets_the_distances_cancel():
    """The distances themselves always add up to zero. Square them before you add."""
    return 0


row_vars = Exercise(
    TOPIC,
    "row_vars",
    inputs=[(POINTS,), (TABLE,), (NARROW,)],
    hints=[
        "Three steps, as by hand: center each row, square, and average over the features.",
        "Both means, that of the row and that of its squares, run over the last axis and keep it.",
    ],
)


@row_vars.answer
def mean_of_squared_distances(x):
    centered = x - x.mean(dim=-1, keepdim=True)
    return centered.square().mean(dim=-1, keepdim=True)


@row_vars.mistake(Belief.VARIANCE_OVER_D_MINUS_1)
def divides_as_torch_var_does(x):
    """Your variance divides by D - 1, which is also what `var` does unless it is told otherwise.
    Layer norm divides by D."""
    return x.var(dim=-1, keepdim=True)


@row_vars.mistake(Belief.VARIANCE_OVER_D_MINUS_1)
def std_that_divides_by_d_minus_1(x):
    """Two things: `std` takes the root, and it divides by D - 1. The variance has no root, and it
    divides by D."""
    return x.std(dim=-1, keepdim=True)


@row_vars.mistake()
def without_keepdim(x):
    """The numbers are right, but the last axis is gone, so they do not line up with their rows:
    keep it with size 1."""
    return x.var(dim=-1, correction=0)


@row_vars.mistake()
def standard_deviation(x):
    """You took the root, which gives the standard deviation. The variance comes before the root."""
    return x.std(dim=-1, correction=0, keepdim=True)


@row_vars.mistake()
def sum_of_squared_distances(x):
    """You added the squared distances up and did not divide by how many there are."""
    return (x - x.mean(dim=-1, keepdim=True)).square().sum(dim=-1, keepdim=True)


@row_vars.mistake()
def mean_of_squares(x):
    """You squared the numbers themselves. Subtract the mean of the row first."""
    return x.square().mean(dim=-1, keepdim=True)


@row_vars.mistake(Belief.OVER_THE_BATCH)
def variance_over_the_first_axis(x):
    """You went over the first axis, so each feature got a variance. Layer norm goes over the last
    axis, and each row gets one."""
    return x.var(dim=0, correction=0, keepdim=True)


first = Exercise(
    TOPIC,
    "first",
    within=6e-3,
    hints=[
        "Does layer norm estimate a population from a sample, or is the row all there is?",
        "Divide −3.4520 by the standard deviation, which is the root of that variance.",
    ],
)


@first.answer
def divided_by_the_root_of_the_biased_variance():
    """The root of 6.3756 is 2.5250, and layer norm uses the variance that divides by D."""
    return -3.4520 / 6.3756**0.5


@first.mistake(Belief.VARIANCE_OVER_D_MINUS_1)
def takes_the_unbiased_variance():
    """You took 8.5008, the variance that divides by D - 1. In layer norm the row is all there is,
    and it divides by D."""
    return -3.4520 / 8.5008**0.5


@first.mistake()
def divides_by_the_variance():
    """You divided by the variance itself. It is in squared units: take its root first."""
    return -3.4520 / 6.3756


@first.mistake(Belief.VARIANCE_OVER_D_MINUS_1)
def divides_by_the_unbiased_variance():
    """You divided by 8.5008, and two things are to change: layer norm takes the variance that
    divides by D, and it divides by the root."""
    return -3.4520 / 8.5008


@first.mistake()
def forgets_to_center():
    """You divided −3.8049, the number before centering. The mean is subtracted first."""
    return -3.8049 / 6.3756**0.5


@first.mistake()
def loses_the_sign():
    """The size is right. The first number lies below the mean of its row, and stays below."""
    return 3.4520 / 6.3756**0.5


divisor = Exercise(
    TOPIC,
    "divisor",
    hints=[
        "Without `dim`, `torch.std` knows nothing of rows: it sees one list of numbers.",
        "It has the same habit as `torch.var`, and nobody told it otherwise.",
    ],
)


@divisor.answer
def one_less_than_all():
    """It sees 24 numbers and divides by one less, so the result is a little more than 1."""
    return 24 - 1


@divisor.mistake()
def as_many_as_there_are():
    """Then the result would be 1 exactly. Without `correction=0`, `torch.std` divides by one
    less."""
    return 24


@divisor.mistake()
def one_less_than_a_row():
    """That would be the divisor for one row of eight. Without `dim`, all numbers are taken
    together."""
    return 8 - 1


@divisor.mistake()
def the_length_of_a_row():
    """Layer norm divides by eight here, row by row. `torch.std` was called on all numbers at
    once."""
    return 8


@divisor.mistake()
def one_less_for_each_row():
    """You took one off for each of the three rows. `torch.std` sees no rows, so it takes one off
    in all."""
    return 24 - 3


at_best = Exercise(
    TOPIC,
    "at_best",
    hints=[
        "The two numbers that one pass subtracts are multiples of 8. What about their difference?",
        "Among the multiples of 8, look for the one that lies nearest to a quarter.",
    ],
)


@at_best.answer
def nearest_multiple_of_eight():
    """A difference of two multiples of 8 is a multiple of 8. Even with luck, nothing is left of the
    quarter."""
    return 0


@at_best.mistake(Belief.ONE_PASS_IS_AS_GOOD)
def trusts_the_paper():
    """On paper that is what comes out. In float32 both numbers are multiples of 8 by now, and a
    quarter is no difference of two such numbers."""
    return 0.25


@at_best.mistake()
def takes_one_step_up():
    """8 is one step above the closest. Another multiple of 8 is nearer to a quarter."""
    return 8


@at_best.mistake()
def takes_one_step_down():
    """One pass can return a negative number, and you will see it do so. Another multiple of 8 is
    closer to a quarter."""
    return -8


@at_best.mistake()
def expects_nan():
    """NaN comes later, when somebody takes the root of a negative variance. The subtraction itself
    gives a number."""
    return float("nan")


far_std = Exercise(
    TOPIC,
    "far_std",
    inputs=[(POINTS + 3000,), (FAR,), (NARROW,)],
    hints=[
        "Which comes first: squaring the large numbers, or making them small?",
        "Center each row, average the squares of what is left, and take the root at the very end.",
    ],
)


@far_std.answer
def root_after_two_passes(x):
    centered = x - x.mean(dim=-1, keepdim=True)
    return centered.square().mean(dim=-1, keepdim=True).sqrt()


@far_std.mistake(Belief.ONE_PASS_IS_AS_GOOD)
def one_pass_over_the_data(x):
    """You subtract two huge squares, and their digits run out: in float32 at an offset of 10,000,
    and in float64, which is tested here, at 10⁹. Subtract the mean before you square."""
    var = x.square().mean(dim=-1, keepdim=True) - x.mean(dim=-1, keepdim=True).square()
    return var.clamp(min=0).sqrt()


@far_std.mistake(Belief.VARIANCE_OVER_D_MINUS_1)
def survives_and_divides_by_d_minus_1(x):
    """It survives the offset, but it divides by D - 1, as `std` does unless it is told otherwise.
    Here we divide by D."""
    return x.std(dim=-1, keepdim=True)


@far_std.mistake(Belief.VARIANCE_OVER_D_MINUS_1)
def variance_that_divides_by_d_minus_1(x):
    """Two things: the root is missing, and `var` divides by D - 1 unless it is told otherwise."""
    return x.var(dim=-1, keepdim=True)


@far_std.mistake()
def forgets_the_root(x):
    """That is the variance, and it survives the offset. The standard deviation is its root."""
    return x.var(dim=-1, correction=0, keepdim=True)


@far_std.mistake()
def drops_the_axis(x):
    """The numbers are right, but the last axis is gone. Keep it with size 1."""
    return x.std(dim=-1, correction=0)


@far_std.mistake()
def distance_from_the_mean_of_everything(x):
    """You subtracted one mean from all rows. Each row has its own, so say over which axis."""
    return (x - x.mean()).square().mean(dim=-1, keepdim=True).sqrt()
