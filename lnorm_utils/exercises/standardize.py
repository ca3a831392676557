"""Exercises of lesson 3, what a layer-normed point looks like."""

from lnorm_utils.examples import normal
from lnorm_utils.exercises.beliefs import Belief
from lnorm_utils.exercises.engine.exercise import Exercise
from lnorm_utils.functional import mean, standardize, variance

TOPIC = "standardize"
POINTS = 2 * normal(2, 3, 4, seed=31).double() + 3
# Variances of about 1e-5, so that no ε, the default ε and the given one are far apart.
NARROW = 0.003 * normal(3, 5, seed=32).double() + 2
# In each row of the sum, the variance is above 4: there ε = 1e-5 does not show.
LEFT, RIGHT = 2 * normal(2, 3, 4, seed=86).double() + 1, 2 * normal(2, 3, 4, seed=126).double() - 2

formula = Exercise(
    TOPIC,
    "formula",
    inputs=[(POINTS, 0.1), (NARROW, 0.1)],
    hints=[
        "Read the formula from the inside: the mean, the variance, then the sum under the root.",
        "Where does the root sign begin, and where does it end? What stands under it?",
    ],
)


@formula.answer
def eps_inside_the_root(x, eps):
    centered = x - x.mean(dim=-1, keepdim=True)
    var = centered.square().mean(dim=-1, keepdim=True)
    return centered / (var + eps).sqrt()


@formula.mistake(Belief.EPS_OUTSIDE_THE_ROOT)
def eps_outside_the_root(x, eps):
    """You added ε to the standard deviation, after the root. In the formula it is added to the
    variance, before the root is taken."""
    return (x - mean(x)) / (variance(x).sqrt() + eps)


@formula.mistake(Belief.EPS_OUTSIDE_THE_ROOT)
def eps_left_out(x, eps):
    """You divided by the plain standard deviation. The argument `eps` belongs under the root as
    well."""
    return (x - mean(x)) / variance(x).sqrt()


@formula.mistake()
def eps_of_its_own(x, eps):
    """Your ε is always 1e-5. Use the one that is passed in as `eps`."""
    return standardize(x)


@formula.mistake(Belief.VARIANCE_OVER_D_MINUS_1)
def divides_by_d_minus_1(x, eps):
    """Your ε is in the right place. But your variance divides by D - 1, and layer norm divides by
    D."""
    return (x - mean(x)) / (x.var(dim=-1, keepdim=True) + eps).sqrt()


@formula.mistake(Belief.EPS_OUTSIDE_THE_ROOT)
def std_plus_eps(x, eps):
    """Two things: `std` divides by D - 1, and layer norm by D. And ε joins the variance, before the
    root is taken."""
    return (x - mean(x)) / (x.std(dim=-1, keepdim=True) + eps)


@formula.mistake(Belief.VARIANCE_OVER_D_MINUS_1)
def std_alone(x, eps):
    """Your `std` divides by D - 1, and `eps` is not used. Start from the variance that divides by
    D."""
    return (x - mean(x)) / x.std(dim=-1, keepdim=True)


@formula.mistake(Belief.EPS_OUTSIDE_THE_ROOT)
def eps_added_to_the_result(x, eps):
    """You added ε at the very end, to the result. It belongs to the variance, under the root."""
    return (x - mean(x)) / variance(x).sqrt() + eps


@formula.mistake()
def only_the_mean_is_divided(x, eps):
    """Only the mean is divided by the root here. Put brackets around `x` minus the mean."""
    return x - mean(x) / (variance(x) + eps).sqrt()


@formula.mistake()
def one_mean_for_the_whole_tensor(x, eps):
    """You took one mean and one variance of the whole tensor. Each row has its own."""
    return (x - x.mean()) / (x.var(correction=0) + eps).sqrt()


@formula.mistake()
def no_root(x, eps):
    """You divided by the variance plus ε. Take the root of that sum first."""
    return (x - mean(x)) / (variance(x) + eps)


@formula.mistake(Belief.OVER_THE_BATCH)
def over_the_batch(x, eps):
    """Your means and variances run over the first axis, the batch. Each row is standardized on its
    own, over the last axis."""
    return standardize(x, dim=0, eps=eps)


sum_var = Exercise(
    TOPIC,
    "sum_var",
    hints=[
        "Adding takes place number by number. How far from the mean is a number afterwards?",
        "Both parts point the same way, so their standard deviations add up. Then square.",
    ],
)


@sum_var.answer
def squared_sum_of_standard_deviations():
    """The standard deviations 2 and 1 add up to 3, and the variance is its square."""
    return (2 + 1) ** 2


@sum_var.mistake(Belief.PRE_NORM_IS_POST_NORM)
def still_normalized():
    """That is the variance of `standardize(x)` before it is added. The sum is not normalized again:
    it also has the spread of x."""
    return 1


@sum_var.mistake()
def adds_the_variances():
    """You added the variances, 4 and 1. That holds for numbers that have nothing to do with each
    other, but here both parts rise and fall together."""
    return 4 + 1


@sum_var.mistake()
def as_before():
    """That is the variance of x alone. What is added has a spread as well, and in the same
    direction."""
    return 4


@sum_var.mistake()
def stops_at_the_standard_deviation():
    """That is the standard deviation of the sum. The variance is its square."""
    return 3


add_norm = Exercise(
    TOPIC,
    "add_norm",
    inputs=[(LEFT, RIGHT)],
    within=1e-5,
    hints=[
        "Whatever is done last decides what the rows look like.",
        "There are two steps, and only one of the two orders leaves the rows with variance 1.",
    ],
)


