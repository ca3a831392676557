"""The explorer of lesson 1 lights up the cells that share a mean, and says which mean that is."""

import itertools
import math
import re

import numpy as np
import pytest
import torch
from explorer_fixtures import made_by_tests, moved_by_tests
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.path import Path
from matplotlib.text import Text

from lnorm_utils.examples import encoded_points
from lnorm_utils.explorers.shared_mean import explore_shared_mean

SHAPES = {"(B, C)": (6, 4), "(B, T, C)": (3, 2, 4), "(B, C, H, W)": (3, 2, 2, 2)}
NUMBERS = encoded_points().double().numpy().ravel()
NUMBER = re.compile(r"−?\d+\.\d\d")
OWN = [(5, 3), (1, 8), (8, 1), (2, 3, 4), (7, 2, 2), (2, 2, 3, 2), (1, 4, 2, 2)]
BUILT_IN = {
    "layer norm of a table": ("(B, C)", "C", 6),
    "layer norm of sequences": ("(B, T, C)", "C", 6),
    "one mean per sentence": ("(B, T, C)", "TC", 3),
    "per image": ("(B, C, H, W)", "CHW", 3),
    "per pixel": ("(B, C, H, W)", "C", 12),
    "batch norm of a table": ("(B, C)", "B", 4),
    "batch norm of images": ("(B, C, H, W)", "BHW", 2),
    "all: one mean": ("(B, T, C)", "BTC", 1),
}


explorer = moved_by_tests(explore_shared_mean)
explore = made_by_tests(explore_shared_mean)


def letters(kind):
    return re.sub("[^A-Z]", "", kind)


def subsets(kind):
    own = letters(kind)
    sizes = range(len(own) + 1)
    return ["".join(c) for size in sizes for c in itertools.combinations(own, size)]


def put(explorer, kind, over, which):
    explorer.controls["tensor"].value = kind
    for letter in "BTCHW":
        if letter in explorer.controls:
            explorer.controls[letter].value = letter in over
    explorer.controls["which"].value = which


def text(value):
    return f"{value:.2f}".replace("-", "−")


def group_of(x, kind, over, which):
    """Return the shape of all means, the index of one, its numbers and its mean, by numpy."""
    axes = tuple(letters(kind).index(letter) for letter in over)
    means = x.mean(axes, keepdims=True) if axes else x
    index = [*np.ndindex(means.shape)][which % means.size]
    cells = x[tuple(slice(None) if a in axes else i for a, i in enumerate(index))]
    return means.shape, index, np.ravel(cells), means[index]


def lit_texts(explorer):
    """Return the numbers that are written in the cells that are lit, and those in the frame."""
    frame, lit, _ = explorer.moving
    cells = [Path(vertices) for vertices in lit.get_path().to_polygons(closed_only=False)]
    (x, y), width, height = frame.get_xy(), frame.get_width(), frame.get_height()
    written = [t for t in explorer.picture.findobj(Text) if NUMBER.fullmatch(t.get_text())]
    framed = [
        t
        for t in written
        if x < t.get_position()[0] < x + width and y < t.get_position()[1] < y + height
    ]
    inside = [[t for t in framed if c.contains_point(t.get_position())] for c in cells]
    assert all(len(found) == 1 for found in inside)
    return [found[0].get_text() for found in inside], [t.get_text() for t in framed]


