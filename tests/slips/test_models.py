"""Models are right without wrong pieces, and go on being right for others with some."""

import pytest
import torch
import torch.nn.functional as F
from exercise_banks import BY_NAME

from lnorm_diagnose.sentences import first_sentence
from lnorm_diagnose.slips.models import LAST, RMS_NORM, SENTENCES, Model
from lnorm_utils.data import normal

X = normal(3, 2, 4, seed=1).double() + 1
GAMMA, BETA = normal(4, seed=2).double(), normal(4, seed=3).double()
EPS = 0.1


def test_without_wrong_pieces_layer_norm_is_that_of_pytorch_step_by_step():
    norm = SENTENCES.steps
    right = F.layer_norm(X, [4], GAMMA, BETA, EPS)
    torch.testing.assert_close(norm.layer_norm(X, GAMMA, BETA, eps=EPS), right)
    torch.testing.assert_close(norm.layer_norm(X, GAMMA, None, eps=EPS) + BETA, right)
    torch.testing.assert_close(norm.variance(X), X.var(-1, correction=0, keepdim=True))
    both = norm.standardize(X, (-2, -1), EPS)
    torch.testing.assert_close(both, F.layer_norm(X, [2, 4], eps=EPS))


def test_without_wrong_pieces_the_relatives_are_those_of_pytorch():
    rms = RMS_NORM.steps.standardize(X, eps=EPS)
    torch.testing.assert_close(rms, F.rms_norm(X, [4], eps=EPS))
    q, k, v = normal(3, 2, 5, 4, seed=4).double()
    attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(BY_NAME["attend"].model.steps.mix(q, k, v), attended)


def test_a_model_with_wrong_pieces_goes_on_being_right_for_others():
    of_layer = Model("layer_norm", "layer", axes=LAST)
    left_out = next(p for p in of_layer.pieces if p.why.startswith("ε is left out."))
    layer = of_layer.with_pieces([left_out]).layer(4, EPS).double()
    torch.testing.assert_close(layer(X), F.layer_norm(X, [4], eps=0.0))
    right = of_layer.steps.layer(4, EPS).double()
    torch.testing.assert_close(right(X), F.layer_norm(X, [4], eps=EPS))
    with pytest.raises(ValueError, match=r"4.*3"):
        layer(torch.ones(2, 3).double())


def test_axes_are_called_what_they_are():
    over = {first_sentence(p.why): p for p in SENTENCES.pieces if p.step == "standardize"}
    norm = SENTENCES.with_pieces([over["You averaged over the batch and the positions"]])
    statistics = {"dim": (0, 1), "keepdim": True}
    expected = (X - X.mean(**statistics)) / (X.var(**statistics, correction=0) + EPS).sqrt()
    torch.testing.assert_close(norm.standardize(X, eps=EPS), expected)
