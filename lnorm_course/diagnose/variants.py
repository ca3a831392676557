"""Name what was done if a result is that of the answer with one thing in it done otherwise.

A model with switches knows what people do with a norm, and a bank what they do in one exercise.
This works for any answer that is a function: its own source is changed in one place at a time, in
the ways that people mistake one operation for another. It needs nothing of the student's but the
results, so the grader says the same as a lesson.
"""

import ast
import contextlib
import inspect
import itertools
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

from lnorm_course.checking import running
from lnorm_course.checking.edits import changed, slots
from lnorm_utils.words import spoken

__all__ = ["Variants"]

# What an operator did, and what it should have done instead.
OPERATORS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("added", "add"),
    ast.Sub: ("subtracted", "subtract"),
    ast.Mult: ("multiplied by", "multiply by"),
    ast.Div: ("divided by", "divide by"),
}
SWAPPED = {ast.Sub: "subtraction", ast.Div: "division", ast.MatMult: "product with `@`"}
LEFT_OUT = {ast.Add: "term", ast.Sub: "term", ast.Mult: "factor", ast.Div: "division"}
# What methods, and functions, do. Those in one line are taken for each other.
FAMILIES: tuple[dict[str, tuple[str, str]], ...] = (
    {
        "mean": ("averaged", "average"),
        "sum": ("added up", "add up"),
        "amax": ("took the largest", "take the largest"),
        "max": ("took the largest", "take the largest"),
        "amin": ("took the smallest", "take the smallest"),
        "norm": ("took the length", "take the length"),
        "std": ("took the standard deviation", "take the standard deviation"),
    },
    {
        "abs": ("took the absolute value", "take the absolute value"),
        "square": ("squared", "square"),
        "sqrt": ("took the root", "take the root"),
        "exp": ("took the exponential", "take the exponential"),
    },
    {"softmax": ("took the softmax", "take the softmax")},
    {"min": ("took the smaller one", "take the smaller one"), "max": ("took the larger one", "")},
)
MORE_CALLS = ("abs()", "square()", "sqrt()", "exp()", "softmax(-1)", "sigmoid()", "relu()")
# What is done to an argument that should be used as it is.
OF_ONE = {
    "x[..., 1:]": "The first number of each row of {} is left out.",
    "x[..., :-1]": "The last number of each row of {} is left out.",
    "x[..., 0]": "You took only the first of {}.",
    "x.flip(-1)": "The last axis of {} is in reverse order.",
    "x.sum()": "You added up all numbers of {} to one.",
    "x.mean()": "You averaged all numbers of {} to one.",
    "x.mean(0, keepdim=True)": "You averaged {} over its first axis.",
    "x.mean(-1, keepdim=True)": "You averaged {} over its last axis.",
}
DONE_BY = {"relu": "set negative numbers to 0", "sigmoid": "took the sigmoid"} | {
    name: words[0] for family in FAMILIES[:3] for name, words in family.items()
}
MOST_VARIANTS = 400
FEWEST = 4  # different numbers that results need to tell something
SIDES = ("left", "right")
NOT_RUN = {"lstsq"}  # its library prints what can't be caught


class Variants:
    """The answer of an exercise, done otherwise in one place each.

    Args:
        answer: a function from a file.
        inputs: the arguments of each call.
        equal: (a result, another one) -> whether they are the same.
    """

    def __init__(
        self, answer: Callable, inputs: Sequence[tuple], equal: Callable[[object, object], bool]
    ) -> None:
        self.inputs, self.equal = inputs, equal
        self._results: dict[tuple[int, int], object] = {}
        self._functions = list(_functions(answer))

    def name(self, results: Mapping[int, object], wrong: Sequence[int]) -> str:
        """Return in a sentence what was done; empty if no variant gives all of the results."""
        if len({number for each in results.values() for number in _numbers(each)}) < FEWEST:
            return ""  # so little agrees by chance
        order = sorted(results, key=lambda number: (number not in wrong, -number))
        with warnings.catch_warnings(), torch.random.fork_rng(devices=[]):
            warnings.simplefilter("ignore")
            for variant, (words, _) in enumerate(self._functions):
                if all(self._gives(variant, n, results[n]) for n in order):
                    return words
        return ""

    def _gives(self, variant: int, number: int, result: object) -> bool:
        given = self._result(variant, number)
        return given is not None and self.equal(result, given)

    def _result(self, variant: int, number: int) -> object:
        if (variant, number) not in self._results:
            result: object = None
            with contextlib.suppress(Exception):  # what is done otherwise may not go together
                result = self._functions[variant][1](*running.fresh(self.inputs[number]))
            self._results[variant, number] = result
        return self._results[variant, number]


