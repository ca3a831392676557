"""Exercises of lesson 3, what a layer-normed point looks like."""

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.slips.beliefs import Belief
from lnorm_utils.data import encoded_points, normal

TOPIC = "standardize"
OUTSIDE = Belief.EPS_OUTSIDE_THE_ROOT
X = encoded_points().double()
# Variances of about 1e-5, so that no ε, the default ε and the given one are far apart.
NARROW = 0.003 * (normal(5, 3, 6, seed=32).double() + 2)
# In each row of the sum, the variance is above 4: there ε = 1e-5 does not show.
LEFT, RIGHT = 2 * normal(5, 3, 6, seed=195).double() + 1, 2 * normal(5, 3, 6, seed=9).double() - 2

# About lessons 1 and 2.
company = Prediction(
    answer="N",
    reason="Only a mean over the batch has numbers of other sentences in it.",
    wrong={
        "L": "A mean over the positions mixes the words of one sentence. No other sentence takes "
        "part.",
        "D": "A mean over the features sees a single word, and no other sentence takes part.",
    },
    hints=[
        "What do all numbers of one sentence have in common? Along which axis do sentences lie?",
        "A mean over an axis depends on everything along that axis, and on nothing else.",
    ],
)


stacked = Prediction(
    answer=7**4,
    reason="Each layer divides what the layer before left, so the factors multiply: 7 · 7 · 7 · 7.",
    wrong={
        4 * 7: "You added the factors. The second layer divides what the first one left.",
        7**3: "That's three layers.",
        7**5: "That's five layers.",
        4**7: "That's seven layers that divide by 4.",
        7**2: "That's two layers, or the factor of the standard deviation after four.",
    },
    hints=[
        "After one layer a seventh is left. How much of that is left after the second?",
        "Multiply 7 by itself, once for each layer.",
    ],
)


tenfold = Prediction(
    answer=100 * 3,
    reason="Each distance becomes 10 times as large, so each square becomes 100 times as large.",
    wrong={
        10 * 3: "The distances become 10 times as large. The variance averages squares.",
        3: "That's the variance before. Adding a number leaves it alone, a factor doesn't.",
        20 * 3: "You doubled the factor. The squares grow by 10 · 10.",
        10 * 3**0.5: "That's the new standard deviation. The variance is its square.",
        100: "That's the factor. Multiply the old variance by it.",
    },
    hints=[
        "By how much does each distance from the mean grow? And its square?",
        "Take the variance of (1, 1, 1, 5), and multiply it by the square of the factor.",
    ],
)


formula = CodeExercise(
    inputs={
        "the x of this lesson with ε = 0.1": (X, 0.1),
        "five narrow points of three words with six features and ε = 0.0001": (
            NARROW,
            1e-4,
        ),
        "five points of three words with six features and ε = 0.1": (
            10 * NARROW,
            0.1,
        ),  # longer than a row is
    },
    norm=lambda norm, x, eps: norm.standardize(x, eps=eps),
    without=["lnorm_utils.standardize"],
    hints=[
        "Begin with the innermost parts of the formula: the mean, and then the variance.",
        "What is under the root sign? Add that up before you take the root.",
    ],
)


@formula.answer
def eps_inside_the_root(x, eps):
    centered = x - x.mean(dim=-1, keepdim=True)
    var = centered.square().mean(dim=-1, keepdim=True)
    return centered / (var + eps).sqrt()


sum_var = Prediction(
    answer=(2 + 1) ** 2,
    reason="The standard deviations 2 and 1 add up to 3, and the variance is its square.",
    wrong={
        1: Belief.PRE_NORM_IS_POST_NORM(
            "That's the variance of `standardize(x)` alone. The sum is not normalized again."
        ),
        4 + 1: "That's the sum of the two variances. They only add up for unrelated numbers, but "
        "here both parts rise and fall together.",
        4: "That's the variance of x alone. What you add to it has a spread as well.",
        3: "That's the standard deviation of the sum. The variance is its square.",
    },
    hints=[
        "You add number by number. How far from the mean is each number afterwards?",
        "A number above the mean in one part is above it in the other, so the distances add up.",
    ],
)


