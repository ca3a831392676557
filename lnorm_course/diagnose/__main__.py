"""`python -m lnorm_course.diagnose x.npy y.npy`: say how y was computed from x."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from torch import Tensor

from lnorm_course.diagnose.files import read
from lnorm_course.diagnose.public import diagnose

NAMES = ("x", "y", "weight", "bias")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a diagnosis, and return 0 if no difference was found and 1 otherwise."""
    parser = argparse.ArgumentParser(
        prog="python -m lnorm_course.diagnose",
        description="Say how the numbers that came out of a layer norm were computed.",
        epilog="A single .npz or .pt file may hold all of them, named x, y, weight, bias.",
    )
    kinds = ".npy, .npz, .pt or .csv"
    parser.add_argument("x", type=Path, help=f"what went in: {kinds}")
    parser.add_argument("y", type=Path, nargs="?", help="what came out")
    parser.add_argument("--weight", type=Path, help="γ; without it 1")
    parser.add_argument("--bias", type=Path, help="β; without it 0")
    parser.add_argument("--eps", type=float, help="ε; without it 1e-5")
    options = parser.parse_args(arguments)
    try:
        found = _arrays(options)
        if "y" not in found:
            raise ValueError("Give two files, what went in and what came out.")
        x, y = found.pop("x"), found.pop("y")
        diagnosis = diagnose(x, y, eps=options.eps, **found)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        parser.error(str(error))
    print(diagnosis)
    return 0 if diagnosis.right else 1


def _arrays(options: argparse.Namespace) -> dict[str, Tensor]:
    """Return x, y, and γ and β if they are there."""
    found: dict[str, Tensor] = {}
    for name in NAMES:
        path = getattr(options, name)
        if path is None:
            continue
        held = read(path)
        if name == "x" and options.y is None:
            found |= {n: array for n, array in held.items() if n in NAMES}
            continue
        if name not in held and len(held) > 1:
            raise ValueError(f"{path.name} holds {', '.join(held)}, and none is called {name}.")
        found[name] = held.get(name, next(iter(held.values())))
    return found


if __name__ == "__main__":
    raise SystemExit(main())
