"""Write the tables of the README from the lessons, and the one of beliefs in Teaching.

`make notebooks` does. The tables of a page are found by the headings above them.
"""

import re

import nbformat
from freeze import replace
from project import CORE, LESSON_PATHS, PROJECT

from lnorm_staff.lecture import FOR_BELIEF

README, TEACHING = PROJECT / "README.md", PROJECT / "docs" / "teaching.md"


def written():
    """Return {page: its text, with the tables that the lessons and beliefs give today}."""
    readme, core = README.read_text("utf-8"), f"{CORE[-1]:02}_"
    rows = {path.stem: _in_readme(path, readme) for path in LESSON_PATHS}
    readme = _with_rows(readme, "The core", [rows[n] for n in rows if n[:3] <= core])
    readme = _with_rows(readme, "Electives", [rows[n] for n in rows if n[:3] > core])
    beliefs = [f"| {belief.value} | `{call}` |" for belief, call in FOR_BELIEF.items()]
    teaching = TEACHING.read_text("utf-8")
    return {
        README: readme,
        TEACHING: _with_rows(teaching, "A picture for each common belief", beliefs),
    }


def _in_readme(path, readme):
    title = nbformat.read(path, as_version=4).cells[0].source
    question = title.splitlines()[0].removeprefix("# ")
    minutes = re.search(r"\*\*Time:\*\* (\d+) minutes", title)[1]
    # Its picture was drawn once, and stands in the row that is there already.
    image = re.search(rf'<img src="docs/pictures/{path.stem}[^>]+><br>|$', readme)[0]
    number = int(path.stem[:2])
    return f"| {image}{number}.&nbsp;[{question}](notebooks/{path.name}) | {minutes} |"


def _with_rows(text, heading, rows):
    table = rf"(\n## {heading}\n[^|]*\|.*\n\|[-|]+\n)(?:\|.*\n)*"
    return re.sub(table, lambda found: "\n".join([found[1].rstrip("\n"), *rows, ""]), text)


if __name__ == "__main__":
    for page, text in written().items():
        replace(page, text)
