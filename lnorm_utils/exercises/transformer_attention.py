"""Exercises on a transformer: its loss and its attention."""

import math

import torch

from lnorm_utils.checking.code_exercise import CodeExercise
from lnorm_utils.checking.exercise import put_in_bank
from lnorm_utils.checking.prediction import Prediction
from lnorm_utils.examples import normal
from lnorm_utils.slips.beliefs import Belief

TOPIC = "transformer"

means = Prediction(
    answer=16 * 64,
    reason="One for each of the 64 positions of each of the 16 points.",
    wrong={
        16: Belief.ONE_MEAN_PER_SENTENCE(
            "That is one for each point. Each of its 64 positions has a mean of its own."
        ),
        64: "That is one for each position. The 16 points don't share their means.",
        32: Belief.OVER_THE_BATCH(
            "That is one for each feature, as in batch norm. Layer norm averages over the features."
        ),
        16 * 32: "You averaged over the positions. Layer norm averages over the features.",
        64 * 32: "You averaged over the points. Layer norm averages over the features.",
        16 * 64 * 32: "That is how many numbers there are. Each 32 of them share a mean.",
        1: "One mean for everything is not what layer norm takes. Each row has its own.",
    },
    hints=["How many rows are there?", "A row is what stands at one point and one position."],
)

norms_24 = Prediction(
    answer=25,
    reason="One in each of the 24 blocks, and one more at the end of the stack.",
    wrong={
        24: "You counted the norms of the blocks only. Look behind the last block, too.",
        48: "That is two in each block. A block with one branch has one norm.",
        49: "A block with one branch has one norm, not two.",
        26: "You may have put a norm in front of the first block. Pre-LN has none there, because "
        "the norm is inside the block.",
        1: "Besides the norm at the end, each block has one of its own.",
        2: "Each block has a norm of its own.",
    },
    hints=["How many does each block have?", "What comes behind the last block?"],
)

rms = Prediction(
    answer=0.2,
    reason="The mean of the squares 1, 1, 49, 49 is 25, its root is 5, and 1/5 = 0.2.",
    wrong={
        -1: "That is layer norm. RMSNorm subtracts no mean.",
        -0.6: "You subtracted the mean, 4. RMSNorm only divides.",
        1 / 3: "You divided by the standard deviation, 3. RMSNorm squares the features.",
        0.04: "You divided by the mean of the squares. RMSNorm divides by its root.",
        0.1: "You divided by the root of the sum of the squares. RMSNorm takes their mean.",
        0.25: "You divided by the mean, 4. RMSNorm takes the root of the mean square.",
        3**0.5 / 10: "You divided by D − 1 in the mean square. RMSNorm divides by D.",
        5: "That is what the row is divided by.",
        1: "That is the first number of the row. Divide it by the root of the mean square.",
    },
    within=0.006,
    hints=["What is the mean of the squares?", "Take its root, and divide the first number by it."],
)

ln_37 = Prediction(
    answer=math.log(37),
    reason="Each character gets the probability 1/37, and −ln(1/37) = ln 37.",
    wrong={
        -math.log(37): "The size is right. The loss is −ln of 1/37, so it's above 0.",
        math.log2(37): "That is the loss in bits. Cross entropy uses the natural logarithm.",
        math.log10(37): "That is the logarithm to base 10. Cross entropy uses base e.",
        math.log(26): "There are 26 letters, but 37 characters.",
        1 / 37: "That is the probability of each. The loss is minus its logarithm.",
        36 / 37: "That is how often a guess is wrong. The loss is −ln of the probability.",
        0: "A loss of 0 means that the right character always gets the probability 1.",
        37: "That is the number of characters. The loss is minus the logarithm of a probability.",
        math.log(2): "That is the loss of guessing between two classes. Here there are 37.",
    },
    within=0.006,
    hints=[
        "Which probability does each of the 37 characters get?",
        "The loss is minus the natural logarithm of that.",
    ],
)

