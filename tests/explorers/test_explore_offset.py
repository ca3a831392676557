"""The explorer of lesson 2 shows how far both variances in float32 are from the true one."""

import math
import re

import numpy as np
import pytest
import torch
from explorer_fixtures import made_by_tests, moved_by_tests
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.text import Text

from lnorm_utils.explorers.offset import explore_offset

ROW = [-3.8049, 1.9899, -1.7325, 2.1359]  # the first row of the lesson, as it prints it
PRESETS = {
    "no offset": 0,
    "offset 1,000": 1000,
    "offset 10,000": 10_000,
    "the first negative variance": 17_800,
    "offset 1,000,000": 1_000_000,
}
LABELS = ["error of one pass", "error of two passes", "the variance itself"]
OWN = {
    "far from zero": [10_002.0, 10_003.0, 10_005.0],
    "many": torch.linspace(-1, 3, 300),
    "constant": [2.5, 2.5],
    "close together": [1e-3, 2e-3],
    "tiny": [2.5e-30, 2.4e-30],
    "large": torch.tensor([[1e15, -1e15, 3.0]]),
}


explorer = moved_by_tests(explore_offset)
explore = made_by_tests(explore_offset)


def stops(explorer):
    return [value for _, value in explorer.controls["offset"].options]


def by_hand(row, offset):
    """Return the true variance of the float32 numbers, and what one pass makes of it."""
    x = np.float32(row).ravel() + np.float32(offset)
    total = squares = np.float32(0)
    for value in x:
        total, squares = total + value, squares + value * value
    mean = total / np.float32(x.size)
    return x.astype(np.float64).var(), float(squares / np.float32(x.size) - mean * mean)


def curve(explorer, label):
    lines = {line.get_label(): line for line in explorer.picture.axes[0].lines}
    return (np.array(data, dtype=float) for data in lines[label].get_data())


def floats(text):
    return [float(n.replace("−", "-")) for n in text.split()]


def check(explorer, row, offset):
    one, two, head, values, verdict = explorer.moving
    true, by_one = by_hand(row, offset)
    assert [*one.get_xdata(), *two.get_xdata()] == [offset] * 4
    low, error, high = one.get_ydata()
    assert one.get_markevery() == [1]
    assert (low, high) == explorer.picture.axes[0].get_ylim()
    assert error == pytest.approx(abs(by_one - true), abs=1e-9 * true)
    assert 0 <= two.get_ydata()[0] <= max(1e-6 * true, 1e-45)
    assert one.get_marker() == ("v" if by_one < 0 else "s")
    assert head.get_text() == f"offset {offset:,.10g}"
    for shown in (
        values.get_text(),
        " ".join(re.findall("(?:variance is|give|gives) ([^,]*?)[,.] ", explorer.words)),
    ):
        assert floats(shown) == pytest.approx(
            [true, true, by_one], rel=0.05, abs=0.005 * (true > 0.01)
        )
    check_verdict(explorer, verdict.get_text(), true, by_one)


def check_verdict(explorer, verdict, true, by_one):
    said = re.search("One pass gives (.*?)\\. [TAN]", explorer.words)[1]
    error = abs(by_one - true)
    assert ("negative" in verdict) == ("negative: its root is NaN" in said) == (by_one < 0)
    assert ("more than the variance" in said) == (error > true)
    assert ("the whole variance" in said) == (error == true > 0)
    assert ("right to five digits" in said) == (error <= 1e-5 * true)
    if by_one < 0:
        assert verdict == "negative: root is NaN"
    elif error > true:
        assert verdict == "wrong by over 100%"
    elif error <= 1e-5 * true:
        assert verdict == "right to five digits"
    else:
        percent = re.fullmatch(r"wrong by (\S+)%", verdict)[1]
        assert floats(percent) == pytest.approx([100 * error / true], rel=0.05, abs=0.005)
        assert error == true or f"wrong by {percent}% of the variance" in said