def _numbers(result: object) -> list[float]:
    """List some numbers of a result; none of one that says little, such as a text."""
    if isinstance(result, torch.Tensor) and result.is_floating_point():
        return result.detach().flatten()[:100].tolist()
    return [result] if isinstance(result, float) else []


def _functions(answer: Callable) -> Iterator[tuple[str, Callable]]:
    """Yield each variant of an answer with its words."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(answer)))
    function = tree.body[0]
    if not isinstance(function, ast.FunctionDef):
        return
    if any(isinstance(n, ast.Attribute) and n.attr in NOT_RUN for n in ast.walk(function)):
        return
    function.decorator_list = []
    for number, (words, owner, field, new) in enumerate(_changes(function)):
        if number == MOST_VARIANTS:
            return
        before = getattr(owner, field)
        setattr(owner, field, new)
        try:
            names = dict(vars(inspect.getmodule(answer)))
            exec(compile(ast.fix_missing_locations(tree), "<variant>", "exec"), names)
            yield words, names[function.name]
        finally:
            setattr(owner, field, before)


def _changes(function: ast.FunctionDef) -> Iterator[tuple[str, ast.AST, str, Any]]:
    """Yield what to say, and the part of the tree, the field, and what to put there."""
    given = [argument.arg for argument in function.args.args]
    for owner in ast.walk(function):
        if isinstance(owner, ast.For):
            yield from _loops(function, owner)
    for one, other in itertools.combinations(range(len(given)), 2):
        places = {one: other, other: one}
        swapped = [function.args.args[places.get(n, n)] for n in range(len(given))]
        words = f"`{given[one]}` and `{given[other]}` have changed places."
        yield words, function.args, "args", swapped
    held = [slot for node in function.body for owner in _computing(node) for slot in slots(owner)]
    for forms in (_otherwise, _other_names, _more, _too_much):
        for owner, field, index, old in held:
            if isinstance(owner, ast.Call) and field == "func" and forms is not _other_names:
                continue
            if isinstance(owner, ast.Attribute) and owner.attr == "shape":
                continue
            for words, new in forms(old, given, function):
                now = getattr(owner, field)
                put = new if index is None else [*now[:index], new, *now[index + 1 :]]
                yield words, owner, field, put


def _computing(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and what is inside of it, without indices and counts: no words fit those."""
    yield node
    for child in ast.iter_child_nodes(node):
        counts = isinstance(child, ast.Call) and getattr(child.func, "id", "") in ("len", "range")
        if not counts and not isinstance(child, ast.Slice):
            yield from _computing(child)


def _loops(function: ast.FunctionDef, loop: ast.For) -> Iterator[tuple[str, ast.AST, str, Any]]:
    after = function.body[-1]
    if isinstance(after, ast.Return) and loop in function.body:
        told = "Your `return` stands inside the loop, so the loop ends on its first round."
        yield told, loop, "body", [*loop.body, after]
    for slices, words in (("[1:]", "leaves out its first round"),
                          ("[:-1]", "leaves out its last round"),
                          ("[::-1]", "runs backward")):  # fmt: skip
        new = _expression(f"list(x){slices}")
        new.value.args = [loop.iter]
        yield f"Your loop {words}.", loop, "iter", new


def _otherwise(
    old: ast.expr, given: list[str], function: ast.FunctionDef
) -> Iterator[tuple[str, ast.expr]]:
    """Yield an expression with another operation, or without it."""
    if isinstance(old, ast.BinOp):
        yield from _operations(old, given, function)
    elif isinstance(old, ast.Call):
        yield from _calls(old, given)
    elif isinstance(old, ast.UnaryOp) and isinstance(old.op, ast.Not | ast.USub):
        yield "Something is the wrong way around.", old.operand
    elif isinstance(old, ast.Compare):
        opposite = ast.UnaryOp(ast.Not(), old)
        yield "Your comparison is the wrong way around.", opposite


