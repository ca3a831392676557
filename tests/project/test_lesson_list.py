"""The list of lessons agrees with the notebooks, and pages show what it says today."""

import re
from itertools import groupby

import nbformat
import pytest
import torch
from lesson_tables import PAGES, TABLE, with_minutes, with_tables
from pictures import KEPT
from project import LESSON_PATHS, NOTEBOOKS, PRESET, PROJECT
from test_map import all_needed

from lnorm_diagnose.slips.misconceptions import Misconception
from lnorm_staff.lesson_list import CORE, LESSONS, LISTED
from lnorm_utils import LayerNorm


def test_every_lesson_is_listed_and_needs_earlier_ones_only():
    assert [each.name for each in LESSONS] == [path.stem for path in LESSON_PATHS]
    assert [each.number for each in LESSONS] == [int(each.name[:2]) for each in LESSONS]
    assert all(max(each.needs, default=0) < each.number for each in LESSONS)


@pytest.mark.parametrize("listed", LESSONS, ids=lambda listed: listed.name)
def test_a_lesson_is_called_takes_and_needs_what_its_own_title_cell_says(listed):
    path = NOTEBOOKS / f"{listed.name}.ipynb"
    cell = nbformat.read(path, as_version=4).cells[0].source
    assert cell.startswith(f"# {listed.title}\n")
    told = f"docs/lessons.toml says {listed.minutes} minutes: `make notebooks` writes them."
    assert f"**Time:** {listed.minutes} minutes" in cell, f"{path.name}, first cell: {told}"
    assert "**Time:** 99 minutes" in with_minutes(path.read_text("utf-8"), 99)
    needs = cell.partition("**You need:**")[2]
    said = {*map(int, re.findall(r"(?:\blessons? (?:\d+ to )?|\]\()(\d+)", needs))}
    assert all_needed(listed.number) == said.union(*map(all_needed, said))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_its_tables_as_they_are_written_from_the_list(page):
    text = page.read_text("utf-8")
    assert with_tables(text) == text, "`make tool NAME=lesson_tables` writes them."


def test_each_table_has_a_place_on_one_page():
    placed = [name for page in PAGES for _, name in TABLE.findall(page.read_text("utf-8"))]
    assert sorted(placed) == sorted(LISTED["row"])


def test_a_route_meets_every_lesson_after_those_that_it_needs():
    for day in (lambda each: each.day, lambda each: each.shown or each.handed_out):
        days = [value for value, _ in groupby(LESSONS, day)]
        assert len({*days}) == len(days)  # so the order is that of the list
        assert all(days)
    assert not any(each.shown and each.handed_out for each in LESSONS)
    assert {each.question for each in LESSONS} - {""} == {*LISTED["question"]}


def test_what_to_show_for_a_lesson_is_in_that_lesson_and_for_a_misconception_it_can_be_run():
    for each in LESSONS:
        assert each.ask.endswith("?")
        name, _ = re.fullmatch(PRESET, each.show).groups()
        assert f"{name}(" in (NOTEBOOKS / f"{each.name}.ipynb").read_text("utf-8"), each.name
        assert (KEPT / f"{each.name}.png").exists(), each.name
    assert {*LISTED["misconception"]} == {each.code for each in Misconception}
    for call in LISTED["misconception"].values():
        if not re.fullmatch(PRESET, call):
            eval(call, {"torch": torch, "LayerNorm": LayerNorm})


def test_the_core_takes_about_the_hours_that_are_promised_and_each_lesson_30_to_45_minutes():
    minutes = [each.minutes for each in LESSONS[:CORE]]
    too_long = "By docs/lessons.toml, the core takes more than 360 minutes. Use a side trip."
    assert sum(minutes) >= 340, "README.md promises about six hours."
    assert sum(minutes) <= 360, too_long
    assert 30 <= min(minutes) <= max(minutes) <= 45
    for name in ("README.md", "docs/index.md", "docs/map.md"):
        words = " ".join((PROJECT / name).read_text("utf-8").split())
        assert re.search(r"\babout six hours\b", words), name
        assert re.search(rf"\blessons 1 to {CORE}\b", words, re.IGNORECASE), name
