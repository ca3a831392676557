"""Find the place of a mistake that nothing names, in the student's own source.

One thing is changed in it at a time, and each edited version runs on the inputs. If only one place
can be changed so that all results become right, that is where the mistake is. What is told is the
place, and what was done there if all such edits say the same, but never the right code.

The edited versions run under the same limits as the attempt. They are new functions, made from the
student's one and from a copy of what it reads; nothing else of the student's runs again.
"""

import ast
import copy
import functools
import sys
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from types import FrameType, FunctionType
from typing import Any, NamedTuple

import numpy
import torch

from lnorm_course.checking import running
from lnorm_course.checking.edits import Edit, Function, edits
from lnorm_course.checking.own_source import alone, cell, parsed

__all__ = ["Spot", "place"]

# They limit the work and not the time, so that what is told doesn't depend on the machine.
MOST_EDITS = 500
MOST_STEPS = 15_000  # lines of the student's, and calls, in all edited versions together
LONGEST = 80  # characters of a place
CHANGEABLE = torch.Tensor | torch.nn.Module | numpy.ndarray | list | dict | set


class Spot(NamedTuple):
    """A part of a source that alone has to be changed, and what was done there, if that's sure."""

    source: str
    words: str


def place(
    attempt: object,
    inputs: Sequence[tuple],
    is_right: Callable[[int, object], bool],
    use_class: Callable | None = None,
    without: Collection[str] = (),
) -> Spot | None:
    """Return the part of an attempt's source that alone has to be changed; None if none is known.

    Args:
        attempt: a function that was written in a cell, or a class with such a `forward`.
        inputs: the arguments of each call.
        is_right: (number of the input, result) -> whether it's the right one.
        use_class: for an attempt that is a class, the function to call with it and each input.
        without: functions that the attempt must not call, as for `running.results`.
    """
    written = vars(attempt).get("forward") if issubclass(type(attempt), type) else attempt
    if type(written) is not FunctionType or not (function := parsed(written)):
        return None
    if _goes_on(function):
        return None
    versions = _Versions(attempt, written, alone(function), inputs, is_right, use_class, without)
    kept = dict(written.__globals__)
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fitting = versions.fitting(function)
        finally:
            _restore(written.__globals__, kept)
    places = [edit.place for edit in fitting]
    around = [p for p in places if all(other in ast.walk(p) for other in places)]
    if not around:
        return None
    words = {edit.words for edit in fitting}
    source = _shown("".join(cell(written.__code__)), function, around[0])
    return Spot(source, words.pop() if versions.are_all and len(words) == 1 else "")


def _goes_on(function: Function) -> bool:
    """Tell whether a function could go on when it has to end, or print what can't be caught."""
    for node in ast.walk(function):
        kind = node.type if isinstance(node, ast.ExceptHandler) else node
        if kind is None or (isinstance(kind, ast.Name) and kind.id == "BaseException"):
            return True
        if isinstance(node, ast.Attribute) and node.attr == "lstsq":  # its library prints
            return True
    return False


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


@dataclass
class _Versions:
    """Edited versions of an attempt. For the other arguments see `place`.

    Args:
        written: the student's function.
        module: its tree, which edits change.
        steps: how many steps all versions have made.
        most: how many one call may make.
        are_all: whether all edits were tried.
    """

    attempt: object
    written: FunctionType
    module: ast.Module
    inputs: Sequence[tuple]
    is_right: Callable[[int, object], bool]
    use_class: Callable | None
    without: Collection[str]
    steps: int = 0
    most: int = MOST_STEPS
    are_all: bool = True

    def fitting(self, function: Function) -> list[Edit]:
        """Return the edits that make the attempt right; none if it can't run alone."""
        fitting: list[Edit] = []
        if self.is_right_now() or self.steps > MOST_STEPS // 3:
            return fitting
        self.most, self.steps = 3 * self.steps + 200, 0
        for number, edit in enumerate(list(edits(function))):
            if number == MOST_EDITS or self.steps > MOST_STEPS:
                self.are_all = False
                break
            before = getattr(edit.owner, edit.field)
            setattr(edit.owner, edit.field, edit.new)
            if self.is_right_now():
                fitting.append(edit)
            setattr(edit.owner, edit.field, before)
        return fitting

    def is_right_now(self) -> bool:
        """Tell whether the attempt, as its tree is now, is right for all inputs."""
        try:
            made = self._version()
        except Exception:  # what is edited isn't always a program, and not all can be copied
            return False
        use = functools.partial(self._counted, self.use_class) if self.use_class else None
        for number, arguments in enumerate(self.inputs):
            values = running.results(made, [arguments], use, without=self.without).values
            if not values or not self.is_right(number, values[0]):
                return False
        return True

    def _version(self) -> Callable:
        """Return the attempt as the tree is now, which reads copies of what the student has."""
        own = self.written
        names = {**own.__globals__}
        for name, held in zip(own.__code__.co_freevars, own.__closure__ or (), strict=True):
            names[name] = held.cell_contents
        read = {node.id for node in ast.walk(self.module) if isinstance(node, ast.Name)}
        changeable = {n: names[n] for n in read & names.keys() if isinstance(names[n], CHANGEABLE)}
        names |= copy.deepcopy(changeable)
        tree = ast.fix_missing_locations(self.module)
        exec(compile(tree, own.__code__.co_filename, "exec", dont_inherit=True), names)
        new = names[own.__code__.co_name]
        new.__defaults__, new.__kwdefaults__ = own.__defaults__, own.__kwdefaults__
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


def _restore(names: dict, kept: dict) -> None:
    """Put back what a helper that was called has changed in the notebook."""
    if names.keys() != kept.keys() or any(names[name] is not kept[name] for name in kept):
        names.clear()
        names.update(kept)
