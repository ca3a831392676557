"""Exercises of lesson 5, batch norm and layer norm."""

import torch.nn.functional as F

from lnorm_utils.examples import normal
from lnorm_utils.exercises.beliefs import Belief
from lnorm_utils.exercises.engine.exercise import Exercise
from lnorm_utils.functional import standardize

TOPIC = "batch_norm"
# Unequal axes, a mean that is not zero, and once a spread so small that ε shows. float32, so that
# `nn.BatchNorm1d` and `nn.GroupNorm`, whose parameters are float32, can be tried.
WORDS = normal(3, 5, 4, seed=51) + 2
PIXELS = normal(2, 4, 3, 5, seed=52) + 2
SMALL = 0.02
WITHIN = 1e-5

mean_of_6 = Exercise(
    TOPIC,
    "mean_of_6",
    within=6e-3,
    hints=[
        "Which numbers belong to the same point as this 6?",
        "Average what stands beside it, not what stands above it, and count the 6 too.",
    ],
)


@mean_of_6.answer
def mean_of_its_row():
    """The 6 shares its mean with the 7 and the 1 of the same point."""
    return (7 + 6 + 1) / 3


@mean_of_6.mistake(Belief.OVER_THE_BATCH)
def mean_of_its_column():
    """You averaged feature 1 over the four points, 2, 2, 2 and 6. That is what batch norm
    subtracts."""
    return (2 + 2 + 2 + 6) / 4


@mean_of_6.mistake(Belief.OVER_THE_BATCH)
def mean_of_the_whole_table():
    """You averaged all twelve numbers, so all points would share one mean. Layer norm looks at one
    point only."""
    return (1 + 2 + 6 + 3 + 2 + 7 + 5 + 2 + 5 + 7 + 6 + 1) / 12


@mean_of_6.mistake()
def mean_of_its_neighbors():
    """You averaged the 7 and the 1 and left out the 6 itself. It is one of the three."""
    return (7 + 1) / 2


@mean_of_6.mistake()
def sum_of_its_row():
    """You added the three numbers up. Divide by how many there are."""
    return 7 + 6 + 1


plus_ten = Exercise(
    TOPIC,
    "plus_ten",
    hints=[
        "What is added to the numbers is also added to their mean, if all that share the mean get "
        "it.",
        "In a row, one number goes up by 10 and the row's mean by a third of that. Which of the "
        "three distances from the mean stay what they were?",
    ],
)


@plus_ten.answer
def of_a_shared_shift_nothing_is_left():
    """Batch norm subtracts what the whole column shares. In a row only one number moved, so the
    mean and all three distances from it changed."""
    return (0, 12)


@plus_ten.mistake(Belief.OVER_THE_BATCH)
def layer_norm_over_the_batch_too():
    """The first number is right. Layer norm does not subtract the mean of the column: in each row
    one number went up, and the others did not."""
    return (0, 0)


@plus_ten.mistake()
def the_two_swapped():
    """You have the two the wrong way around. Batch norm subtracts the mean of a column, and the 10
    with it."""
    return (12, 0)


@plus_ten.mistake()
def only_the_shifted_numbers():
    """The first number is right. But in each row the mean and the spread change as well, so the two
    numbers beside the shifted one come out different."""
    return (0, 4)


@plus_ten.mistake()
def nothing_takes_the_shift_away():
    """You let the four shifted numbers change in both. But they have a mean of their own in batch
    norm, which rises by 10 too; and in layer norm they move the mean of their neighbors."""
    return (4, 4)


@plus_ten.mistake()
def everything_changes():
    """The second number is right. In batch norm the shifted feature loses its 10 with its mean, and
    the other two features have means of their own."""
    return (12, 12)


eval_alone = Exercise(
    TOPIC,
    "eval_alone",
    within=6e-3,
    hints=[
        "What does layer norm need to know of the batch, and of the batches before?",
        "Subtract the mean of 1, 2 and 6 from the 1, and divide by the root of their variance, "
        "which is 4.667.",
    ],
)


@eval_alone.answer
def by_its_own_row():
    """The same as in training: a row needs itself only, in any mode and in any batch."""
    return (1 - 3) / (14 / 3) ** 0.5


@eval_alone.mistake(Belief.TRAINING_MODE)
def by_running_statistics():
    """That is what batch norm gives. Layer norm keeps no running statistics: the row has its own
    mean, 3, in `eval` mode too."""
    return (1 - 0.4) / 1.567**0.5


@eval_alone.mistake(Belief.TRAINING_MODE)
def its_own_mean():
    """You took a mean over a batch of one, which is the number itself. Layer norm averages over the
    three features, and their number does not depend on the batch."""
    return 0.0


@eval_alone.mistake(Belief.TRAINING_MODE)
def switched_off():
    """You let the number pass unchanged, as dropout does in `eval` mode. Layer norm has no mode and
    always normalizes."""
    return 1.0


