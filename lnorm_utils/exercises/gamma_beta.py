"""Exercises of lesson 4, the learned scale and shift."""

import torch

from lnorm_utils.examples import normal
from lnorm_utils.exercises.beliefs import Belief
from lnorm_utils.exercises.engine.exercise import Exercise
from lnorm_utils.functional import layer_norm_steps

TOPIC = "gamma_beta"
# As many positions as features, so that numbers for each position fit as well, and are wrong.
X_HAT = normal(3, 4, 4, seed=41).double()
WEIGHT = torch.tensor([1.5, -0.5, 0.25, 3.0], dtype=torch.float64)
BIAS = torch.tensor([0.5, -1.0, 2.0, 0.75], dtype=torch.float64)
# The way back: unequal axes, a mean that is not zero, and rows of very different size.
ROWS = normal(2, 3, 4, seed=42).double() * torch.tensor([[1.0], [20.0], [0.1]]) + 2
STEPS = layer_norm_steps(ROWS, 4, WEIGHT, BIAS, eps=0.1)

gammas = Exercise(
    TOPIC,
    "gammas",
    hints=[
        "What was removed belonged to a row. What is learned belongs to something that all rows "
        "have in common.",
        "It has the shape of the axes that layer norm averages over.",
    ],
)


@gammas.answer
def one_for_each_feature():
    """Each feature has its own γ, and all points and positions share it."""
    return (4,)


@gammas.answer
def one_for_each_feature_without_the_comma():
    """Four it is. As a tuple, a shape with one axis is written with a comma: (4,)."""
    return 4


@gammas.mistake(Belief.SINGLE_GAMMA_AND_BETA)
def a_single_number():
    """One number would scale all features alike. Each feature has its own."""
    return (1,)


@gammas.mistake(Belief.SINGLE_GAMMA_AND_BETA)
def one_for_each_position():
    """You gave each of the two positions its own. γ belongs to the features, and it is the same at
    every position."""
    return (2,)


@gammas.mistake(Belief.SINGLE_GAMMA_AND_BETA)
def one_for_each_position_and_feature():
    """With this shape, the first and the second word would be scaled differently. γ does not know
    at which position a row stands."""
    return (2, 4)


@gammas.mistake()
def one_for_each_row():
    """That is the shape of the means. A mean is computed for each row; γ is learned, and the same
    for all rows."""
    return (3, 2, 1)


@gammas.mistake()
def one_for_each_number():
    """You gave each of the 24 numbers its own. Then the layer would fit this batch only; γ is
    shared by all points and positions."""
    return (3, 2, 4)


@gammas.mistake()
def keeps_axes_of_size_one():
    """These numbers are the right ones, and they would broadcast. The axes of size 1 are not
    needed: γ has the shape of the normalized axes and no others."""
    return (1, 1, 4)


feature_2 = Exercise(
    TOPIC,
    "feature_2",
    within=6e-3,
    hints=[
        "Read the formula from the left: first one operation, then the other.",
        "Half of −0.55 is −0.275. One more step is left.",
    ],
)


@feature_2.answer
def scaled_then_shifted():
    """Half of −0.55, and then 1 more."""
    return 0.5 * -0.55 + 1


@feature_2.mistake()
def shifted_then_scaled():
    """You added β first and scaled the sum. γ multiplies only `x_hat`, and β comes after."""
    return 0.5 * (-0.55 + 1)


@feature_2.mistake()
def shift_left_out():
    """You scaled, and did not add β."""
    return 0.5 * -0.55


@feature_2.mistake()
def divided_by_gamma():
    """You divided by γ. It is a factor: 0.5 makes the number smaller, not larger."""
    return -0.55 / 0.5 + 1


@feature_2.mistake()
def gamma_and_beta_swapped():
    """You multiplied by β and added γ. It is the other way around."""
    return 1 * -0.55 + 0.5


@feature_2.mistake()
def scale_left_out():
    """You added β, and did not multiply by γ."""
    return -0.55 + 1


rescale = Exercise(
    TOPIC,
    "rescale",
    inputs=[(X_HAT, WEIGHT, BIAS), (X_HAT[0], WEIGHT, BIAS)],
    hints=[
        "It is the formula as it stands, for all rows at once. No loop is needed.",
        "Shapes line up from the right: what does (D,) meet in (N, L, D)?",
    ],
)


@rescale.answer
def each_feature_by_its_own(x_hat, weight, bias):
    return x_hat * weight + bias


@rescale.mistake(Belief.SINGLE_GAMMA_AND_BETA)
def each_position_by_its_own(x_hat, weight, bias):
    """You gave the weight an axis at its end, so its numbers meet the positions. They belong to the
    features, and (D,) fits these as it is."""
    return x_hat * weight[:, None] + bias[:, None]


@rescale.mistake(Belief.SINGLE_GAMMA_AND_BETA)
def all_features_by_the_first(x_hat, weight, bias):
    """You took one number out of the weight and one out of the bias. Each feature needs its own."""
    return x_hat * weight[0] + bias[0]


@rescale.mistake(Belief.SINGLE_GAMMA_AND_BETA)
def all_features_by_the_average(x_hat, weight, bias):
    """You averaged the weight and the bias to one number each. Each feature needs its own."""
    return x_hat * weight.mean() + bias.mean()


