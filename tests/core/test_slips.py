"""Each broken layer norm is wrong in the one way that it is named for, and right in the others."""

import pytest
import torch
from torch import nn
from torch.nn.functional import layer_norm

from lnorm_utils import slips as broken

EPS = 0.1
X = torch.tensor(
    [
        [[1.0, 2.0, 4.0, 7.0], [0.0, 3.0, 3.0, 8.0]],
        [[5.0, 1.0, 9.0, 2.0], [6.0, 2.0, 0.0, 1.0]],
        [[3.0, 3.0, 7.0, 4.0], [2.0, 8.0, 1.0, 0.0]],
    ],
    dtype=torch.float64,
)
ROWS = X.reshape(6, 4)
GAMMA = torch.tensor([2.0, -1.0, 0.5, 3.0], dtype=torch.float64)
BETA = torch.tensor([0.1, 0.2, -0.3, 0.4], dtype=torch.float64)
WIDE = torch.stack([GAMMA, 2 - GAMMA]), torch.stack([BETA, 1 - BETA])
RIGHT = layer_norm(ROWS, [4], GAMMA, BETA, EPS)


def close(one, other):
    torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


def loaded(module, gamma=GAMMA, beta=BETA):
    """Put numbers into γ and β, so that it shows where they are used."""
    module.double()
    with torch.no_grad():
        for parameter, value in ((module.weight, gamma), (module.bias, beta)):
            if parameter is not None:
                parameter.copy_(value)
    return module


def as_it_is(module):
    """Change nothing."""


def mean_of(x, dim):
    return x.mean(dim, keepdim=True)


def var_of(x, dim, correction=0):
    return x.var(dim, correction=correction, keepdim=True)


FORMULAS = [
    (broken.unbiased, lambda x, d: (x - mean_of(x, d)) / (var_of(x, d, 1) + EPS).sqrt()),
    (broken.outside_the_root, lambda x, d: (x - mean_of(x, d)) / (var_of(x, d).sqrt() + EPS)),
    (broken.one_pass, lambda x, d: (x - mean_of(x, d)) / (var_of(x, d) + EPS).sqrt()),
    (broken.of_columns, lambda x, d: (x - mean_of(x, 0)) / (var_of(x, 0) + EPS).sqrt()),
]


@pytest.mark.parametrize(("formula", "written_out"), FORMULAS)
def test_another_formula_stands_in_place_of_the_right_one(formula, written_out):
    narrow = loaded(broken.OtherFormula(formula, 4, EPS))
    close(narrow(ROWS), written_out(ROWS, -1) * GAMMA + BETA)
    wide = loaded(broken.OtherFormula(formula, (2, 4), EPS), *WIDE)
    close(wide(X), written_out(X, (-2, -1)) * WIDE[0] + WIDE[1])


def test_in_one_pass_all_digits_are_lost_far_from_zero():
    far = 2.0**30 + ROWS
    assert (broken.one_pass(far, (-1,), EPS) - broken.one_pass(ROWS, (-1,), EPS)).abs().max() > 1


def test_a_reshape_puts_numbers_of_several_rows_together():
    mixed = ROWS.reshape(4, 6)
    mixed = (mixed - mean_of(mixed, 0)) / (var_of(mixed, 0) + EPS).sqrt()
    close(broken.reshaped(ROWS, (-1,), EPS), mixed.reshape(6, 4))
    wide = X.reshape(8, 3)
    wide = (wide - mean_of(wide, 0)) / (var_of(wide, 0) + EPS).sqrt()
    close(broken.reshaped(X, (-2, -1), EPS), wide.reshape(3, 2, 4))


@pytest.mark.parametrize("make", [broken.OtherFormula, broken.OtherParameters])
def test_what_is_changed_in_another_way_still_refuses_what_does_not_fit(make):
    module = make(broken.without_bias if make is broken.OtherParameters else broken.unbiased, 4)
    with pytest.raises(ValueError, match=r"4.*3"):
        module(torch.ones(2, 3))


def names_of(module):
    return {name: tuple(p.shape) for name, p in module.named_parameters()}


BOTH = {"weight": (2, 4), "bias": (2, 4)}


@pytest.mark.parametrize(
    ("change", "options", "names"),
    [
        (broken.as_plain_tensors, (), {}),
        (broken.called_gamma_and_beta, (), {"gamma": (2, 4), "beta": (2, 4)}),
        (broken.single_numbers, (), {"weight": (1,), "bias": (1,)}),
        (broken.without_bias, (), {"weight": (2, 4)}),
        (broken.always_with_both, (), BOTH),
        (broken.always_with_both, (True, False), BOTH),
        (broken.always_with_both, (False,), BOTH),
        (broken.with_beta_for_every_gamma, (), BOTH),
        (broken.with_beta_for_every_gamma, (True, False), BOTH),
        (broken.with_beta_for_every_gamma, (False,), {}),
        (broken.with_gamma_alone, (), BOTH),
        (broken.with_gamma_alone, (True, False), {"weight": (2, 4)}),
        (broken.with_gamma_alone, (False,), {"weight": (2, 4)}),
        (broken.with_both_unless_bias_is_off, (), BOTH),
        (broken.with_both_unless_bias_is_off, (True, False), {"weight": (2, 4)}),
        (broken.with_both_unless_bias_is_off, (False,), BOTH),
        (broken.with_beta_alone, (), BOTH),
        (broken.with_beta_alone, (True, False), {"weight": (2, 4)}),
        (broken.with_beta_alone, (False,), {"bias": (2, 4)}),
    ],
)
def test_the_parameters_are_those_that_the_mistake_leaves(change, options, names):
    module = broken.OtherParameters(change, (2, 4), EPS, *options).double()
    assert names_of(module) == names
    close(module(X), layer_norm(X, [2, 4], eps=EPS))


