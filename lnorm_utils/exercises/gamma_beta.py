"""Exercises of lesson 4, the learned scale and shift."""

import torch

from lnorm_utils.beliefs import Belief
from lnorm_utils.examples import encoded_points, normal
from lnorm_utils.exercises.engine.code_exercise import CodeExercise
from lnorm_utils.exercises.engine.prediction import Prediction, Wrong
from lnorm_utils.functional import layer_norm_steps

TOPIC = "gamma_beta"
SINGLE = Belief.SINGLE_GAMMA_AND_BETA
X = layer_norm_steps(encoded_points().double(), 4)
# As many positions as features, so that numbers for each position fit as well, and are wrong.
X_HAT = normal(3, 4, 4, seed=41).double()
WEIGHT = torch.tensor([1.5, -0.5, 0.25, 3.0], dtype=torch.float64)
BIAS = torch.tensor([0.5, -1.0, 2.0, 0.75], dtype=torch.float64)
# Another number of features, so that a loop over four of them is wrong.
X_HAT_OF_6 = normal(3, 2, 6, seed=43).double()
WEIGHT_OF_6 = torch.tensor([1.5, -0.5, 0.25, 3.0, -2.0, 0.75], dtype=torch.float64)
BIAS_OF_6 = torch.tensor([0.5, -1.0, 2.0, 0.75, -0.25, 1.25], dtype=torch.float64)
FOUR, OFFSET = normal(4, 4, seed=44).double(), normal(4, seed=45).double()  # W and b
# The way back: unequal axes, a mean that is not zero, and rows of very different size.
WITHIN = 1e-9  # so that an ε of 1e-5 beside the root shows
ROWS = normal(2, 3, 4, seed=42).double() * torch.tensor([[1.0], [20.0], [0.1]]) + 2
STEPS = layer_norm_steps(ROWS, 4, WEIGHT, BIAS, eps=0.1)

# About lessons 1 to 3.
means_8_5 = Prediction(
    TOPIC,
    "means_8_5",
    answer=(8, 5, 1),
    reason="There's one mean for each row, and the averaged axis stays, with size 1.",
    wrong=[
        Wrong((8, 5), "The shape has lost an axis. With `keepdim=True` it stays, with size 1."),
        Wrong(
            (8, 1, 1),
            "That would be one mean for each sentence. Each position has its own.",
            Belief.ONE_MEAN_PER_SENTENCE,
        ),
        Wrong((1, 5, 16), "That's averaged over the batch.", Belief.OVER_THE_BATCH),
        Wrong(
            (1, 1, 16), "That's averaged over the batch and the positions.", Belief.OVER_THE_BATCH
        ),
        Wrong((8, 1, 16), "That's averaged over the positions. Layer norm averages the features."),
        Wrong((1, 1, 1), "That would be one mean of all numbers. Each row has its own."),
        Wrong((8, 5, 16), "That's the shape of the input. 16 numbers share one mean."),
        Wrong((16,), "Layer norm averages over the features, so their axis gets size 1."),
    ],
    hints=[
        "Which axis is averaged over?",
        "The averaged axis isn't dropped. What size does it get?",
    ],
)


var_eps = Prediction(
    TOPIC,
    "var_eps",
    answer=0.03 / (0.03 + 0.01),
    reason="var / (var + ε) is 0.03 / 0.04. This row is so narrow that ε shows.",
    wrong=[
        Wrong(1, "That would be right without ε. Here ε is a third of the variance."),
        Wrong(0.75**0.5, "That's the standard deviation afterwards. The variance is its square."),
        Wrong(
            0.03 / (0.03**0.5 + 0.01) ** 2,
            "You added ε outside the root. It's added to the variance, inside.",
            Belief.EPS_OUTSIDE_THE_ROOT,
        ),
        Wrong(0.03 + 0.01, "That's var + ε. The variance is divided by it."),
        Wrong(0.03 / 0.01, "That's var / ε. The divisor is var + ε."),
    ],
    within=0.006,
    hints=[
        "Each number is divided by the root of var + ε. What does that do to the variance?",
        "Divide 0.03 by the sum of 0.03 and 0.01.",
    ],
)


minus_2x = Prediction(
    TOPIC,
    "minus_2x",
    answer=-0.4,
    reason="The 7 is subtracted with the mean, the 2 cancels, and the minus stays.",
    wrong=[
        Wrong(
            0.4,
            "A positive factor cancels. A negative one turns the signs around.",
            Belief.SCALING_CHANGES_NOTHING,
        ),
        Wrong(-0.8, "The standard deviation also becomes twice as large, so the 2 cancels."),
        Wrong(-2 * 0.4 + 7, "That's −2 · 0.4 + 7. Layer norm comes last and takes both away."),
        Wrong(-0.4 + 7, "The 7 is part of the mean, and the mean is subtracted."),
    ],
    within=0.006,
    hints=[
        "What happens to the mean if you add 7 to every number?",
        "A standard deviation has no sign. So which part of the factor −2 cancels?",
    ],
)


