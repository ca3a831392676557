"""A map of the lessons: boxes that are links, with arrows, drawn from the table of the map."""

import heapq
import html
import re
from collections.abc import Iterator
from itertools import combinations, pairwise, permutations
from typing import NamedTuple

__all__ = ["Lesson", "lesson_map", "lessons_of", "with_map"]

ROW = re.compile(r"^\| (\d+) \[(.+?)\]\((.+?)\) \|([\d, ]*)\| (.+?) \|", re.MULTILINE)
TABLE = re.compile(r"^\| lesson \| needs \|.*\n(?:\|.*\n)+", re.MULTILINE)
DRAWN = re.compile(r"^(\|[^|]*)\|[^|]*\|[^|]*(\|[^|]*\|)$", re.MULTILINE)  # but for columns 1 and 4
CORE = re.compile(r"^Lessons ([\d to,and]+) are the core", re.MULTILINE)
IN_A_LINE = 5  # boxes, at most, that stand beside each other before the ways part
FILLED = 0.84  # how much of its column a box fills
MOST_KEPT = 60  # places for the lines so far, with which the next line is tried
EDGE = 0.004  # how far inside an arrow stays that passes the boxes at the side, of the width

Node = tuple[int, bool]  # a lesson's box, or with False the arrow from it that passes a line
Ways = list[list[tuple[Node, Node]]]  # what is drawn below each line
Places = dict[Node, float]  # the middle of each, of the width


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
    above = f"{drawn}\n\n## What you can do afterwards\n\n"
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
    places = _settled(nodes, ways)
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


def _settled(nodes: list[list[Node]], ways: Ways) -> list[Places]:
    """Give boxes to columns, arrows to gaps between them, so that few ways cross or are long."""
    columns = max(IN_A_LINE, *(sum(is_box for _, is_box in line) for line in nodes))
    best = [(0.0, [next(_choices(nodes[0], columns))])]
    for line, drawn in zip(nodes[1:], ways, strict=False):
        choices = list(_choices(line, columns))
        more = (
            (cost + _cost(places[-1], one, drawn), [*places, one])
            for cost, places in best
            for one in choices
        )
        best = heapq.nsmallest(MOST_KEPT, more, key=lambda each: each[0])
    return best[0][1]


def _choices(line: list[Node], columns: int) -> Iterator[Places]:
    """Yield each way to place the nodes of a line, the first of them in its order."""
    boxes = [node for node in line if node[1]]
    arrows = [node for node in line if not node[1]]
    middles = [(column + 0.5) / columns for column in range(columns)]
    gaps = [min(max(gap / columns, EDGE), 1 - EDGE) for gap in range(columns + 1)]
    for chosen in permutations(middles, len(boxes)):
        for passing in permutations(gaps, len(arrows)):
            yield dict(zip([*boxes, *arrows], [*chosen, *passing], strict=True))


def _cost(above: Places, below: Places, ways: list[tuple[Node, Node]]) -> float:
    """Add up how far aside the ways lead; each crossing counts as ten times the whole width."""
    ends = [(above[a], below[b]) for a, b in ways]
    crossings = sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(ends, 2))
    return 10.0 * crossings + sum(abs(a - b) for a, b in ends)


def _box(one: Lesson, line: int, places: list[Places], up: str) -> str:
    columns = max(IN_A_LINE, *(sum(is_box for _, is_box in each) for each in places))
    middle, width = places[line][one.number, True], FILLED / columns
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
        passing = [f"M{100 * x:.2f} 0V10" for (_, is_box), x in above.items() if not is_box]
        ends = [(100 * above[a], 100 * below[b]) for a, b in ways[line]]
        curves = [f"M{a:.2f} 0C{a:.2f} 6 {b:.2f} 4 {b:.2f} 10" for a, b in ends]
        for row, kind, paths in ((1, "passing", passing), (2, "", curves)):
            drawn += (
                f'<svg class="{kind}" style="--line: {2 * line + row}" viewBox="0 0 100 10" '
                'preserveAspectRatio="none" aria-hidden="true">'
                f'<path vector-effect="non-scaling-stroke" d="{"".join(paths)}"/></svg>'
            )
    return drawn
