"""The map of the lessons: boxes with arrows, as its table says which lesson needs which."""

import re

from lnorm_utils.words import spoken

__all__ = ["lesson_map"]

# The number, the name, the notebook, what it needs, and what it answers.
ROW = re.compile(r"^\| (\d+) \[(.+?)\]\((.+?)\.ipynb\) \|([\d, ]*)\| (.+?) \|", re.MULTILINE)
CORE = re.compile(r"Lessons 1 to (\d+) are the core")
COLUMNS = 5
Place = tuple[int, int]  # row and column, from 1


def lesson_map(page: str) -> str:
    """Draw the table of the page `docs/map.md` as HTML, a lesson below those that it needs."""
    last = int(CORE.findall(page)[0])
    places: dict[int, Place] = {}
    reached: dict[int, set[int]] = {}  # what each lesson needs, with what these need
    boxes, arrows = [], []
    for number, name, notebook, needed, asked in ROW.findall(page):
        digits = re.findall(r"\d+", needed)
        lesson, needs = int(number), [*map(int, digits)]
        place = places[lesson] = _place(lesson, needs, places)
        further = set().union(*(reached[n] for n in needs))
        reached[lesson] = further.union(needs)
        arrows += [_arrow(places[n], place) for n in needs if n not in further]
        kind = "core" if lesson <= last else "elective"
        said = "elective, " * (lesson > last) + (f"needs {spoken(digits)}" if digits else "")
        boxes.append(
            f'<li class="{kind}" style="grid-area: {place[0]} / {place[1]}">'
            f'<a href="{notebook}.html">{lesson} {name}</a><span>{asked}</span>'
            f"<small>{said}</small></li>"
        )
    height = 108 * max(row for row, _ in places.values()) - 22
    drawn = f'<svg viewBox="0 0 500 {height}" preserveAspectRatio="none" aria-hidden="true">'
    paths = "".join(f'<path d="{arrow}"/>' for arrow in arrows)
    return f'<div class="lnorm-map">{drawn}{paths}</svg><ol role="list">{"".join(boxes)}</ol></div>'


def _place(lesson: int, needs: list[int], places: dict[int, Place]) -> Place:
    """Choose a free place in the row below all that is needed; the first lessons stand in one."""
    if lesson <= COLUMNS:
        return 1, lesson
    above = [places[n] for n in needs]
    row = 1 + max(row for row, _ in above)
    while not (free := {*range(1, COLUMNS + 1)} - {c for r, c in places.values() if r == row}):
        row += 1
    middle = sum(column for _, column in above) / len(above)
    return row, min(free, key=lambda column: abs(column - middle))


def _arrow(start: Place, end: Place) -> str:
    """Draw from a box to another; on a way past other rows it stays between two columns."""
    (x, y), (to_x, to_y) = ((100 * column - 50, 108 * row - 22) for row, column in (start, end))
    if y == to_y:
        return f"M{x + 42} {y - 43}H{to_x - 42}l-5 -3m5 3l-5 3"
    path, to_y = f"M{x} {y}", to_y - 86
    if to_y - y > 22:
        lane = to_x + (50 if x > to_x else -50)
        path += f"C{x} {y + 14} {lane} {y + 8} {lane} {y + 22}V{to_y - 22}"
        x, y = lane, to_y - 22
    return f"{path}C{x} {y + 14} {to_x} {to_y - 14} {to_x} {to_y}l-3 -5m3 5l3 -5"
