"""Call somebody's layer: find out what it takes, and put numbers into its γ and β."""

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy
import torch
from torch import Tensor, nn

from lnorm_utils.words import spoken

__all__ = ["LETTERS", "Subject", "shape_of"]

LETTERS = {"weight": "γ", "bias": "β"}
ROLES = {
    "weight": ("weight", "gamma", "scale", "g", "w", "a_2", "γ", "gain", "a", "alpha"),
    "bias": ("bias", "beta", "shift", "b", "b_2", "β", "offset"),
    "eps": ("eps", "epsilon", "variance_epsilon", "ε", "variance_eps", "e", "norm_eps"),
    "shape": ("normalized_shape", "shape", "input_shape", "norm_shape"),
    "both": ("params", "parameters", "weights", "affine"),  # a tuple of γ and β
}
VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Subject:
    """A function, a module, or another callable object, as something to call with x, γ, β, and ε.

    Args:
        layer: a function of x, or of x and of arguments named like γ, β, ε, or an object that
            holds γ and β as tensors.

    Raises:
        TypeError: it can't be called, or has arguments that nobody can fill in.
    """

    def __init__(self, layer: Any) -> None:
        if isinstance(layer, type) or not callable(layer):
            kind = "the class" if isinstance(layer, type) else "a"
            name = getattr(layer, "__name__", type(layer).__name__)
            raise TypeError(
                "diagnose takes a function, a module such as nn.LayerNorm(8), or two arrays, but "
                f"{kind} {name} was given."
            )
        self.layer = layer
        self.is_module = isinstance(layer, nn.Module)
        self.held = {} if inspect.isroutine(layer) else _held(layer)
        self.takes = {} if self.is_module else _arguments(layer)
        self.axes = 1  # how many its γ has
        self.channels_first = False  # whether its features are axis 1, and not the last one
        self.returns = 1  # how many things
        self.own_eps = ""  # the attribute with the ε that it uses, if that's known
        self._copies: dict[tuple, Any] = {}

    def fresh(self) -> "Subject":
        """Return it as it was before any call."""
        other = copy.copy(self)
        other._copies = {}
        return other

    def find_eps(self, eps: float) -> None:
        """Look for the attribute of an object with this ε."""
        mine = {} if inspect.isroutine(self.layer) else vars(self.layer)
        names = [name for name in mine if name.lower() in ROLES["eps"] and mine[name] == eps]
        self.own_eps = names[0] if len(names) == 1 else ""

    def has(self, role: str) -> bool:
        """Whether it takes, or holds, "weight" or "bias"."""
        return role in self.held or not {role, "both"}.isdisjoint(self.takes)

    def copy(self, dtype: torch.dtype, weight: Any, bias: Any, mode: bool = False) -> Any:
        """Return the copy in a dtype and a mode, with γ and β put into it; or the function."""
        if inspect.isroutine(self.layer):
            return self.layer
        key = dtype, id(weight), id(bias), mode
        if key not in self._copies:
            mine = copy.deepcopy(self.layer)
            if self.is_module:
                mine.to("cpu", dtype).train(mode)
            values = {self.held.get("weight"): weight, self.held.get("bias"): bias}
            for name, tensor in _tensors(mine).items():
                value = values.get(name)
                if value is not None and tensor.numel() == 1:
                    value = value.flatten()[:1]
                if value is None or value.numel() != tensor.numel():
                    value = tensor
                if tensor.is_floating_point():
                    tensor.data = value.detach().reshape(tensor.shape).to(dtype).clone()
            self._copies[key] = mine, weight, bias  # which keeps their ids from being used again
        return self._copies[key][0]

    def call(self, x: Tensor, weight: Any, bias: Any, eps: float, mode: bool = False) -> Tensor:
        """Call it, a module in `train` if `mode`, with x itself, which it may change.

        Raises:
            TypeError: it returns none.
            Exception: whatever it raises.
        """
        layer = self.copy(x.dtype, weight, bias, mode)
        if self.own_eps:
            setattr(layer, self.own_eps, eps)
        weight, bias = (p if p is None else p.to(x.dtype) for p in (weight, bias))
        values = {"weight": weight, "bias": bias, "eps": eps, "both": (weight, bias)}
        values["shape"] = tuple(x.shape[-self.axes :])
        places = [values[role] for role, name in self.takes.items() if not name]
        names = {name: values[role] for role, name in self.takes.items() if name}
        y = layer(x.movedim(-1, 1).contiguous() if self.channels_first else x, *places, **names)
        if isinstance(y, tuple) and y:
            self.returns, y = len(y), y[0]
        y = torch.from_numpy(y) if isinstance(y, numpy.ndarray) else y
        if not isinstance(y, Tensor):
            raise TypeError(f"it returned a {type(y).__name__}, and not a tensor")
        return y.movedim(1, -1) if self.channels_first and y.ndim == x.ndim else y

    def tensor(self, path: str) -> Tensor:
        """Return the tensor that it holds under a name."""
        return _tensors(self.layer)[path]

    def kept(self) -> list[str]:
        """Name the tensors, numbers, and dicts besides γ and β that calls have changed."""
        before = _state(self.layer)
        after = (state for each, *_ in self._copies.values() for state in _state(each).items())
        changed = (
            name
            for name, value in after
            if name not in (*self.held.values(), self.own_eps)
            and not (name in before and torch.allclose(before[name], value, equal_nan=True))
        )
        return [*dict.fromkeys(changed)]


