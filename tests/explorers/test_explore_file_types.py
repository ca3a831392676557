"""The explorer of file types shows what the network says, with the norms that it names."""

import numpy as np
import pytest
import torch
from explorer_fixtures import moved_by_tests

from lnorm_course.explorers import explore_file_types
from lnorm_course.explorers.file_types import FILES, WHICH
from lnorm_course.lessons.file_types import FORMULAS, as_codes, likeliest, sample_files, with_norm

explorer = moved_by_tests(explore_file_types)


@pytest.mark.parametrize(
    ("formula", "which"),
    [("as trained", "both"), ("RMSNorm", "norm 2"), ("over the batch", "norm 1")],
)
def test_bars_and_names_are_what_the_network_says_of_the_batch(explorer, formula, which):
    model = with_norm(**dict.fromkeys(WHICH[which], FORMULAS[formula]))
    with torch.no_grad():
        rows = likeliest(model(as_codes(*(sample_files()[name] for name in FILES))))
    for file, row in zip(FILES, rows, strict=True):
        explorer.values = {"file": file, "formula": formula, "which": which}
        bars, changed, *names = explorer.moving
        shown = np.reshape(bars.get_xdata(), (-1, 3))[:, 1]
        np.testing.assert_allclose(shown, [probability for _, probability in row], atol=1e-6)
        assert [text.get_text() for text in names] == [kind for kind, _ in row]
        assert changed.get_text().endswith(formula)
        assert f"{file} is {row[0][0]} {row[0][1]:.2f}" in explorer.words


def test_the_words_count_the_files_that_keep_their_kind(explorer):
    explorer.values = {"file": FILES[0], "formula": "as trained", "which": "both"}
    assert explorer.words.startswith("Both norms are as trained")
    assert "8 keep their kind" in explorer.words
    explorer.values = {"file": FILES[0], "formula": "RMSNorm", "which": "norm 2"}
    assert explorer.words.startswith("Norm 2 has another formula, RMSNorm")
    assert "0 keep their kind" in explorer.words
