"""What to show in a lecture for each common belief: the table in the page on teaching."""

import re

from lnorm_course.lab.lesson_files import ORIGINALS

__all__ = ["FOR_BELIEF"]

PAGE = ORIGINALS.parent / "docs" / "teaching.md"
# The words of each belief, and the call to show.
ROW = re.compile(r"^\| ([^`|]+) \| `([^`]+)` \|$", re.MULTILINE)
FOR_BELIEF = dict(ROW.findall(PAGE.read_text("utf-8")))
