"""Exercises on batch norm and layer norm."""

from torch import nn

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.models import Model, axes_of
from lnorm_utils.data import encoded_points, normal

TOPIC = "batch_norm"
# Unequal axes, a mean that is not zero, and once a spread so small that ε shows. float32, so that
# `nn.BatchNorm1d` and `nn.GroupNorm`, whose parameters are float32, can be tried.
WORDS = normal(5, 3, 6, seed=51) + 2
PIXELS = normal(2, 4, 3, 6, seed=52) + 2
SMALL = 0.02
ALL_WORDS = Model(
    "layer_norm",
    axes=axes_of(("the batch", "the positions", "the features"), (0, 1)),
    called="Batch norm",
    size="N · L",
)
IMAGES = Model(
    "layer_norm",
    axes=axes_of(
        ("the batch", "the channels", "the height", "the width"),
        (1,),
        dict.fromkeys(((0,), (0, 2, 3), (0, 1, 2, 3)), Belief.OVER_THE_BATCH)
        | {(1, 2, 3): Belief.SAME_AS_GROUP_NORM},
    ),
    size="C",
)
WITHIN = 1e-5
BATCH = Belief.OVER_THE_BATCH

colored = Prediction(
    answer=1,
    reason="Three colors are three means, one for each row. `dim` names the axis that is averaged "
    "over, and a row runs along axis 1.",
    wrong={
        0: "`dim=0` averages over the three rows, so each of the four columns has a mean: four "
        "colors.",
        3: "That's how many means there are. `dim` is the number of an axis, and there are two.",
        4: "That's how many cells share a mean. `dim` is the number of an axis, and there are two.",
        -1: "That's the right axis, counted from the end. Count it from 0.",
        (0, 1): "Averaged over both axes, all twelve cells share one mean: one color.",
    },
    hints=[
        "With three colors there are three means. Is that one for each row, or for each column?",
        "`dim` is the axis that disappears. Which shape do three means have, (3,) or (4,)?",
    ],
)


normed_10 = Prediction(
    answer=5 / 3,
    reason="The mean is 5 and the variance is (9 + 1 + 1 + 25) / 4 = 9, so (10 − 5) / 3.",
    wrong={
        5: "That's how far the 10 is from the mean. Divide it by the standard deviation.",
        5 / 12**0.5: Belief.VARIANCE_OVER_D_MINUS_1(
            "You divided the sum of squares by 3. Layer norm divides it by 4."
        ),
        5 / 9: "You divided by the variance. Divide by its root.",
        10 / 3: "You divided by the standard deviation, but didn't subtract the mean.",
    },
    within=0.006,
    hints=[
        "The mean is 5. How far is each number from it, and what's the mean of the squares?",
        "The variance is 9. Divide the distance of the last number by the root of that.",
    ],
)


learned_6 = Prediction(
    answer=12,
    reason="γ and β have one number for each of the six features, whatever N and L are.",
    wrong={
        6: "That's γ alone. β has six numbers too.",
        2: Belief.SINGLE_GAMMA_AND_BETA("That would be one γ and one β. Each feature has its own."),
        20: Belief.SINGLE_GAMMA_AND_BETA(
            "That would be one γ and one β for each position. Each feature has its own, and all "
            "positions share them."
        ),
        2 * 10 * 6: "You gave each position its own γ and β. All positions share the same ones.",
        2 * 8 * 10 * 6: "You gave each point its own γ and β. All points and positions share the "
        "same ones.",
    },
    hints=["Which shape does γ have?", "γ and β both have the shape `normalized_shape`."],
)


mean_of_6 = Prediction(
    answer=(7 + 6 + 1) / 3,
    reason="The 6 shares its mean with the 7 and the 1 of the same point.",
    wrong={
        12 / 4: BATCH("That's the mean of feature 1, which batch norm subtracts."),
        47 / 12: BATCH("That's the mean of all twelve numbers. Layer norm uses one point only."),
        4: "That's either the mean of feature 0, or the mean of 7 and 1 alone. Average all three "
        "numbers of the last point.",
        7 + 6 + 1: "That's the sum of the three numbers. Divide it by 3.",
    },
    within=0.006,
    hints=[
        "Which numbers belong to the same point as this 6?",
        "Average the numbers beside it, not those above it, and count the 6 itself too.",
    ],
)


