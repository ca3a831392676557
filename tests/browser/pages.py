"""The pages of the web edition."""

import re

from project import LESSON_PATHS, NOTEBOOK_PATHS, PROJECT

LESSONS = [f"notebooks/{path.stem}.html" for path in LESSON_PATHS]
TEXTS = sorted(path.relative_to(PROJECT) for path in PROJECT.glob("docs/**/*.md"))
ASKING = [
    "docs/ten_minutes.html",
    "docs/hour.html",
    *(f"notebooks/{path.stem}.html" for path in NOTEBOOK_PATHS),
]
CALL = re.compile(r'"explore_(?!row\b|rings\b|stream\b)\w+\(')
ALIVE = [f"notebooks/{path.stem}.html" for path in LESSON_PATHS if CALL.search(path.read_text())]
OTHERS = ["index.html", "README.html", "search.html?q=mean", "404.html"]
PAGES = [*OTHERS, *dict.fromkeys([*ASKING, *(f"{path.with_suffix('')}.html" for path in TEXTS)])]
PAGES.remove("docs/index.html")  # which stands at the top
ASKED = ":is(.lnorm-prediction, .lnorm-choosing)"
