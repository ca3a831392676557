"""Each broken layer norm is wrong in the one way that it is named for, and right in the others."""

import pytest
import torch
from torch import nn
from torch.nn.functional import layer_norm

from lnorm_utils import slips

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


def centered(x, dim):
    return x - x.mean(dim, keepdim=True)


def var_of(x, dim, correction=0):
    return x.var(dim, correction=correction, keepdim=True)


def all_axes(x):
    return tuple(range(x.ndim))


@pytest.mark.parametrize(
    ("formula", "written_out"),
    [
        (slips.unbiased, lambda x, d: centered(x, d) / (var_of(x, d, 1) + EPS).sqrt()),
        (slips.outside_the_root, lambda x, d: centered(x, d) / (var_of(x, d).sqrt() + EPS)),
        (slips.one_pass, lambda x, d: centered(x, d) / (var_of(x, d) + EPS).sqrt()),
        (slips.of_columns, lambda x, d: centered(x, 0) / (var_of(x, 0) + EPS).sqrt()),
        (
            slips.over_all_axes,
            lambda x, d: centered(x, all_axes(x)) / (var_of(x, all_axes(x)) + EPS).sqrt(),
        ),
        (slips.default_eps, lambda x, d: centered(x, d) / (var_of(x, d) + 1e-5).sqrt()),
    ],
)
def test_another_formula_stands_in_place_of_the_right_one(formula, written_out):
    narrow = loaded(slips.OtherFormula(formula, 4, EPS))
    close(narrow(ROWS), written_out(ROWS, -1) * GAMMA + BETA)
    wide = loaded(slips.OtherFormula(formula, (2, 4), EPS), *WIDE)
    close(wide(X), written_out(X, (-2, -1)) * WIDE[0] + WIDE[1])


def test_in_one_pass_all_digits_are_lost_far_from_zero():
    far = slips.one_pass(2.0**30 + ROWS, (-1,), EPS)
    assert (far - slips.one_pass(ROWS, (-1,), EPS)).abs().max() > 1


@pytest.mark.parametrize(("x", "axes", "shape"), [(ROWS, (-1,), (4, 6)), (X, (-2, -1), (8, 3))])
def test_a_reshape_puts_numbers_of_several_rows_together(x, axes, shape):
    mixed = x.reshape(shape)
    mixed = centered(mixed, 0) / (var_of(mixed, 0) + EPS).sqrt()
    close(slips.reshaped(x, axes, EPS), mixed.reshape(x.shape))


def test_a_layer_with_another_mistake_still_refuses_what_does_not_fit():
    for module in (
        slips.OtherFormula(slips.unbiased, 4),
        slips.OtherParameters(slips.without_bias, 4),
    ):
        with pytest.raises(ValueError, match=r"4.*3"):
            module(torch.ones(2, 3))


BOTH = {"weight": (2, 4), "bias": (2, 4)}
GAMMA_ALONE = {"weight": (2, 4)}


@pytest.mark.parametrize(
    ("change", "by_default", "without_bias", "without_both"),
    [
        (as_it_is, BOTH, GAMMA_ALONE, {}),
        (slips.as_plain_tensors, {}, {}, {}),
        (slips.single_numbers, {"weight": (1,), "bias": (1,)}, {"weight": (1,)}, {}),
        (slips.without_bias, GAMMA_ALONE, GAMMA_ALONE, {}),
        (slips.always_with_both, BOTH, BOTH, BOTH),
        (slips.with_beta_for_every_gamma, BOTH, BOTH, {}),
        (slips.with_gamma_alone, BOTH, GAMMA_ALONE, GAMMA_ALONE),
        (slips.with_both_unless_bias_is_off, BOTH, GAMMA_ALONE, BOTH),
        (slips.with_beta_alone, BOTH, GAMMA_ALONE, {"bias": (2, 4)}),
    ],
)
def test_the_parameters_are_those_that_the_mistake_leaves(
    change, by_default, without_bias, without_both
):
    for options, expected in (
        ((), by_default),
        ((True, False), without_bias),
        ((False,), without_both),
    ):
        module = slips.OtherParameters(change, (2, 4), EPS, *options).double()
        assert {name: tuple(p.shape) for name, p in module.named_parameters()} == expected
        close(module(X), layer_norm(X, [2, 4], eps=EPS))


