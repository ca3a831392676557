"""Layer norm with slips: written once, with a switch for everything that people do otherwise.

This is the only place that describes a slip of layer norm. The exercises search it for the fewest
slips that return what a student's code returned, and the explorer `explore_broken` shows on which
data a few of them can be seen.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from lnorm_utils.beliefs import Belief
from lnorm_utils.modules import LayerNorm

__all__ = ["SLIPS", "Layout", "NormWithSlips", "Slip", "WrongLayer", "combined", "compatible"]

Axes = int | tuple[int, ...]
Choice = Callable[[int, Axes], Axes]  # (number of axes of x, the right ones) -> other ones


@dataclass
class NormWithSlips:
    """Layer norm, step by step; every field is a switch, and its default is right.

    The methods take plain tensors of any shape. With a switch thrown they may raise whatever
    PyTorch raises for the code that a student would have written.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, equation 3, for the defaults.

    >>> x = torch.tensor([[1.0, 2.0, 6.0]])
    >>> NormWithSlips().variance(x), combined(UNBIASED).variance(x)
    (tensor([[4.6667]]), tensor([[7.]]))
    """

    # The mean, and what is done with it.
    mean_axes: Choice | None = None  # (axes of x, right ones) -> axes
    average: Callable = torch.mean  # (x, axes, keepdim)
    mean_keeps_axes: bool = True
    numerator: Callable = lambda x, mean: x - mean
    # The variance.
    inner_mean_axes: Choice | None = None
    inner_average: Callable = torch.mean
    inner_mean: Callable = lambda x, mean: x - mean
    squared: Callable = torch.square
    variance_axes: Choice | None = None
    variance_keeps_axes: bool = True
    divisor: Callable = lambda size: size
    one_pass: Callable | None = None  # (E[x²] − E[x]²) -> variance
    spread: Callable = lambda variance: variance
    # ε, the root, and the division.
    eps: Callable = lambda eps: eps
    denominator: Callable = lambda variance, eps, root: root(variance + eps)
    root: Callable = torch.sqrt
    quotient: Callable = lambda x, mean, numerator, denominator, eps: numerator / denominator
    times: int = 1
    # γ and β.
    gamma: Callable = lambda weight, bias: weight
    scaled: Callable = lambda x, gamma: x * gamma
    beta: Callable = lambda weight, bias: bias
    shifted: Callable = lambda x, beta: x + beta
    is_shifted_first: bool = False
    is_affine_first: bool = False

    def mean(self, x: Tensor, axes: Axes = -1) -> Tensor:
        """Return the mean of `x` over the axes."""
        return self.average(x, _chosen(self.mean_axes, x, axes), self.mean_keeps_axes)

    def center(self, x: Tensor, axes: Axes = -1) -> Tensor:
        """Return `x` minus its mean."""
        return self.numerator(x, self.mean(x, axes))

    def variance(self, x: Tensor, axes: Axes = -1) -> Tensor:
        """Return the variance of `x` over the axes."""
        over = _chosen(self.variance_axes, x, axes)
        keep = self.variance_keeps_axes
        if self.one_pass:
            difference = x.square().mean(over, keep) - x.mean(over, keep).square()
            size = _share(x, difference)
            return self.spread(self.one_pass(difference) * (size / self.divisor(size)))
        inner = self.inner_average(x, _chosen(self.inner_mean_axes, x, axes), True)
        total = self.squared(self.inner_mean(x, inner)).sum(over, keep)
        size = _share(x, total)
        return self.spread(total / self.divisor(size))

    def deviation(self, x: Tensor, axes: Axes = -1, eps: float = 0.0) -> Tensor:
        """Return what the distances are divided by: the root of variance plus ε."""
        return self.denominator(self.variance(x, axes), self.eps(eps), self.root)

    def standardize(self, x: Tensor, axes: Axes = -1, eps: float = 1e-5) -> Tensor:
        """Return x_hat."""
        for _ in range(self.times):
            mean, below = self.mean(x, axes), self.deviation(x, axes, eps)
            x = self.quotient(x, mean, self.numerator(x, mean), below, self.eps(eps))
        return x

    def affine(self, x_hat: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
        """Return γ · x_hat + β, as far as γ and β are there."""
        y = x_hat
        for is_shift in (True, False) if self.is_shifted_first else (False, True):
            if is_shift and bias is not None:
                y = self.shifted(y, self.beta(weight, bias))
            if not is_shift and weight is not None:
                y = self.scaled(y, self.gamma(weight, bias))
        return y

    def layer_norm(
        self,
        x: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        axes: Axes = -1,
        eps: float = 1e-5,
    ) -> Tensor:
        """Return γ · x_hat + β for the x_hat of `x`."""
        if self.is_affine_first:
            return self.standardize(self.affine(x, weight, bias), axes, eps)
        return self.affine(self.standardize(x, axes, eps), weight, bias)


def _chosen(axes: Callable | None, x: Tensor, right: Axes) -> Axes:
    return right if axes is None else axes(x.ndim, right)


@dataclass(frozen=True)
class Slip:
    """One thing that is done otherwise than layer norm does it.

    Args:
        done: what was done, as a short clause such as "ε is left out".
        instead: what layer norm does instead, as the rest of a sentence that begins with its name.
            In both, {D} stands for the letter of how many numbers are averaged.
        changes: the switches that it throws, field of `NormWithSlips`, or of the model that it
            belongs to, -> value.
        belief: the common belief that it may come from.
        detail: how `done` goes on, behind a comma, where there is room for it.
    """

    done: str
    instead: str
    changes: Mapping[str, Any] = field(hash=False)
    belief: Belief | None = None
    detail: str = ""

    @property
    def told(self) -> str:
        """What was done, in full."""
        return f"{self.done}, {self.detail}" if self.detail else self.done

    @property
    def is_affine(self) -> bool:
        """Whether it is about γ and β."""
        return not AFFINE.isdisjoint(self.changes)


# The switches that are about γ and β.
AFFINE = {"gamma", "scaled", "beta", "shifted", "is_shifted_first", "is_affine_first"}


def combined(*slips: Slip, model: Callable[..., Any] = NormWithSlips) -> Any:
    """Return a layer norm, or what else has switches, with all of these slips."""
    changes: dict[str, Any] = {}
    for slip in slips:
        changes |= slip.changes
    return model(**changes)


def compatible(slips: Sequence[Slip]) -> bool:
    """Tell whether no two of the slips throw the same switch."""
    names = [name for slip in slips for name in slip.changes]
    return len(names) == len(set(names))


UNBIASED = Slip(
    "your variance divides by {D} − 1",
    "divides by {D} (`correction=0`)",
    {"divisor": lambda size: size - 1},
    Belief.VARIANCE_OVER_D_MINUS_1,
    "as `var` and `std` do by default",
)
EPS_OUTSIDE = Slip(
    "ε is added outside the root",
    "adds ε to the variance, inside the root",
    {"denominator": lambda variance, eps, root: root(variance) + eps},
    Belief.EPS_OUTSIDE_THE_ROOT,
    "to the standard deviation",
)
EPS_LEFT_OUT = Slip(
    "ε is left out",
    "adds ε to the variance, inside the root",
    {"denominator": lambda variance, eps, root: root(variance)},
    Belief.EPS_OUTSIDE_THE_ROOT,
)
ONE_PASS = Slip(
    "your variance is E[x²] − E[x]²",
    "subtracts the mean before it squares",
    {"one_pass": lambda difference: difference},
    Belief.ONE_PASS_IS_AS_GOOD,
    "which loses its digits when the mean is large",
)

AFFINE_LEFT_OUT = Slip(
    "γ and β are left out",
    "multiplies by γ and adds β",
    {"scaled": lambda x, gamma: x, "shifted": lambda x, beta: x},
)


def _constant(eps: float, words: str) -> Slip:
    return Slip(f"your ε is {words}", "uses the given ε", {"eps": lambda given: eps})


def _of(switch: str, change: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """Return a switch that changes γ, or β, and leaves the other one alone."""
    if switch == "gamma":
        return lambda weight, bias: change(weight)
    return lambda weight, bias: change(bias)


def _first(numbers: Tensor) -> Tensor:
    return numbers.flatten()[0]


def _only(axes: Axes) -> int:
    """Return the one axis that there is, as `median` takes it; more raise what they do there."""
    return axes if isinstance(axes, int) or len(axes) > 1 else axes[0]  # type: ignore[return-value]


def _share(x: Tensor, reduced: Tensor) -> int:
    """Return how many numbers of `x` went into each of those that are left of it."""
    return x.numel() // max(1, reduced.numel())


# The default of a switch, where a slip has to say that it leaves it alone: two slips that throw the
# same switch never stand in one message.
SUBTRACTED = NormWithSlips().inner_mean
UNDER_THE_ROOT = NormWithSlips().denominator

EACH_FEATURE, AS_IT_IS = "has one {name} for each feature", "{verb} {name} as it is"

# The likeliest first.
SLIPS = (
    UNBIASED,
    EPS_OUTSIDE,
    EPS_LEFT_OUT,
    Slip(
        "your variance squares the numbers themselves",
        "subtracts the mean before it squares",
        {"inner_mean": lambda x, mean: x},
        detail="not their distances from the mean",
    ),
    Slip(
        "you didn't subtract the mean",
        "subtracts the mean from x",
        {"numerator": lambda x, mean: x},
    ),
    Slip(
        "your mean has lost its axis",
        "keeps the axis that it averages over, with size 1 (`keepdim=True`)",
        {"mean_keeps_axes": False},
    ),
    Slip(
        "your variance has lost its axis",
        "keeps the axis that it averages over, with size 1 (`keepdim=True`)",
        {"variance_keeps_axes": False},
    ),
    Slip(
        "your mean and variance have lost their axis",
        "keeps the axis that it averages over, with size 1 (`keepdim=True`)",
        {"mean_keeps_axes": False, "variance_keeps_axes": False},
    ),
    Slip(
        "the mean inside your variance has lost its axis",
        "keeps the axis that it averages over, with size 1 (`keepdim=True`)",
        {"inner_average": lambda x, axes, keep: x.mean(axes)},
    ),
    Slip(
        "there is no root",
        "takes the root of the variance",
        {"root": lambda variance: variance},
    ),
    Slip(
        "in place of the variance you have its root",
        "starts from the variance itself",
        {"spread": torch.sqrt, "root": torch.sqrt},  # without the root after it, nothing is wrong
        detail="the standard deviation",
    ),
    Slip(
        "your variance is a sum",
        "divides the sum of the squares by {D}",
        {"divisor": lambda size: 1},
        detail="and isn't divided by anything",
    ),
    Slip(
        "your mean is a sum",
        "divides the sum by {D}",
        {"average": torch.sum},
        detail="and isn't divided by anything",
    ),
    Slip(
        "your mean and the mean inside your variance are sums",
        "divides each sum by {D}",
        {"average": torch.sum, "inner_average": torch.sum},
    ),
    Slip(
        "you didn't divide by the standard deviation",
        "divides by the root of variance plus ε",
        {"quotient": lambda x, mean, above, below, eps: above},
    ),
    Slip(
        "the signs are flipped",
        "subtracts the mean from x",
        {"numerator": lambda x, mean: mean - x},
        detail="because x is subtracted from the mean",
    ),
    Slip(
        "only the mean is divided",
        "divides the whole difference",
        {"quotient": lambda x, mean, above, below, eps: x - mean / below},
        detail="because x − mean has no parentheses around it",
    ),
    _constant(1e-5, "always 1e-5"),
    Slip(
        "ε is added to the result",
        "adds ε to the variance, inside the root",
        {
            "denominator": lambda variance, eps, root: root(variance),
            "quotient": lambda x, mean, above, below, eps: above / below + eps,
        },
        Belief.EPS_OUTSIDE_THE_ROOT,
    ),
    Slip(
        "a variance below ε is raised to ε",
        "adds ε to the variance",
        {"denominator": lambda variance, eps, root: root(variance.clamp(min=eps))},
    ),
    Slip(
        "a standard deviation below ε is raised to ε",
        "adds ε to the variance, inside the root",
        {"denominator": lambda variance, eps, root: root(variance).clamp(min=eps)},
        Belief.EPS_OUTSIDE_THE_ROOT,
    ),
    Slip(
        "ε is added twice",
        "adds ε once, inside the root",
        {"denominator": lambda variance, eps, root: root(variance + eps) + eps},
        detail="inside the root and outside",
    ),
    Slip(
        "ε is subtracted",
        "adds ε",
        {"denominator": lambda variance, eps, root: root(variance - eps)},
    ),
    Slip(
        "ε is added to the numerator",
        "adds ε to the variance, inside the root",
        {
            "denominator": lambda variance, eps, root: root(variance),
            "quotient": lambda x, mean, above, below, eps: (above + eps) / below,
        },
        Belief.EPS_OUTSIDE_THE_ROOT,
    ),
    Slip(
        "each row has length 1",
        "divides by the root of variance plus ε, so its rows have length √{D}",
        {"quotient": lambda x, mean, above, below, eps: F.normalize(above, dim=-1)},
        detail="because of `F.normalize`",
    ),
    Slip(
        "in `F.normalize` ε is only a lower limit for the length of the row",
        "adds ε to the variance, inside the root",
        {
            "quotient": lambda x, mean, above, below, eps: (
                F.normalize(above, dim=-1, eps=eps) * above.shape[-1] ** 0.5
            )
        },
        Belief.EPS_OUTSIDE_THE_ROOT,
    ),
    Slip(
        "with `F.normalize` each row has length 1, and ε is only a lower limit for its length",
        "divides by the root of variance plus ε, so its rows have length √{D}",
        {
            "denominator": UNDER_THE_ROOT,
            "quotient": lambda x, mean, above, below, eps: F.normalize(above, dim=-1, eps=eps),
        },
    ),
    Slip(
        "you divided by the mean distance from the mean",
        "squares the distances, averages the squares, and takes the root",
        {"squared": torch.abs, "root": lambda variance: variance, "inner_mean": SUBTRACTED},
        detail="without squares and without a root",
    ),
    Slip(
        "the variance is squared",
        "uses it as it is",
        # Without ε below the root, this is to leave out the root.
        {"spread": torch.square, "denominator": UNDER_THE_ROOT},
    ),
    Slip("your ε is squared", "adds ε as it is", {"eps": lambda eps: eps**2}),
    _constant(1e-6, "1e-6"),
    _constant(1e-8, "1e-8"),
    Slip(
        "you multiplied by the standard deviation",
        "divides by the standard deviation",
        {"quotient": lambda x, mean, above, below, eps: above * below},
    ),
    Slip("you added the mean", "subtracts the mean", {"numerator": lambda x, mean: x + mean}),
    Slip(
        "you averaged the distances without their signs",
        "averages their squares",
        {"squared": torch.abs, "inner_mean": SUBTRACTED},
    ),
    Slip(
        "you averaged the distances without squaring them",
        "averages their squares",
        {"squared": lambda distance: distance, "inner_mean": SUBTRACTED},
        detail="so they add up to 0",
    ),
    ONE_PASS,
    Slip(
        ONE_PASS.done,
        ONE_PASS.instead,
        {"one_pass": lambda difference: difference.clamp(min=0)},
        ONE_PASS.belief,
        ONE_PASS.detail,
    ),
    Slip(
        "your mean divides by {D} − 1",
        "divides the sum by {D}",
        {"average": lambda x, axes, keep: x.sum(axes, keep) / (_share(x, x.sum(axes)) - 1)},
    ),
    Slip(
        "you took the median",
        "takes the mean",
        {"average": lambda x, axes, keep: x.median(_only(axes), keep).values},
    ),
    Slip("you normalized twice", "normalizes once", {"times": 2}),
    # γ and β.
    Slip("γ is left out", "multiplies by γ", {"scaled": lambda x, gamma: x}),
    Slip("β is left out", "adds β at the end", {"shifted": lambda x, beta: x}),
    AFFINE_LEFT_OUT,
    Slip(
        "β is added before γ multiplies",
        "multiplies by γ first, and then adds β",
        {"is_shifted_first": True},
    ),
    Slip(
        "γ and β come before the normalization",
        "normalizes first",
        {"is_affine_first": True},
        detail="which undoes most of what they do",
    ),
    Slip(
        "γ and β have changed places",
        "multiplies by γ and adds β",
        {"gamma": lambda weight, bias: bias, "beta": lambda weight, bias: weight},
    ),
    Slip(
        "γ and β are averaged to one number each",
        "has one γ and one β for each feature",
        {
            "gamma": lambda weight, bias: weight.mean(),
            "beta": lambda weight, bias: bias.mean(),
        },
        Belief.SINGLE_GAMMA_AND_BETA,
    ),
    Slip(
        "all features get the first γ and the first β",
        "has one γ and one β for each feature",
        {
            "gamma": lambda weight, bias: weight.flatten()[0],
            "beta": lambda weight, bias: bias.flatten()[0],
        },
        Belief.SINGLE_GAMMA_AND_BETA,
    ),
    Slip(
        "there is one γ and one β for each position",
        "has one γ and one β for each feature, and they are the same at every position",
        {
            "gamma": lambda weight, bias: weight[:, None],
            "beta": lambda weight, bias: bias[:, None],
        },
        Belief.SINGLE_GAMMA_AND_BETA,
    ),
    Slip("you divided by γ", "multiplies by γ", {"scaled": lambda x, gamma: x / gamma}),
    Slip("you subtracted β", "adds β", {"shifted": lambda x, beta: x - beta}),
    Slip("you added γ", "multiplies by γ", {"scaled": lambda x, gamma: x + gamma}),
    Slip("you multiplied by β", "adds β", {"shifted": lambda x, beta: x * beta}),
    *(
        Slip(f"{name} {words}", instead.format(verb=verb, name=name), {switch: change})
        for switch, name, verb in (("gamma", "γ", "multiplies by"), ("beta", "β", "adds"))
        for words, instead, change in (
            ("is averaged to one number", EACH_FEATURE, _of(switch, lambda v: v.mean())),
            ("is used with its first number only", EACH_FEATURE, _of(switch, _first)),
            ("has lost its sign", AS_IT_IS, _of(switch, torch.abs)),
            ("is squared", AS_IT_IS, _of(switch, torch.square)),
            ("has one number for each position", EACH_FEATURE, _of(switch, lambda v: v[:, None])),
        )
    ),
    Slip(
        "you multiplied by 1 + γ",
        "multiplies by γ as it is",
        {"gamma": lambda weight, bias: 1 + weight},
    ),
)


AXIS_SWITCHES = (
    ("you averaged", "averages", ("mean_axes", "inner_mean_axes", "variance_axes")),
    ("your mean runs", "takes the mean", ("mean_axes",)),
    ("your variance runs", "takes the variance", ("inner_mean_axes", "variance_axes")),
    (
        "your mean and the mean inside your variance run",
        "takes both",
        ("mean_axes", "inner_mean_axes"),
    ),
    ("the mean inside your variance runs", "takes it", ("inner_mean_axes",)),
    ("the mean of your squares runs", "takes it", ("variance_axes",)),
)


@dataclass(frozen=True)
class Layout:
    """The axes of the tensors that an exercise is about, and those that are normalized.

    Args:
        axes: what people call each axis.
        right: the axes that share one mean and one variance.
        beliefs: the common belief behind other axes.
        name: what normalizes like this.
        size: the letter of how many numbers share a mean.

    The slips are those of layer norm, of the model `NormWithSlips`. A subclass can have others.
    """

    model: ClassVar[Callable[..., Any]] = NormWithSlips
    slips: ClassVar[tuple[Slip, ...]] = SLIPS
    axis_switches: ClassVar[tuple[tuple[str, str, tuple[str, ...]], ...]] = AXIS_SWITCHES

    axes: tuple[str, ...]
    right: tuple[int, ...]
    beliefs: Mapping[tuple[int, ...], Belief] = field(default_factory=dict, hash=False)
    name: str = "Layer norm"
    size: str = "D"

    def words(self, axes: tuple[int, ...]) -> str:
        """Name some of the axes.

        >>> SENTENCES.words((0, 2))
        'the batch and the features'
        """
        names = [self.axes[axis] for axis in axes]
        return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)

    def in_its_letters(self, text: str) -> str:
        """Put the letter of this layout into the words of slips."""
        return text.replace("{D}", self.size)

    def others(self) -> Iterator[tuple[str, Choice, Belief | None]]:
        """Yield every wrong choice of axes: what it is called, what makes it, and the belief."""
        for size in range(1, len(self.axes) + 1):
            for axes in itertools.combinations(range(len(self.axes)), size):
                if axes != self.right:
                    yield self.words(axes), _always(axes), self.beliefs.get(axes)

    def all_slips(self) -> list[Slip]:
        """Return all slips, the likeliest first.

        The mean and the variance may run over any other axes. That only one of them does is a slip
        where a common belief leads to those axes, or where there are few of them.
        """
        right = self.words(self.right) + " alone" * (len(self.right) == 1)
        both, *apart = (
            [
                Slip(f"{begin} over {wrong}", f"{instead} over {right}", changes, belief)
                for wrong, axes, belief in self.others()
                for changes in [dict.fromkeys(switches, axes)]
            ]
            for begin, instead, switches in self.axis_switches
        )
        few = len(self.axes) <= 3
        likely = [slip for slip in itertools.chain(*apart) if few or slip.belief]
        return [*both, *self.slips, *likely]


def _all(ndim: int, right: Axes) -> Axes:
    return tuple(range(ndim))


def _count(axes: Axes) -> int:
    return 1 if isinstance(axes, int) else len(axes)


def _always(axes: Axes) -> Choice:
    return lambda ndim, right: axes


_BATCH = Belief.OVER_THE_BATCH
SENTENCES = Layout(
    ("the batch", "the positions", "the features"),
    (2,),
    {
        (0,): _BATCH,
        (0, 1): _BATCH,
        (0, 2): _BATCH,
        (0, 1, 2): _BATCH,
        (1, 2): Belief.ONE_MEAN_PER_SENTENCE,
    },
)
TABLE = Layout(("the batch", "the features"), (1,), {(0,): _BATCH, (0, 1): _BATCH})


@dataclass(frozen=True)
class LastAxes(Layout):
    """The layout of a module: any number of axes, of which it normalizes the last."""

    axes: tuple[str, ...] = ()
    right: tuple[int, ...] = ()

    def words(self, axes: tuple[int, ...]) -> str:
        """Name the normalized axes."""
        return "the last axes, as many as `normalized_shape` has"

    def others(self) -> Iterator[tuple[str, Choice, Belief | None]]:
        """Yield the wrong choices of axes that make sense for any number of them."""
        yield "all axes, the batch included", _all, _BATCH
        yield "the first axis, the batch", lambda ndim, right: 0, _BATCH
        yield "the last axis alone", lambda ndim, right: -1, None
        yield "axis 1 alone", lambda ndim, right: 1, None
        yield "the last two axes", lambda ndim, right: (-2, -1), None
        yield (
            "the first axes, as many as `normalized_shape` has",
            lambda ndim, right: tuple(range(_count(right))),
            _BATCH,
        )
        yield (
            "all axes but the normalized ones",
            lambda ndim, right: tuple(range(ndim - _count(right))),
            _BATCH,
        )
        yield "all axes but the first", lambda ndim, right: tuple(range(1, ndim)), None
        yield "all axes but the last", lambda ndim, right: tuple(range(ndim - 1)), _BATCH


OVER_EVERYTHING = LastAxes().all_slips()[0]


class WrongLayer(LayerNorm):
    """A layer norm as a module, which has slips where it normalizes, and is right elsewhere.

    Args:
        norm: how it normalizes.
        arguments: those of `LayerNorm`.
    """

    def __init__(self, norm: NormWithSlips, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.norm = norm

    def forward(self, x: Tensor) -> Tensor:
        """Refuse `x` if its shape does not fit, and normalize it, with γ and β by either name."""
        self.refuse(x)
        weight = getattr(self, "gamma", getattr(self, "weight", None))
        bias = getattr(self, "beta", getattr(self, "bias", None))
        axes = tuple(range(-len(self.normalized_shape), 0))
        return self.norm.layer_norm(x, weight, bias, axes, self.eps)

    def refuse(self, x: Tensor) -> None:
        """Raise a ValueError that names both shapes if the last axes do not fit.

        Raises:
            ValueError: the last axes of `x` are not `normalized_shape`.
        """
        if tuple(x.shape[-len(self.normalized_shape) :]) != self.normalized_shape:
            raise ValueError(f"{self.normalized_shape} expected at the end of {tuple(x.shape)}")
