"""Exercises on attention, on blocks with two branches, and on how a transformer trains."""

import math

import torch

from lnorm_utils.beliefs import Belief
from lnorm_utils.examples import normal
from lnorm_utils.exercises.engine.code_exercise import CodeExercise
from lnorm_utils.exercises.engine.prediction import Prediction, Wrong
from lnorm_utils.exercises.residual import SMALL, SMALL_BRANCHES, F, G, X

TOPIC = "transformer"
WITHIN = 1e-5

means = Prediction(
    TOPIC,
    "means",
    answer=16 * 64,
    reason="One for each of the 64 positions of each of the 16 points.",
    wrong=[
        Wrong(
            16,
            "That is one for each point. Each of its 64 positions has a mean of its own.",
            Belief.ONE_MEAN_PER_SENTENCE,
        ),
        Wrong(64, "That is one for each position. The 16 points don't share their means."),
        Wrong(
            32,
            "That is one for each feature, as in batch norm. Layer norm averages over the "
            "features.",
            Belief.OVER_THE_BATCH,
        ),
        Wrong(16 * 32, "You averaged over the positions. Layer norm averages over the features."),
        Wrong(64 * 32, "You averaged over the points. Layer norm averages over the features."),
        Wrong(16 * 64 * 32, "That is how many numbers there are. Each 32 of them share a mean."),
        Wrong(1, "One mean for everything is not what layer norm takes. Each row has its own."),
    ],
    hints=["How many rows are there?", "A row is what stands at one point and one position."],
)

norms_24 = Prediction(
    TOPIC,
    "norms_24",
    answer=25,
    reason="One in each of the 24 blocks, and one more at the end of the stack.",
    wrong=[
        Wrong(24, "You left out the final norm, behind the last block."),
        Wrong(48, "That is two in each block. A block with one branch has one norm."),
        Wrong(49, "A block with one branch has one norm, not two."),
        Wrong(26, "There is one more norm at the end, and none at the beginning."),
        Wrong(1, "Besides the norm at the end, each block has one of its own."),
        Wrong(2, "Each block has a norm of its own."),
    ],
    hints=["How many does each block have?", "What comes behind the last block?"],
)

rms = Prediction(
    TOPIC,
    "rms",
    answer=0.2,
    reason="The mean of the squares 1, 1, 49, 49 is 25, its root is 5, and 1/5 = 0.2.",
    wrong=[
        Wrong(-1, "That is layer norm. RMSNorm subtracts no mean."),
        Wrong(-0.6, "You subtracted the mean, 4. RMSNorm only divides."),
        Wrong(1 / 3, "You divided by the standard deviation, 3. RMSNorm squares the features."),
        Wrong(0.04, "You divided by the mean of the squares. RMSNorm divides by its root."),
        Wrong(0.1, "You divided by the root of the sum of the squares. RMSNorm takes their mean."),
        Wrong(0.25, "You divided by the mean, 4. RMSNorm takes the root of the mean square."),
        Wrong(3**0.5 / 10, "You divided by D − 1 in the mean square. RMSNorm divides by D."),
        Wrong(5, "That is what the row is divided by."),
        Wrong(1, "That is the first number of the row. Divide it by the root of the mean square."),
    ],
    within=0.006,
    hints=["What is the mean of the squares?", "Take its root, and divide the first number by it."],
)

ln_37 = Prediction(
    TOPIC,
    "ln_37",
    answer=math.log(37),
    reason="Each character gets the probability 1/37, and −ln(1/37) = ln 37.",
    wrong=[
        Wrong(-math.log(37), "The size is right. The loss is −ln of 1/37, so it's above 0."),
        Wrong(math.log2(37), "That is the loss in bits. Cross entropy uses the natural logarithm."),
        Wrong(math.log10(37), "That is the logarithm to base 10. Cross entropy uses base e."),
        Wrong(math.log(26), "There are 26 letters, but 37 characters."),
        Wrong(1 / 37, "That is the probability of each. The loss is minus its logarithm."),
        Wrong(36 / 37, "That is how often a guess is wrong. The loss is −ln of the probability."),
        Wrong(0, "A loss of 0 means that the right character always gets the probability 1."),
        Wrong(37, "That is the number of characters. The loss is its logarithm."),
        Wrong(math.log(2), "That is the loss of guessing between two classes. Here there are 37."),
    ],
    within=0.006,
    hints=[
        "Which probability does each of the 37 characters get?",
        "The loss is minus the natural logarithm of that.",
    ],
)