def test_at_every_stop_markers_and_numbers_are_those_of_the_row(explorer):
    assert len(stops(explorer)) >= 50
    for offset in stops(explorer):
        explorer.controls["offset"].value = offset
        check(explorer, ROW, offset)


def test_the_slider_goes_from_0_to_a_million_with_equal_ratios(explorer):
    zero, *others = stops(explorer)
    assert (zero, others[0], others[-1]) == (0, 1, 1e6)
    ratios = np.divide(others[1:], others[:-1])
    assert ratios == pytest.approx([10 ** (1 / 8)] * 48, rel=0.01)


def test_the_curves_are_the_errors_at_every_stop(explorer):
    true, by_one = np.transpose([by_hand(ROW, offset) for offset in stops(explorer)])
    for label, expected in (
        ("error of one pass", abs(by_one - true)),
        ("one pass is negative", np.where(by_one < 0, abs(by_one - true), np.nan)),
        ("the variance itself", true),
    ):
        x, y = curve(explorer, label)
        assert x.tolist() == stops(explorer)
        np.testing.assert_allclose(y, expected, rtol=1e-6, atol=1e-12)
    x, y = curve(explorer, "error of two passes")
    assert x.tolist() == stops(explorer)
    assert (y <= 1e-6 * true).all()


def test_one_pass_is_right_at_first_and_two_passes_always(explorer):
    (_, one), (_, two) = (
        curve(explorer, "error of one pass"),
        curve(explorer, "error of two passes"),
    )
    assert one[0] < 1e-6 < 1e4 < one.max()
    assert two.max() < 1e-5


def test_the_first_negative_variance_is_marked_and_said(explorer):
    first = next(offset for offset in stops(explorer) if by_hand(ROW, offset)[1] < 0)
    assert first == 17_800
    ax = explorer.picture.axes[0]
    marks = [line for line in ax.lines if line.get_linestyle() == ":"]
    assert [m.get_xdata()[0] for m in marks] == [first]
    assert [t.get_text() for t in ax.texts if t not in explorer.moving] == [
        "first negative: 17,800"
    ]
    assert explorer.words.endswith("at which one pass is negative is 17,800.")
    assert explorer.presets["the first negative variance"] == {"offset": first}


def test_zero_has_a_place_on_both_axes_and_all_is_inside(explorer):
    ax = explorer.picture.axes[0]
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    assert x0 < 0 < 1e6 < x1
    assert y0 < 0
    assert max(max(y[np.isfinite(y)]) for _, y in (curve(explorer, n) for n in LABELS)) < y1
    names = {t.get_text(): at for t, at in zip(ax.get_yticklabels(), ax.get_yticks(), strict=True)}
    assert names["exact: 0"] == 0
    ticks = ["0", "1", "10", "100", "1,000", "10,000", "100,000", "1,000,000"]
    assert [t.get_text() for t in ax.get_xticklabels()] == ticks
    pixels = ax.transData.transform([(0, 0), (1, 0), (10, 0), (1000, 0)])[:, 0]
    assert pixels[3] - pixels[2] == pytest.approx(2 * (pixels[2] - pixels[1]))
    assert pixels[1] - pixels[0] > 20


@pytest.mark.parametrize(
    ("x", "ticks"),
    [
        ([2.0, 2.0], ["exact: 0", "1e−8", "1e−6", "1e−4", "1e−2", "1e0"]),
        ([1e3, 2e3, 3e3, 4e3, 9e3], ["exact: 0", "1e−1", "1e1", "1e3", "1e5", "1e7"]),
    ],
)
def test_ticks_stand_at_few_powers_of_ten_whatever_the_errors(explore, x, ticks):
    assert [t.get_text() for t in explore(x=x).picture.axes[0].get_yticklabels()] == ticks


def test_at_the_start_both_are_right(explore):
    assert explore().words == (
        "Offset 0: the true variance is 6.38. Two passes give 6.38, right to five digits. One pass "
        "gives 6.38, right to five digits. The first stop of the slider at which one pass is "
        "negative is 17,800."
    )


