"""Exercises on the norms of models that people run, and on what happens to γ there."""

import math

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.models import RMS_NORM
from lnorm_utils.data import normal

TOPIC = "models"

threes = Prediction(
    answer=1,
    reason="The mean of the squares is 9, and its root is 3. RMSNorm divides by that and subtracts "
    "nothing.",
    wrong={
        0: "That's layer norm, which subtracts the mean. RMSNorm has no mean.",
        0.5: "You divided by the length of the row, 6. RMSNorm divides by the root of the mean of "
        "the squares.",
        3: "That's the row as it was. RMSNorm divides it.",
        1 / 3: "You divided by the mean of the squares. Take its root first.",
    },
    hints=["Which of the two steps of layer norm does RMSNorm leave out?", "The squares are 9."],
)

grows = Prediction(
    answer="pre-LN",
    reason="Each block adds to the stream, and nothing on the stream itself normalizes it.",
    wrong={
        "post-LN": Belief.PRE_NORM_IS_POST_NORM(
            "There, a norm stands behind each addition, so each block ends with rows of the same "
            "size."
        ),
        "both": "In one of them, a norm stands behind each addition.",
        "neither": "In one of them, nothing normalizes the sum before the end.",
    },
    hints=["Where does the norm stand in each of them?", "What normalizes the sum x + f(…)?"],
)

absorbs = Prediction(
    answer="columns",
    reason="Column d of W meets feature d, and γ has one number for each feature.",
    wrong={
        "rows": "Each row of W makes one output, and there are 3 of those. γ has 8 numbers.",
        "both": "γ has one number for each feature, and W has one axis with 8 features.",
    },
    hints=["γ has 8 numbers. Which axis of W has 8?", "In code it's `matrix * weight`."],
)

in_2017 = Prediction(
    answer="BERT",
    reason="It normalizes the sum, norm(x + f(x)). The other six have the norm in the branch.",
    wrong={
        "GPT-2": "There the norm stands in front of the branch, x + f(norm(x)).",
        "T5": "There the norm stands in front of the branch, and nothing normalizes the sum.",
        "LLaMA": "There the norm stands in front of the branch, as in GPT-2.",
        "Gemma 3": "It has a norm on each side of the branch. Both stand before the addition.",
        "OLMo 2": "Its norm stands behind the branch, but before the addition: x + norm(f(x)).",
        "Qwen 3": "There the norm stands in front of the branch, as in LLaMA.",
    },
    hints=["What comes last there, the norm or the addition?", "It's the oldest of them."],
)

largest = Prediction(
    answer=8,
    reason="Each normalized row has the length √64 = 8. So q · k is at most 64, and that's divided "
    "by √64.",
    wrong={
        64: "That's the largest q · k. The score is divided by √64.",
        1: "A normalized row isn't of length 1. The mean of its squares is 1, and it has 64 of "
        "them.",
        1 / 8: "That's for rows of length 1. Here the mean of the squares is 1.",
        80000: "That's without a norm. It takes the factor of 100 away from q and from k.",
        800: "The norms take the factor of 100 away.",
    },
    hints=[
        "How long is a row of 64 numbers if the mean of their squares is 1?",
        "q · k is largest if both point the same way. What do you divide it by?",
    ],
)

fresh = Prediction(
    answer="zeros",
    reason="Gemma 3 keeps γ − 1, which starts at 0. The other layer takes it for γ.",
    wrong={
        "error": "The key is `weight` and the shape is right, so nothing raises an error.",
        "the same": "The two layers multiply by different numbers.",
        "twice": "Gemma 3's layer adds 1 to its weight. The other one doesn't.",
    },
    hints=["What's in `weight` before any training?", "What does the layer multiply by?"],
)