def check(explorer, x, kind, over, which):
    shape, index, cells, mean = group_of(x, kind, over, which)
    lit, framed = lit_texts(explorer)
    assert sorted(lit) == sorted(map(text, cells))
    assert framed == [text(value) for value in x.ravel()]
    count, words, caption = math.prod(shape), explorer.words, explorer.moving[2].get_text()
    assert f"{kind} = {x.shape}" in words
    assert f"Mean {which % count}, at index" in words
    assert f"at index {tuple(map(int, index))}, is lit" in words
    assert f", shape {shape}" in words
    assert f"whose mean is {text(mean)}." in words
    assert f", shape {shape}" in caption
    assert caption.endswith(f"mean {text(mean)}")
    if over:
        means = f"{count} mean{'s' * (count > 1)} of {len(cells)} cell{'s' * (len(cells) > 1)}"
        assert means in words
        assert means in caption
        named = re.search("mean over ([^:]*):", words)[1]
        assert re.sub("[^A-Z]", "", named) == over
    else:
        assert f"no axis picked: each of {x.size} cells would be its own mean" in words
        assert caption.startswith("no axis picked: each of")
    selected = re.search(r"x\[([^\]]*)\]", words)[1].split(", ")
    assert [s == ":" for s in selected] == [letter in over for letter in letters(kind)]
    assert f"lit: x[{', '.join(selected)}]" in caption


def test_the_numbers_of_the_lesson_can_be_told_apart():
    assert len({text(value) for value in NUMBERS}) == 24


@pytest.mark.parametrize("kind", SHAPES)
def test_every_choice_of_axes_lights_the_cells_of_its_first_and_last_mean(explorer, kind):
    x = NUMBERS.reshape(SHAPES[kind])
    for over in subsets(kind):
        for which in (0, 1, 23):
            put(explorer, kind, over, which)
            check(explorer, x, kind, over, which)


def test_from_the_last_mean_the_slider_goes_on_to_the_first(explorer):
    put(explorer, "(B, T, C)", "TC", 0)
    seen = []
    for which in range(24):
        put(explorer, "(B, T, C)", "TC", which)
        check(explorer, NUMBERS.reshape(3, 2, 4), "(B, T, C)", "TC", which)
        seen.append(explorer.words)
    assert len({*seen[:3]}) == 3
    assert seen == 8 * seen[:3]


def test_each_mean_in_turn_lights_its_own_cells(explorer):
    x = NUMBERS.reshape(3, 2, 2, 2)
    seen = []
    for which in range(6):
        put(explorer, "(B, C, H, W)", "HW", which)
        check(explorer, x, "(B, C, H, W)", "HW", which)
        seen += lit_texts(explorer)[0]
    assert sorted(seen) == sorted(map(text, NUMBERS))


@pytest.mark.parametrize("kind", ["(B, T, C)", "(B, C, H, W)"])
def test_each_block_has_its_index_above_its_first_number(explorer, kind):
    put(explorer, kind, "C", 0)
    x = NUMBERS.reshape(SHAPES[kind])
    texts = explorer.picture.findobj(Text)
    left, width = explorer.moving[0].get_x(), explorer.moving[0].get_width()
    here = {t.get_text(): t.get_position() for t in texts if 0 < t.get_position()[0] - left < width}
    for index in np.ndindex(x.shape[:-2]):
        name = ", ".join(f"{a.lower()} = {i}" for a, i in zip(letters(kind), index, strict=False))
        first = here[text(x[index].ravel()[0])]
        assert 0 < first[0] - here[name][0] < 0.5
        assert 0.1 < first[1] - here[name][1] < 0.4


def test_lit_cells_are_told_by_a_thick_border_and_not_by_color_alone(explorer):
    put(explorer, "(B, C)", "C", 0)
    _, lit, _ = explorer.moving
    assert lit.get_linewidth() >= 3
    assert lit.get_edgecolor() == (0, 0, 0, 1)
    assert 0 < lit.get_facecolor()[3] < 0.6


@pytest.mark.parametrize("kind", SHAPES)
def test_a_switch_is_gray_where_the_tensor_has_no_such_axis(explorer, kind):
    put(explorer, kind, letters(kind)[0], 0)
    gray = {a for a in "BTCHW" if explorer.controls[a].disabled}
    assert gray == set("BTCHW") - set(letters(kind))


def test_a_switch_that_is_gray_changes_nothing(explorer):
    put(explorer, "(B, C)", "C", 2)
    before = explorer.words
    for letter in "THW":
        explorer.controls[letter].value = True
    assert explorer.words == before


