"""Write tables of lessons, and the minutes in lessons' title cells, from `docs/lessons.toml`.

Each table, in the README and in `docs`, follows a line `<!-- rows: NAME -->`. Its column headings
don't change, but its rows are written anew. `make notebooks` does this, too.
"""

import re
from collections import defaultdict

from project import NOTEBOOKS, PROJECT

from lnorm_course.exercises import Exercise
from lnorm_diagnose.slips.misconceptions import Misconception
from lnorm_staff.grading.collect.notebooks import lessons_by_topic
from lnorm_staff.lesson_list import CORE, LESSONS, LISTED

PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
TABLE = re.compile(r"(<!-- rows: (\w+) -->\n\n(?:\|.*\n){2})(?:\|.*\n)*")
TIME = re.compile(r"(?<=\*\*Time:\*\* )\d+")


def numbers(part):
    """Return {value of a field: the numbers of the lessons that have it}."""
    found = defaultdict(list)
    for lesson in LESSONS:
        found[getattr(lesson, part)].append(str(lesson.number))
    return {value: ", ".join(of) for value, of in found.items() if value}


def contents():
    """Return {name of a table: what fills each of its rows}."""
    lessons = [vars(of) | {"needs": ", ".join(map(str, of.needs))} for of in LESSONS]
    points = {name: [0, 0] for name in sorted(lessons_by_topic().values())}
    for topic, name in lessons_by_topic().items():
        for exercise in Exercise.bank[topic].values():
            points[name][exercise.further] += 1
    shown = LISTED["misconception"]
    days, asked, later = map(numbers, ("day", "question", "handed_out"))
    return {
        "core": lessons[:CORE],
        "electives": lessons[CORE:],
        "lessons": lessons,
        "teaching": lessons,
        "questions": [{"q": q, "lessons": asked[q], **of} for q, of in LISTED["question"].items()],
        "week": [{"day": day, "lessons": of} for day, of in days.items()],
        "lectures": [{"n": n, "show": of, "later": later[n]} for n, of in numbers("shown").items()],
        "misconceptions": [{"held": m.value, "show": shown[m.code]} for m in Misconception],
        "points": [{"name": name, "points": of} for name, of in points.items()],
    }


def with_tables(page):
    """Return a page with the rows of its tables rewritten from the list of lessons."""

    def written(found):
        rows = (LISTED["row"][found[2]].format_map(filled) for filled in contents()[found[2]])
        return found[1] + "".join(f"| {row} |\n" for row in rows)

    return TABLE.sub(written, page)


def with_minutes(notebook, minutes):
    """Return the text of a notebook's file with the given minutes in its title cell."""
    return TIME.sub(str(minutes), notebook, count=1)


def write_tables():
    """Write the tables of all pages, and the minutes of all lessons."""
    for page in PAGES:
        page.write_text(with_tables(page.read_text("utf-8")), encoding="utf-8", newline="\n")
    for listed in LESSONS:
        path = NOTEBOOKS / f"{listed.name}.ipynb"
        text = path.read_text("utf-8")
        if (written := with_minutes(text, listed.minutes)) != text:  # it may be open in JupyterLab
            path.write_text(written, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write_tables()
