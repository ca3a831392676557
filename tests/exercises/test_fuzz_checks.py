"""Whatever is handed in: a check tells it in words, and calls only the answer right."""

import functools
import sys
import warnings
from collections import namedtuple
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch
from exercise_banks import CODE, EXERCISES, PREDICTIONS
from fuzzing import NOT_FINITE, examples
from hypothesis import given, reject
from hypothesis import strategies as st

from lnorm_utils.checking.feedback import State


class UnspeakableError(Exception):
    def __str__(self):
        raise ValueError


ERRORS = [ValueError, TypeError, AttributeError, StopIteration, RecursionError, UnspeakableError]
ERRORS += [SystemExit, GeneratorExit, BaseException, MemoryError, AssertionError]
BASES = [object, int, float, str, list, tuple, dict, torch.Tensor, np.ndarray, torch.nn.Module]
SPOILED = """__eq__ __ne__ __lt__ __repr__ __str__ __format__ __bool__ __len__ __iter__ __next__
    __hash__ __float__ __int__ __index__ __getitem__ __contains__ __call__ __sub__ __rsub__ __abs__
    __array__ __array_ufunc__ __array_function__ __array_interface__ __torch_function__ __class__
    __getattr__ __getattribute__ __reduce_ex__ __name__ __module__ __dict__ shape ndim dtype item
    tolist detach cpu forward named_parameters""".split()  # noqa: SIM905
MEMBERS = ["__init__", "__call__", "forward", "weight", "bias", "named_parameters"]
DOES = ["raises", "property raises", "says True", "is itself", "says a text", "is None"]
DTYPES = [str(d).removeprefix("torch.") for d in vars(torch).values() if type(d) is torch.dtype]
Pair = namedtuple("Pair", "first second")
# Objects that no recipe makes, each made anew, because some can be used only once.
SINGLE = [
    object,
    lambda: NotImplemented,
    lambda: iter([3]),
    lambda: (number for number in range(3)),
    lambda: range(10**12),
    lambda: slice(3),
    lambda: 10**400,
    lambda: Decimal("NaN"),
    lambda: Fraction(1, 3),
    lambda: Pair(3, 2),
    lambda: "\ud800",
    lambda: (lambda a: a.append(a) or a)([]),
    lambda: functools.reduce(lambda inner, _: [inner], range(5000), []),
    lambda: torch,
    lambda: torch.Tensor,
    lambda: torch.nn.LayerNorm(3),
    lambda: torch.nn.BatchNorm1d,
    lambda: torch.nn.Parameter(torch.ones(2)),
    lambda: torch.eye(3).to_sparse(),
    lambda: torch.ones(2, 3, device="meta"),
    lambda: torch.ones(1).expand(10**9),
    lambda: np.ma.masked,
    lambda: np.array([object(), None], dtype=object),
    lambda: np.array(["2026-01-01"], dtype="datetime64[D]"),
    lambda: np.zeros(2, dtype=[("a", int)]),
    lambda: ValueError("three"),
]


def endless(*arguments):
    return endless(*arguments)


# What a function may do that an exercise asks for.
WAYS = [
    lambda x, *more: x,
    lambda *arguments: arguments[-1],
    lambda *arguments: arguments,
    lambda x, *more: x.int(),
    lambda x, *more: x.half(),
    lambda x, *more: x.numpy(),
    lambda x, *more: x.tolist(),
    lambda x, *more: x[..., :0],
    lambda x, *more: x[None],
    lambda x, *more: x + 0j,
    lambda x, *more: x.to_sparse(),
    lambda x, *more: x.requires_grad_(),
    lambda x, *more: x.zero_(),
    lambda x, *more: x.resize_(0),
    lambda x, *more: setattr(x, "data", x.data.int()),
    lambda: 3,
    lambda a, b, c, d, e: a,
    lambda *, x: x,
    lambda **named: named,
    print,
    functools.partial(torch.add, other=1),
    "text".join,
    lambda *arguments: (yield arguments),
    lambda *arguments: sys.stdout.close(),
    endless,
]


def method(what, error):
    def raises(*arguments, **named):
        raise error

    if what == "raises":
        return raises
    if what == "property raises":
        return property(raises)
    results = {"says True": True, "says a text": "text", "is None": None}
    return lambda *arguments, **named: results.get(what, arguments[0] if arguments else None)


def spoiled(base, methods, error, of_class):
    """Make an object of a class, or the class itself, whose methods raise or lie."""
    made = {name: method(what, error) for name, what in methods}
    if of_class:
        return type("Meta", (type(base),), made)("Spoiled", (base,), {})
    if "__torch_function__" in made:
        made["__torch_function__"] = classmethod(made["__torch_function__"])
    kind = type("Spoiled", (base,), made)
    if issubclass(kind, torch.Tensor):
        return torch.Tensor.as_subclass(torch.ones(2, 3), kind)
    if issubclass(kind, np.ndarray):
        return np.ndarray.__new__(kind, (2, 3))
    return base.__new__(kind, *([3] if base in (int, float, str) else []))


def container(kind, inner):
    inner = [make() for make in inner]
    return kind(dict(enumerate(inner)) if kind is dict else inner)


def layer(base, members):
    return type("Layer", (base,), {name: make() for name, make in members.items()})