@pytest.mark.parametrize("change", [slips.as_plain_tensors, slips.called_gamma_and_beta])
def test_a_layer_with_its_numbers_in_other_places_computes_the_right_output(change):
    module = loaded(slips.OtherParameters(as_it_is, 4, EPS))
    change(module)
    assert {"weight", "bias"}.isdisjoint(dict(module.named_parameters()))
    close(module(ROWS), RIGHT)


def test_single_numbers_hold_for_all_features():
    module = loaded(slips.OtherParameters(as_it_is, 4, EPS))
    slips.single_numbers(module)
    close(module(ROWS), layer_norm(ROWS, [4], eps=EPS) * 2 + 0.1)


def test_gamma_and_beta_can_start_at_other_numbers():
    module = slips.OtherParameters(slips.starting_at(3, 5), 4, EPS)
    assert (module.weight.tolist(), module.bias.tolist()) == ([3] * 4, [5] * 4)


@pytest.mark.parametrize("make", [slips.NoCheck, slips.NoNames, slips.LastSizeChecked])
def test_a_layer_that_does_not_check_well_is_right_where_the_shapes_fit(make):
    close(loaded(make(4, EPS))(ROWS), RIGHT)
    close(loaded(make((2, 4), EPS), *WIDE)(X), layer_norm(X, [2, 4], *WIDE, EPS))


def test_each_check_lets_pass_what_it_forgets():
    close(loaded(slips.NoCheck(4, EPS))(ROWS[:, :1]), BETA.expand(6, 4))
    with pytest.raises(ValueError, match=r"^[a-z ]+$"):
        slips.NoNames(4)(ROWS[:, :1])
    last = slips.LastSizeChecked((2, 4), EPS).double()
    assert last(X[:, :1]).shape == (3, 2, 4)
    with pytest.raises(ValueError, match=r"\(2, 4\).*\(3, 2, 3\)"):
        last(X[..., :3])


NOTHING = object()


@pytest.mark.parametrize(
    ("change", "without_bias", "without_both"),
    [
        (slips.left_out, [NOTHING], [NOTHING, NOTHING]),
        (slips.left_out_with_gamma, [None], [NOTHING, NOTHING]),
        (slips.neutral_number, [0.0], [1.0, 0.0]),
        (slips.neutral_number_with_gamma, [None], [1.0, None]),
    ],
)
def test_in_place_of_what_is_switched_off_stands_what_the_mistake_puts_there(
    change, without_bias, without_both
):
    half = slips.OtherSwitches(change, 4, EPS, True, False)
    assert [getattr(half, "bias", NOTHING)] == without_bias
    close(half.double()(ROWS), layer_norm(ROWS, [4], eps=EPS))
    none = slips.OtherSwitches(change, 4, EPS, False).double()
    assert [getattr(none, name, NOTHING) for name in ("weight", "bias")] == without_both
    close(none(ROWS), layer_norm(ROWS, [4], eps=EPS))
    close(loaded(slips.OtherSwitches(change, 4, EPS))(ROWS), RIGHT)


def test_a_class_that_is_no_module_has_the_output_and_the_numbers_of_one():
    plain = slips.NoModule(4, EPS)
    assert not isinstance(plain, nn.Module)
    with torch.no_grad():
        plain.weight.mul_(2)
    close(plain.forward(ROWS), 2 * layer_norm(ROWS, [4], eps=EPS))
    assert plain.forward(ROWS.float()).dtype == torch.float32
