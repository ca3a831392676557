"""The pages of the web edition, and which of them a test opens without `--all`."""

import pytest
from project import LESSON_PATHS, NOTEBOOK_PATHS, PROJECT

LESSONS = [f"notebooks/{path.stem}.html" for path in LESSON_PATHS]
DOCS = [f"docs/{path.stem}.html" for path in sorted((PROJECT / "docs").glob("*.md"))]
ASKING = ["docs/hour.html", *(f"notebooks/{path.stem}.html" for path in NOTEBOOK_PATHS)]
ALIVE = ["index.html", *ASKING]
DEAD = [page for page in DOCS if page not in ("docs/index.html", *ALIVE)]
PAGES = [*ALIVE, "README.html", "search.html?q=mean", "404.html", *DEAD]
# Two panels with two sliders; one that a batch moves; choices and switches.
UNLIKE = [LESSONS[2], LESSONS[4], LESSONS[8]]
UNFOLD = "document.querySelectorAll('details').forEach(fold => { fold.open = true; })"
ASKED = ":is(.lnorm-prediction, .lnorm-choosing)"


def few(values, chosen):
    """Return what a test is parametrized with: without `--all` it's tried with the chosen only."""
    later = pytest.mark.only_with_all
    each = [value if isinstance(value, tuple) else (value,) for value in values]
    now = [value if isinstance(value, tuple) else (value,) for value in chosen]
    return [pytest.param(*value, marks=() if value in now else later) for value in each]
