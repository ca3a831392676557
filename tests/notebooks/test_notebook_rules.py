"""Every rule finds the violation that is planted in a notebook which keeps them all."""

import json
import re

import notebook_rules as rules
import pytest
from lesson import Lesson
from sample_notebooks import ASKS, course, sample_lesson

ERROR = {"output_type": "error", "ename": "E", "evalue": "", "traceback": []}
PATHS = ("/home/", "/Users/", "/root/", "/tmp/", "C:\\")


def code(notebook, number):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"][number - 1]


def source(number, text):
    """Return a change that gives a code cell another source."""
    return lambda notebook: code(notebook, number).update(source=text)


def says(text):
    """Return a change that lets code cell 2 print something else."""
    return lambda notebook: code(notebook, 2)["outputs"][0].update(text=text)


def picture(change):
    """Return a change of the outputs of code cell 3: a picture, and its words."""
    return lambda notebook: change(code(notebook, 3)["outputs"])


def in_cell(index, change):
    """Return a change of the source of a cell."""

    def plant(notebook):
        cell = notebook["cells"][index]
        cell["source"] = change("".join(cell["source"]))

    return plant


def cells(change):
    """Return a change of the list of cells."""
    return lambda notebook: change(notebook["cells"])


def later(change):
    """Return a change of the cells of the second lesson."""
    plant = cells(change)
    plant.lesson = "second"
    return plant


def question(words):
    """Return the two cells of a question."""
    prose = {"cell_type": "markdown", "id": "words", "metadata": {}, "source": words}
    check = {"cell_type": "code", "id": "check", "metadata": {}, "source": ASKS}
    return [prose, {**check, "execution_count": 1, "outputs": []}]


def long(text):
    return f"{text}\n" + "1 + 1\n" * 180


def fifty(text):
    return text.replace("5 minutes", "50 minutes")


SIDE_TRIP = [*question("## Further: a\n\nWords."), question("## More")[0]]
LONG_TRIP = question("## Further: a\n\n" + 1600 * "word ")
ONE_TRIP = ", and 5 for the side trip. **Y"
TWO_TRIPS = ", and 10 for the side trips. **Y"
TABLE = "| symbol | code |\n|---|---|\n| " + "not a word here " * 40 + "|\n\n"

