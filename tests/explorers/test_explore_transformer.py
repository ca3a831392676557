"""The explorer of the transformer shows the runs of the grid, and reads their losses rightly."""

import math

import numpy as np
import pytest

from lnorm_course.explorers import explore_transformer
from lnorm_course.lessons.transformer.grid import BEGINNINGS, RATES, run, split
from lnorm_course.lessons.transformer.model import PLACES
from lnorm_course.lessons.transformer.text import entropies


@pytest.mark.parametrize(("steps", "embeddings"), BEGINNINGS)
def test_the_curves_and_the_whole_text_are_those_of_the_grid(steps, embeddings):
    explorer = explore_transformer(rate=0.01, embeddings=embeddings, warm_up=steps > 1)
    words = explorer.words
    (*curves, _, _, _, _), (_, text) = explorer.panels.values()
    low, high = curves[0].axes.get_ylim()
    for place, curve in zip(PLACES, curves, strict=True):
        losses = run(place, 0.01, steps, 0, embeddings).losses
        np.testing.assert_array_equal(curve.get_ydata(), np.clip(losses, low, high))
    assert max(curves, key=lambda curve: curve.get_linewidth()) is curves[[*PLACES].index("pre-LN")]
    written = run("pre-LN", 0.01, steps, 0, embeddings).text
    assert text.get_text().split() == written.split()
    assert ("with a warm-up" in words) == (steps > 1)


def test_the_words_compare_the_loss_on_new_text_with_its_entropies():
    explorer = explore_transformer()
    known, said = entropies(split()[1]), set()
    for place in PLACES:
        for rate in RATES:
            loss = run(place, rate).validation
            state = {"rate": rate, "place": place, "embeddings": 1, "warm_up": False}
            verdict = explorer.move_to(explorer.state_of(state)).split(": ")[1]
            said.add(verdict.split(", ")[-1])
            assert (f"its loss is {loss:.2f}" in verdict) == (not math.isnan(loss))
            assert ("overflowed" in verdict) == math.isnan(loss)
            assert ("no better than always" in verdict) == (loss > known.letters - 0.03)
            assert ("more than the one character" in verdict) == (loss < known.pairs - 0.03)
    assert len(said) >= 4