def makes(function, *strategies):
    """Draw a function that makes an object: objects themselves cannot always be printed."""
    return st.tuples(*strategies).map(lambda how: functools.partial(function, *how))


some = st.sampled_from
shapes = st.lists(st.integers(0, 4), max_size=4)
plain_objects = st.one_of(
    *(st.booleans(), st.none(), st.integers(-3, 30), st.integers(), st.floats()),
    *(st.complex_numbers(), st.text(max_size=20), st.binary(max_size=5)),
    some(["rows", "columns", "both", "neither", "batch", "pre", "post", "<b>"]),
)
spoiled_methods = st.lists(st.tuples(some(SPOILED), some(DOES)), max_size=4)
single_objects = st.one_of(
    makes(lambda value: value, plain_objects),
    some(SINGLE),
    makes(
        lambda shape, value, dtype: torch.full(shape, value).to(getattr(torch, dtype)),
        *(shapes, some([0, 1, 2, *NOT_FINITE]), some(DTYPES)),
    ),
    makes(
        np.zeros, shapes, some(["f2", "f4", "f8", "i1", "u8", "?", "c8", "O", "U3", "V4", "m8[s]"])
    ),
    makes(spoiled, some(BASES), spoiled_methods, some(ERRORS), some([False, False, True])),
)
objects = st.recursive(
    single_objects,
    lambda inner: makes(
        container,
        some([list, tuple, set, frozenset, dict, torch.Size, iter, np.array]),
        st.lists(inner, max_size=3),
    ),
    max_leaves=4,
)
functions = st.one_of(
    objects.map(lambda make: lambda: lambda *arguments, **named: make()),
    some(ERRORS).map(lambda error: lambda: method("raises", error)),
)
members = st.dictionaries(some(MEMBERS), st.one_of(objects, functions), max_size=3)
attempts = st.one_of(
    objects,
    functions,
    some(WAYS).map(lambda way: lambda: way),
    makes(layer, some([object, torch.nn.Module, torch.nn.Linear]), members),
)


def made(make):
    try:
        return make()
    except KeyboardInterrupt:
        raise
    except BaseException:  # there is no such object
        reject()


def is_the_answer(exercise, attempt):
    """Tell by other means than `judge` whether a prediction is right."""
    if exercise in CODE:
        return False
    for right in (value for value, _ in exercise.answers):
        if isinstance(right, str):
            if isinstance(attempt, str) and str.lower(attempt).split() == right.lower().split():
                return True
        elif isinstance(right, bool):
            if np.array(attempt).dtype == bool and np.array_equal(attempt, right):
                return True
        elif np.array(attempt).dtype.kind in "iuf" and np.shape(attempt) == np.shape(right):
            chosen = min(exercise.choices or [attempt], key=lambda each: abs(each - attempt))
            return np.allclose(np.array(chosen, float), right, rtol=0, atol=exercise.within)
    return False


def some_of(exercises, count):
    numbers = st.sets(some(range(len(exercises))), min_size=count, max_size=count)
    return numbers.map(lambda chosen: [exercises[number] for number in sorted(chosen)])


@examples(80)
@given(attempts, some_of(PREDICTIONS, 24), some_of(CODE, 4))
def test_a_check_tells_any_object_in_words_and_calls_only_the_answer_right(make, asked, coded):
    for exercise in [*asked, *coded]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            feedback = exercise.judge(made(make))
        if feedback.state is State.RIGHT:
            assert is_the_answer(exercise, made(make)), exercise.name
        else:
            assert feedback.state in (State.WRONG, State.NOT_ATTEMPTED), exercise.name
            assert len(feedback.message.split()) > 2, exercise.name
        assert repr(feedback)
        assert feedback._repr_html_()


class AlwaysEqual(str):
    __hash__ = None

    def __eq__(self, other):
        return True


class Unclassed:
    def __call__(self, *arguments):
        return self

    @property
    def __class__(self):
        raise ValueError


class Exiting:
    @property
    def __float__(self):
        raise SystemExit


class AlwaysClose(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, arguments=(), named=None):
        if function is torch.allclose:
            return True
        return super().__torch_function__(function, types, arguments, named or {})


FOUND = {
    "an error without words": method("raises", UnspeakableError),
    "closed output": lambda *arguments: sys.stdout.close(),
    "a class that is not told": Unclassed(),
    "returns what has no class": lambda *arguments: Unclassed(),
    "returns what exits": lambda *arguments: Exiting(),
    "a word that equals all others": AlwaysEqual("x"),
    "a billion numbers": torch.ones(1).expand(10**9),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_was_once_found_is_told_and_is_not_right(name):
    for exercise in EXERCISES:
        feedback = exercise.judge(FOUND[name])
        assert feedback.state in (State.WRONG, State.NOT_ATTEMPTED)
        assert len(feedback.message.split()) > 2


def test_a_tensor_does_not_answer_for_pytorch_whether_it_is_right():
    for exercise in CODE:
        right = exercise.right
        if all(isinstance(value, torch.Tensor) for value in right):
            results = iter(right)

            def zeros(*arguments, results=results):
                return torch.zeros_like(next(results)).as_subclass(AlwaysClose)

            assert exercise.judge(zeros).state is State.WRONG, exercise.name
