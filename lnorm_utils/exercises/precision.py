"""Exercises on half precision, and on six networks that fail in it."""

import torch

from lnorm_utils.beliefs import Belief
from lnorm_utils.examples import normal
from lnorm_utils.exercises.engine.code_exercise import CodeExercise
from lnorm_utils.exercises.engine.prediction import Prediction, Wrong
from lnorm_utils.slips import TABLE

TOPIC = "precision"
NAN, INF = float("nan"), float("inf")

constant = Prediction(
    TOPIC,
    "constant",
    answer=0,
    reason="Each number is its own distance of 0 from the mean, and ε keeps the root above 0.",
    wrong=[
        Wrong(NAN, "That's 0/0, without ε. With ε, 0 is divided by √ε."),
        Wrong(3, "Layer norm subtracts the mean, and that is 3 too."),
        Wrong(1, "The variance of this row is 0, and layer norm can't bring it to 1."),
        Wrong(3 / 0.001**0.5, "You divided 3 by √ε. Subtract the mean first."),
    ],
    hints=["What is the mean of the row, and how far is each number from it?", "Then divide."],
)


nan_rows = Prediction(
    TOPIC,
    "nan_rows",
    answer=1,
    reason="Layer norm computes each row alone, so a NaN stays in its row.",
    wrong=[
        Wrong(
            8,
            "That's batch norm in training, which takes its statistics over the batch.",
            Belief.OVER_THE_BATCH,
        ),
        Wrong(0, "The mean of a row with a NaN is NaN, and so is each number of the result."),
        Wrong(7, "Those are the rows that stay as they were."),
    ],
    hints=["Which numbers go into the mean of a row?", "Do the other rows see the NaN?"],
)


negative = Prediction(
    TOPIC,
    "negative",
    answer="a",
    reason="It subtracts two large squares, and their rounding is left.",
    wrong=[
        Wrong(
            "b",
            "That's a mean of squares. It's never negative, however it's rounded.",
            Belief.ONE_PASS_IS_AS_GOOD,
        ),
        Wrong(
            "both",
            "(b) is a mean of squares. It can't be negative.",
            Belief.ONE_PASS_IS_AS_GOOD,
        ),
        Wrong("neither", "In lesson 2, one of them was, at an offset of 17,800."),
    ],
    hints=["Which formula adds only squares?", "Which one subtracts?"],
)


one_more = Prediction(
    TOPIC,
    "one_more",
    answer=2048,
    reason=(
        "With 11 bits, the neighbors of 2048 are 2047 and 2050. 2049 lies between two numbers, and "
        "is rounded back to 2048."
    ),
    wrong=[
        Wrong(2049, "That takes 12 bits, 1000 0000 0001, and float16 has 11."),
        Wrong(
            2050,
            "That's the next number. 2049 is as far from it as from 2048, and a tie goes to the "
            "one whose last bit is 0.",
        ),
        Wrong(2047, "That's the neighbor below. Adding 1 doesn't make a number smaller."),
        Wrong(0, "Counting doesn't start again at 0, as it may with whole numbers."),
    ],
    hints=[
        "Write 2049 in binary. How many bits does it have?",
        "Below 2¹¹, neighbors are 1 apart. And above?",
    ],
)


overflow = Prediction(
    TOPIC,
    "overflow",
    answer=0,
    reason=(
        "The variance of each row is infinite. A finite number divided by infinity is 0, so you "
        "see zeros and no NaN."
    ),
    wrong=[
        Wrong(
            256,
            "An infinite variance isn't NaN. Layer norm divides by its root, and 300 / ∞ isn't NaN "
            "either.",
            Belief.OVERFLOW_SHOWS_AS_NAN,
        ),
        Wrong(128, "What happens to one row happens to all: each has features beyond 256."),
    ],
    hints=[
        "What is the square of 300, and what is the largest number in float16?",
        "Layer norm divides a distance from the mean by the root of the variance. What is 300 / ∞?",
    ],
)


