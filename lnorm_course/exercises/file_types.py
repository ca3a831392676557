"""Exercises on the two layer norms of Magika, a network that tells kinds of files apart."""

import torch

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.models import Model, axes_of
from lnorm_utils.data import normal

TOPIC = "file_types"
# Unequal axes, means that aren't zero, and once a spread so small that ε = 1e-6 shows.
PLACES = normal(2, 5, 3, seed=301).double() + 1
NARROW = 0.003 * normal(3, 4, 6, seed=302).double() + 0.1
FILES = Model(
    "layer_norm",
    axes=axes_of(
        ("the files", "the places", "the features"),
        (1,),
        {(0,): Belief.OVER_THE_BATCH, (0, 1): Belief.OVER_THE_BATCH},
    ),
    called="Norm 1",
    size="L",
)

three_files = Prediction(
    answer=3 * 512,
    reason="Each of the 512 positions of the three points is a row with its own mean.",
    wrong={
        3: Belief.ONE_MEAN_PER_SENTENCE("That's one for each point. Each position has its own."),
        512: "That's one for each position of one point. There are three points.",
        3 * 256: "You averaged over the positions. Layer norm over D averages over the features.",
        256: Belief.OVER_THE_BATCH("That's one for each feature, averaged over everything else."),
        3 * 512 * 256: "That's how many numbers there are. The 256 of a row share a mean.",
        1: Belief.OVER_THE_BATCH("You averaged over everything. Each row has its own mean."),
    },
    hints=["Which axis does layer norm over D features average over?", "Count the rows."],
)

squares_25 = Prediction(
    answer=9,
    reason="E[x²] − E[x]² = 25 − 16.",
    wrong={
        21: "You subtracted the mean itself. Subtract its square.",
        12: Belief.VARIANCE_OVER_D_MINUS_1("That divides by D − 1 = 3. Divide by 4."),
        3: "That's the standard deviation, the root of the variance.",
        25: "That's the mean of the squares. Subtract the square of the mean.",
        41: "You added the square of the mean. Subtract it.",
    },
    hints=["What's the square of the mean?", "The mean of the squares minus that."],
)

far_rms = Prediction(
    answer=10**-0.5,
    reason="It divides by the root of the mean of the squares, √(3² + 1²) = 3.16.",
    wrong={
        1: "That would be layer norm. RMSNorm doesn't subtract the mean, so it divides by more.",
        1 / 3: "You divided by the mean. The mean of the squares is 9 + 1.",
        0.1: "You divided by the mean of the squares. Divide by its root.",
        3 * 10**-0.5: "That's the mean behind RMSNorm. The question is about the spread.",
        10**0.5: "That's what it divides by.",
    },
    within=0.006,
    hints=[
        "What's the mean of the squares, if mean and spread are known?",
        "It's mean² + spread². RMSNorm divides by the root of that.",
    ],
)

file_means = Prediction(
    answer=256,
    reason="γ has 512 numbers, one for each place. So the places are what's normalized, and each "
    "of the 256 features has a mean of its own.",
    wrong={
        512: "That would be one for each place, averaged over the features, as in a transformer. "
        "But γ has 512 numbers, so the normalized axis has 512.",
        1: "That would be one mean for the file. Then γ would have shape (512, 256), or there "
        "would be one γ.",
        512 * 256: "That's how many numbers there are. Those along one axis share a mean.",
        2048: "That's how many bytes the network reads.",
        4: "That's how many bytes are at one place.",
    },
    hints=[
        "γ has one number for each index along the normalized axis. Which axis has that size?",
        "The other axis counts the means.",
    ],
)

top_gamma = Prediction(
    answer="last",
    reason="γ is largest at the last four bytes, and nearly as large at the first four.",
    wrong={
        "first": "Nearly: that's where many formats put their signature, and γ is the second "
        "largest there.",
        "middle": "In the middle, the head of a file meets its tail. γ is smallest there.",
    },
    hints=[
        "Which bytes of a file say most about its kind?",
        "Some formats end in a fixed way, too: think of a closing bracket or tag.",
    ],
)

noticed = Prediction(
    answer=0,
    reason="Every file keeps its kind with each of the five.",
    wrong={
        1: "Not even one. The numbers change, but in no file do two kinds swap places.",
        2: "Fewer than two. D − 1 in place of D changes the spread by a thousandth only.",
        3: "Fewer than three. Compare each change with the distance between two kinds.",
        4: "Fewer than four. Work out how much D − 1 in place of D changes, if D is 512.",
        5: "They all change the numbers, but not which kind is the likeliest.",
    },
    hints=[
        "With D = 512, how far apart are D and D − 1?",
        "Numbers may change a lot. The kind changes only if two kinds swap places.",
    ],
)

