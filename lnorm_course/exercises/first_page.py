"""The question of the first page of the web edition, which no lesson asks."""

from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.slips.beliefs import Belief

TOPIC = "first_page"

furthest = Prediction(
    answer=3**0.5,
    reason="Take 3, −1, −1, and −1. The mean is 0, the variance is 3, and 3 / √3 is 1.73.",
    wrong={
        1: "The spread of all four results is 1. A number that stands alone is further out.",
        2: "Then the squares of the other three would add up to 0, because all four add up to 4. "
        "But the results themselves add up to 0, so the other three can't all be 0.",
        1.5: Belief.VARIANCE_OVER_D_MINUS_1(
            "That's what you get if the variance divides by D − 1, which is 3 here. Layer norm "
            "divides by D, which is 4."
        ),
        3: "That may be the variance. Divide by its root.",
        1.8**0.5: "You can get further if the other three numbers are equal.",
        2**0.5: "Two results of ±1.41 and two of 0 are possible. But one alone gets further.",
    },
    within=0.006,
    hints=[
        "Where do the other three numbers have to be, so that one is as far out as possible?",
        "Take a row such as 1, 0, 0, 0, and compute.",
    ],
)

put_in_bank(TOPIC, vars())
