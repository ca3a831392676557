"""Read arrays from files, without running any code that a file may hold."""

from pathlib import Path

import numpy
import torch
from torch import Tensor

__all__ = ["READERS", "read"]


def read(path: Path) -> dict[str, Tensor]:
    """Return the arrays of a file by their names; one without a name is called "".

    Args:
        path: an .npy, .npz, .pt or .csv file. A .csv holds numbers only, a row in each line.

    Raises:
        ValueError: there is no such file, it is of another kind, or it holds something else.
    """
    if path.suffix not in READERS:
        raise ValueError(f"{path.name} should be one of {', '.join(READERS)}.")
    try:
        held = READERS[path.suffix](path)
    except FileNotFoundError:
        raise ValueError(f"There is no file {path}.") from None
    except Exception as error:
        words = " ".join(str(error).split())[:120]
        raise ValueError(f"{path.name} can't be read as {path.suffix[1:]}: {words}") from None
    arrays = {
        str(name): torch.as_tensor(value)
        for name, value in held.items()
        if isinstance(value, Tensor | numpy.ndarray | int | float)
    }
    if not arrays:
        raise ValueError(f"{path.name} holds no arrays of numbers.")
    return arrays


def _npz(path: Path) -> dict:
    with numpy.load(path, allow_pickle=False) as file:
        return dict(file)


def _pt(path: Path) -> dict:
    held = torch.load(path, map_location="cpu", weights_only=True)
    return held if isinstance(held, dict) else {"": held}


READERS = {
    ".npy": lambda path: {"": numpy.load(path, allow_pickle=False)},
    ".npz": _npz,
    ".pt": _pt,
    ".csv": lambda path: {"": numpy.loadtxt(path, delimiter=",", ndmin=2, encoding="utf-8-sig")},
}
