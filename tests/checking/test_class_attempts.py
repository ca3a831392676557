"""A student's class is made, called, loaded and trained, and its mistakes are named."""

import copy

import pytest
import torch
from torch import nn

from lnorm_course.checking.class_attempts import LOOKS, look, observe
from lnorm_course.checking.feedback import State
from lnorm_course.exercises.bugs import repair
from lnorm_course.exercises.module import mine
from lnorm_course.exercises.module_parts import TABLE, TARGETS
from lnorm_utils import LayerNorm, standardize
from lnorm_utils.data import encoded_points

MyLayerNorm = mine.answer

GAMMA, BETA = torch.arange(4).double(), torch.arange(4, 8).double()


def seen(layer, what, *more, shape=4, options=(0.1,), x=TABLE):
    """Look at a class, or at a layer that was made already."""
    make = layer if isinstance(layer, type) else lambda *_: layer
    return observe(make, what, shape, options, x, *more)


class Returning(nn.Module):
    """A layer with this output, and without γ and β."""

    def __init__(self, forward):
        super().__init__()
        self.forward = forward


class Borrowed(MyLayerNorm):
    """A layer that runs PyTorch's forward."""

    forward = nn.LayerNorm.forward


class HoldsOne(nn.Module):
    """A layer that holds PyTorch's, and its γ and β by a second name."""

    def __init__(self, *arguments):
        super().__init__()
        self.norm = nn.LayerNorm(*arguments)
        self.weight, self.bias = self.norm.weight, self.norm.bias

    def forward(self, x):
        return self.norm(x)


@pytest.mark.parametrize("exercise", [mine, repair])
def test_a_finished_layer_is_no_answer_and_the_solution_is_one(exercise):
    for make in (LayerNorm, nn.LayerNorm, type("Own", (LayerNorm,), {}), Borrowed):
        feedback = exercise.judge(make)
        assert (feedback.state, "finished class" in feedback.message) == (State.WRONG, True)
    feedback = exercise.judge(HoldsOne)
    assert (feedback.state, "own `layer_norm`" in feedback.message) == (State.WRONG, True)
    assert exercise.judge(MyLayerNorm).state is State.RIGHT


def test_a_training_step_does_what_an_optimizer_does():
    layer = nn.LayerNorm(4, eps=0.1).double()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
    (layer(TABLE) - TARGETS).square().mean().backward()
    optimizer.step()
    after = seen(nn.LayerNorm, "AFTER_A_STEP", TARGETS)
    torch.testing.assert_close(after, torch.cat([layer.weight, layer.bias]).detach())
    assert seen(Returning(lambda x: x), "AFTER_A_STEP", TARGETS).shape == (0,)


@pytest.mark.parametrize(
    ("weight", "bias", "options", "loaded"),
    [
        (GAMMA, BETA, (0.1,), (GAMMA, BETA)),
        (torch.ones(2, 4).double(), BETA, (0.1,), (None, BETA)),
        (GAMMA, BETA, (0.1, True, False), (GAMMA, None)),
    ],
    ids=["both", "one of another shape", "no β"],
)
def test_numbers_are_loaded_into_gamma_and_beta_where_they_fit(weight, bias, options, loaded):
    after = seen(nn.LayerNorm, "OUTPUT_AFTER_LOADING", weight, bias, options=options)
    torch.testing.assert_close(after, nn.functional.layer_norm(TABLE, [4], *loaded, 0.1))


def test_a_layer_that_returns_nothing_or_another_shape_is_looked_at():
    for what in set(LOOKS) - {"AFTER_A_STEP"}:
        assert seen(Returning(lambda x: None), what) is None
    sums = Returning(lambda x: x.sum(-1))
    assert seen(sums, "AFTER_A_STEP", TARGETS).shape == (5,)
    assert seen(sums, "INPUT_GRADIENT", TARGETS).shape == (5,)


def test_an_observation_is_told_in_words():
    words, _ = look("PARAMETERS", (2, 4), (0.1, True, False), TABLE)
    assert words == "with bias=False, the names and shapes of its parameters"


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


def small(standardized):
    return type("Mine", (Small,), {"standardized": standardized})


def test_a_class_that_reads_the_notebooks_tensor_is_told_so():
    reads = small(lambda self, x: standardize(encoded_points().double(), -1, self.eps))
    assert "the notebook's `x`" in repair.judge(reads).mistake


def test_an_unknown_mistake_is_told_with_what_was_looked_at():
    feedback = repair.judge(small(lambda self, x: standardize(x, -1, self.eps) + 1))
    assert (feedback.state, feedback.mistake) == (State.WRONG, "")
    assert f"{LOOKS['OUTPUT'][0][1:]}: " in feedback.message


def test_a_class_that_is_no_layer_is_told_what_it_lacks():
    class Parameters(Small):
        def __init__(self, size, eps):
            self.weight = nn.Parameter(torch.ones(size))

    class Plain:
        def __init__(self, *arguments):
            pass

    assert "call `super().__init__()` first" in repair.judge(Parameters).message
    assert "nn.Module" in repair.judge(Plain).message
    assert (
        "doesn't return a tensor"
        in repair.judge(type("Two", (Small,), {"forward": lambda self, x: (x, x)})).message
    )
    missing = repair.judge(small(lambda self, x: self.missing)).message
    assert "has no attribute 'missing'" in missing
    assert "super" not in missing


class Whole(MyLayerNorm):
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
        ({"switched": lambda self, affine, bias: (True, True)}, "there are still a γ and a β"),
        ({"switched": lambda self, affine, bias: (True, affine and bias)}, "there is still a γ"),
        ({"off": off_as()}, "is no attribute"),
        ({"off": off_as(weight=0, bias=0)}, "is something else than None"),
        ({"off": off_as(bias=None)}, "lacks the attribute"),
        ({"error": lambda self, x: f"{self.shape}"}, "does not name both shapes"),
        ({"fits": lambda self, x: x.shape[-1] == self.shape[-1]}, "last size, and nothing else"),
        ({"fits": lambda self, x: True}, "checks no shapes"),
        ({"forward": lambda self, x: Whole.forward(self, x if self.training else 0 * x)}, "`eval`"),
    ],
)
def test_what_is_wrong_with_a_switch_or_an_error_is_named(other, mistake):
    feedback = mine.judge(type("Mine", (Whole,), other))
    assert mistake in feedback.message
    assert feedback.state is (State.WRONG if mistake else State.RIGHT)


def test_of_several_mistakes_the_one_that_shows_first_is_named():
    def forward(self, x):  # it never asks whether γ and β are there, and refuses no shape
        return self.weight * (x - x.mean()) / (x.var(correction=0) + self.eps).sqrt() + self.bias

    make = type("Mine", (MyLayerNorm,), {"forward": forward})
    assert "the batch included" in mine.judge(make).mistake


def test_a_class_that_is_not_written_yet_is_not_attempted():
    class Empty:
        def __init__(self, *arguments):
            super().__init__()
            self.weight = ...

        def forward(self, x): ...

    for base in (nn.Module, object):
        assert repair.judge(type("Mine", (Empty, base), {})).state is State.NOT_ATTEMPTED


def test_a_class_cannot_change_the_inputs_of_the_exercise():
    before = copy.deepcopy(repair.inputs)
    assert repair.judge(small(lambda self, x: x.mul_(2))).state is State.WRONG
    assert all(torch.equal(b[3], a[3]) for b, a in zip(before, repair.inputs, strict=True))