above_0 = Prediction(
    answer=21,
    reason="Position 0 reads one position, position 1 two, and so on: 1 + 2 + 3 + 4 + 5 + 6.",
    wrong={
        36: "That is without the mask. The weights of later positions are 0.",
        15: "Either you left out the diagonal, though each position also reads itself, or you "
        "counted the zeros.",
        6: "That is one for each position. The last one reads all six.",
        30: "You left out the position itself. The mask hides the later positions only.",
        18: "That is half of the table. The diagonal isn't hidden, so it is a bit more.",
        12: "Only the first positions read so few. The last one reads all six.",
    },
    hints=[
        "How many positions does the first one read? And the second?",
        "Add 1, 2, 3 and so on, a number for each position.",
    ],
)

# Queries, keys, and values, large enough that weights differ much.
SIX = tuple(2 * normal(2, 6, 4, seed=seed).double() for seed in (210, 211, 212))
WIDE = tuple(normal(3, 4, 9, seed=seed).double() for seed in (213, 214, 215))

attend = CodeExercise(
    inputs={"two points with six positions": SIX, "three points with nine features": WIDE},
    without=["lnorm_utils.attention"],
    hints=[
        "The scores are `q @ k.transpose(-1, -2)`, divided by the root of D, and of shape "
        "(N, L, L): a row for each position that reads, a column for each that is read.",
        "`torch.ones(L, L).triu(1).bool()` marks the later positions. `masked_fill` can set their "
        "scores to −∞, before the softmax over the last axis.",
    ],
)


def _later(scores, diagonal=1):
    return torch.ones_like(scores, dtype=torch.bool).triu(diagonal)


def _scores(q, k):
    return q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5


def _weights(scores, axis=-1):
    return scores.masked_fill(_later(scores), -math.inf).softmax(axis)


def _mix(scores, v, axis=-1):
    return _weights(scores, axis) @ v


@attend.answer
def causal_attention(q, k, v):
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5  # (N, L, L)
    later = torch.ones(scores.shape[-2:]).triu(1).bool()
    weights = scores.masked_fill(later, float("-inf")).softmax(dim=-1)
    return weights @ v


@attend.mistake()
def no_mask(q, k, v):
    """There is no mask: each position also reads the later ones, which it has to predict. Set their
    scores to −∞."""
    return _scores(q, k).softmax(-1) @ v


@attend.mistake()
def k_dot_t(q, k, v):
    """`k.T` reverses all three axes. Exchange the last two only: `k.transpose(-1, -2)`."""
    return q @ k.permute(2, 1, 0)


@attend.mistake()
def keys_not_transposed(q, k, v):
    """The last axis of the queries are features, and so they meet the positions of the keys.
    Exchange the last two axes of the keys: `k.transpose(-1, -2)`."""
    return q @ k


@attend.mistake()
def queries_twice(q, k, v):
    """The keys are missing: you multiplied the queries with themselves. The scores are queries
    times keys."""
    return _mix(_scores(q, q), v)


@attend.mistake()
def one_position_too_late(q, k, v):
    """Your mask begins one position too late, so each position still reads the next one. Begin one
    above the diagonal."""
    scores = _scores(q, k)
    return scores.masked_fill(_later(scores, 2), -math.inf).softmax(-1) @ v


@attend.mistake()
def mask_added_as_numbers(q, k, v):
    """Your mask has the numbers 1 and 0, and they were added to the scores. That hides nothing: add
    0 and −∞, or make the mask `bool`."""
    scores = _scores(q, k)
    return (scores + (~_later(scores)).to(scores.dtype)).softmax(-1) @ v


@attend.mistake()
def mask_the_wrong_way(q, k, v):
    """Your mask is the wrong way around: each position reads itself and the later ones. Hide the
    later ones, above the diagonal."""
    scores = _scores(q, k)
    return scores.masked_fill(_later(scores).mT, -math.inf).softmax(-1) @ v


@attend.mistake()
def mask_of_what_it_may_read(q, k, v):
    """Your mask hides what each position may read, itself and the earlier ones. `masked_fill` fills
    where the mask is True, so that must be the later ones."""
    scores = _scores(q, k)
    return scores.masked_fill(~_later(scores), -math.inf).softmax(-1) @ v


@attend.mistake()
def mask_with_the_diagonal(q, k, v):
    """Your mask hides the position itself too, and the first position has nothing left to read:
    its softmax is 0/0. Begin one above the diagonal."""
    scores = _scores(q, k)
    return scores.masked_fill(_later(scores, 0), -math.inf).softmax(-1) @ v


