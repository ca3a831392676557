"""Draw the flowchart of a page, which GitHub draws by itself, as an SVG."""

import html
import re

__all__ = ["with_arrows"]

FLOWCHART = re.compile(r"^```mermaid\nflowchart LR\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r'(\w+)\["([^"]+)"\]')
ACROSS, DOWN, WIDE, HIGH = 112, 62, 104, 34  # pixels: from box to box, and of a box

LEFT = 22  # room for arrows that go past a box

Pair = tuple[str, str]
Place = tuple[float, float]


def with_arrows(text: str) -> str:
    """Replace each flowchart in a page by its drawing, which goes down so that it fits a phone.

    >>> with_arrows('```mermaid\\nflowchart LR\\n    A["one"] --> B["two"]\\n```').count("<rect")
    2
    """
    return FLOWCHART.sub(lambda found: f"```{{raw}} html\n{_drawing(found[1])}\n```", text)


def _drawing(chart: str) -> str:
    labels = dict(NAMED.findall(chart))
    lines = NAMED.sub(r"\1", chart).split("\n")
    arrows = [(a.strip(), b) for a, sign, b in (line.partition(" --> ") for line in lines) if sign]
    middle = _places(labels, arrows)
    row = {name: y for name, (_, y) in middle.items()}
    direct = [pair for pair in arrows if not _is_long_way(*pair, arrows)]
    boxes = "".join(_box(labels[name], *middle[name]) for name in labels)
    paths = "".join(_arrow(middle[a], middle[b]) for a, b in direct)
    width = max(x for x, _ in middle.values()) + WIDE / 2 + 2 + LEFT
    height = max(row.values()) + HIGH / 2 + 2
    head = (
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="currentColor"/></marker>'
        "</defs>"
    )
    told = html.escape("; ".join(f"{labels[b]} needs {labels[a]}" for a, b in arrows))
    look = f'width="{width:g}" height="{height:g}" viewBox="{-LEFT} 0 {width:g} {height:g}"'
    return (
        f'<svg role="img" aria-label="{told}" {look} style="max-width: 100%; height: auto" '
        f'fill="none" stroke="currentColor">{head}{paths}{boxes}</svg>'
    )


def _places(names: dict[str, str], arrows: list[Pair]) -> dict[str, Place]:
    """Place each box under all that it needs, as far to the left as there is room."""
    row = dict.fromkeys(names, 0)
    for _ in names:
        for a, b in arrows:
            row[b] = max(row[b], row[a] + 1)
    place: dict[str, tuple[int, int]] = {}
    for name in names:
        column = min((place[a][0] for a, b in arrows if b == name and a in place), default=0)
        while (column, row[name]) in place.values():
            column += 1
        place[name] = (column, row[name])
    return {n: (x * ACROSS + WIDE / 2, y * DOWN + HIGH / 2 + 2) for n, (x, y) in place.items()}


def _box(label: str, x: float, y: float) -> str:
    return (
        f'<rect x="{x - WIDE / 2:g}" y="{y - HIGH / 2:g}" width="{WIDE}" height="{HIGH}" rx="6"/>'
        f'<text x="{x:g}" y="{y + 5:g}" text-anchor="middle" font-size="13" fill="currentColor" '
        f'stroke="none">{html.escape(label)}</text>'
    )


def _is_long_way(start: str, end: str, arrows: list[Pair]) -> bool:
    """Tell whether other arrows lead from one box to another, over a third one."""
    reached = {b for a, b in arrows if a == start and b != end}
    for _ in arrows:
        reached |= {b for a, b in arrows if a in reached}
    return end in reached


def _arrow(start: Place, end: Place) -> str:
    (x, y), (u, v) = start, end
    if v - y > DOWN:  # past the boxes between
        x, u, side = x - WIDE / 2, u - WIDE / 2 - 1, min(x, u) - WIDE / 2 - 26
        curve = f"M{x:g} {y:g}C{side:g} {y:g} {side:g} {v:g} {u:g} {v:g}"
    else:
        y, v = y + HIGH / 2, v - HIGH / 2 - 1
        bend = (v - y) / 2
        curve = f"M{x:g} {y:g}C{x:g} {y + bend:g} {u:g} {v - bend:g} {u:g} {v:g}"
    return f'<path d="{curve}" marker-end="url(#head)"/>'
