"""Exercises on layer norm in the residual stream: how post-LN and pre-LN differ."""

from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.slips.beliefs import Belief

TOPIC = "residual"

first_of_4 = Prediction(
    answer=-1,
    reason="The mean is 3 and the standard deviation 2, and (1 − 3) / 2 = −1.",
    wrong={
        -2: "You centered the row. Then divide by the standard deviation, 2.",
        -0.5: "You divided by the variance, 4. Layer norm divides by its root.",
        -2 / (16 / 3) ** 0.5: Belief.VARIANCE_OVER_D_MINUS_1(
            "You divided by D − 1 in the variance. Layer norm divides by D."
        ),
        1: "The sign is wrong: 1 lies below the mean, 3.",
        0.5: "You divided by the standard deviation, but didn't subtract the mean.",
    },
    within=0.006,
    hints=["Find the mean, 3, and the four deviations.", "Their squares are all the same."],
)


row_plus_norm = Prediction(
    answer=16,
    reason="`standardize(r)` is the centered row divided by 3, so the sum is 4/3 of the centered "
    "row. Its variance is (3 + 1)².",
    wrong={
        10: "Variances add up only for unrelated numbers. `standardize(r)` rises and falls with "
        "`r`, so the standard deviations add up.",
        4: "That's the standard deviation, 3 + 1. The variance is its square.",
        9: "That's the variance of `r` alone. What is added to it has the variance 1.",
        1: "That's the variance of `standardize(r)` alone. `r` is still in the sum.",
        100: "You added 9 and 1 and squared the sum. The variance 9 belongs to a standard "
        "deviation of 3.",
    },
    within=0.006,
    hints=[
        "Which multiple of the centered row is `standardize(r)`?",
        "Both parts rise and fall together. So what do their standard deviations do?",
    ],
)


plain_gamma = Prediction(
    answer=64,
    reason="Only β is an `nn.Parameter`. γ is an ordinary tensor, and training doesn't move it.",
    wrong={
        128: Belief.ATTRIBUTES_ARE_TRAINED(
            "γ is an ordinary tensor. A module registers what is wrapped in `nn.Parameter`, and "
            "nothing else."
        ),
        0: "β is wrapped in `nn.Parameter`, in a module, so it's found.",
        1: "One tensor is found. Count the numbers in it.",
        2: "Count the numbers that are found, not the attributes.",
    },
    hints=["Which of the two is wrapped in `nn.Parameter`?", "Count its numbers."],
)


deep_chain = Prediction(
    answer="guesses",
    reason="After 300 steps at this rate, the loss is still near 0.69. Norms keep the spread of "
    "the rows, but 24 layers need a smaller rate.",
    wrong={
        "learns": "With 8 layers it does. Norms keep the spread of the rows, but training also "
        "depends on the gradients that come back, here through 24 layers.",
        "nan": "The norms keep all numbers small, so nothing overflows.",
    },
    hints=[
        "Norms fix the spread going forward. Training also depends on the gradients coming back.",
        "Eight layers learned at this rate. Do three times as many take steps as large?",
    ],
)


both_results = Prediction(
    answer=(-1, 4 + 2 * -1),
    reason="Post-LN ends on a normalized row. Pre-LN ends on a sum: 4 + 2 · (−1).",
    wrong={
        (-1, -1): Belief.PRE_NORM_IS_POST_NORM(
            "You gave both the result of post-LN. In pre-LN nothing is normalized after the "
            "addition: the row itself, 4, is still in the sum."
        ),
        (2, 2): Belief.PRE_NORM_IS_POST_NORM(
            "You gave both the result of pre-LN. In post-LN the sum is normalized at the end, so "
            "its first number lies below 0, the mean."
        ),
        (2, -1): 'You have the two the wrong way around. "Post" means that the norm comes after '
        "the addition.",
        (-1, 2 * -1): "The first number is right. The second is f of the normalized row. Pre-LN "
        "adds that to the row itself.",
        (-1, -1 + 2 * -1): "The first number is right. The second is the normalized row plus f of "
        "it. In pre-LN only f sees the normalized row; what it returns is added to the row as it "
        "was.",
        (-1, 4 - 1): "The first number is right. The second is the row plus a normalized one: "
        "either you left out f, or you normalized its result. In pre-LN the norm comes before f.",
        (-1, -1 + 8): "The first number is right. In the second you normalized the row that is "
        "added and gave f the raw one. It is the other way around.",
        (4 + 8, 2): "The second number is right. The first is x + f(x), not yet normalized.",
        (-1, 4 + 8): "The first number is right. The second is x + f(x), and in pre-LN f gets the "
        "normalized row.",
        (-1 + 2 * -1, 2): "The second number is right. For the first, add before you normalize, "
        "and divide by the standard deviation of the sum.",
        (-1 - 1, 2): "The second number is right. For the first, you either added two normalized "
        "rows or doubled one. Post-LN adds first and normalizes the sum, once.",
        (4 + 8, 4 + 8): "Both are x + f(x). Each of the two has one layer norm.",
    },
    within=0.006,
    hints=[
        "The row has mean 7 and standard deviation 3. What is its layer norm?",
        "Post-LN: add first, which makes three times the row, and then normalize. Pre-LN: "
        "normalize, double what you get, and add that to the row as it was.",
    ],
)

after_branch = Prediction(
    answer=4 - 1,
    reason="The norm of the doubled row begins with −1, and it's added to the row as it was.",
    wrong={
        -1: Belief.PRE_NORM_IS_POST_NORM(
            "That is post-LN, where the sum is normalized. Here only f(x) is."
        ),
        4 + 2 * -1: Belief.PRE_NORM_IS_POST_NORM(
            "That is pre-LN, where f doubles a normalized row. Here the norm comes after f."
        ),
        4 + 8: "That is x + f(x), without a norm.",
        -2: "Either you added two normalized rows, or you doubled one. Here x is added as it is.",
        4 + 1: "The sign is wrong: 4 lies below the mean of the row.",
    },
    within=0.006,
    hints=[
        "f(x) is 8, 8, 20, 20. What is its layer norm?",
        "Add the first number of that to the first number of x.",
    ],
)


put_in_bank(TOPIC, vars(), further=("after_branch",))
