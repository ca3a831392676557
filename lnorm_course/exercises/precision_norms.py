"""Exercises on half precision: its range, its bits, and a norm that takes care."""

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.models import TABLE
from lnorm_utils.data import normal

TOPIC = "precision"
NAN, INF = float("nan"), float("inf")

constant = Prediction(
    answer=0,
    reason="Each number is its own distance of 0 from the mean, and ε keeps the root above 0.",
    wrong={
        NAN: "That's 0/0, without ε. With ε, 0 is divided by √ε.",
        3: "Layer norm subtracts the mean, and that is 3 too.",
        1: "The variance of this row is 0, and layer norm can't bring it to 1.",
        3 / 0.001**0.5: "You divided 3 by √ε. Subtract the mean first.",
    },
    hints=["What is the mean of the row, and how far is each number from it?", "Then divide."],
)


nan_rows = Prediction(
    answer=1,
    reason="Layer norm computes each row alone, so a NaN stays in its row.",
    wrong={
        8: Belief.OVER_THE_BATCH(
            "That's batch norm in training, which takes its statistics over the batch."
        ),
        0: "The mean of a row with a NaN is NaN, and so is each number of the result.",
        7: "Those are the rows that stay as they were.",
    },
    hints=["Which numbers go into the mean of a row?", "Do the other rows see the NaN?"],
)


negative = Prediction(
    answer="a",
    reason="It subtracts two large squares, and their rounding is left.",
    wrong={
        "b": Belief.ONE_PASS_IS_AS_GOOD(
            "That's a mean of squares. It's never negative, however it's rounded."
        ),
        "both": Belief.ONE_PASS_IS_AS_GOOD(
            "One of the two is a mean of squares. Those are never negative."
        ),
        "neither": "In lesson 2, one of them was, at an offset of 17,800.",
    },
    hints=["Which formula adds only squares?", "Which one subtracts?"],
)


one_more = Prediction(
    answer=2048,
    reason="With 11 bits, the neighbors of 2048 are 2047 and 2050. 2049 lies between two numbers, "
    "and is rounded back to 2048.",
    wrong={
        2049: "That takes 12 bits, 1000 0000 0001, and float16 has 11.",
        2050: "That's the next number above. 2049 lies in the middle between two numbers, and a "
        "tie goes to the one whose last bit is 0.",
        2047: "That's the neighbor below. Adding 1 doesn't make a number smaller.",
        0: "Counting doesn't start again at 0, as it may with whole numbers.",
    },
    hints=[
        "Write 2049 in binary. How many bits does it have?",
        "Below 2¹¹, neighbors are 1 apart. And above?",
    ],
)


overflow = Prediction(
    answer=0,
    reason="The variance of each row is infinite. A finite number divided by infinity is 0, so you "
    "see zeros and no NaN.",
    wrong={
        256: Belief.OVERFLOW_SHOWS_AS_NAN(
            "An infinite variance isn't NaN. Layer norm divides by its root, and 300 / ∞ isn't NaN "
            "either."
        ),
        128: "What happens to one row happens to all: each has features beyond 256.",
    },
    hints=[
        "What is the square of 300, and what is the largest number in float16?",
        "Layer norm divides a distance from the mean by the root of the variance. What is 300 / ∞?",
    ],
)


tiny_eps = Prediction(
    answer="NaN",
    reason="In float16, 1e-8 is 0, and 0/0 is NaN.",
    wrong={
        "zeros": Belief.SMALLER_EPS_IS_SAFER(
            "That's what ε is for. But float16 has nothing between 0 and 6e-8, and rounds 1e-8 to "
            "0."
        ),
        "infinity": "That would be a number other than 0, divided by 0. But the numerators here "
        "are distances from the mean.",
        "ones": "A constant row has variance 0, and it stays constant.",
    },
    hints=[
        "Distances and variance are exactly 0. What's under the root then?",
        "The smallest positive number of float16 is 6e-8. To which number is 1e-8 rounded?",
    ],
)


closer = Prediction(
    answer="float16",
    reason="It has 11 bits, and bfloat16 has 8. Here nothing is too large for either.",
    wrong={
        "bfloat16": Belief.BFLOAT16_IS_MORE_PRECISE(
            "bfloat16 reaches as far as float32, but it has only 8 bits."
        ),
        "same": "Both have 16 bits, but they share them out differently.",
    },
    hints=["Here all numbers are near 1. Does the range matter?", "Which has more bits?"],
)


autocast = Prediction(
    answer="zeros",
    reason="Autocast has a list of operations. On the CPU, `square` and `mean` aren't on it, so "
    "they take the float16 that the linear map returned.",
    wrong={
        "right": "Autocast converts the inputs of operations on its list. On the CPU, `square` and "
        "`mean` aren't on it.",
        "NaN": Belief.OVERFLOW_SHOWS_AS_NAN(
            "The squares overflow. But a finite number divided by infinity isn't NaN."
        ),
    },
    hints=[
        "Which dtype does the linear map return under autocast?",
        "Does autocast know that `by_hand` is a layer norm?",
    ],
)

