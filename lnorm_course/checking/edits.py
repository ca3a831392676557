"""Change one thing in the syntax tree of a function, in many ways that people write it otherwise.

An edit puts something else where one thing stood: another operator, number, name, or argument, a
call more or less, a statement out of a loop. It doesn't know which of them is right. If one is, its
words say what was done in its place, and never what the right code is.
"""

import ast
import itertools
import math
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = ["Edit", "Function", "changed", "edits", "expression", "slots"]

OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.MatMult, ast.FloorDiv)
COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
NUMBERS = (0, 1, -1, 2, 0.5, 1e-5, math.inf)
# Functions and methods that are taken for each other.
FAMILIES = (
    ("mean", "sum", "amax", "max", "min", "norm", "cumsum", "std", "var"),
    ("sqrt", "square", "rsqrt", "abs", "exp", "log"),
    ("all", "any"),
    ("triu", "tril"),
    ("ones", "zeros"),
    ("ones_like", "zeros_like"),
    ("view", "reshape"),
    ("transpose", "permute"),
    ("cat", "stack"),
)
# What operators, functions, and methods do: in the past, and as it's asked for.
DONE: dict[object, tuple[str, str]] = {
    ast.Add: ("added", "add"),
    ast.Sub: ("subtracted", "subtract"),
    ast.Mult: ("multiplied", "multiply"),
    ast.Div: ("divided", "divide"),
    "mean": ("averaged", "average"),
    "sum": ("added up", "add up"),
    "amax": ("took the largest", "take the largest"),
    "max": ("took the largest", "take the largest"),
    "min": ("took the smallest", "take the smallest"),
    "norm": ("took the length", "take the length"),
    "std": ("took the standard deviation", "take the standard deviation"),
    "var": ("took the variance", "take the variance"),
    "abs": ("took the absolute value", "take the absolute value"),
    "square": ("squared", "square"),
    "sqrt": ("took the root", "take the root"),
}
SWAPPED = {ast.Sub: "subtraction", ast.Div: "division", ast.MatMult: "product with `@`"}
OVER_AN_AXIS = {*FAMILIES[0], "all", "any", "softmax", "log_softmax"}
MORE_CALLS = ("sqrt()", "square()", "abs()", "mT", "unsqueeze(-1)", "mean(-1, keepdim=True)")
MORE_ARGUMENTS = ("-1", "0", "keepdim=True", "unbiased=False")
# Parts of a source that say something when they're shown alone; a name or a number doesn't.
SHOWN = ast.stmt | ast.BinOp | ast.Call | ast.Compare | ast.Subscript | ast.BoolOp | ast.IfExp
NOT_CHANGED = ast.Raise | ast.Assert | ast.JoinedStr | ast.arguments
LOAD = ast.Load()
Function = ast.FunctionDef | ast.Lambda


class Edit(NamedTuple):
    """One thing that is changed, by `setattr(owner, field, new)`.

    Args:
        place: the smallest part of the source around it that says something.
        owner, field: the part of the tree that holds it, and under which name.
        new: what to put there.
        words: what was done, if only this makes it right; empty if no words fit.
    """

    place: ast.AST
    owner: ast.AST
    field: str
    new: Any
    words: str


def edits(function: Function) -> Iterator[Edit]:
    """Yield the edits of a function's body: first those of statements, last another call."""
    inside = list(_inside(function))
    parents = {child: node for node in inside for child in ast.iter_child_nodes(node)}
    for node in inside:
        for field in ("body", "orelse"):
            if isinstance(statements := getattr(node, field, None), list):
                for statement, others in _of_statements(statements):
                    yield Edit(statement, node, field, others, "")
    held = [slot for node in inside for slot in slots(node)]
    names, called = _names(inside), _called(inside)
    read = Counter(old.id for *_, old in held if isinstance(old, ast.Name))
    for forms in (_other_forms, _other_names, _more_calls):
        for owner, field, index, old in held:
            place: ast.AST = old
            if _is_called(old, owner) or not isinstance(old, ast.Attribute):
                while not isinstance(place, SHOWN) and parents[place] is not function:
                    place = parents[place]
            for new in forms(old, owner, names, called):
                now = getattr(owner, field)
                put = new if index is None else [*now[:index], new, *now[index + 1 :]]
                yield Edit(place, owner, field, put, _words(old, new, read))