plus_ten = Prediction(
    answer=(0, 12),
    reason="In its column, the mean rises by 10 too, so nothing changes. In each row, the mean "
    "rises by a third of 10, so every number has a new distance from it.",
    wrong={
        (0, 0): "The first number is right. But in each row only one of three numbers went up by "
        "10, so look at what the mean of the row does.",
        (0, 4): "The first number is right. In each row, look at how far the two numbers beside "
        "the shifted one are from the mean now.",
        (12, 0): "You may have mixed up the two. Batch norm subtracts the mean of a column, and "
        "layer norm that of a row.",
        (4, 4): "You counted the shifted numbers, as if the means stayed where they are. Look at "
        "what happens to each mean.",
        (12, 4): "You let batch norm change everything and layer norm only the shifted numbers. "
        "Look at which numbers share a mean in each of the two.",
        (4, 12): "The second number is right. In batch norm, look at what the mean of the shifted "
        "feature does.",
        (12, 12): "The second number is right. In batch norm each feature has its own mean, and "
        "only one feature was shifted.",
    },
    hints=[
        "If all numbers that share a mean go up by 10, what happens to the mean?",
        "In a row, one number goes up by 10 and the row's mean by a third of that. Which of the "
        "three distances from the mean stay the same?",
    ],
)


eval_alone = Prediction(
    answer=(3 - 6) / (26 / 3) ** 0.5,
    reason="It would be the same number in training. A row needs nothing but itself.",
    wrong={
        (3 - 0.4) / 1.567**0.5: Belief.TRAINING_MODE(
            "That's what batch norm gives. Layer norm keeps no running statistics, and uses the "
            "row's own mean, 6, in `eval` mode too."
        ),
        0: Belief.TRAINING_MODE(
            "Batch norm would subtract each number from itself in a batch of one. Layer norm "
            "averages over the three features, so it needs no batch."
        ),
        3: Belief.TRAINING_MODE(
            "That would come out if `eval` switched layer norm off. Layer norm has only one mode: "
            "it always normalizes."
        ),
        (3 - 4) / 5**0.5: BATCH(
            "You used the mean and variance of the table's column 0, as batch norm does."
        ),
        -3 / 13**0.5: Belief.VARIANCE_OVER_D_MINUS_1("This variance divides by 2. Divide by 3."),
        3 - 6: "That's the distance from the mean. Divide it by the standard deviation.",
    },
    within=0.006,
    hints=[
        "What does layer norm need to know about the batch, and about earlier batches?",
        "Subtract the mean of 3, 5 and 10 from the 3, and divide by the root of their variance, "
        "which is 8.667.",
    ],
)


words = CodeExercise(
    inputs={
        "the x of this lesson": (encoded_points(),),
        "five sentences of three words with six features": (SMALL * WORDS,),
    },
    norm=lambda norm, x: norm.standardize(x, (0, 1)),
    layout=ALL_WORDS,
    within=WITHIN,
    hints=[
        "There is one mean for each feature. Which axes do you average over?",
        "Average over all axes but the last and keep them, or swap two axes before and after "
        "`nn.BatchNorm1d`. ε is inside the root.",
    ],
)


@words.answer
def over_all_words(x):
    mean = x.mean(dim=(0, 1), keepdim=True)
    var = (x - mean).square().mean(dim=(0, 1), keepdim=True)
    return (x - mean) / (var + 1e-5).sqrt()


@words.mistake(Belief.RESHAPE_SWAPS_AXES)
def reshaped_to_features_first(norm, x):
    """You used `reshape` for (N, D, L), which mixes features and positions. Use `transpose`."""
    n, length, d = x.shape
    return norm.standardize(x.reshape(n, d, length), (0, 2)).reshape(n, length, d)


@words.mistake()
def as_it_was(norm, x):
    """Your numbers are still those of `x`. In `eval` mode batch norm takes its statistics from
    earlier batches, and a new layer has seen none. Use those of this batch."""
    return x


@words.mistake()
def swapped_alone(norm, x):
    """You swapped two axes of `x`, and nothing else has changed. In `eval` mode batch norm doesn't
    use the mean and the variance of this batch."""
    return x.transpose(1, 2)


@words.mistake()
def not_swapped_back(norm, x):
    """The features are in the middle of your result. Swap the axes back at the end."""
    return norm.standardize(x, (0, 1)).transpose(1, 2)


@words.mistake()
def features_expected_last(norm, x):
    """`nn.BatchNorm1d` expects the features in the middle. Swap two axes before and after it."""
    return nn.BatchNorm1d(x.shape[-1])(x)


