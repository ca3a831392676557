"""Write files that are whole, also after a full disk, a Ctrl-C, or a power cut, and private."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

__all__ = ["private_files", "whole_file"]


@contextlib.contextmanager
def private_files() -> Iterator[None]:
    """Let nobody else on this machine open the files and folders that are made meanwhile."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """Open a file to write beside `path`, and put it into its place once all is written.

    If writing fails or is interrupted, what was at `path` stays as it was.

    Raises:
        OSError: the file can't be written.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        with draft.open("w", encoding="utf-8", newline="") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
