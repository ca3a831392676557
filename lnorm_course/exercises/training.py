"""Exercises on gradients, learning rates, and the place of layer norm."""

import math

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.exercises.training_gradients import (  # noqa: F401 - in this bank, too
    after_8,
    block_norms,
    gets_more,
    guess_of_4,
    slope,
    ten_times,
)

TOPIC = "training"


schedule = CodeExercise(
    inputs={
        f"step {step}, rate {rate:g}, warm-up {warm_up}": (step, rate, warm_up)
        for rate, warm_up, steps in (
            (1.0, 50, (0, 1, 2, 24, 46, 47, 48, 49, 50, 51, 52, 149)),
            (3.0, 40, (9, 19, 35, 37, 38, 39, 40, 41, 60)),
            (0.3, 7, range(10)),
            (0.0123, 2, range(4)),
            (0.3, 1, range(3)),  # last, because here `warm_up - 1` is 0
        )
        for step in steps
    },
    hints=[
        "Which share of the full rate does step 0 get? And step `warm_up − 1`?",
        "`min` of 1 and that share stops the rise.",
    ],
)


@schedule.answer
def up_in_equal_steps(step, rate, warm_up):
    share = min(1, (step + 1) / warm_up)
    return rate * share


@schedule.mistake()
def starts_at_zero(step, rate, warm_up):
    """At step 0 your rate is 0, so the first step does nothing, and the last step of the warm-up
    doesn't reach the full rate. Count from 1: `step + 1`."""
    return rate * min(1, step / warm_up)


@schedule.mistake()
def from_zero_to_the_last_step(step, rate, warm_up):
    """At step 0 your rate is 0, so the first step does nothing, and each step is larger than
    `rate / warm_up`. Begin with one step of this size, not with 0."""
    return rate * min(1, step / max(1, warm_up - 1))


@schedule.mistake()
def from_zero_with_a_jump(step, rate, warm_up):
    """At step 0 your rate is 0, so the first step does nothing, and at the end of the warm-up it
    takes two steps at once. Count from 1: `step + 1`."""
    return rate * step / warm_up if step < warm_up - 1 else rate


@schedule.mistake()
def one_step_ahead(step, rate, warm_up):
    """Your rate is one step ahead: step 0 already has what step 1 should have."""
    return rate * min(1, (step + 2) / warm_up)


@schedule.mistake()
def one_step_more(step, rate, warm_up):
    """Your steps are too small, because you divide by `warm_up + 1`. The rate reaches `rate` in
    `warm_up` steps."""
    return rate * min(1, (step + 1) / (warm_up + 1))


@schedule.mistake()
def one_step_less(step, rate, warm_up):
    """Your steps are too large, because you divide by `warm_up - 1`. The rate reaches `rate` in
    `warm_up` steps."""
    return rate * min(1, (step + 1) / max(1, warm_up - 1))


@schedule.mistake()
def stops_too_late(step, rate, warm_up):
    """Your rate stops rising one step too late: at step `warm_up` it's larger than `rate`. Step 0
    counts too, so step `warm_up - 1` is the last that rises."""
    return rate * (step + 1) / warm_up if step <= warm_up else rate


@schedule.mistake()
def jumps_two_steps_before_the_end(step, rate, warm_up):
    """Your rate jumps to `rate` two steps before the warm-up is over. Until step `warm_up - 1` it
    rises in equal steps."""
    return rate * (step + 1) / warm_up if step < warm_up - 2 else rate


@schedule.mistake()
def constant_until_the_end(step, rate, warm_up):
    """Your rate doesn't rise during the warm-up. Each step adds `rate / warm_up` to it."""
    return rate / warm_up if step < warm_up else rate


@schedule.mistake()
def doubles(step, rate, warm_up):
    """Your rate doubles at each step. It rises in equal steps: each adds `rate / warm_up`."""
    return min(rate, rate / warm_up * 2**step)