@eval_alone.mistake(Belief.OVER_THE_BATCH)
def by_the_batch_of_the_training():
    """You normalized by column 0 of the table, with its mean 4. Layer norm takes the mean of the
    row."""
    return (1 - 4) / 5**0.5


words = Exercise(
    TOPIC,
    "words",
    inputs=[(WORDS,), (SMALL * WORDS,)],
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


@words.mistake()
def layer_norm_instead(x):
    """You normalized each row over its features. That is layer norm; batch norm goes through the
    words."""
    return standardize(x, dim=-1)


@words.mistake()
def positions_taken_for_features(x):
    """You normalized each position: `nn.BatchNorm1d` takes the axis in the middle for the features.
    Here they are the last."""
    return standardize(x, dim=(0, 2))


@words.mistake()
def each_position_by_itself(x):
    """You averaged over the points only, so the first words have other means than the second ones.
    Batch norm takes the words of all positions together."""
    return standardize(x, dim=0)


@words.mistake(Belief.RESHAPE_SWAPS_AXES)
def reshaped_to_features_first(x):
    """You made the shape (N, D, L) by `reshape`, which mixes features and positions. Axes are
    swapped by `transpose`."""
    n, length, d = x.shape
    return standardize(x.reshape(n, d, length), dim=(0, 2)).reshape(n, length, d)


@words.mistake()
def not_swapped_back(x):
    """The numbers are right, but the features stand in the middle. Swap the axes back."""
    return standardize(x, dim=(0, 1)).transpose(1, 2)


@words.mistake()
def variance_divided_by_one_less(x):
    """Your variance divides by one less than the number of words. Batch norm, like layer norm,
    normalizes with the biased variance."""
    mean = x.mean(dim=(0, 1), keepdim=True)
    return (x - mean) / (x.var(dim=(0, 1), correction=1, keepdim=True) + 1e-5).sqrt()


groups = Exercise(
    TOPIC,
    "groups",
    hints=[
        "A group is a set of channels of one image. Do the pixels of that image share its mean?",
        "They do. So count the groups of all images.",
    ],
)


@groups.answer
def one_for_each_image():
    """One group in each image: all its channels and all its pixels share a mean."""
    return 2


@groups.mistake(Belief.SAME_AS_GROUP_NORM)
def one_for_each_pixel():
    """That is one for each pixel of each image, which layer norm over the channels takes. GroupNorm
    averages over the pixels as well."""
    return 2 * 2 * 2


@groups.mistake()
def one_for_each_channel():
    """That is one for each channel, over all images, which batch norm takes. GroupNorm never
    averages over the batch."""
    return 3


@groups.mistake()
def one_for_each_channel_of_each_image():
    """That is what `nn.GroupNorm(3, 3)` takes, with each channel in a group of its own. Here all
    channels are in one group."""
    return 2 * 3


@groups.mistake()
def one_for_all_images():
    """There is one group, but each image has its own. GroupNorm never averages over the batch."""
    return 1


pixels = Exercise(
    TOPIC,
    "pixels",
    inputs=[(PIXELS,), (SMALL * PIXELS,)],
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


@pixels.mistake(Belief.SAME_AS_GROUP_NORM)
def group_norm_with_one_group(x):
    """You averaged over the pixels too, as `nn.GroupNorm(1, C)` does: one mean for each image. Each
    pixel has its own."""
    return F.group_norm(x, 1)


@pixels.mistake(Belief.OVER_THE_BATCH)
def batch_norm_of_each_channel(x):
    """You took one mean for each channel, over all images and pixels. That is batch norm: each
    pixel has its own mean, over its channels."""
    return standardize(x, dim=(0, 2, 3))


@pixels.mistake()
def the_last_axis_taken_for_the_channels(x):
    """You normalized the last axis. In (B, C, H, W) that is a line of pixels; the channels are axis
    1."""
    return standardize(x, dim=-1)


@pixels.mistake(Belief.RESHAPE_SWAPS_AXES)
def reshaped_to_channels_last(x):
    """You brought the channels to the end by `reshape`, which mixes them with the pixels. Axes are
    moved by `permute`."""
    b, c, h, w = x.shape
    return standardize(x.reshape(b, h, w, c)).reshape(b, c, h, w)


@pixels.mistake()
def channels_left_at_the_end(x):
    """The numbers are right, but the channels stand last. Bring them back to axis 1."""
    return standardize(x, dim=1).permute(0, 2, 3, 1)


@pixels.mistake(Belief.VARIANCE_OVER_D_MINUS_1)
def variance_divided_by_one_less_channel(x):
    """Your variance divides by C − 1. Layer norm divides by C, the number of channels."""
    mean = x.mean(dim=1, keepdim=True)
    return (x - mean) / (x.var(dim=1, correction=1, keepdim=True) + 1e-5).sqrt()