@add_norm.answer
def the_sum_is_normalized(x, f):
    total = x + f
    centered = total - total.mean(dim=-1, keepdim=True)
    var = centered.square().mean(dim=-1, keepdim=True)
    return centered / (var + 1e-5).sqrt()


@add_norm.mistake(Belief.PRE_NORM_IS_POST_NORM)
def normalizes_f_before_adding(x, f):
    """You normalized `f` and then added `x`, which brings its own mean and variance back in. What
    is done last decides."""
    return x + standardize(f)


@add_norm.mistake(Belief.PRE_NORM_IS_POST_NORM)
def normalizes_x_before_adding(x, f):
    """You normalized `x` and then added `f`, so the mean and spread of `f` are still in the rows.
    What is done last decides."""
    return standardize(x) + f


@add_norm.mistake(Belief.PRE_NORM_IS_POST_NORM)
def normalizes_both_before_adding(x, f):
    """You normalized both parts, each on its own. Their sum has mean 0, but its variance can be
    anything from 0 to 4."""
    return standardize(x) + standardize(f)


@add_norm.mistake()
def only_adds(x, f):
    """You have the sum. Its rows still have a mean and a variance of their own."""
    return x + f


@add_norm.mistake(Belief.VARIANCE_OVER_D_MINUS_1)
def variance_of_the_sum_divides_by_d_minus_1(x, f):
    """The order is right, but your variance divides by D - 1. Layer norm divides by D."""
    total = x + f
    return (total - mean(total)) / (total.var(dim=-1, keepdim=True) + 1e-5).sqrt()


@add_norm.mistake(Belief.OVER_THE_BATCH)
def normalizes_the_sum_over_the_batch(x, f):
    """The order is right, but your means and variances run over the first axis, the batch. Each row
    has its own."""
    return standardize(x + f, dim=0)


narrow = Exercise(
    TOPIC,
    "narrow",
    within=6e-3,
    hints=[
        "What is the variance of the row? Compare it with ε.",
        "The rule var / (var + ε) gives a variance. A standard deviation is asked for.",
    ],
)


@narrow.answer
def root_of_one_half():
    """The variance, 0.01, is as large as ε, so half of it is left afterwards, and the root of 1/2
    is 0.71."""
    return 0.5**0.5


@narrow.mistake(Belief.EPS_OUTSIDE_THE_ROOT)
def leaves_eps_out_of_the_root():
    """That is right without ε. Here ε is as large as the variance, and the row is divided by more
    than its standard deviation."""
    return 1


@narrow.mistake(Belief.EPS_OUTSIDE_THE_ROOT)
def adds_eps_to_the_standard_deviation():
    """You divided 0.1 by 0.1 + 0.01. ε is added to the variance, before the root is taken."""
    return 0.1 / (0.1 + 0.01)


@narrow.mistake()
def stops_at_the_variance():
    """That is the variance afterwards. The standard deviation is its root."""
    return 0.5


@narrow.mistake()
def takes_the_standard_deviation_for_the_variance():
    """You put 0.1 under the root, but 0.1 is the standard deviation. The variance is its square."""
    return (0.1 / (0.1 + 0.01)) ** 0.5


minus_3 = Exercise(
    TOPIC,
    "minus_3",
    within=6e-3,
    hints=[
        "The first number lies below the mean of its row. Where does it lie after the factor?",
        "A standard deviation is never negative. So which part of the factor can cancel?",
    ],
)


@minus_3.answer
def the_sign_flips():
    """The 3 cancels, the minus does not: a standard deviation has no sign."""
    return 1.3671


@minus_3.mistake(Belief.SCALING_CHANGES_NOTHING)
def nothing_changes():
    """That holds for a factor of 3. The distances from the mean change their signs here, and the
    standard deviation does not."""
    return -1.3671


@minus_3.mistake()
def scales_along():
    """You multiplied by −3. The standard deviation grows by 3 as well, so the 3 cancels."""
    return 3 * 1.3671


@minus_3.mistake()
def shrinks():
    """You divided by 3 because of the larger standard deviation. The distances from the mean are
    larger by 3 as well."""
    return 1.3671 / 3


shrunk = Exercise(
    TOPIC,
    "shrunk",
    within=6e-3,
    hints=[
        "What is the variance after the factor? It is squared there. Compare it with ε.",
        "Divide the new distance, −0.0034520, by the root of the new variance plus ε.",
    ],
)


@shrunk.answer
def held_back_by_eps():
    """The variance is now 6.4e-6, and ε, at 1e-5, is larger: it makes most of what stands under the
    root."""
    return -3.4520e-3 / (6.3756e-6 + 1e-5) ** 0.5


@shrunk.mistake(Belief.EPS_OUTSIDE_THE_ROOT)
def as_if_without_eps():
    """That is the number without ε, or with ε after the root, where it is too small to matter.
    Added to the variance, which is only 6.4e-6 here, ε matters a lot."""
    return -1.3671


@shrunk.mistake()
def scales_along_with_the_factor():
    """You multiplied the result by 0.001. The row is divided by a smaller number as well, so most
    of the factor cancels."""
    return -1.3671e-3


@shrunk.mistake()
def does_not_square_the_factor():
    """You multiplied the variance by 0.001. It is a mean of squares, so the factor enters it
    twice."""
    return -3.4520e-3 / (6.3756e-3 + 1e-5) ** 0.5


@shrunk.mistake()
def takes_eps_alone():
    """You divided by the root of ε alone. The variance is small, but it is more than half of ε and
    counts."""
    return -3.4520e-3 / 1e-5**0.5
