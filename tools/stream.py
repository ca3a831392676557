"""Record the spreads and the gradients of residual streams, for `explore_stream`.

Everything is measured at initialization, with Xavier weights from five seeds, and `stream.json`
stores the medians. For each place of the norm, `spreads` has three numbers per block: the spread of
what the block's branch f adds, of the sum, and of the block's output. `enters` is the spread before
the first block. `gradients` has the gradient norm of each block's weights, keyed by the place of
the norm, by whether a final norm follows the last block, by whether the loss pulls each row in its
own direction, and by the number of blocks. For each place of the norm, `rows` has four numbers of a
typical row before the first block, and four after the addition in the last block of each depth.
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
# A post-LN stack already ends in a norm, so it gets no final norm.
PLACES = ("post", "pre", "none")
STACKS = [("post", False), *product(PLACES[1:], (False, True))]
X = normal(64, FEATURES, seed=1, dtype=torch.float64)


@cache
def deepest(place: str) -> list[ResidualStack]:
    """Make the deepest stack for each seed; it begins with the blocks of all shorter stacks."""
    return [residual_stack(DEPTHS[-1], place, seed=seed) for seed in range(SEEDS)]


def spread(h: Tensor) -> float:
    """Return the square root of the mean variance of the rows."""
    return variance(h).mean().sqrt().item()


@torch.no_grad()
def sums(stack: ResidualStack) -> tuple[list[list[float]], Tensor]:
    """Return the spreads of each block's branch, sum, and output; also X and all sums, stacked."""
    h, found, rows = X, [], [X]
    for block in stack.blocks:
        added = block.f(block.norm(h) if stack.blocks[0].placement == "pre" else h)
        rows.append(h + added)
        found.append([spread(added), spread(rows[-1]), spread(h := block(h))])
    return found, torch.stack(rows)


def four_of_a_row(place: str) -> list[list[float]]:
    """Pick the row whose spread is most typical at every place; return four of its numbers at each.

    These places aren't those of the norm: they are before the first block, and after the addition
    at each depth. At each, the four that have about the row's mean and its spread are chosen from
    its 64 numbers, so they aren't always the same four.
    """
    rows = torch.stack([sums(stack)[1] for stack in deepest(place)])[:, [0, *DEPTHS]]
    spreads = variance(rows).sqrt()  # (seeds, places, 64, 1)
    usual = variance(rows).mean(2, keepdim=True).sqrt().median(0).values
    far = (spreads / usual).log().abs().amax((1, 3))  # (seeds, 64)
    seed, row = divmod(far.argmin().item(), len(X))
    return [_alike(one) for one in rows[seed, :, row]]


def _alike(row: Tensor) -> list[float]:
    draws = torch.rand(100_000, FEATURES, generator=torch.Generator().manual_seed(0))
    four = row[draws.topk(4).indices].sort().values  # (draws, 4)
    root = variance(row).sqrt()
    off = (four.mean(1) - row.mean()).abs() + (variance(four).sqrt()[:, 0] - root).abs()
    return four[(off / root).argmin()].tolist()


def gradients(depth: int, place: str, final_norm: bool, is_own: bool) -> Tensor:
    """Return the gradient norm of each block: (seeds, depth)."""
    slope = normal(*X.shape[0 if is_own else 1 :], seed=2, dtype=torch.float64)
    norms = []
    for whole in deepest(place):
        stack = ResidualStack(0, FEATURES, place, final_norm, dtype=X.dtype)
        stack.blocks = whole.blocks[:depth]
        norms.append(gradient_norms(stack, X, slope))
    return torch.stack(norms)


def rounded(found: list) -> list:
    """Round all numbers to four digits."""
    return json.loads(json.dumps(found), parse_float=lambda text: float(f"{float(text):.4g}"))


def median(found: Tensor) -> list:
    """Return the median over the seeds, which are on the first axis."""
    return rounded(found.median(0).values.tolist())


def main():
    torch.set_num_threads(1)
    versions = {"torch": torch.__version__, "python": platform.python_version()}
    kept = {
        "provenance": {"made by": "make tool NAME=stream", "versions": versions},
        "depths": DEPTHS,
        "enters": round(spread(X), 4),
        "spreads": {
            place: median(torch.tensor([sums(stack)[0] for stack in deepest(place)]))
            for place in PLACES
        },
        "rows": {place: rounded(four_of_a_row(place)) for place in PLACES},
        "gradients": {
            f"{place}{', final norm' * final}{', own directions' * own}": {
                depth: median(gradients(depth, place, final, own)) for depth in DEPTHS
            }
            for (place, final), own in product(STACKS, (False, True))
        },
    }
    FILE.write_text(json.dumps(kept, separators=(",", ":")) + "\n", "utf-8")
    print(f"{FILE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
