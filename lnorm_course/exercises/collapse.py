"""Exercises on what is left of two features."""

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.checking.watching import FINISHED_NORMS
from lnorm_course.exercises.collapse_two_features import (  # noqa: F401 - in this bank, too
    from_delta,
    left_out,
    places,
    root_eps,
    torch_var,
    y_var,
)
from lnorm_course.slips.beliefs import Belief
from lnorm_utils.data import normal

TOPIC = "collapse"
# So narrow that an ε shows.
POINTS = 0.02 * normal(2, 3, 4, seed=61).double() + 0.01
NARROW = 0.02 * normal(5, 2, 6, seed=62).double()
VARIANCES = (
    *("torch.var", "torch.std", "torch.var_mean", "torch.std_mean", "torch.cov"),
    "lnorm_utils.variance",
)


one_number = Prediction(
    answer=0.7,
    reason="A number minus itself is 0, and γ · 0 + β is β.",
    wrong={
        1: Belief.ONE_FEATURE_GIVES_1(
            "A single number minus its own mean is 0, not 1. γ and β come after that."
        ),
        5.7: Belief.ONE_FEATURE_GIVES_1(
            "You computed γ · 1 + β. But a single number minus its own mean is 0, not 1."
        ),
        -4.3: "You computed γ · (−1) + β, as if the sign were left. It's left of two features. A "
        "single number has no neighbor to be larger or smaller than.",
        -14.3: "You computed γ · (−3) + β, as if layer norm had left the number alone. It "
        "subtracts the mean first, and that's the number itself.",
        -3: "−3 is the number as it came. Layer norm subtracts the mean, and that is the number "
        "itself.",
        0: "0 is what standardizing leaves. Now apply γ and β to it.",
    },
    hints=[
        "What is the mean of one number, and how far is the number from it?",
        "γ multiplies that distance. What's added after that?",
    ],
)


sphere = CodeExercise(
    inputs={
        "two sentences of three words with four features": (POINTS,),
        "five sentences of two words with six features": (NARROW,),
    },
    norm=lambda norm, x: norm.sphere(x),
    without=[*VARIANCES, *FINISHED_NORMS, "lnorm_utils.standardize"],
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
    return norm.standardize(x)


@sphere.mistake()
def of_length_1(norm, x):
    """The squares of each of your rows add up to 1. They should add up to D, so the length should
    be √D."""
    return norm.sphere(x) / x.shape[-1] ** 0.5


@sphere.mistake()
def without_its_axis(norm, x):
    """Either a mean or a length has lost its axis. Keep it, with size 1 (`keepdim=True`)."""
    return norm.center(x) / x.norm(dim=-1)


@sphere.mistake()
def of_length_root_d_minus_1(norm, x):
    """The squares of each of your rows add up to D − 1. They should add up to D."""
    return norm.sphere(x) * (1 - 1 / x.shape[-1]) ** 0.5


@sphere.mistake()
def of_no_length(norm, x):
    """Your rows add up to 0. Their squares should also add up to D."""
    return norm.center(x)


@sphere.mistake()
def length_before_centering(norm, x):
    """Your rows add up to 0, but their squares add up to less than D, because your length is that
    of the row before you centered it. Center first, and then measure the length."""
    return norm.center(x) * x.shape[-1] ** 0.5 / x.norm(dim=-1, keepdim=True)


@sphere.mistake()
def without_squares(norm, x):
    """In each of your rows the numbers without their signs add up to D. Their
    squares should add up to D."""
    centered = norm.center(x)
    return centered / centered.abs().mean(dim=-1, keepdim=True)


@sphere.mistake()
def without_a_root(norm, x):
    """You divided by the mean of the squares. Divide by the root of it."""
    centered = norm.center(x)
    return centered / centered.square().mean(dim=-1, keepdim=True)


@sphere.mistake()
def of_length_d(norm, x):
    """You made the rows as long as D. Their squares then add up to D²."""
    return norm.sphere(x) * x.shape[-1] ** 0.5


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
    answer="same",
    reason="The decoder can multiply and add too, so it undoes γ and β, and gains nothing.",
    wrong={
        "all": Belief.NOTHING_IS_LOST(
            "γ and β do the same to all points. So points that layer norm has put at one place "
            "stay together."
        ),
        "more": Belief.NOTHING_IS_LOST(
            "γ and β come after the points have been put together. They stretch and move what's "
            "left, and add no information."
        ),
        "less": "A γ of 0 would lose something. With 3 and 0.5 the two places stay apart, and the "
        "decoder can undo a stretch and a shift.",
    },
    hints=[
        "γ and β treat all points alike. What can they do to two points that coincide?",
        "The decoder multiplies and adds too. Can γ and β do anything that it can't?",
    ],
)


two_of_64 = Prediction(
    answer="less",
    reason="The 64 features hold only two numbers, so the two dimensions that layer norm removes "
    "are a large part of them.",
    wrong={
        "same": Belief.NOTHING_IS_LOST(
            "It would be the same if the points had 64 numbers of their own, and lost two of 64. "
            "These have two numbers in all."
        ),
        "more": Belief.NOTHING_IS_LOST(
            "You may have thought that 64 features store two numbers many times over. They do, but "
            "layer norm removes the same thing from all of them."
        ),
    },
    hints=[
        "How many numbers are needed to describe one of these points?",
        "If x becomes 3x, all 64 features become three times as large. What comes out then?",
    ],
)


put_in_bank(TOPIC, vars(), further=("sphere", "two_of_64"))