LARGE = (100 * normal(3, 8, seed=131)).half()
LARGE[1, 2] = 900.0
FAR = (normal(5, 8, seed=693) + 10).half()
NARROW = (0.004 * normal(4, 5, seed=133)).half()
HIGH = (normal(6, 4, seed=136) + 55).half()  # float32 holds the sums of their squares exactly

careful_norm = CodeExercise(
    inputs={
        "rows with a spread of 100": (LARGE,),
        "five rows around 10": (FAR,),
        "four narrow rows of five features": (NARROW,),
        "six rows of four features around 55": (HIGH,),
    },
    norm=lambda norm, x: norm.standardize(x.double()),
    layout=TABLE,
    within=3e-6,
    hints=[
        "Convert the rows before the first step that could overflow or round.",
        "`x.float()` comes first. Then everything is as in lesson 3.",
    ],
)


@careful_norm.answer
def in_float32_from_the_start(x):
    x = x.float()
    centered = x - x.mean(dim=-1, keepdim=True)
    return centered / (centered.square().mean(dim=-1, keepdim=True) + 1e-5).sqrt()


def _by_hand(x):
    centered = x - x.mean(-1, keepdim=True)
    return centered / (centered.square().mean(-1, keepdim=True) + 1e-5).sqrt()


def _with_var(x):
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True) + 1e-5).sqrt()


@careful_norm.mistake()
def all_in_float16(norm, x):
    """You computed in float16 and returned float16. The square of 300 is too large for it."""
    return _by_hand(x.half())


@careful_norm.mistake()
def all_in_float16_with_var(norm, x):
    """You computed in float16 and returned float16, so each step rounds. Convert x before the first
    step."""
    return _with_var(x.half())


@careful_norm.mistake()
def converted_at_the_end(norm, x):
    """You converted the result. By then the squares have already overflowed, and the rows are 0.
    Convert x before the first step."""
    return _by_hand(x.half()).float()


@careful_norm.mistake()
def one_pass_in_float32(norm, x):
    """Your variance is E[x²] − E[x]². That loses digits in float32 too, where the mean is large
    against the spread. Subtract the mean before you square."""
    x = x.float()
    mean = x.mean(-1, keepdim=True)
    return (x - mean) / (x.square().mean(-1, keepdim=True) - mean.square() + 1e-5).sqrt()


def _late(x, var):
    return (x - x.mean(-1, keepdim=True)).float() / (var.float() + 1e-5).sqrt()


@careful_norm.mistake()
def converted_after_the_squares(norm, x):
    """You took the mean, the distances, and their squares in float16, and converted after that.
    Convert x before the first step."""
    centered = x.half() - x.half().mean(-1, keepdim=True)
    return _late(x.half(), centered.square().mean(-1, keepdim=True))


@careful_norm.mistake()
def converted_after_var(norm, x):
    """You took the mean and the variance in float16, and converted after that. Convert x before
    the first step."""
    return _late(x.half(), x.half().var(-1, correction=0, keepdim=True))


@careful_norm.mistake()
def back_to_float16(norm, x):
    """The numbers are right, but your result is in float16, which rounds them. Return float32 or
    float64."""
    return norm.standardize(x.double()).half()


@careful_norm.mistake()
def rounded_to_float16_and_converted(norm, x):
    """Your result went through float16, and what that rounded doesn't come back. PyTorch's layer
    norm also rounds to the dtype of its input. Convert x first, and round nothing after that."""
    return norm.standardize(x.double()).half().double()


@careful_norm.mistake()
def var_converted_at_the_end(norm, x):
    """You converted the result, after each step had rounded to float16. Convert x before the first
    step."""
    return _with_var(x.half()).double()


@careful_norm.mistake()
def statistics_in_float16(norm, x):
    """You took the mean and the variance in float16 and converted them after that. By then they
    were rounded. Convert x first."""
    x = x.half()
    var = x.var(-1, correction=0, keepdim=True).double()
    return (x.double() - x.mean(-1, keepdim=True).double()) / (var + 1e-5).sqrt()


@careful_norm.mistake()
def centered_in_float16(norm, x):
    """You subtracted the mean in float16. Near 10 its numbers are 1/128 apart, so the mean
    was rounded to a multiple of 1/128. Convert x before that."""
    x = x.half()
    centered = (x - x.mean(-1, keepdim=True)).double()
    return centered / (centered.square().mean(-1, keepdim=True) + 1e-5).sqrt()


put_in_bank(TOPIC, vars(), further=("closer", "autocast", "careful_norm"))
