"""Every rule turns red on a violation that is planted in a notebook which keeps them all."""

import json
import re

import notebook_rules as rules
import pytest
from lesson import Lesson
from sample_notebooks import course, sample_notebook

BS = "\\"


def code(nb, number):
    return [cell for cell in nb["cells"] if cell["cell_type"] == "code"][number - 1]


def says(nb, text):
    code(nb, 2)["outputs"][0]["text"] = text


PLANTED = [
    (
        rules.is_a_valid_notebook_of_format_4_5,
        lambda nb: nb.update(nbformat_minor=4),
        "format is not 4.5",
    ),
    (
        rules.is_a_valid_notebook_of_format_4_5,
        lambda nb: nb["cells"][0].pop("metadata"),
        "invalid",
    ),
    (
        rules.has_the_text_that_freezing_gives,
        lambda nb: nb["metadata"].update(title="a title"),
        "not in frozen form",
    ),
    (
        rules.every_cell_has_an_id_of_its_own,
        lambda nb: nb["cells"][0].pop("id"),
        "a cell has no id",
    ),
    (
        rules.every_cell_has_an_id_of_its_own,
        lambda nb: nb["cells"][0].update(id=nb["cells"][1]["id"]),
        "the same id",
    ),
    (
        rules.execution_counts_run_from_1_to_n,
        lambda nb: code(nb, 2).update(outputs=[], execution_count=None),
        r"\[1, None, 3\]",
    ),
    (
        rules.execution_counts_run_from_1_to_n,
        lambda nb: nb.update(cells=nb["cells"][:1]),
        "no code cell",
    ),
    (
        rules.nothing_is_written_to_stderr,
        lambda nb: code(nb, 2)["outputs"][0].update(name="stderr"),
        "code cell 2 writes to stderr",
    ),
    (
        rules.no_output_is_an_error,
        lambda nb: code(nb, 1)["outputs"].append(
            {"output_type": "error", "ename": "E", "evalue": "", "traceback": []}
        ),
        "code cell 1 ends in an error",
    ),
    (
        rules.no_cell_is_exempt_from_comparison,
        lambda nb: nb["cells"][0]["metadata"].update(tags=[]),
        "cell 1 has tags",
    ),
    (
        rules.no_cell_is_exempt_from_comparison,
        lambda nb: code(nb, 2).update(source="# NBVAL_IGNORE_OUTPUT\n6 * 7"),
        "cell 3 has a marker",
    ),
    (
        rules.no_widget_is_saved,
        lambda nb: nb["metadata"].update(widgets={}),
        "widget state",
    ),
    (
        rules.no_widget_is_saved,
        lambda nb: code(nb, 3)["outputs"][0]["data"].update({rules.WIDGET_VIEW: {}}),
        "code cell 3 has a widget view",
    ),
    (
        rules.no_code_cell_ends_in_a_semicolon,
        lambda nb: code(nb, 2).update(source="6 * 7;\n"),
        "code cell 2 ends in a semicolon",
    ),
    (
        rules.no_output_shows_a_memory_address,
        lambda nb: says(nb, "<Generator at 0x7f5340301430>"),
        "code cell 2 shows a memory address",
    ),
    *(
        (
            rules.no_output_shows_a_path_of_this_machine,
            lambda nb, path=path: says(nb, f'File "{path}x.py"'),
            "code cell 2 shows a path",
        )
        for path in ("/home/", "/Users/", "/root/", "/tmp/", f"C:{BS}")
    ),
    (
        rules.every_picture_has_an_alt_and_its_words,
        lambda nb: code(nb, 3)["outputs"][0]["data"].update({"text/html": '<img alt=" " src="x">'}),
        "code cell 3 has no alt",
    ),
    (
        rules.every_picture_has_an_alt_and_its_words,
        lambda nb: code(nb, 3)["outputs"][0]["data"].pop("text/html"),
        "code cell 3 has no alt",
    ),
    (
        rules.every_picture_has_an_alt_and_its_words,
        lambda nb: code(nb, 3)["outputs"].pop(),
        "code cell 3 has no words",
    ),
    (
        rules.the_first_code_cell_only_imports_and_seeds,
        lambda nb: code(nb, 1).update(source="import torch\ndef helper(): ..."),
        "def helper",
    ),
    (
        rules.the_first_code_cell_only_imports_and_seeds,
        lambda nb: code(nb, 1).update(source="%matplotlib inline"),
        "not Python",
    ),
    (
        rules.no_code_cell_is_longer_than_12_lines,
        lambda nb: code(nb, 2).update(source="pass\n\n" * 13),
        "code cell 2 has 13 lines",
    ),
    (
        rules.the_only_h1_stands_in_the_first_cell,
        lambda nb: nb["cells"][0].update(source="## A section"),
        r"cells \[\]",
    ),
    (
        rules.the_only_h1_stands_in_the_first_cell,
        lambda nb: nb["cells"][-1].update(source="```\n# a comment\n```\n# A heading"),
        r"cells \[1, 5\]",
    ),
    (
        rules.the_last_cell_links_to_the_next_lesson,
        lambda nb: nb["cells"].pop(),
        "does not link to second.ipynb",
    ),
]


@pytest.fixture(scope="module")
def lessons(tmp_path_factory):
    first = sample_notebook(following="second.ipynb")
    return course(tmp_path_factory.mktemp("course"), first=first, second=sample_notebook())


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
def test_a_good_lesson_keeps_the_rule(lessons, rule):
    assert [s for path in lessons.iterdir() for s in rule(Lesson(path))] == []


@pytest.mark.parametrize(("rule", "plant", "sentence"), PLANTED)
def test_a_planted_violation_is_found(lessons, tmp_path, rule, plant, sentence):
    for path in lessons.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    notebook = json.loads((lessons / "first.ipynb").read_text("utf-8"))
    plant(notebook)
    (tmp_path / "first.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    sentences = list(rule(Lesson(tmp_path / "first.ipynb")))
    assert len(sentences) == 1
    assert re.search(sentence, sentences[0])


def test_a_lesson_may_seed_in_its_first_code_cell(lessons, tmp_path):
    notebook = json.loads((lessons / "first.ipynb").read_text("utf-8"))
    code(notebook, 1).update(source="import torch\n\n_ = torch.manual_seed(0)")
    (tmp_path / "first.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    lesson = Lesson(tmp_path / "first.ipynb")
    assert list(rules.the_first_code_cell_only_imports_and_seeds(lesson)) == []


def test_every_rule_has_a_planted_violation():
    public = {value for name, value in vars(rules).items() if callable(value) and name[0] != "_"}
    written_here = {value for value in public if value.__module__ == rules.__name__}
    assert set(rules.RULES) == written_here == {rule for rule, _, _ in PLANTED}
