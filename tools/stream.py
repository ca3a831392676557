"""Record how wide residual streams are, and which gradients come back, for `explore_stream`.

All is measured at initialization, with weights after Xavier, and of five seeds. `stream.json` keeps
the median, the lowest, and the highest of them. For each place of the norm, `spreads` has three
numbers a block: the spread of what its branch f adds, of the sum, and of what leaves the block;
before the first block is `enters`. `gradients` has the gradient norm of each block's weights, by
the place of the norm, whether a final norm stands behind the last block, whether the loss pulls
each row its own way, and the number of blocks.
"""

import json
import platform
from functools import cache
from itertools import product
from pathlib import Path

import torch
from torch import Tensor

from lnorm_course import explorers
from lnorm_utils.data import normal, residual_stack
from lnorm_utils.functional import variance
from lnorm_utils.measures import gradient_norms
from lnorm_utils.modules import ResidualStack

FILE = Path(explorers.__file__).with_name("stream.json")
DEPTHS, SEEDS, FEATURES = (1, 2, 3, 4, 6, 8, 12, 16, 24), 5, 64
# A post-LN stack ends in a norm, and gets no other.
STACKS = [("post", False), *product(("pre", "none"), (False, True))]
X = normal(64, FEATURES, seed=1, dtype=torch.float64)


@cache
def deepest(place: str) -> list[ResidualStack]:
    """Make the deepest stack of each seed, which begins with the blocks of all others."""
    return [residual_stack(DEPTHS[-1], place, seed=seed) for seed in range(SEEDS)]


def spread(h: Tensor) -> float:
    """Return the root of the rows' mean variance."""
    return variance(h).mean().sqrt().item()


@torch.no_grad()
def spreads(place: str) -> Tensor:
    """Return what each block's branch, sum, and output have, (seeds, blocks, 3)."""
    found = []
    for stack in deepest(place):
        h = X
        for block in stack.blocks:
            added = block.f(block.norm(h) if place == "pre" else h)
            found.append([spread(added), spread(h + added), spread(h := block(h))])
    return torch.tensor(found).unflatten(0, (SEEDS, -1))


def gradients(depth: int, place: str, final_norm: bool, is_own: bool) -> Tensor:
    """Return the gradient norm of each block, (seeds, depth)."""
    slope = normal(*X.shape[0 if is_own else 1 :], seed=2, dtype=torch.float64)
    norms = []
    for whole in deepest(place):
        stack = ResidualStack(0, FEATURES, place, final_norm, dtype=X.dtype)
        stack.blocks = whole.blocks[:depth]
        norms.append(gradient_norms(stack, X, slope))
    return torch.stack(norms)


def of_seeds(found: Tensor) -> list:
    """Return the median, the lowest, and the highest, with four digits."""
    kept = torch.stack([found.median(0).values, found.min(0).values, found.max(0).values])
    return json.loads(
        json.dumps(kept.tolist()), parse_float=lambda text: float(f"{float(text):.4g}")
    )


def main():
    torch.set_num_threads(1)
    versions = {"torch": torch.__version__, "python": platform.python_version()}
    kept = {
        "provenance": {"made by": "make tool NAME=stream", "versions": versions},
        "depths": DEPTHS,
        "enters": round(spread(X), 4),
        "spreads": {place: of_seeds(spreads(place)) for place in ("post", "pre", "none")},
        "gradients": {
            f"{place}{', final norm' * final}{', own directions' * own}": {
                depth: of_seeds(gradients(depth, place, final, own)) for depth in DEPTHS
            }
            for (place, final), own in product(STACKS, (False, True))
        },
    }
    FILE.write_text(json.dumps(kept, separators=(",", ":")) + "\n", "utf-8")
    print(f"{FILE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
