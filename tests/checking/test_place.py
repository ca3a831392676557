"""Where a mistake is that nothing names: one place, and nothing of the student's is spoiled."""

import functools
import time

import pytest
import torch
from cells_of_tests import as_cell
from exercise_banks import BY_NAME

from lnorm_course.checking.exercise import Exercise
from lnorm_course.checking.place import place

X = torch.arange(12.0).reshape(3, 4) ** 2
INPUTS = [(X,), (X[:2, :3] + 1,)]


def written(code, **around):
    """Run code as a cell, and return what its last line defines, and the names around it."""
    names = {"torch": torch, "functools": functools, **around}
    before = set(names)
    exec(as_cell(code, "exec"), names)
    return names[[name for name in names if name not in before][-1]], names


def found(code, right, inputs=INPUTS, **around):
    attempt, _ = written(code, **around)
    return place(attempt, inputs, same_as(right, inputs))


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
    ("code", "right", "told"),
    [
        ("def f(x):\n    y = x * x.sum()\n    return y", lambda x: x + x.sum(), "x * x.sum()"),
        ("f = lambda x: x.sum() - x", lambda x: x - x.sum(), "x.sum() - x"),
        ("f = lambda x: 3 * x.sum(0)", lambda x: 3 * x.sum(-1), "x.sum(0)"),
        ("f = lambda x: x[1:] ** 3", lambda x: x**3, "x[1:]"),
        ("f = lambda x: (x**3).sqrt().T", lambda x: (x**3).T, "(x**3).sqrt()"),
        ("f = lambda x: x / x.mean(-1)", lambda x: x / x.mean(-1, keepdim=True), "x.mean(-1)"),
        ("f = lambda x: x.sum(-1) / len(x)", lambda x: x.mean(-1), "len(x)"),
        ("f = lambda x: torch.stack([x.sum() + x.amax() for n in range(len(x))])",
         lambda x: x.sum(-1) + x.amax(), "x.sum()"),
        ("f = lambda x: (x[None] ** 3).permute(0, 1, 2)",
         lambda x: (x[None] ** 3).permute(1, 2, 0), "(x[None] ** 3).permute(0, 1, 2)"),
        (LOOP + "y = y + column\n        return y", total, "return y"),
        (LOOP + "y = column\n    return y", total, "y = column"),
        ("def f(x):\n    def g(z):\n        return z - z.sum()\n    return g(x) ** 3",
         lambda x: (x + x.sum()) ** 3, "z - z.sum()"),
    ],
)  # fmt: skip
def test_the_one_place_that_makes_it_right_is_found(code, right, told):
    assert found(code, right) == told


def test_of_several_places_the_one_around_them_is_told_or_none():
    assert found("f = lambda x: (-x).sum(-1)", total) == "(-x).sum(-1)"
    apart = "def f(x):\n    y = -x\n    z = y + 0\n    return z.abs() ** 3"
    assert found(apart, lambda x: x**3) == ""


def test_two_mistakes_and_what_is_right_have_no_place():
    two = "f = lambda x: x * x.sum() - x.amax() ** 2"
    assert found(two, lambda x: x + x.sum() - x.amax()) == ""
    assert found("f = lambda x: x.sum(-1)", total) == ""


def test_a_closure_is_edited_and_what_has_no_cell_is_left_alone():
    code = "def outer(n):\n    return lambda x: x * n.sum()\nf = outer(torch.ones(3))"
    assert found(code, lambda x: x + 3) == "x * n.sum()"
    assert found("f = functools.partial(lambda n, x: x * n, 3)", lambda x: x + 3) == ""
    assert place(total, INPUTS, same_as(lambda x: x.mean(-1))) == ""
    assert place(torch.sum, INPUTS, same_as(total)) == place(3, INPUTS, same_as(total)) == ""


def test_nothing_of_the_student_is_changed():
    kept, seen = torch.ones(1), []
    helper = "count = 0\ndef helper(x):\n    global count\n    count = count + 1\n    return x\n"
    code = "def f(x):\n    seen.append(1)\n    kept.add_(1)\n    return helper(x) * x.sum()"
    attempt, names = written(helper + code, kept=kept, seen=seen)
    state, before = torch.get_rng_state(), dict(names)
    assert place(attempt, INPUTS, same_as(lambda x: x + x.sum())) == "helper(x) * x.sum()"
    assert names == before
    assert kept == 1
    assert not seen
    assert torch.equal(state, torch.get_rng_state())
    assert torch.equal(X, torch.arange(12.0).reshape(3, 4) ** 2)


def test_an_edited_version_may_not_change_its_input_or_call_what_is_ruled_out():
    code = "def f(x):\n    x.add_(1)\n    return x - 1"
    assert found(code, lambda x: x + 1) == ""
    attempt, _ = written("f = lambda x: x.mean(-1) * 3")
    assert place(attempt, INPUTS, same_as(lambda x: x.sum(-1) * 3)) == "x.mean(-1)"
    assert place(attempt, INPUTS, same_as(lambda x: x.sum(-1) * 3), without=["torch.sum"]) == ""


def test_a_loop_that_never_ends_once_edited_costs_little():
    code = "def f(x):\n    n = 0\n    while n < 5:\n        n += 1\n    return x * n"
    started = time.process_time()
    assert found(code, lambda x: x + 5) == "x * n"
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
