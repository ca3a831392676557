"""The explorer of lesson 9 shows what autograd gives, one stack at a time."""

import time

import numpy as np
import pytest
import torch

from lnorm_utils.examples import normal, residual_stack
from lnorm_utils.explorers import explore_residual
from lnorm_utils.explorers.residual import PRESETS, _few

ROWS = normal(
    64,
    64,  # as in the lesson
    seed=1,
    dtype=torch.float64,
)
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


def assert_inside(explorer):
    for ax in explorer.picture.axes:
        for line in ax.lines:
            x, y = line.get_data()
            assert ax.get_xlim()[0] <= min(x)
            assert max(x) <= ax.get_xlim()[1]
            assert ax.get_ylim()[0] <= min(y)
            assert max(y) <= ax.get_ylim()[1]


def test_each_control_at_both_ends_shows_what_autograd_gives():
    explorer = explore_residual()
    assert_shows(explorer)
    for depth in (2, 24):
        explorer.controls["depth"].value = depth
        for placement in NAMES:
            explorer.controls["placement"].value = placement
            for final_norm in (True, False):
                explorer.controls["final_norm"].value = final_norm
                assert_shows(explorer)
                assert_inside(explorer)


@pytest.mark.parametrize("preset", PRESETS)
def test_each_preset_shows_what_it_names(preset):
    explorer = explore_residual(preset=preset)
    assert {**explorer.values, **PRESETS[preset]} == explorer.values
    assert explorer.chooser.value == preset
    assert explorer.words.startswith(f"{PRESETS[preset]['depth']} blocks, ")
    assert_shows(explorer)


def test_the_final_norm_can_be_ticked_for_pre_ln_only():
    explorer = explore_residual()
    assert explorer.controls["final_norm"].disabled
    explorer.controls["placement"].value = "pre-LN"
    assert not explorer.controls["final_norm"].disabled


def test_post_ln_grows_almost_fourfold_as_in_the_lesson():
    words = explore_residual(preset="twenty-four blocks, post-LN").words
    assert "first block 10.3, of the last block 40.0, which is 3.87 times" in words


def test_the_legend_names_the_seeds_and_the_other_placement():
    explorer = explore_residual()
    assert [text.get_text() for text in explorer.picture.legends[0].get_texts()] == [
        "lowest and highest of 5 seeds",
        "median of 5 seeds",
        "other placement",
    ]
    assert explorer.controls["final_norm"].description == "final norm (pre-LN only)"


def test_only_what_moves_moves():
    explorer = explore_residual()
    back, limits = explorer.children[-1].children[0].value, explorer.picture.axes[0].get_ylim()
    explorer.controls["depth"].value = 24
    assert explorer.children[-1].children[0].value == back
    assert explorer.picture.axes[0].get_ylim() == limits
    assert len(explorer.foreground.value.encode()) < 20_000


def test_own_rows_and_a_depth_between_two_stops():
    rows = 5 * normal(3, 4, 10, seed=7)
    explorer = explore_residual(depth=5, placement="pre-LN", x=rows)
    slope = normal(10, seed=2, dtype=torch.float64)
    assert_shows(explorer, rows.reshape(12, 10).double(), slope)
    assert_inside(explorer)


def test_as_many_rows_and_features_as_are_said_can_be_explored():
    most = torch.zeros(256, 128)
    assert _few(most) is most
    for more in (torch.zeros(257, 1), torch.zeros(1, 129)):
        with pytest.raises(ValueError, match="at most 256 rows of 128 features"):
            _few(more)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"depth": 1}, "depth must be a whole number between 2 and 24, but 1"),
        ({"depth": 6.0}, "depth must be a whole number"),
        ({"placement": "post"}, "placement must be one of 'post-LN', 'pre-LN', but 'post'"),
        ({"final_norm": 1}, "final_norm must be True or False, but 1"),
        ({"preset": "six"}, "preset must be one of 'six blocks, post-LN'"),
        ({"x": [1.0]}, r"shape \(N, D\) or \(N, L, D\)"),
        ({"x": [[1.0, float("nan")]] * 2}, "1 of 4|2 of 4"),
        ({"x": torch.ones(300, 4)}, "at most 256 rows of 128 features.* 300 rows of 4"),
        ({"x": torch.ones(4, 200)}, "at most 256 rows of 128 features.* 4 rows of 200"),
    ],
)
def test_what_cannot_be_explored_is_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        explore_residual(**arguments)


def test_a_change_is_fast_also_where_a_depth_is_seen_for_the_first_time():
    explorer = explore_residual()
    times = []
    for placement in (*NAMES, *NAMES):
        explorer.controls["placement"].value = placement
        for depth in (2, 4, 6, 8, 12, 16, 24):
            start = time.perf_counter()
            explorer.controls["depth"].value = depth
            times.append(time.perf_counter() - start)
    assert (
        sorted(times)[len(times) // 2] < 0.05
    )  # a few milliseconds, on a machine that does something else as well
