"""Curves are told apart without their colors, and their words give their course."""

import pytest

from lnorm_utils.plotting import curves

NAN, INF = float("nan"), float("inf")
ERRORS = {"log": "y", "rounding": True}


def draw_curves(lines, x=(1.0, 10.0, 100.0), **options):
    return curves(x, lines, title="Title", xlabel="n", ylabel="y", **options)


def test_curves_draw_their_data_apart_by_dash_and_marker():
    picture = draw_curves({"a": [1, 2, 3], "b": [3, 2, 1]}, log="xy", levels={"half": 0.5})
    (ax,) = picture.axes
    first, second, level = ax.lines
    assert first.get_ydata().tolist() == [1, 2, 3]
    assert first.get_linestyle() != second.get_linestyle()
    assert first.get_marker() != second.get_marker()
    assert level.get_ydata() == [0.5, 0.5]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert picture.words.endswith('A thin line marks "half" at 0.5.')


def test_a_name_of_the_course_has_the_same_look_in_every_picture():
    looks = {}
    for names in (["no norm", "layer norm"], ["a", "layer norm", "b", "no norm"]):
        (ax,) = draw_curves({name: [1, 2, 3] for name in names}).axes
        for line in ax.lines:
            look = line.get_color(), line.get_linestyle(), line.get_marker()
            assert looks.setdefault(line.get_label(), look) == look
    assert len({*looks.values()}) == len(looks) == 4


@pytest.mark.parametrize(
    ("options", "values", "words"),
    [
        ({}, [1, 9, 3], "to 3 at n = 100, and between 1 and 9 on the way."),
        ({}, [5, 1, 1e-9], "to 0 at n = 100."),
        ({}, [NAN, 2, 3], "goes from 2 at n = 10 to 3"),
        ({"log": "y"}, [-1, 0, -2], '"a" cannot be drawn.'),
        ({"log": "y"}, [4.4e-7, 2e-3, 90], "goes from 4e−7 at n = 1 to 90 at n = 100."),
        ({"joined": False}, [3, 1, 2], 'The dots "a" lie between 1 and 3.'),
        ({"joined": False}, [5, 5, 5], 'The dots "a" are all at 5.'),
        (ERRORS, [0.32, 0.33, 0.34], '"a" stays between 1e−1 and 1.'),
        (ERRORS, [2e-8, 4e-8, 1.9e-8], '"a" stays between 1e−8 and 1e−7.'),
        (ERRORS, [2e-8, 1.0, 4e-5], "goes from about 1e−8 at n = 1 to about 1e−4 at n = 100."),
    ],
)
def test_the_words_of_a_curve_give_its_course(options, values, words):
    picture = draw_curves({"a": values}, **options)
    assert words in picture.words
    assert (picture.axes[0].lines[0].get_linestyle() == "None") == ("joined" in options)


@pytest.mark.parametrize("lost", [NAN, INF, 0.0, -3.0])
def test_a_place_that_a_logarithmic_axis_does_not_have_makes_no_tick_and_no_limit(lost):
    picture = draw_curves({"a": [2.0, 5.0, 3.0]}, [1.0, lost, 100.0], log="xy")
    (ax,) = picture.axes
    assert ax.get_xticks().tolist() == [1.0, 100.0]
    low, high = ax.get_xlim()
    assert 0.5 < low < high < 200
