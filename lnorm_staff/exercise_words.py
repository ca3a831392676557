"""The text of each exercise's question, taken from its lesson."""

import functools
import re
from collections.abc import Iterator, Mapping

from lnorm_course.lab.lesson_files import CHECK, ORIGINALS, read
from lnorm_course.lab.working_copy import lessons

__all__ = ["LAB_ONLY", "QUESTION", "exercise_words", "words_in_context"]

ASKED = re.compile(r"\*\*(?:Predict|Your turn)\.\*\* *(.+)", re.DOTALL)
QUESTION = re.compile(r"^\d+\. (.+)\n?", re.MULTILINE)  # matches a question in a numbered list
LAB_ONLY = re.compile(r" ?<!-- lab -->.*?<!-- /lab -->", re.DOTALL)
HEADING = re.compile(r"^#.*$", re.MULTILINE)
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


@functools.cache
def exercise_words() -> Mapping[str, str]:
    """Return each exercise's question, keyed by name, without explanations or formatting."""
    found = {}
    for name, question, _ in _asked():
        first, _, _ = question.partition("\n\n")
        found[name] = LINK.sub(r"\1", " ".join(first.split())).replace("**", "")
    return found


@functools.cache
def words_in_context() -> Mapping[str, str]:
    """Return, as Markdown, each exercise's question and the text before it in the same cell."""
    found = {}
    for name, question, before in _asked():
        found[name] = LINK.sub(r"\1", HEADING.sub("", f"{before}\n\n{question}")).strip()
    return found


def _asked() -> Iterator[tuple[str, str, str]]:
    """Yield each exercise's name, its question, and the text before the question in its cell."""
    words = ""
    for cell in (cell for path in lessons(ORIGINALS) for cell in read(path)["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            words = LAB_ONLY.sub("", source)
            continue
        names, asked = CHECK.findall(source), ASKED.search(words)
        listed = QUESTION.findall(words) if len(names) > 1 else []
        before = words[: asked.start()] if asked else ""
        for number, name in enumerate(names):
            if number < len(listed):
                yield name, listed[number].strip(), before
            else:
                yield name, (asked[1] if asked else words).strip(), before