@pytest.mark.parametrize("change", [broken.as_plain_tensors, broken.called_gamma_and_beta])
def test_a_layer_with_its_numbers_in_other_places_computes_the_right_output(change):
    module = broken.OtherParameters(as_it_is, 4, EPS)
    loaded(module)
    change(module)
    close(module(ROWS), RIGHT)


def test_plain_tensors_keep_their_names_and_are_not_trained():
    module = broken.OtherParameters(broken.as_plain_tensors, 4, EPS)
    assert (module.weight.tolist(), module.bias.tolist()) == ([1] * 4, [0] * 4)
    assert not module.weight.requires_grad


def test_what_is_called_gamma_and_beta_leaves_none_by_the_right_names():
    module = broken.OtherParameters(broken.called_gamma_and_beta, 4, EPS)
    assert (module.weight, module.bias) == (None, None)
    assert (module.gamma.tolist(), module.beta.tolist()) == ([1] * 4, [0] * 4)


def test_single_numbers_hold_for_all_features():
    module = broken.OtherParameters(as_it_is, 4, EPS)
    loaded(module)
    broken.single_numbers(module)
    close(module(ROWS), layer_norm(ROWS, [4], eps=EPS) * 2 + 0.1)


@pytest.mark.parametrize("change", [broken.always_with_both, broken.with_beta_for_every_gamma])
def test_new_parameters_change_nothing_before_the_training(change):
    module = broken.OtherParameters(as_it_is, 4, EPS)
    loaded(module)
    change(module)
    assert module.bias.tolist() == [0] * 4
    assert isinstance(module.bias, nn.Parameter)


def test_the_numbers_to_start_at_can_be_chosen():
    module = broken.OtherParameters(broken.starting_at(3, 5), 4, EPS)
    assert (module.weight.tolist(), module.bias.tolist()) == ([3] * 4, [5] * 4)


@pytest.mark.parametrize("make", [broken.NoCheck, broken.NoNames, broken.LastSizeChecked])
def test_what_is_not_checked_well_is_right_where_it_fits(make):
    close(loaded(make(4, EPS))(ROWS), RIGHT)
    close(loaded(make((2, 4), EPS), *WIDE)(X), layer_norm(X, [2, 4], *WIDE, EPS))


def test_without_a_check_what_broadcasts_is_normalized():
    module = loaded(broken.NoCheck(4, EPS))
    close(module(ROWS[:, :1]), BETA.expand(6, 4))


def test_an_error_without_names_is_one_sentence():
    for shape, x in ((4, ROWS[:, :1]), ((2, 4), X[:, :1]), ((2, 4), X[0, 0])):
        with pytest.raises(ValueError, match=r"^the shapes do not fit$"):
            broken.NoNames(shape)(x)


def test_where_the_last_size_alone_is_checked_another_size_passes():
    module = broken.LastSizeChecked((2, 4), EPS)
    with pytest.raises(ValueError, match=r"^\(2, 4\) expected at the end of \(3, 2, 3\)$"):
        module(torch.ones(3, 2, 3))
    assert module.double()(X[:, :1]).shape == (3, 2, 4)


OFF = {(True, False): ("bias",), (False,): ("weight", "bias")}
NOTHING = object()


@pytest.mark.parametrize(
    ("change", "options", "found"),
    [
        (broken.left_out, (True, False), [NOTHING]),
        (broken.left_out, (False,), [NOTHING, NOTHING]),
        (broken.left_out_with_gamma, (True, False), [None]),
        (broken.left_out_with_gamma, (False,), [NOTHING, NOTHING]),
        (broken.neutral_number, (True, False), [0.0]),
        (broken.neutral_number, (False,), [1.0, 0.0]),
        (broken.neutral_number_with_gamma, (True, False), [None]),
        (broken.neutral_number_with_gamma, (False,), [1.0, None]),
    ],
)
def test_in_place_of_what_is_switched_off_stands_what_the_mistake_puts_there(
    change, options, found
):
    module = broken.OtherSwitches(change, 4, EPS, *options).double()
    assert [getattr(module, name, NOTHING) for name in OFF[options]] == found
    close(module(ROWS), layer_norm(ROWS, [4], eps=EPS))


def test_what_is_not_switched_off_is_used():
    close(loaded(broken.OtherSwitches(broken.left_out, 4, EPS))(ROWS), RIGHT)
    half = broken.OtherSwitches(broken.left_out_with_gamma, 4, EPS, True, False)
    close(loaded(half)(ROWS), RIGHT - BETA)


def test_a_class_that_is_no_module_has_the_output_and_the_numbers_of_one():
    plain = broken.NoModule(4, EPS)
    assert not isinstance(plain, nn.Module)
    assert (plain.weight.tolist(), plain.bias.tolist()) == ([1] * 4, [0] * 4)
    close(plain.forward(ROWS), layer_norm(ROWS, [4], eps=EPS))
    assert plain.forward(ROWS.float()).dtype == torch.float32
    with torch.no_grad():
        plain.weight.mul_(2)
    close(plain.forward(ROWS), 2 * layer_norm(ROWS, [4], eps=EPS))


@pytest.mark.parametrize(
    ("weight", "bias", "y"),
    [
        (None, None, ROWS),
        (GAMMA, None, ROWS * GAMMA),
        (None, BETA, ROWS + BETA),
        (GAMMA, BETA, ROWS * GAMMA + BETA),
    ],
)
def test_gamma_multiplies_and_beta_is_added_as_far_as_they_are_there(weight, bias, y):
    close(broken.scaled(ROWS, weight, bias), y)
