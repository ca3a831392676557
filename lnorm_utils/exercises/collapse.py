"""Exercises of lesson 6, what is left of two features."""

import torch

from lnorm_utils.examples import normal
from lnorm_utils.exercises.beliefs import Belief
from lnorm_utils.exercises.engine.exercise import Exercise

TOPIC = "collapse"
# Differences on both sides of √ε, for ε = 0.1.
DIFFERENCES = torch.tensor([-3.0, -0.4, 0.1, 0.7, 5.0]).double()
# So narrow that an ε shows.
POINTS = 0.02 * normal(2, 3, 4, seed=61).double() + 0.01
TABLE = 0.02 * normal(3, 5, seed=62).double()

places = Exercise(
    TOPIC,
    "places",
    hints=[
        "Subtract the mean of a pair in your head. What can you say about the distances?",
        "The distances from the mean are equally large, and one is below it. What can differ?",
    ],
)


@places.answer
def one_for_each_sign():
    """A point whose first feature is the larger one goes to one place, any other to the other."""
    return 2


@places.mistake(Belief.TWO_FEATURES_GIVE_PLUS_MINUS_1)
def all_at_one_place():
    """You sent every point to one place. A point whose first feature is larger and one whose second
    feature is larger still differ after layer norm."""
    return 1


@places.mistake(Belief.NOTHING_IS_LOST)
def a_place_for_each_point():
    """You kept all points apart. But both features of a point are equally far from their mean, and
    layer norm divides that distance away."""
    return 1000


@places.mistake()
def all_corners_of_a_square():
    """You let each feature be −1 or 1 on its own. The features of a point add up to 0, so they
    always have opposite signs."""
    return 4


@places.mistake()
def a_third_one_in_the_middle():
    """You counted the place (0, 0) as well. Only two equal features end there, and random numbers
    are hardly ever equal."""
    return 3


from_delta = Exercise(
    TOPIC,
    "from_delta",
    inputs=[(DIFFERENCES, 0.1), (normal(6, seed=62).double(), 1e-3)],
    hints=[
        "Layer norm divides the distance from the mean by the root of variance plus ε.",
        "The sentence before gives you both: the distance, and the variance. ε joins the variance.",
    ],
)


@from_delta.answer
def half_of_it_over_the_root(delta, eps):
    half = delta / 2
    return half / (half**2 + eps).sqrt()


@from_delta.mistake(Belief.TWO_FEATURES_GIVE_PLUS_MINUS_1)
def only_the_sign(delta, eps):
    """Your result is exactly ±1, which is right without ε. With it, a small difference stays closer
    to 0."""
    return delta.sign()


@from_delta.mistake(Belief.EPS_OUTSIDE_THE_ROOT)
def eps_outside_the_root(delta, eps):
    """You added ε to the standard deviation. It belongs to the variance, inside the root."""
    half = delta / 2
    return half / (half.abs() + eps)


@from_delta.mistake(Belief.VARIANCE_OVER_D_MINUS_1)
def divides_by_d_minus_1(delta, eps):
    """Your variance is twice too large: you divided the sum of squares by D − 1 = 1. Layer norm
    divides by D = 2."""
    half = delta / 2
    return half / (2 * half**2 + eps).sqrt()


@from_delta.mistake()
def the_whole_difference(delta, eps):
    """You took δ for the distance from the mean. The mean lies in the middle, so each feature is
    only half as far from it."""
    return delta / (delta**2 + eps).sqrt()


@from_delta.mistake()
def no_root(delta, eps):
    """You divided by variance plus ε. Take its root before you divide."""
    half = delta / 2
    return half / (half**2 + eps)


@from_delta.mistake()
def the_second_feature(delta, eps):
    """That is the second feature. Where δ is positive the first one is the larger, so it ends above
    0."""
    half = delta / 2
    return -half / (half**2 + eps).sqrt()


root_eps = Exercise(
    TOPIC,
    "root_eps",
    within=6e-3,
    hints=[
        "Put δ/2 = √ε into the formula of this lesson. What stands under the root?",
        "Under the root the same number stands twice, and its root stands above.",
    ],
)


@root_eps.answer
def one_over_the_root_of_two():
    """√ε over √(ε + ε) is 1/√2, whatever ε is."""
    return 1 / 2**0.5


@root_eps.mistake(Belief.TWO_FEATURES_GIVE_PLUS_MINUS_1)
def exactly_1():
    """You left ε out. Here it is as large as the variance, so it holds the result back."""
    return 1.0


@root_eps.mistake(Belief.EPS_OUTSIDE_THE_ROOT)
def eps_after_the_root():
    """You added ε to the standard deviation, where 0.001 hardly counts beside 0.0316. It is added
    to the variance, which is 0.001 as well."""
    return 0.001**0.5 / (0.001**0.5 + 0.001)


@root_eps.mistake()
def half_way():
    """One half is var / (var + ε), the variance of the output. The feature itself is the root of
    it."""
    return 0.5


