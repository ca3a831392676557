"""Exercises on what is left of two features."""

import torch

from lnorm_utils.beliefs import Belief
from lnorm_utils.examples import normal
from lnorm_utils.exercises.engine.code_exercise import CodeExercise
from lnorm_utils.exercises.engine.prediction import Prediction, Wrong
from lnorm_utils.slips import Layout

TOPIC = "collapse"
# Differences on both sides of √ε, for ε = 0.1.
DIFFERENCES = torch.tensor([-3.0, -0.4, 0.1, 0.7, 5.0]).double()
# So narrow that an ε shows.
POINTS = 0.02 * normal(2, 3, 4, seed=61).double() + 0.01
NARROW = 0.02 * normal(2, 3, 5, seed=62).double()
PAIRS = Layout(("the points", "the two features"), (1,), {(0,): Belief.OVER_THE_BATCH})

pixel_means = Prediction(
    TOPIC,
    "pixel_means",
    answer=8 * 4 * 5,
    reason="Each of the 20 pixels of each of the eight images is a row with its own mean.",
    wrong=[
        Wrong(
            8,
            "That's one mean for each image, as `GroupNorm(1, 3)` takes it. Here each pixel has "
            "its own.",
            Belief.SAME_AS_GROUP_NORM,
        ),
        Wrong(
            3, "That's one mean for each channel, as batch norm takes it.", Belief.OVER_THE_BATCH
        ),
        Wrong(
            4 * 5,
            "You averaged over the batch as well. Each image has its own means.",
            Belief.OVER_THE_BATCH,
        ),
        Wrong(8 * 3, "You averaged over the pixels. Average over the channels of one pixel."),
        Wrong(8 * 3 * 4 * 5, "That's how many numbers there are. Three of them share a mean."),
    ],
    hints=["What's a row here, and what are its features?", "Count the pixels of all images."],
)


held_back = Prediction(
    TOPIC,
    "held_back",
    answer=0.75,
    reason="The variance of the output is var / (var + ε) = 3 / (3 + 1).",
    wrong=[
        Wrong(
            1,
            "That would be so with a much larger variance. Here ε is a third of it.",
            Belief.EPS_OUTSIDE_THE_ROOT,
        ),
        Wrong(0.75**0.5, "That's the standard deviation. Its square is the variance."),
        Wrong(0.25, "That's ε / (var + ε), what is missing from 1."),
        Wrong(3, "You divided the variance by ε. Layer norm divides it by the variance plus ε."),
    ],
    within=0.006,
    hints=[
        "Layer norm divides each distance from the mean by √(var + ε). What about the squares?",
        "The squares are divided by var + ε, so put 0.00003 and 0.00001 into var / (var + ε).",
    ],
)


y_var = Prediction(
    TOPIC,
    "y_var",
    answer=4,
    reason="Multiplying by 2 makes the variance 2² times as large. Adding 3 doesn't change it.",
    wrong=[
        Wrong(1, "That's the variance before γ and β."),
        Wrong(2, "That's the standard deviation. The variance is its square."),
        Wrong(7, "You added β to it. A number added to all features moves them, and their mean."),
        Wrong(5, "You took γ + β. Only γ changes how far the features are from their mean."),
    ],
    hints=[
        "How far are the features from their mean, once all are multiplied by γ?",
        "Twice as far, and the variance is a mean of squares. What does β change about that?",
    ],
)


places = Prediction(
    TOPIC,
    "places",
    answer=2,
    reason=(
        "A point whose first feature is larger goes to one place, every other point to the other."
    ),
    wrong=[
        Wrong(
            1,
            "A point whose first feature is larger and one whose second feature is larger still "
            "differ after layer norm. So there is more than one place.",
            Belief.TWO_FEATURES_GIVE_PLUS_MINUS_1,
        ),
        Wrong(
            1000,
            "You kept all points apart. But both features of a point are equally far from their "
            "mean, and layer norm divides by that distance.",
            Belief.NOTHING_IS_LOST,
        ),
        Wrong(
            4,
            "There would be four if each feature could be −1 or 1 on its own. But the features of "
            "a point add up to 0, so they always have opposite signs.",
        ),
        Wrong(
            3,
            "Besides (1, −1) and (−1, 1) there's only (0, 0). Two equal features end there, but "
            "random numbers are hardly ever equal.",
        ),
    ],
    hints=[
        "Subtract the mean of a pair in your head. How far is each number from it?",
        "Both numbers are equally far from the mean, one above it and one below. What can differ?",
    ],
)


def _pairs(delta):
    """Make points with two features, (N, 2), from their differences, (N,)."""
    return torch.stack((delta / 2, -delta / 2), -1)


