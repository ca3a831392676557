"""Whatever a kernel sends, a child judges it, and the grader lives on."""

import itertools
import json
import math
import time

import torch
from kernel_values import replies_of

from lnorm_course.exercises.mean import how_many
from lnorm_staff.grading.run import child, replies
from lnorm_staff.grading.run.judge import NOT_AN_ATTEMPT
from lnorm_staff.grading.run.plain_data import NUMBERS, encode
from lnorm_staff.grading.run.replies import JUDGE

NO_ATTEMPT = "crashed", NOT_AN_ATTEMPT
DIED = "crashed", "the judge died."


def sent(*values, error=None):
    """Return what a kernel sends of these values."""
    return json.dumps({"values": values, "error": error, "notices": [], "code": ""})


def judged(*attempts, timeout=60, total=300):
    """Return for each attempt the state and the message, or why it can't be judged."""
    asked = [(how_many.name, attempt) for attempt in attempts]
    found = replies_of(JUDGE, [how_many.topic], asked, timeout, total)
    verdicts = [outcome.attempts.get(how_many.name) for outcome in found]
    told = [(verdict["state"], verdict["message"]) if verdict else None for verdict in verdicts]
    return [one or outcome[:2] for one, outcome in zip(told, found, strict=True)]


ONE = encode(1)
WHOLE = json.loads(sent(ONE))
FORGED_VALUES = [
    *([], ["right"], {}, {"int": 7}, {"list": 3}, {"list": [[]]}, {"list": [1] * 10**6}),
    *({"other": []}, {"other": 7}, {"other": "\ud800", "dots": 0}, {"numbers": []}),
    *({"numbers": each} for each in (["torch.float32", "22", [1] * 4], ["<f4", [1], ["a"]])),
    {"numbers": ["torch.float32", [math.nan], [1]]},
]
FORGED = [
    *(None, [], [1], {}, "RIGHT", "[" * 10**5, '"RIGHT"', *map(sent, FORGED_VALUES)),
    *(json.dumps({**WHOLE, name: 7}) for name in WHOLE),
    json.dumps({"values": [ONE]}),
    *(sent(), sent(ONE, ONE), sent(ONE, error="It fails.")),  # a value or an error is wanted
    *(sent(error=error) for error in ({"kind": "A"}, {"kind": "A", "message": "", "told": 1})),
]


def test_what_no_kernel_writes_is_refused_at_once_and_the_child_lives_on():
    known = {str(d) for d in vars(torch).values() if isinstance(d, torch.dtype)}
    dtypes = known | set(NUMBERS) | {"torch.load", "O", "V4", "f4,f4", "x" * 10**5, "\ud800"}
    shapes = [], [0], [2, 3], [0, 2**62, 2**62], [-2, -3], [2**70], [1] * 500
    numbers = [], [1.5] * 6, [[1, math.nan]], [2**70], ["\ud800"], "A", {"A": 1}, 7
    values = [{"numbers": given} for given in itertools.product(dtypes, shapes, numbers)]
    started = time.monotonic()
    *found, last = judged(*FORGED, *map(sent, values), sent(ONE))
    for forged, verdict in zip(FORGED, found, strict=False):
        assert verdict == NO_ATTEMPT, str(forged)[:99]
    for value, verdict in zip(values, found[len(FORGED) :], strict=True):
        assert verdict == NO_ATTEMPT or verdict[0] == "wrong", (value, verdict)
    assert last[0] == "wrong"
    assert time.monotonic() - started < 30  # and most of that is for the start


# What a child does instead of judging, by the error that it's given.
BROKEN = """
import os, time
honest = judge.outcome_of
def broken(exercise, answer):
    if '"die"' in answer:
        os._exit(1)
    if '"wait"' in answer:
        time.sleep(99)
    if '"take"' in answer:
        bytearray(2**32)
    return honest(exercise, answer)
judge.outcome_of = broken
"""


def test_what_breaks_the_judging_costs_only_its_own_exercise_and_not_much_time(monkeypatch):
    limited, _, served = child.START.partition("serve({module")
    start = f"{limited}from lnorm_staff.grading.run import judge{BROKEN}serve({{module{served}"
    monkeypatch.setattr(child, "START", start)
    monkeypatch.setattr(replies, "SECONDS_TO_STOP", 0.1)
    errors = "die", "take", "wait", "fails"
    died, took, waited, known = judged(*(sent(error=error) for error in errors), timeout=2)
    assert died == DIED
    assert took[0] == "crashed"
    assert "MemoryError" in took[1]
    assert waited == ("timed out", "it ran for more than 2 seconds.")
    assert known == ("wrong", "fails")
    *_, last = judged(*[sent(error="wait")] * 9, timeout=2, total=2)
    assert last == ("timed out", "the 2 seconds for the whole notebook were used up.")
    monkeypatch.setattr(child, "START", "import sys; sys.exit(1)")
    assert judged(sent(ONE), sent(ONE)) == [("not judged", "no judge could be started.")] * 2