# Rule: [(what it says, what breaks it), ...].
PLANTED = {
    rules.is_a_valid_notebook_of_format_4_5: [
        ("format is not 4.5", lambda nb: nb.update(nbformat_minor=4)),
        ("invalid", lambda nb: nb["cells"][0].pop("metadata")),
    ],
    rules.has_the_text_that_freezing_gives: [
        ("not in frozen form", lambda nb: nb["metadata"].update(title="a title"))
    ],
    rules.every_cell_has_an_id_of_its_own: [
        ("a cell has no id", lambda nb: nb["cells"][0].pop("id")),
        ("the same id", lambda nb: nb["cells"][0].update(id=nb["cells"][1]["id"])),
    ],
    rules.execution_counts_run_from_1_to_n: [
        (r"\[1, None, 3, 4, 5\]", lambda nb: code(nb, 2).update(outputs=[], execution_count=None)),
        ("no code cell", lambda nb: nb.update(cells=nb["cells"][:1])),
    ],
    rules.nothing_is_written_to_stderr: [
        ("cell 2 writes to stderr", lambda nb: code(nb, 2)["outputs"][0].update(name="stderr"))
    ],
    rules.no_output_is_an_error: [
        ("code cell 1 ends in an error", lambda nb: code(nb, 1)["outputs"].append(ERROR))
    ],
    rules.no_cell_is_exempt_from_comparison: [
        ("cell 1 has tags", lambda nb: nb["cells"][0]["metadata"].update(tags=[])),
        ("cell 3 has a marker", source(2, "# NBVAL_IGNORE_OUTPUT\n6 * 7")),
    ],
    rules.no_widget_is_saved: [
        ("widget state", lambda nb: nb["metadata"].update(widgets={})),
        (
            "cell 3 has a widget view",
            picture(lambda o: o[0]["data"].update({rules.WIDGET_VIEW: 1})),
        ),
    ],
    rules.no_code_cell_ends_in_a_semicolon: [("cell 2 ends in a semicolon", source(2, "6 * 7;\n"))],
    rules.no_output_shows_a_memory_address: [
        ("cell 2 shows a memory address", says("<Generator at 0x7f5340301430>"))
    ],
    rules.no_output_shows_a_path_of_this_machine: [
        ("code cell 2 shows a path", says(f'File "{path}x.py"')) for path in PATHS
    ],
    rules.every_picture_has_an_alt_and_its_words: [
        ("3 has no alt", picture(lambda o: o[0]["data"].update({"text/html": '<img alt=" ">'}))),
        ("3 has no alt", picture(lambda o: o[0]["data"].pop("text/html"))),
        ("3 has no words", picture(lambda o: o.pop())),
    ],
    rules.the_first_code_cell_only_imports_and_seeds: [
        ("def helper", source(1, "import torch\ndef helper(): ...")),
        ("not Python", source(1, "%matplotlib inline")),
    ],
    rules.no_code_cell_is_longer_than_12_lines: [
        ("code cell 2 has 13 lines", source(2, "pass\n\n" * 13))
    ],
    rules.the_only_h1_stands_in_the_first_cell: [
        (r"cells \[\]", lambda nb: nb["cells"][0].update(source="## A section")),
        (
            r"cells \[1, 9\]",
            lambda nb: nb["cells"][-1].update(source="```\n# a comment\n```\n# A heading"),
        ),
    ],
    rules.the_recap_links_to_the_next_lesson: [
        ("does not link to second.ipynb", in_cell(8, lambda text: text.replace("](", "] (")))
    ],
    rules.side_trips_come_after_the_recap_and_say_so: [
        ("`## Further: a` stands before", in_cell(4, lambda text: f"{text}\n\n## Further: a")),
        ("first cell after", cells(lambda cells: cells.append(cells[4]))),
        ("`## More` stands after", cells(lambda cells: cells.extend(SIDE_TRIP))),
    ],
    rules.the_title_cell_says_how_many_minutes_it_takes: [
        ("says 10 minutes, .* takes 5", in_cell(0, lambda text: text.replace("5 m", "10 m"))),
        ("does not say", in_cell(0, lambda text: text.replace("**Time:**", "Time:"))),
        ("main way takes 50", lambda nb: (in_cell(3, long)(nb), in_cell(0, fifty)(nb))),
        ("says 0 .* they take 10", cells(lambda cells: cells.extend(LONG_TRIP))),
        ("says 5 .* they take 0", in_cell(0, lambda text: text.replace(". **Y", ONE_TRIP))),
        (
            "1 side trips, and speaks of several",
            lambda nb: (
                nb["cells"].extend(LONG_TRIP),
                in_cell(0, lambda text: text.replace(". **Y", TWO_TRIPS))(nb),
            ),
        ),
    ],
    rules.it_has_at_most_55_cells: [
        ("56 cells", cells(lambda cells: cells.extend([cells[1]] * (56 - len(cells)))))
    ],
    rules.no_prose_cell_has_more_than_120_words: [
        ("cell 8 has 121 words", in_cell(7, lambda text: "word " * 119 + "$a + b$, word")),
        ("cell 9 has 121 words", in_cell(8, lambda text: TABLE + "word " * 121)),
    ],
    rules.one_section_is_about_the_trap: [
        ("0, not one", in_cell(7, lambda text: text.replace("trap:", "trap"))),
        ("2, not one", in_cell(7, lambda text: f"{text}\n\n{text}")),
    ],
    rules.references_stand_in_the_recap_only: [
        (r"\[8, 9\]", in_cell(7, lambda text: f"{text}\n\n**References.** Euclid.")),
        (r"\[\]", in_cell(8, lambda text: text.replace("References", "Sources"))),
    ],
    rules.it_starts_with_three_questions_about_earlier_lessons: [
        ("third cell", later(lambda cells: cells.pop(2))),
        ("third cell", later(lambda cells: cells.insert(2, cells.pop(4)))),
        ("three times", later(lambda cells: cells[3].update(source=f"{ASKS}\n{ASKS}"))),
        ("three times", later(lambda cells: cells[3].update(source=f"{ASKS}\n" * 4))),
        ("three times", later(lambda cells: cells[3].update(source=f"{ASKS}\n" * 3 + "2"))),
        ("three times", later(lambda cells: cells.pop(3))),
    ],
    rules.after_a_question_comes_the_code_that_shows_the_answer: [
        ("cell 6 asks", cells(lambda cells: cells.pop(6))),
        ("cell 6 asks", in_cell(6, lambda text: "def mine(x): ...\nrow_means.check(mine)")),
        ("cell 6 asks", in_cell(6, lambda text: "progress('mean')")),
        ("cell 6 asks", cells(lambda cells: cells.insert(6, cells[7]))),
        ("cell 7 asks", cells(lambda cells: cells.insert(4, cells.pop(6)))),
        ("cell 6 asks", cells(lambda cells: cells.insert(6, question("54. **Predict.** And?")[0]))),
    ],
}