from_delta = CodeExercise(
    TOPIC,
    "from_delta",
    inputs={
        "differences from −3 to 5 with ε = 0.1": (DIFFERENCES, 0.1),
        "random differences with ε = 0.001": (normal(6, seed=62).double(), 1e-3),
        "differences of about 0.01 with ε = 0.0001": (0.01 * normal(6, seed=63).double(), 1e-4),
    },
    norm=lambda norm, delta, eps: norm.standardize(_pairs(delta), eps=eps)[:, 0],
    layout=PAIRS,
    hints=[
        "Layer norm divides the distance from the mean by the root of variance plus ε.",
        "The text above gives you the distance and the variance.",
    ],
)


@from_delta.answer
def half_of_it_over_the_root(delta, eps):
    half = delta / 2
    return half / (half**2 + eps).sqrt()


@from_delta.mistake()
def the_whole_difference(norm, delta, eps):
    """You took δ for the distance from the mean. The mean lies in the middle, so each feature is
    only half as far from it."""
    return norm.standardize(_pairs(2 * delta), eps=eps)[:, 0]


@from_delta.mistake()
def the_whole_difference_divided(norm, delta, eps):
    """You divided δ, and not the distance from the mean. Each feature is δ/2 away from it."""
    return 2 * norm.standardize(_pairs(delta), eps=eps)[:, 0]


@from_delta.mistake()
def half_of_it_over_the_whole(norm, delta, eps):
    """You took δ² for the variance. It is δ²/4, the square of the distance from the mean."""
    return norm.standardize(_pairs(2 * delta), eps=eps)[:, 0] / 2


@from_delta.mistake()
def the_second_feature(norm, delta, eps):
    """Those are the numbers of the second feature. Where δ is positive, the first feature is the
    larger one, so it ends above 0."""
    return norm.standardize(_pairs(delta), eps=eps)[:, 1]


root_eps = Prediction(
    TOPIC,
    "root_eps",
    answer=1 / 5**0.5,
    reason="The variance is ε/4, and √ε/2 over √(ε/4 + ε) is 1/√5, whatever ε is.",
    wrong=[
        Wrong(
            1.0,
            "That's the result without ε. Here ε is four times as large as the variance, so it "
            "makes a difference.",
        ),
        Wrong(
            -1 / 5**0.5,
            "That's the second feature. The first one is larger, so it ends above 0.",
        ),
        Wrong(
            1 / 2**0.5,
            "That's the result at δ/2 = √ε. Here δ itself is √ε, and each feature is only half as "
            "far from the mean.",
        ),
        Wrong(
            0.001**0.5 / 2,
            "That's the distance from the mean. Layer norm divides it by the root of variance "
            "plus ε.",
        ),
        Wrong(
            0.001**0.5 / 2 / (0.001**0.5 / 2 + 0.001),
            "You added ε to the standard deviation, where 0.001 hardly counts beside 0.0158. It "
            "is added to the variance, which is only 0.00025.",
            Belief.EPS_OUTSIDE_THE_ROOT,
        ),
        Wrong(
            0.2,
            "One fifth is var / (var + ε), the variance of the output. The feature is the root of "
            "that.",
        ),
        Wrong(
            0.5,
            "You divided by √ε alone. The variance of the pair, ε/4, is under the root too.",
        ),
        Wrong(
            1 / 6**0.5,
            "You divided the sum of squares by D − 1, so your variance was ε/2. Divide by D, and "
            "it's ε/4.",
            Belief.VARIANCE_OVER_D_MINUS_1,
        ),
        Wrong(
            0.0,
            "ε makes small differences smaller, but never zero.",
        ),
    ],
    within=0.006,
    hints=[
        "Put δ/2 = √ε/2 into the formula of this lesson. What's under the root?",
        "You get √ε/2 divided by √(ε/4 + ε).",
    ],
)


one_number = Prediction(
    TOPIC,
    "one_number",
    answer=0.7,
    reason="A number minus itself is 0, and γ · 0 + β is β.",
    wrong=[
        Wrong(
            1,
            "A single number minus its own mean is 0, not 1. γ and β come after that.",
            Belief.ONE_FEATURE_GIVES_1,
        ),
        Wrong(
            5.7,
            "You computed γ · 1 + β. But a single number minus its own mean is 0, not 1.",
            Belief.ONE_FEATURE_GIVES_1,
        ),
        Wrong(
            -4.3,
            "You computed γ · (−1) + β, as if the sign were left. It's left of two features. A "
            "single number has no neighbor to be larger or smaller than.",
        ),
        Wrong(
            -14.3,
            "You computed γ · (−3) + β, as if layer norm had left the number alone. It subtracts "
            "the mean first, and that's the number itself.",
        ),
        Wrong(
            -3,
            "−3 is the number as it came. Layer norm subtracts the mean, and that is the number "
            "itself.",
        ),
        Wrong(0, "0 is what standardizing leaves. γ keeps it at 0, and then β is added."),
    ],
    hints=[
        "What is the mean of one number, and how far is the number from it?",
        "γ multiplies that distance. What's added after that?",
    ],
)


