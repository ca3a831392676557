"""Each lesson and each belief has something to show, and explorers have the presets."""

import re

import pytest
import torch
from project import LESSON_PATHS

from lnorm_utils import LayerNorm, explorers
from lnorm_utils.lecture import FOR_BELIEF, FOR_LESSON
from lnorm_utils.slips.beliefs import Belief


def test_there_is_a_question_for_each_lesson_and_a_picture_for_each_belief():
    assert [*FOR_LESSON] == [path.stem for path in LESSON_PATHS]
    assert all(lecture.ask.endswith("?") for lecture in FOR_LESSON.values())
    assert [*FOR_BELIEF] == [*Belief]


@pytest.mark.parametrize("path", LESSON_PATHS, ids=lambda path: path.stem)
def test_what_to_show_for_a_lesson_is_a_preset_of_an_explorer_of_that_lesson(path):
    call = FOR_LESSON[path.stem].show
    of_lesson = re.findall(r"\b(explore_\w+)\(", path.read_text("utf-8"))
    name, preset = re.fullmatch(r'(\w+)\(preset="(.+)"\)', call).groups()
    assert name in (of_lesson or explorers.__all__)
    explorer = getattr(explorers, name)(preset=preset)
    assert explorer.preset == preset
    explorer.close()
    with pytest.raises(ValueError, match="preset"):
        getattr(explorers, name)(preset=f"not {preset}")


@pytest.mark.parametrize("call", FOR_BELIEF.values())
def test_what_the_page_shows_for_a_belief_can_be_run(call):
    shown = eval(call, {**vars(explorers), "torch": torch, "LayerNorm": LayerNorm})
    if "preset=" in call:
        assert f'"{shown.preset}"' in call
        shown.close()