@pytest.fixture(scope="module")
def lessons(tmp_path_factory):
    first, second = sample_lesson("second.ipynb"), sample_lesson(asks_about_earlier_ones=True)
    return course(tmp_path_factory.mktemp("course"), first=first, second=second)


@pytest.fixture
def changed(lessons, tmp_path):
    """Return a function that changes a copy of a lesson, the first or the second."""

    def change(plant):
        name = getattr(plant, "lesson", "first")
        notebook = json.loads((lessons / f"{name}.ipynb").read_text("utf-8"))
        plant(notebook)
        (tmp_path / "first.ipynb").touch()
        (tmp_path / "second.ipynb").touch()
        (tmp_path / f"{name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
        return Lesson(tmp_path / f"{name}.ipynb")

    return change


def test_good_lessons_keep_every_rule(lessons):
    for path in lessons.iterdir():
        assert [sentence for rule in rules.RULES for sentence in rule(Lesson(path))] == []


@pytest.mark.parametrize(
    ("rule", "words", "plant"),
    [(rule, *planted) for rule, violations in PLANTED.items() for planted in violations],
)
def test_a_planted_violation_is_found(changed, rule, words, plant):
    (sentence,) = rule(changed(plant))
    assert re.search(words, sentence)


def test_a_lesson_may_seed_in_its_first_code_cell(changed):
    lesson = changed(source(1, "import torch\n\n_ = torch.manual_seed(0)"))
    assert list(rules.the_first_code_cell_only_imports_and_seeds(lesson)) == []


def test_questions_may_follow_each_other_and_may_stand_below_the_code_they_are_about(changed):
    about = {"cell_type": "code", "id": "about", "metadata": {}, "source": "class Layer: ..."}
    more = [*question("**Predict.** And 7 times 9?"), {**about, "outputs": []}]
    more += [question("**Predict.** Which line is wrong?")[1]]
    lesson = changed(cells(lambda cells: cells.insert(4, cells[2])))
    assert list(rules.after_a_question_comes_the_code_that_shows_the_answer(lesson)) == []
    lesson = changed(cells(lambda cells: cells.__setitem__(slice(6, 6), more)))
    assert list(rules.after_a_question_comes_the_code_that_shows_the_answer(lesson)) == []


def test_every_rule_has_a_planted_violation():
    functions = {value for value in vars(rules).values() if callable(value)}
    written_here = {f for f in functions if f.__module__ == rules.__name__ and f.__name__[0] != "_"}
    assert {*rules.RULES} == {*PLANTED} == written_here
