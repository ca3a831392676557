"""Whatever is handed in: a check tells it in words, and doesn't call it right."""

import sys

import numpy as np
import pytest
import torch
from exercise_banks import BY_NAME
from fuzzing import examples
from hypothesis import given, reject
from hypothesis import strategies as st

from lnorm_course.checking.feedback import State

FUNCTION, CLASS = BY_NAME["center"], BY_NAME["repair"]
ASKED = [BY_NAME["how_many"], BY_NAME["whose"], FUNCTION, CLASS]


class UnspeakableError(Exception):
    def __str__(self):
        raise ValueError


ERRORS = [ValueError, StopIteration, RecursionError, UnspeakableError, SystemExit, BaseException]
BASES = [object, float, str, list, dict, torch.Tensor, np.ndarray, torch.nn.Module]
SPOILED = """__eq__ __ne__ __lt__ __repr__ __str__ __format__ __bool__ __len__ __iter__ __next__
    __hash__ __float__ __int__ __index__ __getitem__ __contains__ __call__ __sub__ __rsub__ __abs__
    __array__ __array_ufunc__ __array_function__ __array_interface__ __torch_function__ __class__
    __getattr__ __getattribute__ __reduce_ex__ __name__ __module__ __dict__ shape ndim dtype item
    tolist detach cpu forward named_parameters""".split()  # noqa: SIM905
DOES = {
    "raises": lambda does: does,
    "property raises": property,
    "says True": lambda does: lambda *arguments, **named: True,
    "is itself": lambda does: lambda *arguments, **named: arguments[0] if arguments else None,
}


def raising(error):
    def does(*arguments, **named):
        raise error

    return does


def spoiled(base, methods, error):
    """Make an object whose methods raise or lie."""
    members = {name: DOES[what](raising(error)) for name, what in methods}
    if "__torch_function__" in members:
        members["__torch_function__"] = classmethod(members["__torch_function__"])
    kind = type("Spoiled", (base,), members)
    if base is torch.Tensor:
        return torch.Tensor.as_subclass(torch.ones(2, 3), kind)
    return base.__new__(kind, *([(2, 3)] if base is np.ndarray else []))


def judge(attempt):
    """Hold that an attempt is told in words, by itself and as what a function or layer returns."""
    layer = type("Layer", (torch.nn.Module,), {"forward": lambda *arguments: attempt})
    returned = [(FUNCTION, lambda *arguments: attempt), (CLASS, lambda *arguments: layer())]
    for exercise, given_in in [*((each, attempt) for each in ASKED), *returned]:
        feedback = exercise.judge(given_in)
        assert feedback.state in (State.WRONG, State.NOT_ATTEMPTED), exercise.name
        assert len(feedback.message.split()) > 2, exercise.name
        assert feedback._repr_html_()


some = st.sampled_from
methods = st.lists(st.tuples(some(SPOILED), some([*DOES])), min_size=1, max_size=4)


@examples(60)
@given(some(BASES), methods, some(ERRORS))
def test_a_check_tells_an_object_whose_methods_raise_or_lie_in_words(base, methods, error):
    try:
        hostile = spoiled(base, methods, error)
    except Exception:  # there is no such object
        reject()
    judge(hostile)
    judge([hostile])


class Unclassed:
    def __call__(self, *arguments):
        return self

    @property
    def __class__(self):
        raise ValueError


FOUND = {
    "an error without words": raising(UnspeakableError),
    "closed output": lambda *arguments: sys.stdout.close(),
    "a class that is not told": Unclassed(),
    "a billion numbers": torch.ones(1).expand(10**9),
    "a tensor without numbers": torch.ones(2, 3, device="meta"),
    "a sparse tensor": torch.eye(3).to_sparse(),
    "a list in itself": (lambda own: own.append(own) or own)([]),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_was_once_found_is_told_and_is_not_right(name):
    judge(FOUND[name])