@attend.mistake()
def first_position_reads_nothing(q, k, v):
    """Your mask hides the position itself too, so the first one reads nothing and returns 0. Each
    position may read itself and the earlier ones."""
    scores = _scores(q, k)
    weights = scores.masked_fill(_later(scores, 0), -math.inf).softmax(-1)
    return weights.nan_to_num(0.0) @ v


@attend.mistake()
def softmax_over_the_readers(q, k, v):
    """Your softmax runs over the wrong axis. The weights of one position that reads must add up to
    1, so take it over the last axis."""
    return _mix(_scores(q, k), v, axis=-2)


@attend.mistake()
def softmax_over_the_points(q, k, v):
    """Your softmax runs over the points, which have nothing to do with each other. Take it over the
    last axis."""
    scores = _scores(q, k)
    return scores.softmax(0).masked_fill(_later(scores), 0) @ v


@attend.mistake()
def softmax_over_the_points_after_the_mask(q, k, v):
    """Your softmax runs over axis 0, the points. Where all of them are −∞, it returns NaN. Take it
    over the last axis."""
    return _mix(_scores(q, k), v, axis=0)


@attend.mistake()
def no_scale(q, k, v):
    """You didn't divide the scores by √D. They grow with the number of features, and the softmax
    then picks nearly one position only."""
    return _mix(q @ k.mT, v)


@attend.mistake()
def divided_by_d(q, k, v):
    """You divided the scores by D. Divide them by its root: a sum of D unrelated products is about
    √D large."""
    return _mix(q @ k.mT / q.shape[-1], v)


@attend.mistake()
def divided_by_2(q, k, v):
    """You divided by 2, the root of 4. That fits only four features. Take D from the shape:
    `q.shape[-1]`."""
    return _mix(q @ k.mT / 2, v)


@attend.mistake()
def divided_after_the_softmax(q, k, v):
    """You divided the weights by √D, so they add up to less than 1. Divide the scores, before the
    softmax."""
    return _mix(q @ k.mT, v) / q.shape[-1] ** 0.5


@attend.mistake()
def divided_by_the_root_of_l(q, k, v):
    """You divided by the root of the number of positions. The scores are sums over the D features,
    so divide by √D."""
    return _mix(q @ k.mT / q.shape[-2] ** 0.5, v)


@attend.mistake()
def multiplied_by_the_root(q, k, v):
    """You multiplied the scores by √D. Divide them by it."""
    return _mix(q @ k.mT * q.shape[-1] ** 0.5, v)


@attend.mistake()
def mask_after_the_softmax(q, k, v):
    """Your mask comes after the softmax, so the weights that are left don't add up to 1. Mask the
    scores, with −∞, before the softmax."""
    scores = _scores(q, k)
    return scores.softmax(-1).masked_fill(_later(scores), 0) @ v


@attend.mistake()
def minus_infinity_after_the_softmax(q, k, v):
    """You set weights to −∞, after the softmax. Set scores to −∞, before it."""
    scores = _scores(q, k)
    return scores.softmax(-1).masked_fill(_later(scores), -math.inf) @ v


@attend.mistake()
def masked_with_zero(q, k, v):
    """You set the scores of the later positions to 0, and e⁰ = 1 still gives them a weight. Set
    them to −∞."""
    scores = _scores(q, k)
    return scores.masked_fill(_later(scores), 0).softmax(-1) @ v


@attend.mistake()
def no_softmax(q, k, v):
    """There is no softmax. It turns the scores into weights above 0 that add up to 1."""
    scores = _scores(q, k)
    return scores.masked_fill(_later(scores), 0) @ v


@attend.mistake()
def keys_ask(q, k, v):
    """Queries and keys have changed places: the rows of the scores belong to the queries, so write
    `q @ k.transpose(-1, -2)`."""
    return _mix(_scores(k, q), v)


@attend.mistake()
def keys_mixed(q, k, v):
    """You mixed the keys. The weights mix the values, v."""
    return _mix(_scores(q, k), k)


@attend.mistake()
def weights_transposed(q, k, v):
    """You transposed the weights. Their rows are the positions that read: `weights @ v`."""
    return _weights(_scores(q, k)).mT @ v


@attend.mistake()
def weights_only(q, k, v):
    """You returned the weights. Multiply them with the values: `weights @ v`."""
    return _weights(_scores(q, k))


put_in_bank(TOPIC, vars())
