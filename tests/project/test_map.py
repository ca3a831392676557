"""The map has every lesson, each needs earlier ones only, and the routes can be walked."""

import re

import nbformat
import pytest
from project import LESSON_PATHS, PROJECT, rows_below

from lnorm_staff.web.lesson_map import lesson_map

TEXT = (PROJECT / "docs" / "map.md").read_text("utf-8")
LESSONS = {
    int(number): ({int(n) for n in re.findall(r"\d+", needs)}, name, link)
    for number, name, link, needs in re.findall(
        r"^\| (\d+) \[(.+?)\]\((.+?)\) \|([\d, ]*)\|", TEXT, re.MULTILINE
    )
}


def numbers(text):
    return [int(number) for number in re.findall(r"\d+", text)]


def all_needed(lesson):
    needs = LESSONS[lesson][0]
    return needs.union(*map(all_needed, needs))


def test_the_table_links_every_lesson_in_order():
    linked = [link for _, _, link in LESSONS.values()]
    lessons = [f"../notebooks/{path.name}" for path in LESSON_PATHS]
    assert linked == lessons, "Give each lesson a row in the table of docs/map.md."
    assert [*LESSONS] == [int(path.name[:2]) for path in LESSON_PATHS]


def test_each_lesson_is_drawn_at_a_place_of_its_own_behind_all_that_it_needs():
    drawn = lesson_map(TEXT)
    boxes = re.findall(r'grid-area: (\d+) / (\d+)"><a href="(.+?)\.html">(.+?)</a>', drawn)
    assert [(f"{link}.ipynb", name) for _, _, link, name in boxes] == [
        (link, f"{number} {name}") for number, (_, name, link) in LESSONS.items()
    ]
    places = {
        n: (int(row), int(column)) for n, (row, column, *_) in zip(LESSONS, boxes, strict=True)
    }
    assert len({*places.values()}) == len(LESSONS)
    assert {column for _, column in places.values()} == {*range(1, 6)}
    for lesson, (needs, *_) in LESSONS.items():
        assert all(places[needed] < places[lesson] for needed in needs)


def test_arrows_lead_to_a_lesson_from_all_that_it_needs_maybe_on_the_way_of_others():
    drawn = lesson_map(TEXT)
    ends = re.findall(r'd="M(\d+) (\d+).*?[H ](\d+)(?: (\d+))?l', drawn)
    boxes = re.findall(r"grid-area: (\d+) / (\d+)", drawn)
    at = {(int(column), int(row)): n for n, (row, column) in zip(LESSONS, boxes, strict=True)}
    before = {lesson: set() for lesson in LESSONS}
    for x, y, to_x, to_y in ends:  # a column is 100 wide, a row 108 high, of which 22 are a gap
        start = int(x) // 100 + 1, (int(y) + 22) // 108 if to_y else 1
        end = int(to_x) // 100 + 1, int(to_y) // 108 + 1 if to_y else 1
        before[at[end]].add(at[start])
    for lesson, direct in before.items():
        assert direct.union(*map(all_needed, direct)) == all_needed(lesson)


def test_each_lesson_needs_earlier_ones_only():
    for lesson, (needs, *_) in LESSONS.items():
        assert all(needed < lesson for needed in needs)
        assert bool(needs) is (lesson > 1)


def test_a_lesson_needs_what_its_own_title_cell_says():
    for number, (_, _, link) in LESSONS.items():
        title = nbformat.read(PROJECT / "docs" / link, as_version=4).cells[0].source
        needs = title.partition("**You need:**")[2]
        said = {int(number) for number in re.findall(r"\blessons? (\d+)", needs)}
        for first, last in re.findall(r"lessons (\d+) to (\d+)", needs):
            said.update(range(int(first), int(last) + 1))
        said.update(*map(all_needed, said), numbers(" ".join(re.findall(r"\]\((\d+)_", needs))))
        assert all_needed(number) == said, f"{link}: its title cell and docs/map.md differ."


@pytest.mark.parametrize("heading", ["A week", "Three lectures"])
def test_a_route_meets_every_lesson_once_and_after_those_that_it_needs(heading):
    met = [
        lesson
        for _, *cells in rows_below(TEXT, heading)
        for cell in cells
        for lesson in numbers(cell)
    ]
    assert sorted(met) == [*LESSONS], f"Name each lesson once below {heading!r} in docs/map.md."
    for place, lesson in enumerate(met):
        assert all_needed(lesson) <= {*met[:place]}
