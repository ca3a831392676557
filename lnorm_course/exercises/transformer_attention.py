"""Exercises on a transformer: its loss and its attention."""

import math

import torch

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.slips.models import ATTENTION
from lnorm_utils.data import normal

TOPIC = "transformer"

drawn = Prediction(
    answer="circle",
    reason="The features add up to 0, which is a plane, and all rows have the length √3.",
    wrong={
        "sphere": "All rows are equally far from the origin, but their features also add up to 0. "
        "So they lie in a plane.",
        "line": "With two features there are two points on a line. With three there's more room.",
        "square": "All rows are equally far from the origin. The corners of a square are further "
        "away than its sides.",
    },
    hints=["What do the three features of a row add up to?", "How long is each row?"],
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

blank = Prediction(
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
    norm=lambda attention, q, k, v: attention.mix(q, k, v),
    layout=ATTENTION,
    without=["lnorm_course.attention"],
    hints=[
        "The scores are `q @ k.transpose(-1, -2)`, divided by the root of D, and of shape "
        "(N, L, L): a row for each position that reads, a column for each that is read.",
        "`torch.ones(L, L).triu(1).bool()` marks the later positions. `masked_fill` can set their "
        "scores to −∞, before the softmax over the last axis.",
    ],
)


@attend.answer
def causal_attention(q, k, v):
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5  # (N, L, L)
    later = torch.ones(scores.shape[-2:]).triu(1).bool()
    weights = scores.masked_fill(later, float("-inf")).softmax(dim=-1)
    return weights @ v


@attend.mistake()
def k_dot_t(attention, q, k, v):
    """`k.T` reverses all three axes. Exchange the last two only: `k.transpose(-1, -2)`."""
    return q @ k.permute(2, 1, 0)


@attend.mistake()
def keys_not_transposed(attention, q, k, v):
    """The last axis of the queries are features, and so they meet the positions of the keys.
    Exchange the last two axes of the keys: `k.transpose(-1, -2)`."""
    return q @ k


put_in_bank(TOPIC, vars(), further=("above_0", "attend"))