# The story.
trained = Prediction(
    TOPIC,
    "trained",
    answer=4,
    reason="All four networks learn the rings. In this network, at this rate, standardizing is "
    "enough, without γ and β.",
    wrong=[
        Wrong(
            0,
            "Then γ and β would be what makes the network train. But they start at 1 and 0, where "
            "they change nothing.",
        ),
        Wrong(2, "Run the next cell: what differs between the seeds isn't whether they train."),
        Wrong(
            3,
            "The seeds only change the weights that training starts from. Run the next cell, and "
            "see whether that matters.",
        ),
        Wrong(
            1,
            "Then training would need luck. But a norm enlarges small rows for any starting "
            "weights. Run the next cell.",
        ),
    ],
    hints=[
        "What do γ = 1 and β = 0 do to the output of a norm?",
        "Why did the rings fail without norms? Is that also so with a norm that has no γ and β?",
    ],
)


gammas = Prediction(
    TOPIC,
    "gammas",
    answer=(4,),
    reason="Each feature has its own γ, and all points and positions share it.",
    wrong=[
        *(
            Wrong(shape, f"A γ of shape {shape} would scale all features alike.", SINGLE)
            for shape in ((), (1,))
        ),
        Wrong(1, "A single γ would scale all features alike.", SINGLE),
        *(
            Wrong(
                shape,
                f"With shape {shape} the positions would have different γ. They share it.",
                SINGLE,
            )
            for shape in ((2,), (2, 1), (1, 2, 1), (2, 4))
        ),
        *(
            Wrong(shape, f"With shape {shape} each row would have its own γ. All rows share it.")
            for shape in ((3, 2), (3, 2, 1))
        ),
        Wrong(
            (3, 4),
            "With shape (N, D) each point would have its own γ. Then a new batch would need new "
            "parameters. All points share them.",
        ),
        Wrong((3, 2, 4), "Each of the 24 numbers would have its own γ. But all rows share it."),
        Wrong((4, 4), "A matrix would mix the features. Each feature has one factor of its own."),
        Wrong((1, 1, 4), "It would broadcast, but γ has no axes of size 1. Leave them out."),
    ],
    also=[(4, "It has four numbers. As a tuple, a shape with one axis has a comma: (4,).")],
    hints=[
        "A mean belongs to one row. A parameter is learned once, for all rows.",
        "γ has the shape of the axes that layer norm averages over.",
    ],
)


feature_2 = Prediction(
    TOPIC,
    "feature_2",
    answer=0.5 * -0.55 + 1,
    reason="Half of −0.55, and then 1 more.",
    wrong=[
        Wrong(0.5 * (-0.55 + 1), "You added β first, and scaled it too. Multiply by γ first."),
        Wrong(0.5 * -0.55, "That's γ times the number. Add β."),
        Wrong(-0.55 / 0.5 + 1, "You divided by γ. Multiply by it."),
        Wrong(1 * -0.55 + 0.5, "You multiplied by β and added γ. It's the other way around."),
        Wrong(-0.55 + 1, "You added β, but did not multiply by γ."),
        Wrong(0.5 * 0.55 + 1, "You lost the minus sign of −0.55."),
    ],
    within=0.006,
    hints=[
        "Read the formula from the left: first one operation, then the other.",
        "Half of −0.55 is −0.275. One more step is left.",
    ],
)