tiny_eps = Prediction(
    TOPIC,
    "tiny_eps",
    answer="NaN",
    reason="In float16, 1e-8 is 0, and 0/0 is NaN.",
    wrong=[
        Wrong(
            "zeros",
            "That's what ε is for. But float16 has nothing between 0 and 6e-8, and rounds 1e-8 to "
            "0.",
            Belief.SMALLER_EPS_IS_SAFER,
        ),
        Wrong("infinity", "That would be a number other than 0, divided by 0. Here it's 0/0."),
        Wrong("ones", "A constant row has variance 0, and it stays constant."),
    ],
    hints=[
        "Distances and variance are exactly 0. What's under the root then?",
        "The smallest positive number of float16 is 6e-8. To which number is 1e-8 rounded?",
    ],
)


closer = Prediction(
    TOPIC,
    "closer",
    answer="float16",
    reason="It has 11 bits, and bfloat16 has 8. Here nothing is too large for either.",
    wrong=[
        Wrong(
            "bfloat16",
            "bfloat16 reaches as far as float32, but it has only 8 bits.",
            Belief.BFLOAT16_IS_MORE_PRECISE,
        ),
        Wrong("same", "Both have 16 bits, but they share them out differently."),
    ],
    hints=["Here all numbers are near 1. Does the range matter?", "Which has more bits?"],
)


autocast = Prediction(
    TOPIC,
    "autocast",
    answer="zeros",
    reason=(
        "Autocast has a list of operations. On the CPU, `square` and `mean` aren't on it, so they "
        "take the float16 that the linear map returned."
    ),
    wrong=[
        Wrong(
            "right",
            "Autocast converts the inputs of operations on its list. On the CPU, `square` and "
            "`mean` aren't on it.",
        ),
        Wrong(
            "NaN",
            "The squares overflow. But a finite number divided by infinity isn't NaN.",
            Belief.OVERFLOW_SHOWS_AS_NAN,
        ),
    ],
    hints=[
        "Which dtype does the linear map return under autocast?",
        "Does autocast know that `by_hand` is a layer norm?",
    ],
)

LARGE = (100 * normal(3, 8, seed=131)).half()
LARGE[1, 2] = 900.0
FAR = (normal(3, 8, seed=149) + 12).half()
NARROW = (0.004 * normal(3, 5, seed=133)).half()