rms_kept = Prediction(
    answer=5,
    choices=[5, 20, 60],
    reason="The mean is more than three times the spread, so RMSNorm divides by far more, and "
    "shifts all numbers by what it doesn't subtract.",
    wrong={
        20: "It's worse: the mean of what comes in is more than three times its spread.",
        60: "That would need a mean near zero. Look at what comes into norm 2.",
    },
    hints=[
        "In which case do RMSNorm and layer norm give the same?",
        "Norm 2 gets the largest of 508 numbers for each channel. Is their mean near zero?",
    ],
)

notebooks_left = Prediction(
    answer=0,
    reason="What the seven have in common, that they are notebooks, is what a mean over them "
    "takes away.",
    wrong={
        7: "In the large batch they all kept their kind. But now the batch has nothing else in it, "
        "and the mean over the batch is subtracted.",
        6: "Think of what seven files of one kind have in common, and what subtracting their mean "
        "does to it.",
        1: "Not even one.",
    },
    hints=[
        "Which numbers are nearly the same for all seven?",
        "If seven numbers are nearly the same, what's left when you subtract their mean?",
    ],
)

first_norm = CodeExercise(
    inputs={"two files of five places": (PLACES,), "narrow features": (NARROW,)},
    norm=lambda norm, x: norm.standardize(x, 1, 1e-6),
    layout=FILES,
    hints=[
        "There's one mean for each feature of each file. Which axis do you average over?",
        "Average over axis 1 and keep it. ε is 1e-6, inside the root.",
    ],
)


@first_norm.answer
def each_feature_over_its_places(x):
    mean = x.mean(dim=1, keepdim=True)
    var = (x - mean).square().mean(dim=1, keepdim=True)
    return (x - mean) / (var + 1e-6).sqrt()


@first_norm.mistake()
def swapped_and_not_back(norm, x):
    """The places are the last axis of your result. Swap the two axes back at the end."""
    return norm.standardize(x, 1, 1e-6).transpose(1, 2)


@first_norm.mistake(Belief.RESHAPE_SWAPS_AXES)
def reshaped(norm, x):
    """You used `reshape` to swap places and features, which mixes them. Use `transpose`."""
    n, places, features = x.shape
    return norm.standardize(x.reshape(n, features, places), -1, 1e-6).reshape(x.shape)


@first_norm.mistake()
def unchanged(norm, x):
    """Your numbers are still those of `x`."""
    return x


# Classes without a base, because a grader can send only those to where an attempt calls them.
class NormOverTheBatch:
    def __repr__(self):
        return "f"

    def __call__(self, x):
        return (x - x.mean(0)) / (x.var(0, correction=0) + 1e-6).sqrt()


class NormOverTheFeatures:
    def __repr__(self):
        return "f"

    def __call__(self, x):
        return torch.nn.functional.layer_norm(x, x.shape[-1:])


class DoubledWhereCrowded:
    def __repr__(self):
        return "f"

    def __call__(self, x):
        return x * torch.arange(1, len(x) + 1, dtype=x.dtype).reshape(-1, *[1] * (x.ndim - 1))


ROWS = normal(5, 6, seed=303).double() + 2

batch_gap = CodeExercise(
    inputs={
        "a norm over the batch": (NormOverTheBatch(), ROWS),
        "a layer norm": (NormOverTheFeatures(), ROWS),
        "a function that looks at the place in the batch": (DoubledWhereCrowded(), -ROWS[1:, 1:]),
    },
    hints=[
        "Call `f` once with all files, and once with each file alone, as a batch of one.",
        "`x[i : i + 1]` is a batch of one. Put the results together with `torch.cat`.",
    ],
)


@batch_gap.answer
def together_and_alone(f, x):
    alone = torch.cat([f(x[i : i + 1]) for i in range(len(x))])
    return (f(x) - alone).abs().amax(dim=-1)


def each_alone(f, x):
    return torch.cat([f(x[i : i + 1]) for i in range(len(x))])


@batch_gap.mistake()
def without_the_batch_axis(f, x):
    """You gave `f` a file without the axis of the batch: `x[i]` in place of `x[i : i + 1]`."""
    return (f(x) - torch.stack([f(row) for row in x])).abs().amax(dim=-1)


@batch_gap.mistake()
def with_a_sign(f, x):
    """You took the largest difference with its sign, so one that is below zero gets lost. Take
    `abs()` first."""
    return (f(x) - each_alone(f, x)).amax(dim=-1)


@batch_gap.mistake()
def on_average(f, x):
    """You averaged the differences of a file. An average hides one number; take the largest."""
    return (f(x) - each_alone(f, x)).abs().mean(dim=-1)


@batch_gap.mistake()
def one_for_all_files(f, x):
    """You returned one number for all files. Return one for each file."""
    return (f(x) - each_alone(f, x)).abs().max()


@batch_gap.mistake()
def with_every_row(f, x):
    """You compared each file alone with all rows of `f(x)`. Compare it with its own row only."""
    return torch.stack([(f(x) - f(x[i : i + 1])).abs().max() for i in range(len(x))])


