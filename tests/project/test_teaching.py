"""Each lesson and each belief has something to show, and explorers have the presets."""

import re
from pathlib import Path

import pytest
import torch
from project import LESSON_PATHS, PROJECT

from lnorm_utils import LayerNorm, explorers
from lnorm_utils.lecture import FOR_BELIEF, FOR_LESSON
from lnorm_utils.slips.beliefs import Belief

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


def test_the_report_and_the_page_say_the_same():
    assert {Path(link).stem: call for _, link, _, call in ROWS} == FOR_LESSON
    page = TEXT.partition("## A picture for each common belief")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| `(.+?)` \|$", page, re.MULTILINE)
    assert rows == [(belief.value, call) for belief, call in FOR_BELIEF.items()]
    assert [*FOR_BELIEF] == [*Belief]


@pytest.mark.parametrize("call", FOR_BELIEF.values())
def test_what_the_page_shows_for_a_belief_can_be_run(call):
    shown = eval(call, {**vars(explorers), "torch": torch, "LayerNorm": LayerNorm})
    if "preset=" in call:
        assert f'"{shown.preset}"' in call
        shown.close()
