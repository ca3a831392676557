"""The map shows each lesson once, below or beside what it needs, with an arrow between them."""

import re
from itertools import pairwise

from project import CORE, LESSON_PATHS, PROJECT

from lnorm_utils.web.lesson_map import lesson_map, lessons_of, with_map

TEXT = (PROJECT / "docs/map.md").read_text("utf-8")
LESSONS = lessons_of(TEXT)
BOX = re.compile(
    r'<li class="(\w+).*?--line: (\d+); --left: ([\d.]+)%; --width: ([\d.]+)%">'
    r'<a href="(.+?)">(\d+)'
)
ARROW = re.compile(r"M([\d.]+) 0C.*? ([\d.]+) 10")


def placed(lessons):
    """Return {lesson: (its line, the left and right end of its box)}."""
    found = BOX.findall(lesson_map(lessons, "../"))
    return {int(n): (int(line), float(x), float(x) + float(w)) for _, line, x, w, _, n in found}


def test_each_lesson_is_a_link_and_the_core_is_apart():
    found = BOX.findall(lesson_map(LESSONS, "../"))
    assert [link for *_, link, _ in found] == [f"../notebooks/{p.stem}.html" for p in LESSON_PATHS]
    assert [int(number) for kind, *_, number in found if kind == "core"] == CORE


def test_a_lesson_stands_after_what_it_needs_and_covers_no_other():
    places = placed(LESSONS)
    for lesson in LESSONS:
        assert all(places[needed] < places[lesson.number] for needed in lesson.needs)
    in_order = sorted(places.values())
    for (line, _, end), (other, start, _) in pairwise(in_order):
        assert line != other or end < start


def test_arrows_lead_to_each_lesson_but_from_what_another_one_needs_already():
    drawn = ARROW.findall(lesson_map(LESSONS, ""))
    by_number = {lesson.number: lesson for lesson in LESSONS}

    def all_needed(number):
        needs = by_number[number].needs
        return {*needs}.union(*map(all_needed, needs))

    for number, (line, left, right) in placed(LESSONS).items():
        needs = by_number[number].needs
        direct = {*needs}.difference(*map(all_needed, needs))
        there = [end for _, end in drawn if abs(float(end) - (left + right) / 2) < 0.02]
        assert len(there) >= len(direct) or line == 1


def test_the_page_leaves_out_of_its_table_what_the_map_shows():
    page = with_map(TEXT, "MAP")
    assert "MAP" in page
    assert "| needs |" not in page
    for line in TEXT.splitlines():
        if re.match(r"\| \d+ \[", line):
            name, *_, takeaway = line.strip("| ").split(" | ")
            assert f"| {name} | {takeaway} |" in page
