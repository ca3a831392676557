"""Draw the map of the lessons: a box for each lesson, and arrows to the lessons that need it."""

from collections.abc import Iterable
from types import SimpleNamespace

from lnorm_staff.lesson_list import CORE
from lnorm_utils.words import spoken

__all__ = ["lesson_map"]

COLUMNS = 5
Place = tuple[int, int]  # row and column, counted from 1


def lesson_map(lessons: Iterable[SimpleNamespace], up: str = "") -> str:
    """Draw lessons as HTML, each below the lessons that it needs, except in the first row.

    Args:
        lessons: the lessons, each after all lessons that it needs.
        up: the path from the page to the top of the site, such as "../".
    """
    places: dict[int, Place] = {}
    reached: dict[int, set[int]] = {}  # the lessons that each lesson needs, directly or not
    boxes, arrows = [], []
    for lesson in lessons:
        number, needs = lesson.number, lesson.needs
        place = places[number] = _place(number, needs, places)
        further = set().union(*(reached[n] for n in needs))
        reached[number] = further.union(needs)
        arrows += [_arrow(places[n], place) for n in needs if n not in further]
        kind = "core" if number <= CORE else "elective"
        needed = [f"needs {spoken([*map(str, needs)])}"] if needs else []
        said = ", ".join([kind] * (number > CORE) + needed)
        boxes.append(
            f'<li class="{kind}" style="grid-area: {place[0]} / {place[1]}">'
            f'<a href="{up}notebooks/{lesson.name}.html">{number} {lesson.label}</a>'
            f"<span>{lesson.answers}</span>"
            f"<small>{said}</small></li>"
        )
    height = 108 * max(row for row, _ in places.values()) - 22
    drawn = f'<svg viewBox="0 0 500 {height}" preserveAspectRatio="none" aria-hidden="true">'
    paths = "".join(f'<path d="{arrow}"/>' for arrow in arrows)
    return f'<div class="lnorm-map">{drawn}{paths}</svg><ol role="list">{"".join(boxes)}</ol></div>'


def _place(lesson: int, needs: list[int], places: dict[int, Place]) -> Place:
    """Choose a lesson's place: for the first `COLUMNS`, row 1; else, below all lessons it needs."""
    row = 1 + max((places[n][0] for n in needs), default=0) if lesson > COLUMNS else 1
    while (column := 1 + sum(r == row for r, _ in places.values())) > COLUMNS:
        row += 1
    return row, column


def _arrow(start: Place, end: Place) -> str:
    """Draw an arrow from one box to another; where it passes a row, it runs between columns."""
    (x, y), (to_x, to_y) = ((100 * column - 50, 108 * row - 22) for row, column in (start, end))
    if y == to_y:
        return f"M{x + 42} {y - 43}H{to_x - 42}l-5 -3m5 3l-5 3"
    path, to_y = f"M{x} {y}", to_y - 86
    if to_y - y > 22:
        lane = to_x + (50 if x > to_x else -50)
        path += f"C{x} {y + 14} {lane} {y + 8} {lane} {y + 22}V{to_y - 22}"
        x, y = lane, to_y - 22
    return f"{path}C{x} {y + 14} {to_x} {to_y - 14} {to_x} {to_y}l-3 -5m3 5l3 -5"
