"""Lessons as pages: before an answer is given, nothing shows it; what a script judges it with."""

import json
import math
import re

import pytest
from project import NOTEBOOK_PATHS

from lnorm_utils.checking.exercise import Exercise
from lnorm_utils.checking.prediction import Prediction
from lnorm_utils.web.lesson_page import lesson_page
from lnorm_utils.web.questions import as_data, prediction

FORM = 'class="lnorm-prediction'


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "page.json").write_text("{}", "utf-8")
    return tmp_path


@pytest.mark.parametrize("path", NOTEBOOK_PATHS, ids=lambda path: path.stem)
def test_before_an_answer_nothing_shows_it(path, folder):
    lesson = json.loads(path.read_text("utf-8"))
    cells = lesson_page(lesson, lambda call: folder, folder)["cells"]
    texts = ["".join(cell["source"]) for cell in cells]
    depth, forms, waits = 0, 0, False
    for cell, text in zip(cells, texts, strict=True):
        is_raw = text.startswith("`````")
        if is_raw and FORM in text:
            assert depth == 0
            forms, waits = forms + text.count(FORM), True
        elif is_raw and text.count("<details") > text.count("</details>"):
            depth += 1
        elif is_raw and text.count("</details>") > text.count("<details"):
            depth, waits = depth - 1, False
        elif text.startswith("#"):
            waits = False
        if cell["cell_type"] == "code" and cell["outputs"]:
            assert depth or not waits, text
    assert depth == 0
    asked = [name for cell in lesson["cells"] for name in checks(cell)]
    assert forms == len(asked) > 0


def checks(cell):
    """Name the predictions that a cell checks."""
    names = re.findall(r"^(\w+)\.check\(\.\.\.\)", "".join(cell["source"]), re.MULTILINE)
    known = {n: e for bank in Exercise.bank.values() for n, e in bank.items()}
    return [name for name in names if isinstance(known.get(name), Prediction)]


def ask(answer, *wrong):
    """Make a prediction with some wrong values, each with a message."""
    wrong = {value: f"That is {value}." for value in wrong}
    return Prediction(answer=answer, reason="So it is.", hints=["One.", "Two."], wrong=wrong)


@pytest.mark.parametrize(
    ("answer", "kind", "value"),
    [
        (3, "number", 3),
        (math.nan, "number", "nan"),
        ((2, 3), "tuple", [2, 3]),
        ("Mean  Norm", "word", "mean norm"),
        (True, "truth", True),
    ],
)
def test_each_kind_of_answer_can_be_judged_by_a_script(answer, kind, value):
    data = json.loads(json.dumps(as_data(ask(answer, -5)), allow_nan=False))
    assert data["kind"] == kind
    assert [known["value"] for known in data["right"]] == [value]
    assert [known["value"] for known in data["wrong"]] == [-5]


def test_words_stand_in_the_order_of_the_question():
    shown = prediction(
        ask("mean", "both", "variance"), 'Which: the "variance", the "mean", or "both"?'
    )
    assert re.findall('value="(.+?)"', shown) == ["variance", "mean", "both"]
