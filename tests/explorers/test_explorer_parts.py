"""The parts that explorers share: data, numbers, texts, and what a cell has made before."""

import io

import pytest
import torch
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.font_manager import FontProperties

from lnorm_utils.explorers import Slider
from lnorm_utils.explorers.engine import reruns as former_run
from lnorm_utils.explorers.engine.controls import short, steps
from lnorm_utils.explorers.engine.drawing import FewElements
from lnorm_utils.explorers.engine.inputs import finite, rows_of


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


def test_rows_that_are_not_finite_are_counted():
    x = torch.tensor([[[1.0, float("nan")], [1.0, 2.0]]])
    with pytest.raises(ValueError, match=r"^An explorer needs finite numbers, but 1 of 4 are NaN"):
        rows_of(x)


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


@pytest.mark.parametrize(
    ("number", "text"),
    [
        *((0, "0"), (-0.5, "−0.5"), (0.00316, "0.00316"), (1e-3, "0.001"), (9.996e-4, "9.996e−4")),
        *((3.16e-5, "3.16e−5"), (-1e-8, "−1e−8"), (12.3456, "12.35"), (999.96, "1000")),
        *((1000, "1,000"), (17_800, "17,800"), (-1e6, "−1,000,000"), (999_999_999, "999,999,999")),
        *((1e9, "1e+09"), (1 / 3, "0.3333")),
    ],
)
def test_a_number_beside_a_slider_is_short(number, text):
    assert short(number) == text


@pytest.mark.parametrize(
    ("low", "high", "step", "listed"),
    [
        (-0.3, 0.3, 0.1, [-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3]),
        (1, 5, 2, [1, 3, 5]),
        (0.001, 0.0012, 1e-4, [0.001, 0.0011, 0.0012]),
    ],
)
def test_steps_hold_both_ends_and_no_digits_of_rounding(low, high, step, listed):
    assert steps(low, high, step) == listed


@pytest.mark.parametrize(
    ("stops", "value", "sentence"),
    [
        ([0.5, 20_000], 0.4, "eps must be a number between 0.5 and 20,000, but 0.4 was given."),
        ([1, 0.5], "1", "eps must be a number between 0.5 and 1, but '1' was given."),
        ([0, 1.5], True, "eps must be a number between 0 and 1.5, but True was given."),
        ([-2, 3], 4, "eps must be a whole number between −2 and 3, but 4 was given."),
        ([-2, 3], 1.0, "eps must be a whole number between −2 and 3, but 1.0 was given."),
    ],
)
def test_a_value_beside_the_stops_of_a_slider_is_named_with_them(stops, value, sentence):
    slider = Slider("ε", stops[0], stops)
    with pytest.raises(ValueError, match=r"\.$") as error:
        slider.checked("eps", value)
    assert str(error.value) == sentence
    assert [slider.checked("eps", stop) for stop in stops] == stops


@pytest.mark.parametrize(("text", "is_math"), [("$x^2$", True), ("$x^2$", False), ("one", False)])
def test_a_text_is_measured_as_matplotlib_does(text, is_math):
    ours, theirs = (
        renderer(100, 100, io.StringIO(), *name).get_text_width_height_descent(
            text, FontProperties(size=12), is_math
        )
        for renderer, *name in ((FewElements, "few"), (RendererSVG,))
    )
    assert ours == theirs