sphere = CodeExercise(
    TOPIC,
    "sphere",
    inputs={
        "two sentences of three words with four features": (POINTS,),
        "two sentences of three words with five features": (NARROW,),
    },
    norm=lambda norm, x: norm.standardize(x, eps=0.0),
    hints=[
        "Two steps, one for each equation. First make the features of each row add up to 0.",
        "Then make each row as long as √D: divide by the length that it has. "
        "`x.norm(dim=-1, keepdim=True)` is the length of each row of `x`.",
    ],
)


@sphere.answer
def centered_and_of_length_root_d(x):
    centered = x - x.mean(dim=-1, keepdim=True)
    return x.shape[-1] ** 0.5 * centered / centered.norm(dim=-1, keepdim=True)


@sphere.mistake()
def with_eps(norm, x):
    """You added an ε of 1e-5, as layer norm does. The squares of a narrow row then add up to less
    than D."""
    return norm.standardize(x, eps=1e-5)


@sphere.mistake()
def of_length_1(norm, x):
    """The squares of each of your rows add up to 1. They should add up to D, so the length should
    be √D."""
    return norm.standardize(x, eps=0.0) / x.shape[-1] ** 0.5


@sphere.mistake()
def of_length_d(norm, x):
    """You made the rows as long as D. Their squares then add up to D²."""
    return norm.standardize(x, eps=0.0) * x.shape[-1] ** 0.5


@sphere.mistake()
def not_centered(norm, x):
    """Your rows do not add up to 0. Subtract the mean of each row before you measure its length."""
    return x.shape[-1] ** 0.5 * x / x.norm(dim=-1, keepdim=True)


@sphere.mistake()
def neither_centered_nor_of_length_root_d(norm, x):
    """Your rows do not add up to 0, and their squares add up to 1 in place of D. Subtract the mean
    of each row first, and make its length √D."""
    return x / x.norm(dim=-1, keepdim=True)


@sphere.mistake()
def divided_by_the_squared_length(norm, x):
    """You divided by the sum of the squares. The length of a row is the root of it."""
    centered = norm.center(x)
    return x.shape[-1] ** 0.5 * centered / centered.square().sum(dim=-1, keepdim=True)


@sphere.mistake()
def one_length_for_all(norm, x):
    """You divided by one length for the whole tensor. Each row has its own (`dim=-1`)."""
    centered = norm.center(x)
    return x.shape[-1] ** 0.5 * centered / centered.norm()


@sphere.mistake()
def lengths_over_the_positions(norm, x):
    """Your lengths run over the positions, as those of `F.normalize` do without `dim=-1`. Each row
    has its own."""
    centered = norm.center(x)
    return x.shape[-1] ** 0.5 * centered / centered.norm(dim=1, keepdim=True)


affine = Prediction(
    TOPIC,
    "affine",
    answer="same",
    reason="The decoder can multiply and add too, so it undoes γ and β, and gains nothing.",
    wrong=[
        Wrong(
            "all",
            "γ and β do the same to all points. So points that layer norm has put at one place "
            "stay together.",
            Belief.NOTHING_IS_LOST,
        ),
        Wrong(
            "more",
            "γ and β come after the points have been put together. They stretch and move what's "
            "left, and add no information.",
            Belief.NOTHING_IS_LOST,
        ),
        Wrong(
            "less",
            "A γ of 0 would lose something. With 3 and 0.5 the two places stay apart, and the "
            "decoder can undo a stretch and a shift.",
        ),
    ],
    hints=[
        "γ and β treat all points alike. What can they do to two points that coincide?",
        "The decoder multiplies and adds too. Can γ and β do anything that it can't?",
    ],
)


two_of_64 = Prediction(
    TOPIC,
    "two_of_64",
    answer="less",
    reason=(
        "The 64 features hold only two numbers, so the two dimensions that layer norm removes are "
        "a large part of them."
    ),
    wrong=[
        Wrong(
            "same",
            "It would be the same if the points had 64 numbers of their own, and lost two of 64. "
            "These have two numbers in all.",
            Belief.NOTHING_IS_LOST,
        ),
        Wrong(
            "more",
            "You may have thought that 64 features store two numbers many times over. They do, but "
            "layer norm removes the same thing from all of them.",
            Belief.NOTHING_IS_LOST,
        ),
    ],
    hints=[
        "How many numbers are needed to describe one of these points?",
        "If x becomes 3x, all 64 features become three times as large. What comes out then?",
    ],
)