careful_norm = CodeExercise(
    TOPIC,
    "careful_norm",
    inputs={
        "rows with a spread of 100": (LARGE,),
        "rows around 12": (FAR,),
        "narrow rows": (NARROW,),
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


@careful_norm.mistake()
def all_in_float16(norm, x):
    """You computed in float16 and returned float16. The square of 300 is too large for it."""
    return _by_hand(x.half())


@careful_norm.mistake()
def converted_at_the_end(norm, x):
    """You converted the result. By then the squares have already overflowed, and the rows are 0.
    Convert x before the first step."""
    return _by_hand(x.half()).float()


@careful_norm.mistake()
def back_to_float16(norm, x):
    """The numbers are right, but you converted them back to float16. Here return float32."""
    return norm.standardize(x.double()).half()


@careful_norm.mistake()
def centered_in_float16(norm, x):
    """You subtracted the mean in float16. Near 12 its numbers are 1/128 apart, so the mean
    was rounded to a multiple of 1/128. Convert x before that."""
    x = x.half()
    centered = (x - x.mean(-1, keepdim=True)).double()
    return centered / (centered.square().mean(-1, keepdim=True) + 1e-5).sqrt()


first_wrong = CodeExercise(
    TOPIC,
    "first_wrong",
    inputs={
        name: (
            {each: torch.tensor(numbers) for each, numbers in outputs.items()},
            {each: torch.tensor(numbers).double() for each, numbers in right.items()},
        )
        for name, outputs, right in [
            (
                "a variance that is wrong, and then NaN",
                {"center": [1.0, -1.0], "variance": [-4.0, 1.0], "divide": [NAN, -1.0]},
                {"center": [1.0, -1.0], "variance": [1.0, 1.0], "divide": [1.0, -1.0]},
            ),
            (
                "no NaN at all",
                {"embed": [2.0, 3.0], "positions": [4.0, 3.0], "norm": [-1.0, 1.0]},
                {"embed": [2.0, 3.0], "positions": [2.0, 3.0], "norm": [-1.0, 1.0]},
            ),
            (
                "a NaN from the start",
                {"first": [NAN, 1.0], "second": [7.0, 1.0]},
                {"first": [1.0, 1.0], "second": [1.0, 1.0]},
            ),
            (
                "large numbers with a small error",
                {"scores": [500.0, 0.5], "exp": [INF, 0.0], "weights": [0.0, 0.0]},
                {"scores": [500.5, 0.1], "exp": [1e9, 0.0], "weights": [1.0, 0.0]},
            ),
            (
                "one wrong number among twelve",
                {"relu": [1.0] * 12, "narrow": [1.5] + [1.0] * 11},
                {"relu": [1.0] * 12, "narrow": [1.0] * 12},
            ),
            (
                "a number that is too small, and NaN later",
                {"relu": [1.0, 0.5], "narrow": [-9.0, 0.5], "norm": [NAN, NAN]},
                {"relu": [1.0, 0.5], "narrow": [1.0, 0.5], "norm": [1.0, -1.0]},
            ),
            (
                "nothing that is wrong",
                {"relu": [-9.3, 0.5], "narrow": [0.5, 0.05]},
                {"relu": [-10.0, 0.5], "narrow": [0.5, 0.01]},
            ),
            ("wrong signs", {"relu": [1.0, -1.0]}, {"relu": [-1.0, 1.0]}),
            (
                "one wrong number among 31",
                {"relu": [500.0, 1.0], "narrow": [11.05] + [10.0] * 30},
                {"relu": [500.0, 1.0], "narrow": [10.0] * 31},
            ),
        ]
    },
    hints=[
        "Loop over `outputs.items()`, and return the first name whose largest error is too large.",
        "A comparison with NaN is False. So ask for what's fine, `error <= …`, and put `not` "
        "before it.",
    ],
)


@first_wrong.answer
def the_first_that_is_not_close(outputs, right):
    for name, y in outputs.items():
        error = (y - right[name]).abs().max()
        if not error <= 0.1 * right[name].abs().max():
            return name
    return ""


@first_wrong.mistake()
def nan_compared(outputs, right):
    """You missed a NaN. Each comparison with NaN is False, so `error > …` doesn't find it. Write
    `not error <= …`."""
    for name, y in outputs.items():
        if (y - right[name]).abs().max() > 0.1 * right[name].abs().max():
            return name
    return ""


@first_wrong.mistake()
def only_not_finite(outputs, right):
    """You looked for NaN and infinity. A finite number can be wrong as well, and it may come first.
    Compare with `right`."""
    for name, y in outputs.items():
        if not y.isfinite().all():
            return name
    return ""


@first_wrong.mistake()
def only_nan(outputs, right):
    """You looked for NaN only. Infinities and finite numbers can be wrong as well. Compare with
    `right`."""
    for name, y in outputs.items():
        if y.isnan().any():
            return name
    return ""


@first_wrong.mistake()
def the_last_one(outputs, right):
    """You found the last module that is wrong, not the first. Return as soon as you find one."""
    found = ""
    for name, y in outputs.items():
        if not (y - right[name]).abs().max() <= 0.1 * right[name].abs().max():
            found = name
    return found


@first_wrong.mistake()
def not_relative(outputs, right):
    """You compared the error with 0.1 itself. Among numbers of 500, an error of 0.5 is small.
    Compare it with a tenth of the largest right number."""
    for name, y in outputs.items():
        if not (y - right[name]).abs().max() <= 0.1:
            return name
    return ""


@first_wrong.mistake()
def relative_to_each(outputs, right):
    """You compared each number with a tenth of itself. A right number near 0 then looks wrong.
    Compare the largest error with a tenth of the largest right number."""
    for name, y in outputs.items():
        if not ((y - right[name]).abs() <= 0.1 * right[name].abs()).all():
            return name
    return ""


@first_wrong.mistake()
def without_abs(outputs, right):
    """You left out `abs`. The error of a number that's far too small is negative, and you missed
    it."""
    for name, y in outputs.items():
        if not (y - right[name]).max() <= 0.1 * right[name].abs().max():
            return name
    return ""


SIGNS = {  # the faults to choose from, and what would be seen then
    "squares": "Then a square would be infinite, and a variance with it.",
    "eps": "Then a division by the root would go wrong, after a variance that is right.",
    "subtraction": "Then a variance would be wrong, but finite, or even negative.",
    "sum": "Then a linear map would return an infinity.",
    "exp": "Then a power of e would be infinite.",
    "positions": "Then rows would be wrong that should differ only in their position.",
}


def _fault(number: int, answer: str, reason: str, hints: list[str]) -> Prediction:
    """Ask for the fault of a patient, one of the words in `SIGNS`."""
    signs = SIGNS.items()
    wrong = [Wrong(word, f"{sign} Look again.") for word, sign in signs if word != answer]
    name = f"patient_{number}"
    return Prediction(TOPIC, name, answer=answer, reason=reason, wrong=wrong, hints=hints)


patient_1 = _fault(
    1,
    "squares",
    "The square of 375 is above 65,504. So the variance is infinite, and the row becomes 0.",
    ["Its first wrong tensor is a variance.", "How large are the numbers that go into it?"],
)
patient_2 = _fault(
    2,
    "eps",
    "Rows 6 and 7 are padding, all zeros. In float16 its ε is 0, and 0/0 is NaN.",
    ["The variance is right, and the division gives NaN.", "What are rows 6 and 7 of its x?"],
)
patient_3 = _fault(
    3,
    "subtraction",
    "E[x²] and E[x]² are about 900, where bfloat16 numbers are 4 apart. So their difference is 0 "
    "or ±4, and the root of −4 is NaN.",
    [
        "Its first wrong tensor is a variance, and it's finite.",
        "Can a mean of squares be negative?",
    ],
)
patient_4 = _fault(
    4,
    "sum",
    "One feature of `narrow` adds up 256 products, and they come to more than 65,504. The norm "
    "only makes NaN of the infinity.",
    ["The norm gets an infinity. Where does it come from?", "What does a linear map compute?"],
)
patient_5 = _fault(
    5,
    "exp",
    "e to the power of 17.7 is 48 million. Subtract the largest score of the row first, as "
    "`softmax` does, and no power is above 1.",
    [
        "Its scores are right. What's done with them?",
        "From a score of 11.1 on, e to that power is above 65,504.",
    ],
)
patient_6 = _fault(
    6,
    "positions",
    "bfloat16 has 8 bits, so from 256 on it has only every second whole number.",
    ["Nothing is infinite. Is anything rounded?", "257 takes 9 bits."],
)


healthy = Prediction(
    TOPIC,
    "healthy",
    answer=4,
    reason=(
        "Squares, ε, the sum, and the exponential needed range, and bfloat16 has it. Patients 3 "
        "and 6 need more bits."
    ),
    wrong=[
        Wrong(
            6,
            "bfloat16 has the range of float32, but fewer bits than float16. Two patients need "
            "bits.",
            Belief.BFLOAT16_IS_MORE_PRECISE,
        ),
        Wrong(0, "A fault may need range or bits, and bfloat16 has the range of float32."),
        Wrong(3, "Also ε needs range: bfloat16 has room for 1e-12."),
        Wrong(2, "Those are the two that stay ill. The question is how many are healthy."),
        Wrong(5, "Patients 3 and 6 are in bfloat16 already, and they're both ill."),
    ],
    hints=[
        "Which faults come from a number that is too large or too small for float16?",
        "And which come from too few bits? Those stay.",
    ],
)
