"""Text of a student, made safe to show.

It can't move the cursor of a terminal, is short, and doesn't tell on which machine it was graded.
"""

import os
import sys
import tempfile

__all__ = ["MOST_OF_A_MESSAGE", "MOST_OF_A_REMARK", "one_line", "printable", "several_lines"]

MOST_OF_AN_ERROR = 120  # characters; its text can be anything that the cell has read
MOST_OF_A_REMARK = 500  # it quotes a line of the student's, and what that raised
MOST_OF_A_MESSAGE = 1000
MOST_LOOKED_AT = 5000
# Folders that would say whose machine this is, as they are and as Windows' are quoted.
_NAMED = os.path.expanduser("~"), sys.prefix, tempfile.gettempdir(), f"{__file__}/../../.."
_FOUND = {form(path) for path in _NAMED for form in (os.path.abspath, os.path.realpath)} - {"/"}
PLACES = sorted(_FOUND | {repr(path)[1:-1] for path in _FOUND}, key=len, reverse=True)


def printable(text: str) -> str:
    """Replace characters that a terminal obeys, or that UTF-8 can't write."""
    return "".join(letter if letter.isprintable() else "�" for letter in text)


def one_line(text: object, most: int = MOST_OF_AN_ERROR) -> str:
    """Return the first characters in a single line, without the folders of this machine."""
    words = printable(" ".join(_placeless(text).split()))
    return words if len(words) <= most else f"{words[: most - 1]}…"


def several_lines(text: object) -> str:
    """Return what is looked at, line by line, as of a program."""
    return "\n".join(printable(line.expandtabs(4)) for line in _placeless(text).splitlines())


def _placeless(text: object) -> str:
    words = str(text)[:MOST_LOOKED_AT]
    for place in PLACES:  # a folder before the one that it's in
        words = words.replace(place, "…")
    return words
