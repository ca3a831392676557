"""Text of a student, made safe to show.

It can't move the cursor of a terminal, is short, and doesn't tell on which machine it was graded.
"""

import contextlib
import functools
import getpass
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
HOME = re.compile(r"""(?:(?<!\w)[A-Za-z]:)?(?<![\\/])[\\/]+(?:home|Users)[\\/]+[^\\/\s'"`,;:)]+""")
# A path from the root, or from what was taken out. Its last part stays.
PATH = re.compile(
    r"""(?:…|(?<![\w/\\.…:)\]])(?:[A-Za-z]:)?(?=[\\/]+[A-Za-z_]))"""
    r"""[\\/]+(?:[^\\/\s'"`,;:()]+[\\/]+)+"""
)


def printable(text: str) -> str:
    """Replace characters that a terminal obeys, or that UTF-8 can't write."""
    return "".join(letter if letter.isprintable() else "�" for letter in text)


def one_line(text: object, most: int = MOST_OF_AN_ERROR, sent: object = "") -> str:
    """Return the first characters in a single line, without the folders of this machine.

    Args:
        text: what somebody will read.
        most: how many characters.
        sent: what a kernel sent that the text may quote. If it names this account, the text won't.
    """
    words = _places().sub(SOMEWHERE, str(text)[:MOST_LOOKED_AT])
    words = PATH.sub(f"{SOMEWHERE}/", HOME.sub(SOMEWHERE, words))
    if _account().search(str(sent)):
        words = _account().sub(SOMEWHERE, words)
    words = printable(" ".join(words.split()))
    return words if len(words) <= most else f"{words[: most - 1]}…"


@functools.cache
def _places() -> re.Pattern:
    """Return folders that would say whose machine this is, also as `repr` writes them."""
    given = [*map(Path, (tempfile.gettempdir(), sys.prefix, sys.base_prefix))]
    given.append(Path(__file__).parents[2])
    with contextlib.suppress(RuntimeError):
        given.append(Path.home())
    found = {str(form) for path in given for form in (path, path.resolve())}
    found |= {path.replace("\\", "\\\\") for path in found}
    longest_first = sorted((path for path in found if len(path) > 1), key=len, reverse=True)
    return re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, longest_first))})(?![\w.-])")


@functools.cache
def _account() -> re.Pattern:
    name = ""
    with contextlib.suppress(Exception):  # it has different ones where there's no account
        name = getpass.getuser()
    if name in ("", "root"):  # this one says nothing, and is a word of the lessons
        return re.compile(r"(?!)")
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
