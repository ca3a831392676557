"""Call somebody's layer: find out what it takes, and put numbers into its γ and β."""

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy
import torch
from torch import Tensor, nn

from lnorm_utils.words import spoken

__all__ = ["Subject", "shape_of"]

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
        shape: the sizes of γ, if they are known.

    Raises:
        TypeError: it can't be called, or has arguments that nobody can fill in.
    """

    def __init__(self, layer: Callable, shape: tuple[int, ...] | None = None) -> None:
        if isinstance(layer, type):
            raise TypeError(
                f"diagnose takes a layer, but the class {layer.__name__} was given: make one of "
                f"it first, for example {layer.__name__}(8)."
            )
        if not callable(layer):
            raise TypeError(
                "diagnose takes a function, a module, or two arrays, but a "
                f"{type(layer).__name__} was given."
            )
        self.layer: Any = layer
        self.shape = shape
        self.is_module = isinstance(layer, nn.Module)
        self.held = {} if inspect.isroutine(layer) else _held(layer)
        self.takes = {} if self.is_module else _arguments(layer)
        self.channels_first = False  # whether its features are axis 1, and not the last one
        self.notes: dict[str, None] = {}
        self._copies: dict[tuple, Any] = {}

    def has(self, role: str) -> bool:
        """Whether it takes, or holds, "weight", "bias", or "eps"."""
        return role in self.takes or role in self.held or ("both" in self.takes and role != "eps")

    def copy(
        self,
        dtype: torch.dtype,
        weight: Tensor | None,
        bias: Tensor | None,
        is_training: bool | None = None,
    ) -> Any:
        """Return a copy in a dtype, with γ and β put into it; a function is returned itself."""
        if not self.is_module and not self.held:
            return self.layer
        key = dtype, id(weight), id(bias), is_training
        if key not in self._copies:
            mine = copy.deepcopy(self.layer)
            if self.is_module:
                mine.to("cpu", dtype).train(is_training or False)
            for name, tensor in _tensors(mine).items():
                if tensor.dtype != dtype:
                    _put(mine, name, tensor.detach().to(dtype))
            for role, value in (("weight", weight), ("bias", bias)):
                if value is not None and role in self.held:
                    _put(mine, self.held[role], value.to(dtype))
            self._copies[key] = mine
        return self._copies[key]

    def call(
        self,
        x: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        eps: float,
        is_training: bool | None = None,
    ) -> Tensor:
        """Call it with x itself, which it may change, and return a tensor.

        Raises:
            TypeError: it returns none.
            Exception: whatever it raises.
        """
        layer = self.copy(x.dtype, weight, bias, is_training)
        weight, bias = (p if p is None else p.to(x.dtype) for p in (weight, bias))
        shape = tuple(x.shape[-len(self.shape or (1,)) :])
        values = dict(weight=weight, bias=bias, eps=eps, both=(weight, bias), shape=shape)
        by_place = {r: v for r, v in values.items() if self.takes.get(r, "").startswith("*")}
        named = {
            self.takes[r]: v for r, v in values.items() if r in self.takes and r not in by_place
        }
        places = [by_place[role] for role in self.takes if role in by_place]
        if not self.channels_first:
            return self._tensor(layer(x, *places, **named), x.shape)
        y = self._tensor(layer(x.movedim(-1, 1).contiguous(), *places, **named), x.shape)
        return y.movedim(1, -1) if y.ndim == x.ndim else y

    def _tensor(self, value: Any, shape: torch.Size) -> Tensor:
        if isinstance(value, tuple) and value:
            self.notes[f"It returns {len(value)} things; the first was compared."] = None
            value = value[0]
        value = torch.from_numpy(value) if isinstance(value, numpy.ndarray) else value
        if not isinstance(value, Tensor):
            raise TypeError(f"a tensor was expected, and it returned a {type(value).__name__}")
        return value

    def kept(self) -> list[str]:
        """Name the tensors besides γ and β that calls have changed."""
        before, held = _tensors(self.layer, any_dtype=True), self.held.values()
        now = [pair for each in self._copies.values() for pair in _tensors(each, True).items()]
        changed = [n for n, t in now if n in before and n not in held and not _same(before[n], t)]
        numbers = [
            name
            for each in self._copies.values()
            for name, value in vars(each).items()
            if isinstance(value, int | float) and value != vars(self.layer).get(name)
        ]
        new = [n for n, _ in now if n not in before]
        return list(dict.fromkeys([*changed, *new, *(n for n in numbers if n != "training")]))


def shape_of(layer: object) -> tuple[int, ...] | None:
    """Return the shape that γ has, as far as a layer tells."""
    shape = getattr(layer, "normalized_shape", None)
    if isinstance(shape, int):
        return (shape,)
    if isinstance(shape, tuple | list | torch.Size):
        return tuple(shape)
    if inspect.isroutine(layer):
        return None
    tensors = _tensors(layer)
    held = [tensors[name] for name in _held(layer).values()]
    for some, axes in ((held, 9), (tensors.values(), 1)):
        shapes = [tuple(n for n in t.shape if n > 1)[-axes:] for t in some if t.numel() > 1]
        if shapes:
            return max(shapes, key=len)
    return None


def _same(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and torch.equal(one.to(other.dtype), other)


def _tensors(layer: Any, any_dtype: bool = False) -> dict[str, Tensor]:
    """Return the tensors of an object, with their names; those in lists have a number behind."""
    found: dict[str, Any] = {}
    if isinstance(layer, nn.Module):
        found = {n: t for n, t in layer.state_dict(keep_vars=True).items()}
        found |= dict(layer.named_buffers())
    for name, value in getattr(layer, "__dict__", {}).items():
        inner = enumerate(value) if isinstance(value, tuple | list) else ()
        inner = value.items() if isinstance(value, dict) and not name.startswith("_") else inner
        found |= {name: value, **{f"{name}.{key}": each for key, each in inner}}
    is_kind = (
        torch.is_tensor if any_dtype else lambda t: torch.is_tensor(t) and t.is_floating_point()
    )
    return {name: tensor for name, tensor in found.items() if is_kind(tensor)}


def _held(layer: object) -> dict[str, str]:
    """Return under which names an object holds γ and β: by their names, or by how they begin."""
    tensors = {n: t for n, t in _tensors(layer).items() if t.numel() and "running" not in n}
    held: dict[str, str] = {}
    for role in ("weight", "bias"):
        names = [n for n in tensors if n.rpartition(".")[2].lower() in ROLES[role]]
        if len(names) == 1:
            held[role] = names[0]
    most = max((t.numel() for t in tensors.values()), default=0)
    others = [n for n, t in tensors.items() if n not in held.values() and t.numel() == most]
    is_module = isinstance(layer, nn.Module)
    if len(others) == 1 and tensors[others[0]].ndim > 1 and len(tensors[others[0]]) == 2:
        others = []  # γ and β in one tensor
    learn = [n for n in others if isinstance(tensors[n], nn.Parameter) or not is_module]
    if len(learn) <= 2 - len(held) and len(tensors) <= 2:
        for name in learn:
            start = "bias" if not tensors[name].any() else "weight"
            role = start if start not in held else ({"weight", "bias"} - {*held}).pop()
            held[role] = name
    return held


@torch.no_grad()
def _put(layer: Any, name: str, value: Tensor) -> None:
    """Put numbers where an object holds γ or β; one number only gets the first."""
    *path, last = name.split(".")
    for part in path:
        at = getattr(layer, part)
        if isinstance(at, tuple | list):
            numbers = [value.clone() if str(n) == last else t for n, t in enumerate(at)]
            setattr(layer, part, type(at)(numbers))
            return
        layer = at
    held = layer[last] if isinstance(layer, Mapping) and last in layer else getattr(layer, last)
    value = value.flatten()[:1] if held.numel() == 1 else value
    if held.numel() != value.numel():
        return
    value = value.reshape(held.shape).clone()
    if isinstance(held, nn.Parameter):
        held.data = value
    elif isinstance(layer, dict):
        layer[last] = value
    else:
        setattr(layer, last, value.requires_grad_(held.requires_grad))


def _arguments(layer: Callable) -> dict[str, str]:
    """Return role -> name of the argument; "*" in front of one that goes in by its place."""
    try:
        parameters = list(inspect.signature(layer).parameters.values())
    except (TypeError, ValueError):  # some functions of PyTorch don't tell
        return {}
    # γ may be called w or a, but the first argument is always x.
    first, rest = parameters[:1], parameters[1:]
    if first and first[0].kind is inspect.Parameter.KEYWORD_ONLY:
        rest = parameters
    found: dict[str, str] = {}
    unknown = []
    for each in rest:
        role = next((r for r, names in ROLES.items() if each.name.lower() in names), "")
        has_default = each.default is not each.empty
        if role and role not in found:
            is_by_place = each.kind is inspect.Parameter.POSITIONAL_ONLY
            found[role] = "*" * is_by_place + each.name
        elif not has_default and each.kind not in VARIADIC:
            unknown.append(f"`{each.name}`")
    if unknown:
        raise TypeError(
            f"diagnose can't tell what goes in as {spoken(unknown)}: give a function of x, or of "
            "x, weight, bias, eps, for example `lambda x: yours(x, ...)`."
        )
    return found
