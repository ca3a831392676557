"""Whatever is given: a picture draws all of it, or says in one sentence why it does not."""

import re
import warnings

import numpy as np
import torch
from fuzzing import NOT_FINITE, examples, seeds
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.text import Text

from lnorm_utils.plotting import (
    curves,
    hist_encoding,
    hist_layer_normed,
    number_lines,
    points_before_after,
    shared_cells,
)

FORMS = [
    lambda a: a,
    lambda a: a.astype(np.float32),
    lambda a: a.tolist(),
    lambda a: np.nan_to_num(a).clip(-1e18, 1e18).astype(np.int64),
    lambda a: a > 0,
    torch.as_tensor,
    lambda a: torch.as_tensor(a).requires_grad_(),
    lambda a: torch.as_tensor(a).bfloat16(),
]
SCALES = [0.0, 5e-324, 1e-300, 1e-30, 1e-8, 1.0, 1.0, 1.0, 1e3, 1e8, 1e30, 1e99, 1e300]
OFFSETS = [0.0, 0.0, 0.0, 0.0, 1.0, -1e6, 1e16, 1e99, 1.7e308]
SPECIAL = [*NOT_FINITE, 0.0, -0.0, 5e-324, -1e99, -1.7e308]


@st.composite
def arrays(draw, shapes):
    """Draw numbers of any shape, size, and kind."""
    values = np.array(np.random.default_rng(draw(seeds)).standard_normal(draw(shapes)))
    with np.errstate(all="ignore"):
        values = values * draw(st.sampled_from(SCALES)) + draw(st.sampled_from(OFFSETS))
        values = np.where(np.isfinite(values), values, 1.7e308)
        if values.size:
            for place in draw(st.lists(st.integers(0, values.size - 1), max_size=3)):
                values.flat[place] = draw(st.sampled_from(SPECIAL))
        return draw(st.sampled_from(FORMS))(values)


any_shape = st.lists(st.integers(0, 4), max_size=5).map(tuple)
points = st.one_of(
    st.tuples(st.integers(1, 5), st.integers(1, 5)),
    st.tuples(st.integers(1, 3), st.integers(1, 2), st.integers(1, 4)),
    st.just((1, 3000)),
    any_shape,
)
two_or_three = st.one_of(st.tuples(st.integers(1, 40), st.sampled_from([2, 3])), any_shape)
tables = st.one_of(st.lists(st.integers(1, 3), min_size=2, max_size=4).map(tuple), any_shape)
axes = st.sampled_from([0, -1, 1, (0, 1), [-1, -2], [0, -1], 2, (1, 2, 3)])


def finite(*values):
    """Tell for each number of what is drawn whether it is finite."""
    plain = (v.detach().double() if isinstance(v, torch.Tensor) else v for v in values)
    return np.concatenate([np.isfinite(np.asarray(v, dtype=float)).ravel() for v in plain])


def drawn(draw, *values, **options):
    """Return the picture if all that it shows is inside it; or None if one sentence says why."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            picture = draw(*values, **options)
        except (ValueError, TypeError) as error:
            sentence, picture = str(error), None
        if picture is None:
            assert re.fullmatch(r"[A-Za-z][^\n]{20,}[^ .]\.", sentence), sentence
            return None
        assert picture.png().startswith(b"\x89PNG")
    for ax in picture.axes:
        for line in ax.lines:
            if line.get_transform() == ax.transData:  # not a line across the whole axis
                assert_inside(ax, line.get_xydata())
        for patch in ax.patches:
            if hasattr(patch, "get_data"):
                counts, edges, _ = patch.get_data()
                assert_inside(ax, np.column_stack([edges[1:], counts]))
                assert_inside(ax, np.column_stack([edges[:-1], counts]))
    return picture


def assert_inside(ax, places):
    places = np.asarray(places, dtype=float)
    low, high = np.sort([ax.get_xlim(), ax.get_ylim()], axis=1).T
    for axis, scale in enumerate((ax.get_xscale(), ax.get_yscale())):
        if scale == "log":  # it has no place for these
            places = places[places[:, axis] > 0]
    places = places[np.isfinite(places).all(1)]
    assert ((low <= places) & (places <= high)).all(), (places, low, high)


def assert_words_for_numbers(picture, *values):
    """Finite numbers make no text with nan or inf, in titles, labels, ticks and words."""
    if finite(*values).all():
        for text in [*(t.get_text() for t in picture.findobj(Text)), picture.words]:
            assert not re.search(r"\b(nan|inf)\b", text, re.IGNORECASE), text


@examples(16)
@given(arrays(points), arrays(points), st.sampled_from(["alone", "same", "other"]))
def test_histograms_count_every_finite_value(before, other, after):
    values = {"alone": [before], "same": [before, before], "other": [before, other]}[after]
    if picture := drawn(hist_encoding if len(values) == 1 else hist_layer_normed, *values):
        assert_words_for_numbers(picture, *values)
        stairs = [p for ax in picture.axes for p in ax.patches if hasattr(p, "get_data")]
        assert sum(p.get_data()[0].sum() for p in stairs) == finite(*values).sum()


@examples(10)
@given(arrays(points))
def test_number_lines_draw_every_finite_value(values):
    if picture := drawn(number_lines, values):
        assert_words_for_numbers(picture, values)
        (ax,) = picture.axes
        for segment in ax.collections[0].get_segments():
            assert_inside(ax, segment.reshape(-1, 2))
        assert np.isfinite(ax.lines[0].get_xdata()).sum() == finite(values).sum()


@examples(10)
@given(st.data(), two_or_three, st.booleans())
def test_points_before_and_after_draw_every_finite_point(data, shape, other):
    before = data.draw(arrays(st.just(shape)))
    after = data.draw(arrays(two_or_three if other else st.just(shape)))
    if picture := drawn(points_before_after, before, after):
        assert_words_for_numbers(picture, before, after)
        both = (finite(before) & finite(after)).reshape(shape).all(1)
        assert sum(len(line.get_xdata()) for ax in picture.axes for line in ax.lines) == (
            2 * both.sum()
        )


@examples(12)
@given(arrays(tables), axes)
def test_a_table_has_a_cell_for_each_number(values, dim):
    if picture := drawn(shared_cells, values, dim):
        assert_words_for_numbers(picture, values)
        cells = [(ax, patch) for ax in picture.axes for patch in ax.patches]
        for ax, patch in cells:
            assert_inside(ax, patch.get_bbox().get_points())
        assert len(cells) == finite(values).size


@examples(12)
@given(
    st.data(),
    st.sampled_from([1, 2, 3, 12, 2000, 0]),
    st.sampled_from(["", "x", "y", "xy"]),
    st.booleans(),
)
def test_curves_draw_every_finite_value(data, length, log, joined):
    shapes = st.sampled_from([*[(length,)] * 12, (length, 1), (), (length + 1,)])
    x = data.draw(arrays(shapes))
    most = data.draw(st.sampled_from([1, 2, 4, 5, 0]))
    lines = data.draw(st.lists(arrays(shapes), min_size=min(most, 1), max_size=most))
    heights = st.sampled_from([0.0, 0.5, -3.0, 1e-9, 1e99, *NOT_FINITE])
    levels = {f"level {n}": v for n, v in enumerate(data.draw(st.lists(heights, max_size=2)))}
    options = {"title": "Title", "xlabel": "x", "ylabel": "y", "log": log, "joined": joined}
    lines = {f"line {n}": line for n, line in enumerate(lines)}
    if picture := drawn(curves, x, lines, levels=levels, **options):
        assert_words_for_numbers(picture, x, list(levels.values()), *lines.values())
