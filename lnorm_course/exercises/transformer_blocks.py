"""Exercises on a transformer: blocks with two branches."""

import torch

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.exercises.residual_parts import SMALL, SMALL_BRANCHES, Branch, F, G, X
from lnorm_course.slips.block import PRE_BLOCK
from lnorm_utils.data import normal

TOPIC = "transformer"
WITHIN = 1e-5


def rms_norm(x):
    return torch.nn.functional.rms_norm(x, x.shape[-1:], eps=1e-5)


# Other sizes on each axis. float32, as the stream of this lesson.
SIX_FEATURES = normal(5, 3, 6, seed=217) + 1
SIX_BRANCHES = (Branch("f", 218, features=6), Branch("g", 220, features=6))

pre_block = CodeExercise(
    inputs={
        "the encoded points": (X, F, G),
        "rows with spreads from 0.0003 to 0.02": (SMALL, *SMALL_BRANCHES),
        "five points of three words, six features": (SIX_FEATURES, *SIX_BRANCHES),
    },
    norm=lambda norm, x, f, g: norm.block(x, f, g),
    layout=PRE_BLOCK,
    within=WITHIN,
    hints=[
        "Do what a block with one branch does, twice: first with `f`, then with `g`.",
        "`g` reads the stream to which f's result was added, normalized once more.",
    ],
)


@pre_block.answer
def two_branches(x, f, g):
    def norm(stream):
        return torch.nn.functional.layer_norm(stream, stream.shape[-1:])

    x = x + f(norm(x))
    return x + g(norm(x))


norms_6 = Prediction(
    answer=13,
    reason="Two in each of the six blocks, and the final norm.",
    wrong={
        12: "You counted the norms of the six blocks only. Look at the rest of the model, too.",
        7: "You gave each block one norm. Count the branches of a block.",
        6: "You counted the blocks. Look inside one, and then behind the last.",
        14: "You may have put a norm in front of the first block. Pre-LN has none there, because "
        "the norms are inside the block.",
        18: "You gave each block three norms. Count the branches of a block.",
        24: "The heads of an attention share the one norm in front of it.",
    },
    hints=["How many branches does a block have?", "What comes behind the last block?"],
)


put_in_bank(TOPIC, vars(), further=("norms_6",))