add_norm = CodeExercise(
    inputs={
        "the x of this lesson and the same points in reverse order": (X, X.flip(0)),
        "five other points of three words with six features": (
            LEFT,
            RIGHT,
        ),
    },
    norm=lambda norm, x, f: norm.standardize(x + f),
    within=1e-5,
    hints=[
        "The last step decides what mean and variance the rows have.",
        "There are two steps. Which order leaves the rows with variance 1?",
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
    answer=0.5**0.5,
    reason="The variance is 0.01, as large as ε. So it becomes 1/2, and the root of that is 0.71.",
    wrong={
        1: OUTSIDE(
            "That would be right without ε. Here ε is as large as the variance, so the row is "
            "divided by more than its standard deviation."
        ),
        0.1 / 0.11: OUTSIDE("That's 0.1 / (0.1 + 0.01). Add ε before you take the root."),
        0.5: "Either that's the variance afterwards, or you added the root of ε to the standard "
        "deviation. Divide 0.1 by the root of the variance plus ε.",
        0.1 / 0.02: "That's 0.1 / 0.02. Take the root of 0.02 first.",
        (0.1 / 0.11) ** 0.5: "That's the root of 0.1 / 0.11. But the variance is 0.01.",
    },
    within=0.006,
    hints=[
        "What is the variance of the row? Compare it with ε.",
        "The rule var / (var + ε) gives a variance. A standard deviation is asked for.",
    ],
)


minus_3 = Prediction(
    answer=1.3671,
    reason="The 3 cancels, but the minus doesn't, because a standard deviation has no sign.",
    wrong={
        -1.3671: Belief.SCALING_CHANGES_NOTHING(
            "That would be right for a factor of 3. Here the distances from the mean change their "
            "signs, and the standard deviation does not."
        ),
        3 * 1.3671: "That's −3 times as much. The standard deviation grows by 3 as well.",
        -3 * 1.3671: "That's 3 times as much, without the minus. The standard deviation grows by 3 "
        "as well, and the distances from the mean change their signs.",
        1.3671 / 3: "That's divided by −3. The distances from the mean grow by 3 as well.",
        1.3671 * 0.75**0.5: Belief.VARIANCE_OVER_D_MINUS_1(
            "The sign is right, but you divided the sum of squares by D − 1."
        ),
    },
    within=0.006,
    hints=[
        "The first number is below the mean of its row. Where is it after the multiplication?",
        "A standard deviation is never negative. So which part of the factor can cancel?",
    ],
)


shrunk = Prediction(
    answer=-3.4520e-3 / (6.3756e-6 + 1e-5) ** 0.5,
    reason="The variance is now 6.4e-6, and ε, at 1e-5, is the larger part under the root.",
    wrong={
        # Between −1.3671, without ε, and −1.3617, with ε after the root.
        -1.3644: OUTSIDE(
            "Either you left ε out, or you added it after the root, where it is too small to "
            "matter. Added to the variance, which is only 6.4e-6 here, it matters a lot."
        ),
        -1.3671e-3: "It's not that close to 0. The row also has a much smaller standard deviation, "
        "so most of the factor cancels.",
        -3.4520e-3 / (6.3756e-3 + 1e-5) ** 0.5: "Here the variance is 0.001 times what it was. "
        "It's a mean of squares, so the factor enters it twice.",
        -3.4520e-3 / (6.3756e-6 * 4 / 3 + 1e-5) ** 0.5: Belief.VARIANCE_OVER_D_MINUS_1(
            "Here the variance is divided by D − 1. Layer norm divides by D."
        ),
        -3.4520e-3 / 1e-5**0.5: "This divides by the root of ε alone. The variance counts.",
    },
    within=0.006,
    hints=[
        "What is the variance of the small row? Compare it with ε.",
        "Divide the new distance, −0.0034520, by the root of the new variance plus ε.",
    ],
)


eps_inside = Prediction(
    answer=0.21,
    reason="The root of 1 + 0.21 is 1.1, so both divide by the same number.",
    wrong={
        0.1: OUTSIDE(
            "Inside, 0.1 is added to the variance before the root. The root of 1.1 is 1.05, and "
            "not 1.1."
        ),
        0.2: "That's nearly it, but it leaves out the square of 0.1.",
        0.01: "That's 0.1 squared. Square the whole of 1 + 0.1.",
        0.1**0.5: "That's the root of 0.1. Look for the number whose root is 1.1.",
        1.21: "That's what stands under the root. The variance of the row is a part of it.",
    },
    hints=[
        "The root of the variance plus the new ε must be as large as 1 + 0.1.",
        "Square both sides, and subtract the variance of the row.",
    ],
)


whose = Prediction(
    answer="PyTorch",
    reason="On the CPU, PyTorch is off by thousandths, and ours by less than a millionth. Both had "
    "the same input, so the input can't be the reason.",
    wrong={
        "ours": "Ours centers a second time. Ask what that does to the rounding of the first mean.",
        "equal": "Both read the same rounded input, so it's tempting to blame the input. But what "
        "is computed from it can be rounded again.",
    },
    hints=[
        "The mean is near 10,000. In float32, neighbors there are about 0.001 apart.",
        "`standardize` subtracts the mean, and then the mean of what's left. What does the second "
        "step do to the rounding of the first?",
    ],
)


humps = Prediction(
    answer=2,
    reason="One number is subtracted from all of them, and one divides all of them. That moves and "
    "squeezes a histogram, and keeps its shape.",
    wrong={
        1: Belief.OUTPUTS_ARE_GAUSSIAN(
            "Mean 0 and variance 1 don't make a bell: many shapes have them. Ask where the two "
            "groups of numbers go."
        ),
        0: "The numbers aren't spread evenly either. Ask where each group of numbers goes.",
        4: "Each number goes to one place only. Ask where each group of numbers goes.",
    },
    hints=[
        "All numbers of a row are changed by the same subtraction and the same division.",
        "Take the row (0, 0, 10, 10). What comes out?",
    ],
)


on_zeros = Prediction(
    answer=5,
    reason="All numbers are 0, so every distance is 0, whatever the mean runs over. And 0 divided "
    "by anything but 0 is 0.",
    wrong={
        1: "That's how many of the five are right. Ask what a wrong one returns if every number is "
        "0.",
        0: "0 / 0 would be NaN. But each of the five adds ε, so no divisor is 0.",
        4: "You expect that one of them gives itself away. Look at its numerator if every number "
        "is 0.",
        2: "That would need three that differ from zeros. Look at the numerator of each, if every "
        "number is 0.",
        3: "That would need two that return something other than zeros. Look at their numerators.",
    },
    hints=[
        "What does PyTorch return for a row of zeros?",
        "For each formula, write down the numerator. The divisors are all above 0.",
    ],
)


put_in_bank(
    TOPIC, vars(), further=("narrow", "sum_var", "add_norm", "eps_inside", "whose", "on_zeros")
)
