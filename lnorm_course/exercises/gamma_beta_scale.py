"""Exercises of lesson 4, the learned scale and shift: what γ and β do."""

import torch

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.slips.beliefs import Belief
from lnorm_utils.data import encoded_points, normal
from lnorm_utils.functional import layer_norm_steps

TOPIC = "gamma_beta"
SINGLE = Belief.SINGLE_GAMMA_AND_BETA
X = layer_norm_steps(encoded_points().double(), 4)
# As many positions as features, so that numbers for each position fit as well, and are wrong.
X_HAT = normal(3, 4, 4, seed=41).double()
WEIGHT = torch.tensor([1.5, -0.5, 0.25, 3.0], dtype=torch.float64)
BIAS = torch.tensor([0.5, -1.0, 2.0, 0.75], dtype=torch.float64)
# Another number of features, so that a loop over four of them is wrong.
X_HAT_OF_6 = normal(5, 3, 6, seed=43).double()
WEIGHT_OF_6 = torch.tensor([1.5, -0.5, 0.25, 3.0, -2.0, 0.75], dtype=torch.float64)
BIAS_OF_6 = torch.tensor([0.5, -1.0, 2.0, 0.75, -0.25, 1.25], dtype=torch.float64)

# About lessons 1 to 3.
lost_axis = Prediction(
    answer=30,
    reason="Without `keepdim=True` the means have shape (4,). That lines up with the columns, so "
    "column 2 loses the mean of row 2.",
    wrong={
        10: "With `keepdim=True` its own row's mean, 10, would be subtracted. But here the means "
        "have shape (4,), and PyTorch lines shapes up from the right.",
        25: "That's the mean of all 16 numbers. `dim=-1` takes one mean for each row.",
        20: "That's the mean of row 1. Look at the column of `t[0, 2]`, which counts from 0.",
        40: "That's the mean of row 3. Look at the column of `t[0, 2]`, which counts from 0.",
        "error": "There would be an error if the two sizes differed. Here both are 4, so the means "
        "broadcast, along the wrong axis.",
    },
    hints=[
        "Which shape do the means have?",
        "A shape (4,) meets (4, 4). Does it line up with the rows, or with the columns?",
    ],
)


var_eps = Prediction(
    answer=0.03 / (0.03 + 0.01),
    reason="var / (var + ε) is 0.03 / 0.04. This row is so narrow that ε shows.",
    wrong={
        1: "That would be right without ε. Here ε is a third of the variance.",
        0.75**0.5: "That's the standard deviation afterwards. The variance is its square.",
        0.03 / (0.03**0.5 + 0.01) ** 2: Belief.EPS_OUTSIDE_THE_ROOT(
            "You added ε outside the root. It's added to the variance, inside."
        ),
        0.03 + 0.01: "That's var + ε. The variance is divided by it.",
        0.03 / 0.01: "That's var / ε. The divisor is var + ε.",
    },
    within=0.006,
    hints=[
        "Each number is divided by the root of var + ε. What does that do to the variance?",
        "Divide 0.03 by the sum of 0.03 and 0.01.",
    ],
)


minus_2x = Prediction(
    answer=-0.4,
    reason="The 7 is subtracted with the mean, the 2 cancels, and the minus stays.",
    wrong={
        0.4: Belief.SCALING_CHANGES_NOTHING(
            "A positive factor cancels. A negative one turns the signs around."
        ),
        -0.8: "The standard deviation also becomes twice as large, so the 2 cancels.",
        -2 * 0.4 + 7: "That's −2 · 0.4 + 7. Layer norm comes last and takes both away.",
        -0.4 + 7: "The 7 is part of the mean, and the mean is subtracted.",
    },
    within=0.006,
    hints=[
        "What happens to the mean if you add 7 to every number?",
        "A standard deviation has no sign. So which part of the factor −2 cancels?",
    ],
)


# The story.
trained = Prediction(
    answer=4,
    reason="All four networks learn the rings. In this network, at this rate, standardizing is "
    "enough, without γ and β.",
    wrong={
        0: "Then γ and β would be what makes the network train. But they start at 1 and 0, where "
        "they change nothing.",
        2: "The four differ only in the weights that training starts from. A norm enlarges small "
        "rows for any of them.",
        3: "The seeds only change the weights that training starts from. Run the next cell, and "
        "see whether that matters.",
        1: "Then training would need luck. But a norm enlarges small rows for any starting "
        "weights. Run the next cell.",
    },
    hints=[
        "What do γ = 1 and β = 0 do to the output of a norm?",
        "Why did the rings fail without norms? Is that also so with a norm that has no γ and β?",
    ],
)


