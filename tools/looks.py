"""Draw every kind of picture, and every explorer at each preset, as pages for people to look at.

It writes them into `build/looks`, which git ignores.
"""

import html
import json
import re
import sys

import numpy as np
from control_ends import make_all
from project import PROJECT

from lnorm_course.explorers.engine.drawing import POINTS_PER_INCH, svg
from lnorm_course.explorers.engine.panels import HERE, SCRIPT
from lnorm_utils import layer_norm
from lnorm_utils.data import dummy_points, encoded_points, normal, two_rings
from lnorm_utils.plotting import (
    bars,
    curves,
    hist_encoding,
    hist_layer_normed,
    number_lines,
    points_before_after,
    points_by_class,
    regions,
    shared_cells,
    signed_cells,
    verdicts,
)

PAGES = PROJECT / "build" / "looks"
HEAD = """<!doctype html>
<meta charset="utf-8">
<style>
body { max-width: 960px }
</style>"""
NAMES = {"title": "Title", "xlabel": "n", "ylabel": "y"}
NAN = float("nan")


def _curves(**options):
    x = np.arange(1.0, 31)
    lines = {"a": x, "b": 900 / x, "c": 30 + 0 * x, "d": np.where(x < 9, NAN, x + 20)}
    return curves(x, lines, **NAMES, **options)


PICTURES = {
    "bars": [
        lambda: bars({"a": 3.0, "a longer name": 12.5}, {"a": 4.0}, title="Times", xlabel="ms"),
    ],
    "hist_encoding": [
        lambda: hist_encoding(dummy_points()),
        lambda: hist_encoding(3 * normal(5, 40, seed=3) + 1),
    ],
    "hist_layer_normed": [
        lambda: hist_layer_normed(encoded_points(), layer_norm(encoded_points(), 4))
    ],
    "shared_cells": [
        lambda: shared_cells(normal(4, 3, seed=0), 0),
        lambda: shared_cells(normal(2, 3, 2, seed=0), -1),
        lambda: shared_cells(normal(2, 3, 2, 2, seed=0), (1, 2, 3)),
        lambda: shared_cells(normal(30, 1, seed=0), 1, axes="NF", what="γ"),
    ],
    "signed_cells": [lambda: signed_cells(normal(8, 8, seed=0), **NAMES)],
    "number_lines": [
        lambda: number_lines(encoded_points()),
        lambda: number_lines(encoded_points(), spread=False),
    ],
    "points_by_class": [lambda: points_by_class(*two_rings(), ["inner ring", "outer ring"])],
    "regions": [
        lambda: regions(
            {"none": np.full((9, 9), 0.5), "rises": np.linspace(0, 1, 81).reshape(9, 9)},
            *two_rings(16),
            ["inner ring", "outer ring"],
            most=2.5,
            columns=2,
        )
    ],
    "points_before_after": [
        lambda: points_before_after(normal(9, 3, seed=0), normal(9, 3, seed=1)),
        lambda: points_before_after(normal(9, 2, seed=0), layer_norm(normal(9, 2, seed=0), 2)),
    ],
    "verdicts": [
        lambda: verdicts({"a": {"sorted": True, "doubled": False}}, "Sums"),
        lambda: verdicts(
            {name: {f"a long name {n}": n % 2 == 0 for n in range(6)} for name in "abcd"}, "All"
        ),
    ],
    "curves": [
        lambda: curves([1, 2], {"a": [3, 4]}, **NAMES),
        lambda: curves([1, 10, 40], {"a": [3, 4, 1], "b": [1, 1, 2]}, log="xy", **NAMES),
        lambda: _curves(levels={"half": 450, "π": np.pi}),
        lambda: _curves(log="x"),
        lambda: _curves(joined=False),
    ],
}


def pages():
    """Return {name: function that draws a page}."""
    return {
        **{name: lambda makes=makes: page(map(_still, makes)) for name, makes in PICTURES.items()},
        **{name: lambda make=make: _explored(make) for name, make in make_all().items()},
    }


def page(parts):
    named = (_named(part, number) for number, part in enumerate(parts))
    return "\n".join([HEAD, *named]) + "\n"


def _named(part, number):
    """Give each id a name that is the same at every run, and that no other part has."""
    names = dict.fromkeys(re.findall(r'\bid="([^"]+)"', part))
    new = {name: f"part{number}-{index}" for index, name in enumerate(names)}
    return re.sub(r'(\bid="|url\(#|href="#)([^")]+)', lambda match: match[1] + new[match[2]], part)


def _still(make):
    picture = make()
    picture.set_dpi(POINTS_PER_INCH)
    picture.draw_without_rendering()
    drawing = svg(picture, [picture], "", "none", "picture")
    return f"<h1>{picture.alt}</h1>\n{drawing}<p>{html.escape(picture.words)}</p>"


def _explored(make):
    """Draw an explorer at each preset, as a page does; controls that lead elsewhere wait."""
    explorer = make()
    about = explorer.about()
    pages = [
        {**about, "start": state, "frame": explorer.frame(state)}
        for state in explorer.presets.values()
    ]
    explorer.close()
    # Each has names of its own, or one would refer to what another draws.
    texts = [
        json.dumps(page).replace(explorer.name, f"{explorer.name}at{number}-")
        for number, page in enumerate(pages)
    ]
    style = (HERE / "explorer.css").read_text("utf-8")
    return f"""{HEAD}<style>{style}</style><script type="module">{SCRIPT}
const source = {{ ask: () => new Promise(() => {{}}), changed: () => {{}} }};
for (const page of [{",".join(texts)}]) new Explorer(document.body, page, page.start, source);
</script>"""


def main():
    PAGES.mkdir(parents=True, exist_ok=True)
    for name, draw in pages().items():
        (PAGES / f"{name}.html").write_text(draw(), encoding="utf-8")
        print(f"{PAGES / name}.html")


if __name__ == "__main__":
    sys.exit(main())
