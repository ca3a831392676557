"""Lessons as pages: before an answer is given, nothing shows it."""

import gzip
import json
import re

import pytest
from project import NOTEBOOK_PATHS

from lnorm_course.checking.exercise import Exercise
from lnorm_course.checking.prediction import Prediction
from lnorm_staff.web.lesson_page import lesson_page

FORM = 'class="lnorm-prediction'


@pytest.fixture
def folder(tmp_path):
    """What was drawn of an explorer, as `bake` leaves it."""
    (tmp_path / "page.json").write_text('{"presets": [], "start": [0]}', "utf-8")
    (tmp_path / "first.gz").write_bytes(gzip.compress(b'{"0": {}}'))
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
