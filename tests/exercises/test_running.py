"""Whatever a student's function does, it is told in a sentence, as theirs and with its line."""

import signal
import threading
import time

import pytest
import torch

from lnorm_utils import layer_norm
from lnorm_utils.exercises.engine import running as attempts
from lnorm_utils.exercises.engine.running import fresh, results

X = torch.arange(6.0).reshape(2, 3)
INPUTS = [(X, 0.5)]


def remark(attempt, inputs=INPUTS, trial=None):
    values, said = results(attempt, inputs, trial)
    assert values == []
    return said


def line_of(function, below=0):
    return function.__code__.co_firstlineno + below


class SilentError(Exception):
    def __str__(self):
        raise ValueError


class InterruptingError(Exception):
    def __str__(self):
        raise KeyboardInterrupt


def raising(error):
    def attempt(x, eps):
        raise error

    return attempt


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("no such\n  row"), "ValueError{}: no such row"),
        (ValueError(), "ValueError{}: no message"),
        (ValueError("n" * 200), "ValueError{}: " + "n" * 200),
        (ValueError("n" * 201), "ValueError{}: " + "n" * 200),
        (SilentError(), "SilentError{}: no message"),
        (SystemExit(3), "SystemExit{}: 3"),
    ],
    ids=["lines", "empty", "200 letters", "201 letters", "unwritable", "exit"],
)
def test_an_error_is_told_with_its_line_its_words_and_the_arguments(error, said):
    attempt = raising(error)
    where = f" in line {line_of(attempt, 1)} of your cell, `raise error`"
    assert (
        remark(attempt) == f"your function raised {said.format(where)} (called with (2, 3), 0.5)."
    )


def test_an_interrupt_ends_the_check():
    with pytest.raises(KeyboardInterrupt):
        results(raising(KeyboardInterrupt()), INPUTS)
    with pytest.raises(KeyboardInterrupt):
        results(raising(InterruptingError()), INPUTS)


def inside_of_torch(x, eps):
    return torch.nn.functional.layer_norm(x, [5])


def inside_of_the_course(x, eps):
    return layer_norm(x, 5)


def below_another(x, eps):
    return inside_of_torch(x, eps)


@pytest.mark.parametrize(
    ("attempt", "line", "code"),
    [
        (inside_of_torch, line_of(inside_of_torch, 1), "torch.nn.functional.layer_norm(x, [5])"),
        (inside_of_the_course, line_of(inside_of_the_course, 1), "layer_norm(x, 5)"),
        (below_another, line_of(inside_of_torch, 1), "torch.nn.functional.layer_norm(x, [5])"),
    ],
)
def test_an_error_in_a_library_is_told_with_the_line_that_called_it(attempt, line, code):
    assert f" in line {line} of your cell, `return {code}`: " in remark(attempt)


def test_a_long_line_is_cut_after_80_letters():
    def attempt(x, eps):
        return x.no_such_thing_and_no_other_one_either_however_long_the_name_may_become_in_th_end

    code = (
        "return x.no_such_thing_and_no_other_one_either_however_long_the_name_may_become_in_th_end"
    )
    assert f", `{code[:80]}`: " in remark(attempt)


def test_an_error_without_a_line_of_the_student_is_told_without_one():
    assert remark(lambda: 3) == (
        "your function raised TypeError: test_an_error_without_a_line_of_the_student_is_told_"
        "without_one.<locals>.<lambda>() takes 0 positional arguments but 2 were given "
        "(called with (2, 3), 0.5)."
    )


def test_an_error_in_code_without_a_source_is_told_by_its_line_alone():
    names = {}
    exec("def attempt(x, eps):\n    return x.missing", names)
    assert remark(names["attempt"]) == (
        "your function raised AttributeError in line 2 of your cell: "
        "'Tensor' object has no attribute 'missing' (called with (2, 3), 0.5)."
    )


def test_an_error_while_it_is_watched_for_time_hides_no_earlier_values():
    values, said = results(lambda x: x[4], [(torch.arange(5),), (torch.arange(4),)])
    assert values == [4]
    assert said.startswith("your function raised IndexError in line ")
    assert said.endswith(" (called with (4,)).")