gammas = Prediction(
    answer=(4,),
    reason="Each feature has its own γ, and all points and positions share it.",
    wrong={
        **{
            shape: SINGLE(f"A γ of shape {shape} would scale all features alike.")
            for shape in ((), (1,))
        },
        1: SINGLE("A single γ would scale all features alike."),
        **{
            shape: SINGLE(
                f"With shape {shape} the positions would have different γ. They share it."
            )
            for shape in ((2,), (2, 1), (1, 2, 1), (2, 4))
        },
        **{
            shape: f"With shape {shape} each row would have its own γ. All rows share it."
            for shape in ((3, 2), (3, 2, 1))
        },
        (3, 4): "With shape (N, D) each point would have its own γ. Then a new batch would need "
        "new parameters. All points share them.",
        (3, 2, 4): "Each of the 24 numbers would have its own γ. But all rows share it.",
        (4, 4): "A matrix would mix the features. Each feature has one factor of its own.",
        (1, 1, 4): "It would broadcast, but γ has no axes of size 1. Leave them out.",
    },
    also={4: "It has four numbers. As a tuple, a shape with one axis has a comma: (4,)."},
    hints=[
        "A mean belongs to one row. A parameter is learned once, for all rows.",
        "γ has the shape of the axes that layer norm averages over.",
    ],
)


feature_2 = Prediction(
    answer=0.5 * -0.55 + 1,
    reason="Half of −0.55, and then 1 more.",
    wrong={
        0.5 * (-0.55 + 1): "You added β first, and scaled it too. Multiply by γ first.",
        0.5 * -0.55: "That's γ times the number. Add β.",
        -0.55 / 0.5 + 1: "You divided by γ. Multiply by it.",
        1 * -0.55 + 0.5: "You multiplied by β and added γ. It's the other way around.",
        -0.55 + 1: "You added β, but did not multiply by γ.",
        0.5 * 0.55 + 1: "You lost the minus sign of −0.55.",
    },
    within=0.006,
    hints=[
        "Read the formula from the left: first one operation, then the other.",
        "Half of −0.55 is −0.275. One more step is left.",
    ],
)


rescale = CodeExercise(
    # The lesson's own come second: numbers for each position raise the same error there as `@`.
    inputs={
        "three sentences of four words with four features": (X_HAT, WEIGHT, BIAS),
        "the x_hat of this lesson": (X.x_hat, WEIGHT, BIAS),
        "five sentences of three words with six features": (X_HAT_OF_6, WEIGHT_OF_6, BIAS_OF_6),
    },
    norm=lambda norm, x_hat, weight, bias: norm.affine(x_hat, weight, bias),
    hints=[
        "Write the formula for all rows at once. You don't need a loop.",
        "PyTorch lines shapes up from the right. Which axis of (N, L, D) does (D,) line up with?",
    ],
)


@rescale.answer
def each_feature_by_its_own(x_hat, weight, bias):
    return x_hat * weight + bias


@rescale.mistake()
def features_added_up(norm, x_hat, weight, bias):
    """`@` multiplies and then adds the features up, so one number is left of each row. Use `*`."""
    return x_hat @ weight + bias


@rescale.mistake()
def features_added_up_and_spread(norm, x_hat, weight, bias):
    """You multiplied by γ and added the features up, so one number is left of each row. Use `*`."""
    return (x_hat @ weight)[..., None] + bias


@rescale.mistake()
def normalizes_again(norm, x_hat, weight, bias):
    """You normalized `x_hat` once more. It's normalized already: multiply and add."""
    return norm.layer_norm(x_hat, weight, bias)


@rescale.mistake()
def the_way_back(norm, x_hat, weight, bias):
    """This is the way back from y to x_hat. Multiply by γ, then add β."""
    return (x_hat - bias) / weight


of_512 = Prediction(
    answer=2 * 512,
    reason="There are 512 γ and 512 β, however many points and positions there are.",
    wrong={
        2: SINGLE("That would be one γ and one β for all features. Each feature has its own."),
        512: "That's one number for each feature. Each has two, a γ and a β.",
        2 * 10 * 512: "Then each point would have its own γ and β, of shape (N, D), and a batch of "
        "another size would need other parameters. All points share them.",
        10 * 512: "That's how many numbers the input has. All 10 points share the γ and β.",
        2 * 10: "γ and β belong to features, not to points.",
        0: "γ and β aren't hyperparameters, which somebody chooses. They're parameters, and "
        "training sets them.",
    },
    hints=["Which shape does γ have for 512 features?", "Count the γ, then count the β too."],
)


y_mean = Prediction(
    answer=(2 + 0.5 + 0 + 1.5) / 4,
    reason="y is (2, 0.5, 0, 1.5). The features have different scales, so they no longer cancel.",
    wrong={
        0: "Only `x_hat` has mean 0. γ and β change it.",
        (0 + 1 - 1 + 0.5) / 4: "That's the mean of the four β alone. But γ times `x_hat`, which "
        "is (2, −0.5, 1, 1), doesn't have mean 0 here.",
        (2 - 0.5 + 1 + 1) / 4: "That's the mean of γ times `x_hat`. Add the four β as well.",
        (2 + 0.5 + 1 - 1) / 4: "Either that's the mean of the four γ, or you added β before you "
        "multiplied. Multiply each feature by its γ, and then add its β.",
        (2 + 0.5 + 1 - 1 + 0 + 1 - 1 + 0.5) / 4: "Either that's the mean of γ + β, or you "
        "subtracted β. Multiply each feature by its γ, and then add its β.",
        2 + 0.5 + 0 + 1.5: "That's the sum of the four numbers. Divide it by 4.",
    },
    hints=[
        "Write down the four numbers of y first, one feature after the other.",
        "Feature 3 is −1 · −1 + 0.5 = 1.5. Make the other three like this, and average.",
    ],
)


put_in_bank(TOPIC, vars())
