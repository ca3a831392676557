"""The explorer of lesson 9 shows what autograd gives, one stack at a time."""

import numpy as np
import torch

from lnorm_utils.examples import normal, residual_stack
from lnorm_utils.explorers import explore_residual

ROWS = normal(64, 64, seed=1, dtype=torch.float64)  # as in the lesson
SLOPE = normal(64, seed=2, dtype=torch.float64)
NAMES = {"post-LN": "post", "pre-LN": "pre"}


def measured(depth, placement, final_norm, rows=ROWS, slope=SLOPE):
    """Compute the gradient norms (seeds, depth) and scales (seeds, depth + 1) by backward."""
    norms, scales = [], []
    for seed in range(5):
        has_final = final_norm and placement == "pre-LN"
        stack = residual_stack(depth, NAMES[placement], seed, rows.shape[1], has_final)
        (stack(rows) @ slope).mean().backward()
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


def lines_of(explorer):
    return [np.array(artist.get_data()) for artist in explorer.moving]


def assert_shows(explorer, rows=ROWS, slope=SLOPE):
    """Compare what is drawn, and the words, with numbers computed here."""
    values = explorer.values
    expected = measured(**values, rows=rows, slope=slope)
    name = "pre-LN" if values["placement"] == "post-LN" else "post-LN"
    others = measured(values["depth"], name, True, rows, slope)
    drawn = lines_of(explorer)
    for lines, numbers, other, first in zip(
        (drawn[:4], drawn[4:]), expected, others, (1, 0), strict=True
    ):
        courses = numbers.min(0), numbers.max(0), np.median(numbers, 0), np.median(other, 0)
        for line, course in zip(lines, courses, strict=True):
            np.testing.assert_array_equal(line[0], first + np.arange(len(course)))
            np.testing.assert_allclose(line[1], course, rtol=1e-9)
    norms, scales = (np.median(numbers, 0) for numbers in expected)
    ending, scale = ", with a final norm", "Scale of the stream after the last block"
    if values["placement"] == "post-LN":
        ending = " (each block ends in a norm)"
    elif not values["final_norm"]:
        usual = np.median(measured(values["depth"], "pre-LN", True, rows, slope)[0], 0)[0]
        ending = ", no final norm"
        scale = (
            f"The first is {norms[0] / usual:.1f} times the first block's with a final norm; the "
            "scale of the stream after the last block is"
        )
    assert explorer.words == (
        f"{values['depth']} blocks, {values['placement']}{ending}. Gradient norm of the first "
        f"block {norms[0]:.1f}, of the last block {norms[-1]:.1f}, which is "
        f"{norms[-1] / norms[0]:.2f} times the first. {scale} {scales[-1]:.2f}."
    )


def test_each_control_at_both_ends_shows_what_autograd_gives():
    explorer = explore_residual()
    assert_shows(explorer)
    for depth in (2, 24):
        explorer.depth = depth
        for placement in NAMES:
            explorer.placement = placement
            for final_norm in (True, False):
                explorer.final_norm = final_norm
                assert_shows(explorer)


def test_post_ln_grows_almost_fourfold_as_in_the_lesson():
    words = explore_residual(preset="twenty-four blocks, post-LN").words
    assert "first block 10.3, of the last block 40.0, which is 3.87 times" in words


def test_own_rows_and_a_depth_between_two_stops():
    rows = 5 * normal(3, 4, 10, seed=7)
    explorer = explore_residual(depth=5, placement="pre-LN", x=rows)
    slope = normal(10, seed=2, dtype=torch.float64)
    assert_shows(explorer, rows.reshape(12, 10).double(), slope)
