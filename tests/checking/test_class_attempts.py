"""A student's class is made, called, loaded and trained, and judged by the numbers alone."""

import pytest
import torch
from torch import nn

from lnorm_utils import LayerNorm
from lnorm_utils.checking.class_attempts import Observation, Observed, describe, observe
from lnorm_utils.checking.feedback import State
from lnorm_utils.exercises import module as bank
from lnorm_utils.exercises.bugs_repair import repair
from lnorm_utils.exercises.module import TABLE, TARGETS, mine

NARROW = torch.ones(3, 1).double()
GAMMA, BETA = torch.arange(4).double(), torch.arange(4, 8).double()


def seen(layer, what, *more, shape=4, options=(0.1,), x=TABLE):
    """Look at a class, or at a layer that was made already."""
    make = layer if isinstance(layer, type) else lambda *_: layer
    return observe(make, what.name, shape, options, x, *more)


class Named:
    """An object with these attributes, whose output is its input."""

    def __init__(self, **attributes):
        vars(self).update(attributes)

    def forward(self, x):
        return x


class Own(LayerNorm):
    """The course's layer by another name."""


class OwnOfTorch(nn.LayerNorm):
    """PyTorch's layer with another `__init__`."""

    def __init__(self, *arguments):
        super().__init__(*arguments)


class Borrowed(bank.MyLayerNorm):
    """A layer that runs PyTorch's forward."""

    forward = nn.LayerNorm.forward


class HoldsOne(nn.Module):
    """A layer that holds another, and its γ and β by a second name."""

    held = bank.MyLayerNorm

    def __init__(self, *arguments):
        super().__init__()
        self.norm = self.held(*arguments)
        self.weight, self.bias = self.norm.weight, self.norm.bias

    def forward(self, x):
        return self.norm(x)


@pytest.mark.parametrize("make", [LayerNorm, nn.LayerNorm, Own, OwnOfTorch, Borrowed])
def test_a_finished_layer_is_no_answer(make):
    for exercise in (mine, repair):
        feedback = exercise.judge(make)
        assert (feedback.state, "finished layer" in feedback.message) == (State.WRONG, True)


@pytest.mark.parametrize("held", [LayerNorm, nn.LayerNorm])
def test_a_finished_layer_inside_is_no_answer(held):
    for exercise in (mine, repair):
        feedback = exercise.judge(type("Holds", (HoldsOne,), {"held": held}))
        assert (feedback.state, "own `layer_norm`" in feedback.message) == (State.WRONG, True)


def test_a_layer_inside_shows_in_the_state_dict():
    for exercise in (mine, repair):
        assert "also holds norm.weight and norm.bias" in exercise.judge(HoldsOne).mistake


def test_the_solution_of_one_exercise_is_right_for_both():
    for exercise in (mine, repair):
        assert exercise.judge(bank.MyLayerNorm).state is State.RIGHT


def test_a_training_step_does_what_an_optimizer_does():
    layer = nn.LayerNorm(4, eps=0.1).double()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
    (layer(TABLE) - TARGETS).square().mean().backward()
    optimizer.step()
    after = seen(nn.LayerNorm, Observed.AFTER_A_STEP, TARGETS)
    torch.testing.assert_close(after, torch.cat([layer.weight, layer.bias]).detach())
    assert ((after - torch.tensor([1, 0]).repeat_interleave(4)).abs() > 0.01).all()


def test_a_training_step_leaves_what_cannot_be_trained():
    class Spare(nn.LayerNorm):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            self.spare = nn.Parameter(torch.ones(3))

    def after(layer):
        return seen(layer, Observed.AFTER_A_STEP, TARGETS)

    torch.testing.assert_close(after(Spare), after(nn.LayerNorm))
    plain = after(Named(weight=torch.full((2, 2), 2.0), bias=None))
    torch.testing.assert_close(plain, torch.full((4,), 2.0).double())
    assert after(Named()).shape == (0,)


def test_an_output_of_the_wrong_shape_is_returned_as_it_is():
    sums = Named(forward=lambda x: x.sum(-1))
    assert seen(sums, Observed.AFTER_A_STEP, TARGETS).shape == (5,)
    assert seen(sums, Observed.INPUT_GRADIENT, TARGETS).shape == (5,)


