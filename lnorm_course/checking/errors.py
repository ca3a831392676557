"""Turn an error that a student's code raised into a sentence.

The grader's kernel runs this file too, so it imports PyTorch and the standard library only.
"""

import re
import sysconfig
import traceback
from pathlib import Path

from lnorm_course.checking.lesson_names import where_from

__all__ = ["in_words"]

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
ARGUMENTS = {
    "function": "Keep its first line as the lesson has it.",
    "class": "Keep the lines with `def` as the lesson has them: `self` comes first, and `__init__` "
    "has two underscores on each side.",
}


def in_words(error: BaseException, kind: str, used: str) -> str:
    """Describe an exception, with the last line of the student's own code that led to it.

    Args:
        error: the exception.
        kind: what was called, "function" or "class".
        used: what it was called with, in words.
    """
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [f for f in frames[1:] if not f.filename.startswith(LIBRARIES)]
    where = f" in line {theirs[-1].lineno} of your cell" if theirs else ""
    code = (theirs[-1].line if theirs else None) or ""
    line = f", `{code[:80]}`" if code else ""
    text = " ".join(_message(error).split())[:200]
    place = f"{where}{line}"
    if not theirs and re.search(r"\) (takes|missing) .*positional argument", text):
        return f"your {kind} has other arguments than the lesson's. {ARGUMENTS[kind]}"
    for says, advice in ADVICE:
        if re.search(says, text):
            return f"your {kind} fails{place}. {advice}"
    if MATRICES_MEET.search(text) and REVERSED.search(code) and not A_MATRIX.search(used):
        return f"your {kind} fails{place}. {SWAP}"
    if missing := where_from(error):
        return f"your {kind} fails{place}. {missing}"
    told = f"{type(error).__name__}{place}: {text or 'no message'}"
    return f"your {kind} raised {told} ({used})."


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except KeyboardInterrupt:
        raise
    except BaseException:  # its __str__ raises, too
        return ""
