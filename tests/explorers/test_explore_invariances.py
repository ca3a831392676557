"""The explorer of lesson 14: its verdicts are those of Ba et al. 2016, table 1."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from lnorm_course.explorers.invariances import (
    CHANGES,
    NORMS,
    STOPS,
    C,
    W,
    X,
    changed,
    explore_invariances,
    outputs,
)

# In the order of CHANGES. Those of RMSNorm are Zhang & Sennrich's, github.com/bzhangGo/rmsnorm.
TABLE = {
    "batch norm": "yes no yes yes yes no",
    "weight norm": "yes no yes no no no",
    "layer norm": "yes yes no yes no yes",
    "RMSNorm": "yes no no yes no yes",
}
TORCHS = {
    "batch norm": lambda a: F.batch_norm(a, None, None, training=True, eps=1e-30),
    "layer norm": lambda a: F.layer_norm(a, a.shape[-1:], eps=0.0),
    "RMSNorm": lambda a: F.rms_norm(a, a.shape[-1:], eps=0.0),
}


@pytest.fixture(scope="module")
def explorer():
    explorer = explore_invariances()
    explorer.said = lambda *state: explorer.move_to(
        explorer.state_of(dict(zip(explorer.controls, state, strict=True)))
    )
    return explorer


@pytest.mark.parametrize("norm", NORMS)
def test_the_words_decide_every_cell_as_the_papers_do(explorer, norm):
    for change, verdict in zip(CHANGES, TABLE[norm].split(), strict=True):
        for amount in (amount for amount in STOPS if amount > 0):
            words = explorer.said(change, norm, amount, False)
            assert ("doesn't notice" in words) == (verdict == "yes"), (change, amount)


def test_a_negative_factor_and_a_norm_in_front_are_noticed(explorer):
    (_, _, was), (_, _, now) = changed("s W", "layer norm", -1, False)
    torch.testing.assert_close(now, -was)
    assert "notices: 16 of 16 outputs change" in explorer.said("s W", "layer norm", -1, False)
    assert "before W notices" in explorer.said("s W", "layer norm", 2, True)
    assert "before W doesn't" in explorer.said("s x", "layer norm", 2, True)
    assert len({explorer.said("s W", "weight norm", 2, before) for before in (False, True)}) == 1


@pytest.mark.parametrize("norm", TORCHS)
def test_the_outputs_are_those_of_pytorchs_norms(norm):
    w = W + 2 * C
    for before, expected in ((False, TORCHS[norm](X @ w.T)), (True, TORCHS[norm](X) @ w.T)):
        torch.testing.assert_close(outputs(norm, X, w, before), expected)
    torch.testing.assert_close(outputs("weight norm", X, w, False), X @ F.normalize(w).T)


def test_only_what_was_changed_is_drawn_as_changed(explorer):
    before, after = changed("one point × s", "layer norm", 2, False)
    explorer.said("one point × s", "layer norm", 2, False)
    marks = [mark.get_ydata() for panel in explorer.panels.values() for mark in panel]
    (was, same, now), (_, _, weights), (outs, *_) = marks[:3], marks[3:6], marks[6:]
    assert np.isfinite(now).nonzero()[0].tolist() == [0, 1, 2]
    np.testing.assert_array_equal(np.where(np.isnan(same), now, same), after[0].flatten())
    np.testing.assert_array_equal(was, X.flatten())
    np.testing.assert_array_equal(outs, before[2].flatten())
    assert np.isnan(weights).all()
