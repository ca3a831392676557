"""Describe the errors that a student's code raises, and say what to do about them.

The grader's kernel runs this file too, so it imports nothing that contains the answers.
"""

import re
import sysconfig
import traceback
from pathlib import Path

from lnorm_diagnose.fewest_slips import Raised

__all__ = ["CallError", "error_of"]

# Code in these places wasn't written by the student. In "<inputs>", a grader's kernel
# defines the classes of objects that an exercise provides.
LIBRARIES = (
    *sysconfig.get_paths().values(),
    str(Path(__file__).parents[2] / "lnorm_"),
    *("<frozen", "<__array_function__", "<inputs>"),
)
# Patterns that match "line of the student's code: error", and what the student should do instead.
# The search doesn't explain an error that has such advice, so no pattern may match what a mistake
# in an exercise raises.
ADVICE = (
    (
        r"^: .*\) (takes|missing) .*positional argument",  # only if none of the student's code ran
        "It takes different arguments from the lesson's. Keep each line with `def` as it is in the "
        "lesson.",
    ),
    (r"for \^: |bitwise_xor", "`^` isn't a power in Python. Write `**`, or use `.sqrt()`."),
    (
        r"converted to (a )?(Python scalar|Scalar)",
        "Only a single number is possible there, but yours is a whole tensor. Functions in "
        "`torch`, such as `torch.sqrt`, take tensors; those in `math` don't.",
    ),
    (
        r"expected scalar type|mixed dtype|have the same dtype",
        "Tensors of different dtypes are combined there. If one belongs to a layer that you made "
        "outside of your function, make the layer inside.",
    ),
    (
        # This is about batches, not about two matrices.
        r"@ \w+\.T\b.*(batch\d tensor|must match the size)",
        "`.T` reverses the order of axes. To swap only the last two, write `.transpose(-1, -2)`.",
    ),
    (
        r"before Module\.__init__\(\)|no attribute '_(modules|buffers|parameters|backward_hooks)'"
        r"|of 'super' object needs",
        "In `__init__`, call `super().__init__()` first.",
    ),
    (r"name '(\w+)' is not defined", r"Run the cells that define `\1`, or check its spelling."),
)


class CallError(Exception):
    """Raised with a message for the student when their code is wrong but raises no error itself."""


def error_of(problem: BaseException, attempt: str, used: str) -> Raised | str:
    """Describe an exception and the last line of the student's code that led to it.

    Args:
        problem: the exception.
        attempt: what was called, "function" or "class".
        used: what it was called with, in words; may be empty.

    Returns:
        If the cause is clear, a sentence that says what to do; otherwise, a `Raised` whose `told`
        describes the error.
    """
    walked = traceback.walk_tb(problem.__traceback__)
    frames = traceback.StackSummary.extract(walked, lookup_lines=False)[1:]
    theirs = [frame for frame in frames if not frame.filename.startswith(LIBRARIES)]
    code = (theirs[-1].line if theirs else "") or ""
    where = f" in line {theirs[-1].lineno} of your cell" if theirs else ""
    where += f", `{code[:80]}`" if code else ""
    kind, message, _ = raised = Raised.of(problem)
    if type(problem) is CallError:
        return raised._replace(told=message)
    for pattern, advice in ADVICE:
        if found := re.search(pattern, f"{code}: {message}"):
            return f"your {attempt} fails{where}. {found.expand(advice)}"
    told = f"your {attempt} raised {kind}{where}: {message.rstrip('.') or 'no message'}"
    return raised._replace(told=f"{told} ({used})." if used else f"{told}.")
