"""A function's memory traffic, the memory it saves for the backward pass, and its speed."""

import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from lnorm_utils.plotting.picture import BLACK, SKY, Picture, in_style, new_picture
from lnorm_utils.words import significant

__all__ = ["TABLES", "Speeds", "Traffic", "bars", "kept_for_backward", "measured", "traffic"]

TABLES = Path(__file__).with_name("speed.json")  # `make tool NAME=speed` writes it
# EMPTY: operations that create a tensor without writing to it. OVERWRITE: operations that write to
# a tensor without reading it.
EMPTY = {"aten::empty", "aten::empty_like", "aten::empty_strided", "aten::new_empty"}
OVERWRITE = {"aten::copy_", "aten::fill_", "aten::zero_", "aten::normal_", "aten::uniform_"}
FACTORY = re.compile(r"aten::(new_\w+|\w+_like)")  # operations that use only the shape of a tensor


class Traffic(NamedTuple):
    """What a function's operations read and write, in multiples of its input's size in bytes."""

    read: float
    written: float
    new: float  # the total size of newly created tensors

    @property
    def passes(self) -> float:
        """The number of passes over memory; a pass touches as many bytes as the input has."""
        return self.read + self.written

    def __repr__(self) -> str:
        counts = (f"{name} {round(value, 2):g}" for name, value in self._asdict().items())
        return f"{round(self.passes, 2):g} passes: {', '.join(counts)}"


class Speeds(NamedTuple):
    """Measurements on one device: where and how they were made, and each function's time."""

    about: str
    milliseconds: dict[str, float]

    def predicted(self, counted: Traffic) -> float:
        """Predict a time in ms by counting new tensors as copies and all other passes as reads.

        >>> speeds = Speeds("an example", {"copy": 15.0, "row means": 2.0})
        >>> speeds.predicted(Traffic(read=5, written=3, new=3))
        49.0
        """
        reads = counted.passes - 2 * counted.new
        return counted.new * self.milliseconds["copy"] + reads * self.milliseconds["row means"]


def traffic(function: Callable[[Tensor], object], x: Tensor) -> Traffic:
    """Run a function, and sum the bytes that its operations read and write.

    It counts every tensor passed to a PyTorch operation, so `x * x` reads x twice. It doesn't
    see the processor's cache, the inside of an operation, or what NumPy does. A view, such as a
    slice, moves no data.

    Args:
        function: a function of `x` that isn't compiled.
        x: a nonempty tensor that doesn't require a gradient.

    Raises:
        ValueError: `x` is empty, so there is no unit to count in.

    >>> import torch
    >>> traffic(torch.clone, torch.ones(8, 512))
    2 passes: read 1, written 1, new 1
    """
    if not x.numel():
        raise ValueError(f"x must have at least one element, but its shape is {tuple(x.shape)}.")
    with _Counter() as counter:
        function(x)
    return Traffic(*(count / _bytes(x) for count in (counter.read, counter.written, counter.new)))


def kept_for_backward(function: Callable[[Tensor], Tensor], x: Tensor) -> float:
    """Run a function, and sum the bytes saved for the backward pass, including x and parameters.

    Args:
        function: takes `x`, and returns a tensor that depends on it.
        x: a nonempty tensor of floating-point numbers.

    Returns:
        The saved bytes, in multiples of the size of `x`. Memory that is saved twice counts once.

    >>> import torch
    >>> kept_for_backward(torch.exp, torch.ones(8, 512))
    1.0
    """
    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with saved_tensors_hooks(keep, lambda tensor: tensor):
        result = function(x.detach().clone().requires_grad_())
    del result  # kept until now, because a reused address would be counted only once
    return sum(kept.values()) / _bytes(x)


def measured(device: str = "cpu") -> Speeds:
    """Return the benchmark's latest results, as medians in milliseconds.

    Args:
        device: "cpu", or "cpu, kept memory" for the results on Linux with reused memory.

    Raises:
        ValueError: there is no table for this device.

    >>> measured().milliseconds["copy"] > 0
    True
    """
    tables = json.loads(TABLES.read_text("utf-8"))
    if device not in tables:
        raise ValueError(f"There's no table for {device!r}, only for {', '.join(tables)}.")
    table = tables[device]
    return Speeds(table["about"], table["milliseconds"])


@in_style
def bars(times: Mapping[str, float], predicted: Mapping[str, float], title: str) -> Picture:
    """Draw each function's time in ms as a bar, with a mark at the predicted time.

    >>> bars({"copy": 2.0}, {"copy": 3.0}, "Times").words
    'Times, measured in ms: copy 2 (predicted 3).'
    """
    picture, axes = new_picture(title, 1, 1, 5.8, 0.36 * len(times) + 1.3)
    ax = axes[0, 0]
    ax.barh([*times], [*times.values()], color=SKY, edgecolor=BLACK, lw=0.5, label="measured")
    marks = [*predicted.values()], [*predicted]
    ax.plot(*marks, "|", color=BLACK, markersize=18, markeredgewidth=3, label="predicted")
    ax.set(ylim=(len(times) - 0.4, -0.6), xlim=(0, None), xlabel="ms", title=title)
    ax.tick_params("y", length=0, labelsize=12)
    picture.legend(loc="outside lower center", ncols=2)
    told = [
        f"{name} {significant(time, 3)} (predicted {significant(predicted[name], 3)})"
        for name, time in times.items()
    ]
    picture.words = f"{title}, measured in ms: {'; '.join(told)}."
    return picture


class _Counter(TorchDispatchMode):
    read = written = new = 0
    _should_skip_dynamo = classmethod(lambda cls: False)  # or PyTorch would import its compiler

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = kwargs or {}
        result = func(*args, **given)
        if func.is_view or func._schema.name == "aten::_unsafe_view":
            return result
        name, changes = func._schema.name, False
        for position, argument in enumerate(func._schema.arguments):
            value = args[position] if position < len(args) else given.get(argument.name)
            is_changed = argument.alias_info is not None and argument.alias_info.is_write
            is_overwritten = argument.is_out or (is_changed and name in OVERWRITE)
            moved = _bytes(value)
            self.written += moved * is_changed
            self.read += moved * (not is_overwritten and not FACTORY.fullmatch(name))
            changes |= is_changed
        if not changes:
            made = _bytes(result)
            self.new += made
            self.written += made * (name not in EMPTY)
        return result


def _bytes(value: object) -> int:
    """Sum the bytes of the tensors in a value. Elements repeated by `expand` count once."""
    total = 0
    for part in tree_leaves(value):
        if isinstance(part, Tensor):
            sizes = zip(part.shape, part.stride(), strict=True)
            total += math.prod(size for size, stride in sizes if stride) * part.element_size()
    return total
