"""Exercises on how a projection saves two features."""

import math

from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.exercises.projection_points import (  # noqa: F401 - in this bank, too
    alone,
    from_he,
    look_up,
    mends,
    point_back,
    rescue,
    three_8,
    unmoved,
)
from lnorm_course.slips.beliefs import Belief

TOPIC = "projection"


enough = Prediction(
    answer=4,
    reason="Layer norm takes two dimensions away, so four features leave the two that the points "
    "have.",
    wrong={
        2: "At size 2, layer norm leaves two places. It takes dimensions away, so you need more of "
        "them than the points have.",
        3: "At size 3, layer norm leaves a circle, which has one dimension. Subtracting the mean "
        "takes one away, and making all rows equally long takes another.",
        6: "Six is enough, but a smaller size is too. At six, the sphere has four dimensions, and "
        "the points have two.",
    },
    hints=[
        "A side trip of lesson 6 counted dimensions. How many did layer norm take away?",
        "The features of a row add up to 0, and their squares to D. Each of these equations takes "
        "one dimension away. What's left must hold the two dimensions of the points.",
    ],
)


rays = Prediction(
    answer=4,
    reason="(1, 0.5) and (3, 1.5) lie on one ray. (−1, −0.5) is on the other side of the origin.",
    wrong={
        5: Belief.NOTHING_IS_LOST(
            "You kept all five apart. Layer norm removes a positive factor, so look for points on "
            "one ray."
        ),
        3: Belief.SCALING_CHANGES_NOTHING(
            "There would be three if layer norm removed a factor of −1 too, as between (1, 0.5) "
            "and (−1, −0.5). It doesn't: with the sign, the result changes its sign as well."
        ),
        2: "That's how many there are without a projection, where only the sign of the difference "
        "is left. Six features keep more than that.",
    },
    hints=[
        "Without a bias, a point that is three times as far is projected three times as far.",
        "Layer norm removes a factor, but not its sign. Which points lie on one ray?",
    ],
)


ring_loss = Prediction(
    answer=0.69,
    choices=[0, 0.35, 0.69],
    reason="The rings differ in their distance from the origin, and that's gone.",
    wrong={
        0: Belief.NOTHING_IS_LOST(
            "Later layers do have a bias. But points on one ray have become one point before they "
            "get there, and one point can't be in both rings."
        ),
        0.35: "Half of it would need half of the answer. Which of the two rings a point lies on is "
        "all in its distance from the origin.",
        0.5: "You may have thought of the share of right answers. The question is about the loss.",
    },
    hints=[
        "How do the two rings differ?",
        "Take a point on the inner ring and double it. What does the network see of the two?",
    ],
)


growing = Prediction(
    answer=1,
    reason="A large bias moves all points to a small patch of the sphere. It's nearly flat, so a "
    "linear decoder can read it.",
    wrong={
        0: "A large bias does bring the points close together. But a decoder can multiply small "
        "differences by a large number, so that's no loss.",
        math.pi / 4: "π/4 is the value without a bias, when only the direction from the origin is "
        "left. A bias lets the decoder see the length as well.",
        0.87: "That's the value with the projection's own bias. Layer norm removes only the mean "
        "of a bias. Its six numbers differ, so its size matters.",
        1 / math.pi: "1/π is what two features keep. The six keep more, with any bias.",
    },
    hints=[
        "A large bias moves all points far from the origin, side by side. What can you still tell "
        "from their direction?",
        "Seen from far away, all points lie on a small patch of the sphere. Is it curved or flat?",
    ],
)


category = Prediction(
    answer=2,
    reason="Category 0 becomes zeros. The features of category 2 are twice those of category 1, "
    "and layer norm removes the factor 2.",
    wrong={
        3: Belief.NOTHING_IS_LOST(
            "You kept all three apart. Compare their six features without a bias: layer norm "
            "removes a positive factor."
        ),
        1: "That would be so for a layer norm over the number itself. Here it gets six features. "
        "Those of category 0 are zeros, but those of category 1 differ from each other.",
        6: "That's how many features each result has. Count how many of the three results differ.",
    },
    hints=[
        "Without a bias, what are the six features of the first category? And those of the last "
        "one, compared with those of the one before it?",
        "Layer norm removes a positive factor. Which categories differ only by one?",
    ],
)


put_in_bank(TOPIC, vars(), further=("category", "enough", "growing"))
