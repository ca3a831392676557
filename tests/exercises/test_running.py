"""Whatever a student's function does, a sentence tells it, with the line of their own code."""

import signal
import threading
import time

import pytest
import torch

from lnorm_utils import layer_norm
from lnorm_utils.exercises.engine import running
from lnorm_utils.exercises.engine.running import results

X = torch.arange(6.0).reshape(2, 3)
INPUTS = [(X, 0.5)]


def remark(attempt, inputs=INPUTS, use_class=None):
    """Return the remark about an attempt that fails at once."""
    values, said = results(attempt, inputs, use_class)
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
        (ValueError("row (called with 7)."), "ValueError{}: row (called with 7)."),
        (unwritable(ValueError()), "OddError{}: no message"),
        (SystemExit(3), "SystemExit{}: 3"),
    ],
    ids=["two lines", "201 letters", "speaks of a call", "unwritable", "exit"],
)
def test_an_error_is_told_with_its_line_its_words_and_the_arguments(error, said):
    attempt = raising(error)
    where = f" in line {line_of(attempt, 1)} of your cell, `raise error`"
    assert (
        remark(attempt) == f"your function raised {said.format(where)} (called with (2, 3), 0.5)."
    )


@pytest.mark.parametrize("error", [KeyboardInterrupt(), unwritable(KeyboardInterrupt())])
def test_an_interrupt_ends_the_check(error):
    with pytest.raises(KeyboardInterrupt):
        results(raising(error), INPUTS)


def inside_of_torch(x, eps):
    return torch.nn.functional.layer_norm(x, [5])


def inside_of_the_course(x, eps):
    return layer_norm(x, 5)


@pytest.mark.parametrize("inside", [inside_of_torch, inside_of_the_course])
def test_an_error_in_a_library_is_told_with_the_line_that_called_it(inside):
    where = f" in line {line_of(inside, 1)} of your cell, `return "
    assert where in remark(inside)
    assert where in remark(lambda x, eps: inside(x, eps))


def test_an_error_is_told_without_what_is_not_known_of_its_place():
    assert "raised TypeError: " in remark(lambda: 3)
    names = {}
    exec("def attempt(x, eps):\n    return x.missing", names)
    assert "AttributeError in line 2 of your cell: " in remark(names["attempt"])


def test_an_error_keeps_the_values_of_earlier_calls():
    values, said = results(lambda x: x[4], [(torch.arange(5),), (torch.arange(4),)])
    assert values == [4]
    assert "IndexError" in said
    assert said.endswith(" (called with (4,)).")


@pytest.mark.parametrize(
    ("attempt", "inputs", "kind"),
    [
        *((len, None, "prediction"), (int, None, "prediction")),
        *((3, INPUTS, "function"), (X, INPUTS, "function"), (int, INPUTS, "function")),
    ],
)
def test_an_attempt_of_another_kind_is_told_what_is_expected(attempt, inputs, kind):
    assert kind in remark(attempt, inputs)


class CallableTensor(torch.Tensor):
    def __call__(self):
        return 3


@pytest.mark.parametrize("value", [3, X.shape, X.as_subclass(CallableTensor)])
def test_a_prediction_is_taken_as_it_is(value):
    values, said = results(value, None)
    assert values[0] is value
    assert said == ""


def test_a_function_is_called_with_each_input():
    assert results(lambda x, eps: eps, [*INPUTS, (X, 0.1)]) == ([0.5, 0.1], "")


def test_a_class_is_used_with_each_input_and_told_of_as_a_class():
    assert results(int, [(X, 0.5), (X, 0.1)], lambda make, x, eps: (make, eps)) == (
        [(int, 0.5), (int, 0.1)],
        "",
    )
    assert "your class changes its input" in remark(int, use_class=lambda make, x, eps: x.add_(1))
    assert "a class" in remark(torch.nn.LayerNorm(3), use_class=lambda make, x, eps: 3)


def test_a_failed_call_is_described_by_whoever_uses_the_class():
    _, said = results(int, INPUTS, lambda make, x, eps: x.no, lambda x, eps: f"made with {eps}")
    assert said.endswith(" (made with 0.5).")


def closing(x):
    import sys

    sys.stdout.close()


@pytest.mark.parametrize("attempt", [print, closing])
def test_printing_is_told_once_however_often_it_happens(attempt):
    values, said = results(attempt, [(1,), (2,)])
    assert values == [None, None]
    assert said.count("printed") == 1


@pytest.mark.parametrize("change", [lambda a, b: a.mul_(2), lambda a, b: b.resize_(3, 2)])
def test_changing_any_argument_is_told(change):
    assert "changes its input" in remark(change, [(X + 1, X + 1)])


def test_a_missing_number_or_a_wanted_gradient_is_no_change():
    holes = torch.tensor([1.0, float("nan")])
    assert results(lambda x: 3, [(holes,)]) == ([3], "")
    assert "changes its input" in remark(lambda x: x.fill_(1), [(holes,)])
    assert results(lambda x: x.requires_grad_().numel(), [(X,)]) == ([6], "")


@pytest.mark.parametrize(("seconds", "is_told"), [(1.5, False), (12.7, True)])
def test_how_long_it_took_is_told_beyond_a_limit(monkeypatch, seconds, is_told):
    monkeypatch.setattr(running, "SLOW", 2.0)
    times = iter([100.0, 100.0 + seconds])
    monkeypatch.setattr(time, "thread_time", lambda: next(times))
    values, said = results(lambda x: x, [(3,)])
    assert values == [3]
    assert ("13 seconds" in said) is is_told


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="nothing stops it on this system")
def test_a_function_that_does_not_end_is_stopped_even_if_it_catches_errors():
    def endless():
        while True:
            try:
                time.sleep(5)
            except Exception:
                continue

    values, said = results(endless, [()], seconds=0.1)
    assert values == []
    assert "did not finish within 0 seconds" in said


def test_in_a_thread_functions_are_called_without_a_limit():
    found = []
    thread = threading.Thread(target=lambda: found.append(results(lambda x: x + 1, [(2,)])))
    thread.start()
    thread.join()
    assert found == [([3], "")]
