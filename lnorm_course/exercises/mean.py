"""Exercises of lesson 1, which numbers share a mean."""

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.slips.beliefs import Belief
from lnorm_utils.data import encoded_points, normal

TOPIC = "mean"
# In float64, so that mistakes are far apart.
X = encoded_points().double()
# As many points as positions and features, because a missing `keepdim` raises no error there.
# In its first sentence they are small, so that an ε shows.
CUBE = normal(5, 5, 5, seed=13).double() - 1
CUBE[0] *= 0.003
INPUTS = {"the x of this lesson": (X,), "five sentences of five words with five features": (CUBE,)}

that_train = Prediction(
    answer=6,
    reason="All of them train it. So the norms are two of many ways to do it.",
    wrong={
        0: "The task isn't too hard for every network. At least one of the six gets through.",
        1: "If you counted layer norm only, you are missing other ways, which are as good here.",
        2: "If you counted the two norms, ask what a better start or better steps could do.",
        3: "Some of those that you left out train it too.",
        4: "You are close. Two of those that you left out train it too.",
        5: "You are close. The one that you left out trains it too.",
    },
    hints=[
        "Which of them have you seen in networks that train well?",
        "Nothing says that only norms help. Some of the six are much older than layer norm.",
    ],
)


how_many = Prediction(
    answer=3 * 2,
    reason="Three points have two positions each, and each of these six rows has its own mean.",
    wrong={
        3: Belief.ONE_MEAN_PER_SENTENCE(
            "That's one mean for each point, so its two words would share it. In layer norm each "
            "word has its own."
        ),
        8: Belief.OVER_THE_BATCH(
            "That's one mean for each position and feature, taken over the points. Layer norm "
            "never averages over the batch."
        ),
        4: "Either you counted the numbers in each mean, or you took one mean for each feature, as "
        "batch norm does. Layer norm averages over the features.",
        2: "That's one mean for each position. Each point has its own.",
        12: "That's one mean for each point and feature, taken over the positions. Layer norm "
        "averages over the features.",
        24: "That's how many numbers there are. Several of them share a mean.",
        1: "One mean of all 24 numbers would make each point depend on all the others.",
    },
    hints=[
        "How many rows does the tensor have? A row is one point at one position.",
        "Multiply the number of points by the number of positions.",
    ],
)


shape_left = Prediction(
    answer=(3, 2, 1),
    reason="The mean runs over the last axis, so the size of that axis is now 1.",
    wrong={
        (3, 2): "That's the shape without `keepdim=True`. Here the averaged axis is kept.",
        (1, 2, 4): Belief.OVER_THE_BATCH(
            "You shrank the first axis, the batch. Layer norm averages over the features."
        ),
        (3, 1, 1): Belief.ONE_MEAN_PER_SENTENCE(
            "You shrank the positions too, so the words of a sentence would share one mean."
        ),
        (3,): Belief.ONE_MEAN_PER_SENTENCE(
            "That's one mean for each point, so the words of a sentence would share it."
        ),
        (3, 1, 4): "You shrank the positions. The mean runs over the last axis.",
        (3, 2, 4): "That's the shape of `x`. The axis that you average over shrinks.",
    },
    hints=[
        "Only the axis that you average over changes its size.",
        "With `keepdim=True` that axis doesn't go away. Which size is left?",
    ],
)


row_means = CodeExercise(
    inputs=INPUTS,
    norm=lambda norm, x: norm.mean(x),
    without=["lnorm_utils.mean"],
    hints=[
        "`x.mean` takes an axis and can keep it.",
        "The features are the last axis, and that axis has to stay, with size 1.",
    ],
)


@row_means.answer
def over_the_features(x):
    return x.mean(dim=-1, keepdim=True)


center = CodeExercise(
    inputs=INPUTS,
    norm=lambda norm, x: norm.center(x),
    hints=[
        "Subtract from each row its own mean.",
        "Which shape do the means need, so that each is subtracted from its own row?",
    ],
)


@center.answer
def minus_its_own_mean(x):
    return x - x.mean(dim=-1, keepdim=True)


@center.mistake()
def only_the_mean(norm, x):
    """You returned the means. Subtract them from their rows."""
    return norm.mean(x)


@center.mistake()
def divides_too(norm, x):
    """You also divided by the standard deviation. Here you only subtract the mean."""
    return norm.center(x) / norm.root(norm.variance(x))


@center.mistake()
def normalizes(norm, x):
    """You normalized the rows, with an ε of 1e-5. Here you only subtract the mean."""
    return norm.center(x) / norm.root(norm.variance(x) + 1e-5)


for_one_sentence = Prediction(
    answer=10,
    reason="One for each word. The batch holds a single sentence, so there are 10 · 1 rows.",
    wrong={
        1: Belief.ONE_MEAN_PER_SENTENCE(
            "That's one mean for the whole sentence. Each of its words has its own."
        ),
        512: "That's one mean for each feature. Layer norm averages over the features.",
        5120: "That's how many numbers there are. 512 of them share each mean.",
    },
    hints=[
        "The features are the last axis, wherever the points and positions are.",
        "How many rows of 512 numbers does the tensor have?",
    ],
)


swap = CodeExercise(
    inputs={
        "the x of this lesson": (X,),
        "five sentences of three words with six features": (normal(5, 3, 6, seed=14).double(),),
    },
    hints=[
        "The tensor comes as (N, L, D), and you want (L, N, D): two axes change places.",
        "There is a method for exactly that. It isn't `reshape`.",
    ],
)


@swap.answer
def swap_the_first_two_axes(x):
    return x.transpose(0, 1)


@swap.mistake(Belief.RESHAPE_SWAPS_AXES)
def reshape_to_the_asked_for_shape(x):
    """The shape is right, but `reshape` reads the numbers in order and fills the new shape with
    them, so words of different sentences are mixed. Use `transpose`."""
    return x.reshape(x.shape[1], x.shape[0], x.shape[2])


@swap.mistake()
def reverse_all_axes(x):
    """You reversed all three axes, so the features come first. Only swap the first two."""
    return x.permute(2, 1, 0)


@swap.mistake()
def swap_the_last_two_axes(x):
    """You swapped positions and features. Swap points and positions."""
    return x.transpose(1, 2)


@swap.mistake()
def nothing_changed(x):
    """Your tensor is the same as `x`, still (N, L, D)."""
    return x


last_word = Prediction(
    answer=(9, 10),
    reason="That's a word of sentence 1. The shape fits, and the sentences are mixed.",
    wrong={
        (5, 6): Belief.RESHAPE_SWAPS_AXES(
            "That's what `transpose` puts there. `reshape` doesn't swap axes: it reads 1 to 12 in "
            "order and fills the new shape with them."
        ),
        (11, 12): "That's the last pair of all, in `[2, 1]`.",
        (9, 10, 11, 12): "These are both words at the last position. The index [2, 0] picks one of "
        "them.",
    },
    hints=[
        "`reshape` reads the numbers in order and fills the new shape in order.",
        "Write down 1 to 12 in three groups of two pairs; sentence 0 is the first pair of each.",
    ],
)


put_in_bank(TOPIC, vars(), further=("for_one_sentence", "swap", "last_word"))
