"""Whoever gives a wrong argument is told which one, what it is, and what it should be."""

import math

import pytest
import torch

from lnorm_course.lessons.clinic import patient
from lnorm_course.lessons.speed import measured, traffic
from lnorm_course.lessons.transformer import grid
from lnorm_course.lessons.transformer.model import CausalAttention, Transformer, TransformerBlock
from lnorm_course.lessons.transformer.text import encode
from lnorm_utils import (
    LayerNorm,
    PositionalEncoding,
    ResidualBlock,
    ResidualStack,
    layer_norm,
    mean,
)
from lnorm_utils.backward import layer_norm_backward
from lnorm_utils.data import normal, residual_stack
from lnorm_utils.measures import decoder_r2, gradient_norms

X = normal(3, 4, seed=0)
ENCODE = PositionalEncoding(max_len=3, d_model=6)
OF_ENCODE = "at most 3 positions of 6 features"
WRONG = [
    (lambda: layer_norm(X, 5), "(5,)", "(3, 4)"),
    (lambda: layer_norm(X, (2, 3, 4)), "(2, 3, 4)", "(3, 4)"),
    (lambda: layer_norm(X, ()), "shape is ()", "(3, 4)"),
    (lambda: layer_norm(X, -1), "(-1,)", "(3, 4)"),
    (lambda: layer_norm(X.sum(), 4), "(4,)", "()"),
    (lambda: layer_norm(X, 4, X[0, :3]), "weight must", "(4,)", "(3,)"),
    (lambda: layer_norm(X, 4, None, X), "bias must", "(4,)", "(3, 4)"),
    (lambda: layer_norm_backward(X[0], X, 4), "(3, 4)", "(4,)"),
    (lambda: layer_norm_backward(X, X, 5), "(5,)", "(3, 4)"),
    (lambda: layer_norm_backward(X, X, 4, X[0, :3]), "weight", "(3,)"),
    (lambda: LayerNorm((3, 4))(torch.ones(2, 5)), "(3, 4)", "(2, 5)"),
    (lambda: ENCODE(torch.ones(1, 4, 6)), OF_ENCODE, "(1, 4, 6)"),
    (lambda: ENCODE(torch.ones(1, 3, 5)), OF_ENCODE, "(1, 3, 5)"),
    (lambda: ENCODE(torch.ones(6)), OF_ENCODE, "(6,)"),
    (lambda: ENCODE(torch.ones(())), OF_ENCODE, "()"),
    (lambda: ResidualBlock(4, "before"), "'post', 'pre', 'none', but 'before' was given"),
    (lambda: residual_stack(2, "pre", seed=0, init="He"), "'kaiming', but 'He' was given"),
    (lambda: gradient_norms(ResidualStack(1, 4), X, X[0, :3]), "(4,)", "(3,)"),
    (lambda: decoder_r2(X, X[:2]), "(3, 4)", "(2, 4)"),
    (lambda: decoder_r2(math.nan * normal(8, 2, seed=0), torch.ones(8, 1)), "NaN or infinity"),
    (lambda: decoder_r2(normal(8, 2, seed=0), torch.ones(8, 1)), "is constant"),
    (lambda: TransformerBlock(8, 2, "sandwich"), "'no norm', 'post-LN'", "'sandwich' was given"),
    (lambda: CausalAttention(8, 3), "divide d_model = 8, but 3 was given"),
    (lambda: Transformer(5, d_model=8, heads=2, length=4)(torch.arange(5)), "at most 4 positions"),
    (lambda: encode("É"), "'É' is not one of the 37"),
    (lambda: grid.run("pre-LN", 0.5), "rates 0.0003, 0.001", "0.5, 0, and (1, 1) were given"),
    (lambda: grid.run("pre-LN", 0.01, 100, embeddings=8), "embeddings) (1, 1)", "(100, 8) were"),
    (lambda: traffic(torch.clone, torch.ones(0, 4)), "(0, 4)"),
    (lambda: measured("abacus"), "'abacus', only for cpu"),
    *((lambda n=n: patient(n), f"from 1 to 6, but {n!r}") for n in (0, 7, "1", True, 1.0, [1])),
]
OF_TYPES = [
    (lambda: layer_norm(X.long(), 4), "torch.int64", "x.float()"),
    (lambda: layer_norm(X.to(torch.complex64), 4), "complex64"),
    (lambda: layer_norm(X.tolist(), 4), "tensor", "a list"),
    (lambda: layer_norm_backward(X, X.long(), 4), "int64"),
    (lambda: mean(X.int()), "int32"),
]
BY_PYTORCH = [(lambda: ResidualBlock(4, "pre")(torch.ones(2, 3)), "[4]", "[2, 3]")]


@pytest.mark.parametrize(
    ("error", "calls"), [(ValueError, WRONG), (TypeError, OF_TYPES), (RuntimeError, BY_PYTORCH)]
)
def test_a_wrong_argument_is_named_with_what_is_expected(error, calls):
    for call, *words in calls:
        with pytest.raises(error) as raised:
            call()
        assert [word for word in words if word not in str(raised.value)] == [], raised.value
