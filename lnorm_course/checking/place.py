"""Find the place of a mistake that nothing names, in the student's own source.

One thing is changed in it at a time, and each edited version runs on the inputs. If only one place
can be changed so that all results become right, that is where the mistake is. What is told is the
place and never the change, so the rest is left to the student.

The edited versions run under the same limits as the attempt. They are new functions, made from the
student's one and from a copy of what it reads; nothing else of the student's runs again.
"""

import ast
import contextlib
import copy
import functools
import itertools
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from types import CellType, CodeType, FrameType, FunctionType
from typing import Any

import numpy
import torch

from lnorm_course.checking import running
from lnorm_course.checking.edits import Edit, Function, edits
from lnorm_course.checking.own_source import cell, compiled, parsed

__all__ = ["place"]

# They limit the work and not the time, so that what is told doesn't depend on the machine.
MOST_EDITS = 500
MOST_STEPS = 15_000  # lines of the student's, and calls, in all edited versions together
LONGEST = 80  # characters of a place
CHANGEABLE = torch.Tensor | torch.nn.Module | numpy.ndarray | list | dict | set


def place(
    attempt: object,
    inputs: Sequence[tuple],
    is_right: Callable[[int, object], bool],
    use_class: Callable | None = None,
    without: Collection[str] = (),
) -> str:
    """Return the part of an attempt's source that alone has to be changed; empty if none is known.

    Args:
        attempt: a function that was written in a cell, or a class with such a `forward`.
        inputs: the arguments of each call.
        is_right: (number of the input, result) -> whether it's the right one.
        use_class: for an attempt that is a class, the function to call with it and each input.
        without: functions that the attempt must not call, as for `running.results`.
    """
    written = vars(attempt).get("forward") if issubclass(type(attempt), type) else attempt
    if type(written) is not FunctionType or not (found := parsed(written)):
        return ""
    runs = _Runs(attempt, written, inputs, is_right, use_class, without)
    kept = dict(written.__globals__)
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            places = _places(*found, runs)
        finally:
            _restore(written.__globals__, kept)
    around = [p for p in places if all(other in ast.walk(p) for other in places)]
    source = "".join(cell(written.__code__))
    return _shown(source, found[1], around[0]) if around else ""


def _shown(source: str, function: Function, node: ast.AST) -> str:
    """Return the source of a node; of one around it if it stands there more than once."""
    parents = {child: each for each in ast.walk(function) for child in ast.iter_child_nodes(each)}
    whole = ast.get_source_segment(source, function) or ""
    text = ast.get_source_segment(source, node) or ""
    while whole.count(text) > 1 and not isinstance(node, ast.stmt) and node in parents:
        node = parents[node]
        text = ast.get_source_segment(source, node) or text
    if isinstance(node, ast.For | ast.If | ast.While | ast.With | ast.FunctionDef):
        text = text.partition("\n")[0]
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _places(module: ast.Module, function: Function, runs: "_Runs") -> list[ast.AST]:
    """Return the places of all edits that make the function right."""
    places: list[ast.AST] = []
    if not runs.start(compiled(module, runs.written.__code__)):
        return places
    for edit in itertools.islice(list(edits(function)), MOST_EDITS):
        if runs.are_over():
            break
        if edit.place in places:
            continue
        with _made(edit), contextlib.suppress(SyntaxError, ValueError, StopIteration):
            if runs.are_right(compiled(module, runs.written.__code__)):
                places.append(edit.place)
    return places


@contextlib.contextmanager
def _made(edit: Edit) -> Iterator[None]:
    """Make an edit, and take it back."""
    before = getattr(edit.owner, edit.field)
    for node in edit.new if isinstance(edit.new, list) else [edit.new]:
        ast.fix_missing_locations(node)
    setattr(edit.owner, edit.field, edit.new)
    try:
        yield
    finally:
        setattr(edit.owner, edit.field, before)


