"""Exercises on bugs in other people's layer norms."""

import torch

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.exercises.bugs_repair import (  # noqa: F401 - in this bank, too
    found,
    gamma_shape,
    how_many_train,
    line_a,
    line_b,
    repair,
    rows_changed,
    spread_of_4,
)
from lnorm_course.exercises.module import TABLE, WIDE

TOPIC = "bugs"


class TriedLayer:
    """A layer without parameters that is tried out, whose name an error message can tell.

    Args:
        name: what it is, in words.
        axes: what it averages over.
        factor, eps: γ and ε.
        rounding: how many units in the last place each row adds to all numbers.
        rows: from how many rows on it changes row 0, and nothing else.
        sign, swaps, added: how it does that: what it multiplies by, whether the last two numbers
            change places, and what it adds, by the place.
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
            raise ValueError(f"this layer takes a table (N, D), and not the shape {tuple(x.shape)}")
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


# Layers that mix the rows differ much or little, up or down, in all features or some, and each way
# to miss a difference misses other layers. γ = 100 makes some differences larger than any tolerance
# that could be meant.
TWO_CHANGED = "layer norm that adds 0.01 and −0.01 to the end of row 0 if there is a row 1"
TRIED = (
    TriedLayer("layer norm"),
    TriedLayer("a mean over the batch too, with γ = 100", (0, 1), factor=100.0),
    TriedLayer("batch norm with γ = 100", (0,), factor=100.0),
    TriedLayer("layer norm with γ = 2", factor=2.0),
    TriedLayer("layer norm with γ = −1", factor=-1.0, eps=1e-12),
    TriedLayer("layer norm that rounds in another way", eps=1e-12, rounding=2),
    TriedLayer(TWO_CHANGED, added={-2: 0.01, -1: -0.01}),
    TriedLayer(
        "layer norm that adds 0.01 to the first number of row 0 if there is a row 1",
        added={0: 0.01},
    ),
    TriedLayer(
        "layer norm that takes 0.01 from the first number of row 0 if there is a row 1",
        added={0: -0.01},
    ),
    TriedLayer(
        "layer norm with γ = 100 that swaps the last two numbers of row 0 if there are three rows",
        factor=100.0,
        swaps=True,
        rows=3,
    ),
    TriedLayer(
        "layer norm with γ = 100 that flips the signs of row 0 if there is a row 1",
        factor=100.0,
        sign=-1,
    ),
)

ON_SIX = ", on three rows of six features"

row_alone = CodeExercise(
    inputs={layer.name: (layer, TABLE) for layer in TRIED}
    | {f"{layer.name}{ON_SIX}": (layer, WIDE) for layer in (TRIED[0], TRIED[6])},
    hints=[
        "Call the layer twice: with the table, and with a table that holds row 0 only.",
        "`x[:1]` keeps the batch axis. Compare row 0 of both outputs with `torch.allclose`.",
    ],
)


@row_alone.answer
def row_0_is_the_same_alone(layer, x):
    alone, among_others = layer(x[:1])[0], layer(x)[0]
    return torch.allclose(alone, among_others)


@row_alone.mistake()
def compared_with_the_right_one(layer, x):
    """You compared the layer with layer norm. A layer with another γ isn't layer norm, but each of
    its rows is computed alone. Compare the layer with itself."""
    return torch.allclose(layer(x), torch.nn.functional.layer_norm(x, x.shape[-1:]))


@row_alone.mistake()
def only_alone_and_with_the_right_one(layer, x):
    """You compared row 0 alone with layer norm. Compare it with what the same layer makes of row 0
    among the other rows."""
    return torch.allclose(layer(x[:1]), torch.nn.functional.layer_norm(x[:1], x.shape[-1:]))


@row_alone.mistake()
def always_true(layer, x):
    """You call every layer right. Perhaps you compared only shapes, or an output with itself, or
    your function doesn't return what the comparison says. Compare the numbers of `layer(x[:1])`
    with those of `layer(x)`."""
    return layer(x[:1]).shape[-1:] == layer(x).shape[-1:]


@row_alone.mistake()
def to_the_last_bit(layer, x):
    """You asked for equality to the last bit. A layer may round differently when there are more
    rows, so use `torch.allclose`."""
    return torch.equal(layer(x[:1])[0], layer(x)[0])


@row_alone.mistake()
def the_other_way_around(layer, x):
    """You return True where the two differ, and False where they agree. It's the other way
    around."""
    return not torch.allclose(layer(x[:1])[0], layer(x)[0])


@row_alone.mistake()
def mean_and_variance_checked(layer, x):
    """You checked whether a row has mean 0 and variance 1. A layer with γ = 2 gives another
    variance, and each of its rows is computed alone all the same."""
    row = layer(x)[0]
    return bool(row.mean().abs() < 1e-3 and (row.var(correction=0) - 1).abs() < 1e-3)


@row_alone.mistake()
def compared_with_other_numbers(layer, x):
    """You call every layer wrong. Perhaps you compared row 0 with all rows, or with the input.
    Compare it with row 0 of the other output."""
    return torch.allclose(layer(x[:1])[0], layer(x))


@row_alone.mistake()
def too_tolerant(layer, x):
    """Your test lets a difference of 0.01 pass. Rounding is far smaller than that, so choose a
    smaller tolerance."""
    return torch.allclose(layer(x[:1])[0], layer(x)[0], atol=1.0)


@row_alone.mistake()
def one_number_is_enough(layer, x):
    """Your test is content when a single number of the two rows agrees. All of them have to."""
    return bool(torch.isclose(layer(x[:1])[0], layer(x)[0]).any())


@row_alone.mistake()
def the_first_feature(layer, x):
    """You compared the first feature only. The others may differ."""
    return torch.allclose(layer(x[:1])[0, 0], layer(x)[0, 0])


@row_alone.mistake()
def never_alone(layer, x):
    """Row 0 wasn't alone in your test: another row came with it. `x[:1]` is a table that holds row
    0 and nothing else."""
    return torch.allclose(layer(x[:2])[0], layer(x)[0])


@row_alone.mistake()
def another_row(layer, x):
    """Your test misses layers that change row 0 and no other row. Perhaps you looked at another
    row, such as the last one. Compare row 0 alone with row 0 among the others."""
    return torch.allclose(layer(x[-1:])[0], layer(x)[-1])


@row_alone.mistake()
def means_compared(layer, x):
    """You compared the means or the sums of the two rows. They stay the same when one number grows
    as much as another shrinks. Compare the rows number by number."""
    return torch.allclose(layer(x[:1])[0].sum(), layer(x)[0].sum(), atol=1e-5)


@row_alone.mistake()
def mean_and_spread_compared(layer, x):
    """You compared measures of the two rows, such as the variance or the length. They stay the same
    when two numbers change places. Compare the rows number by number."""
    return torch.allclose(layer(x[:1])[0].norm(), layer(x)[0].norm())


def _with_their_signs(sign: int, words: str) -> None:
    """Take two mistakes: to look at differences of this sign without `abs`."""

    @row_alone.mistake()
    def largest(layer, x):
        return bool((sign * (layer(x)[0] - layer(x[:1])[0])).max() < 1e-6)

    @row_alone.mistake()
    def total(layer, x):
        return bool((sign * (layer(x)[0] - layer(x[:1])[0])).sum() < 1e-6)

    largest.__doc__ = (
        f"You took the largest of the differences with their signs. Where {words}, they are "
        "negative, and smaller than any tolerance. Take `abs` of each first."
    )
    total.__doc__ = (
        f"You added up the differences, or averaged them, with their signs. Where {words}, they "
        "are negative, and others cancel. Take `abs` of each first."
    )


_with_their_signs(1, "row 0 is smaller among the others than alone")
_with_their_signs(-1, "row 0 is larger among the others than alone")


caught_plain = Prediction(
    answer=2,
    reason="`LayerA` mixes the rows, and D − 1 in place of D is a factor of √(4/3). The other two "
    "differ by less than 1e-4 on these rows.",
    wrong={
        0: "Then the test would be useless. But some of these mistakes change every row by far "
        "more than 1e-4.",
        1: "You may have missed one that acts on every row. Compare D with D − 1 for D = 4.",
        3: "You took a mistake for larger than it is here. ε is 1e-5, beside variances of 0.05 and "
        "more, and the numbers are near zero.",
        4: "You took all four mistakes for large ones. Estimate what ε = 1e-5 changes beside "
        "variances of 0.05 and more, and how E[x²] − E[x]² rounds near zero.",
    },
    hints=[
        "ε = 1e-5 is small beside the variances of these rows. Does it matter where you add it?",
        "When does E[x²] − E[x]² lose digits? Are these rows far from zero?",
    ],
)


put_in_bank(TOPIC, vars())
