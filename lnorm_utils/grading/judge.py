"""Judge what a kernel sent of an attempt, in the grader's own process."""

import threading
from typing import Any

from lnorm_utils.exercises.engine.exercise import Exercise
from lnorm_utils.exercises.engine.feedback import Feedback
from lnorm_utils.grading.plain_data import decode
from lnorm_utils.grading.plain_text import MOST_OF_A_MESSAGE, one_line

__all__ = ["judge"]

ONE_AT_A_TIME = threading.Lock()  # an exercise keeps what its search has run


def judge(exercise: Exercise, answer: Any) -> Feedback:
    """Return what the exercise says of an attempt that a kernel sent.

    Args:
        exercise: the exercise of this process, which no student has changed.
        answer: what a `Recorder` writes in the kernel, or what a student made it send instead.

    Raises:
        ValueError: a `Recorder` writes nothing like this.
    """
    try:
        remark = one_line(answer["remark"], MOST_OF_A_MESSAGE)
        values = [decode(value) for value in answer["values"]]
    except Exception as problem:  # the kernel may send anything
        raise ValueError(one_line(problem)) from problem
    expected = 1 if exercise.inputs is None else len(exercise.inputs)
    if len(values) > expected or not (values or remark):
        raise ValueError(f"{len(values)} values instead of {expected}")
    with ONE_AT_A_TIME:
        if exercise.inputs is None and values:
            return exercise.judge(values[0])
        return exercise.judge_results(values, remark)