@schedule.mistake()
def nothing_until_the_end(step, rate, warm_up):
    """Your rate is 0 until the last step of the warm-up, as it is with `//`, which drops the
    fraction. Divide with `/`."""
    return rate * min(1, (step + 1) // warm_up)


@schedule.mistake()
def one_after_the_end(step, rate, warm_up):
    """After the warm-up your rate is 1. It stays at `rate`."""
    return rate * (step + 1) / warm_up if step < warm_up else 1.0


@schedule.mistake()
def never_stops(step, rate, warm_up):
    """Your rate goes on rising after the warm-up. It stops at `rate`."""
    return rate * (step + 1) / warm_up


@schedule.mistake()
def no_warm_up(step, rate, warm_up):
    """You give the full rate from the start. During the warm-up it rises to that."""
    return rate


@schedule.mistake()
def share_only(step, rate, warm_up):
    """You return the share of the rate. Multiply it by `rate`."""
    return min(1, (step + 1) / warm_up)


@schedule.mistake()
def at_least_the_rate(step, rate, warm_up):
    """You took `max` where the smaller one is needed. During the warm-up the share is below 1."""
    return rate * max(1, (step + 1) / warm_up)


@schedule.mistake()
def stops_at_one(step, rate, warm_up):
    """Your rate stops at 1, whatever `rate` is. Limit the share first, then multiply by `rate`."""
    return min(1, rate * (step + 1) / warm_up)


@schedule.mistake()
def falls_during_the_warm_up(step, rate, warm_up):
    """Your rate falls. A warm-up starts with small steps and ends with large ones."""
    return rate * max(0, 1 - (step + 1) / warm_up)


@schedule.mistake()
def upside_down(step, rate, warm_up):
    """Your fraction is upside down: divide the step by the warm-up."""
    return rate * min(1, warm_up / (step + 1))


@schedule.mistake()
def falls_again(step, rate, warm_up):
    """Your rate falls again after the warm-up, with the root of the step. Vaswani et al. 2017 do
    that. Here it stays at `rate`."""
    done = (step + 1) / warm_up
    return rate * min(done, done**-0.5)


stops_at = Prediction(
    answer=0.99,
    reason="It waits at the loss of the best constant answer: it gives nearly every row the mean "
    "target, and little else. What's left of each target has a variance of about 1.",
    wrong={
        0: "Then it would have learned the task. In these 100 steps it doesn't get there.",
        0.57: "That is about where pre-LN is after the same steps. At this rate, post-LN waits at "
        "a larger loss.",
        9: "It does find the common part. That lowers the loss by far the most.",
        math.log(2): "That is the loss of guessing between two classes. Here the loss is a squared "
        "error.",
    },
    within=0.05,
    hints=[
        "In these steps it learns `common`, which all targets share, and no more.",
        "Without `common`, a target is a standardized row. What is the mean of its squares?",
    ],
)


still_needed = Prediction(
    answer="both",
    reason="The run without a warm-up ends about as low as the one with it. In this task it was "
    "the common part that made the first steps harmful.",
    wrong={
        "with": "You think that a warm-up is still needed. But without the common part, the first "
        "gradients no longer point the same way for all rows.",
        "without": "You think that a warm-up does harm. It only makes the first steps smaller.",
        "neither": "The task is easier than before, because a part is gone.",
    },
    hints=[
        "What did the first step do when all targets shared a large part?",
        "If the rows ask for different things, does one step still push all of them the same way?",
    ],
)


runs_that_train = Prediction(
    answer=5,
    reason="At rate 0.1 all three train, at 0.3 the two with norms, and at 1 none. From this start "
    "norms let larger rates work, but they don't make every rate work.",
    wrong={
        9: "A norm doesn't make every rate work, and one of the three has no norm.",
        6: "Either you think that norms train at every rate, or you took PyTorch's smaller "
        "weights. These blocks start with Xavier's.",
        3: "That is one rate for all three, or one placement at every rate. Count each rate by "
        "itself.",
        4: "You may have left out the network without norms. Four blocks with a residual are not "
        "deep.",
        7: "You left out one or two runs that fail. Look at the largest rate first.",
        0: "Some of them train: the rate of the first lessons was 0.05.",
    },
    hints=[
        "Four blocks aren't deep. At a small rate, does the residual alone get through?",
        "Norms help at larger rates. But is there any rate that is too large for them as well?",
    ],
)


put_in_bank(TOPIC, vars(), further=("schedule", "still_needed"))