@pytest.mark.parametrize(("factor", "detached"), [(3, False), (0, True)])
def test_the_gradient_of_the_input_is_zero_if_none_reaches_it(factor, detached):
    triples = Named(forward=lambda x: 3 * (x.detach() if detached else x))
    found = seen(triples, Observed.INPUT_GRADIENT, TARGETS)
    torch.testing.assert_close(found, factor * TARGETS)


@pytest.mark.parametrize(
    ("weight", "bias", "options", "loaded"),
    [
        (GAMMA, BETA, (0.1,), (GAMMA, BETA)),
        (torch.ones(2, 4).double(), BETA, (0.1,), (None, BETA)),
        (GAMMA, BETA, (0.1, True, False), (GAMMA, None)),
    ],
)
def test_numbers_are_loaded_into_gamma_and_beta_where_they_fit(weight, bias, options, loaded):
    after = seen(nn.LayerNorm, Observed.OUTPUT_AFTER_LOADING, weight, bias, options=options)
    torch.testing.assert_close(after, nn.functional.layer_norm(TABLE, [4], *loaded, 0.1))


@pytest.mark.parametrize(
    ("attributes", "starts"),
    [
        ({}, (1.0, 0.0)),
        ({"gamma": torch.tensor([2.0, 4.0]), "beta": torch.tensor([5, 6])}, (3.0, 5.5)),
        ({"weight": 2.0, "bias": None, "gamma": torch.tensor(4.0)}, (4.0, 0.0)),
        ({"weight": nn.Parameter(torch.tensor([0.5]))}, (0.5, 0.0)),
    ],
)
def test_the_starts_of_gamma_and_beta_are_their_means_by_either_name(attributes, starts):
    assert seen(Named(**attributes), Observed.STARTS) == starts


@pytest.mark.parametrize(
    ("layer", "found"),
    [
        (Named(weight=None), "nothing"),
        (Named(weight=None, bias=None), "None"),
        (Named(weight=None, bias=0), "not None"),
        (nn.LayerNorm(4, bias=False), "None"),
        (nn.RMSNorm(4), "nothing"),
    ],
)
def test_what_is_switched_off_should_be_none(layer, found):
    assert seen(layer, Observed.SWITCHED_OFF) == found


def test_the_parameters_of_a_module_are_seen_with_their_shapes():
    names = seen(nn.LayerNorm, Observed.PARAMETERS, shape=(2, 4), x=torch.ones(3, 2, 4).double())
    assert names == (("bias", 2, 4), ("weight", 2, 4))
    assert seen(Named(weight=GAMMA), Observed.PARAMETERS) == (("not an nn.Module",),)


@pytest.mark.parametrize(
    ("said", "is_named"),
    [
        ("(2, 4) expected in [3, 1]", True),
        ("(2, 4) expected", False),
        ("2 and 4 expected in 3 and 1", False),
    ],
)
def test_an_error_names_a_shape_if_its_sizes_stand_in_it(said, is_named):
    def refuse(x):
        raise RuntimeError(said)

    found = seen(Named(forward=refuse), Observed.REFUSAL, shape=(2, 4), x=NARROW)
    assert found == (
        "an error that names both shapes" if is_named else "an error without both shapes"
    )
    assert seen(Named(), Observed.REFUSAL, x=NARROW) == "no error"


@pytest.mark.parametrize("what", [w for w in Observed if w is not Observed.AFTER_A_STEP])
def test_nothing_is_seen_of_a_layer_that_returns_nothing(what):
    assert seen(Named(forward=lambda x: None), what) is None


def test_an_observation_is_told_in_words():
    look = Observation(Observed.PARAMETERS, (2, 4), (0.1, True, False), TABLE)
    assert look.words == "with bias=False, the names and shapes of its parameters"
    assert Observation(Observed.OUTPUT, 4, (), TABLE).words == "the output of a new layer"
    assert describe(*look.arguments()) == (
        "it was made with (2, 4), 0.1, True, False and called with an input of shape (5, 4)"
    )