class _Runs:
    """Runs of edited versions of one attempt. For the arguments see `place`."""

    def __init__(
        self,
        attempt: object,
        written: FunctionType,
        inputs: Sequence[tuple],
        is_right: Callable[[int, object], bool],
        use_class: Callable | None,
        without: Collection[str],
    ) -> None:
        self.attempt, self.written = attempt, written
        self.inputs, self.is_right = inputs, is_right
        self.use_class, self.without = use_class, without
        self.order = list(range(len(inputs)))
        self.steps, self.most = 0, MOST_STEPS

    def start(self, code: CodeType) -> bool:
        """Run the attempt itself; tell whether edited versions of it can run."""
        try:
            made = self._version(code)
        except Exception:  # a value that can't be copied, or a metaclass
            return False
        right = [self._is_right(made, number) for number in self.order]
        self.order.sort(key=right.__getitem__)  # most edited versions stay wrong where it is wrong
        self.most, self.steps = 3 * self.steps + 200, 0
        return not all(right) and self.most < MOST_STEPS

    def are_over(self) -> bool:
        """Tell whether the edited versions have made too many steps."""
        return self.steps > MOST_STEPS

    def are_right(self, code: CodeType) -> bool:
        """Tell whether a version of the function is right for all inputs."""
        made = self._version(code)
        if not all(self._is_right(made, number) for number in self.order):
            return False
        # To watch what is called is slow, so it comes last.
        return not self.without or all(self._is_right(made, n, self.without) for n in self.order)

    def _is_right(self, made: Callable, number: int, without: Collection[str] = ()) -> bool:
        given = [self.inputs[number]]
        use = functools.partial(self._counted, self.use_class) if self.use_class else None
        values = running.results(made, given, use, without=without).values
        return len(values) == 1 and self.is_right(number, values[0])

    def _version(self, code: CodeType) -> Callable:
        """Return the attempt with other code, which reads copies of what the student has."""
        own = self.written
        read = {**own.__globals__}
        for name in _names_in(code):
            if name in read:
                read[name] = _copied(read[name])
        held = dict(zip(own.__code__.co_freevars, own.__closure__ or (), strict=True))
        cells = tuple(_new_cell(name, held[name]) for name in code.co_freevars)
        new = FunctionType(code, read, own.__name__, own.__defaults__, cells)
        new.__kwdefaults__ = own.__kwdefaults__
        if read.get(own.__name__) is own:
            read[own.__name__] = new
        if issubclass(type(self.attempt), type):
            student: Any = self.attempt
            return functools.partial(type(student)(student.__name__, (student,), {"forward": new}))
        return functools.partial(self._counted, new)

    def _counted(self, function: Callable, *arguments: object) -> object:
        """Call a function and count its steps; None if it fails, or makes too many."""
        until = self.steps + self.most

        def count(frame: FrameType, event: str, value: object) -> Callable | None:
            self.steps += 1
            if not cell(frame.f_code):
                return None
            if self.steps > until:  # raised in the student's code only, so nothing else breaks off
                raise _TooManyError
            return count

        before = sys.gettrace()
        sys.settrace(count)
        try:
            return function(*arguments)
        except (Exception, _TooManyError):
            return None
        finally:
            sys.settrace(before)


class _TooManyError(BaseException):
    """Raised in a version that makes too many steps. `except Exception` doesn't catch it."""


def _names_in(code: CodeType) -> set[str]:
    """Name all that a function, and the functions inside of it, may read from around."""
    inside = (each for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*map(_names_in, inside))


def _copied(value: object) -> object:
    """Copy what a version of a function could change."""
    return copy.deepcopy(value) if isinstance(value, CHANGEABLE) else value


def _new_cell(name: str, old: CellType) -> CellType:
    """Copy a cell of a closure; `super` finds the class in the one of this name."""
    return old if name == "__class__" else CellType(_copied(old.cell_contents))


def _restore(names: dict, kept: dict) -> None:
    """Put back what a helper that was called has changed in the notebook."""
    if names.keys() != kept.keys() or any(names[name] is not kept[name] for name in kept):
        names.clear()
        names.update(kept)
