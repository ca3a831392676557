"""Exercises on the backward pass of layer norm."""

import torch

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.models import BACKWARD, GAMMA_GRADIENT
from lnorm_utils.data import encoded_points, normal
from lnorm_utils.functional import layer_norm_steps

TOPIC = "backward"

row_std = Prediction(
    answer=3,
    reason="Each number is 3 away from the mean, 7. So the variance is 9, and its root is 3.",
    wrong={
        9: "That's the variance. The standard deviation is its root.",
        12**0.5: Belief.VARIANCE_OVER_D_MINUS_1(
            "You divided the sum of the squares, 36, by D − 1. Layer norm divides by D, which is 4."
        ),
        7: "That's the mean.",
        6: "That's how far apart the two values are. The mean lies in the middle.",
    },
    within=0.006,
    hints=[
        "Find the mean first. How far is each number from it?",
        "Square, average, take the root.",
    ],
)


slope_4r = Prediction(
    answer=0.25,
    reason="The slope is divided by the standard deviation, and that's four times as large.",
    wrong={
        4: Belief.LARGE_INPUT_LARGE_GRADIENT(
            "A large row gets a small slope: the same step changes its layer norm less, because "
            "the row is spread out more."
        ),
        1: "The output is the same, but the slope isn't: all numbers are four times as far apart.",
        0.5: "You took the root of 4. The standard deviation is a root already.",
        1 / 16: "You divided by the variance. Layer norm divides by its root.",
        16: Belief.LARGE_INPUT_LARGE_GRADIENT(
            "You squared the 4 and multiplied. The slope is divided by σ."
        ),
        0: "The slope gets smaller, but it doesn't vanish.",
    },
    within=0.006,
    hints=[
        "In lesson 11 the row was ten times as large. What happened to the slope?",
        "What happens to the standard deviation? The slope is divided by it.",
    ],
)


gamma_count = Prediction(
    answer=4,
    reason="There's one γ for each feature, and all rows share it.",
    wrong={
        24: Belief.SINGLE_GAMMA_AND_BETA("That's one for each number in x. All rows share γ."),
        6: "That's one for each row. γ belongs to features, not to rows.",
        1: Belief.SINGLE_GAMMA_AND_BETA("γ isn't a single number: each feature has its own."),
        8: "You counted β too.",
        2: "That's one for each position. γ belongs to features.",
        3: "That's one for each point. γ belongs to features.",
    },
    hints=["γ belongs to features. Which of the three axes is that?", "γ has the shape (D,)."],
)


own_slope = Prediction(
    answer=1 / 6,
    reason="One third of h would come through if mean and standard deviation stood still. But both "
    "move along with x₀, and each takes a quarter of that third away.",
    wrong={
        1 / 3: Belief.STATISTICS_ARE_CONSTANTS(
            "You divided by σ = 3, as if mean and standard deviation stood still. They depend on "
            "x₀, so they move too. Or you let both move, with the wrong sign for one of them."
        ),
        1 / 4: Belief.STATISTICS_ARE_CONSTANTS(
            "You let either the mean or the standard deviation move, and kept the other one still. "
            "Both depend on x₀."
        ),
        3 / 4: "That's how much closer x₀ comes to its mean. Now divide by σ, and let σ move too.",
        -1 / 6: "The size is right, but not the sign: x₀ is raised.",
        1: "Layer norm divides by the standard deviation, so a step gets smaller.",
        0: "x₀ moves away from the others, so its place among them does change.",
        1 / 18: "You divided by the variance, 9. Layer norm divides by its root.",
    },
    within=0.007,  # 0.16, which is cut and not rounded, is right too
    hints=[
        "x₀ − mean grows by h minus what the mean grows by. How much is that, with four features?",
        "The mean grows by h/4. And as x₀ comes closer to the mean, σ shrinks by h/4. Which number "
        "does x̂₀ = (x₀ − mean)/σ become, when h is 0.01, say?",
    ],
)