rescale = CodeExercise(
    TOPIC,
    "rescale",
    # The lesson's own come second: numbers for each position raise the same error there as `@`.
    inputs={
        "three sentences of four words with four features": (X_HAT, WEIGHT, BIAS),
        "the x_hat of this lesson": (X.x_hat, WEIGHT, BIAS),
        "three sentences of two words with six features": (X_HAT_OF_6, WEIGHT_OF_6, BIAS_OF_6),
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
    TOPIC,
    "of_512",
    answer=2 * 512,
    reason="There are 512 γ and 512 β, however many points and positions there are.",
    wrong=[
        Wrong(
            2, "That would be one γ and one β for all features. Each feature has its own.", SINGLE
        ),
        Wrong(512, "That's one number for each feature. Each has two, a γ and a β."),
        Wrong(
            2 * 10 * 512,
            "Then each point would have its own γ and β, of shape (N, D), and a batch of another "
            "size would need other parameters. All points share them.",
        ),
        Wrong(10 * 512, "That's how many numbers the input has. All 10 points share the γ and β."),
        Wrong(2 * 10, "γ and β belong to features, not to points."),
        Wrong(
            0,
            "γ and β aren't hyperparameters, which somebody chooses. They're parameters, and "
            "training sets them.",
        ),
    ],
    hints=["Which shape does γ have for 512 features?", "Count the γ, then count the β too."],
)


y_mean = Prediction(
    TOPIC,
    "y_mean",
    answer=(2 + 0.5 + 0 + 1.5) / 4,
    reason="y is (2, 0.5, 0, 1.5). The features have different scales, so they no longer cancel.",
    wrong=[
        Wrong(0, "Only `x_hat` has mean 0. γ and β change it."),
        Wrong(
            (0 + 1 - 1 + 0.5) / 4,
            "That's the mean of the four β alone. γ times `x_hat` would only have mean 0 if all "
            "four γ were equal.",
        ),
        Wrong((2 - 0.5 + 1 + 1) / 4, "That's the mean of γ times `x_hat`. Add the four β as well."),
        Wrong(
            (2 + 0.5 + 1 - 1) / 4,
            "Either that's the mean of the four γ, or you added β before you multiplied. Multiply "
            "each feature by its γ, and then add its β.",
        ),
        Wrong(
            (2 + 0.5 + 1 - 1 + 0 + 1 - 1 + 0.5) / 4,
            "Either that's the mean of γ + β, or you subtracted β. Multiply each feature by its γ, "
            "and then add its β.",
        ),
        Wrong(2 + 0.5 + 0 + 1.5, "That's the sum of the four numbers. Divide it by 4."),
    ],
    hints=[
        "Write down the four numbers of y first, one feature after the other.",
        "Feature 3 is −1 · −1 + 0.5 = 1.5. Make the other three like this, and average.",
    ],
)


folded_bias = CodeExercise(
    TOPIC,
    "folded_bias",
    # The first has as many outputs as features, so that a wrong axis fits as well, and is wrong.
    inputs={
        "a linear layer from four features to four": (FOUR, OFFSET, WEIGHT, BIAS),
        "a linear layer from four features to three": (FOUR[:3], OFFSET[:3], WEIGHT, BIAS),
    },
    hints=[
        "Put y = γ · x_hat + β into W y + b, and multiply it out. Which part has no x_hat in it?",
        "β goes through the layer like any other input.",
    ],
)


@folded_bias.answer
def beta_goes_through_the_layer(matrix, offset, weight, bias):
    return offset + matrix @ bias


@folded_bias.mistake()
def beta_as_it_is(matrix, offset, weight, bias):
    """You added β itself. The layer multiplies its input by W, and β is part of that input."""
    return offset + bias


@folded_bias.mistake()
def without_the_old_bias(matrix, offset, weight, bias):
    """That's what β adds. The layer's own b is still there, so add both."""
    return matrix @ bias


@folded_bias.mistake()
def nothing_added(matrix, offset, weight, bias):
    """You left b as it was, so β is lost."""
    return offset


@folded_bias.mistake()
def beta_times_gamma(matrix, offset, weight, bias):
    """You multiplied β by γ as well. γ multiplies only x_hat, and β is added after that."""
    return offset + matrix @ (weight * bias)


@folded_bias.mistake()
def along_the_wrong_axis(matrix, offset, weight, bias):
    """You summed over the outputs of W. Each output sums over the features: `W @ bias`."""
    return offset + matrix.T @ bias


@folded_bias.mistake()
def diagonal_only(matrix, offset, weight, bias):
    """You used only the diagonal of W. Each output gets something from the β of every feature."""
    return offset + matrix.diagonal() * bias[: len(offset)]


@folded_bias.mistake()
def b_through_the_layer(matrix, offset, weight, bias):
    """You sent b through the layer too. It's added after W, so it stays as it is."""
    return matrix @ (offset + bias)


@folded_bias.mistake()
def subtracted(matrix, offset, weight, bias):
    """You subtracted what β adds. Add it."""
    return offset - matrix @ bias


@folded_bias.mistake()
def gamma_in_place_of_beta(matrix, offset, weight, bias):
    """That's γ sent through the layer. γ goes into W, and β goes into b."""
    return offset + matrix @ weight


other_row = Prediction(
    TOPIC,
    "other_row",
    answer=-3.8049,
    reason="Standardized, the two rows are the same, so γ and β turn both into the row `one`.",
    wrong=[
        Wrong(
            20 * -3.8049 + 3,
            "Then each row would get its own numbers back. But γ and β only hold the mean and "
            "deviation of `one`.",
            Belief.NOTHING_IS_LOST,
        ),
        Wrong(
            -3.8049 + 3,
            "Then the + 3 would come back. It was subtracted with the mean of `other`, and γ and β "
            "don't hold that mean.",
            Belief.NOTHING_IS_LOST,
        ),
        Wrong(
            20 * -3.8049,
            "Then the factor 20 would come back. It was divided away with the deviation of "
            "`other`, and γ and β don't hold that deviation.",
            Belief.NOTHING_IS_LOST,
        ),
        Wrong(-1.3671, "That's the standardized number. γ and β still act on it."),
    ],
    within=0.006,
    hints=[
        "Standardizing `other` takes away its mean and its standard deviation. How does the result "
        "differ from that of `one`?",
        "γ and β are the same for both rows. Is their input the same, too?",
    ],
)


way_back = CodeExercise(
    TOPIC,
    "way_back",
    inputs={"the y of other points": (STEPS.y, WEIGHT, BIAS, STEPS.mean, 1 / STEPS.rstd)},
    within=WITHIN,
    hints=[
        "Write down the four operations from x to y in order. Undo the last one first.",
        "Forward, you subtract the mean, divide by the root, multiply by γ, and add β.",
    ],
)


@way_back.answer
def four_steps_backward(y, weight, bias, mean, root):
    x_hat = (y - bias) / weight
    return x_hat * root + mean


@way_back.mistake(Belief.NOTHING_IS_LOST)
def back_to_the_standardized_row(y, weight, bias, mean, root):
    """You undid γ and β. Each row's own root and mean are still missing."""
    return (y - bias) / weight


@way_back.mistake()
def without_gamma_and_beta(y, weight, bias, mean, root):
    """You used root and mean on y itself. γ and β came last, so undo them first."""
    return y * root + mean


@way_back.mistake()
def forward_again(y, weight, bias, mean, root):
    """You took y through layer norm once more. Reverse each of the four operations."""
    return (y - mean) / root * weight + bias


@way_back.mistake()
def in_the_forward_order(y, weight, bias, mean, root):
    """You undid the root and the mean first. They came first, so undo them last."""
    return (y * root + mean - bias) / weight


@way_back.mistake()
def without_brackets(y, weight, bias, mean, root):
    """Only β is divided by γ and multiplied by the root: put y − β in brackets."""
    return y - bias / weight * root + mean


@way_back.mistake()
def divided_before_the_shift_is_undone(y, weight, bias, mean, root):
    """You divided by γ before you subtracted β. β came last, so undo it first."""
    return (y / weight - bias) * root + mean


@way_back.mistake()
def multiplied_by_gamma(y, weight, bias, mean, root):
    """You multiplied by γ. Layer norm multiplied by it, so divide."""
    return (y - bias) * weight * root + mean


@way_back.mistake()
def divided_by_the_root(y, weight, bias, mean, root):
    """You divided by the root. Layer norm divided by it, so multiply."""
    return (y - bias) / weight / root + mean


@way_back.mistake()
def mean_before_the_root(y, weight, bias, mean, root):
    """You added the mean first, so the root multiplied it too. Add it last."""
    return ((y - bias) / weight + mean) * root


@way_back.mistake()
def mean_forgotten(y, weight, bias, mean, root):
    """The mean is missing: add it last."""
    return (y - bias) / weight * root


@way_back.mistake()
def root_forgotten(y, weight, bias, mean, root):
    """The root is missing: multiply by it before you add the mean."""
    return (y - bias) / weight + mean


@way_back.mistake()
def gamma_forgotten(y, weight, bias, mean, root):
    """γ is missing: divide by it once β is subtracted."""
    return (y - bias) * root + mean


@way_back.mistake()
def beta_forgotten(y, weight, bias, mean, root):
    """β is missing: subtract it first."""
    return y / weight * root + mean


@way_back.mistake()
def beta_added(y, weight, bias, mean, root):
    """You added β. Layer norm added it, so subtract."""
    return (y + bias) / weight * root + mean


@way_back.mistake()
def mean_subtracted(y, weight, bias, mean, root):
    """You subtracted the mean. Layer norm subtracted it, so add."""
    return (y - bias) / weight * root - mean


@way_back.mistake()
def gamma_and_beta_again(y, weight, bias, mean, root):
    """You multiplied by γ and added β once more. Subtract β, then divide by γ, to undo them."""
    return (y * weight + bias) * root + mean


@way_back.mistake()
def only_gamma_and_beta_again(y, weight, bias, mean, root):
    """You multiplied y by γ and added β once more, and did nothing else. Undo all four
    operations."""
    return y * weight + bias


@way_back.mistake()
def gamma_for_beta(y, weight, bias, mean, root):
    """You swapped γ and β. γ is `weight` and β is `bias`: subtract β, then divide by γ."""
    return (y - weight) / bias * root + mean


@way_back.mistake()
def mean_for_root(y, weight, bias, mean, root):
    """You swapped the mean and the root. Multiply by the root, then add the mean."""
    return (y - bias) / weight * mean + root


@way_back.mistake()
def epsilon_again(y, weight, bias, mean, root):
    """You added ε to the root. It is in there already."""
    return (y - bias) / weight * (root + 1e-5) + mean
