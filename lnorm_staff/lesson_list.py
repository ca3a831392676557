"""Read the lessons in `docs/lessons.toml`, for the map, the tables on pages, and the reports."""

import tomllib
from types import SimpleNamespace
from typing import Any

from lnorm_course.lab.lesson_files import ORIGINALS
from lnorm_utils.words import spoken

__all__ = ["CORE", "LESSONS", "LISTED"]

LISTED = tomllib.loads((ORIGINALS.parent / "docs" / "lessons.toml").read_text("utf-8"))


def _lesson(number: int, name: str, parts: dict[str, Any]) -> SimpleNamespace:
    """Return what `docs/lessons.toml` says about a lesson, plus its number and its notebook's name.

    Raises:
        ValueError: a required part is missing, or a part is unknown.
    """
    maybe = dict.fromkeys(LISTED["maybe"], "")
    needed = LISTED["part"].keys()
    if wrong := [*(needed - parts.keys()), *(parts.keys() - needed - maybe.keys())]:
        told = (f"{part} is {'missing' if part in needed else 'unknown'}" for part in wrong)
        raise ValueError(f"docs/lessons.toml: in {name}, {spoken([*told])}.")
    return SimpleNamespace(number=number, name=name, **maybe | parts)


LESSONS = [_lesson(number, *each) for number, each in enumerate(LISTED["lesson"].items(), 1)]
CORE: int = LISTED["core"]  # the number of core lessons, which come first