first_dx = Prediction(
    answer=1,
    reason="mean(g) = 4.5, mean(g · x̂) = 1.5, and (6 − 4.5 − (−1) · 1.5) / 3 = 1.",
    wrong={
        2: Belief.STATISTICS_ARE_CONSTANTS(
            "You only divided by σ. The mean of g and the slope times x̂ have to be subtracted "
            "first."
        ),
        0.5: Belief.STATISTICS_ARE_CONSTANTS(
            "You subtracted the mean of g, and forgot x̂ · mean(g · x̂)."
        ),
        2.5: Belief.STATISTICS_ARE_CONSTANTS(
            "You subtracted x̂ · mean(g · x̂), and forgot the mean of g."
        ),
        -2: "You took sums. Both are means: divide them by 4.",
        3: "Divide by σ, which is 3.",
        0: "You subtracted x̂₀ · 1.5 with the wrong sign: x̂₀ is −1.",
        6: "That's g₀. What comes back through the norm is another number.",
    },
    within=0.006,
    hints=[
        "The mean of g is 4.5. Next, multiply g and x̂ feature by feature, and average.",
        "mean(g · x̂) = (−6 + 12)/4 = 1.5. Put g₀ = 6 and x̂₀, minus one, into the formula.",
    ],
)


LESSON = layer_norm_steps(encoded_points().double(), 4)
OTHER = layer_norm_steps(0.5 * normal(2, 3, 4, seed=121).double() + 1, 4, eps=0.1)
SQUARE = layer_norm_steps(normal(4, 4, 4, seed=122).double(), 4, eps=0.1)
SIX = layer_norm_steps(2 * normal(5, 3, 6, seed=128).double() - 1, 6, eps=0.1)
GAMMA = torch.tensor([1.5, 0.5, -2.0, 3.0]).double()

bring_back = CodeExercise(
    inputs={
        # First, because a mean that has lost its axis raises no error here.
        "four sentences of four words": (
            normal(4, 4, 4, seed=125).double() + 0.2,
            SQUARE.x_hat,
            SQUARE.rstd,
            GAMMA,
        ),
        "the encoded points": (
            normal(3, 2, 4, seed=123).double() + 0.3,
            LESSON.x_hat,
            LESSON.rstd,
            GAMMA,
        ),
        "two sentences of three words, with ε = 0.1": (
            normal(2, 3, 4, seed=124).double() - 0.4,
            OTHER.x_hat,
            OTHER.rstd,
            GAMMA.flip(0) + 0.2,
        ),
        "five sentences of three words, with six features": (
            normal(5, 3, 6, seed=129).double() + 0.1,
            SIX.x_hat,
            SIX.rstd,
            torch.tensor([0.7, 2.0, -1.0, 1.4, -0.3, 0.9]).double(),
        ),
    },
    norm=lambda backward, g, x_hat, rstd, weight: backward.gradient(g, x_hat, rstd, weight),
    layout=BACKWARD,
    without=["lnorm_utils.layer_norm_backward", "torch.native_layer_norm_backward"],
    hints=[
        "First ĝ = γ · g. γ belongs to features, so it broadcasts by itself.",
        "Both means run over the features of a row, and keep their axis: `dim=-1, keepdim=True`.",
        "Subtract the mean of ĝ, and x̂ times the mean of ĝ · x̂. Multiply what's left by `rstd`.",
    ],
)


@bring_back.answer
def three_lines(g, x_hat, rstd, weight):
    g_hat = weight * g
    line = g_hat.mean(-1, keepdim=True) + x_hat * (g_hat * x_hat).mean(-1, keepdim=True)
    return rstd * (g_hat - line)


@bring_back.mistake()
def another_forward_pass(backward, g, x_hat, rstd, weight):
    """You ran another forward pass, with an ε of its own. `x_hat` and `rstd` come from the one that
    was run, so put them into the formula."""
    again = layer_norm_steps(x_hat / rstd, x_hat.shape[-1])
    return backward.gradient(g, again.x_hat, again.rstd, weight)


@bring_back.mistake()
def layer_norm_of_the_gradient(backward, g, x_hat, rstd, weight):
    """You normalized the gradient, as a forward pass does with x. The backward pass is another
    formula: subtract mean(ĝ) and x̂ · mean(ĝ · x̂) from ĝ."""
    return rstd * layer_norm_steps(g * weight, g.shape[-1]).x_hat


