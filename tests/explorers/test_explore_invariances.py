"""The explorer of lesson 14: its verdicts are those of Ba et al. 2016, table 1."""

import numpy as np
import pytest
import torch.nn.functional as F
from explorer_fixtures import moved_by_tests

from lnorm_course.explorers import explore_invariances
from lnorm_course.explorers.invariances import CHANGES, STOPS, C, W, X

# In the order of CHANGES. Those of RMSNorm are Zhang & Sennrich's, github.com/bzhangGo/rmsnorm.
TABLE = {
    "batch norm": "yes no yes yes yes no",
    "weight norm": "yes no yes no no no",
    "layer norm": "yes yes no yes no yes",
    "RMSNorm": "yes no no yes no yes",
}
explorer = moved_by_tests(explore_invariances)


@pytest.mark.parametrize("norm", TABLE)
def test_the_words_decide_every_cell_as_the_papers_do(explorer, norm):
    explorer.norm, explorer.before = norm, False
    for change, verdict in zip(CHANGES, TABLE[norm].split(), strict=True):
        explorer.change = change
        for amount in (amount for amount in STOPS if amount > 0):
            explorer.amount = amount
            assert ("doesn't notice" in explorer.words) == (verdict == "yes"), (change, amount)


def test_a_negative_factor_is_noticed_and_turns_all_signs(explorer):
    explorer.preset = "negative factor"
    assert "16 of 16 outputs change" in explorer.words
    before, same, changed = drawn(explorer, 2)
    np.testing.assert_allclose(changed, -before)
    assert np.isnan(same).all()


def test_a_norm_before_w_notices_its_factor_and_not_that_of_the_points(explorer):
    explorer.preset = "norm in front"
    assert "before W, 16 of 16 outputs change" in explorer.words
    explorer.change = "s x"
    assert "all 16 outputs stay the same" in explorer.words


def test_weight_norm_stands_in_no_place(explorer):
    explorer.preset, explorer.norm = "norm in front", "weight norm"
    words = explorer.words
    explorer.before = False
    assert not explorer.controls["before"].when(explorer.values)
    assert explorer.words == words


def test_the_dots_are_those_of_pytorchs_norms(explorer):
    explorer.preset = "one weight vector"
    changed_w = W.clone()
    changed_w[0] *= 2
    expected = F.layer_norm(X @ changed_w.T, (4,), eps=0.0)
    _, same, changed = drawn(explorer, 2)
    np.testing.assert_allclose(np.where(np.isnan(same), changed, same), expected.flatten())
    explorer.preset = "… with RMSNorm"
    _, _, changed = drawn(explorer, 2)
    expected = F.rms_norm(X @ (W + 2 * C).T, (4,), eps=0.0)
    np.testing.assert_allclose(changed, expected.flatten())


def test_only_what_was_changed_is_drawn_as_changed(explorer):
    explorer.norm, explorer.change = "layer norm", "one point × s"
    _, same, changed = drawn(explorer, 0)
    assert np.isfinite(changed).nonzero()[0].tolist() == [0, 1, 2]
    assert np.isfinite(same).sum() == X.numel() - 3
    assert np.isnan(drawn(explorer, 1)[2]).all()


def drawn(explorer, panel):
    """Return the heights of a panel's marks: before, after and the same, after and changed."""
    ax = explorer.picture.axes[panel]
    return [mark.get_ydata() for mark in explorer.moving if mark.axes is ax]
