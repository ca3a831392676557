"""Questions that know which mistake was made: a bank for each topic, such as `mean`.

A lesson imports its exercises by name and calls `.check(attempt)`, `.hint()` and `.solution()`;
`lnorm_course.checking` runs them.
"""

import os

import torch

from lnorm_course.checking.exercise import Exercise
from lnorm_course.checking.lesson_names import explain_missing_names
from lnorm_course.checking.progress import progress

__all__ = ["Exercise", "progress"]

explain_missing_names()
# What lessons compute is small. Several threads only wait for each other, up to eight times as long
# beside other work. OMP_NUM_THREADS=2 and the like still decide.
if "OMP_NUM_THREADS" not in os.environ:
    torch.set_num_threads(1)
