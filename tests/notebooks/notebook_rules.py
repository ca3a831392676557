"""What every lesson keeps, one rule a function: it yields a sentence for each violation."""

import ast
import re

from freeze import frozen_text
from lesson import FURTHER, minutes
from project import PROJECT

from lnorm_course.lab.lesson_files import topics

MOST_CODE_LINES = 12
MOST_CELLS = 75
MOST_MINUTES = 45
SECTIONS = range(4, 9)
TIME = r"\*\*Time:\*\* (\d+) minutes(?:, and (\d+) for the side trips?)?\. \*\*You need:\*\*"
REFERENCES = "**References.**"


def has_the_text_that_freezing_gives(lesson):
    """So it's valid, its cells have ids, and it keeps no widget and no tag."""
    if lesson.text != frozen_text(lesson.notebook):
        yield "its text is not in frozen form: run `make notebooks`"


def execution_counts_run_from_1_to_n(lesson):
    counts = [cell.execution_count for cell in lesson.cells("code")]
    if not counts:
        yield "it has no code cell"
    if counts != list(range(1, len(counts) + 1)):
        yield f"its execution counts are {counts}"


def nothing_is_written_to_stderr(lesson):
    for number, output in lesson.outputs():
        if output.get("name") == "stderr":
            yield f"code cell {number} writes to stderr"


def no_cell_is_exempt_from_comparison(lesson):
    for number, cell in enumerate(lesson.notebook.cells, start=1):
        if re.search("NBVAL_|PYTEST_VALIDATE_", cell.source):
            yield f"cell {number} has a marker for nbval"


def every_picture_has_an_alt_and_its_words(lesson):
    speaking = {n for n, out in lesson.outputs() if _words(out.get("data", {}))}
    for number, output in lesson.outputs():
        if "image/png" not in output.get("data", {}):
            continue
        if not re.search(r'<img alt="[^"\s][^"]*" src="data:', output.data.get("text/html", "")):
            yield f"the picture of code cell {number} has no alt"
        if number not in speaking:
            yield f"the picture of code cell {number} has no words"


def _words(data):
    """Find the words of a picture: in Markdown beside it, or under it as its caption."""
    caption = re.search("<figcaption>([^<]+)", data.get("text/html", ""))
    return data.get("text/markdown") or caption


def the_first_code_cell_only_imports_and_seeds(lesson):
    for statement in _statements(next(iter(lesson.cells("code")))):
        if not isinstance(statement, ast.Import | ast.ImportFrom) and not _seeds(statement):
            yield f"its first code cell also has `{ast.unparse(statement)}`"


def _statements(cell):
    try:
        return ast.parse(cell.source).body
    except SyntaxError:
        return [ast.Expr(ast.Name("a line that is not Python"))]


def _seeds(statement):
    """Tell `torch.manual_seed(0)` and `_ = torch.manual_seed(0)`, which shows no address."""
    call = getattr(statement, "value", None)
    return isinstance(call, ast.Call) and ast.unparse(call.func).endswith("manual_seed")


def the_only_h1_stands_in_the_first_cell(lesson):
    numbers = []
    for number, cell in enumerate(lesson.notebook.cells, start=1):
        if cell.cell_type == "markdown":
            prose = re.sub(r"^```.*?^```", "", cell.source, flags=re.MULTILINE | re.DOTALL)
            numbers += [number for _ in re.findall(r"^# |<h1", prose, flags=re.MULTILINE)]
    if numbers != [1]:
        yield f"an H1 stands in each of the cells {numbers}"


def the_recap_links_to_the_next_lesson(lesson):
    later = sorted(p.name for p in lesson.path.parent.glob("*.ipynb") if p > lesson.path)
    if later and f"]({later[0]})" not in lesson.main_way[-1].source:
        yield f"its recap does not link to {later[0]}"


def side_trips_come_after_the_recap_and_say_so(lesson):
    headings = [
        (cell in lesson.side_trips, heading)
        for cell in lesson.cells("markdown")
        for heading in re.findall(r"^## .*", cell.source, flags=re.MULTILINE)
    ]
    for is_side_trip, heading in headings:
        if is_side_trip != heading.startswith(FURTHER):
            yield f"`{heading}` stands {'after' if is_side_trip else 'before'} the recap"
    if lesson.side_trips and not lesson.side_trips[0].source.startswith(FURTHER):
        yield f"the first cell after its recap does not start with `{FURTHER}`"


def the_title_cell_says_how_many_minutes_it_takes(lesson):
    told = re.search(TIME, lesson.notebook.cells[0].source)
    if not told:
        yield "its first cell does not say `**Time:** … minutes, and … for the side trips. **You`"
        return
    said, said_further = int(told[1]), int(told[2] or 0)
    taken, further = minutes(lesson.main_way), minutes(lesson.side_trips)
    name, is_listed = lesson.path.name, lesson.path.name[0].isdigit()
    if said != taken:
        where = "docs/lessons.toml, and run `make notebooks`" if is_listed else "its first cell"
        yield f"{name} takes {taken} minutes, and says {said}: change the number in {where}"
    if taken > MOST_MINUTES:
        yield f"{name} takes {taken} minutes: move something to a side trip"
    if said_further != further:
        told = f"the side trips of {name} take {further} minutes, and it says {said_further}"
        yield f"{told}: change the number in its first cell"


