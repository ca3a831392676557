"""Exercises of lesson 5, batch norm and layer norm."""

from torch import nn

from lnorm_utils.beliefs import Belief
from lnorm_utils.examples import encoded_points, normal
from lnorm_utils.exercises.engine.code_exercise import CodeExercise
from lnorm_utils.exercises.engine.prediction import Prediction, Wrong
from lnorm_utils.slips import SENTENCES, Layout

TOPIC = "batch_norm"
# Unequal axes, a mean that is not zero, and once a spread so small that ε shows. float32, so that
# `nn.BatchNorm1d` and `nn.GroupNorm`, whose parameters are float32, can be tried.
WORDS = normal(3, 5, 4, seed=51) + 2
PIXELS = normal(2, 4, 3, 5, seed=52) + 2
SMALL = 0.02
ALL_WORDS = Layout(SENTENCES.axes, (0, 1), name="Batch norm", size="N · L")
IMAGES = Layout(
    ("the batch", "the channels", "the height", "the width"),
    (1,),
    dict.fromkeys(((0,), (0, 2, 3), (0, 1, 2, 3)), Belief.OVER_THE_BATCH)
    | {(1, 2, 3): Belief.SAME_AS_GROUP_NORM},
    size="C",
)
WITHIN = 1e-5
BATCH = Belief.OVER_THE_BATCH

mean_of_6 = Prediction(
    TOPIC,
    "mean_of_6",
    answer=(7 + 6 + 1) / 3,
    reason="The 6 shares its mean with the 7 and the 1 of the same point.",
    wrong=[
        Wrong(12 / 4, "That's the mean of feature 1, which batch norm subtracts.", BATCH),
        Wrong(
            47 / 12, "That's the mean of all numbers. Layer norm looks at one point only.", BATCH
        ),
        Wrong(
            4,
            "Either that's the mean of feature 0, or that of 7 and 1 alone. The mean is taken over "
            "all three numbers of the last point.",
        ),
        Wrong(7 + 6 + 1, "That's the sum of the three numbers. Divide it by how many they are."),
    ],
    within=0.006,
    hints=[
        "Which numbers belong to the same point as this 6?",
        "Average what stands beside it, not what stands above it, and count the 6 too.",
    ],
)


plus_ten = Prediction(
    TOPIC,
    "plus_ten",
    answer=(0, 12),
    reason="The mean of feature 0 rises by 10 too. In a row, all distances from the mean change.",
    wrong=[
        Wrong(
            (0, 0),
            "The first number is right. But in each row only one of three numbers went up by 10, "
            "and the mean by a third of that.",
        ),
        Wrong(
            (0, 4),
            "The first number is right. But in each row the mean and the spread change, so the two "
            "numbers beside the shifted one change as well.",
        ),
        Wrong((12, 0), "It's the other way around: batch norm subtracts the mean of a column."),
        Wrong(
            (4, 4),
            "In batch norm, the mean of the shifted feature rises by 10 too. In layer norm, each "
            "row has a new mean, and all its numbers change.",
        ),
        Wrong((4, 12), "The second number is right. In batch norm the mean rises by 10 too."),
        Wrong((12, 12), "The second number is right. In batch norm each feature has its own mean."),
    ],
    hints=[
        "What is added to the numbers is also added to their mean, if all that share the mean get "
        "it.",
        "In a row, one number goes up by 10 and the row's mean by a third of that. Which of the "
        "three distances from the mean stay what they were?",
    ],
)


eval_alone = Prediction(
    TOPIC,
    "eval_alone",
    answer=(1 - 3) / (14 / 3) ** 0.5,
    reason="The same as in training: a row needs itself only, in any mode and in any batch.",
    wrong=[
        Wrong(
            (1 - 0.4) / 1.567**0.5,
            "That's what batch norm gives. Layer norm keeps no running statistics, and uses the "
            "row's own mean, 3, in `eval` mode too.",
            Belief.TRAINING_MODE,
        ),
        Wrong(
            0,
            "In a batch of one each number would be its own mean. But layer norm averages over the "
            "three features, and needs no batch.",
            Belief.TRAINING_MODE,
        ),
        Wrong(
            1,
            "The number itself would come out if `eval` switched layer norm off. But it has no "
            "mode, and always normalizes.",
            Belief.TRAINING_MODE,
        ),
        Wrong((1 - 4) / 5**0.5, "That's normalized by column 0, as in batch norm.", BATCH),
        Wrong(
            -2 / 7**0.5, "This variance divides by 2. Divide by 3.", Belief.VARIANCE_OVER_D_MINUS_1
        ),
        Wrong(1 - 3, "That's the distance from the mean. Divide it by the standard deviation."),
    ],
    within=0.006,
    hints=[
        "What does layer norm need to know of the batch, and of the batches before?",
        "Subtract the mean of 1, 2 and 6 from the 1, and divide by the root of their variance, "
        "which is 4.667.",
    ],
)


words = CodeExercise(
    TOPIC,
    "words",
    inputs={
        "the x of this lesson": (encoded_points(),),
        "words with a spread of 0.02": (SMALL * WORDS,),
    },
    norm=lambda norm, x: norm.standardize(x, (0, 1)),
    layout=ALL_WORDS,
    within=WITHIN,
    hints=[
        "There is one mean for each feature. Which axes are averaged over?",
        "Either average over all axes but the last, keeping them, or swap two axes before and "
        "after `nn.BatchNorm1d`. ε stands inside the root.",
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
def not_swapped_back(norm, x):
    """The numbers are right, but the features are in the middle. Swap the axes back."""
    return norm.standardize(x, (0, 1)).transpose(1, 2)


@words.mistake()
def features_expected_last(norm, x):
    """`nn.BatchNorm1d` expects the features in the middle. Swap two axes before and after it."""
    return nn.BatchNorm1d(x.shape[-1])(x)


groups = Prediction(
    TOPIC,
    "groups",
    answer=4,
    reason="One group in each image: all its channels and all its pixels share a mean.",
    wrong=[
        Wrong(
            4 * 2 * 5,
            "That's one for each pixel of each image, as in layer norm over the channels. "
            "GroupNorm averages over the pixels as well.",
            Belief.SAME_AS_GROUP_NORM,
        ),
        Wrong(3, "That's one for each channel, as in batch norm. Here they are all in one group."),
        Wrong(4 * 3, "That's one for each channel of each image. Here they are all in one group."),
        Wrong(1, "There is one group in each image. GroupNorm never averages over the batch."),
    ],
    hints=[
        "A group is a set of channels of one image. Do the pixels of that image share its mean?",
        "They do. So count the groups of all images.",
    ],
)


pixels = CodeExercise(
    TOPIC,
    "pixels",
    inputs={
        "the images of this lesson": (normal(4, 3, 2, 5, seed=0),),
        "pixels with a spread of 0.02": (SMALL * PIXELS,),
    },
    norm=lambda norm, x: norm.standardize(x, 1),
    layout=IMAGES,
    within=WITHIN,
    hints=[
        "Which axis holds the features of a pixel? A mean over that axis alone, kept, broadcasts.",
        "If you would rather use `layer_norm`, which wants the features last: `permute` takes them "
        "there, and must bring them back.",
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
    b, c, h, w = x.shape
    return norm.standardize(x.reshape(b, h, w, c), -1).reshape(b, c, h, w)


@pixels.mistake()
def channels_left_at_the_end(norm, x):
    """The numbers are right, but the channels are last. Bring them back to axis 1."""
    return norm.standardize(x, 1).permute(0, 2, 3, 1)
