"""Exercises on a transformer: blocks with two branches."""

import torch

from lnorm_utils.checking.code_exercise import CodeExercise
from lnorm_utils.checking.exercise import put_in_bank
from lnorm_utils.checking.prediction import Prediction
from lnorm_utils.examples import normal
from lnorm_utils.exercises.residual import SMALL, SMALL_BRANCHES, Branch, F, G, X
from lnorm_utils.slips.beliefs import Belief

TOPIC = "transformer"
WITHIN = 1e-5


def rms_norm(x):
    return torch.nn.functional.rms_norm(x, x.shape[-1:], eps=1e-5)


def _block(norm, x, f, g):
    x = x + f(norm.standardize(x))
    return x + g(norm.standardize(x))


# Other sizes on each axis. float32, as the stream of this lesson.
SIX_FEATURES = normal(5, 3, 6, seed=217) + 1
SIX_BRANCHES = (Branch("f", 218, features=6), Branch("g", 220, features=6))

pre_block = CodeExercise(
    inputs={
        "the encoded points": (X, F, G),
        "rows with spreads from 0.0003 to 0.02": (SMALL, *SMALL_BRANCHES),
        "five points of three words, six features": (SIX_FEATURES, *SIX_BRANCHES),
    },
    norm=_block,
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


@pre_block.mistake(Belief.PRE_NORM_IS_POST_NORM)
def post_block(norm, x, f, g):
    """That is post-LN: you normalized after each addition. In pre-LN only what a branch reads is
    normalized."""
    x = norm.standardize(x + f(x))
    return norm.standardize(x + g(x))


@pre_block.mistake()
def no_norms(norm, x, f, g):
    """Nothing is normalized. Each branch reads the normalized stream."""
    x = x + f(x)
    return x + g(x)


@pre_block.mistake()
def only_first_normalized(norm, x, f, g):
    """`g` reads the stream as it is. It reads the normalized stream, as `f` does."""
    x = x + f(norm.standardize(x))
    return x + g(x)


@pre_block.mistake()
def only_second_normalized(norm, x, f, g):
    """`f` reads the stream as it is. It reads the normalized stream, as `g` does."""
    x = x + f(x)
    return x + g(norm.standardize(x))


@pre_block.mistake()
def in_parallel(norm, x, f, g):
    """Both branches read the x from the beginning. `g` reads the stream to which f's result was
    added already."""
    normed = norm.standardize(x)
    return x + f(normed) + g(normed)


@pre_block.mistake()
def other_order(norm, x, f, g):
    """You took `g` first. The block begins with `f`."""
    return _block(norm, x, g, f)


@pre_block.mistake()
def f_twice(norm, x, f, g):
    """You used `f` twice. The second branch is `g`."""
    return _block(norm, x, f, f)


@pre_block.mistake()
def g_reads_f_alone(norm, x, f, g):
    """Your `g` reads f's result alone, normalized. It reads the stream to which that result was
    added, normalized."""
    first = f(norm.standardize(x))
    return x + first + g(norm.standardize(first))


@pre_block.mistake()
def first_added_to_the_normalized(norm, x, f, g):
    """You added f's result to the normalized x. Only what `f` reads is normalized; add its result
    to x as it was."""
    x = norm.standardize(x)
    x = x + f(x)
    return x + g(norm.standardize(x))


@pre_block.mistake()
def subtracted(norm, x, f, g):
    """You subtracted what the branches return. Add it to the stream."""
    x = x - f(norm.standardize(x))
    return x - g(norm.standardize(x))


@pre_block.mistake()
def normalized_stream(norm, x, f, g):
    """You added to the normalized stream. Only what a branch reads is normalized; add its result to
    the stream as it was."""
    x = norm.standardize(x)
    x = x + f(x)
    x = norm.standardize(x)
    return x + g(x)


@pre_block.mistake()
def normalized_once(norm, x, f, g):
    """You normalized the stream once, at the beginning. Each branch reads the stream normalized
    anew, and its result is added to the stream as it was."""
    x = norm.standardize(x)
    x = x + f(x)
    return x + g(x)


@pre_block.mistake()
def second_added_to_the_normalized(norm, x, f, g):
    """You added g's result to the normalized stream. Only what `g` reads is normalized; add its
    result to the stream as it was."""
    x = norm.standardize(x + f(norm.standardize(x)))
    return x + g(x)


@pre_block.mistake()
def norm_of_the_result(norm, x, f, g):
    """You normalized what the branches return. In pre-LN it is what they read."""
    x = x + norm.standardize(f(x))
    return x + norm.standardize(g(x))


@pre_block.mistake()
def one_more_norm(norm, x, f, g):
    """You normalized the stream at the end of the block. That norm comes once, behind the last
    block."""
    return norm.standardize(_block(norm, x, f, g))


@pre_block.mistake()
def no_first_addition(norm, x, f, g):
    """f's result is not added to x. Without it, the row from the beginning is lost."""
    x = f(norm.standardize(x))
    return x + g(norm.standardize(x))


@pre_block.mistake()
def no_second_addition(norm, x, f, g):
    """g's result is not added to the stream."""
    x = x + f(norm.standardize(x))
    return g(norm.standardize(x))


@pre_block.mistake()
def added_to_the_first_x(norm, x, f, g):
    """You added g's result to the x from the beginning, so f's result is lost. Add it to the stream
    that already has it."""
    return x + g(norm.standardize(x + f(norm.standardize(x))))


@pre_block.mistake()
def g_of_f(norm, x, f, g):
    """Your `g` reads what `f` returned. Add that to the stream, and let `g` read the stream,
    normalized."""
    return x + g(f(norm.standardize(x)))


@pre_block.mistake()
def no_additions(norm, x, f, g):
    """Nothing is added. What each branch returns is added to the stream."""
    return g(norm.standardize(f(norm.standardize(x))))


@pre_block.mistake()
def rms_norms(norm, x, f, g):
    """That is RMSNorm. Layer norm subtracts the mean first."""
    x = x + f(rms_norm(x))
    return x + g(rms_norm(x))


@pre_block.mistake()
def stopped_after_f(norm, x, f, g):
    """You used `f` only. The block goes on with `g`."""
    return x + f(norm.standardize(x))


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


put_in_bank(TOPIC, vars())
