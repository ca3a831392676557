"""The map draws every lesson at a place of its own, and arrows from what it needs."""

import re
from itertools import pairwise

from lnorm_staff.lesson_list import LESSONS
from lnorm_staff.web.lesson_map import lesson_map

NEEDS = {lesson.number: {*lesson.needs} for lesson in LESSONS}


def all_needed(number):
    return NEEDS[number].union(*map(all_needed, NEEDS[number]))


def test_each_lesson_is_drawn_at_a_place_of_its_own_behind_all_that_it_needs():
    drawn = lesson_map(LESSONS, "../")
    boxes = re.findall(r'grid-area: (\d+) / (\d+)"><a href="(.+?)">(.+?)</a>', drawn)
    assert [(link, name) for _, _, link, name in boxes] == [
        (f"../notebooks/{each.name}.html", f"{each.number} {each.label}") for each in LESSONS
    ]
    places = {n: (int(row), int(column)) for n, (row, column, *_) in enumerate(boxes, 1)}
    assert len({*places.values()}) == len(LESSONS)
    assert {column for _, column in places.values()} == {*range(1, 6)}
    order = sorted(places, key=places.get)
    assert all(places[n][0] < places[m][0] or n < m for n, m in pairwise(order))
    for lesson, needs in NEEDS.items():
        assert all(places[needed] < places[lesson] for needed in needs)


def test_arrows_lead_to_a_lesson_from_all_that_it_needs_maybe_on_the_way_of_others():
    drawn = lesson_map(LESSONS)
    ends = re.findall(r'd="M(\d+) (\d+).*?[H ](\d+)(?: (\d+))?l', drawn)
    boxes = re.findall(r"grid-area: (\d+) / (\d+)", drawn)
    at = {(int(column), int(row)): n for n, (row, column) in enumerate(boxes, 1)}
    before = {lesson: set() for lesson in NEEDS}
    for x, y, to_x, to_y in ends:  # a column is 100 wide, a row 108 high, of which 22 are a gap
        start = int(x) // 100 + 1, (int(y) + 22) // 108 if to_y else 1
        end = int(to_x) // 100 + 1, int(to_y) // 108 + 1 if to_y else 1
        before[at[end]].add(at[start])
    for lesson, direct in before.items():
        assert direct.union(*map(all_needed, direct)) == all_needed(lesson)
