"""Text of a student, made safe to show.

It can't move the cursor of a terminal, is short, and doesn't tell on which machine it was graded.
"""

import contextlib
import functools
import re
import sys
import tempfile
from pathlib import Path

__all__ = ["MOST_OF_AN_ERROR", "MOST_OF_A_MESSAGE", "MOST_OF_A_REMARK", "one_line", "printable"]

MOST_OF_AN_ERROR = 120  # characters; its text can be anything that the cell has read
MOST_OF_A_REMARK = 500  # it quotes a line of the student's, and what that raised
MOST_OF_A_MESSAGE = 1000
MOST_LOOKED_AT = 5000
SOMEWHERE = "…"
# A path from the root, or from what was taken out. Its last part stays.
PATH = re.compile(
    r"""(?:…|(?<![\w/\\.…:)\]])(?:[A-Za-z]:)?(?=[\\/]+[A-Za-z_]))"""
    r"""[\\/]+(?:[^\\/\s'"`,;:()]+[\\/]+)+"""
)


def printable(text: str) -> str:
    """Replace characters that a terminal obeys, or that UTF-8 can't write."""
    return "".join(letter if letter.isprintable() else "�" for letter in text)


def one_line(text: object, most: int = MOST_OF_AN_ERROR) -> str:
    """Return the first characters in a single line, without the folders of this machine."""
    words = _places().sub(SOMEWHERE, str(text)[:MOST_LOOKED_AT])
    words = printable(" ".join(PATH.sub(f"{SOMEWHERE}/", words).split()))
    return words if len(words) <= most else f"{words[: most - 1]}…"


@functools.cache
def _places() -> re.Pattern:
    """Return folders that would say whose machine this is, because a name may have a space."""
    given = [*map(Path, (tempfile.gettempdir(), sys.prefix, __file__)), Path(__file__).parents[2]]
    with contextlib.suppress(RuntimeError):
        given.append(Path.home())
    found = {str(form) for path in given for form in (path, path.resolve())} - {"/"}
    longest_first = map(re.escape, sorted(found, key=len, reverse=True))
    return re.compile(rf"(?<![\w.])(?:{'|'.join(longest_first)})(?![\w.-])")
