"""Name what is made ahead after what it's made of, so that only what has changed is made again."""

import hashlib
import platform
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

__all__ = ["fingerprint"]


def fingerprint(files: Iterable[Path], *texts: str) -> str:
    """Return 12 hexadecimal digits for texts, what files hold, and the versions that run them."""
    versions = (version(name) for name in ("torch", "numpy", "matplotlib"))
    hashed = hashlib.sha256()
    for text in (platform.python_version(), *versions, *texts):
        hashed.update(f"{text}\n".encode())
    for file in sorted(files, key=str):
        hashed.update(file.read_bytes())
    return hashed.hexdigest()[:12]
