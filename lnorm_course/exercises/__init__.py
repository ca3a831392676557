"""Exercises that recognize the mistake in a wrong answer: a bank for each topic, such as `mean`.

A lesson imports its exercises by name and calls their methods `.check(attempt)`, `.hint()`, and
`.solution()`, which are in `lnorm_course.checking`. A bank is a text file, which
`lnorm_course.checking.bank` turns into a module when the bank is imported.
"""

import os
import sys
from collections.abc import Iterator
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, SourceFileLoader
from pathlib import Path

import torch

from lnorm_course.checking.bank import BankLoader
from lnorm_course.checking.exercise import Exercise
from lnorm_course.exercises.progress_report import progress

__all__ = ["Exercise", "progress"]


class _Finder:
    """Finds the modules in this folder, whether they are Python code or text banks."""

    def __init__(self, folder: str) -> None:
        if folder not in __path__:
            raise ImportError(f"{folder} isn't the folder of the exercises.")
        loaders = (BankLoader, [".txt"]), (SourceFileLoader, SOURCE_SUFFIXES)
        files = FileFinder(folder, *loaders)
        self.find_spec, self.invalidate_caches = files.find_spec, files.invalidate_caches
        self.folder = Path(folder)

    def iter_modules(self, prefix: str = "") -> Iterator[tuple[str, bool]]:
        """List the modules for `pkgutil`: the name of each, and whether it's a package."""
        for file in sorted(self.folder.glob("[a-z]*.*")):
            if file.suffix in (".py", ".txt"):
                yield f"{prefix}{file.stem}", False


sys.path_hooks.insert(0, _Finder)
for _folder in __path__:
    sys.path_importer_cache.pop(_folder, None)
# The lessons' computations are so small that several threads would mostly wait for each other, and
# be up to eight times slower on a busy machine. If OMP_NUM_THREADS is set, it takes precedence.
if "OMP_NUM_THREADS" not in os.environ:
    torch.set_num_threads(1)
