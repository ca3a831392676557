"""The pages of the web edition."""

from project import LESSON_PATHS, NOTEBOOK_PATHS, PROJECT

LESSONS = [f"notebooks/{path.stem}.html" for path in LESSON_PATHS]
DOCS = [f"docs/{path.stem}.html" for path in sorted((PROJECT / "docs").glob("*.md"))]
ASKING = ["docs/hour.html", *(f"notebooks/{path.stem}.html" for path in NOTEBOOK_PATHS)]
ALIVE = ["index.html", *ASKING]
DEAD = [page for page in DOCS if page not in ("docs/index.html", *ALIVE)]
PAGES = [*ALIVE, "README.html", "search.html?q=mean", "404.html", *DEAD]
ASKED = ":is(.lnorm-prediction, .lnorm-choosing)"
