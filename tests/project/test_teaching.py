"""Each lesson and each belief has something to show, and explorers have the presets."""

import re

import torch
from project import LESSON_PATHS, NOTEBOOKS, PRESET, PROJECT, named_presets

from lnorm_course import explorers
from lnorm_course.explorers.rings import NETWORKS
from lnorm_course.explorers.row import SHEETS
from lnorm_course.explorers.stream import PRESETS
from lnorm_diagnose.slips.beliefs import Belief
from lnorm_staff.grading.report.page import FOR_BELIEF
from lnorm_utils import LayerNorm

TEACHING = (PROJECT / "docs" / "teaching.md").read_text("utf-8")
# Of each lesson: its file, what to ask, and the explorer to show.
FOR_LESSON = re.findall(
    rf"^\| \[\d+\]\(\.\./notebooks/(.+)\) \| (.+) \| `{PRESET}` \|$", TEACHING, re.M
)


def test_there_is_a_question_for_each_lesson_and_a_picture_for_each_belief():
    names = [path.name for path in LESSON_PATHS]
    assert [name for name, *_ in FOR_LESSON] == names, "Give each a row in docs/teaching.md."
    assert all(asked.endswith("?") for _, asked, *_ in FOR_LESSON)
    assert [*FOR_BELIEF] == [belief.value for belief in Belief]


# Those of the other explorers are looked up beside them, where each is made once.
def test_every_explorer_that_a_lesson_or_a_page_names_is_there_and_every_preset_of_three():
    assert {name for name, _ in named_presets()} <= {*explorers.__all__}
    assert len(named_presets()) > 30
    of_row = {preset for sheet in SHEETS.values() for preset in sheet["states"]}
    for topic, known in {"row": of_row, "rings": NETWORKS, "stream": PRESETS}.items():
        assert {preset for name, preset in named_presets() if name == f"explore_{topic}"} <= {
            *known
        }


def test_what_to_show_for_a_lesson_is_in_that_lesson_and_for_a_belief_it_can_be_run():
    for file, _, name, _ in FOR_LESSON:
        of_lesson = re.findall(r"\b(explore_\w+)\(", (NOTEBOOKS / file).read_text("utf-8"))
        assert name in of_lesson, f"{file} doesn't call what docs/teaching.md shows."
    for call in FOR_BELIEF.values():
        if not re.fullmatch(PRESET, call):
            eval(call, {"torch": torch, "LayerNorm": LayerNorm})
