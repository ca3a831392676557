"""Lessons as pages: before an answer is given, nothing shows it; and the address they name."""

import base64
import gzip
import io
import json
import re

import numpy as np
import pytest
from exercise_banks import PREDICTIONS
from PIL import Image
from project import NOTEBOOK_PATHS, PROJECT

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.explorers.engine.stills import still_image
from lnorm_course.explorers.rings import explore_rings
from lnorm_staff.web.getting import addressed
from lnorm_staff.web.images import in_files
from lnorm_staff.web.lesson_page import lesson_page

NAMES = {exercise.name for exercise in PREDICTIONS}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """What was drawn of an explorer, as `bake` leaves it; no program with gaps is run."""
    monkeypatch.setattr(CodeExercise, "is_right_with", lambda *of_program: False)
    (tmp_path / "page.json").write_text('{"presets": [], "start": [0]}', "utf-8")
    (tmp_path / "first.gz").write_bytes(gzip.compress(b'{"0": {}}'))
    return tmp_path


def letters(cell):
    """Say what a cell is: F for each form; ( or ), ends of a fold, with A that of an answer; #, a
    heading; B, bold; W, other words; O, outputs."""
    text = "".join(cell["source"])
    if not text.startswith("`````"):
        is_text = cell["cell_type"] == "markdown"
        starts = {"#": "#", "**": "B"}
        words = next((kind for start, kind in starts.items() if text.startswith(start)), "W")
        return "O" if cell.get("outputs") else words * is_text
    opened = text.count("<details") - text.count("</details>")
    forms = text.count('class="lnorm-prediction')
    return "F" * forms or "(" * opened + "A" * text.count("lnorm-answer") or ")" * -opened


@pytest.mark.parametrize("path", NOTEBOOK_PATHS, ids=lambda path: path.stem)
def test_before_an_answer_nothing_shows_it(path, folder):
    lesson = json.loads(path.read_text("utf-8"))
    cells = lesson_page(lesson, path.stem, lambda call: folder)["cells"]
    whole = "".join(map(letters, cells))
    # What is said of an answer stays folded, up to a heading or to what is to be done.
    assert not re.search(r"\(A[^()]*\)[WO]", whole)
    page = re.sub("[ABW]", "", whole)
    source = "\n".join("".join(cell["source"]) for cell in lesson["cells"])
    checked = re.findall(r"^(\w+)\.check\(\.\.\.\)", source, re.MULTILINE)
    assert page.count("F") == sum(name in NAMES for name in checked) > 0
    # Nothing asks in a fold, but the three questions of the card on earlier lessons.
    unfolded = re.sub(r"\([^F()]*\)", "|", page.replace("(FFF)", "FFF#", 1))
    assert not {*"()"} & {*unfolded}
    assert "FO" not in unfolded


def test_an_image_moves_to_a_lighter_file_of_its_size_and_looks_the_same(tmp_path):
    still = still_image(explore_rings())
    moved = in_files(still["text/html"], tmp_path, "up/")
    (file,) = tmp_path.iterdir()
    before = Image.open(io.BytesIO(base64.b64decode(still["image/png"]))).convert("RGB")
    assert f'src="up/{file.name}" width="{before.width}" height="{before.height}"' in moved
    assert file.stat().st_size < len(still["image/png"]) / 3
    after = Image.open(file).convert("RGB")
    np.testing.assert_allclose(np.asarray(after, int), np.asarray(before, int), atol=10)


def test_a_first_cell_elsewhere_installs_from_the_address_of_the_repository():
    page = (PROJECT / "docs/troubleshooting.md").read_text("utf-8")
    assert addressed(page, "") == page
    address = "https://github.com/you/layer-norm"
    assert f'repository = "{address}"\n%pip install' in addressed(page, address)
