"""Whatever a student's function does, a sentence tells it, with the line of their own code."""

import math
import signal
import sys
import threading
import time

import pytest
import torch

from lnorm_course.checking.running import results
from lnorm_utils import layer_norm

X = torch.arange(6.0).reshape(2, 3)
INPUTS = [(X, 0.5)]


def run(*arguments, **options):
    """Return the values of an attempt, and the remark about it."""
    outcome = results(*arguments, **options)
    return outcome.values, outcome.remark


def remark(attempt, inputs=INPUTS, use_class=None):
    """Return the remark about an attempt that fails at once."""
    values, said = run(attempt, inputs, use_class)
    assert values == []
    return said


def line_of(function, below=0):
    return function.__code__.co_firstlineno + below


def unwritable(error):
    def show(self):
        raise error

    return type("OddError", (Exception,), {"__str__": show})()


def raising(error):
    def attempt(x, eps):
        raise error

    return attempt


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("no such\n  row"), "ValueError{}: no such row"),
        (ValueError("n" * 201), "ValueError{}: " + "n" * 200),
        (unwritable(ValueError()), "OddError{}: no message"),
        (SystemExit(3), "SystemExit{}: 3"),
    ],
    ids=["two lines", "201 letters", "unwritable", "exit"],
)
def test_an_error_is_told_with_its_line_its_words_and_the_arguments(error, said):
    attempt = raising(error)
    where = f" in line {line_of(attempt, 1)} of your cell, `raise error`"
    assert said.format(where) in remark(attempt)
    assert remark(attempt).endswith(" (called with (2, 3), 0.5).")


def test_an_interrupt_ends_the_check():
    with pytest.raises(KeyboardInterrupt):
        results(raising(KeyboardInterrupt()), INPUTS)


def inside_of_torch(x, eps):
    return torch.nn.functional.layer_norm(x, [5])


def inside_of_the_course(x, eps):
    return layer_norm(x, 5)


def test_an_error_in_a_library_is_told_with_the_line_that_called_it():
    for inside in (inside_of_torch, inside_of_the_course):
        where = f" in line {line_of(inside, 1)} of your cell, `return "
        assert where in remark(lambda x, eps, inside=inside: inside(x, eps))


def test_an_error_is_told_without_what_is_not_known_of_its_place():
    assert "other arguments than the lesson's" in remark(lambda: 3)
    assert "raised TypeError: " in remark(len)
    names = {}
    exec("def attempt(x, eps):\n    return x.missing", names)
    assert "AttributeError in line 2 of your cell: " in remark(names["attempt"])


def test_an_error_keeps_the_values_of_earlier_calls():
    values, said = run(lambda x: x[4], [(torch.arange(5),), (torch.arange(4),)])
    assert (values, said.endswith(" (called with (4,)).")) == ([4], True)


class CallableTensor(torch.Tensor):
    def __call__(self):
        return 3


def test_a_prediction_is_taken_as_it_is():
    for value in (3, X.shape, X.as_subclass(CallableTensor)):
        values, said = run(value, None)
        assert (values[0] is value, said) == (True, "")


def test_a_class_is_used_with_each_input_and_told_of_as_a_class():
    made = run(int, [(X, 0.5), (X, 0.1)], lambda make, x, eps: (make, eps))
    assert made == ([(int, 0.5), (int, 0.1)], "")
    assert "your class changes its input" in remark(int, use_class=lambda make, x, eps: x.add_(1))
    assert "a class" in remark(torch.nn.LayerNorm(3), use_class=lambda make, x, eps: 3)


def printing(x):
    print(x)
    return x


def test_printing_is_told_once_however_often_it_happens_and_in_place_of_returning():
    given, said = run(printing, [(1,), (2,)])
    assert (given, said.count("printed")) == ([1, 2], 1)
    for instead in (print, lambda *x: sys.stdout.close()):
        assert "prints something and returns nothing" in remark(instead)


def test_changing_any_argument_is_told():
    for change in (lambda a, b: a.mul_(2), lambda a, b: b.resize_(3, 2)):
        assert "changes its input" in remark(change, [(X + 1, X + 1)])


def test_a_missing_number_is_no_change():
    holes = torch.tensor([1.0, float("nan")])
    assert run(lambda x: 3, [(holes,)]) == ([3], "")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="nothing stops it on this system")
def test_a_function_that_does_not_end_is_stopped_even_if_it_catches_errors():
    def endless():
        while True:
            try:
                time.sleep(5)
            except Exception:
                continue

    values, said = run(endless, [()], seconds=0.1)
    assert values == []
    assert "did not finish within 0 seconds" in said


def test_in_a_thread_functions_are_called_without_a_limit():
    found = []
    thread = threading.Thread(target=lambda: found.append(run(lambda x: x + 1, [(2,)])))
    thread.start()
    thread.join()
    assert found == [([3], "")]


LAYER = torch.nn.LayerNorm(4)


def test_new_tensors_fit_the_inputs_during_the_call_alone():
    inside = {torch.float64: torch.float64, torch.float16: torch.float32}
    for dtype, made in inside.items():
        assert results(lambda x: torch.ones(2).dtype, [(X.to(dtype),)]).values == [made]
        results(raising(SystemExit()), [(X.to(dtype), 0.5)])
        assert torch.get_default_dtype() is torch.float32


@pytest.mark.parametrize(
    ("attempt", "advice"),
    [
        (lambda x: x.var(-1) ^ 0.5, "Write `**`"),
        (lambda x: LAYER(x), "make the layer inside"),
        (lambda x: math.sqrt(x), "`torch.sqrt`"),
        (lambda x: x @ x.T, "`.transpose(-1, -2)`"),
        (lambda x: x.mean(-1, keepdim=true), "`true`, or look at its spelling"),  # noqa: F821
    ],
)
@pytest.mark.filterwarnings("ignore:The use of `x.T`")
def test_an_error_with_a_plain_cause_is_told_by_its_cause(attempt, advice):
    said = remark(attempt, [(torch.ones(2, 3, 4).double(),)])
    assert advice in said
    assert "Error" not in said
    assert "raised RuntimeError" in remark(lambda x: x.T @ x.T, [(X,)])
