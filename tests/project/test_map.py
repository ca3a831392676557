"""The map has every lesson, each needs earlier ones only, and the routes can be walked."""

import re

import nbformat
import pytest
from project import LESSON_PATHS, PROJECT, rows_below

DRAWN = (PROJECT / "docs" / "lesson_map.html").read_text("utf-8")
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
    assert linked == [f"../notebooks/{path.name}" for path in LESSON_PATHS]
    assert [*LESSONS] == [int(path.name[:2]) for path in LESSON_PATHS]


def test_the_drawn_map_says_what_the_table_says():
    boxes = re.findall(r'<a href="(.+?)">(.+?)</a>\n<span>(.+?)</span>(.*)</li>', DRAWN)
    asked = re.findall(r"^\| \d.*\|[\d, ]*\| (.+?) \|", TEXT, re.MULTILINE)
    assert [(link, name, asked, {*numbers(needs)}) for link, name, asked, needs in boxes] == [
        (link.replace(".ipynb", ".html"), f"{number} {name}", question, needs)
        for (number, (needs, name, link)), question in zip(LESSONS.items(), asked, strict=True)
    ]
    arrows = [numbers(arrow) for arrow in re.findall(r"\d+ → \d+", DRAWN)]
    for lesson in LESSONS:  # arrows lead there from all that it needs, maybe on the way of others
        before = {start for start, end in arrows if end == lesson}
        assert before.union(*map(all_needed, before)) == all_needed(lesson)


def test_each_lesson_needs_earlier_ones_only():
    for lesson, (needs, *_) in LESSONS.items():
        assert all(needed < lesson for needed in needs)
        assert bool(needs) is (lesson > 1)


def test_a_lesson_needs_what_its_own_title_cell_says():
    for path in LESSON_PATHS:
        title = nbformat.read(path, as_version=4).cells[0].source
        needs = title.partition("**You need:**")[2]
        said = {int(number) for number in re.findall(r"\blessons? (\d+)", needs)}
        for first, last in re.findall(r"lessons (\d+) to (\d+)", needs):
            said.update(range(int(first), int(last) + 1))
        said.update(*map(all_needed, said), numbers(" ".join(re.findall(r"\]\((\d+)_", needs))))
        assert all_needed(int(path.name[:2])) == said, path.name


@pytest.mark.parametrize("heading", ["A week", "Three lectures"])
def test_a_route_meets_every_lesson_once_and_after_those_that_it_needs(heading):
    met = [
        lesson
        for _, *cells in rows_below(TEXT, heading)
        for cell in cells
        for lesson in numbers(cell)
    ]
    assert sorted(met) == [*LESSONS]
    for place, lesson in enumerate(met):
        assert all_needed(lesson) <= {*met[:place]}
