"""Each lesson has a question for the room, and a preset that its explorer really has."""

import re

import pytest
from project import LESSON_PATHS, PROJECT

from lnorm_utils import explorers

TEXT = (PROJECT / "docs" / "teaching.md").read_text("utf-8")
ROWS = re.findall(r"^\| \[(\d+)\]\((.+?)\) \| (.+?) \| `(.+?)` \|$", TEXT, re.MULTILINE)


def test_each_lesson_has_one_question_and_one_preset():
    assert [link for _, link, *_ in ROWS] == [f"../notebooks/{path.name}" for path in LESSON_PATHS]
    assert [int(number) for number, *_ in ROWS] == [int(path.name[:2]) for path in LESSON_PATHS]
    assert all(question.endswith("?") for _, _, question, _ in ROWS)


@pytest.mark.parametrize(("number", "link", "question", "call"), ROWS)
def test_the_preset_that_a_row_names_exists_in_an_explorer_of_that_lesson(
    number, link, question, call
):
    path = PROJECT / "docs" / link
    of_lesson = re.findall(r"\b(explore_\w+)\(", path.read_text("utf-8"))
    name, preset = re.fullmatch(r'(\w+)\(preset="(.+)"\)', call).groups()
    assert name in (of_lesson or explorers.__all__)
    explorer = eval(call, vars(explorers).copy())
    assert preset in explorer.presets
    explorer.close()
    with pytest.raises(ValueError, match="preset"):
        getattr(explorers, name)(preset=f"not {preset}")
