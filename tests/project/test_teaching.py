"""Each lesson and each belief has something to show, and explorers have the presets."""

import re
from functools import cache

import pytest
import torch
from project import LESSON_PATHS

from lnorm_utils import LayerNorm, explorers
from lnorm_utils.lecture import FOR_BELIEF, FOR_LESSON
from lnorm_utils.slips.beliefs import Belief

PRESET = r'(explore_\w+)\(preset="(.+)"\)'


@cache
def presets_of(name):
    """Make an explorer once, and return its presets."""
    explorer = getattr(explorers, name)()
    explorer.close()
    return explorer.presets


def test_there_is_a_question_for_each_lesson_and_a_picture_for_each_belief():
    assert [*FOR_LESSON] == [path.stem for path in LESSON_PATHS]
    assert all(lecture.ask.endswith("?") for lecture in FOR_LESSON.values())
    assert [*FOR_BELIEF] == [*Belief]


@pytest.mark.parametrize("path", LESSON_PATHS, ids=lambda path: path.stem)
def test_what_to_show_for_a_lesson_is_a_preset_of_an_explorer_of_that_lesson(path):
    name, preset = re.fullmatch(PRESET, FOR_LESSON[path.stem].show).groups()
    of_lesson = re.findall(r"\b(explore_\w+)\(", path.read_text("utf-8"))
    assert name in (of_lesson or explorers.__all__)
    assert preset in presets_of(name)


@pytest.mark.parametrize("call", FOR_BELIEF.values())
def test_what_to_show_for_a_belief_is_a_preset_or_can_be_run(call):
    if found := re.fullmatch(PRESET, call):
        name, preset = found.groups()
        assert preset in presets_of(name)
    else:
        eval(call, {"torch": torch, "LayerNorm": LayerNorm})