above_0 = Prediction(
    TOPIC,
    "above_0",
    answer=21,
    reason="Position 0 reads one position, position 1 two, and so on: 1 + 2 + 3 + 4 + 5 + 6.",
    wrong=[
        Wrong(36, "That is without the mask. The weights of later positions are 0."),
        Wrong(
            15,
            "Either you left out the diagonal, though each position also reads itself, or you "
            "counted the zeros.",
        ),
        Wrong(6, "That is one for each position. The last one reads all six."),
        Wrong(30, "You left out the position itself. The mask hides the later positions only."),
        Wrong(18, "That is half of the table. The diagonal isn't hidden, so it is a bit more."),
        Wrong(12, "Only the first positions read so few. The last one reads all six."),
    ],
    hints=[
        "How many positions does the first one read? And the second?",
        "Add 1, 2, 3 and so on, a number for each position.",
    ],
)

# Queries, keys, and values, large enough that weights differ much.
SIX = tuple(2 * normal(2, 6, 4, seed=seed).double() for seed in (210, 211, 212))
WIDE = tuple(normal(3, 4, 9, seed=seed).double() for seed in (213, 214, 215))

attend = CodeExercise(
    TOPIC,
    "attend",
    inputs={"two points with six positions": SIX, "three points with nine features": WIDE},
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


def _rms_norm(x):
    return torch.nn.functional.rms_norm(x, x.shape[-1:], eps=1e-5)


def _block(norm, x, f, g):
    x = x + f(norm.standardize(x))
    return x + g(norm.standardize(x))


pre_block = CodeExercise(
    TOPIC,
    "pre_block",
    inputs={
        "the encoded points": (X, F, G),
        "rows with spreads from 0.0003 to 0.02": (SMALL, *SMALL_BRANCHES),
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
    x = x + f(_rms_norm(x))
    return x + g(_rms_norm(x))


@pre_block.mistake()
def stopped_after_f(norm, x, f, g):
    """You used `f` only. The block goes on with `g`."""
    return x + f(norm.standardize(x))


norms_6 = Prediction(
    TOPIC,
    "norms_6",
    answer=13,
    reason="Two in each of the six blocks, and the final norm.",
    wrong=[
        Wrong(12, "You left out the final norm, which every pre-LN stack needs."),
        Wrong(7, "Each block has two branches, and each branch a norm of its own."),
        Wrong(6, "Each block has two branches, each with a norm, and at the end comes one more."),
        Wrong(14, "There is one norm behind the last block, and none in front of the first."),
        Wrong(18, "The final norm comes once, behind the last block, not in each of them."),
        Wrong(24, "The heads of an attention share the one norm in front of it."),
    ],
    hints=["How many branches does a block have?", "What comes behind the last block?"],
)

TO_CHARACTERS = normal(5, 4, seed=216)

final = CodeExercise(
    TOPIC,
    "final",
    inputs={
        "the encoded points": (X, TO_CHARACTERS),
        "rows with spreads from 0.0003 to 0.02": (SMALL, TO_CHARACTERS),
    },
    norm=lambda norm, stream, weight: norm.standardize(stream) @ weight.T,
    within=WITHIN,
    hints=[
        "Nothing has normalized the stream of a pre-LN stack. Where is the last place to do it?",
        "Normalize the rows of the stream, and multiply them with `weight.T`.",
    ],
)


@final.answer
def norm_then_map(stream, weight):
    normed = torch.nn.functional.layer_norm(stream, stream.shape[-1:])
    return normed @ weight.T


@final.mistake()
def final_norm_forgotten(norm, stream, weight):
    """The final norm is missing. In pre-LN nothing else normalizes the stream, and its scale grows
    from block to block."""
    return stream @ weight.T


@final.mistake()
def norm_of_the_logits(norm, stream, weight):
    """You normalized the logits, behind the linear map. Normalize the stream, in front of it."""
    return norm.standardize(stream @ weight.T)


@final.mistake()
def norm_on_both_sides(norm, stream, weight):
    """You normalized the logits too. One norm, in front of the linear map, is enough."""
    return norm.standardize(norm.standardize(stream) @ weight.T)


@final.mistake()
def rms_norm_then_map(norm, stream, weight):
    """That is RMSNorm. Layer norm subtracts the mean first."""
    return _rms_norm(stream) @ weight.T


@final.mistake()
def softmax_of_the_logits(norm, stream, weight):
    """You took the softmax. The logits are what comes before it; cross entropy takes it by
    itself."""
    return (norm.standardize(stream) @ weight.T).softmax(-1)


@final.mistake()
def log_softmax_of_the_logits(norm, stream, weight):
    """You took the logarithm of the softmax. The logits are what comes before; cross entropy takes
    it by itself."""
    return (norm.standardize(stream) @ weight.T).log_softmax(-1)


@final.mistake()
def norm_only(norm, stream, weight):
    """The linear map is missing: multiply with `weight.T`, which makes a number for each
    character."""
    return norm.standardize(stream)


moves = Prediction(
    TOPIC,
    "moves",
    answer=0.5,
    reason="At the first step m̂ = g and v̂ = g², so each number moves by the rate, here 0.5.",
    wrong=[
        Wrong(2, "That is plain gradient descent, rate · gradient. Adam divides by the root of v̂."),
        Wrong(4, "That is the gradient itself."),
        Wrong(
            0.5 * 0.1 / 0.001**0.5,
            "You left out the hats: m is 0.4 and v is 0.016. Divided by 1 − β they are 4 and 16.",
        ),
        Wrong(0.05, "m is a tenth of the gradient, but m̂ divides it by 0.1 again."),
        Wrong(0.125, "You divided by v̂. Adam divides by its root, here 4."),
        Wrong(1, "That is m̂ / √v̂. It's still multiplied by the rate."),
        Wrong(-0.5, "The size is right. How far it moves has no sign."),
        Wrong(
            2.5, "That is where it is afterwards, if it was at 3. The question is how far it moved."
        ),
    ],
    within=0.006,
    hints=["At the first step m̂ is the gradient. What is v̂?", "Divide m̂ by the root of v̂."],
)

stuck = Prediction(
    TOPIC,
    "stuck",
    answer=2.95,
    reason=(
        "It ends near the entropy of the letters. It gives about the frequencies of the "
        "characters, whatever it reads."
    ),
    wrong=[
        Wrong(math.log(37), "That is guessing, and it does learn how frequent each character is."),
        Wrong(2.31, "To get there it must look at the character before."),
        Wrong(0, "No model here gets near 0. Even people can't predict every character."),
        Wrong(math.log(2), "That is the loss of guessing between two classes, as in the rings."),
        Wrong(1.93, "That is where it ends at a smaller rate, 0.003."),
    ],
    also=[
        (
            2.97,
            "That is the entropy of the letters of the training text, near which its training "
            "loss stops. On new text it ends at 2.96, near 2.95.",
        )
    ],
    within=0.02,
    hints=[
        "Which kind of answer is the easiest to learn, without looking at the input?",
        "Its loss is one of the three numbers from the beginning of this lesson.",
    ],
)

rings = Prediction(
    TOPIC,
    "rings",
    answer=math.log(2),
    reason="Each ring has the frequency one half, and the entropy is ln 2 = 0.69.",
    wrong=[
        Wrong(0.5, "That is the frequency of each ring. The loss is minus its logarithm."),
        Wrong(1, "That is the entropy in bits. Cross entropy uses the natural logarithm."),
        Wrong(0, "The answer is the same for all points, so it can't be right for both rings."),
        Wrong(math.log(2) / 2, "That is −p ln p of one ring. Add that of the other."),
        Wrong(math.log(512), "The loss is a mean over the points, and there are two classes."),
        Wrong(2, "That is the number of classes. The loss is its logarithm."),
    ],
    within=0.006,
    hints=[
        "How frequent is each of the two rings?",
        "Add −p ln p of the one to −p ln p of the other.",
    ],
)

trains = Prediction(
    TOPIC,
    "trains",
    answer=3,
    reason=(
        "At the three smaller rates it trains like the others. At 0.01 and 0.03 its loss grows "
        "until it overflows. So norms aren't needed for training."
    ),
    wrong=[
        Wrong(0, "Without norms it does train, if the rate is small enough, as in lesson 11."),
        Wrong(5, "At the largest rate its loss grows until it overflows."),
        Wrong(1, "Not only at the smallest rate: six blocks aren't deep."),
        Wrong(2, "At 0.003 it still trains. Its loss overflows at larger rates."),
        Wrong(4, "One fewer: at 0.01 its loss grows until it overflows."),
    ],
    hints=[
        "In lesson 11, did the stack without norms train at the smallest rate?",
        "Small rates are fine. It's the large ones at which its loss overflows.",
    ],
)

best = Prediction(
    TOPIC,
    "best",
    answer="post-LN",
    reason="Post-LN ends lowest at this rate, and with both seeds. Pre-LN isn't always better.",
    wrong=[
        Wrong(
            "pre-LN",
            "Most large models have it, and it takes larger rates. But at this rate, with six "
            "blocks, another place ends lower.",
        ),
        Wrong("pre-RMSNorm", "It ends near pre-LN, and here another place ends lower."),
        Wrong("no norm", "It does train at this rate, but another place ends lower."),
    ],
    hints=[
        "Lesson 11 cites a paper on transformers of six or fewer layers.",
        "Takase et al. 2022 found that one place is better there, though it's harder to train.",
    ],
)

gains = Prediction(
    TOPIC,
    "gains",
    answer="pre-LN",
    reason="It ends lower by about 0.3 with both seeds, post-LN with one seed only, by 0.13.",
    wrong=[
        Wrong(
            "post-LN",
            "Papers say that it's the one that needs a warm-up. But at this rate ours hardly gets "
            "past the letters with one either.",
        ),
        Wrong("both", "One of them still ends at the letters with one of the seeds."),
        Wrong("neither", "One of them ends lower by about 0.3."),
    ],
    hints=[
        "At this rate, which of the two learns anything from what it reads?",
        "A model that gives one answer to everything may stay stuck with a warm-up too.",
    ],
)
