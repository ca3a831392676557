"""Call somebody's layer: find out what it takes, and put numbers into its γ and β."""

import copy
import inspect
from collections.abc import Callable, Sequence
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
    "eps": ("eps", "epsilon", "variance_epsilon", "ε", "variance_eps"),
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

    def __init__(self, layer: Callable) -> None:
        if isinstance(layer, type) or not callable(layer):
            given = f"the class {layer.__name__}" if isinstance(layer, type) else "a "
            given = given if isinstance(layer, type) else f"a {type(layer).__name__}"
            raise TypeError(
                "diagnose takes a function, a module such as nn.LayerNorm(8), or two arrays, but "
                f"{given} was given."
            )
        self.layer: Any = layer
        self.is_module = isinstance(layer, nn.Module)
        self.held = {} if inspect.isroutine(layer) else _held(layer)
        self.takes = {} if self.is_module else _arguments(layer)
        self.axes = 1  # how many its γ has
        self.channels_first = False  # whether its features are axis 1, and not the last one
        self.notes: dict[str, None] = {}
        self._copies: dict[tuple, Any] = {}

    def has(self, role: str) -> bool:
        """Whether it takes, or holds, "weight" or "bias"."""
        return role in self.held or not {role, "both"}.isdisjoint(self.takes)

    def copy(self, dtype: torch.dtype, weight: Any, bias: Any, is_training: bool) -> Any:
        """Return a copy in a dtype, with γ and β put into it; a function is returned itself."""
        if not self.is_module and not self.held:
            return self.layer
        key = dtype, id(weight), id(bias), is_training
        if key not in self._copies:
            mine = copy.deepcopy(self.layer)
            if self.is_module:
                mine.to("cpu", dtype).train(is_training)
            values = {self.held.get("weight"): weight, self.held.get("bias"): bias}
            for name, tensor in _tensors(mine).items():
                value = values.get(name)
                if value is not None and value.numel() != tensor.numel():
                    value = value.flatten()[:1] if tensor.numel() == 1 else None
                value = tensor if value is None else value.reshape(tensor.shape)
                if tensor.is_floating_point():
                    _put(mine, name.split("."), value.detach().to(dtype).clone())
            self._copies[key] = mine, weight, bias  # which keeps their ids from being used again
        return self._copies[key][0]

    def call(
        self, x: Tensor, weight: Any, bias: Any, eps: float, is_training: bool = False
    ) -> Tensor:
        """Call it with x itself, which it may change, and return a tensor.

        Raises:
            TypeError: it returns none.
            Exception: whatever it raises.
        """
        layer = self.copy(x.dtype, weight, bias, is_training)
        weight, bias = (p if p is None else p.to(x.dtype) for p in (weight, bias))
        values = {"weight": weight, "bias": bias, "eps": eps, "both": (weight, bias)}
        values["shape"] = tuple(x.shape[-self.axes :])
        names = {role: name for role, name in self.takes.items() if name}
        places = [values[role] for role, name in self.takes.items() if not name]
        given = x.movedim(-1, 1).contiguous() if self.channels_first else x
        y = layer(given, *places, **{name: values[role] for role, name in names.items()})
        if isinstance(y, tuple) and y:
            self.notes[f"It returns {len(y)} things; the first was compared."] = None
            y = y[0]
        y = torch.from_numpy(y) if isinstance(y, numpy.ndarray) else y
        if not isinstance(y, Tensor):
            raise TypeError(f"it returned a {type(y).__name__}, and not a tensor")
        return y.movedim(1, -1) if self.channels_first and y.ndim == x.ndim else y

    def tensor(self, path: str) -> Tensor:
        """Return the tensor that it holds under a name."""
        return _tensors(self.layer)[path]

    def kept(self) -> list[str]:
        """Name the tensors and numbers besides γ and β that calls have changed."""
        before = _state(self.layer)
        found: dict[str, None] = {}
        for each, *_ in self._copies.values():
            for name, value in _state(each).items():
                is_same = name in before and torch.allclose(before[name], value, equal_nan=True)
                if not is_same and name not in self.held.values():
                    found[name] = None
        return [*found]


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
    numbers = {n: v for n, v in vars(layer).items() if isinstance(v, int | float)}
    numbers.pop("training", None)
    return {n: torch.as_tensor(v).double() for n, v in {**_tensors(layer), **numbers}.items()}


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


def _put(layer: Any, path: Sequence[str], value: Tensor) -> None:
    """Put a tensor where an object holds one."""
    first, *rest = path
    at = getattr(layer, first)
    if rest and isinstance(at, tuple | list):
        setattr(layer, first, type(at)(value if str(n) == rest[0] else t for n, t in enumerate(at)))
    elif rest:
        _put(at, rest, value)
    elif isinstance(at, nn.Parameter):
        at.data = value
    else:
        setattr(layer, first, value.requires_grad_(at.requires_grad))


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
        role = next((r for r, names in ROLES.items() if each.name.lower() in names), "")
        if role and role not in found:
            found[role] = each.name * (each.kind is not inspect.Parameter.POSITIONAL_ONLY)
        elif each.default is each.empty and each.kind not in VARIADIC:
            unknown.append(f"`{each.name}`")
    if unknown:
        raise TypeError(
            f"diagnose can't tell what goes in as {spoken(unknown)}: give a function of x, or of "
            "x, weight, bias, eps, for example `lambda x: yours(x, ...)`."
        )
    return found