def _words(old: ast.expr, new: ast.expr, read: Counter[str]) -> str:
    """Say what was done if the new expression is right; empty if no words fit.

    Args:
        old, new: what stands there, and what stands there once it's edited.
        read: how often each name is read. One that is read nowhere else has its use there.
    """
    match old, new:
        case ast.Name(), ast.Name() if read[old.id] > 1:
            return f"You used `{old.id}` where another name belongs."
        case ast.BinOp(), ast.BinOp() if old.left is new.left and old.right is new.right:
            return _instead_of(type(old.op), type(new.op))
        case ast.BinOp(), ast.BinOp() if old.left is new.right and type(old.op) in SWAPPED:
            return f"The two sides of a {SWAPPED[type(old.op)]} have changed places."
        case ast.Call(func=ast.Attribute() as was), ast.Call(func=ast.Attribute() as becomes):
            if was.value is becomes.value and was.attr != becomes.attr:
                return _instead_of(was.attr, becomes.attr)
    return ""


def _instead_of(was: object, becomes: object) -> str:
    if was not in DONE or becomes not in DONE or DONE[was] == DONE[becomes]:
        return ""
    return f"You {DONE[was][0]} where you should {DONE[becomes][1]}."


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and what is inside of it, without what is never changed."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, NOT_CHANGED):
            yield from _inside(child)


def slots(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.expr]]:
    """Yield each expression that a node holds and that is read: owner, field, index, expression."""
    for field, value in ast.iter_fields(node):
        if field in ("decorator_list", "returns", "annotation"):
            continue
        for index, each in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(each, ast.expr) and isinstance(getattr(each, "ctx", LOAD), ast.Load):
                yield node, field, index, each