def test_which_mean_is_gray_where_there_is_only_one(explorer):
    put(explorer, "(B, T, C)", "BTC", 0)
    assert explorer.controls["which"].disabled
    put(explorer, "(B, T, C)", "BT", 0)
    assert not explorer.controls["which"].disabled


def test_the_built_in_presets_are_those_of_the_lecture(explorer):
    assert [*explorer.presets] == [*BUILT_IN]


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_preset_moves_the_controls_and_shows_its_means(explorer, name):
    kind, over, count = BUILT_IN[name]
    put(explorer, "(B, T, C)", "B", 5)
    explorer.chooser.value = name
    on = {a for a in "BTCHW" if explorer.controls[a].value}
    assert (explorer.controls["tensor"].value, on) == (kind, set(over))
    assert f": {count} mean" in explorer.words
    check(explorer, NUMBERS.reshape(SHAPES[kind]), kind, over, 0)


def test_words_say_which_choices_are_layer_norm_and_which_are_not(explorer):
    layer_norm = {("(B, C)", "C"), ("(B, T, C)", "C"), ("(B, C, H, W)", "C")}
    layer_norm.add(("(B, C, H, W)", "CHW"))
    batch_norm = {("(B, C)", "B"), ("(B, T, C)", "BT"), ("(B, C, H, W)", "BHW")}
    for kind in SHAPES:
        for over in subsets(kind):
            put(explorer, kind, over, 0)
            assert ("This is layer norm" in explorer.words) == ((kind, over) in layer_norm)
            assert ("This is batch norm" in explorer.words) == ((kind, over) in batch_norm)
            mistaken = "mistaken for layer norm" in explorer.words
            assert mistaken == ((kind, over) == ("(B, T, C)", "TC"))


def test_at_the_start_it_says_what_layer_norm_does_to_sequences(explore):
    assert explore().words == (
        "(B, T, C) = (3, 2, 4), mean over C: 6 means of 4 cells each, shape (3, 2, 1) with "
        "keepdim. Mean 0, at index (0, 0, 0), is lit: the 4 cells x[0, 0, :], whose mean is −0.35. "
        "This is layer norm."
    )


def test_keyword_arguments_set_the_starts(explore):
    started = explore(tensor="(B, C, H, W)", over="WH", which=3)
    check(started, NUMBERS.reshape(3, 2, 2, 2), "(B, C, H, W)", "HW", 3)
    assert started.values["which"] == 3


def test_own_presets_name_axes_by_letters_and_stand_beside_the_built_in_ones(explore):
    mine = {"over columns": {"tensor": "(B, C)", "over": "B", "which": 2}, "sixth": {"which": 5}}
    started = explore(presets=mine, preset="over columns")
    assert [*started.presets] == [*BUILT_IN, *mine]
    check(started, NUMBERS.reshape(6, 4), "(B, C)", "B", 2)
    started.chooser.value = "sixth"
    check(started, NUMBERS.reshape(3, 2, 4), "(B, T, C)", "C", 5)


@pytest.mark.parametrize("shape", OWN, ids=str)
def test_own_data_bring_their_own_table_and_letters(explore, shape):
    x = np.random.default_rng(0).permutation(np.arange(math.prod(shape)) / 4 - 3).reshape(shape)
    kind = next(k for k in SHAPES if len(letters(k)) == len(shape))
    own = explore(x=x)
    assert [*own.controls] == ["tensor", *(a for a in "BTCHW" if a in kind), "which"]
    assert own.controls["tensor"].disabled
    assert [*own.presets] == [n for n, (k, *_) in BUILT_IN.items() if k == kind]
    for over in subsets(kind):
        for which in (0, x.size - 1):
            put(own, kind, over, which)
            check(own, x, kind, over, which)


@pytest.mark.parametrize(
    "x",
    [[[1, 2], [3, 4]], torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True).half()],
    ids=["list", "half with grad"],
)
def test_own_data_may_be_whatever_holds_numbers(explore, x):
    check(explore(x=x, over="B"), np.array([[1.0, 2.0], [3.0, 4.0]]), "(B, C)", "B", 0)


