"""Exercises of lesson 1, which numbers share a mean."""

from lnorm_utils.examples import normal
from lnorm_utils.exercises.beliefs import Belief
from lnorm_utils.exercises.engine.exercise import Exercise

TOPIC = "mean"
# Unequal axes, means of both signs, and float64, so that mistakes are far apart.
POINTS = 2 * normal(2, 3, 4, seed=11).double() + 0.5
TABLE = normal(3, 5, seed=14).double() - 1

how_many = Exercise(
    TOPIC,
    "how_many",
    hints=[
        "How many rows does the tensor have? A row is one point at one position.",
        "Multiply the number of points by the number of positions.",
    ],
)


@how_many.answer
def one_for_each_row():
    """One for each point and position: three points at two positions."""
    return 3 * 2


@how_many.mistake(Belief.ONE_MEAN_PER_SENTENCE)
def one_for_each_sentence():
    """That is one for each point, so its two words would share a mean. Each word has its own."""
    return 3


@how_many.mistake(Belief.OVER_THE_BATCH)
def one_for_each_feature_and_position():
    """Eight is 2 · 4: one mean for each feature at each position, taken over the points. Layer norm
    never averages over the batch."""
    return 8


@how_many.mistake(Belief.OVER_THE_BATCH)
def one_for_each_feature():
    """Four is the number of features. A mean for each feature runs over the batch, which is what
    batch norm does; layer norm averages the features themselves."""
    return 4


@how_many.mistake(Belief.OVER_THE_BATCH)
def one_for_each_position():
    """Those are means over points and features together, one for each position. Layer norm never
    averages over the batch."""
    return 2


@how_many.mistake()
def one_for_all():
    """One mean of all 24 numbers would tie every point to every other."""
    return 1


shape_left = Exercise(
    TOPIC,
    "shape_left",
    hints=[
        "Only the axis that is averaged over changes its size.",
        "With `keepdim=True` an axis does not go away. Which size is left?",
    ],
)


@shape_left.answer
def keeps_the_axis():
    """The last axis was averaged over, and size 1 is left of it."""
    return (3, 2, 1)


@shape_left.mistake()
def drops_the_axis():
    """That is the shape without `keepdim=True`. It does not line up with (3, 2, 4) from the
    right."""
    return (3, 2)


@shape_left.mistake(Belief.OVER_THE_BATCH)
def over_the_batch():
    """Here the first axis has shrunk, so you averaged over the points of the batch."""
    return (1, 2, 4)


@shape_left.mistake(Belief.ONE_MEAN_PER_SENTENCE)
def over_the_sentence():
    """Here the positions have shrunk too, so the words of a sentence share one mean."""
    return (3, 1, 1)


@shape_left.mistake()
def as_large_as_the_points():
    """That is the shape of the points. The axis that is averaged over shrinks."""
    return (3, 2, 4)


row_means = Exercise(
    TOPIC,
    "row_means",
    inputs=[(POINTS,), (TABLE,)],
    hints=[
        "`x.mean` takes an axis and can keep it.",
        "The features are the last axis, and the size that is left must be 1.",
    ],
)


@row_means.answer
def over_the_features(x):
    return x.mean(dim=-1, keepdim=True)


@row_means.mistake()
def without_keepdim(x):
    """The numbers are right, but the last axis is gone, so they cannot be subtracted from their
    rows: pass `keepdim=True`."""
    return x.mean(dim=-1)


@row_means.mistake(Belief.OVER_THE_BATCH)
def over_the_first_axis(x):
    """You averaged over the first axis, the batch. Layer norm averages over the last one."""
    return x.mean(dim=0, keepdim=True)


@row_means.mistake(Belief.ONE_MEAN_PER_SENTENCE)
def over_positions_and_features(x):
    """You averaged over the last two axes, so all words of a sentence share a mean. Average over
    the last axis only."""
    return x.mean(dim=(-2, -1), keepdim=True)


@row_means.mistake()
def over_everything(x):
    """That is one mean of all numbers. Say which axis: `dim=-1`."""
    return x.mean()


@row_means.mistake()
def sum_of_rows(x):
    """You added the features up and did not divide by how many there are."""
    return x.sum(dim=-1, keepdim=True)


center = Exercise(
    TOPIC,
    "center",
    # As many rows as features, for there a missing `keepdim` raises no error.
    inputs=[(normal(4, 4, seed=12).double() - 1,), (normal(5, 5, 5, seed=13).double() - 1,)],
    hints=[
        "Subtract from each row its own mean.",
        "Which shape must the means have, so that each meets its own row?",
    ],
)


@center.answer
def minus_its_own_mean(x):
    return x - x.mean(dim=-1, keepdim=True)


@center.mistake(Belief.OVER_THE_BATCH)
def minus_the_mean_of_the_batch(x):
    """You subtracted the means over the batch. Now the columns add up to zero, not the rows."""
    return x - x.mean(dim=0, keepdim=True)


@center.mistake(Belief.ONE_MEAN_PER_SENTENCE)
def minus_the_mean_of_the_sentence(x):
    """You subtracted one mean from all words of a sentence. Each word has its own."""
    return x - x.mean(dim=(-2, -1), keepdim=True)


@center.mistake()
def means_without_their_axis(x):
    """Your means have lost their last axis, so they line up with the wrong one, and each row gets
    means of other rows. Keep the axis."""
    return x - x.mean(dim=-1)


@center.mistake()
def minus_the_mean_of_everything(x):
    """You subtracted one number from all rows. Each row has its own mean."""
    return x - x.mean()


swap = Exercise(
    TOPIC,
    "swap",
    inputs=[(POINTS,)],
    hints=[
        "The tensor comes as (N, L, D), and (L, N, D) is asked for: two axes change places.",
        "There is a method for exactly that. It is not `reshape`.",
    ],
)


@swap.answer
def swap_the_first_two_axes(x):
    return x.transpose(0, 1)


@swap.mistake(Belief.RESHAPE_SWAPS_AXES)
def reshape_to_the_asked_for_shape(x):
    """The shape is right and the numbers are mixed: `reshape` fills the new shape in reading order,
    so words of different sentences end up side by side. Use `transpose`."""
    return x.reshape(x.shape[1], x.shape[0], x.shape[2])


@swap.mistake()
def reverse_all_axes(x):
    """You turned all three axes around, so the features come first now. Only the first two
    change."""
    return x.permute(2, 1, 0)


@swap.mistake()
def swap_the_last_two_axes(x):
    """You swapped positions and features. Points and positions change places."""
    return x.transpose(1, 2)


@swap.mistake()
def nothing_changed(x):
    """The tensor is still (N, L, D)."""
    return x


last_word = Exercise(
    TOPIC,
    "last_word",
    hints=[
        "`reshape` reads the numbers in order and fills the new shape in order.",
        "Write down 1 to 12 in three groups of two pairs; sentence 0 is the first pair of each.",
    ],
)


@last_word.answer
def of_the_other_sentence():
    """It is a word of sentence 1: the shape fits, and the sentences are mixed."""
    return (9, 10)


@last_word.mistake(Belief.RESHAPE_SWAPS_AXES)
def as_after_a_transpose():
    """That would be the last word of sentence 0 after `transpose`. `reshape` swaps nothing: it
    reads 1 to 12 in order and cuts them anew."""
    return (5, 6)


@last_word.mistake()
def the_last_of_all():
    """11, 12 is the last pair of all. It belongs to sentence 1 in both layouts."""
    return (11, 12)


@last_word.mistake()
def both_words_of_the_position():
    """Those are the words of both sentences at the last position. Sentence 0 has the first of
    them."""
    return (9, 10, 11, 12)
