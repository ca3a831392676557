"""What students write as a module: its mistakes are named, and what isn't there is told."""

import copy

import pytest
import torch
from torch import nn

from lnorm_utils import standardize
from lnorm_utils.checking.class_attempts import Observed
from lnorm_utils.checking.feedback import State
from lnorm_utils.exercises import module as bank
from lnorm_utils.exercises.bugs_repair import RepairedNorm, repair
from lnorm_utils.exercises.module import GLOBAL, TABLE, mine

GAMMA, BETA = torch.arange(4).double(), torch.arange(4, 8).double()


class Small(nn.Module):
    """Right for `repair`, with a place for each thing that can be wrong."""

    def __init__(self, size, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(size))
        self.bias = nn.Parameter(torch.zeros(size))

    def forward(self, x):
        return self.weight * self.standardized(x) + self.bias

    def standardized(self, x):
        return standardize(x, -1, self.eps)


def centered(x):
    return x - x.mean(-1, keepdim=True)


def small(standardized):
    return type("Mine", (Small,), {"standardized": standardized})


class Running(Small):
    """Right in training, but in `eval` mode it uses statistics of the batches before."""

    def __init__(self, size, eps=1e-5):
        super().__init__(size, eps)
        self.seen = []

    def standardized(self, x):
        if not self.training:
            return (x - self.seen[0].mean(0)) / (self.seen[0].var(0) + self.eps).sqrt()
        self.seen.append(x.detach())
        return super().standardized(x)


class Plain:
    def __init__(self, size, eps=1e-5):
        self.eps = eps
        self.weight = torch.ones(size, requires_grad=True)
        self.bias = torch.zeros(size, requires_grad=True)

    def forward(self, x):
        return self.weight * standardize(x, -1, self.eps) + self.bias


class Tensors(nn.Module):
    def __init__(self, size, eps=1e-5):
        super().__init__()
        Plain.__init__(self, size, eps)

    forward = Plain.forward


class Greek(Small):
    def __init__(self, size, eps=1e-5):
        super().__init__(size, eps)
        self.gamma, self.beta = self.weight, self.bias
        del self.weight, self.bias

    def forward(self, x):
        return self.gamma * self.standardized(x) + self.beta


class PlainGamma(Tensors):
    def __init__(self, size, eps=1e-5):
        super().__init__(size, eps)
        self.bias = nn.Parameter(torch.zeros(size))


class AlwaysFour(Small):
    def __init__(self, size, eps=1e-5):
        super().__init__(4, eps)


def starting_at(gamma, beta):
    class Start(Small):
        def __init__(self, size, eps=1e-5):
            super().__init__(size, eps)
            nn.init.constant_(self.weight, gamma)
            nn.init.constant_(self.bias, beta)

    return Start


@pytest.mark.parametrize(
    ("make", "mistake"),
    [
        (Plain, "not made from `nn.Module`"),
        (Tensors, "are no parameters"),
        (PlainGamma, "Your γ is no parameter"),
        (AlwaysFour, "has 4 numbers"),
        (small(lambda self, x: standardize(x.detach(), -1, self.eps)), "No gradient reaches"),
        (small(lambda self, x: standardize(GLOBAL, -1, self.eps)), "the notebook's `x`"),
        (
            small(lambda self, x: standardize(x, tuple(range(x.ndim)), self.eps)),
            "over all axes, the batch included",
        ),
        (
            small(lambda self, x: centered(x) / (x.var(-1, keepdim=True) + self.eps).sqrt()),
            "divides by D − 1",
        ),
        (
            small(lambda self, x: centered(x) / (x.std(-1, False, keepdim=True) + self.eps)),
            "ε is added outside the root",
        ),
        (Greek, "are called gamma and beta"),
        (starting_at(0, 0), "γ starts at 0, so"),
        (starting_at(0, 1), "γ starts at 0 and your β at 1"),
        (Small(4), ""),
        (3, ""),
    ],
)
def test_a_mistake_in_a_class_written_by_hand_is_recognized(make, mistake):
    feedback = repair.judge(make)
    assert (feedback.state, bool(feedback.mistake)) == (State.WRONG, bool(mistake))
    assert mistake in feedback.message


def test_an_unknown_mistake_is_told_with_what_was_looked_at():
    feedback = repair.judge(small(lambda self, x: standardize(x, -1, self.eps) + 1))
    assert (feedback.state, feedback.mistake) == (State.WRONG, "")
    assert f"{Observed.OUTPUT.value[1:]}: " in feedback.message


def test_a_layer_that_does_something_else_in_eval_mode_is_not_right():
    assert Observed.OUTPUT_IN_EVAL.value[1:] in repair.judge(Running).message
    running = type("Mine", (Whole,), {"__init__": lambda self, *a: Whole.__init__(self, *a)})
    assert mine.judge(running).state is State.RIGHT
    running.forward = lambda self, x: Whole.forward(self, x if self.training else 0 * x)
    assert mine.judge(running).state is State.WRONG


def test_an_init_that_does_not_set_up_the_module_is_told_what_to_add():
    class Assigns(Small):
        __init__ = Plain.__init__

    class Parameters(Small):
        def __init__(self, size, eps):
            self.weight = nn.Parameter(torch.ones(size))

    for make in (Assigns, Parameters):
        message = repair.judge(make).message
        assert "AttributeError" in message
        assert "call `super().__init__()` first" in message
        assert message.endswith(
            "(it was made with 4, 0.1 and called with an input of shape (5, 4))."
        )