def test_what_a_lecture_says_about_a_negative_variance(explore):
    explorer = explore(preset="the first negative variance")
    assert "One pass gives −32.00, wrong by more than the variance and negative" in explorer.words
    assert explorer.moving[4].get_text() == "negative: root is NaN"
    assert explorer.moving[3].get_text() == "6.38\n6.38\n−32.00"


def test_from_1000_on_the_words_say_how_far_apart_float32_numbers_are(explorer):
    for offset in stops(explorer):
        explorer.controls["offset"].value = offset
        said = re.findall("Near the square of the offset, (.*?) apart[.] ", explorer.words)
        square = np.float32(offset**2)
        apart = float(np.nextafter(square, np.float32(np.inf))) - float(square)
        assert said == [f"float32 numbers are {apart:,.10g}"] * (offset >= 1000)
    assert said == ["float32 numbers are 65,536"]
    explorer.chooser.value = "the first negative variance"
    assert "float32 numbers are 32 apart. The first stop" in explorer.words


def test_the_spacing_is_not_said_where_the_row_is_larger_than_the_offset(explore):
    assert "apart" not in explore(x=OWN["large"], offset=1e6).words


def test_the_words_say_from_where_on_the_row_is_rounded(explorer):
    rounded = False
    for offset in stops(explorer):
        explorer.controls["offset"].value = offset
        rounded |= abs(by_hand(ROW, offset)[0] / by_hand(ROW, 0)[0] - 1) > 1e-3
        assert rounded == (offset >= 133_000)
        assert rounded == (
            "apart. The row itself is rounded to float32 by now, so its true variance has changed "
            "a little; two passes are right for the rounded row. The first stop" in explorer.words
        )


def test_an_offset_near_nothing_has_a_true_minus_sign(explore):
    assert explore(offset=1e-5).words.startswith("Offset 1e−05: the true variance is ")


def test_a_variance_that_is_rounded_away_has_changed_a_lot(explore):
    explorer = explore(x=OWN["tiny"], offset=1.0)
    assert "so its true variance has changed a lot; two passes are right" in explorer.words
    explorer.controls["offset"].value = 0.0
    assert "rounded" not in explorer.words
    assert "rounded" not in explore(x=OWN["constant"], offset=1e6).words


def test_the_slider_writes_offsets_as_the_words_do(explorer):
    for text, offset in explorer.controls["offset"].options:
        assert text == f"{offset:,.10g}"


def test_the_built_in_presets_are_those_of_the_lecture(explorer):
    assert {name: p["offset"] for name, p in explorer.presets.items()} == PRESETS


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_moves_the_slider(explorer, name):
    explorer.controls["offset"].value = 100.0
    explorer.chooser.value = name
    assert explorer.values == {"offset": PRESETS[name]}
    check(explorer, ROW, PRESETS[name])


def test_a_start_between_two_stops_is_a_point_of_the_curves(explore):
    explorer = explore(offset=1234.5, presets={"mine": {"offset": 0.25}})
    check(explorer, ROW, 1234.5)
    explorer.chooser.value = "mine"
    check(explorer, ROW, 0.25)
    x, _ = curve(explorer, "error of one pass")
    assert {0.25, 1234.5} < {*x}
    assert x.tolist() == stops(explorer) == sorted(stops(explorer))


@pytest.mark.parametrize("row", OWN.values(), ids=OWN)
def test_own_data_are_shown_in_place_of_the_row(explore, row):
    explorer = explore(x=row)
    negative = [offset for offset in stops(explorer) if by_hand(row, offset)[1] < 0]
    for offset in stops(explorer):
        explorer.controls["offset"].value = offset
        true, by_one = by_hand(row, offset)
        assert explorer.moving[0].get_ydata()[1] == pytest.approx(abs(by_one - true), rel=1e-6)
        check_verdict(explorer, explorer.moving[4].get_text(), true, by_one)
    if negative:
        assert explorer.presets["the first negative variance"] == {"offset": negative[0]}
        assert explorer.words.endswith(f"is {negative[0]:,g}.")
    else:
        assert "the first negative variance" not in explorer.presets
        assert explorer.words.endswith("At no stop of the slider is one pass negative.")
        assert not [t for t in explorer.picture.axes[0].texts if "negative" in t.get_text()]


