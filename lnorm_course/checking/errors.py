"""What an error that a student's code raised says about it.

The grader's kernel runs this file too, so it imports PyTorch and the standard library only.
"""

import re
import sysconfig
import traceback
from pathlib import Path
from typing import NamedTuple

from lnorm_course.checking.lesson_names import where_from

__all__ = ["Error", "error_of"]

# Code in these folders wasn't written by the student.
LIBRARIES = (
    *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    *(
        str(Path(__file__).parents[2] / name)
        for name in ("lnorm_utils", "lnorm_course", "lnorm_staff")
    ),
    "<frozen",
    "<__array_function__",
    "<inputs>",  # the class of an object that an exercise gives, in a grader's kernel
)
# What an error says, and what to do instead.
ADVICE = (
    (r"for \^: |bitwise_xor", "`^` is no power in Python. Write `**`, or take `.sqrt()`."),
    (
        r"converted to (a )?(Python scalar|Scalar)",
        "Only a single number can stand there, and yours is a whole tensor. Functions of `torch`, "
        "such as `torch.sqrt`, take one; those of `math` don't.",
    ),
    (
        r"expected scalar type|mixed dtype|must have the same dtype|to have the same dtype",
        "Tensors of different dtypes meet there. If one belongs to a layer that you made outside "
        "of your function, make the layer inside.",
    ),
    (
        r"of 'super' object needs an argument",
        "`super` needs parentheses of its own: `super().__init__()`.",
    ),
    (
        r"name '(true|false|none)' is not defined",
        "Python writes `True`, `False`, and `None` with a capital letter.",
    ),
)
MATRICES_MEET = re.compile(r"must match the size of tensor|batch\d tensor|cannot be multiplied")
REVERSED = re.compile(r"\.T(?!\w)")
A_MATRIX = re.compile(r"\(\d+, \d+\)")
SWAP = "`.T` turns all three axes around. To swap only the last two, write `.transpose(-1, -2)`."
OTHER_ARGUMENTS = "It takes other arguments than the lesson's."
ARGUMENTS = {
    "function": "Keep its first line as the lesson has it.",
    "class": "Keep the lines with `def` as the lesson has them: `self` comes first, and `__init__` "
    "has two underscores on each side.",
}


class Error(NamedTuple):
    """An error that an attempt raised, as plain data. Its `str` is the sentence for the student.

    Args:
        kind: the name of its class.
        message: what it says, in one line.
        line: the number of the last line of the student's own that led to it, if there is one.
        code: that line.
        advice: what to do instead, if the cause is plain; else empty.
        attempt: what raised it, "function" or "class".
        used: what that was called with, in words.
    """

    kind: str
    message: str
    line: int | None
    code: str
    advice: str
    attempt: str
    used: str

    def __str__(self) -> str:
        where = "" if self.line is None else f" in line {self.line} of your cell"
        where += f", `{self.code}`" if self.code else ""
        if self.advice:
            return f"your {self.attempt} fails{where}. {self.advice}"
        said = self.message or "no message"
        return f"your {self.attempt} raised {self.kind}{where}: {said} ({self.used})."


def error_of(problem: BaseException, attempt: str, used: str) -> Error:
    """Describe an exception, with the last line of the student's own code that led to it.

    Args:
        problem: the exception.
        attempt: what was called, "function" or "class".
        used: what it was called with, in words.
    """
    frames = traceback.extract_tb(problem.__traceback__)
    theirs = [f for f in frames[1:] if not f.filename.startswith(LIBRARIES)]
    line, code = (theirs[-1].lineno, theirs[-1].line or "") if theirs else (None, "")
    message = " ".join(_message(problem).split())[:200]
    if not theirs and re.search(r"\) (takes|missing) .*positional argument", message):
        advice = f"{OTHER_ARGUMENTS} {ARGUMENTS[attempt]}"
    elif MATRICES_MEET.search(message) and REVERSED.search(code) and not A_MATRIX.search(used):
        advice = SWAP
    else:
        known = (advice for says, advice in ADVICE if re.search(says, message))
        advice = next(known, "") or where_from(problem)
    return Error(type(problem).__name__, message, line, code[:80], advice, attempt, used)


def _message(problem: BaseException) -> str:
    try:
        return str(problem)
    except KeyboardInterrupt:
        raise
    except BaseException:  # its __str__ raises, too
        return ""