def test_another_attribute_error_is_told_as_it_is():
    message = repair.judge(small(lambda self, x: self.missing)).message
    assert "has no attribute 'missing' (it was made with" in message
    assert "super" not in message


def mine_but(forward):
    """Make a class that is right but for its forward, which gets (self, x)."""
    return type("Mine", (bank.MyLayerNorm,), {"forward": forward})


def one_pass(self, x):
    dim = tuple(range(-len(self.shape), 0))
    mean = x.mean(dim, keepdim=True)
    var = (x**2).mean(dim, keepdim=True) - mean**2
    return self.weight * (x - mean) / torch.sqrt(var + self.eps) + self.bias


def over_all(self, x):
    mean, var = x.mean(), x.var(correction=0)
    return self.weight * (x - mean) / (var + self.eps).sqrt() + self.bias


@pytest.mark.parametrize(
    ("forward", "mistake"),
    [
        (one_pass, "E[x²] − E[x]²"),
        (over_all, "the batch included"),
    ],
)
def test_of_several_mistakes_the_one_that_shows_first_is_named(forward, mistake):
    # None of these asks whether γ and β are there, and none refuses a shape.
    assert mistake in mine.judge(mine_but(forward)).mistake


class Whole(bank.MyLayerNorm):
    """Right for `mine`, with a place for each thing that can be wrong."""

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True):
        super().__init__(normalized_shape, eps)
        has_gamma, has_beta = self.switched(elementwise_affine, bias)
        for name, is_on in (("weight", has_gamma), ("bias", has_beta)):
            if not is_on:
                self.off(name)

    def switched(self, elementwise_affine, bias):
        return elementwise_affine, elementwise_affine and bias

    def off(self, name):
        setattr(self, name, None)

    def forward(self, x):
        weight, bias = (dict(self.named_parameters()).get(n) for n in ("weight", "bias"))
        if not self.fits(x):
            raise ValueError(self.error(x))
        y = standardize(x, tuple(range(-len(self.shape), 0)), self.eps)
        y = y if weight is None else weight * y
        return y if bias is None else y + bias

    def fits(self, x):
        return tuple(x.shape[-len(self.shape) :]) == self.shape

    def error(self, x):
        return f"{self.shape} {tuple(x.shape)}"


def off_as(**values):
    """Put a value in the place of what is switched off, or nothing if there is none."""

    def off(self, name):
        delattr(self, name)
        if name in values:
            setattr(self, name, values[name])

    return off


@pytest.mark.parametrize(
    ("other", "mistake"),
    [
        ({}, ""),
        (
            {"switched": lambda self, affine, bias: (True, True)},
            "there is still a β; with `elementwise_affine=False` there are still",
        ),
        (
            {"switched": lambda self, affine, bias: (affine, affine)},
            "With `bias=False` there is still a β. ",
        ),
        (
            {"switched": lambda self, affine, bias: (True, affine and bias)},
            "there is still a γ",
        ),
        ({"switched": lambda self, affine, bias: (True, bias)}, "there are still a γ and a β"),
        (
            {"switched": lambda self, affine, bias: (affine, bias)},
            "With `elementwise_affine=False` there is still a β",
        ),
        ({"off": off_as()}, "no attribute `bias`"),
        ({"off": off_as(weight=0, bias=0)}, "your `bias` is something else"),
        ({"off": off_as(weight=GAMMA, bias=BETA)}, "your `bias` is something else"),
        ({"off": off_as(bias=None)}, "lacks the attribute"),
        ({"off": off_as(weight=GAMMA, bias=None)}, "your `weight` or `bias` is something else"),
        ({"error": lambda self, x: "no"}, "does not name both shapes"),
        ({"error": lambda self, x: f"{self.shape}"}, "does not name both shapes"),
        (
            {"fits": lambda self, x: x.shape[-1] == self.shape[-1]},
            "last size, and nothing else",
        ),
        ({"fits": lambda self, x: True}, "checks no shapes"),
    ],
)
def test_what_is_wrong_with_a_switch_or_an_error_is_named(other, mistake):
    feedback = mine.judge(type("Mine", (Whole,), other))
    assert mistake in feedback.message
    assert feedback.state is (State.WRONG if mistake else State.RIGHT)


@pytest.mark.parametrize("make", [RepairedNorm, bank.MyLayerNorm])
def test_a_solution_has_the_epsilon_of_pytorch_if_none_is_given(make):
    x = 0.01 * TABLE
    torch.testing.assert_close(make(4).double()(x), nn.LayerNorm(4).double()(x))


def test_a_class_that_is_not_written_yet_is_not_attempted():
    class Empty(nn.Module):
        def __init__(self, *arguments):
            super().__init__()
            self.weight = ...

        def forward(self, x): ...

    for exercise in (mine, repair):
        assert exercise.judge(Empty).state is State.NOT_ATTEMPTED


def test_a_class_cannot_change_the_inputs_of_the_exercise():
    before = copy.deepcopy(repair.inputs)
    assert repair.judge(small(lambda self, x: x.mul_(2))).state is State.WRONG
    assert all(torch.equal(b[3], a[3]) for b, a in zip(before, repair.inputs, strict=True))
