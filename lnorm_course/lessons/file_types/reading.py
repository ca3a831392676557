"""Which parts of a file the network reads, and what its outputs mean."""

import io
import json
import zipfile
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

__all__ = ["PADDING", "as_codes", "kinds", "likeliest", "sample_files"]

SIDE = 1024  # number of bytes that are read at each end of a file
BLOCK = 4096  # number of bytes at each end in which white space is stripped
PADDING = 256  # the code for a missing byte
FEWEST = 8  # if a file has fewer bytes than this, Magika doesn't use the network


def as_codes(*contents: bytes | str | Path) -> Tensor:
    """Turn files into the network's input: the beginning and the end of each file.

    Args:
        contents: N files, each as bytes or as a path.

    Returns:
        (N, 2048), int64: the first 1,024 bytes after leading white space, and then the last 1,024
        before trailing white space. A shorter file appears in both halves, padded with 256.

    Raises:
        TypeError: a file is given neither as bytes nor as a path.
        FileNotFoundError: a path doesn't exist.
        ValueError: a path names a folder, a file has fewer than 8 bytes after leading white
            space, or no file was given.

    Source: `Magika._extract_features_from_seekable` of the package magika 1.0.3.

    >>> as_codes(b"  print(1)\\n")[0, [0, 1, 1023, 1024, 2046, 2047]]
    tensor([112, 114, 256, 256,  49,  41])
    """
    if not contents:
        raise ValueError("as_codes needs at least one file, as bytes or a path, but got nothing.")
    return torch.tensor([_codes(each) for each in contents])


def _codes(content: bytes | str | Path) -> list[int]:
    if isinstance(content, str | Path):
        content = _both_ends(Path(content).expanduser())
    if not isinstance(content, bytes):
        raise TypeError(
            f"A file must be given as bytes or as a path, not as {type(content).__name__}."
        )
    head, tail = content[:BLOCK].lstrip()[:SIDE], content[-BLOCK:].rstrip()[-SIDE:]
    if len(head) < FEWEST:
        raise ValueError(
            f"A file needs at least {FEWEST} bytes after leading white space, but this one has "
            f"{len(head)}."
        )
    return [*head, *[PADDING] * (2 * SIDE - len(head) - len(tail)), *tail]


def _both_ends(path: Path) -> bytes:
    """Read two blocks at the beginning of a file and one at its end, or all of a shorter file."""
    if not path.exists():
        where = "" if path.is_absolute() else f" in {str(Path.cwd())!r}"
        raise FileNotFoundError(f"There is no file {str(path)!r}{where}.")
    if path.is_dir():
        raise ValueError(f"{str(path)!r} is a folder. Name a file in it.")
    with path.open("rb") as file:
        head = file.read(2 * BLOCK)
        rest = file.seek(0, io.SEEK_END) - len(head)
        file.seek(-min(rest, BLOCK), io.SEEK_END)
        return head + file.read()


def likeliest(logits: Tensor, count: int = 5) -> list[list[tuple[str, float]]]:
    """Return the likeliest types of each file, with their probabilities.

    Args:
        logits: (N, 214), the network's output.
        count: how many types to return.

    >>> logits = torch.zeros(1, 214)
    >>> logits[0, kinds().index("png")] = 9
    >>> [(kind, round(p, 2)) for kind, p in likeliest(logits, 1)[0]]
    [('png', 0.97)]
    """
    probabilities, places = logits.softmax(dim=-1).topk(count)
    return [
        [(kinds()[place], probability) for place, probability in zip(*row, strict=True)]
        for row in zip(places.tolist(), probabilities.tolist(), strict=True)
    ]


@cache
def kinds() -> list[str]:
    """List the 214 file types that the network recognizes, in the order of its outputs."""
    return json.loads(Path(__file__).with_name("magika.json").read_text("utf-8"))["kinds"]


@cache
def sample_files() -> dict[str, bytes]:
    """Return sample files of many types: old versions of the course's files, and generated ones.

    Larger files are cut down to the part that the network reads: 1,024 bytes at each end.

    >>> sample_files()["01_mean.ipynb"][:10]
    b'{\\n "cells"'
    """
    with zipfile.ZipFile(Path(__file__).with_name("samples.zip")) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