@rescale.mistake()
def shift_before_scale(x_hat, weight, bias):
    """You added the bias before you multiplied, so the bias was scaled too. Multiply first."""
    return weight * (x_hat + bias)


@rescale.mistake()
def no_shift(x_hat, weight, bias):
    """The scale is right, but the bias is not added."""
    return x_hat * weight


@rescale.mistake()
def features_added_up(x_hat, weight, bias):
    """`@` multiplies and then adds the features up, so that one number is left of each row. Each
    feature stays by itself here."""
    return x_hat @ weight + bias


y_mean = Exercise(
    TOPIC,
    "y_mean",
    hints=[
        "Write down the four numbers of y first, one feature after the other.",
        "Feature 3 is −1 · −1 + 0.5 = 1.5. Make the other three like this, and average.",
    ],
)


@y_mean.answer
def mean_of_the_scaled_and_shifted():
    """y is (2, 0.5, 0, 1.5). Each feature was scaled differently, so they no longer cancel."""
    return (2 * 1 + (0.5 * -1 + 1) + (1 * 1 - 1) + (-1 * -1 + 0.5)) / 4


@y_mean.mistake()
def still_zero():
    """Only `x_hat` has the mean 0. What comes after moves it again."""
    return 0.0


@y_mean.mistake()
def mean_of_beta():
    """You let γ drop out, because the mean of `x_hat` is 0. It would if all four γ were equal:
    with four different ones the features no longer cancel."""
    return (0 + 1 - 1 + 0.5) / 4


@y_mean.mistake()
def without_beta():
    """That is the mean of γ · `x_hat`. Add the four β as well."""
    return (2 * 1 + 0.5 * -1 + 1 * 1 + -1 * -1) / 4


@y_mean.mistake()
def mean_of_gamma():
    """That is the mean of the four γ. They are factors of `x_hat`, and β is still to be
    added."""
    return (2 + 0.5 + 1 - 1) / 4


@y_mean.mistake()
def mean_of_gamma_and_beta():
    """That is the mean of γ + β, as if `x_hat` were 1 everywhere. Two of its features are
    −1."""
    return (2 + 0.5 + 1 - 1 + 0 + 1 - 1 + 0.5) / 4


other_row = Exercise(
    TOPIC,
    "other_row",
    within=6e-3,
    hints=[
        "What is left of `other`, after its own mean is subtracted and its own deviation divided "
        "away? Compare that with what is left of `one`.",
        "γ and β are the same for both rows, and so is what they get (but for ε).",
    ],
)


@other_row.answer
def the_same_as_of_one():
    """Standardized, the two rows are the same, so γ and β give the same back for both: `one`."""
    return -3.8049


@other_row.mistake(Belief.NOTHING_IS_LOST)
def every_row_comes_back():
    """You gave each row its own numbers back. But γ and β are the same for all rows; they hold what
    was taken from `one`, and what was taken from `other` is nowhere kept."""
    return 20 * -3.8049 + 3


@other_row.mistake(Belief.NOTHING_IS_LOST)
def the_shift_comes_back():
    """You gave the + 3 back. It went with the mean of the row `other`, and γ and β hold nothing of
    that row."""
    return -3.8049 + 3


@other_row.mistake(Belief.NOTHING_IS_LOST)
def the_scale_comes_back():
    """You gave the factor 20 back. It went with the deviation of the row `other`, and γ and β hold
    nothing of that row."""
    return 20 * -3.8049


@other_row.mistake()
def as_if_nothing_were_learned():
    """That is the standardized number. γ and β, chosen so that `one` comes back, still act on
    it."""
    return -1.3671


way_back = Exercise(
    TOPIC,
    "way_back",
    inputs=[(STEPS.y, WEIGHT, BIAS, STEPS.mean, 1 / STEPS.rstd)],
    hints=[
        "Write the way from x to y as four operations, in order. The last one is undone first.",
        "Forward it was: subtract the mean, divide by the root, multiply by γ, add β.",
    ],
)


@way_back.answer
def four_steps_backward(y, weight, bias, mean, root):
    x_hat = (y - bias) / weight
    return x_hat * root + mean


@way_back.mistake(Belief.NOTHING_IS_LOST)
def back_to_the_standardized_row(y, weight, bias, mean, root):
    """You undid γ and β, and that leads back to the standardized row. Each row's own root and mean
    are still missing."""
    return (y - bias) / weight


@way_back.mistake()
def without_gamma_and_beta(y, weight, bias, mean, root):
    """You gave root and mean back to y itself. γ and β came last, so they must be undone first."""
    return y * root + mean


@way_back.mistake()
def forward_again(y, weight, bias, mean, root):
    """You took y through layer norm once more. Each of the four operations must be reversed."""
    return (y - mean) / root * weight + bias


@way_back.mistake()
def divided_before_the_shift_is_undone(y, weight, bias, mean, root):
    """You divided by γ before β was gone, so β was divided too. β came last, and goes first."""
    return (y / weight - bias) * root + mean


@way_back.mistake()
def divided_by_the_root(y, weight, bias, mean, root):
    """You divided by the root once more. The way forward divided by it, so the way back does the
    opposite."""
    return (y - bias) / weight / root + mean


@way_back.mistake()
def mean_before_the_root(y, weight, bias, mean, root):
    """You gave the mean back before the root, so the mean was scaled too. On the way forward the
    mean went first, so it comes back last."""
    return ((y - bias) / weight + mean) * root
