"""The networks that stand for branches in the exercises on the residual stream."""

import pytest
import torch

from lnorm_utils.examples import normal
from lnorm_utils.exercises.residual import Branch

ROWS = normal(2, 3, 4, seed=1)


def test_a_branch_is_called_by_its_name_in_an_error():
    assert repr(Branch("g", 5)) == "g"


@pytest.mark.parametrize(("options", "scale"), [((), 1), ((0.25,), 0.25)])
def test_a_branch_is_two_matrices_with_a_relu_between_them(options, scale):
    first, second = normal(4, 6, seed=5), scale * normal(6, 4, seed=6)
    torch.testing.assert_close(Branch("f", 5, *options)(ROWS), (ROWS @ first).relu() @ second)
