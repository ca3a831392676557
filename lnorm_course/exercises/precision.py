"""Exercises on half precision, and on six networks that fail in it."""

import torch

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.exercises.precision_norms import (  # noqa: F401 - in this bank, too
    INF,
    NAN,
    autocast,
    careful_norm,
    closer,
    constant,
    nan_rows,
    negative,
    one_more,
    overflow,
    tiny_eps,
)
from lnorm_course.slips.beliefs import Belief

TOPIC = "precision"


first_wrong = CodeExercise(
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
                {"embed": [2.0, 3.03], "positions": [4.0, 3.0], "norm": [-1.0, 1.0]},
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
                "outputs that are all fine",
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


@first_wrong.mistake()
def any_difference(outputs, right):
    """You looked for any difference. Each output in float16 is rounded, so ask for more than a
    tenth of the largest right number."""
    for name, y in outputs.items():
        if not (y == right[name]).all():
            return name
    return ""


@first_wrong.mistake()
def largest_without_abs(outputs, right):
    """You took the largest right number with its sign. A tensor with −10 and 0.5 has large numbers
    too: `right[name].abs().max()`."""
    for name, y in outputs.items():
        if not (y - right[name]).abs().max() <= 0.1 * right[name].max():
            return name
    return ""


@first_wrong.mistake()
def relative_to_the_output(outputs, right):
    """You compared the error with the output's own largest number. If that is infinite or too
    large, no error looks large. Compare it with the largest right number."""
    for name, y in outputs.items():
        if not (y - right[name]).abs().max() <= 0.1 * y.abs().max():
            return name
    return ""


@first_wrong.mistake()
def relative_to_all(outputs, right):
    """You compared with the largest right number of all tensors. Each tensor has a scale of its
    own: take the largest right number of the same tensor."""
    largest = max(r.abs().max() for r in right.values())
    for name, y in outputs.items():
        if not (y - right[name]).abs().max() <= 0.1 * largest:
            return name
    return ""


@first_wrong.mistake()
def mean_error(outputs, right):
    """You averaged the errors, so a single wrong number hardly counts. Take the largest error."""
    for name, y in outputs.items():
        if not (y - right[name]).abs().mean() <= 0.1 * right[name].abs().max():
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


def _fault(answer: str, reason: str, hints: list[str]) -> Prediction:
    """Ask for the fault of a patient, one of the words in `SIGNS`."""
    wrong = {word: f"{sign} Look again." for word, sign in SIGNS.items() if word != answer}
    return Prediction(answer=answer, reason=reason, wrong=wrong, hints=hints)


patient_1 = _fault(
    "squares",
    "The square of 375 is above 65,504. So the variance is infinite, and the row becomes 0.",
    ["Its first wrong tensor is a variance.", "How large are the numbers that go into it?"],
)
patient_2 = _fault(
    "eps",
    "Rows 6 and 7 are padding, all zeros. In float16 its ε is 0, and 0/0 is NaN.",
    ["The variance is right, and the division gives NaN.", "What are rows 6 and 7 of its x?"],
)
patient_3 = _fault(
    "subtraction",
    "E[x²] and E[x]² are about 900, where bfloat16 numbers are 4 apart. So their difference is 0 "
    "or ±4, and the root of −4 is NaN.",
    [
        "Its first wrong tensor is a variance, and it's finite.",
        "Can a mean of squares be negative?",
    ],
)
patient_4 = _fault(
    "sum",
    "One feature of `narrow` adds up 256 products, and they come to more than 65,504. The norm "
    "only makes NaN of the infinity.",
    ["The norm gets an infinity. Where does it come from?", "What does a linear map compute?"],
)
patient_5 = _fault(
    "exp",
    "e to the power of 17.7 is 48 million. Subtract the largest score of the row first, as "
    "`softmax` does, and no power is above 1.",
    [
        "Its scores are right. What's done with them?",
        "From a score of 11.1 on, e to that power is above 65,504.",
    ],
)
patient_6 = _fault(
    "positions",
    "bfloat16 has 8 bits, so from 256 on it has only every second whole number.",
    ["Nothing is infinite. Is anything rounded?", "257 takes 9 bits."],
)


healthy = Prediction(
    answer=4,
    reason="Squares, ε, the sum, and the exponential needed range, and bfloat16 has it. Patients 3 "
    "and 6 need more bits.",
    wrong={
        6: Belief.BFLOAT16_IS_MORE_PRECISE(
            "bfloat16 has the range of float32, but fewer bits than float16. Ask of each patient "
            "which of the two it needs."
        ),
        0: "A fault may need range or bits, and bfloat16 has the range of float32.",
        3: "You may have left out ε. Ask of each fault whether it needs range or bits.",
        2: "Those are the two that stay ill. The question is how many are healthy.",
        5: "You counted a patient that is in bfloat16 already. Look up the dtype of each.",
    },
    hints=[
        "Which faults come from a number that is too large or too small for float16?",
        "And which come from too few bits? Those stay.",
    ],
)


put_in_bank(TOPIC, vars(), further=("healthy",))