def test_own_data_hold_rows_that_turn_negative_and_rows_that_do_not():
    assert by_hand(OWN["far from zero"], 10_000)[1] < 0
    assert by_hand(OWN["constant"], 10_000)[1] == 0


def test_all_texts_stay_in_the_picture_and_apart(explore):
    renderer = RendererAgg(720, 346, 72)
    for row in (ROW, OWN["large"], OWN["close together"]):
        explorer = explore(x=row)
        picture, (_, _, head, values, verdict) = explorer.picture, explorer.moving
        names = next(t for t in picture.axes[1].texts if t.get_text().startswith("true variance"))
        for offset in stops(explorer)[::5]:
            explorer.controls["offset"].value = offset
            picture.draw(renderer)
            boxes = [t.get_window_extent(renderer) for t in (head, names, verdict, values)]
            assert boxes[0].y0 > boxes[1].y1 > boxes[1].y0 > boxes[2].y1
            assert boxes[1].x1 < boxes[3].x0
            assert boxes[1].y0 == pytest.approx(boxes[3].y0, abs=4)
            for t in picture.findobj(Text):
                if t.get_text():
                    box = t.get_window_extent(renderer)
                    assert min(box.x0, box.y0) >= 0
                    assert box.x1 <= 720
                    assert box.y1 <= 346


BAD = [
    ({"x": [1.0]}, r"with at least two features, but got shape \(1,\)\."),
    ({"x": []}, r"with at least two features, but got shape \(0,\)\."),
    ({"x": torch.zeros(2, 3)}, r"one row of shape \(D,\) or \(1, D\) .* got shape \(2, 3\)\."),
    ({"x": torch.zeros(3, 1)}, r"but got shape \(3, 1\)\."),
    ({"x": 3.0}, r"but got shape \(\)\."),
    ({"x": torch.zeros(1, 1, 3)}, r"but got shape \(1, 1, 3\)\."),
    ({"x": [1.0, math.nan, math.inf]}, r"from −1e15 to 1e15, but 2 of 3 are NaN or outside\."),
    ({"x": [1.0, 2e15]}, r"from −1e15 to 1e15, but 1 of 2 are NaN or outside\."),
    ({"offset": -1}, r"offset must be a number between 0 and 1,000,000, but -1 was given\."),
    (
        {"offset": 2e6},
        r"offset must be a number between 0 and 1,000,000, but 2000000\.0 was given\.",
    ),
    ({"offset": math.nan}, "offset must be a number between .* but nan was given"),
    ({"offset": "far"}, "offset must be a number between .* but 'far' was given"),
    ({"preset": "far"}, r"preset must be one of .*'offset 1,000', .*, but 'far' was given\."),
    ({"presets": {"mine": {"offset": -5}}}, "offset must be a number between .* but -5 was given"),
    ({"presets": {"mine": {"eps": 1}}}, "preset 'mine': the name of a control must be one of"),
]


@pytest.mark.parametrize(("bad", "sentence"), BAD, ids=[str(b) for b, _ in BAD])
def test_bad_input_gets_one_sentence(bad, sentence):
    with pytest.raises(ValueError, match=sentence) as error:
        explore_offset(**bad)
    assert str(error.value).endswith(".")
    assert not re.search(r"[.!?] [A-Z]", str(error.value))


def test_a_start_between_the_last_two_stops_can_be_explored(explore):
    explorer = explore(offset=900_000.0)
    assert explorer.values["offset"] == 900_000.0
    assert "900,000" in explorer.words
