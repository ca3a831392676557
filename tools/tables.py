"""Write the tables of the README and of Teaching from the lessons and `lnorm_staff.lecture`.

`make notebooks` does. The tables of a page are found by the headings above them.
"""

import re

import nbformat
from freeze import replace
from project import CORE, LESSON_PATHS, PROJECT

from lnorm_staff.lecture import FOR_BELIEF, FOR_LESSON

README, TEACHING = PROJECT / "README.md", PROJECT / "docs" / "teaching.md"
ROWS = r"(\|.*\n\|[-|]+\n)(?:\|.*\n)*"  # a table's head, and what is below it


def written():
    """Return {page: its text, with the tables that the lessons give today}."""
    numbered = {int(path.name[:2]): path for path in LESSON_PATHS}
    core, electives, readme = [], [], README.read_text("utf-8")
    for number, path in numbered.items():
        (core if number in CORE else electives).append(_in_readme(number, path, readme))
    lessons = [
        f"| [{number}](../notebooks/{path.name}) | {FOR_LESSON[path.stem].ask} | "
        f"`{FOR_LESSON[path.stem].show}` |"
        for number, path in numbered.items()
    ]
    beliefs = [f"| {belief.value} | `{call}` |" for belief, call in FOR_BELIEF.items()]
    return {
        README: _with_rows(README, {"The core": core, "Electives": electives}),
        TEACHING: _with_rows(
            TEACHING,
            {
                "A question and a picture for each lesson": lessons,
                "A picture for each common belief": beliefs,
            },
        ),
    }


def _in_readme(number, path, readme):
    title = nbformat.read(path, as_version=4).cells[0].source
    question = title.splitlines()[0].removeprefix("# ")
    minutes = re.search(r"\*\*Time:\*\* (\d+) minutes", title)[1]
    # Its picture was drawn once, and stands in the row that is there already.
    found = re.search(rf'<img src="docs/pictures/{path.stem}[^>]+><br>', readme)
    image = found[0] if found else ""
    return f"| {image}{number}.&nbsp;[{question}](notebooks/{path.name}) | {minutes} |"


def _with_rows(page, rows_below):
    text = page.read_text("utf-8")
    for heading, rows in rows_below.items():
        above, found, below = text.partition(f"\n## {heading}\n")
        prose, head, rest = re.split(ROWS, below, maxsplit=1)
        text = "".join([above, found, prose, head, *(f"{row}\n" for row in rows), rest])
    return text


if __name__ == "__main__":
    for page, text in written().items():
        replace(page, text)
