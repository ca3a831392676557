"""The explorer of the residual stream shows what autograd gives, one stack at a time."""

import re
from functools import cache

import numpy as np
import pytest
import torch

from lnorm_course.explorers import explore_residual, explore_stream
from lnorm_utils.data import normal, residual_stack
from lnorm_utils.words import significant

ROWS = normal(64, 64, seed=1, dtype=torch.float64)  # as in the lesson
NAMES = {"post-LN": "post", "pre-LN": "pre", "no norm": "none"}


@cache
def measured(depth, placement, final_norm, own_directions, rows):
    """Compute the gradient norms (seeds, depth) and scales (seeds, depth + 1) by backward."""
    slope = normal(*rows.shape[0 if own_directions else 1 :], seed=2, dtype=torch.float64)
    norms, scales = [], []
    for seed in range(5):
        has_final = {"post-LN": False, "pre-LN": final_norm, "no norm": True}[placement]
        stack = residual_stack(depth, NAMES[placement], seed, rows.shape[1], has_final)
        (stack(rows) * slope).sum(-1).mean().backward()
        norms.append(
            [
                torch.cat([p.grad.flatten() for p in b.parameters()]).norm().item()
                for b in stack.blocks
            ]
        )
        stream = [rows]
        for block in stack.blocks:
            stream.append(block(stream[-1]))
        scales.append([h.var(-1, correction=0).mean().sqrt().item() for h in stream])
    return np.array(norms), np.array(scales)


def assert_shows(explorer, rows=ROWS):
    """Compare what is drawn, and the words, with numbers computed here."""
    values = explorer.values
    everything = {
        name: measured(
            values["depth"],
            name,
            values["final_norm"] or name != values["placement"],
            values["own_directions"],
            rows,
        )
        for name in NAMES
    }
    for panel, (grid, *numbers, lines) in enumerate(panels(explorer)):
        chosen = everything[values["placement"]][panel]
        medians = [np.median(both[panel], 0) for both in everything.values()]
        for line, course in zip(lines, (chosen.min(0), chosen.max(0), *medians), strict=True):
            places, heights = np.array(line.get_data())
            np.testing.assert_allclose(places, np.linspace(0, 1, len(course)))
            np.testing.assert_allclose(heights, course, rtol=1e-9)
        # The gradients begin at block 1, the scales with what enters, before any block.
        begin = 1 - panel
        numbers = [text for text in numbers if text.get_text()]
        assert [*grid.get_xdata()[::3]] == [text.get_position()[0] for text in numbers]
        for text in numbers:
            place = (int(text.get_text()) - begin) / (len(chosen.T) - 1)
            assert text.get_position()[0] == pytest.approx(place)
        assert int(numbers[0].get_text()) == begin
        assert int(numbers[-1].get_text()) > 0.7 * values["depth"]
    norms, scales = (np.median(numbers, 0) for numbers in everything[values["placement"]])
    words = explorer.words
    assert f"Block 1 gets {'the largest ' if norms[0] == norms.max() else 'a '}gradient" in words
    blocks = re.findall(r"block (\d+)", words.split("Block 1 gets")[1])
    assert [int(n) for n in blocks] == [len(norms)] + [norms.argmax() + 1] * (len(blocks) - 1)
    assert len(blocks) == 1 + (norms.argmax() not in (0, len(norms) - 1))
    for number in (norms[0], norms[-1], norms.max(), scales[-1]):
        assert significant(number, 3 if 0.1 < number < 1000 else 2) in words
    if values["placement"] == "pre-LN" and not values["final_norm"]:
        with_one, _ = measured(values["depth"], "pre-LN", True, values["own_directions"], rows)
        assert f"gradient by {significant(norms[0] / np.median(with_one, 0)[0], 3)}" in words
    assert words.startswith(f"{values['depth']} ")
    assert (values["placement"] in words) == (values["placement"] != "no norm")
    assert ("each row pulled its own way" in words) == values["own_directions"]


def panels(explorer):
    """Return what moves in each panel: uprights, numbers, and two lines of seeds, three medians."""
    half = len(explorer.moving) // 2
    for panel in (explorer.moving[:half], explorer.moving[half:]):
        yield [*panel[:-5], panel[-5:]]


@pytest.mark.parametrize("own_directions", [True, False])
def test_each_control_at_both_ends_shows_what_autograd_gives(own_directions):
    explorer = explore_residual(own_directions=own_directions)
    assert_shows(explorer)
    for depth in (2, 24) if own_directions else (24,):
        explorer.depth = depth
        for placement in NAMES:
            explorer.placement = placement
            for final_norm in (True, False):
                explorer.final_norm = final_norm
                assert_shows(explorer)


def test_the_explorer_of_the_stream_shows_the_same_scales_and_says_where_they_end():
    explorer = explore_stream(x=ROWS)
    for depth in (2, 24):
        explorer.depth = depth
        for placement in NAMES:
            explorer.placement = placement
            scales = {name: measured(depth, name, True, False, ROWS)[1] for name in NAMES}
            chosen, lines = scales[placement], explorer.moving[-5:]
            courses = [chosen.min(0), chosen.max(0), *(np.median(s, 0) for s in scales.values())]
            for line, course in zip(lines, courses, strict=True):
                np.testing.assert_allclose(line.get_ydata(), course, rtol=1e-9)
            end = significant(np.median(chosen[:, -1]), 3 if np.median(chosen[:, -1]) > 0.1 else 2)
            assert f"ends with {end}" in explorer.words
