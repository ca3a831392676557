"""Exercises on attention, on blocks with two branches, and on how a transformer trains."""

import math

import torch

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.exercises.residual_parts import X
from lnorm_course.exercises.transformer_attention import (  # noqa: F401 - in this bank, too
    above_0,
    attend,
    blank,
    drawn,
    norms_24,
    rms,
)
from lnorm_course.exercises.transformer_blocks import (  # noqa: F401 - in this bank, too
    SIX_FEATURES,
    WITHIN,
    norms_6,
    pre_block,
    rms_norm,
)
from lnorm_utils.data import normal

TOPIC = "transformer"
TO_CHARACTERS = normal(5, 4, seed=216)
# With spreads no smaller than 0.001, an ε of 1e-12 is the same as none.
NARROW = torch.tensor([[0.02], [0.005], [0.001]]) * normal(2, 3, 4, seed=91) + 0.002

final = CodeExercise(
    inputs={
        "the encoded points": (X, TO_CHARACTERS),
        "rows with spreads from 0.001 to 0.02": (NARROW, TO_CHARACTERS),
        "five points of three words, six features": (SIX_FEATURES, normal(7, 6, seed=222)),
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
def weight_not_transposed(norm, stream, weight):
    """Each row of `weight` has one number for each feature of the stream, so multiply with
    `weight.T`."""
    return norm.standardize(stream) @ weight


@final.mistake()
def norm_added_to_the_stream(norm, stream, weight):
    """You added the normalized stream to the stream. Only the normalized one goes into the linear
    map."""
    return (stream + norm.standardize(stream)) @ weight.T


@final.mistake()
def norm_of_the_weights_too(norm, stream, weight):
    """You normalized the matrix too. Only the rows of the stream are normalized."""
    return norm.standardize(stream) @ norm.standardize(weight).T


@final.mistake()
def most_likely_character(norm, stream, weight):
    """You returned the number of the likeliest character. Return the logits of all of them."""
    return (norm.standardize(stream) @ weight.T).argmax(-1)


@final.mistake()
def last_position_only(norm, stream, weight):
    """You returned the logits of the last position. Each position has its own."""
    return norm.standardize(stream)[:, -1] @ weight.T


@final.mistake()
def norm_on_both_sides(norm, stream, weight):
    """You normalized the logits too. One norm, in front of the linear map, is enough."""
    return norm.standardize(norm.standardize(stream) @ weight.T)


@final.mistake()
def rms_norm_then_map(norm, stream, weight):
    """That is RMSNorm. Layer norm subtracts the mean first."""
    return rms_norm(stream) @ weight.T


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
    answer=0.5,
    reason="At the first step m̂ = g and v̂ = g², so each number moves by the rate, here 0.5.",
    wrong={
        2: "That is plain gradient descent, rate · gradient. Adam divides by the root of v̂.",
        4: "That is the gradient itself.",
        0.5 * 0.1 / 0.001**0.5: "You left out the hats: m is 0.4 and v is 0.016. Divided by 1 − β "
        "they are 4 and 16.",
        0.05: "m is a tenth of the gradient, but m̂ divides it by 0.1 again.",
        0.125: "You divided by v̂. Adam divides by its root, here 4.",
        1: "That is m̂ / √v̂. It's still multiplied by the rate.",
        -0.5: "The size is right. How far it moves has no sign.",
        2.5: "That is where it is afterwards, if it was at 3. The question is how far it moved.",
    },
    within=0.006,
    hints=["At the first step m̂ is the gradient. What is v̂?", "Divide m̂ by the root of v̂."],
)

stuck = Prediction(
    answer=2.95,
    reason="It ends near the entropy of the letters. It gives about the frequencies of the "
    "characters, whatever it reads.",
    wrong={
        math.log(37): "That is guessing, and it does learn how frequent each character is.",
        2.31: "To get there it must look at the character before.",
        0: "No model here gets near 0. Even people can't predict every character.",
        math.log(2): "That is the loss of guessing between two classes, as in the rings.",
        1.93: "That is where it ends at a smaller rate, 0.003.",
    },
    also={
        2.97: "That is the entropy of the letters of the training text, near which its training "
        "loss stops. On new text it ends at 2.96, near 2.95.",
    },
    within=0.02,
    hints=[
        "Which kind of answer is the easiest to learn, without looking at the input?",
        "Its loss is one of the three numbers from the beginning of this lesson.",
    ],
)

rings = Prediction(
    answer=math.log(2),
    reason="Each ring has the frequency one half, and the entropy is ln 2 = 0.69.",
    wrong={
        0.5: "That is the frequency of each ring. The loss is minus its logarithm.",
        1: "That is the entropy in bits. Cross entropy uses the natural logarithm.",
        0: "The answer is the same for all points, so it can't be right for both rings.",
        math.log(2) / 2: "That is −p ln p of one ring. Add that of the other.",
        math.log(512): "The loss is a mean over the points, and there are two classes.",
        2: "That is the number of classes. The loss is minus the logarithm of a probability.",
    },
    within=0.006,
    hints=[
        "How frequent is each of the two rings?",
        "Add −p ln p of the one to −p ln p of the other.",
    ],
)

trains = Prediction(
    answer=3,
    reason="At the three smaller rates it trains like the others. At 0.01 and 0.03 its loss grows "
    "until it overflows. So norms aren't needed for training.",
    wrong={
        0: "Without norms it does train, if the rate is small enough, as in lesson 11.",
        5: "At the largest rate its loss grows until it overflows.",
        1: "Not only at the smallest rate: six blocks aren't deep.",
        2: "You left out a rate at which it trains. Its loss overflows at large rates only.",
        4: "You counted a rate that is too large. Its loss may fall first, and then grow until it "
        "overflows.",
    },
    hints=[
        "In lesson 11, did the stack without norms train at the smallest rate?",
        "Small rates are fine. It's the large ones at which its loss overflows.",
    ],
)

best = Prediction(
    answer="post-LN",
    reason="After 300 steps post-LN ends lowest at this rate, with both seeds. Pre-LN isn't always "
    "better.",
    wrong={
        "pre-LN": "Most large models have it, and it takes larger rates. But at this rate, with "
        "six blocks, another place ends lower.",
        "pre-RMSNorm": "It ends near pre-LN, and here another place ends lower.",
        "no norm": "It does train at this rate, but another place ends lower.",
    },
    hints=[
        "A side trip of lesson 11 cites a paper on transformers of six or fewer layers.",
        "Takase et al. 2022 found that one place is better there, though it's harder to train.",
    ],
)

gains = Prediction(
    answer=4,
    reason="From this start all four places end lower with both seeds, and all learn more than the "
    "letters.",
    wrong={
        0: "Some do. From the usual start, two of the four learned no more than the letters.",
        1: "Not only one. From the usual start, two of the four learned no more than the letters.",
        2: "Those that had learned before can still learn more, and those that hadn't can, too.",
        3: "One more. That no norm overflows at this rate belongs to the usual start.",
    },
    hints=[
        "In lesson 10, what did another start do to the stack without norms?",
        "Which of the four ended so low at this rate that it could not end lower?",
    ],
)


put_in_bank(TOPIC, vars(), further=("final", "moves"))
