"""The map shows each lesson once, below or beside what it needs."""

import re
from itertools import pairwise

from project import LESSON_PATHS, PROJECT

from lnorm_utils.web.lesson_map import lesson_map, lessons_of

LESSONS = lessons_of((PROJECT / "docs/map.md").read_text("utf-8"))
BOX = re.compile(
    r'<li class="\w+.*?--line: (\d+); --left: ([\d.]+)%; --width: ([\d.]+)%"><a href="(.+?)">(\d+)'
)


def test_a_lesson_is_a_link_stands_after_what_it_needs_and_covers_no_other():
    found = BOX.findall(lesson_map(LESSONS, "../"))
    assert [link for *_, link, _ in found] == [f"../notebooks/{p.stem}.html" for p in LESSON_PATHS]
    places = {int(n): (int(line), float(x), float(x) + float(w)) for line, x, w, _, n in found}
    for lesson in LESSONS:
        assert all(places[needed] < places[lesson.number] for needed in lesson.needs)
    for (line, _, end), (other, start, _) in pairwise(sorted(places.values())):
        assert line != other or end < start
