"""Where a mistake is that nothing names: one place, and nothing of the student's is spoiled."""

import functools
import time

import pytest
import torch
from cells_of_tests import as_cell
from exercise_banks import BY_NAME

from lnorm_course.checking.exercise import Exercise
from lnorm_course.checking.place import Spot, place

X = torch.arange(12.0).reshape(3, 4) ** 2
INPUTS = [(X,), (X[:2, :3] + 1,)]


def written(code, **around):
    """Run code as a cell, and return what its last line defines, and the names around it."""
    names = {"torch": torch, "functools": functools, **around}
    before = set(names)
    exec(as_cell(code, "exec"), names)
    return names[[name for name in names if name not in before][-1]], names


def spot(code, right, inputs=INPUTS, **around):
    attempt, _ = written(code, **around)
    return place(attempt, inputs, same_as(right, inputs)) or Spot("", "")


def same_as(right, inputs=INPUTS):
    expected = [right(*arguments) for arguments in inputs]
    return lambda number, result: (
        type(result) is type(expected[number])
        and getattr(result, "shape", 0) == getattr(expected[number], "shape", 0)
        and bool(torch.allclose(torch.as_tensor(result), torch.as_tensor(expected[number])))
    )


def total(x):
    return x.sum(-1)


LOOP = "def f(x):\n    y = 0 * x[:, 0]\n    for column in x.T:\n        "


@pytest.mark.parametrize(
    ("code", "right", "source", "words"),
    [
        ("def f(x):\n    y = x * x.sum()\n    return y", lambda x: x + x.sum(),
         "x * x.sum()", "multiplied where you should add"),
        ("f = lambda x: x.sum() - x", lambda x: x - x.sum(),
         "x.sum() - x", "sides of a subtraction"),
        ("f = lambda x: x.mean(0) ** 3", lambda x: x.sum(0) ** 3, "x.mean(0)", "averaged"),
        ("def f(x):\n    c = x - 9\n    return x * c.sum()", lambda x: (x - 9) * (x - 9).sum(),
         "x * c.sum()", "`x`"),
        ("def f(x):\n    def g(z):\n        return z - z.sum()\n    return g(x) ** 3",
         lambda x: (x + x.sum()) ** 3, "z - z.sum()", ""),
        ("f = lambda x: 3 * x.sum(0)", lambda x: 3 * x.sum(-1), "x.sum(0)", ""),
        ("f = lambda x: x[1:] ** 3", lambda x: x**3, "x[1:]", ""),
        ("f = lambda x: (x**3).sqrt().T", lambda x: (x**3).T, "(x**3).sqrt()", ""),
        ("f = lambda x: x / x.mean(-1)", lambda x: x / x.mean(-1, keepdim=True), "x.mean(-1)", ""),
        (LOOP + "y = y + column\n        return y", total, "return y", ""),
        (LOOP + "y = column\n    return y", total, "y = column", ""),
        # `* 1` and `/ 1` make it right as well, and `x` would leave a loop without a use.
        ("f = lambda x: (x + 1) ** 3", lambda x: x**3, "x + 1", ""),
        ("f = lambda x: [row + 1 for row in x][0]", lambda x: x + 1, "row + 1", ""),
    ],
)  # fmt: skip
def test_the_one_place_is_found_and_what_was_done_there_is_told_if_sure(code, right, source, words):
    told = spot(code, right)
    assert told.source == source
    assert words in told.words
    assert bool(words) is bool(told.words)


def test_of_several_places_the_one_around_them_is_told_or_none():
    assert spot("f = lambda x: (-x).sum(-1)", total).source == "(-x).sum(-1)"
    apart = "def f(x):\n    y = -x\n    z = y + 0\n    return z.abs() ** 3"
    assert spot(apart, lambda x: x**3).source == ""


def test_two_mistakes_and_what_is_right_have_no_place():
    two = "f = lambda x: x * x.sum() - x.amax() ** 2"
    assert spot(two, lambda x: x + x.sum() - x.amax()).source == ""
    assert spot("f = lambda x: x.sum(-1)", total).source == ""


def test_a_closure_is_edited_and_what_has_no_cell_is_left_alone():
    code = "def outer(n):\n    return lambda x: x * n.sum()\nf = outer(torch.ones(3))"
    assert spot(code, lambda x: x + 3).source == "x * n.sum()"
    assert spot("f = functools.partial(lambda n, x: x * n, 3)", lambda x: x + 3).source == ""
    assert place(total, INPUTS, same_as(lambda x: x.mean(-1))) is None
    assert place(torch.sum, INPUTS, same_as(total)) is place(3, INPUTS, same_as(total)) is None


def test_nothing_of_the_student_is_changed():
    kept, seen = torch.ones(1), []
    helper = "count = 0\ndef helper(x):\n    global count\n    count = count + 1\n    return x\n"
    code = "def f(x):\n    seen.append(1)\n    kept.add_(1)\n    return helper(x) * x.sum()"
    attempt, names = written(helper + code, kept=kept, seen=seen)
    state, before = torch.get_rng_state(), dict(names)
    told = place(attempt, INPUTS, same_as(lambda x: x + x.sum()))
    assert told.source == "helper(x) * x.sum()"
    assert names == before
    assert kept == 1
    assert not seen
    assert torch.equal(state, torch.get_rng_state())
    assert torch.equal(X, torch.arange(12.0).reshape(3, 4) ** 2)


def test_an_edited_version_may_not_change_its_input_or_call_what_is_ruled_out():
    code = "def f(x):\n    x.add_(1)\n    return x - 1"
    assert spot(code, lambda x: x + 1).source == ""
    attempt, _ = written("f = lambda x: x.mean(-1) * 3")
    right = same_as(lambda x: x.sum(-1) * 3)
    assert place(attempt, INPUTS, right).source == "x.mean(-1)"
    assert place(attempt, INPUTS, right, without=["torch.sum"]) is None


def test_a_loop_that_never_ends_once_edited_costs_little():
    code = "def f(x):\n    n = 0\n    while n < 5:\n        n += 1\n    return x * n"
    started = time.process_time()
    assert spot(code, lambda x: x + 5).source == "x * n"
    assert time.process_time() - started < 5  # a single one would run for ten seconds


def test_the_verdict_and_the_mistake_stay_those_of_the_grader():
    code = "def f(x, f, g):\n    h = f(norm(x)) * x\n    return h + g(norm(h))"
    exercise = BY_NAME["pre_block"]
    attempt, _ = written(code, norm=lambda x: torch.nn.functional.layer_norm(x, x.shape[-1:]))
    live, graded = exercise.judge(attempt), Exercise.judge(exercise, attempt)
    assert (live.state, live.mistake, live.beliefs) == (graded.state, graded.mistake, ())
    assert live.message.startswith("Look at `f(norm(x)) * x`: changing only this")
    assert "Look at" not in graded.message


def test_the_forward_of_a_class_is_searched():
    code = """class Norm(torch.nn.Module):
    def __init__(self, size, eps=1e-5):
        super().__init__()
        self.eps, self.weight = eps, torch.nn.Parameter(torch.ones(size))
        self.bias = torch.nn.Parameter(torch.zeros(size))

    def forward(self, x):
        y = x - x.mean(-1, keepdim=True)
        var = y.square().mean(-1, keepdim=True)
        return y / (var + self.eps).sqrt() * (self.weight + self.bias)
"""
    attempt, _ = written(code)
    message = BY_NAME["repair"].judge(attempt).message
    assert message.startswith("Look at `y / (var + self.eps).sqrt() * (self.weight + self.bias)`")
