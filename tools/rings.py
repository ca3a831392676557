"""Record ten trainings of lesson 1's network for `explore_rings`, each at 21 moments.

For each moment, `rings.json` stores `p`, the probability of the outer ring in 24 × 24 cells, row by
row, as characters from "#" for 0 to "[" for 1. Two more arrays are stored as bytes: `says`, that
probability for 32 points; and `along`, those points' positions after each hidden layer, measured
along one direction of the layer's 64 numbers (40 units to a standard deviation). It's the direction
along which the positions covary most with those one layer later, so the threads that connect them
don't cross just because a sign has changed. Three items are stored as numbers: `apart`, the root
mean square of the distances from the mean point after each hidden layer; `range`, the lowest and
the highest probability of the 128 points; and `maps`, the norms of the gradients with respect to
the weights of the first and the last map. For each training, `loss` has the losses from `train`.
"""

import base64
import copy
import json
import math
import platform
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

from lnorm_course import explorers
from lnorm_utils import LayerNorm
from lnorm_utils.data import ring_network, two_rings
from lnorm_utils.training import train

FILE = Path(explorers.__file__).with_name("rings.json")
MOMENTS = (0, 1, 2, 4, 6, 9, 12, 16, 20, 25, 30, 35, 40, 48, 60, 75, 90, 115, 140, 170, 200)
GRID, EDGE, OF_A_RING = 24, 2.5, 16  # cells per side, half a side, and threads per ring
X, RING = two_rings()


def one_way(forward, backward):
    """Return a module class that has the values of one function and the slope of another."""

    class OneWay(nn.Identity):
        def forward(self, h):
            return backward(h) + (forward(h) - backward(h)).detach()

    return OneWay


same = nn.Identity()


def twice(h):
    return 2 * h


def normed(h):
    return F.layer_norm(h, h.shape[-1:])


# Each name maps to the options for a network and for its training, as in lessons 1 and 2.
RUNS = {
    "plain": ({}, {}),
    "layer norm": ({"norm": LayerNorm}, {}),
    "batch norm": ({"norm": nn.BatchNorm1d}, {}),
    "times 2": ({"norm": one_way(twice, twice)}, {}),
    "He initialization": ({"init": "kaiming"}, {}),
    "two hidden layers": ({"hidden_layers": 2}, {}),
    "Adam": ({}, {"lr": 0.001, "adam": True}),
    "times 2, forward only": ({"norm": one_way(twice, same)}, {}),
    "times 2, backward only": ({"norm": one_way(same, twice)}, {}),
    "layer norm, forward only": ({"norm": one_way(normed, same)}, {}),
}


def with_threads():
    """Return the indices of 16 points on each ring, about equally spaced in angle."""
    angles, found = torch.atan2(X[:, 1], X[:, 0]), []
    for ring in (0, 1):
        left = {*(ring == RING).nonzero()[:, 0].tolist()}
        for place in range(OF_A_RING):
            angle = (place + 0.5) * 2 * math.pi / OF_A_RING - math.pi
            off = {i: abs(math.remainder(angles[i].item() - angle, 2 * math.pi)) for i in left}
            found.append(min(left, key=off.__getitem__))
            left.remove(found[-1])
    return found


SHOWN = with_threads()
SIDE = (torch.arange(GRID, dtype=torch.float64) + 0.5) / GRID * 2 * EDGE - EDGE
CELLS = torch.stack([SIDE.repeat(GRID), SIDE.flip(0).repeat_interleave(GRID)], dim=1)


def look(network):
    """Return what `rings.json` records for one moment of the training."""
    twin, h, rows = copy.deepcopy(network), X, []
    for module in twin:
        if isinstance(module, nn.BatchNorm1d):
            module.momentum = 1.0  # so that it stores the statistics of these points
        h = module(h)
        if isinstance(module, nn.ReLU):
            rows.append((h - h.mean(0)).detach())
    weights = [twin[0].weight, twin[-1].weight]
    gradients = torch.autograd.grad(F.cross_entropy(h, RING), weights)
    later, along = (h[:, 1] - h[:, 0]).detach(), []
    for row in reversed(rows):
        later = row @ (row.T @ (later - later.mean()))
        later = later / later.square().mean().sqrt()
        along.insert(0, later[SHOWN])
    cells, p = CELLS, h.softmax(1)[:, 1].detach()
    for module in twin.eval():
        cells = module(cells)
    return {
        "apart": [row.square().sum(1).mean().sqrt().item() for row in rows],
        "maps": [gradient.norm().item() for gradient in gradients],
        "range": [p.min().item(), p.max().item()],
        "says": (p[SHOWN] * 255).round().byte(),
        "p": (cells.softmax(1)[:, 1] * 56 + 35).round().byte(),
        "along": (torch.stack(along) * 40).round().clamp(-127, 127).to(torch.int8),
    }


def trained(name):
    """Train a network as the lessons do, and return its losses and a record of each moment."""
    network, training = RUNS[name]
    network, moments, steps = ring_network(**network), [], iter(range(MOMENTS[-1] + 1))

    def watch(*_):
        if next(steps) in MOMENTS:
            moments.append(look(network))

    network.register_forward_pre_hook(watch)
    losses = train(network, X, RING, steps=MOMENTS[-1] + 1, **training)
    return {"loss": losses.tolist(), **{key: [m[key] for m in moments] for key in moments[0]}}


def packed(key, values):
    """Return bytes as text, or numbers rounded to four digits."""
    if isinstance(values[0], torch.Tensor):
        content = torch.stack(values).numpy().tobytes()
        return content.decode() if key == "p" else base64.b64encode(content).decode()
    return json.loads(json.dumps(values), parse_float=lambda text: float(f"{float(text):.4g}"))


def main():
    torch.set_num_threads(1)
    points = [
        [*(round(v, 2) for v in x), ring] for x, ring in zip(X.tolist(), RING.tolist(), strict=True)
    ]
    about = {
        "made by": "make tool NAME=rings",
        "versions": {"torch": torch.__version__, "python": platform.python_version()},
    }
    kept = {"provenance": about, "moments": MOMENTS, "grid": GRID, "edge": EDGE, "shown": SHOWN}
    runs = []  # one line per run, so that a diff shows which runs changed
    for name in RUNS:
        run = {key: packed(key, values) for key, values in trained(name).items()}
        print(name, f"loss {run['loss'][-1]}, apart {run['apart'][0]}", flush=True)
        runs.append(f"{json.dumps(name)}:{json.dumps(run, separators=(',', ':'))}")
    head = json.dumps({**kept, "points": points}, separators=(",", ":"))
    FILE.write_text(head[:-1] + ',"runs":{\n' + ",\n".join(runs) + "\n}}\n", "utf-8")
    print(f"{FILE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