SIXTY_FOUR = [(1, 64), (64, 1), (8, 8), (16, 2, 2), (4, 4, 4), (64, 1, 1, 1), (8, 8, 1, 1)]


def test_cells_that_are_not_finite_are_counted():
    with pytest.raises(ValueError, match=r"\.$") as error:
        explore_shared_mean(x=[[1.0, float("inf")], [float("nan"), 0.0]])
    said = "explore_shared_mean needs finite numbers, but 2 of 4 are NaN or infinite."
    assert str(error.value) == said


@pytest.mark.parametrize("shape", [*SIXTY_FOUR, (1, 1), (2, 2, 4, 4), (1, 2, 1, 32)], ids=str)
def test_sixty_four_cells_of_any_shape_fit_in_and_no_texts_overlap(explore, shape):
    own = explore(x=torch.full(shape, -9.99), over="")
    own.picture.set_dpi(72)
    canvas = RendererAgg(720, 360, 72)
    texts = [t for t in own.picture.findobj(Text) if t.get_text()]
    boxes = [t.get_window_extent(canvas) for t in texts]
    width, height = own.picture.get_size_inches() * 72
    assert all(b.x0 >= 0 and b.y0 >= 0 and b.x1 <= width and b.y1 <= height for b in boxes)
    # A line is as high as its highest letter could be, so boxes may touch by a few points.
    shrunk = [(b.x0, b.y0 + 3, b.x1, b.y1 - 3) for b in boxes]
    for a, b in itertools.combinations(shrunk, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
    limits = own.picture.axes[0]
    corners = own.moving[1].get_path().vertices
    assert (corners >= 0).all()
    assert (corners <= (limits.get_xlim()[1], limits.get_ylim()[0])).all()


BAD = [
    ({"x": torch.zeros(4)}, r"2, 3 or 4 axes and 1 to 64 cells, but got shape \(4,\)\."),
    ({"x": torch.zeros(1, 1, 1, 1, 1)}, r"but got shape \(1, 1, 1, 1, 1\)\."),
    ({"x": torch.zeros(0, 3)}, r"1 to 64 cells, but got shape \(0, 3\)\."),
    ({"x": torch.zeros(5, 13)}, r"1 to 64 cells, but got shape \(5, 13\)\."),
    ({"x": [[1.0, float("nan")]]}, r"finite numbers, but 1 of 2 are NaN or infinite\."),
    ({"x": [[1.0, 2.0]], "tensor": "(B, T, C)"}, r"tensor must be one of '\(B, C\)', but '\(B, T"),
    ({"tensor": "BTC"}, r"tensor must be one of '\(B, C\)', .*, but 'BTC' was given\."),
    ({"over": "H"}, r"over must be letters of \(B, T, C\), each at most once, but 'H' was given\."),
    ({"over": "CC"}, r"each at most once, but 'CC' was given\."),
    ({"over": 2}, r"over must be letters of \(B, T, C\), .* but 2 was given\."),
    ({"which": 24}, r"which must be a whole number between 0 and 23, but 24 was given\."),
    ({"which": 1.5}, r"which must be a whole number between 0 and 23, but 1\.5 was given\."),
    ({"which": 4, "x": [[1.0, 2.0]]}, "between 0 and 1, but 4 was given"),
    ({"preset": "per pig"}, r"preset must be one of .*'per pixel', .*, but 'per pig' was given\."),
    ({"presets": {"mine": {"over": "X"}}}, r"preset 'mine': over must be letters of \(B, T, C\)"),
    ({"presets": {"mine": {"tensor": "C", "over": "C"}}}, "preset 'mine': tensor must be one of"),
]


@pytest.mark.parametrize(("bad", "sentence"), BAD, ids=[str([*b]) for b, _ in BAD])
def test_bad_input_gets_one_sentence(bad, sentence):
    with pytest.raises(ValueError, match=sentence) as error:
        explore_shared_mean(**bad)
    assert str(error.value).endswith(".")
    assert not re.search(r"[.!?] [A-Z]", str(error.value))
