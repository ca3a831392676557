"""The explorer of file types shows what the network says, with the norms that it names."""

import numpy as np
import pytest
import torch

from lnorm_course.explorers.file_types import FILES, WHICH, explore_file_types, said
from lnorm_course.lessons.file_types import FORMULAS, as_codes, likeliest, sample_files, with_norm


@pytest.mark.parametrize(
    ("formula", "which", "kept"),
    [("as trained", "both", 8), ("RMSNorm", "norm 2", 0), ("over the batch", "norm 1", None)],
)
def test_it_says_what_the_network_says_of_the_batch(formula, which, kept):
    model = with_norm(**dict.fromkeys(WHICH[which], FORMULAS[formula]))
    with torch.no_grad():
        rows = likeliest(model(as_codes(*(sample_files()[name] for name in FILES))))
    for file, row in zip(FILES, rows, strict=True):
        kinds, number = said(file, formula, which)
        for (kind, probability), (expected, likely) in zip(kinds, row, strict=True):
            assert (kind, probability) == (expected, pytest.approx(likely, abs=1e-6))
        assert kept in (number, None)


def test_bars_end_at_the_probabilities_and_have_the_names_of_the_kinds():
    explorer = explore_file_types(preset="norm 2 as RMSNorm")
    words, (found, _) = explorer.words, said(FILES[0], "RMSNorm", "norm 2")
    ((bars, _, *names),) = explorer.panels.values()
    kinds, probabilities = zip(*found, strict=True)
    np.testing.assert_allclose(np.reshape(bars.get_xdata(), (-1, 3))[:, 1], probabilities)
    assert tuple(text.get_text() for text in names) == kinds
    assert f"{FILES[0]} is {kinds[0]} {probabilities[0]:.2f}" in words
    assert "0 keep their kind" in words
