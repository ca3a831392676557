"""Whatever a student's function does, a sentence tells it, with the line of their own code."""

import importlib
import math
import signal
import sys
import threading
import time

import pytest
import torch

from lnorm_course.checking.comparing import same
from lnorm_course.checking.running import results
from lnorm_utils import layer_norm

X = torch.arange(6.0).reshape(2, 3)
INPUTS = [(X, 0.5)]
THREE_AXES = [(torch.ones(2, 3, 4).double(),)]
LAYER = torch.nn.LayerNorm(4)


def line_of(function, below=0):
    return function.__code__.co_firstlineno + below


def from_cell(code):
    names = {}
    exec(code, names)
    return names["attempt"]


def unwritable(error):
    def show(self):
        raise error

    return type("OddError", (Exception,), {"__str__": show})()


def raising(error):
    def attempt(x, eps):
        raise error

    return attempt


RAISE = f" in line {line_of(raising, 2)} of your cell, `raise error`"
CALLED = "(called with (2, 3), 0.5)."


def of_torch(x, eps):
    return torch.nn.functional.layer_norm(x, [5])


def of_course(x, eps):
    return layer_norm(x, 5)


FAILS = {
    "two lines": (raising(ValueError("no such\n  row")), f"ValueError{RAISE}: no such row", CALLED),
    "201 letters": (raising(ValueError("n" * 201)), f"ValueError{RAISE}: {'n' * 200} {CALLED}"),
    "unwritable": (raising(unwritable(ValueError())), f"OddError{RAISE}: no message", CALLED),
    "exit": (raising(SystemExit(3)), f"SystemExit{RAISE}: 3 {CALLED}"),
    "PyTorch": (lambda *x: of_torch(*x), f" in line {line_of(of_torch, 1)} of your cell, `return"),
    "course": (lambda *x: of_course(*x), f" in line {line_of(of_course, 1)} of your cell, `return"),
    "other arguments": (lambda: 3, "different arguments from the lesson's"),
    "no line": (len, "raised TypeError: "),
    "no source": (
        from_cell("def attempt(x, eps):\n    return x.missing"),
        "AttributeError in line 2 of your cell: ",
    ),
    "prints": (print, "prints something but returns nothing"),
    "closes the output": (lambda *x: sys.stdout.close(), "prints something but returns nothing"),
    "changes": (lambda x, eps: x.mul_(2), "changes its input"),
    "changes a shape": (lambda x, eps: x.resize_(3, 2), "changes its input"),
}
# What stands in an error's place, because its cause is plain.
ADVICE = {
    "a power": (lambda x: x.var(-1) ^ 0.5, "Write `**`"),
    "a layer": (lambda x: LAYER(x), "make the layer inside"),
    "math": (lambda x: math.sqrt(x), "`torch.sqrt`"),
    "T": (lambda x: x @ x.T, "`.transpose(-1, -2)`"),
    "a name": (lambda x: x.mean(-1, keepdim=true), "`true`, or check its spelling"),  # noqa: F821
}


@pytest.mark.parametrize("attempt", FAILS)
def test_what_goes_wrong_in_a_call_is_told_with_what_is_known_of_its_place(attempt):
    function, *words = FAILS[attempt]
    outcome = results(function, INPUTS)
    assert outcome.values == []
    assert [word for word in words if word not in outcome.remark] == [], outcome.remark


@pytest.mark.parametrize("attempt", ADVICE)
@pytest.mark.filterwarnings("ignore:The use of `x.T`")
def test_an_error_with_a_plain_cause_is_told_by_its_cause(attempt):
    function, advice = ADVICE[attempt]
    said = results(function, THREE_AXES).remark
    assert advice in said
    assert "Error" not in said
    # Of two matrices `.T` is no cause.
    said = results(lambda x: x.T @ x.T, [(X,)]).remark
    assert "raised RuntimeError" in said


def test_an_interrupt_ends_the_check():
    with pytest.raises(KeyboardInterrupt):
        results(raising(KeyboardInterrupt()), INPUTS)


def test_an_error_keeps_the_values_of_earlier_calls():
    outcome = results(lambda x: x[4], [(torch.arange(5),), (torch.arange(4),)])
    assert (outcome.values, outcome.remark.endswith(" (called with (4,)).")) == ([4], True)


class CallableTensor(torch.Tensor):
    def __call__(self):
        return 3


def test_a_prediction_is_taken_as_it_is():
    for value, taken in ((3, 3), (X.shape, (2, 3)), (X.as_subclass(CallableTensor), X)):
        outcome = results(value, None)
        assert (same(outcome.values[0], taken, 0.0), outcome.remark) == (True, "")


def test_a_class_is_used_with_each_input_and_told_of_as_a_class():
    made = results(int, [(X, 0.5), (X, 0.1)], lambda make, x, eps: (make(), eps))
    assert (made.values, made.remark) == ([(0, 0.5), (0, 0.1)], "")
    changing = results(int, INPUTS, lambda make, x, eps: x.add_(1))
    assert "your class changes its input" in changing.remark
    assert "a class" in results(LAYER, INPUTS, lambda make, x, eps: 3).remark


def test_what_is_no_failure_is_told_once_or_not_at_all():
    given = results(lambda x: print(x) or x, [(1,), (2,)])
    assert (given.values, given.remark.count("printed")) == ([1, 2], 1)
    holes = torch.tensor([1.0, math.nan])
    assert results(lambda x: 3, [(holes,)])[:2] == ([3], None)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="nothing stops it on this system")
def test_a_function_that_does_not_end_is_stopped_even_if_it_catches_errors():
    def endless():
        while True:
            try:
                time.sleep(5)
            except Exception:
                continue

    outcome = results(endless, [()], seconds=0.1)
    assert outcome.values == []
    assert "did not finish within 0 seconds" in outcome.remark


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="nothing stops it on this system")
def test_an_import_that_takes_longer_than_the_limit_ends_and_its_module_is_whole(
    tmp_path, monkeypatch
):
    (tmp_path / "slowly_imported.py").write_text("import time\ntime.sleep(0.3)\nEND = 7\n")
    monkeypatch.syspath_prepend(tmp_path)

    def first_use():
        return importlib.import_module("slowly_imported").END

    assert results(first_use, [()], seconds=0.1).values == [7]


def test_in_a_thread_functions_are_called_without_a_limit():
    found = []
    thread = threading.Thread(target=lambda: found.extend(results(lambda x: x + 1, [(2,)]).values))
    thread.start()
    thread.join()
    assert found == [3]


def test_new_tensors_fit_the_inputs_during_the_call_alone():
    inside = {torch.float64: torch.float64, torch.float16: torch.float32}
    for dtype, made in inside.items():
        assert results(lambda x: str(torch.ones(2).dtype), [(X.to(dtype),)]).values == [str(made)]
        results(raising(SystemExit()), [(X.to(dtype), 0.5)])
        assert torch.get_default_dtype() is torch.float32
