"""Time the diagnosis of each wrong answer that the tests hold, as the first one after an import."""

import sys
from statistics import median
from time import perf_counter

import torch
from exercise_banks import BY_NAME
from project import PROJECT

sys.path.insert(0, str(PROJECT / "tests" / "exercises"))


def measure():
    """Return seconds: the median, the slowest, and a base of 1,000 small operations."""
    from student_answers import ANSWERS

    times = []
    for answer in ANSWERS:
        exercise = BY_NAME[answer.exercise]
        exercise.search._results.clear()  # what earlier attempts have left
        attempt = answer.attempt()
        times.append(seconds(lambda: exercise.judge(attempt)))  # noqa: B023 - called at once
    return {"median": median(times), "slowest": max(times), "base": min(map(seconds, 5 * [base]))}


def base():
    x = torch.ones(3, 2, 4)
    for _ in range(1000):
        x.mean(-1, keepdim=True)


def seconds(call):
    start = perf_counter()
    call()
    return perf_counter() - start
