"""The words of each question, as its lesson asks it."""

import functools
import re
from collections.abc import Mapping

from lnorm_course.lab.lesson_files import CHECK, ORIGINALS, read

__all__ = ["LAB_ONLY", "exercise_words"]

ASKED = re.compile(r"\*\*(?:Predict|Your turn)\.\*\* *(.+)", re.DOTALL)
LISTED = re.compile(r"^\d+\. (.+)", re.MULTILINE)
LAB_ONLY = re.compile(r" ?<!-- lab -->.*?<!-- /lab -->", re.DOTALL)
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


@functools.cache
def exercise_words(lesson: str) -> Mapping[str, str]:
    """Return the words of each exercise in a lesson, without what explains or formats them."""
    path = ORIGINALS / f"{lesson}.ipynb"
    found: dict[str, str] = {}
    words = ""
    for cell in read(path)["cells"] if path.exists() else []:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            words = LAB_ONLY.sub("", source)
            continue
        names, asked = CHECK.findall(source), ASKED.search(words)
        listed = LISTED.findall(words) if len(names) > 1 else []
        for number, name in enumerate(names):
            text = listed[number] if number < len(listed) else asked[1] if asked else words
            first, _, _ = text.strip().partition("\n\n")
            found[name] = LINK.sub(r"\1", " ".join(first.split())).replace("**", "")
    return found
