"""Layers for testing attempts at lesson 17's `row_alone`, and the mistake of leaving out `abs`."""

import itertools
from collections.abc import Iterator

import torch

from lnorm_course.exercises.module_parts import TABLE, WIDE
from lnorm_diagnose.fewest_slips import Mistake


class _TriedLayer:
    """A parameter-free layer for testing an attempt, with a name that error messages can show.

    Args:
        name: a description in words.
        axes: the axes that the layer averages over.
        factor, eps: γ and ε.
        rounding: how many machine epsilons per row in the batch are added to every number.
        rows: how many rows a batch must have, at least, for row 0 to change.
        sign, swaps, added: how row 0 changes. It is multiplied by `sign`; if `swaps` is true, its
            last two numbers are swapped; and `added` maps indices to the numbers added there.
    """

    def __init__(
        self, name, axes=(-1,), factor=1.0, eps=1e-5, rounding=0, rows=2, sign=1, swaps=False,
        added=None,
    ):  # fmt: skip
        self.name, self.axes, self.factor = name, axes, factor
        self.eps, self.rounding = eps, rounding
        self.rows, self.sign, self.swaps, self.added = rows, sign, swaps, added or {}

    def forward(self, x):
        if x.ndim != 2:
            raise ValueError(f"this layer takes shape (N, D), but got shape {tuple(x.shape)}")
        centered = x - x.mean(self.axes, keepdim=True)
        var = centered.square().mean(self.axes, keepdim=True)
        y = self.factor * centered / (var + self.eps).sqrt()
        y = y + self.rounding * torch.finfo(x.dtype).eps * len(x)
        if len(x) >= self.rows:
            y[0] *= self.sign
            if self.swaps:
                y[0, -2:] = y[0, -2:].flip(0)
            for place, more in self.added.items():
                y[0, place] += more
        return y

    __call__ = forward

    def __repr__(self):
        return self.name


# The layers that mix rows change row 0 a lot or a little, up or down, in all features or only some,
# because different faulty attempts overlook different changes. γ = 100 makes some changes larger
# than any reasonable tolerance.
TWO_CHANGED = "layer norm that adds 0.01 and −0.01 to the end of row 0 if there is a row 1"
TRIED = (
    _TriedLayer("layer norm"),
    _TriedLayer("a mean over the batch too, with γ = 100", (0, 1), factor=100.0),
    _TriedLayer("batch norm with γ = 100", (0,), factor=100.0),
    _TriedLayer("layer norm with γ = 2", factor=2.0),
    _TriedLayer("layer norm with γ = −1", factor=-1.0, eps=1e-12),
    _TriedLayer("layer norm that rounds differently", eps=1e-12, rounding=2),
    _TriedLayer(TWO_CHANGED, added={-2: 0.01, -1: -0.01}),
    _TriedLayer(
        "layer norm that adds 0.01 to the first number of row 0 if there is a row 1",
        added={0: 0.01},
    ),
    _TriedLayer(
        "layer norm that subtracts 0.01 from the first number of row 0 if there is a row 1",
        added={0: -0.01},
    ),
    _TriedLayer(
        "layer norm with γ = 100 that swaps the last two numbers of row 0 if there are three rows",
        factor=100.0,
        swaps=True,
        rows=3,
    ),
    _TriedLayer(
        "layer norm with γ = 100 that flips the signs of row 0 if there is a row 1",
        factor=100.0,
        sign=-1,
    ),
)
ON_TABLES = {layer.name: (layer, TABLE) for layer in TRIED} | {
    f"{layer.name}, on three rows of six features": (layer, WIDE) for layer in (TRIED[0], TRIED[6])
}


def without_abs() -> Iterator[Mistake]:
    """Yield mistakes that take the maximum or the sum of the differences without `abs`."""
    ways = (
        ("took the largest of the differences", torch.max, "smaller than any tolerance"),
        ("added up the differences, or averaged them,", torch.sum, "cancel positive ones"),
    )
    signs = ((1, "smaller"), (-1, "larger"))
    for (sign, is_other), (done, reduce, so) in itertools.product(signs, ways):

        def mistake(layer, x, sign=sign, reduce=reduce):
            return bool(reduce(sign * (layer(x)[0] - layer(x[:1])[0])) < 1e-6)

        yield Mistake(
            mistake,
            f"You {done} with their signs. Where row 0 is {is_other} in the batch than alone, "
            f"they are negative, and {so}. Take `abs` of each first.",
        )
