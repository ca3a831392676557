"""The cheat sheet is right, line by line."""

import ast
from functools import partial
from xml.etree import ElementTree

import pytest
import torch
from project import PROJECT, rows_below
from torch import nn
from torch.testing import assert_close

from lnorm_utils import mean, standardize, variance

TEXT = (PROJECT / "docs" / "cheat_sheet.md").read_text("utf-8")
SIZES = {"N": 5, "L": 2, "D": 4, "C": 3, "H": 6, "W": 7}
# Far from zero, so that digits can get lost, and with an ε that shows.
X = torch.randn(5, 2, 4, generator=torch.Generator().manual_seed(0)) + 1000
SIGHT = {**SIZES, "x": X, "mean": mean(X), "var": variance(X), "eps": 0.1}


def shape(letters):
    return eval(letters, SIZES.copy())


PLAIN = TEXT.replace("`", "")
SHAPES = rows_below(PLAIN, "Which numbers share a mean")
TRAPS = rows_below(PLAIN, "Five traps")


@pytest.mark.parametrize(("norm", "of_x", "dim", "of_means", "of_gamma", "code"), SHAPES)
def test_a_row_about_shapes_says_what_pytorch_does(norm, of_x, dim, of_means, of_gamma, code):
    x, axes = torch.randn(shape(of_x)), ast.literal_eval(dim)
    assert mean(x, axes).shape == shape(of_means)
    sight = {"nn": nn, "x": x, **SIZES}
    assert_close(eval(code, sight), standardize(x, axes), atol=1e-4, rtol=0)
    layers = [node for node in ast.walk(ast.parse(code)) if "nn." in ast.unparse(node)[:3]]
    made = [node for node in layers if isinstance(node, ast.Call) and "(x" not in ast.unparse(node)]
    (layer,) = {ast.unparse(node) for node in made}
    assert eval(layer, sight).weight.shape == eval(layer, sight).bias.shape == shape(of_gamma)


@pytest.mark.parametrize(("trap", "wrong", "right"), TRAPS)
def test_what_is_wrong_in_a_trap_differs_from_what_is_right(trap, wrong, right):
    good = eval(right, SIGHT.copy())
    with pytest.raises((RuntimeError, AssertionError)):
        assert_close(eval(wrong, SIGHT.copy()), good, atol=1e-3, rtol=0)


def test_what_is_right_in_the_traps_is_what_layer_norm_does():
    assert len(TRAPS) == 5
    centered, var, root, same_var, swapped = (eval(right, SIGHT.copy()) for *_, right in TRAPS)
    near = partial(assert_close, atol=1e-3, rtol=0)
    near(centered, X - mean(X))
    near(var, variance(X).squeeze(-1))
    near(same_var, variance(X).squeeze(-1))
    near(centered / root, standardize(X, eps=0.1))
    assert_close(swapped[:, 1], X[1])


def test_the_picture_shows_the_steps_of_layer_norm_on_one_scale():
    drawing = ElementTree.parse(PROJECT / "docs/pictures/machine.svg")
    dots = [(dot.get("cy"), float(dot.get("cx"))) for dot in drawing.findall("{*}circle")]
    lines = {height: [place for one, place in dots if one == height] for height, _ in dots}
    x, centered, hat, zoomed, y = (torch.tensor(line) / 15 - 260 / 15 for line in lines.values())
    near = partial(assert_close, atol=0.01, rtol=0)
    near(centered, x - mean(x))
    near(hat, standardize(x))
    near(zoomed, 8 * hat)
    near(y, zoomed * torch.tensor([0.5, 2, 1, 1]) + 8 * torch.tensor([0, 0, 1, -1]))