by_eps = Prediction(
    answer=2.35,
    within=0.01,
    reason="The mean square is 1e-6. So the roots are those of 11e-6 and 2e-6, and √(11 / 2) is "
    "2.35.",
    wrong={
        10: "That's the ratio of the two ε. Add the mean of the squares to both, and take the "
        "root.",
        5.5: "That's the ratio below the root. Take the root of it.",
        math.sqrt(10): "You left out the mean of the squares, which is added to ε.",
        1: "That holds for rows whose mean square is much larger than both ε.",
        1 / math.sqrt(5.5): "It's the other way round: with the smaller ε the numbers are larger.",
    },
    hints=["What is the mean of the squares of such a row?", "Divide the two roots."],
)

added_up = Prediction(
    answer=1,
    reason="Above 1, the next number in bfloat16 is 1.0078. So 1.001 is rounded to 1, and that "
    "100 times.",
    wrong={
        1.1: "That's right in float32. In bfloat16, each of the sums is rounded.",
        1.78: "It would be if each sum were rounded up, to the next number.",
        0: "γ starts at 1, and no step takes anything away.",
    },
    hints=[
        "bfloat16 has 8 bits for the digits. How far apart are its numbers just above one?",
        "Each step rounds by itself.",
    ],
)

ends_at = Prediction(
    answer=0.82,
    reason="Decay takes away 0.1% of γ at each step, and the gradient hardly holds it.",
    wrong={
        1: "Nothing keeps γ there. Decay pulls at each step, and this network learns without its "
        "help.",
        0.91: "The gradient doesn't bring back half of what decay takes.",
    },
    choices=[0.82, 0.91, 1],
    hints=[
        "What's left of γ if only decay changes it, 0.999 times as much at each of 200 steps?",
        "A smaller γ can be made good by the next linear map. So who pulls it back?",
    ],
)

comes_out = Prediction(
    answer="float32",
    reason="The row is bfloat16 by then, and a product of bfloat16 and float32 is float32.",
    wrong={
        "bfloat16": "The row is bfloat16. But γ isn't, and the product takes the larger dtype.",
        "float16": "Nothing here is float16.",
        "float64": "Nothing here is float64.",
    },
    hints=["Which dtype do the parameters have under autocast?", "What is multiplied last?"],
)

keeps = Prediction(
    answer="RMSNorm",
    reason="On the CPU it's put together from small operations, and each keeps what it needs. "
    "Layer norm is one operation.",
    wrong={
        "layer norm": "It keeps x and two numbers for each row, because it's one operation with a "
        "backward pass of its own.",
        "same": "One of them is a single operation for autograd. The other isn't.",
    },
    hints=[
        "What's kept depends on how many operations autograd sees.",
        "x and the two statistics of a row are enough to compute the gradient.",
    ],
)

folded = Prediction(
    answer="larger",
    reason="The column with the large γ sets the step of each row, and all other weights are "
    "rounded with it.",
    wrong={
        "smaller": "Folding gives each row of W one very large number, and the step comes from "
        "that.",
        "same": "In exact arithmetic it is. But the step of each row comes from its largest "
        "number, which folding has changed.",
    },
    hints=["Which number of a row decides how wide its steps are?", "What does γ do to that one?"],
)

# Rows whose mean isn't zero, so that layer norm gives clearly other numbers, and in float64.
ROWS = normal(5, 6, seed=171).double() + 1
TALL = 0.1 * normal(3, 4, seed=172).double() - 0.2
OFFSETS = normal(6, seed=173).double() / 2
FEW_OFFSETS = normal(4, seed=174).double() / 2

gemma = CodeExercise(
    inputs={
        "five rows of six features": (ROWS, OFFSETS, 1e-6),
        "narrow rows of four features with ε = 0.01": (TALL, FEW_OFFSETS, 0.01),
    },
    norm=lambda norm, x, weight, eps: norm.standardize(x, eps=eps) * (1 + weight),
    layout=RMS_NORM,
    hints=[
        "Divide each row by the root of the mean of its squares plus ε.",
        "`weight` is γ − 1. What do you multiply by?",
    ],
)


@gemma.answer
def times_one_plus_weight(x, weight, eps):
    return x / (x.square().mean(dim=-1, keepdim=True) + eps).sqrt() * (1 + weight)