lost = Prediction(
    answer=2,
    reason="The direction (1, …, 1), which the mean takes, and the direction of x̂, which the "
    "standard deviation takes.",
    wrong={
        1: Belief.STATISTICS_ARE_CONSTANTS(
            "That's the mean's direction, (1, …, 1). Stretch a row as well, and look whether layer "
            "norm notices."
        ),
        0: Belief.NOTHING_IS_LOST(
            "Then every gradient would come through. But layer norm doesn't notice when a row is "
            "shifted or stretched, so those directions have no slope."
        ),
        62: "That's how many are left.",
        63: "That's how many would be left if one direction were lost. And the question is how "
        "many are lost.",
        64: "Then nothing at all would come through.",
        32: "For D = 4 it was half of them. Ask whether that number grows with D.",
    },
    hints=[
        "Which changes of a row does layer norm not notice at all?",
        "A shift and a stretch. Does their number depend on how many features there are?",
    ],
)


constant_row = Prediction(
    answer=10,
    reason="The variance is 0, so rstd = 1/√ε = 10. Both means of this g are 0.",
    wrong={
        0: "The output is 0 for every constant row. But after a small step the row isn't constant "
        "any more, and the step is divided by √ε only.",
        1: "g₀ is multiplied by rstd = 1/√(var + ε), and the variance is 0 here.",
        100: Belief.EPS_OUTSIDE_THE_ROOT("That's 1/ε. ε is inside the root."),
        0.1: "That's √ε. The gradient is divided by it.",
        1 / 7: "You divided by the size of the row. What counts is its spread.",
        7.5: "mean(g) is 0 here, because 1 and −1 cancel. There's nothing to subtract.",
    },
    within=0.006,
    hints=[
        "x̂ is 0 here, and mean(g) is 0. So what's left of the formula?",
        "rstd times g₀, and rstd is 1/√(0 + ε).",
    ],
)


gamma_zero = Prediction(
    answer="input",
    reason="∂x begins with γ · g, which is 0. ∂γ is a sum of g · x̂, and γ isn't in it.",
    wrong={
        "gamma": "∂γ is a sum of g · x̂, and γ isn't in it.",
        "both": "Only one of the two has γ as a factor.",
        "neither": "One of the two has γ as a factor.",
    },
    hints=["Write down both formulas. In which one does γ appear?", "ĝ = γ · g. Who uses ĝ?"],
)


d_gamma = CodeExercise(
    inputs={
        "the encoded points": (normal(3, 2, 4, seed=126).double() + 0.3, LESSON.x_hat),
        "two sentences of three words": (normal(2, 3, 4, seed=127).double() - 0.4, OTHER.x_hat),
        "five sentences of three words, with six features": (
            normal(5, 3, 6, seed=130).double() + 0.1,
            SIX.x_hat,
        ),
    },
    norm=lambda gradient, g, x_hat: gradient.gradient(g, x_hat),
    layout=GAMMA_GRADIENT,
    hints=[
        "γ_d multiplies feature d of every row. So every row adds something to its gradient.",
        "`sum` takes several axes at once: `dim=(0, 1)`.",
    ],
)


@d_gamma.answer
def sum_over_all_rows(g, x_hat):
    products = g * x_hat
    return products.sum(dim=(0, 1))


@d_gamma.mistake()
def beta_times_x_hat(gradient, g, x_hat):
    """You added g and x̂ separately, and then multiplied. Multiply first: each row's g belongs to
    its own x̂."""
    return gradient.reduced(g) * gradient.reduced(x_hat)


still_train = Prediction(
    answer=4,
    reason="Only the one with sums stays at the loss of guessing. So a falling loss doesn't tell "
    "you that your gradient is right.",
    wrong={
        0: "A gradient can be wrong and still point downhill, more or less. Most of these do.",
        5: "You think that each of them points downhill. Look for a rule that subtracts far too "
        "much.",
        1: "You trust few of them. But a step in nearly the right direction also lowers the loss.",
        2: "You trust some of them. Ask of each other rule whether its step still goes downhill.",
        3: "You may have left out the rule that forgets γ. But γ starts at 1.",
    },
    hints=[
        "A step needs only to go downhill. Which of the five could point uphill?",
        "In which of the five is something subtracted that's 64 times too large?",
    ],
)


put_in_bank(TOPIC, vars(), further=("constant_row", "gamma_zero", "d_gamma"))
