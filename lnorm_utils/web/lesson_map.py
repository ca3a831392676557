"""A map of the lessons: boxes that are links, with arrows, drawn from the table of the map."""

import html
import re
from itertools import combinations, pairwise
from typing import NamedTuple

__all__ = ["Lesson", "lesson_map", "lessons_of", "with_map"]

ROW = re.compile(r"^\| (\d+) \[(.+?)\]\((.+?)\) \|([\d, ]*)\| (.+?) \|", re.MULTILINE)
TABLE = re.compile(r"^\| lesson \| needs \|.*\n(?:\|.*\n)+", re.MULTILINE)
DRAWN = re.compile(r"^(\|[^|]*)\|[^|]*\|[^|]*(\|[^|]*\|)$", re.MULTILINE)  # but for columns 1 and 4
CORE = re.compile(r"^Lessons ([\d to,and]+) are the core", re.MULTILINE)
IN_A_LINE = 5  # boxes, at most, that stand beside each other before the ways part
PASSING = 0.2  # the room that an arrow takes beside boxes, in boxes
FILLED = 0.84  # how much of its room a box fills

Node = tuple[int, bool]  # a lesson's box, or with False the arrow from it that passes a line
Ways = list[list[tuple[Node, Node]]]  # what is drawn below each line
Places = dict[Node, tuple[float, float]]  # the middle and the room of each, of the width of a line


class Lesson(NamedTuple):
    """A row of the table; `link` is the address of its notebook from `docs`."""

    number: int
    name: str
    link: str
    needs: list[int]
    question: str
    is_core: bool


def lessons_of(text: str) -> list[Lesson]:
    """Read the table of the map, and the sentence that says which lessons are the core."""
    ranges = re.findall(r"(\d+)(?: to (\d+))?", CORE.findall(text)[0])
    core = {n for first, last in ranges for n in range(int(first), int(last or first) + 1)}
    return [
        Lesson(int(n), name, link, [*map(int, re.findall(r"\d+", needs))], asked, int(n) in core)
        for n, name, link, needs, asked in ROW.findall(text)
    ]


def with_map(text: str, drawn: str) -> str:
    """Put the drawn map above the page's table, and leave out of that what it shows."""
    above = f"{drawn}\n\n## What you take away\n\n"
    return TABLE.sub(lambda table: above + DRAWN.sub(r"\1\2", table[0]), text)


def lesson_map(lessons: list[Lesson], up: str) -> str:
    """Draw the map as HTML: a list in the order of the lessons, whose styles say where they stand.

    Args:
        lessons: what `lessons_of` returns.
        up: the way from the page to the top of the site.
    """
    lines = _lines(lessons)
    ways = _ways(lessons, lines)
    nodes = [
        [*((number, True) for number in line), *sorted({a for a, _ in below if not a[1]})]
        for line, below in zip(lines, ways, strict=True)
    ]
    places = _untangled(nodes, ways)
    line_of = {number: at for at, line in enumerate(lines) for number in line}
    boxes = "".join(_box(one, line_of[one.number], places, up) for one in lessons)
    return f'<div class="lnorm-map"><ol role="list">{boxes}</ol>{_arrows(places, ways)}</div>'


def _lines(lessons: list[Lesson]) -> list[list[int]]:
    """List the lessons of each line: below all that they need, but the first ones side by side."""
    depth: dict[int, int] = {}
    for one in lessons:
        depth[one.number] = max((depth[n] + 1 for n in one.needs), default=0)
    lines = [[n for n in depth if depth[n] == at] for at in range(max(depth.values()) + 1)]
    alone = next((at for at, line in enumerate(lines) if len(line) > 1), len(lines))
    head = [number for line in lines[: min(alone, IN_A_LINE)] for number in line]
    return [head, *lines[len(head) :]] if head else lines


