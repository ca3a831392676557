"""The explorer of lesson 1 lights up the cells that share a mean, and says which mean that is."""

import itertools
import math
import re

import numpy as np
import pytest
from explorer_fixtures import moved_by_tests
from matplotlib.path import Path

from lnorm_course.explorers.shared_mean import explore_shared_mean
from lnorm_utils.data import encoded_points

SHAPES = {"(N, D)": (6, 4), "(N, L, D)": (3, 2, 4), "(N, C, H, W)": (3, 2, 2, 2)}
LETTERS = "NLDCHW"
NUMBERS = encoded_points().double().numpy().ravel()
NUMBER = re.compile(r"−?\d+\.\d\d")


explorer = moved_by_tests(explore_shared_mean)


def letters(kind):
    return re.sub("[^A-Z]", "", kind)


def subsets(kind):
    own = letters(kind)
    sizes = range(len(own) + 1)
    return ["".join(c) for size in sizes for c in itertools.combinations(own, size)]


def put(explorer, kind, over, which):
    explorer.tensor = kind
    for letter in LETTERS:
        if letter in explorer.controls:
            setattr(explorer, letter, letter in over)
    explorer.which = which


def text(value):
    return f"{value:.2f}".replace("-", "−")


def group_of(x, kind, over, which):
    """Return the shape of all means, the index of one, its numbers and its mean, by numpy."""
    axes = tuple(letters(kind).index(letter) for letter in over)
    means = x.mean(axes, keepdims=True) if axes else x
    index = [*np.ndindex(means.shape)][min(which, means.size) - 1]
    cells = x[tuple(slice(None) if a in axes else i for a, i in enumerate(index))]
    return means.shape, index, np.ravel(cells), means[index]


def lit_texts(explorer):
    """Return the numbers that are written in the cells that are lit, and all that are written."""
    _, lit, _, _ = [artist for artist in explorer.moving if artist.get_visible()]
    (ax,) = explorer.picture.axes
    cells = [Path(vertices) for vertices in lit.get_path().to_polygons(closed_only=False)]
    written = [t for t in ax.texts if NUMBER.fullmatch(t.get_text()) and t.get_visible()]
    inside = [[t for t in written if c.contains_point(t.get_position())] for c in cells]
    assert all(len(found) == 1 for found in inside)
    assert all(t.get_zorder() > lit.get_zorder() for t in written)
    return [found[0].get_text() for found in inside], [t.get_text() for t in written]


def check(explorer, x, kind, over, which):
    shape, index, cells, mean = group_of(x, kind, over, which)
    lit, shown = lit_texts(explorer)
    assert sorted(lit) == sorted(map(text, cells))
    assert shown == [text(value) for value in x.ravel()]
    count, words, caption = math.prod(shape), explorer.words, explorer.moving[-1].get_text()
    assert explorer.which == min(which, count)
    assert f", shape {shape} with keepdim." in words
    assert f"is lit, with mean {text(mean)}." in words
    assert f"; mean {explorer.which} is {text(mean)}\n" in caption
    means = f"{count} mean{'s' * (count > 1)} of {len(cells)} cell{'s' * (len(cells) > 1)}"
    if not over:
        means = f"{x.size} cells, each its own mean"
    assert f": {means}" in words
    assert caption.startswith(means)
    named = re.match("Mean over ([^:]*):|No axis picked:", words)[1] or ""
    assert re.sub("[^A-Z]", "", named) == over
    selected = re.search(r"x\[([^\]]*)\]", words)[1].split(", ")
    assert [s == ":" for s in selected] == [letter in over for letter in letters(kind)]
    assert [int(s) for s in selected if s != ":"] == [
        i for i, letter in zip(index, letters(kind), strict=True) if letter not in over
    ]


@pytest.mark.parametrize("kind", SHAPES)
def test_every_choice_of_axes_lights_the_cells_of_its_first_and_last_mean(explorer, kind):
    x = NUMBERS.reshape(SHAPES[kind])
    for over in subsets(kind):
        for which in (1, 2, 24):
            put(explorer, kind, over, which)
            check(explorer, x, kind, over, which)


@pytest.mark.parametrize("kind", SHAPES)
def test_a_switch_is_gray_where_the_tensor_has_no_such_axis(explorer, kind):
    put(explorer, kind, letters(kind)[0], 1)
    gray = {a for a in LETTERS if not explorer.controls[a].when(explorer.values)}
    assert gray == set(LETTERS) - set(letters(kind))


def test_words_say_which_choices_are_layer_norm_and_which_are_not(explorer):
    layer_norm = {("(N, D)", "D"), ("(N, L, D)", "D"), ("(N, C, H, W)", "C")}
    layer_norm.add(("(N, C, H, W)", "CHW"))
    batch_norm = {("(N, D)", "N"), ("(N, L, D)", "NL"), ("(N, C, H, W)", "NHW")}
    for kind in SHAPES:
        for over in subsets(kind):
            put(explorer, kind, over, 1)
            for text in (explorer.words, explorer.moving[-1].get_text()):
                assert ("This is layer norm" in text) == ((kind, over) in layer_norm)
                assert ("not layer norm" in text) == ((kind, over) not in layer_norm)
                assert ("This is batch norm" in text) == ((kind, over) in batch_norm)
