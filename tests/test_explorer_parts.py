"""The parts that explorers share: an instructor's data, and what a cell has made before."""

import pytest
import torch

from lnorm_utils.explorers import former_run
from lnorm_utils.explorers.data import finite, rows_of


@pytest.mark.parametrize("shape", [(6, 4), (2, 3, 4), (3, 2, 4)])
def test_rows_are_what_stands_before_the_last_axis(shape):
    x = torch.arange(24.0).reshape(shape)
    rows = rows_of(x)
    assert rows.dtype == torch.float64
    assert rows.tolist() == torch.arange(24.0).reshape(6, 4).tolist()


@pytest.mark.parametrize(
    ("shape", "least", "sentence"),
    [
        ((1, 3), (2, 2), "This explorer needs data with at least 2 rows, but got shape (1, 3)."),
        (
            (3, 1),
            (2, 2),
            "This explorer needs data with at least 2 features, but got shape (3, 1).",
        ),
        (
            (1, 2, 3),
            (8, 2),
            "This explorer needs data with at least 8 rows, but got shape (1, 2, 3).",
        ),
        (
            (3,),
            (1, 1),
            "An explorer needs data of shape (N, D) or (N, L, D) with at least one element, but "
            "got shape (3,).",
        ),
        (
            (0, 3),
            (1, 1),
            "An explorer needs data of shape (N, D) or (N, L, D) with at least one element, but "
            "got shape (0, 3).",
        ),
    ],
)
def test_data_that_are_too_small_are_named_with_their_shape(shape, least, sentence):
    with pytest.raises(ValueError, match=r"\.$") as error:
        rows_of(torch.ones(shape), least)
    assert str(error.value) == sentence


def test_the_least_that_can_be_explored_can_be_explored():
    assert rows_of(torch.ones(1, 1), (1, 1)).shape == (1, 1)
    assert rows_of(torch.ones(8, 2), (8, 2)).shape == (8, 2)


@pytest.mark.parametrize("who", ["An explorer", "It"])
def test_numbers_that_are_not_finite_are_counted(who):
    x = torch.tensor([1.0, float("nan"), float("-inf")])
    with pytest.raises(ValueError, match=r"\.$") as error:
        finite(x, who)
    assert str(error.value) == f"{who} needs finite numbers, but 2 of 3 are NaN or infinite."


class Made:
    closed = False

    def close(self):
        self.closed = True


@pytest.fixture
def run(monkeypatch):
    """Pretend that a cell runs, and let it make something."""
    monkeypatch.setattr(former_run, "_made_by", {})

    def make(message):
        class Shell:
            def get_parent(self):
                return message

        monkeypatch.setattr("IPython.get_ipython", Shell)
        made = Made()
        former_run.close_former_run(made)
        return made

    return make


def message(cell, run):
    return {"metadata": {"cellId": cell}, "header": {"msg_id": run}}


def test_a_cell_that_runs_again_closes_what_it_has_made_and_nothing_else(run):
    other = run(message("other cell", "0"))
    first, second = run(message("cell", "1")), run(message("cell", "1"))
    assert not first.closed
    third = run(message("cell", "2"))
    assert first.closed
    assert second.closed
    assert run(message("cell", "3"))
    assert third.closed
    assert not other.closed


@pytest.mark.parametrize("nowhere", [{}, {"metadata": {}}, {"header": {"msg_id": "1"}}])
def test_where_no_cell_is_named_nothing_is_closed(run, nowhere):
    made = [run(nowhere), run(nowhere), run(message("cell", "1"))]
    assert not any(one.closed for one in made)