@gemma.mistake()
def times_weight(norm, x, weight, eps):
    """You multiplied by `weight`. That's γ − 1 here, so add 1."""
    return norm.standardize(x, eps=eps) * weight


@gemma.mistake()
def no_weight(norm, x, weight, eps):
    """You left out γ, which is 1 + weight."""
    return norm.standardize(x, eps=eps)


@gemma.mistake()
def plus_weight(norm, x, weight, eps):
    """You added the weight to the row. Multiply the row by 1 + weight."""
    return norm.standardize(x, eps=eps) + weight


@gemma.mistake()
def one_plus_all(norm, x, weight, eps):
    """You added 1 to the product. Add it to the weight, and then multiply."""
    return 1 + norm.standardize(x, eps=eps) * weight


@gemma.mistake()
def minus_one(norm, x, weight, eps):
    """You subtracted 1 from the weight. It's γ − 1 already, so add 1."""
    return norm.standardize(x, eps=eps) * (weight - 1)


Q, K = (normal(5, 6, seed=seed).double() + 1 for seed in (175, 176))
SHORT_Q, LONG_K = 0.1 * normal(3, 4, seed=177).double() + 0.1, 30 * normal(3, 4, seed=178).double()


def _products(q, k):
    return q @ k.transpose(-2, -1)  # .mT warns if a slip leaves a single number


qk_norm = CodeExercise(
    inputs={
        "five positions of six features": (Q, K, 1e-6),
        "small q and large k, with ε = 0.01": (SHORT_Q, LONG_K, 0.01),
    },
    norm=lambda norm, q, k, eps: (
        _products(norm.standardize(q, eps=eps), norm.standardize(k, eps=eps)) / q.shape[-1] ** 0.5
    ),
    layout=RMS_NORM,
    hints=[
        "Divide each row of q and of k by the root of the mean of its squares plus ε.",
        "Then the scores are as always: q · kᵀ / √D.",
    ],
)


@qk_norm.answer
def scores_of_normalized_rows(q, k, eps):
    q, k = (x / (x.square().mean(dim=-1, keepdim=True) + eps).sqrt() for x in (q, k))
    return q @ k.T / q.shape[-1] ** 0.5


@qk_norm.mistake()
def only_the_queries(norm, q, k, eps):
    """You normalized q only. A long k still makes the scores as large as it likes."""
    return _products(norm.standardize(q, eps=eps), k) / q.shape[-1] ** 0.5


@qk_norm.mistake()
def only_the_keys(norm, q, k, eps):
    """You normalized k only. A long q still makes the scores as large as it likes."""
    return _products(q, norm.standardize(k, eps=eps)) / q.shape[-1] ** 0.5


@qk_norm.mistake()
def no_norm(norm, q, k, eps):
    """Those are the scores without a norm. Normalize the rows of q and of k first."""
    return _products(q, k) / q.shape[-1] ** 0.5


@qk_norm.mistake()
def not_divided(norm, q, k, eps):
    """You didn't divide by √D. The norm replaces that in Gemma 4, but not here."""
    return _products(norm.standardize(q, eps=eps), norm.standardize(k, eps=eps))


@qk_norm.mistake()
def divided_by_the_features(norm, q, k, eps):
    """You divided by D. The scores are q · kᵀ / √D."""
    return _products(norm.standardize(q, eps=eps), norm.standardize(k, eps=eps)) / q.shape[-1]


@qk_norm.mistake()
def scores_normalized(norm, q, k, eps):
    """You normalized the scores. Normalize the rows of q and of k, before they meet."""
    return norm.standardize(_products(q, k) / q.shape[-1] ** 0.5, eps=eps)


@qk_norm.mistake()
def keys_first(norm, q, k, eps):
    """Your scores are transposed: row l belongs to query l, so q stands in front."""
    return (
        _products(norm.standardize(k, eps=eps), norm.standardize(q, eps=eps)) / q.shape[-1] ** 0.5
    )


put_in_bank(TOPIC, vars(), further=["gemma", "keeps", "qk_norm"])