def _operations(
    old: ast.BinOp, given: list[str], function: ast.FunctionDef
) -> Iterator[tuple[str, ast.expr]]:
    kind = type(old.op)
    if kind in OPERATORS:
        for other, (done, _) in OPERATORS.items():
            if other is not kind:
                do, either = OPERATORS[kind][1], {kind, other} <= {ast.Add, ast.Mult}
                what = _shown(old.right, given) or (_shown(old.left, given) if either else "")
                words = f"You {done} {what} where you should {do} it."
                if not what:
                    plain = done.removesuffix(" by"), do.removesuffix(" by")
                    words = "In one place you {} where you should {}.".format(*plain)
                yield words, ast.BinOp(old.left, other(), old.right)
        for side, rest in ((old.right, old.left), (old.left, old.right)):
            yield _left_out(side, kind, given, function), rest
    if kind in SWAPPED:
        words = f"The two sides of a {SWAPPED[kind]} have changed places."
        yield words, ast.BinOp(old.right, old.op, old.left)
    if isinstance(old.op, ast.Div):
        yield "You dropped what stands behind the point (`//`).", changed(old, op=ast.FloorDiv())
    if isinstance(old.op, ast.Pow) and isinstance(old.right, ast.Constant):
        exponent: Any = old.right.value
        what = {0.5: "root", 2: "square"}.get(exponent, "power")
        yield f"A {what} is missing.", old.left
        words = f"There is no {what}, but a factor in its place."
        yield words, changed(old, op=ast.Mult())


def _left_out(
    part: ast.expr, kind: type[ast.operator], given: list[str], function: ast.FunctionDef
) -> str:
    """Say what is missing: by the arguments that only this part reads, if there are any."""
    inside = _read(part, given)
    alone = [name for name in given if inside.count(name) == _read(function, given).count(name) > 0]
    if isinstance(part, ast.Constant):
        alone = [str(part.value)]
    if alone:
        return f"{spoken([f'`{name}`' for name in alone])} {'are' if alone[1:] else 'is'} missing."
    if isinstance(part, ast.Call) and (what := _shown(part, given)):
        return f"{what[0].upper()}{what[1:]} is missing."
    return f"A {LEFT_OUT[kind]} is missing."


def _calls(old: ast.Call, given: list[str]) -> Iterator[tuple[str, ast.expr]]:
    is_method = isinstance(old.func, ast.Attribute)
    name = getattr(old.func, "attr", getattr(old.func, "id", ""))
    for family in FAMILIES[:3] if is_method else FAMILIES[3:]:
        for other, (done, _) in family.items() if name in family else ():
            do = family[name][1]
            if other != name and family[other][0] != family[name][0] and do:
                func = changed(old.func, attr=other) if is_method else ast.Name(other, ast.Load())
                yield f"You {done} where you should {do}.", changed(old, func=func)
    inner: Any = old.func.value if isinstance(old.func, ast.Attribute) else None
    if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
        first = inner.func.attr
        if {first, name} <= set(DONE_BY):
            below = changed(old, func=changed(old.func, value=inner.func.value))
            done = f"you {DONE_BY[name]} before you {DONE_BY[first]}"
            words = f"Two steps are in the wrong order: {done}."
            yield words, changed(inner, func=changed(inner.func, value=below))
    if is_method and name == "softmax":
        yield (
            "You took the sigmoid where you should take the softmax.",
            changed(old, func=changed(old.func, attr="sigmoid"), args=[], keywords=[]),
        )
    if is_method and name in DONE_BY and not old.args:
        yield f"In one place you didn't {_does(name)}.", old.func.value  # type: ignore[attr-defined]
    if name in given and len(old.args) == 1:
        yield f"In one place `{name}` isn't called.", old.args[0]
        yield f"`{name}` is called twice in a row.", changed(old, args=[old])
    axes = {"sum", "mean", "amax", "softmax", "norm", "cat"}
    for number, keyword in enumerate(old.keywords):
        kept = [*old.keywords[:number], *old.keywords[number + 1 :]]
        if keyword.arg == "keepdim":
            yield (
                "An axis is dropped that should stay (`keepdim=True`).",
                changed(old, keywords=kept),
            )
        if keyword.arg == "dim" and name in axes:
            for axis in _axes(keyword.value):
                new = changed(keyword, value=ast.Constant(axis))
                words = f"You {DONE_BY.get(name, 'worked')} over the wrong axis."
                yield words, changed(old, keywords=[*kept, new])
            if name in DONE_BY:
                words = f"You {DONE_BY[name]} over all axes together."
                yield words, changed(old, keywords=[k for k in kept if k.arg != "keepdim"])
    if is_method and name in axes and len(old.args) == 1:
        for axis in _axes(old.args[0]):
            words = f"You {DONE_BY.get(name, 'worked')} over the wrong axis."
            yield words, changed(old, args=[ast.Constant(axis)])


