"""Call somebody's layer: find out what it takes, put numbers into its γ and β, and catch errors."""

import copy
import inspect
from collections.abc import Callable
from typing import NamedTuple

import numpy
import torch
from torch import Tensor, nn

from lnorm_course.diagnose.causes import Failure

__all__ = ["BIAS", "WEIGHT", "Call", "Subject"]

WEIGHT = ("weight", "gamma", "scale", "g", "w", "a_2", "γ", "gain", "a")
BIAS = ("bias", "beta", "shift", "b", "b_2", "β", "offset")
EPS = ("eps", "epsilon", "variance_epsilon", "ε", "variance_eps")
SHAPE = ("normalized_shape", "shape", "input_shape", "norm_shape")
ROLES = {"weight": WEIGHT, "bias": BIAS, "eps": EPS, "shape": SHAPE}


class Call(NamedTuple):
    """What came of one call.

    Args:
        value: a tensor, or why there is none.
        changed_input: whether the input has other numbers now.
        input: the copy of x that it was called with.
    """

    value: Tensor | Failure
    changed_input: bool
    input: Tensor


class Subject:
    """A function or a module, as something to call with x, γ, β, and ε.

    Args:
        layer: a function of x, or of x and of arguments named like γ, β, ε, or a module.
        shape: what its γ and β should look like, and what goes in as `normalized_shape`.

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
        self.layer, self.shape = layer, shape
        self.is_module = isinstance(layer, nn.Module)
        self.takes_any_size = shape is None and not self.is_module
        self.names = {} if self.is_module else _roles(layer)
        self._copies: dict[tuple, nn.Module] = {}

    @property
    def takes_eps(self) -> bool:
        """Whether ε is an argument."""
        return "eps" in self.names

    def held(self, role: str) -> str | None:
        """Return the name under which a module holds γ, or β: None if there isn't exactly one."""
        if not isinstance(self.layer, nn.Module):
            return None
        names = [n for n in tensors_of(self.layer) if n.rpartition(".")[2] in ROLES[role]]
        return names[0] if len(names) == 1 else None

    def changed_by_calls(self) -> list[str]:
        """Name the buffers that are no longer as they were."""
        if not isinstance(self.layer, nn.Module):
            return []
        before = dict(self.layer.named_buffers())
        now = [(n, b) for copied in self._copies.values() for n, b in copied.named_buffers()]
        return list(
            dict.fromkeys(n for n, b in now if n in before and not b.equal(before[n].to(b)))
        )

    def call(
        self,
        x: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        eps: float,
        is_training: bool | None = None,
    ) -> Call:
        """Call it with a copy of x; a module gets γ and β in the dtype of x put into it."""
        mine = x.detach().clone().requires_grad_(x.requires_grad)
        given = mine * 1 if x.requires_grad else mine  # one can change it in place, unlike a leaf
        before = given.detach().clone()
        try:
            value = self._run(given, weight, bias, eps, is_training)
        except Exception as error:
            words = " ".join(str(error).split())[:200]
            return Call(Failure(type(error).__name__, words), False, mine)
        changed = not torch.equal(torch.nan_to_num(given.detach()), torch.nan_to_num(before))
        return Call(_as_tensor(value), changed, mine)

    def _run(
        self,
        x: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        eps: float,
        is_training: bool | None,
    ) -> object:
        if isinstance(self.layer, nn.Module):
            return self._loaded(self.layer, x.dtype, weight, bias, is_training)(x)
        values = {
            "weight": weight if weight is None else weight.to(x.dtype),
            "bias": bias if bias is None else bias.to(x.dtype),
            "eps": eps,
            "shape": self.shape,
        }
        given = {name: values[role] for role, (name, _) in self.names.items()}
        by_place = [name for name, is_by_place in self.names.values() if is_by_place]
        return self.layer(x, *(given.pop(name) for name in by_place), **given)

    def _loaded(
        self,
        layer: nn.Module,
        dtype: torch.dtype,
        weight: Tensor | None,
        bias: Tensor | None,
        is_training: bool | None,
    ) -> nn.Module:
        key = dtype, id(weight), id(bias), is_training
        if key not in self._copies:
            mine = copy.deepcopy(layer).to("cpu", dtype)
            mine.train(layer.training if is_training is None else is_training)
            for role, value in (("weight", weight), ("bias", bias)):
                if value is not None and (name := self.held(role)):
                    _put(mine, name, value.to(dtype))
            self._copies[key] = mine
        return self._copies[key]


def tensors_of(layer: nn.Module) -> dict[str, Tensor]:
    """Return all floating-point tensors of a module, also those that it doesn't register."""
    plain = {n: v for n, v in vars(layer).items() if isinstance(v, Tensor)}
    found = {**layer.state_dict(keep_vars=True), **plain}
    return {n: v for n, v in found.items() if v.is_floating_point()}


@torch.no_grad()
def _put(layer: nn.Module, name: str, value: Tensor) -> None:
    """Put numbers where a module holds γ or β; one number only gets the first."""
    *path, last = name.split(".")
    for part in path:
        layer = getattr(layer, part)
    held = getattr(layer, last)
    if held.numel() == 1:
        value = value.flatten()[:1]
    if held.numel() != value.numel():
        return
    if isinstance(held, nn.Parameter) or last in layer._buffers:
        held.copy_(value.reshape(held.shape))
    else:
        setattr(layer, last, value.reshape(held.shape).to(value.dtype))


def _roles(layer: Callable) -> dict[str, tuple[str, bool]]:
    """Return role -> (name of the argument, whether it goes in by its place)."""
    try:
        parameters = list(inspect.signature(layer).parameters.values())
    except (TypeError, ValueError):  # some functions of PyTorch don't tell
        return {}
    # γ may be called w or a, but the first argument is always x.
    first, rest = parameters[:1], parameters[1:]
    if first and first[0].kind is inspect.Parameter.KEYWORD_ONLY:
        rest = parameters
    roles: dict[str, tuple[str, bool]] = {}
    for parameter in rest:
        role = next((r for r, names in ROLES.items() if parameter.name in names), None)
        if role and role not in roles:
            is_by_place = parameter.kind is inspect.Parameter.POSITIONAL_ONLY
            roles[role] = parameter.name, is_by_place
        elif parameter.default is parameter.empty and parameter.kind not in (
            inspect.Parameter.VAR_POSITIONAL,
            inspect.Parameter.VAR_KEYWORD,
        ):
            raise TypeError(
                f"diagnose can't tell what goes in as `{parameter.name}`: give a function of x, "
                "or of x, weight, bias, eps, for example `lambda x: yours(x, ...)`."
            )
    return roles


def _as_tensor(value: object) -> Tensor | Failure:
    if isinstance(value, numpy.ndarray):
        value = torch.from_numpy(value)
    if isinstance(value, Tensor):
        return value
    return Failure("", f"returned a {type(value).__name__}, but a tensor was expected")
