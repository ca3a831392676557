"""Each lesson and each belief has something to show, and explorers have the presets."""

import re
from functools import cache

import torch
from project import LESSON_PATHS, NOTEBOOK_PATHS, PROJECT

from lnorm_course import explorers
from lnorm_course.explorers.row import SHEETS
from lnorm_course.slips.beliefs import Belief
from lnorm_staff.lecture import FOR_BELIEF
from lnorm_utils import LayerNorm

PRESET = r'(explore_\w+)\(preset="(.+?)"\)'
TEACHING = (PROJECT / "docs" / "teaching.md").read_text("utf-8")
# Of each lesson: its file, what to ask, and the explorer to show.
FOR_LESSON = re.findall(
    rf"^\| \[\d+\]\(\.\./notebooks/(.+)\) \| (.+) \| `{PRESET}` \|$", TEACHING, re.M
)


@cache
def presets_of(name):
    """Make an explorer once, and return its presets."""
    if name == "explore_row":
        return {preset for sheet in SHEETS.values() for preset in sheet["states"]}
    explorer = getattr(explorers, name)()
    explorer.close()
    return explorer.presets


def test_there_is_a_question_for_each_lesson_and_a_picture_for_each_belief():
    assert [name for name, *_ in FOR_LESSON] == [path.name for path in LESSON_PATHS]
    assert all(asked.endswith("?") for _, asked, *_ in FOR_LESSON)
    assert [*FOR_BELIEF] == [belief.value for belief in Belief]


def test_every_preset_that_a_lesson_or_a_page_names_is_one_of_that_explorer():
    pages = [*NOTEBOOK_PATHS, *PROJECT.glob("docs/**/*.md"), PROJECT / "README.md"]
    named = {
        found
        for page in pages
        for found in re.findall(PRESET, page.read_text("utf-8").replace('\\"', '"'))
    }
    assert len(named) > 30
    assert {(name, preset) for name, preset in named if preset not in presets_of(name)} == set()


def test_what_to_show_for_a_lesson_is_in_that_lesson_and_for_a_belief_it_can_be_run():
    for path, (*_, name, _) in zip(LESSON_PATHS, FOR_LESSON, strict=True):
        of_lesson = re.findall(r"\b(explore_\w+)\(", path.read_text("utf-8"))
        assert name in (of_lesson or explorers.__all__), path.stem
    for call in FOR_BELIEF.values():
        if not re.fullmatch(PRESET, call):
            eval(call, {"torch": torch, "LayerNorm": LayerNorm})