@pytest.mark.parametrize(
    ("attempt", "inputs", "expected"),
    [
        (3, None, ([3], "")),
        (X.shape, None, ([X.shape], "")),
        (len, None, ([], "this is a prediction: give a value.")),
        (int, None, ([], "this is a prediction: give a value.")),
        (
            3,
            INPUTS,
            ([], "this exercise checks a function: pass its name, without brackets behind it."),
        ),
        (
            X,
            INPUTS,
            ([], "this exercise checks a function: pass its name, without brackets behind it."),
        ),
        (
            int,
            INPUTS,
            ([], "this exercise checks a function: pass its name, without brackets behind it."),
        ),
        (lambda x, eps: eps, [*INPUTS, (X, 0.1)], ([0.5, 0.1], "")),
    ],
)
def test_a_prediction_is_a_value_and_code_is_a_function(attempt, inputs, expected):
    assert results(attempt, inputs) == expected


def test_a_callable_tensor_is_a_value():
    class Callable(torch.Tensor):
        def __call__(self):
            return 3

    value = X.as_subclass(Callable)
    assert results(value, None)[0][0] is value


def test_a_class_is_given_to_the_trial_with_the_arguments():
    def trial(make, x, eps):
        return make, eps

    assert results(int, [(X, 0.5), (X, 0.1)], trial) == ([(int, 0.5), (int, 0.1)], "")


def test_a_module_that_was_made_already_is_no_class():
    assert remark(torch.nn.LayerNorm(3), INPUTS, lambda make, x, eps: 3) == (
        "this exercise checks a class: pass its name, without brackets behind it."
    )


def test_what_a_class_does_wrong_is_told_of_the_class():
    def trial(make, x, eps):
        return x.add_(1)

    def printing(make, x, eps):
        print("noise")

    said = "your class changes its input: compute a new tensor instead."
    assert remark(int, INPUTS, trial) == said
    assert results(int, INPUTS, printing) == ([None], "What your class printed is not shown.")


def test_a_remark_is_made_once_however_many_calls_deserve_it():
    values, said = results(print, [(1,), (2,)])
    assert (values, said) == ([None, None], "What your function printed is not shown.")


def test_a_function_that_closes_what_is_printed_to_is_told_so():
    def closing(x):
        import sys

        sys.stdout.close()
        return x

    assert results(closing, [(3,)]) == ([3], "What your function printed is not shown.")


@pytest.mark.parametrize("name", ["first", "second"])
def test_changing_any_argument_is_told(name):
    def attempt(first, second):
        {"first": first, "second": second}[name].mul_(2)

    said = "your function changes its input: compute a new tensor instead."
    assert remark(attempt, [(X + 1, X + 1)]) == said


def test_a_missing_number_in_the_input_is_no_change():
    holes = torch.tensor([1.0, float("nan")])
    assert results(lambda x: 3, [(holes,)]) == ([3], "")
    assert "changes its input" in remark(lambda x: x.fill_(1), [(holes,)])


def test_an_input_that_is_made_to_want_gradients_is_no_change():
    assert results(lambda x: x.requires_grad_().numel(), [(X,)]) == ([6], "")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (1.5, ""),
        (2.5, "It took 2 seconds; without a loop it would take none."),
        (12.7, "It took 13 seconds; without a loop it would take none."),
    ],
)
def test_how_long_it_took_is_told_beyond_a_limit(monkeypatch, seconds, said):
    monkeypatch.setattr(attempts, "SLOW", 2.0)
    times = iter([100.0, 100.0 + seconds])
    monkeypatch.setattr(time, "monotonic", lambda: next(times))
    assert results(lambda x: x, [(3,)]) == ([3], said)


def test_all_remarks_are_told_one_after_the_other(monkeypatch):
    monkeypatch.setattr(attempts, "SLOW", -1.0)
    assert results(print, [(3,)])[1] == (
        "What your function printed is not shown. "
        "It took 0 seconds; without a loop it would take none."
    )


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="nothing stops it on this system")
def test_a_function_that_does_not_end_is_told_with_the_limit(monkeypatch):
    monkeypatch.setattr(attempts, "SECONDS", 0.1)
    assert remark(lambda: time.sleep(5), [()]) == "your function did not finish within 0 seconds."


def test_in_a_thread_functions_are_called_without_a_limit():
    found = []
    thread = threading.Thread(target=lambda: found.append(results(lambda x: x + 1, [(2,)])))
    thread.start()
    thread.join()
    assert found == [([3], "")]


def test_fresh_arguments_are_copies_of_the_tensors_and_else_the_same():
    shape = [4]
    x, eps, kept = fresh((X, 0.5, shape))
    assert torch.equal(x, X)
    assert x.data_ptr() != X.data_ptr()
    assert (eps, kept is shape) == (0.5, True)
