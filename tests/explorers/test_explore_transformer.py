"""The explorer of the transformer shows the runs of the grid, and reads their losses rightly."""

import math

import numpy as np
import pytest
from explorer_fixtures import moved_by_tests

from lnorm_course.explorers import explore_transformer
from lnorm_course.lessons.transformer.grid import BEGINNINGS, RATES, run, split
from lnorm_course.lessons.transformer.model import PLACES
from lnorm_course.lessons.transformer.text import entropies

explorer = moved_by_tests(explore_transformer)


@pytest.mark.parametrize(("steps", "embeddings"), BEGINNINGS)
@pytest.mark.parametrize("rate", RATES)
def test_the_curves_and_the_text_are_those_of_the_grid(explorer, rate, steps, embeddings):
    start = {"embeddings": embeddings, "warm_up": steps > 1}
    for place in PLACES:
        explorer.values = {"rate": rate, "place": place, **start}
        *curves, _, text = explorer.moving
        low, high = curves[0].axes.get_ylim()
        for curve in curves:
            losses = np.array(run(curve.get_label(), rate, steps, 0, embeddings).losses)
            np.testing.assert_array_equal(curve.get_ydata(), np.clip(losses, low, high))
        assert max(curves, key=lambda curve: curve.get_linewidth()).get_label() == place
        written = "".join(run(place, rate, steps, 0, embeddings).text.split())
        shown = "".join(text.get_text().split())
        assert written.startswith(shown)
        assert len(shown) >= 0.9 * len(written)


def test_the_words_compare_the_loss_on_new_text_with_its_entropies(explorer):
    known, said = entropies(split()[1]), set()
    for place in PLACES:
        for rate in RATES:
            explorer.values = {"rate": rate, "place": place, "embeddings": 1, "warm_up": False}
            loss, words = run(place, rate).validation, explorer.words
            assert (f"its loss is {loss:.2f}" in words) == (not math.isnan(loss))
            verdict = words.split(": ")[1]
            said.add(verdict.split(", ")[-1])
            assert ("overflowed" in verdict) == math.isnan(loss)
            assert ("no better than always" in verdict) == (loss > known.letters - 0.03)
            assert ("more than the one character" in verdict) == (loss < known.pairs - 0.03)
    assert len(said) >= 4