def _names(inside: list[ast.AST]) -> list[str]:
    """Name a function's arguments and what it assigns, and those of the functions inside."""
    arguments = [n.args for n in inside if isinstance(n, Function)]
    given = [a.arg for each in arguments for a in (*each.posonlyargs, *each.args, *each.kwonlyargs)]
    stored = (n for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return list(dict.fromkeys([*given, *(name.id for name in stored)]))


def _called(inside: list[ast.AST]) -> list[str]:
    """Name what is called with one argument by its name alone, such as `f` and `norm`."""
    calls = (n for n in inside if isinstance(n, ast.Call) and len(n.args) == 1)
    return list(dict.fromkeys(n.func.id for n in calls if isinstance(n.func, ast.Name)))


def _of_statements(statements: list[ast.stmt]) -> Iterator[tuple[ast.stmt, list[ast.stmt]]]:
    """Yield the place and the statements for each edit of a list of statements."""
    for number, each in enumerate(statements):
        before, after = statements[:number], statements[number + 1 :]
        for new in _instead(each):
            yield each, [*before, *new, *after] or [ast.Pass()]
        if isinstance(each, ast.For):
            first, last = each.body[0], each.body[-1]
            yield last, [*before, changed(each, body=each.body[:-1] or [ast.Pass()]), last, *after]
            yield first, [*before, first, changed(each, body=each.body[1:] or [ast.Pass()]), *after]
            if after:
                longer = changed(each, body=[*each.body, after[0]])
                yield after[0], [*before, longer, *after[1:]]
        if after and not isinstance(each, ast.FunctionDef):
            yield each, [*before, after[0], each, *after[1:]]


def _instead(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yield what can stand in the place of a statement."""
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr):
        yield []
    if isinstance(statement, ast.AugAssign):
        yield [ast.Assign([statement.target], statement.value)]
        yield from ([changed(statement, op=op())] for op in OPERATORS)
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
        if isinstance(target, ast.Name | ast.Subscript) and len(statement.targets) == 1:
            yield [ast.AugAssign(target, ast.Add(), statement.value)]
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        of = getattr(statement.value.func, "value", None)
        if isinstance(of, ast.Name):
            yield [ast.Assign([ast.Name(of.id, ast.Store())], statement.value)]


def _other_forms(
    old: ast.expr, owner: ast.AST, names: list[str], called: list[str]
) -> Iterator[ast.expr]:
    """Yield an expression with another operator, number, argument or slice, or a call less."""
    match old:
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield from _numbers(value)
        case ast.UnaryOp():
            yield old.operand
        case ast.BinOp():
            yield from _operations(old)
        case ast.Compare(ops=[_]):
            yield from (changed(old, ops=[op()]) for op in COMPARISONS)
            yield ast.UnaryOp(ast.Not(), old)
        case ast.BoolOp():
            yield changed(old, op=ast.And() if isinstance(old.op, ast.Or) else ast.Or())
            yield from old.values
        case ast.IfExp():
            yield from (old.body, old.orelse, changed(old, body=old.orelse, orelse=old.body))
        case ast.Attribute() if not _is_called(old, owner):
            yield from (old.value, changed(old, attr="mT"))
        case ast.Subscript():
            yield old.value
        case ast.Slice(lower=low, upper=up):
            yield from (changed(old, lower=None), changed(old, upper=None))
            if low and up:
                yield changed(old, upper=ast.BinOp(low, ast.Add(), up))
        case ast.Call():
            yield from _calls(old)


def _is_called(old: ast.expr, owner: ast.AST) -> bool:
    return isinstance(owner, ast.Call) and owner.func is old


def _numbers(value: float) -> Iterator[ast.expr]:
    near = (value + 1, value - 1) if isinstance(value, int) else (2 * value, value / 2)
    for number in dict.fromkeys((-value, *near, *NUMBERS)):
        size = ast.Constant(abs(number))
        if number != value:
            yield ast.UnaryOp(ast.USub(), size) if number < 0 else size


def _operations(old: ast.BinOp) -> Iterator[ast.expr]:
    """Yield an operation with its sides swapped, another operator or parentheses, or one side."""
    yield changed(old, left=old.right, right=old.left)
    ops = (*OPERATORS, ast.Pow) if isinstance(old.right, ast.Constant) else OPERATORS
    yield from (changed(old, op=op()) for op in ops if not isinstance(old.op, op))
    if isinstance(left := old.left, ast.BinOp):
        yield changed(left, right=changed(old, left=left.right))
        yield changed(left, right=changed(old, left=left.right, op=ast.Pow()))
    if isinstance(right := old.right, ast.BinOp):
        yield changed(right, left=changed(old, right=right.left))
    yield from (old.left, old.right)


def _calls(old: ast.Call) -> Iterator[ast.expr]:
    """Yield a call with other arguments or of another method, and what it was called with."""
    name = old.func.attr if isinstance(old.func, ast.Attribute) else ""
    for method in (n for family in FAMILIES if name in family for n in family if n != name):
        yield changed(old, func=changed(old.func, attr=method))
    for kind, held in (("args", old.args), ("keywords", old.keywords)):
        yield from (changed(old, **{kind: [*held[:n], *held[n + 1 :]]}) for n in range(len(held)))
    for one, other in itertools.combinations(range(len(old.args)), 2):
        swapped = list(old.args)
        swapped[one], swapped[other] = swapped[other], swapped[one]
        yield changed(old, args=swapped)
    if name in OVER_AN_AXIS:
        given = {keyword.arg for keyword in old.keywords}
        for more in (expression(f"f({more})") for more in MORE_ARGUMENTS):
            if not given & {keyword.arg for keyword in more.keywords}:
                args, keywords = [*old.args, *more.args], [*old.keywords, *more.keywords]
                yield changed(old, args=args, keywords=keywords)
    yield from (each for each in old.args if not isinstance(each, ast.Starred))
    if isinstance(old.func, ast.Attribute):
        yield old.func.value
    if isinstance(old.func, ast.Name) and old.func.id == "len" and len(old.args) == 1:
        yield changed(expression("x.shape[-1]"), value=ast.Attribute(old.args[0], "shape", LOAD))


def _other_names(
    old: ast.expr, owner: ast.AST, names: list[str], called: list[str]
) -> Iterator[ast.expr]:
    """Yield other names for a name or a number."""
    name = old.id if isinstance(old, ast.Name) else None
    if name or isinstance(old, ast.Constant):
        others = called if _is_called(old, owner) else names
        yield from (ast.Name(other, LOAD) for other in others if other != name)


def _more_calls(
    old: ast.expr, owner: ast.AST, names: list[str], called: list[str]
) -> Iterator[ast.expr]:
    """Yield an expression with one more call around it, or with the other sign."""
    is_any = isinstance(old, ast.Name | ast.BinOp | ast.Call | ast.Subscript)
    if not is_any or _is_called(old, owner):
        return
    if not _has_its_sign(old, owner):
        yield ast.UnaryOp(ast.USub(), old)
    yield from (ast.Call(ast.Name(name, LOAD), [old], []) for name in called)
    for more in MORE_CALLS:
        call = expression(f"x.{more}")
        attribute: Any = call.func if isinstance(call, ast.Call) else call
        attribute.value = old
        yield call


def _has_its_sign(old: ast.expr, owner: ast.AST) -> bool:
    """Tell whether another operator, or swapped sides, give an expression its other sign, too."""
    if isinstance(owner, ast.BinOp) and isinstance(owner.op, ast.Add | ast.Sub):
        return owner.right is old
    return isinstance(old, ast.BinOp) and isinstance(old.op, ast.Sub)


def changed(node: Any, **changes: Any) -> Any:
    """Copy a node of a syntax tree, with other values in some of its fields."""
    return type(node)(**{**vars(node), **changes})


def expression(source: str) -> Any:
    """Parse an expression."""
    return ast.parse(source, mode="eval").body
