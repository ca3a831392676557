"""The words of each question, as its lesson asks it."""

import functools
import re
from collections.abc import Mapping

from lnorm_course.lab.lesson_files import CHECK, ORIGINALS, read
from lnorm_course.lab.working_copy import lessons

__all__ = ["LAB_ONLY", "QUESTION", "exercise_words"]

ASKED = re.compile(r"\*\*(?:Predict|Your turn)\.\*\* *(.+)", re.DOTALL)
QUESTION = re.compile(r"^\d+\. (.+)\n?", re.MULTILINE)  # in a list of them
LAB_ONLY = re.compile(r" ?<!-- lab -->.*?<!-- /lab -->", re.DOTALL)
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


@functools.cache
def exercise_words() -> Mapping[str, str]:
    """Return the words of each exercise in all lessons, without what explains or formats them."""
    found: dict[str, str] = {}
    words = ""
    for cell in (cell for path in lessons(ORIGINALS) for cell in read(path)["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            words = LAB_ONLY.sub("", source)
            continue
        names, asked = CHECK.findall(source), ASKED.search(words)
        listed = QUESTION.findall(words) if len(names) > 1 else []
        for number, name in enumerate(names):
            text = listed[number] if number < len(listed) else asked[1] if asked else words
            first, _, _ = text.strip().partition("\n\n")
            found[name] = LINK.sub(r"\1", " ".join(first.split())).replace("**", "")
    return found