@batch_gap.mistake()
def one_for_each_number(f, x):
    """You took the largest difference over the files. Take it over the numbers of each file."""
    return (f(x) - each_alone(f, x)).abs().amax(dim=0)


@batch_gap.mistake()
def what_f_changes(f, x):
    """You compared what comes out with what goes in. Compare two outputs: of all files together,
    and of each alone."""
    return (f(x) - x).abs().amax(dim=-1)


class Rows:
    """Rows that take nothing but `@`, so that γ and β must go into what stands behind it."""

    def __init__(self, rows):
        self._rows, self.shape = rows, rows.shape

    def __repr__(self):
        return "rows"

    def __matmul__(self, matrix):
        return self._rows @ matrix

    @classmethod
    def __torch_function__(cls, function, types, arguments=(), others=None):
        if function not in (torch.nn.functional.linear, torch.matmul, torch.mm):
            # PyTorch would take a TypeError for "try the other way round", and lose its words.
            raise ValueError("x_hat takes nothing but @. Put γ and β into the matrix and the bias")
        rows = (each._rows if isinstance(each, cls) else each for each in arguments)
        return function(*rows, **(others or {}))


SIX, TO_SIX = normal(6, 6, seed=304).double(), normal(6, seed=305).double()
GAMMA, BETA = normal(6, seed=306).double(), normal(6, seed=307).double()

folded_map = CodeExercise(
    # The first has as many outputs as features, so that a wrong axis fits as well, and is wrong.
    inputs={
        "six features to six": (Rows(ROWS), GAMMA, BETA, SIX, TO_SIX),
        "six features to four": (Rows(-ROWS), BETA, GAMMA, SIX[:4] - 1, TO_SIX[:4]),
        "five features to three": (Rows(ROWS[:, :5]), GAMMA[1:], BETA[1:], SIX[:3, :5], TO_SIX[3:]),
    },
    hints=[
        "Put γ · x_hat + β into W y + b, and multiply it out. What stands in front of x_hat?",
        "γ_d multiplies what comes from feature d. Which rows or columns of W do that?",
    ],
)


@folded_map.answer
def gamma_in_the_columns(x_hat, weight, bias, matrix, offset):
    return x_hat @ (matrix * weight).T + (offset + matrix @ bias)


@folded_map.mistake()
def no_beta(x_hat, weight, bias, matrix, offset):
    """γ is in the right place, but you forgot β. It goes through W, into the bias."""
    return x_hat @ (matrix * weight).T + offset


@folded_map.mistake()
def no_new_bias(x_hat, weight, bias, matrix, offset):
    """γ is in the right place, but no bias is left. It has `offset`, and what β adds."""
    return x_hat @ (matrix * weight).T


@folded_map.mistake()
def no_gamma(x_hat, weight, bias, matrix, offset):
    """β is in the right place, but you forgot γ. It scales the columns of W."""
    return x_hat @ matrix.T + (offset + matrix @ bias)


@folded_map.mistake()
def beta_beside_w(x_hat, weight, bias, matrix, offset):
    """γ is in the right place, but you added β itself. W multiplies β, too."""
    return x_hat @ (matrix * weight).T + offset + bias[: len(offset)]


@folded_map.mistake()
def beta_times_gamma(x_hat, weight, bias, matrix, offset):
    """You multiplied β by γ as well: send β through the old W, not through the new one."""
    return x_hat @ (matrix * weight).T + (offset + (matrix * weight) @ bias)


@folded_map.mistake()
def scaled_rows(x_hat, weight, bias, matrix, offset):
    """You scaled the rows of W. A row makes one output; feature d comes in through column d."""
    return x_hat @ (matrix * weight[: len(matrix), None]).T + (offset + matrix @ bias)


@folded_map.mistake()
def matrix_as_it_stands(x_hat, weight, bias, matrix, offset):
    """You multiplied by W where the linear map multiplies by its transpose: `x_hat @ new.T`."""
    return x_hat @ (matrix * weight) + (offset + matrix @ bias)


@folded_map.mistake()
def beta_through_the_transpose(x_hat, weight, bias, matrix, offset):
    """γ is in the right place, but you summed β over the outputs of W: write `matrix @ bias`."""
    return x_hat @ (matrix * weight).T + (offset + matrix.T @ bias)


@folded_map.mistake()
def gamma_divided(x_hat, weight, bias, matrix, offset):
    """You divided by γ, which would undo it. Multiply by it."""
    return x_hat @ (matrix / weight).T + (offset + matrix @ bias)


@folded_map.mistake()
def old_bias_lost(x_hat, weight, bias, matrix, offset):
    """The linear map has a bias of its own, `offset`. What β adds comes on top of it."""
    return x_hat @ (matrix * weight).T + matrix @ bias


put_in_bank(TOPIC, vars(), further=("folded_map",))