@root_eps.mistake(Belief.VARIANCE_OVER_D_MINUS_1)
def variance_over_d_minus_1():
    """You took a variance of 2ε, which is the sum of squares divided by D − 1. Divided by D it is
    ε."""
    return 1 / 3**0.5


@root_eps.mistake()
def swallowed_by_eps():
    """You let ε take everything. It shrinks small differences and never makes them vanish."""
    return 0.0


one_number = Exercise(
    TOPIC,
    "one_number",
    hints=[
        "What is the mean of one number, and how far is the number from it?",
        "γ multiplies what is left of the number. What is added after that?",
    ],
)


@one_number.answer
def beta():
    """A number minus itself is 0, and γ · 0 + β is β."""
    return 0.7


@one_number.mistake(Belief.ONE_FEATURE_GIVES_1)
def one():
    """You expected 1. A single number is its own mean, so 0 is left of it, not 1; and γ and β come
    after that."""
    return 1


@one_number.mistake(Belief.ONE_FEATURE_GIVES_1)
def gamma_plus_beta():
    """You computed γ · 1 + β. The standardized number is not 1: it is its own mean, so nothing is
    left of it."""
    return 5.7


@one_number.mistake(Belief.TWO_FEATURES_GIVE_PLUS_MINUS_1)
def the_sign_survives():
    """You computed γ · (−1) + β, as if the sign were left. It is with two features; a single number
    has nothing that it could be larger or smaller than."""
    return -4.3


@one_number.mistake(Belief.NOTHING_IS_LOST)
def gamma_times_the_number_plus_beta():
    """You computed γ · (−3) + β, as if layer norm had left the number as it was. It subtracts the
    mean first, and that is the number itself."""
    return -14.3


@one_number.mistake()
def beta_left_out():
    """0 is what standardizing leaves. γ keeps it at 0, and then β is added."""
    return 0


sphere = Exercise(
    TOPIC,
    "sphere",
    inputs=[(POINTS,), (TABLE,)],
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
def only_centered(x):
    """Your rows add up to 0, but their squares do not add up to D. Each row still has a length of
    its own."""
    return x - x.mean(dim=-1, keepdim=True)


@sphere.mistake()
def with_eps(x):
    """That is layer norm with its ε. The squares of a narrow row then add up to less than D. Divide
    by the length of the row itself."""
    centered = x - x.mean(dim=-1, keepdim=True)
    return centered / (centered.square().mean(dim=-1, keepdim=True) + 1e-5).sqrt()


@sphere.mistake()
def of_length_1(x):
    """The squares of each of your rows add up to 1. They should add up to D, so the length should
    be √D."""
    centered = x - x.mean(dim=-1, keepdim=True)
    return centered / centered.norm(dim=-1, keepdim=True)


@sphere.mistake()
def of_length_d(x):
    """You made the rows as long as D. Their squares then add up to D²."""
    centered = x - x.mean(dim=-1, keepdim=True)
    return x.shape[-1] * centered / centered.norm(dim=-1, keepdim=True)


@sphere.mistake()
def not_centered(x):
    """The squares are right, but your rows do not add up to 0. Subtract the mean of each row before
    you measure its length."""
    return x.shape[-1] ** 0.5 * x / x.norm(dim=-1, keepdim=True)


@sphere.mistake(Belief.VARIANCE_OVER_D_MINUS_1)
def divides_by_d_minus_1_in_each_row(x):
    """Your squares add up to D − 1: that is what `std` gives unless told otherwise. They should add
    up to D."""
    return (x - x.mean(dim=-1, keepdim=True)) / x.std(dim=-1, keepdim=True)


@sphere.mistake(Belief.ONE_MEAN_PER_SENTENCE)
def one_mean_and_length_for_each_sentence(x):
    """You used one mean and one length for all words of a sentence. Each row has its own."""
    centered = x - x.mean(dim=(-2, -1), keepdim=True)
    return centered / centered.square().mean(dim=(-2, -1), keepdim=True).sqrt()


affine = Exercise(
    TOPIC,
    "affine",
    hints=[
        "γ and β treat all points alike. What can they do to two points that coincide?",
        "The decoder multiplies and adds too. Is there anything in γ and β that it cannot do?",
    ],
)


@affine.answer
def nothing_changes():
    """γ and β are a linear map, and the decoder had already tried every linear map."""
    return "same"


@affine.mistake(Belief.NOTHING_IS_LOST)
def everything_comes_back():
    """Points that layer norm has put at one place stay together, for γ and β do the same to all of
    them."""
    return "all"


@affine.mistake(Belief.NOTHING_IS_LOST)
def a_part_comes_back():
    """γ and β come after the collapse and look at no point. They stretch and move what is left, and
    add nothing to it."""
    return "more"


@affine.mistake()
def a_part_gets_lost():
    """A γ of 0 would lose something. With 3 and 0.5 the two places stay apart, and the decoder can
    undo a stretch and a shift."""
    return "less"
