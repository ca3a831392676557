"""Where a mistake is that nothing names: one place, and nothing of the student's is spoiled."""

import functools
import time

import pytest
import torch
from cells_of_tests import as_cell
from exercise_banks import BY_NAME

from lnorm_course.checking.comparing import same
from lnorm_course.checking.fault_location import locate_fault
from lnorm_course.checking.running import results

X = torch.arange(12.0).reshape(3, 4) ** 2
INPUTS = [(X,), (X[:2, :3] + 1,)]


def written(code, **around):
    """Run code as a cell, and return what its last line defines, and the names around it."""
    names = {"torch": torch, "functools": functools, **around}
    before = set(names)
    exec(as_cell(code, "exec"), names)
    return names[[name for name in names if name not in before][-1]], names


def location(attempt, right, **options):
    """Return where the fault of an attempt is, or in the last thing that code defines."""

    def is_right(version):
        return same(results(version, INPUTS, **options).values, [right(*i) for i in INPUTS], 1e-6)

    attempt = written(attempt)[0] if isinstance(attempt, str) else attempt
    return locate_fault(attempt, is_right)


def total(x):
    return x.sum(-1)


ODD = "class Odd:\n    def __getattribute__(self, name):\n        raise SystemExit\n"
LOOP = "def f(x):\n    y = 0 * x[:, 0]\n    for column in x.T:\n        "


@pytest.mark.parametrize(
    ("code", "right", "source"),
    [
        ("f = lambda x: x.sum() - x", lambda x: x - x.sum(), "x.sum() - x"),
        ("def f(x):\n    c = x - 9\n    return x * c.sum()", lambda x: (x - 9) * (x - 9).sum(),
         "x * c.sum()"),
        ("def f(x):\n    def g(z):\n        return z - z.sum()\n    return g(x) ** 3",
         lambda x: (x + x.sum()) ** 3, "z - z.sum()"),
        ("f = lambda x: x.mean(0) ** 3", lambda x: x.sum(0) ** 3, "x.mean(0)"),
        ("f = lambda x: 3 * x.sum(0)", lambda x: 3 * x.sum(-1), "x.sum(0)"),
        ("f = lambda x: x[1:] ** 3", lambda x: x**3, "x[1:]"),
        (LOOP + "y = y + column\n        return y", total, "return y"),
        (LOOP + "y = column\n    return y", total, "y = column"),
        # Of several places the one around them is told, or none.
        ("f = lambda x: (-x).sum(-1)", total, "(-x).sum(-1)"),
        ("def f(x):\n    y = -x\n    z = y + 0\n    return z.abs() ** 3", lambda x: x**3, ""),
        ("f = lambda x: x * x.sum() - x.amax() ** 2", lambda x: x + x.sum() - x.amax(), ""),
        ("def outer(n):\n    return lambda x: x * n.sum()\nf = outer(torch.ones(3))",
         lambda x: x + 3, "x * n.sum()"),
        # A value that the program has and doesn't use isn't let in, and neither is a function.
        ("def f(x):\n    y = x.sum(-1)\n    z = x ** 2\n    return z", total, ""),
        ("def f(x):\n    g = lambda z: z ** 3\n    return x + 0 * g(x)", lambda x: x**3, ""),
        # A mutated version may not change its input, and an object that raises ends no check.
        ("def f(x):\n    x.add_(1)\n    return x - 1", lambda x: x + 2, ""),
        (ODD + "def f(x):\n    return x * x.sum() if x.sum() > 0 else Odd()",
         lambda x: x + x.sum(), "x * x.sum()"),
    ],
)  # fmt: skip
def test_the_one_spot_is_found(code, right, source):
    assert location(code, right) == source


def test_what_was_not_written_in_a_cell_has_no_spot():
    for attempt in ("f = functools.partial(lambda n, x: x * n, 3)", torch.sum, total, 3):
        assert location(attempt, lambda x: x + 3) == ""


def test_nothing_of_the_student_is_changed():
    kept, seen = torch.ones(1), []
    helper = "count = 0\ndef helper(x):\n    global count\n    count = count + 1\n    return x\n"
    code = "def f(x):\n    seen.append(1)\n    kept.add_(1)\n    return helper(x) * x.sum()"
    attempt, names = written(helper + code, kept=kept, seen=seen)
    state, before = torch.get_rng_state(), dict(names)
    assert location(attempt, lambda x: x + x.sum()) == "helper(x) * x.sum()"
    assert names == before
    assert (seen, kept) == ([], torch.ones(1))
    assert torch.equal(state, torch.get_rng_state())


def test_an_edited_version_may_not_call_what_is_ruled_out():
    code = "f = lambda x: x.mean(-1) * 3"
    assert location(code, lambda x: x.sum(-1) * 3) == "x.mean(-1)"
    assert location(code, lambda x: x.sum(-1) * 3, without=["torch.sum"]) == ""


def test_a_loop_that_never_ends_once_edited_costs_little():
    code = "def f(x):\n    n = 0\n    while n < 5:\n        n += 1\n    return x * n"
    started = time.process_time()
    assert location(code, lambda x: x + 5) == "x * n"
    assert time.process_time() - started < 5  # a single one would run for ten seconds


def test_the_verdict_and_the_mistake_stay_those_of_the_grader():
    exercise = BY_NAME["pre_block"]
    code = "def f(x, f, g):\n    h = f(norm(x)) * x\n    return h + g(norm(h))"
    attempt, _ = written(code, norm=lambda x: torch.nn.functional.layer_norm(x, x.shape[-1:]))
    outcome = results(attempt, exercise.inputs)
    live = exercise.judge(attempt)
    graded = exercise.judge_outcome(outcome._replace(attempt=None))
    assert (live.state, live.mistake, live.misconceptions) == (graded.state, graded.mistake, ())
    assert live.message.startswith("Look at `f(norm(x)) * x`")
    assert "Look at" not in graded.message


def test_a_right_version_may_run_on_many_more_inputs_than_a_wrong_one():
    source = "def f(x):\n" + "    x = x + 1\n" * 20 + "    return x * x.sum()"
    attempt = written(source)[0]

    def is_right(version):
        right = X + 20 + (X + 20).sum()
        return all(same(version(X), right, 1e-6) for _ in range(40))

    assert locate_fault(attempt, is_right, inputs=40) == "x * x.sum()"
    assert locate_fault(attempt, is_right, inputs=1) == ""


def test_the_forward_of_a_class_is_searched():
    code = """class Norm(torch.nn.LayerNorm):
    def forward(self, x):
        y = x - x.mean(-1, keepdim=True)
        var = y.square().mean(-1, keepdim=True)
        return y / (var + self.eps).sqrt() * (self.weight + self.bias)
"""
    message = BY_NAME["repair"].judge(written(code)[0]).message
    assert message.startswith("Look at `y / (var + self.eps).sqrt() * (self.weight + self.bias)`")
