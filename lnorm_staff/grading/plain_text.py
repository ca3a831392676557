"""Make a student's text safe to show.

The result is short, can't move a terminal's cursor, and doesn't reveal which machine graded it.
"""

import os
import sys
import tempfile

__all__ = ["MOST_OF_A_MESSAGE", "MOST_OF_A_REMARK", "one_line", "printable", "several_lines"]

MOST_OF_AN_ERROR = 120  # characters; an error can quote anything that the cell read
MOST_OF_A_REMARK = 500  # a remark quotes a line of the student's code, and the error that it raised
MOST_OF_A_MESSAGE = 1000
MOST_LOOKED_AT = 5000
# The names of these folders would reveal whose machine this is, even with escaped backslashes.
_NAMED = os.path.expanduser("~"), sys.prefix, tempfile.gettempdir(), f"{__file__}/../../.."
_FOUND = {form(path) for path in _NAMED for form in (os.path.abspath, os.path.realpath)} - {"/"}
PLACES = sorted(_FOUND | {repr(path)[1:-1] for path in _FOUND}, key=len, reverse=True)


def printable(text: str) -> str:
    """Replace control characters, and characters that UTF-8 can't encode."""
    return "".join(letter if letter.isprintable() else "�" for letter in text)


def one_line(text: object, most: int = MOST_OF_AN_ERROR) -> str:
    """Put a text on one line, shorten it, and remove the names of this machine's folders."""
    words = printable(" ".join(_placeless(text).split()))
    return words if len(words) <= most else f"{words[: most - 1]}…"


def several_lines(text: object) -> str:
    """Make a text printable but keep its line breaks, because it may be a program."""
    return "\n".join(printable(line.expandtabs(4)) for line in _placeless(text).splitlines())


def _placeless(text: object) -> str:
    words = str(text)[:MOST_LOOKED_AT]
    for place in PLACES:  # longer paths come first, so a folder is replaced before its parents
        words = words.replace(place, "…")
    return words