def its_title_asks_and_a_picture_or_a_row_asks_the_same(lesson):
    first, _, third, *_ = lesson.notebook.cells
    if not first.source.partition("\n")[0].endswith("?"):
        yield "its title is not a question"
    picture = PROJECT / "docs" / "openings" / f"{lesson.path.stem}.svg"
    if not third.source.startswith("explore_row(") and not picture.exists():
        yield f"there is no docs/openings/{picture.name}, and no row in its third cell"
    if picture.exists() and "<title>" not in picture.read_text("utf-8"):
        yield f"docs/openings/{picture.name} has no title"


def it_has_sections_and_questions_enough_and_counts_what_is_solved(lesson):
    prose = "\n".join(cell.source for cell in lesson.cells("markdown"))
    headings = re.findall(r"^## (?!Before you start|Recap|Further: )", prose, flags=re.MULTILINE)
    if len(headings) not in SECTIONS:
        yield f"it has {len(headings)} sections besides the recap"
    cells = lesson.notebook.cells
    asked = sum(
        len(_predictions(cell))
        for above, cell in zip([None, *cells], cells, strict=False)
        if not _recalls(above)
    )
    if asked < 3:
        yield f"it has {asked} predictions, and not three"
    code = "\n".join(cell.source for cell in lesson.cells("code"))
    in_code = len(re.findall(r"^\w+\.check\((?!\.\.\.)", code, flags=re.MULTILINE))
    if in_code < (2 if lesson.path.name[0].isdigit() else 1):
        yield f"it has {in_code} exercises in code, and not two (an appendix: one)"
    *_, counts, _ = ["", *(cell.source for cell in lesson.main_way)]
    if counts not in (calls := [f'progress("{topic}")' for topic in topics(lesson.notebook)]):
        yield f"the cell before its recap is not one of {calls}"


def neither_it_nor_a_cell_of_it_is_too_long(lesson):
    cells = lesson.notebook.cells
    if len(cells) > MOST_CELLS:
        yield f"it has {len(cells)} cells"
    for number, cell in enumerate(cells, start=1):
        lines = sum(bool(line.strip()) for line in cell.source.splitlines())
        if cell.cell_type == "code" and lines > MOST_CODE_LINES:
            yield f"cell {number} has {lines} lines"


def references_stand_in_the_recap_only(lesson):
    cells = lesson.notebook.cells
    numbers = [n for n, cell in enumerate(cells, start=1) if REFERENCES in cell.source]
    if numbers != [len(lesson.main_way)]:
        yield f"`{REFERENCES}` stands in the cells {numbers}, not in the recap only"


def it_starts_with_three_questions_about_earlier_lessons(lesson):
    if lesson.path == min(lesson.path.parent.glob("*.ipynb")):
        return
    opening = [c for c in lesson.notebook.cells[2:5] if not c.source.startswith("explore_row(")]
    heading, checks = [*opening, None, None][:2]
    if not _recalls(heading):
        yield "its third cell, or the one below a row, does not start with `## Before you start`"
    elif checks is None or len(_predictions(checks)) != 3:
        yield "the cell below `## Before you start` is not `name.check(...)` three times"


def after_a_question_comes_the_code_that_shows_the_answer(lesson):
    cells = lesson.notebook.cells
    numbered = list(enumerate(zip([None, *cells], cells, strict=False), start=1))
    for number, (above, cell) in numbered:
        if not _predictions(cell) or _recalls(above):
            continue
        rest = (c for c in cells[number:] if not _asks(c))
        following = next(rest, None)
        if following is None or following.cell_type != "code" or _is_about_exercises(following):
            yield f"cell {number} asks, and the next cell that doesn't is not code that answers"


def _recalls(cell):
    return cell is not None and cell.source.startswith("## Before you start")


def _asks(cell):
    """Tell whether a cell is one of a question: its words and nothing before them, or its check."""
    return cell.source.startswith("**Predict.**") or bool(_predictions(cell))


def _predictions(cell):
    """Return the lines `name.check(...)`, if a code cell has nothing else."""
    if cell.cell_type != "code":
        return []
    lines = [ast.unparse(statement) for statement in _statements(cell)]
    return lines if all(re.fullmatch(r"\w+\.check\(\.\.\.\)", line) for line in lines) else []


def _is_about_exercises(cell):
    nodes = [node for statement in _statements(cell) for node in ast.walk(statement)]
    calls = [ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)]
    return any(call.endswith((".check", "progress")) for call in calls)


RULES = [
    has_the_text_that_freezing_gives,
    execution_counts_run_from_1_to_n,
    nothing_is_written_to_stderr,
    no_cell_is_exempt_from_comparison,
    every_picture_has_an_alt_and_its_words,
    the_first_code_cell_only_imports_and_seeds,
    the_only_h1_stands_in_the_first_cell,
    the_recap_links_to_the_next_lesson,
    side_trips_come_after_the_recap_and_say_so,
    the_title_cell_says_how_many_minutes_it_takes,
    its_title_asks_and_a_picture_or_a_row_asks_the_same,
    it_has_sections_and_questions_enough_and_counts_what_is_solved,
    neither_it_nor_a_cell_of_it_is_too_long,
    references_stand_in_the_recap_only,
    it_starts_with_three_questions_about_earlier_lessons,
    after_a_question_comes_the_code_that_shows_the_answer,
]
