"""A finished function is noticed by any name, and so is a tensor of the notebook."""

import cProfile
import ctypes
import functools
import sys
import threading

import pytest
import torch
import torch.nn.functional as F
from cells_of_tests import as_cell
from exercise_banks import CODE
from torch import nn

from lnorm_course.checking.feedback import State
from lnorm_course.checking.running import results
from lnorm_utils import LayerNorm, functional, standardize

X = torch.arange(6.0).reshape(2, 3)
ALIAS = {"f": standardize}


def helper(x):
    return torch.stack([ALIAS["f"](row) for row in x])


@pytest.mark.parametrize("without", [[], ["torch.std"]])
def test_a_profiler_that_runs_goes_on_and_harms_no_attempt(without):
    with cProfile.Profile() as profiler:
        assert results(lambda x: x + 1, [(X,)], without=without).error is None
        helper(X)
    assert any(entry.code is helper.__code__ for entry in profiler.getstats())


@pytest.mark.parametrize(
    ("name", "attempt"),
    [
        ("lnorm_utils.standardize", lambda x: functional.standardize(x)),
        ("lnorm_utils.standardize", helper),
        ("lnorm_utils.standardize", lambda x: functools.partial(ALIAS["f"], eps=0.1)(x)),
        ("lnorm_utils.layer_norm", lambda x: LayerNorm(3)(x)),
        ("torch.layer_norm", lambda x: nn.LayerNorm(3)(x)),
        ("torch.layer_norm", lambda x: F.layer_norm(x, [3])),
        ("torch.std", lambda x: x.std(-1)),
        ("torch.std", lambda x: torch.Tensor.std(x, -1)),
    ],
)
def test_a_function_that_is_ruled_out_is_noticed_by_any_name(name, attempt):
    outcome = results(attempt, [(X,)], without=[name])
    assert outcome.values == []
    assert f"own `{name.partition('.')[2]}`" in outcome.remark
    assert len(results(attempt, [(X,)], without=["torch.median"]).values) == 1
    assert sys.getprofile() is None


def unwatched(x):
    watcher = sys.getprofile()
    sys.setprofile(None)
    x = standardize(x)
    sys.setprofile(watcher)
    return x


def unwatched_by_another_way(x):
    watcher = sys.getprofile()
    [*map(sys.setprofile, [None])]  # which no profiler notices
    x = standardize(x)
    ctypes.pythonapi.PyEval_SetProfile(None, None)
    sys.setprofile(watcher)
    return x


def in_a_thread(x):
    found = []
    thread = threading.Thread(target=lambda: found.append(standardize(x)))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.parametrize("attempt", [unwatched, unwatched_by_another_way, in_a_thread])
def test_what_leads_around_the_watching_is_refused_and_only_while_it_watches(attempt):
    outcome = results(attempt, [(X,)], without=["lnorm_utils.standardize"])
    assert outcome.values == []
    assert "calls Python's own `" in outcome.remark
    assert len(results(attempt, [(X,)]).values) == 1


def test_a_function_of_the_students_may_have_any_name():
    names = {"torch": torch, "__name__": "__main__"}
    exec("def standardize(x):\n    return 2 * x\nattempt = lambda x: standardize(x)", names)
    outcome = results(names["attempt"], [(X,)], without=["lnorm_utils.standardize"])
    assert (len(outcome.values), outcome.remark) == (1, "")


def test_a_function_of_the_course_is_no_answer_to_any_exercise():
    for exercise in (each for each in CODE if not each.use_class):
        feedback = exercise.judge(standardize)
        assert (feedback.state, "a finished function" in feedback.message) == (State.WRONG, True)


READING = """
def reads(x):
    return encoded + x
def local(x):
    encoded = x + 1
    return encoded
"""


def test_a_tensor_of_the_notebook_that_is_read_is_named():
    names = {"encoded": X}
    exec(as_cell(READING, "exec"), names)
    outcome = results(names["reads"], [(X,)])
    assert (len(outcome.values), "`encoded`" in outcome.remark) == (1, True)
    assert "`encoded`" in results(names["reads"], [(X[:, :2],)]).remark
    assert results(names["local"], [(X,)]).remark == ""
