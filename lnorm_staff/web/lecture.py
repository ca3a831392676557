"""Write the lectures of `docs/lectures.toml` as a page that shows one screen at a time."""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lnorm_course import explorers
from lnorm_course.explorers.engine.controls import one_of
from lnorm_diagnose.slips.notation import TextError
from lnorm_staff.exercise_words import words_in_context
from lnorm_staff.web.baking import calls_in, curly
from lnorm_staff.web.exercises import options
from lnorm_staff.web.lesson_page import explorer
from lnorm_staff.web.polls import as_html, choices, predictions, template
from lnorm_utils.words import inline

__all__ = ["lecture_page", "read_lectures"]

KEYS = {"ask": str, "words": str, "discuss": int, "show": str, "minutes": int, "say": str}


def read_lectures(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Read a file of lectures, and return each lecture's parts, keyed by the lecture's name.

    Raises:
        ValueError: a part is malformed or names something unknown; the message says where.
    """
    text = path.read_text("utf-8")

    def wrong(at: int, problem: object) -> TextError:
        return TextError(path, text.count("\n", 0, at) + 1, str(problem))

    try:
        lectures: dict[str, list[dict[str, Any]]] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise ValueError(f"{path.name}: {problem}.") from None
    for name, parts in lectures.items():
        heads = [head.start() for head in re.finditer(rf"^\[\[{name}\]\]", text, re.MULTILINE)]
        if not heads or len(heads) != len(parts):
            at = max(text.find(f"[{name}"), 0)
            raise wrong(at, f"a part of a lecture must begin with [[{name}]] on its own line.")
        for part, head in zip(parts, heads, strict=True):
            for key, value in part.items():
                try:
                    _check(key, value)
                except Exception as problem:
                    line = re.compile(rf"^{key}\b", re.MULTILINE).search(text, head)
                    raise wrong(line.start() if line else head, problem) from None
    return lectures


def _check(key: str, value: Any) -> None:
    """Raise an error if a part's key or value is invalid; the error says what is allowed."""
    kind = one_of(key, KEYS, "the key") and KEYS[key]
    if not isinstance(value, kind):
        raise ValueError(f"{key} must be {'a number' if kind is int else 'text'}, not {value!r}.")
    if key == "ask":
        one_of(value, predictions(), "ask")
    elif key == "show":
        name = str(value).partition("(")[0]
        one_of(name, explorers.__all__, "show")
        eval(str(value), {name: getattr(explorers, name)})  # this checks its preset, too


def lecture_page(path: Path, draw: Callable[[str], Path]) -> str:
    """Convert a file of lectures to an HTML page.

    Args:
        draw: a function that, given a call to an explorer, returns the folder with its frames.
    """
    lectures = read_lectures(path)
    for parts in lectures.values():
        end = 0
        for part in parts:
            begin, end = end, end + part.setdefault("minutes", 0)
            words = ""
            if "ask" in part:
                question = predictions()[part["ask"]]
                asked = words_in_context().get(part["ask"], "")
                words, _ = options(asked, question)
                part["choices"] = [
                    (inline(choice.text), curly(inline(choice.why)), choice.is_right)
                    for choice in choices(question, asked)
                ]
            part["words"] = curly(as_html(part.get("words", words)))
            part["say"] = f"Minutes {begin} to {end}. {as_html(part.get('say', ''))}"
            part["pictures"] = [explorer(c, draw, "") for c in calls_in(part.get("show", ""))]
    return template("lecture.html").render(lectures=lectures)
