"""Draw the flowchart of a page, which GitHub draws by itself, as an SVG."""

import html
import re

__all__ = ["with_arrows"]

FLOWCHART = re.compile(r"^```mermaid\nflowchart LR\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r'(\w+)\["([^"]+)"\]')
ACROSS, DOWN, WIDE, HIGH = 130, 60, 104, 34  # pixels


def with_arrows(text: str) -> str:
    """Replace each flowchart in a page by its drawing.

    >>> with_arrows('```mermaid\\nflowchart LR\\n    A["one"] --> B["two"]\\n```').count("<rect")
    2
    """
    return FLOWCHART.sub(lambda found: f"```{{raw}} html\n{_drawing(found[1])}\n```", text)


def _drawing(chart: str) -> str:
    labels = dict(NAMED.findall(chart))
    lines = NAMED.sub(r"\1", chart).split("\n")
    arrows = [(a, b) for line in lines if " --> " in line for a, b in [line.strip().split(" --> ")]]
    column = dict.fromkeys(labels, 0)
    for _ in labels:  # a box stands behind all that it needs
        for a, b in arrows:
            column[b] = max(column[b], column[a] + 1)
    place: dict[str, tuple[int, int]] = {}
    for name in labels:
        above = [place[a][1] for a, b in arrows if b == name and a in place]
        row = min(above, default=0)
        while (column[name], row) in place.values():
            row += 1
        place[name] = (column[name], row)
    middle = {n: (c * ACROSS + WIDE / 2, r * DOWN + HIGH / 2 + 2) for n, (c, r) in place.items()}
    boxes = "".join(_box(labels[name], *middle[name]) for name in labels)
    paths = "".join(_arrow(middle[a], middle[b]) for a, b in arrows)
    width = max(x for x, _ in middle.values()) + WIDE / 2 + 2
    height = max(y for _, y in middle.values()) + HIGH / 2 + 2
    head = (
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="currentColor"/></marker>'
        "</defs>"
    )
    told = html.escape("; ".join(f"{labels[b]} needs {labels[a]}" for a, b in arrows))
    look = f'width="{width:g}" height="{height:g}" viewBox="-1 0 {width:g} {height:g}"'
    return (
        f'<div style="overflow-x: auto" tabindex="0"><svg role="img" aria-label="{told}" {look} '
        f'fill="none" stroke="currentColor">{head}{paths}{boxes}</svg></div>'
    )


def _box(label: str, x: float, y: float) -> str:
    return (
        f'<rect x="{x - WIDE / 2:g}" y="{y - HIGH / 2:g}" width="{WIDE}" height="{HIGH}" rx="6"/>'
        f'<text x="{x:g}" y="{y + 5:g}" text-anchor="middle" font-size="14" fill="currentColor" '
        f'stroke="none">{html.escape(label)}</text>'
    )


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    (x, y), (u, v) = (start[0] + WIDE / 2, start[1]), (end[0] - WIDE / 2 - 1, end[1])
    bend = (u - x) / 2
    curve = f"M{x:g} {y:g}C{x + bend:g} {y:g} {u - bend:g} {v:g} {u:g} {v:g}"
    return f'<path d="{curve}" marker-end="url(#head)"/>'