def shape_of(layer: object) -> tuple[int, ...] | None:
    """Return the shape that γ has, as far as a layer tells."""
    shape = getattr(layer, "normalized_shape", None)
    if shape is not None or inspect.isroutine(layer):
        return (shape,) if isinstance(shape, int) else shape and tuple(shape)
    tensors = _tensors(layer)
    held = [tensors[name] for name in _held(layer).values()]
    for some, axes in ((held, 9), (tensors.values(), 1)):
        shapes = [tuple(n for n in t.shape if n > 1)[-axes:] for t in some if t.numel() > 1]
        if shapes:
            return max(shapes, key=len)
    return None


def _tensors(layer: Any) -> dict[str, Tensor]:
    """Return the tensors of an object, with their names; those in lists have a number behind."""
    found: dict[str, Any] = {}
    if isinstance(layer, nn.Module):
        found = {**layer.state_dict(keep_vars=True), **dict(layer.named_buffers())}
    for name, value in getattr(layer, "__dict__", {}).items():
        inner = enumerate(value) if isinstance(value, tuple | list) else ()
        found |= {name: value, **{f"{name}.{key}": each for key, each in inner}}
    return {name: each for name, each in found.items() if isinstance(each, Tensor)}


def _state(layer: Any) -> dict[str, Tensor]:
    """Return tensors, numbers, and how many things are in dicts and lists."""
    mine = {n: v for n, v in vars(layer).items() if n[:1] != "_" and n != "training"}
    mine = {n: len(v) if isinstance(v, dict | list) else v for n, v in mine.items()}
    numbers = {n: torch.as_tensor(v) for n, v in mine.items() if isinstance(v, int | float)}
    return {n: t.double() for n, t in {**_tensors(layer), **numbers}.items()}


def _held(layer: object) -> dict[str, str]:
    """Return under which names an object holds γ and β: by their names, or by how they begin."""
    tensors = {n: t for n, t in _tensors(layer).items() if t.numel() and "running" not in n}
    held: dict[str, str] = {}
    for role in LETTERS:
        names = [n for n in tensors if n.rpartition(".")[2].lower() in ROLES[role]]
        if len(names) == 1:
            held[role] = names[0]
    others = {n: t for n, t in tensors.items() if n not in held.values()}
    if isinstance(layer, nn.Module):
        others = {n: t for n, t in others.items() if isinstance(t, nn.Parameter)}
    is_one_of_both = len(others) == 1 and next(iter(others.values())).shape[:1] == (2,)
    if len(tensors) <= 2 and not is_one_of_both:
        for name, tensor in others.items():
            start = "weight" if tensor.any() else "bias"
            held[start if start not in held else ({*LETTERS} - {*held}).pop()] = name
    return held


def _arguments(layer: Callable) -> dict[str, str]:
    """Return role -> name of the argument; an empty one, if it goes in by its place."""
    try:
        parameters = list(inspect.signature(layer).parameters.values())
    except (TypeError, ValueError):  # some functions of PyTorch don't tell
        return {}
    found: dict[str, str] = {}
    unknown = []
    # γ may be called w or a, but the first argument is always x, unless it goes in by its name.
    is_named = parameters[:1] and parameters[0].kind is inspect.Parameter.KEYWORD_ONLY
    for each in parameters[0 if is_named else 1 :]:
        if each.kind in VARIADIC:
            continue
        role = next((r for r, names in ROLES.items() if each.name.lower() in names), "")
        if role and role not in found:
            found[role] = each.name * (each.kind is not inspect.Parameter.POSITIONAL_ONLY)
        elif each.default is each.empty:
            unknown.append(f"`{each.name}`")
    if unknown:
        raise TypeError(
            f"diagnose can't tell what goes in as {spoken(unknown)}: give a function of x, or of "
            "x, weight, bias, eps, for example `lambda x: yours(x, ...)`."
        )
    return found