def _axes(right: ast.expr) -> list[int]:
    return [axis for axis in (-1, 0, 1, 2) if ast.unparse(right) != str(axis)]


def _does(name: str) -> str:
    return next(family[name][1] for family in FAMILIES if name in family) or name


def _other_names(
    old: ast.expr, given: list[str], function: ast.FunctionDef
) -> Iterator[tuple[str, ast.expr]]:
    """Yield another argument for an argument, and a number near a number."""
    if isinstance(old, ast.Name) and old.id in given:
        for other in given:
            if other != old.id:
                yield f"You used `{other}` where `{old.id}` belongs.", ast.Name(other, ast.Load())
    value: Any = old.value if isinstance(old, ast.Constant) else None
    if type(value) in (int, float):
        for number in sorted({value + 1, value - 1, 2 * value, value / 2, -value, 1} - {value}):
            words = f"There is {number:g} where {value:g} belongs."
            yield words, ast.Constant(number)


def _more(
    old: ast.expr, given: list[str], function: ast.FunctionDef
) -> Iterator[tuple[str, ast.expr]]:
    """Yield an expression with something done to it that doesn't belong there."""
    if not isinstance(old, ast.Name | ast.BinOp | ast.Call):
        return
    yield "A sign is the wrong way around.", ast.UnaryOp(ast.USub(), old)
    for call in MORE_CALLS:
        new = _expression(f"x.{call}")
        new.func.value = old
        yield f"You {DONE_BY[new.func.attr]} where nothing of the kind belongs.", new
    if isinstance(old, ast.Name) and old.id in given:
        yield f"You multiplied by `{old.id}` once more.", ast.BinOp(old, ast.Mult(), old)
        yield f"`{old.id}` counts twice.", ast.BinOp(old, ast.Add(), old)
        for code, words in OF_ONE.items():
            new = _expression(code)
            held = new if isinstance(new, ast.Subscript) else new.func
            held.value = old
            yield words.format(f"`{old.id}`"), new


def _too_much(
    old: ast.expr, given: list[str], function: ast.FunctionDef
) -> Iterator[tuple[str, ast.expr]]:
    """Yield an expression to which one more argument was added, or by which it was multiplied."""
    if isinstance(old, ast.Name | ast.BinOp | ast.Call):
        for name in given:
            if not (isinstance(old, ast.Name) and old.id == name):
                for operator in (ast.Add, ast.Mult):
                    words = f"You {OPERATORS[operator][0]} `{name}` where it doesn't belong."
                    yield words, ast.BinOp(old, operator(), ast.Name(name, ast.Load()))


def _shown(node: ast.expr, given: list[str]) -> str:
    """Name a part by the arguments of the exercise; empty if that would show the answer."""
    if isinstance(node, ast.Name) and node.id in given:
        return f"`{node.id}`"
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in given:
        return f"what `{node.func.id}` returns"  # type: ignore[attr-defined]
    return ""


def _read(node: ast.AST, given: list[str]) -> list[str]:
    """List the arguments that are read inside of a part."""
    return [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in given]


def _expression(source: str) -> Any:
    return ast.parse(source, mode="eval").body