def _ways(lessons: list[Lesson], lines: list[list[int]]) -> Ways:
    """List the arrows to each lesson, but from what another one that it needs needs already."""
    at = {number: place for place, line in enumerate(lines) for number in line}
    before: dict[int, set[int]] = {}
    ways: Ways = [[] for _ in lines]
    for one in lessons:
        known = set().union(*(before[n] for n in one.needs))
        before[one.number] = known | {*one.needs}
        for start in (n for n in one.needs if n not in known):
            for line in range(at[start], at[one.number]):
                is_last = line + 1 == at[one.number]
                way = (start, line == at[start]), (one.number if is_last else start, is_last)
                if way not in ways[line]:
                    ways[line].append(way)
    return ways


def _places(line: list[Node]) -> Places:
    rooms = [1.0 if is_box else PASSING for _, is_box in line]
    ends = [sum(rooms[: i + 1]) for i in range(len(rooms))]
    return {
        node: ((end - room / 2) / ends[-1], room / ends[-1])
        for node, room, end in zip(line, rooms, ends, strict=True)
    }


def _untangled(nodes: list[list[Node]], ways: Ways) -> list[Places]:
    """Swap nodes below the first line while that makes fewer arrows cross, or shorter ones."""

    def cost() -> float:
        places, total = [_places(line) for line in nodes], 0.0
        for above, below, drawn in zip(places, places[1:], ways, strict=False):
            ends = [(above[a][0], below[b][0]) for a, b in drawn]
            total += sum(abs(a - b) for a, b in ends)
            total += sum(10 for (a, b), (c, d) in combinations(ends, 2) if (a - c) * (b - d) < 0)
        return total

    swaps = [(line, i, j) for line in nodes[1:] for i, j in combinations(range(len(line)), 2)]
    best = float("inf")
    while (now := cost()) < best:
        best = now
        for line, i, j in swaps:
            before = cost()
            line[i], line[j] = line[j], line[i]
            if cost() > before - 1e-9:
                line[i], line[j] = line[j], line[i]
    return [_places(line) for line in nodes]


def _box(one: Lesson, line: int, places: list[Places], up: str) -> str:
    middle, room = places[line][one.number, True]
    width = FILLED * min(room, 1 / IN_A_LINE)
    kinds = "core" if one.is_core else "elective", "below" if line else "beside" * bool(one.needs)
    needs = f"{'' if one.is_core else ', '}needs {' and '.join(map(str, one.needs))}"
    told = "elective" * (not one.is_core) + f'<span class="needs">{needs}</span>' * bool(one.needs)
    link = up + one.link.removeprefix("../").replace(".ipynb", ".html")
    style = f"--line: {2 * line + 1}; --left: {middle - width / 2:.2%}; --width: {width:.2%}"
    return (
        f'<li class="{" ".join(kinds)}" style="{style}">'
        f'<a href="{link}">{one.number} {html.escape(one.name)}</a>'
        f"<span>{html.escape(one.question)}</span><small>{told}</small></li>"
    )


def _arrows(places: list[Places], ways: Ways) -> str:
    """Draw what passes the boxes of each line, and what is drawn below it."""
    drawn = ""
    for line, (above, below) in enumerate(pairwise(places)):
        passing = [f"M{100 * x:.2f} 0V10" for (_, is_box), (x, _) in above.items() if not is_box]
        ends = [(100 * above[a][0], 100 * below[b][0]) for a, b in ways[line]]
        curves = [f"M{a:.2f} 0C{a:.2f} 6 {b:.2f} 4 {b:.2f} 10" for a, b in ends]
        for row, kind, paths in ((1, "passing", passing), (2, "", curves)):
            drawn += (
                f'<svg class="{kind}" style="--line: {2 * line + row}" viewBox="0 0 100 10" '
                'preserveAspectRatio="none" aria-hidden="true">'
                f'<path vector-effect="non-scaling-stroke" d="{"".join(paths)}"/></svg>'
            )
    return drawn
