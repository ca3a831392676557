"""Exercises of lesson 3, what a layer-normed point looks like."""

from lnorm_utils.beliefs import Belief
from lnorm_utils.examples import encoded_points, normal
from lnorm_utils.exercises.engine.code_exercise import CodeExercise
from lnorm_utils.exercises.engine.prediction import Prediction, Wrong

TOPIC = "standardize"
OUTSIDE = Belief.EPS_OUTSIDE_THE_ROOT
X = encoded_points().double()
# Variances of about 1e-5, so that no ε, the default ε and the given one are far apart.
NARROW = 0.003 * (normal(2, 3, 5, seed=32).double() + 2)
# In each row of the sum, the variance is above 4: there ε = 1e-5 does not show.
LEFT, RIGHT = 2 * normal(2, 3, 5, seed=179).double() + 1, 2 * normal(2, 3, 5, seed=126).double() - 2

formula = CodeExercise(
    TOPIC,
    "formula",
    inputs={
        "the x of this lesson with ε = 0.1": (X, 0.1),
        "rows with a spread of 0.003 and ε = 0.0001": (NARROW, 1e-4),
        "rows with a spread of 0.03 and ε = 0.1": (10 * NARROW, 0.1),  # longer than a row is
    },
    norm=lambda norm, x, eps: norm.standardize(x, eps=eps),
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


sum_var = Prediction(
    TOPIC,
    "sum_var",
    answer=(2 + 1) ** 2,
    reason="The standard deviations 2 and 1 add up to 3, and the variance is its square.",
    wrong=[
        Wrong(
            1,
            "That's the variance of `standardize(x)` alone. The sum is not normalized again.",
            Belief.PRE_NORM_IS_POST_NORM,
        ),
        Wrong(
            4 + 1,
            "That's the sum of the two variances. They only add up for unrelated numbers, but here "
            "both parts rise and fall together.",
        ),
        Wrong(4, "That's the variance of x alone. What you add to it has a spread as well."),
        Wrong(3, "That's the standard deviation of the sum. The variance is its square."),
    ],
    hints=[
        "Adding takes place number by number. How far from the mean is a number afterwards?",
        "Both parts point the same way, so their standard deviations add up. Then square.",
    ],
)


add_norm = CodeExercise(
    TOPIC,
    "add_norm",
    inputs={
        "the x of this lesson and the same points in reverse order": (X, X.flip(0)),
        "other points, with variances above 4": (LEFT, RIGHT),
    },
    norm=lambda norm, x, f: norm.standardize(x + f),
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
def normalizes_f_before_adding(norm, x, f):
    """You normalized `f` and then added `x`, which brings in its own mean and variance."""
    return x + norm.standardize(f)


@add_norm.mistake(Belief.PRE_NORM_IS_POST_NORM)
def normalizes_x_before_adding(norm, x, f):
    """You normalized `x` and then added `f`, which brings in its own mean and variance."""
    return norm.standardize(x) + f


@add_norm.mistake(Belief.PRE_NORM_IS_POST_NORM)
def normalizes_both_before_adding(norm, x, f):
    """You normalized each part on its own. Their sum can have any variance from 0 to 4."""
    return norm.standardize(x) + norm.standardize(f)


@add_norm.mistake()
def only_adds(norm, x, f):
    """You have the sum. Its rows still have a mean and a variance of their own."""
    return x + f


@add_norm.mistake()
def normalizes_x_first_and_the_sum_again(norm, x, f):
    """You normalized `x` before the addition too. Add both as they are, and normalize the sum."""
    return norm.standardize(norm.standardize(x) + f)


@add_norm.mistake()
def adds_x_once_more(norm, x, f):
    """You added `x` once more after the norm, so the rows are no longer normalized."""
    return x + norm.standardize(x + f)


@add_norm.mistake()
def leaves_x_out(norm, x, f):
    """You normalized `f` alone. Add `x` first."""
    return norm.standardize(f)


@add_norm.mistake()
def leaves_f_out(norm, x, f):
    """You normalized `x` alone. Add `f` first."""
    return norm.standardize(x)


@add_norm.mistake()
def subtracts_f(norm, x, f):
    """You subtracted `f`. Add it."""
    return norm.standardize(x - f)


narrow = Prediction(
    TOPIC,
    "narrow",
    answer=0.5**0.5,
    reason="The variance, 0.01, is as large as ε, so half of it is left. The root of 1/2 is 0.71.",
    wrong=[
        Wrong(
            1,
            "That would be right without ε. Here ε is as large as the variance, so the row is "
            "divided by more than its standard deviation.",
            OUTSIDE,
        ),
        Wrong(0.1 / 0.11, "That's 0.1 / (0.1 + 0.01). Add ε before you take the root.", OUTSIDE),
        Wrong(
            0.5,
            "Either that's the variance afterwards, or you added the root of ε to the standard "
            "deviation. Divide 0.1 by the root of the variance plus ε.",
        ),
        Wrong(0.1 / 0.02, "That's 0.1 / 0.02. Take the root of 0.02 first."),
        Wrong((0.1 / 0.11) ** 0.5, "That's the root of 0.1 / 0.11. But the variance is 0.01."),
    ],
    within=0.006,
    hints=[
        "What is the variance of the row? Compare it with ε.",
        "The rule var / (var + ε) gives a variance. A standard deviation is asked for.",
    ],
)


minus_3 = Prediction(
    TOPIC,
    "minus_3",
    answer=1.3671,
    reason="The 3 cancels, the minus does not: a standard deviation has no sign.",
    wrong=[
        Wrong(
            -1.3671,
            "That would be right for a factor of 3. Here the distances from the mean change their "
            "signs, and the standard deviation does not.",
            Belief.SCALING_CHANGES_NOTHING,
        ),
        Wrong(3 * 1.3671, "That's −3 times as much. The standard deviation grows by 3 as well."),
        Wrong(1.3671 / 3, "That's divided by −3. The distances from the mean grow by 3 as well."),
    ],
    within=0.006,
    hints=[
        "The first number lies below the mean of its row. Where does it lie after the factor?",
        "A standard deviation is never negative. So which part of the factor can cancel?",
    ],
)


shrunk = Prediction(
    TOPIC,
    "shrunk",
    answer=-3.4520e-3 / (6.3756e-6 + 1e-5) ** 0.5,
    reason="The variance is now 6.4e-6, and ε, at 1e-5, is the larger part under the root.",
    wrong=[
        # Between −1.3671, without ε, and −1.3617, with ε after the root.
        Wrong(
            -1.3644,
            "Either you left ε out, or you added it after the root, where it is too small to "
            "matter. Added to the variance, which is only 6.4e-6 here, it matters a lot.",
            OUTSIDE,
        ),
        Wrong(
            -1.3671e-3,
            "It's not that close to 0. The row also has a much smaller standard deviation, so most "
            "of the factor cancels.",
        ),
        Wrong(
            -3.4520e-3 / (6.3756e-3 + 1e-5) ** 0.5,
            "Here the variance is 0.001 times what it was. It's a mean of squares, so the factor "
            "enters it twice.",
        ),
        Wrong(-3.4520e-3 / 1e-5**0.5, "This divides by the root of ε alone. The variance counts."),
    ],
    within=0.006,
    hints=[
        "What is the variance after the factor? It is squared there. Compare it with ε.",
        "Divide the new distance, −0.0034520, by the root of the new variance plus ε.",
    ],
)