padding = Prediction(
    answer=316,
    reason="The row is all but constant, so its variance is next to 0, and layer norm divides by "
    "√ε = 0.00316 alone. A gradient on its way back is divided by the same number.",
    wrong={
        0: "You may have thought: a constant row gives the same output whatever the constant is. "
        "That's true of adding the same number to all features. But these changes differ, and "
        "change the output a lot.",
        1: "That would be so if layer norm left the row alone. It divides the row by √(0 + ε).",
        1e5: "You divided by ε. Layer norm divides by the root of it.",
    },
    also={1e5**0.5: "It's √100,000, which is 316 rounded."},
    within=0.04,
    hints=[
        "Layer norm divides by the root of variance plus ε. What's the variance of four zeros?",
        "Lesson 3 has the factor: the largest one by which layer norm multiplies a row.",
    ],
)


groups = Prediction(
    answer=4,
    reason="There's one group in each image. All its channels and all its pixels share a mean.",
    wrong={
        4 * 2 * 5: Belief.SAME_AS_GROUP_NORM(
            "That's one for each pixel of each image, as in layer norm over the channels. "
            "GroupNorm averages over the pixels as well."
        ),
        3: "That's one for each channel, as in batch norm. Here all are in one group.",
        4 * 3: "That's one for each channel of each image. Here all are in one group.",
        1: "There is one group in each image. GroupNorm never averages over the batch.",
    },
    hints=[
        "A group is a set of channels of one image. Do the pixels of that image share its mean?",
        "They do. So count the groups in all images.",
    ],
)


pixels = CodeExercise(
    inputs={
        "the images of this lesson": (normal(4, 3, 2, 5, seed=0),),
        "two images of 3 · 6 pixels with four channels": (SMALL * PIXELS,),
    },
    norm=lambda norm, x: norm.standardize(x, 1),
    layout=IMAGES,
    within=WITHIN,
    hints=[
        "Which axis holds the features of a pixel? Average over that axis alone, and keep it.",
        "You can also use `layer_norm`, which wants the features last. `permute` takes the "
        "channels there, and a second `permute` brings them back.",
    ],
)


@pixels.answer
def each_pixel_by_its_channels(x):
    mean = x.mean(dim=1, keepdim=True)
    var = (x - mean).square().mean(dim=1, keepdim=True)
    return (x - mean) / (var + 1e-5).sqrt()


@pixels.mistake(Belief.RESHAPE_SWAPS_AXES)
def reshaped_to_channels_last(norm, x):
    """You used `reshape` to move the channels, which mixes them with the pixels. Use `permute`."""
    n, c, h, w = x.shape
    return norm.standardize(x.reshape(n, h, w, c), -1).reshape(n, c, h, w)


@pixels.mistake(Belief.RESHAPE_SWAPS_AXES)
def reshaped_there_and_permuted_back(norm, x):
    """You used `reshape` to bring the channels to the end, which mixes them with the pixels. Use
    `permute` there, too."""
    n, c, h, w = x.shape
    return norm.standardize(x.reshape(n, h, w, c), -1).permute(0, 3, 1, 2)


@pixels.mistake()
def as_it_is(norm, x):
    """Your numbers are still those of `x`. Give each pixel mean 0 and variance 1, up to ε."""
    return x


@pixels.mistake()
def channels_left_at_the_end(norm, x):
    """The channels are the last axis of your result. Bring them back to axis 1."""
    return norm.standardize(x, 1).permute(0, 2, 3, 1)


in_pairs = Prediction(
    answer=0.5,
    choices=[0, 0.5, 0.75, 1],
    reason="That's as good as guessing. With two points in a batch, each batch norm only says "
    "which of the two has the larger feature.",
    wrong={
        1: "The network knows the rings: in `eval` mode, or in one batch of all 512 points, it's "
        "nearly always right. But its batch norms now take their means from two points only.",
        0.75: "It's worse than that. Each of the eight batch norms sees two points only, and the "
        "errors add up from layer to layer.",
        0: "To be always wrong, it would have to tell the rings apart.",
    },
    hints=[
        "In training mode, where do the means and variances come from?",
        "Take two numbers, such as 3 and 8, and subtract their mean. What's left of their values?",
    ],
)


put_in_bank(TOPIC, vars(), further=("groups", "padding", "pixels"))
