"""Call a given layer: find out which arguments it takes, and set its γ and β."""

import copy
import inspect
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy
import torch
from torch import Tensor, nn
from torch.utils._pytree import keystr, tree_leaves_with_path

from lnorm_diagnose.diagnosing.trial_inputs import DTYPES, Trial
from lnorm_diagnose.fewest_slips import Raised
from lnorm_utils.functional import shape_tuple
from lnorm_utils.words import spoken

__all__ = ["LETTERS", "Subject", "equal"]

LETTERS = {"weight": "γ", "bias": "β"}
ROLES = {
    "weight": ("weight", "gamma", "scale", "g", "w", "a_2", "γ", "gain", "a", "alpha"),
    "bias": ("bias", "beta", "shift", "b", "b_2", "β", "offset"),
    "eps": ("eps", "epsilon", "variance_epsilon", "ε", "variance_eps", "e", "norm_eps"),
    "shape": ("normalized_shape", "shape", "input_shape", "norm_shape"),
    "both": ("params", "parameters", "weights", "affine"),  # a tuple of γ and β
}


class Subject:
    """Wrap a function, a module, or another callable so that it can be called with x, γ, β, and ε.

    Args:
        layer: a function of x, or of x and arguments named like γ, β, or ε; or a callable object
            that holds γ and β as tensors.
        channels_first: whether the layer's features are on axis 1 instead of the last axis.
        named: further arguments for each call, by name.

    Attributes:
        mode: whether a module is in `train` mode.
        is_as_held: whether the layer keeps its own γ and β instead of getting those of a trial.
        computes_in: the dtype in which the layer computes when its input is float64.

    Raises:
        TypeError: `layer` can't be called, or has arguments that can't be filled in.
    """

    def __init__(
        self,
        layer: Any,
        channels_first: bool = False,
        named: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        if isinstance(layer, type) or not callable(layer):
            kind = "the class" if isinstance(layer, type) else "a"
            name = getattr(layer, "__name__", type(layer).__name__)
            raise TypeError(
                "diagnose takes a function, a module such as nn.LayerNorm(8), or two arrays, but "
                f"{kind} {name} was given."
            )
        self.layer, self.channels_first = layer, channels_first
        self.is_module = isinstance(layer, nn.Module)
        self.held = _held(self.tensors(layer))
        called = layer.forward if self.is_module else layer
        self.takes, self.named = _arguments(called, self.is_module, named), named
        self.mode = self.is_as_held = False
        self.computes_in = torch.float64

    def tensors(self, layer: Any) -> dict[str, Tensor]:
        """Return the tensors of an object by name, including those in tuples and dicts."""
        if self.is_module:
            return layer.state_dict(keep_vars=True)
        leaves = tree_leaves_with_path({} if inspect.isroutine(layer) else vars(layer))
        names = ((re.sub(r"[\['\]]+", ".", keystr(path)).strip("."), each) for path, each in leaves)
        return {name: each for name, each in names if isinstance(each, Tensor)}

    def state(self, layer: Any) -> dict[str, str]:
        """Return, as text, a copy's tensors, numbers, lists, and dicts, which a call may change."""
        mine = {} if inspect.isroutine(layer) else vars(layer)
        others = {n: v for n, v in mine.items() if n[:1] != "_" and not callable(v)}
        return {n: repr(value) for n, value in {**others, **self.tensors(layer)}.items()}

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of γ, or None if it isn't known."""
        parts = self.layer.modules() if self.is_module else (self.layer,)
        for shape in (getattr(part, "normalized_shape", None) for part in parts):
            if isinstance(shape, int | tuple):
                return shape_tuple(shape)
        tensors = self.tensors(self.layer)
        held = [tensors[name] for name in self.held.values()]
        for some, axes in ((held, 9), (tensors.values(), 1)):
            shapes = [tuple(n for n in t.shape if n > 1)[-axes:] for t in some if t.numel() > 1]
            if shapes:
                return max(shapes, key=len)
        return None

    @property
    def where(self) -> str:
        """The mode as a phrase, such as " in `eval`"; empty if the layer isn't a module."""
        return f" in `{'train' if self.mode else 'eval'}`" * self.is_module

    @property
    def unit_roundoff(self) -> float:
        """The unit roundoff of the dtype in which the layer computes when its input is float64."""
        return torch.finfo(self.computes_in).eps / 2

    def coarsest(self, trial: Trial) -> torch.dtype:
        """Return the coarsest dtype to which x can be rounded without changing the result.

        If the output is in half precision, return its dtype instead.
        """
        y, found = self.result(trial), torch.float64
        if isinstance(y, Tensor) and y.dtype in DTYPES[1:]:
            return y.dtype
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            if equal(self.result(replace(trial, x=trial.x.to(dtype).double())), y):
                found = dtype
        return found

    def changed(self, **attributes: Any) -> "Subject":
        """Return a copy of this subject with different attributes."""
        other = copy.copy(self)
        vars(other).update(attributes)
        return other

    def has(self, role: str) -> bool:
        """Return whether the layer takes or holds the given parameter, "weight" or "bias"."""
        return role in self.held or not {role, "both"}.isdisjoint(self.takes)

    def copy(self, trial: Trial) -> Any:
        """Return a copy of the layer with a trial's dtype, γ, and β; a function isn't copied."""
        mine: Any = self.layer if inspect.isroutine(self.layer) else copy.deepcopy(self.layer)
        if self.is_module:
            mine.to("cpu", trial.dtype).train(self.mode)
        roles = {} if self.is_as_held else {path: role for role, path in self.held.items()}
        for name, tensor in self.tensors(mine).items():
            value = getattr(trial, roles.get(name, ""), None)
            value = tensor if value is None or value.numel() < tensor.numel() else value
            if not tensor.is_leaf:  # as in a TorchScript copy, whose gradients keep their dtype
                tensor.detach_()
            if tensor.is_floating_point():
                few = value.detach().flatten()[: tensor.numel()]  # a single γ gets the first number
                tensor.data = few.reshape(tensor.shape).to(trial.dtype).clone()
        return mine

    def result(self, trial: Trial, layer: Any = None) -> Tensor | Raised:
        """Return the output, or the error, for a trial; `layer`, if given, is the copy to use."""
        layer = self.copy(trial) if layer is None else layer
        held = {role: self.tensors(layer)[path] for role, path in self.held.items()}

        def run(x: Tensor, weight: Any, bias: Any, _: float) -> Tensor:
            return self.call(layer, replace(trial, x=x, weight=weight, bias=bias))

        try:
            return trial.in_dtype().run(run, held).clone()
        except Exception as error:
            return Raised.of(error)

    def returned(self, layer: Any, trial: Trial) -> Any:
        """Return whatever a copy returns for a trial; the copy may change the trial's tensors."""
        x, g, b = trial.x, trial.weight, trial.bias
        shape = tuple(x.shape[-trial.axes :])
        values = {"weight": g, "bias": b, "both": (g, b), "eps": trial.eps, "shape": shape}
        places = [values[role] for role, name in self.takes.items() if not name]
        names = {name: values[role] for role, name in self.takes.items() if name}
        x = x.movedim(-1, 1).contiguous() if self.channels_first else x
        others = {
            name: value.to(trial.dtype) if _is_floating(value) else value
            for name, value in self.named.items()
        }
        return layer(x, *places, **names, **others)

    def call(self, layer: Any, trial: Trial) -> Tensor:
        """Return the tensor that a copy returns for a trial, or the first one of several.

        Raises:
            TypeError: the copy doesn't return a tensor.
            Exception: whatever the copy raises.
        """
        y = self.returned(layer, trial)
        y = y[0] if isinstance(y, tuple) and y else y
        y = torch.from_numpy(y) if isinstance(y, numpy.ndarray) else y
        if not isinstance(y, Tensor):
            raise TypeError(f"it returned a {type(y).__name__}, not a tensor")
        return y.movedim(1, -1) if self.channels_first and y.ndim == trial.x.ndim else y


def _is_floating(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point()


def equal(one: Tensor | Raised, other: Tensor | Raised) -> bool:
    """Return whether two results, which may be values or errors, are the same."""
    if isinstance(one, Raised) or isinstance(other, Raised):
        return type(one) is type(other) and one == other
    return one.shape == other.shape and torch.equal(one.nan_to_num(), other.nan_to_num())


def _held(tensors: dict[str, Tensor]) -> dict[str, str]:
    """Return the names under which an object holds γ and β.

    A tensor with one axis is likelier than a single number or a matrix, and the names `weight` and
    `bias` are likelier than others. β has the size of γ, and usually the same parent. If there are
    at most two tensors, they can have any names, and one that holds only zeros is taken to be β.
    """
    held: dict[str, str] = {}
    for role in LETTERS:
        names = [n for n in tensors if n.rpartition(".")[2].lower() in ROLES[role]]
        vectors = [n for n in names if tensors[n].squeeze().ndim == 1] or names
        usual = [n for n in vectors if n.rpartition(".")[2] == role] or vectors
        beside = held.get("weight", "").rpartition(".")[:2]
        near = [n for n in usual if n.rpartition(".")[:2] == beside] or usual
        if len(near) == 1 and _may_be(role, tensors[near[0]], held, tensors):
            held[role] = near[0]
    others = [n for n, t in tensors.items() if n not in held.values() and t.numel()]
    if len(tensors) <= 2:
        for name in others:
            if held and not _may_be("bias", tensors[name], held, tensors):
                continue
            start = "weight" if tensors[name].any() else "bias"
            held[start if start not in held else ({*LETTERS} - {*held}).pop()] = name
    return held


def _may_be(role: str, tensor: Tensor, held: dict[str, str], tensors: dict[str, Tensor]) -> bool:
    """Return whether a tensor is as large as the other parameter; True if that one isn't known."""
    other = [tensors[name].numel() for r, name in held.items() if r != role]
    return not other or tensor.numel() in other


def _arguments(
    layer: Callable, only_needed: bool = False, named: Collection[str] = ()
) -> dict[str, str]:
    """Return {role: argument's name}; the name is empty for an argument passed by position.

    Args:
        only_needed: whether to leave out the optional arguments.
        named: arguments to leave out because they're passed by name anyway.
    """
    try:
        parameters = list(inspect.signature(layer).parameters.values())
    except (TypeError, ValueError):  # some PyTorch functions have no signature
        return {}
    found: dict[str, str] = {}
    unknown = []
    # The first argument is x even if its name looks like γ's, such as w, unless it's keyword-only.
    is_named = parameters[:1] and parameters[0].kind is inspect.Parameter.KEYWORD_ONLY
    for each in parameters[0 if is_named else 1 :]:
        is_needed = each.default is each.empty
        is_given = each.name in named or only_needed > is_needed
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD) or is_given:
            continue
        role = next((r for r, names in ROLES.items() if each.name.lower() in names), "")
        if role and role not in found:
            found[role] = each.name * (each.kind is not inspect.Parameter.POSITIONAL_ONLY)
        elif is_needed:
            unknown.append(f"`{each.name}`")
    if unknown:
        raise TypeError(
            f"diagnose can't tell what to pass for {spoken(unknown)}: pass it by name, as in "
            f"`diagnose(yours, {unknown[0][1:-1]}=...)`, or give a function of x, or of x, weight, "
            "bias, eps."
        )
    return found
