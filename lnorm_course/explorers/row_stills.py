"""Images where no widget runs: one word at each stage of a norm, or a table of words."""

import itertools
from functools import cache
from typing import Any

import torch
from matplotlib.patches import Rectangle
from torch import Tensor

from lnorm_utils.functional import layer_norm_steps, mean, standardize
from lnorm_utils.plotting.picture import DATA, GRAY, MEAN, SPREAD, Picture, in_style
from lnorm_utils.words import number

__all__ = ["stations", "table"]

MIDDLE: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 10}


def _lines(x: Tensor, shown: Any, letters: str, words: list[str], over: str) -> list[Any]:
    """List the lines of a table, each as its distance from the top, its name, and its numbers."""
    dim = tuple(map("NLD".index, over))
    gamma, beta = (shown.get(name) for name in ("gamma", "beta"))
    y = standardize(x, dim) * torch.tensor(gamma or 1.0) + torch.tensor(beta or 0.0)
    results = {"y": y, "centered": x - mean(x, dim)}.get(shown.get("results", ""))
    apart = 1 if results is None else 2
    lines: list[Any] = [(-1.0, "", letters[: x.shape[-1]])]
    for row, (word, values) in enumerate(zip(words, x.flatten(0, 1).tolist(), strict=True)):
        lines.append((apart * row, word, map(number, values)))
        if results is not None:
            values = results.flatten(0, 1)[row].tolist()
            lines.append((apart * row + 0.85, "", map(number, values)))
    learned = [(name, values) for name, values in (("γ", gamma), ("β", beta)) if values]
    below = enumerate(learned, apart * len(words))
    return lines + [(height, name, map(number, values)) for height, (name, values) in below]


@in_style
def table(rows: list[list[float]], shown: Any, letters: str, sentences: list[list[str]]) -> bytes:
    """Draw all words, any results below their numbers, and frames around what shares a mean."""
    x = torch.tensor(rows, dtype=torch.float64).unflatten(0, (len(sentences), -1))
    over, words = shown.get("over", ""), [*itertools.chain(*sentences)]
    count, width = len(rows), x.shape[-1]
    lines = _lines(x, shown, letters, words, over or "D")
    apart = 2 if "results" in shown else 1
    bottom = lines[-1][0] + (2 if over == "NL" else 1)
    picture = Picture("", 5.8, 0.27 * (bottom + 1.5))
    ax = picture.subplots()
    for height, name, texts in lines:
        color = DATA if height % 1 else "black"
        ax.text(-0.6, height, name, ha="right", va="center", fontsize=10, fontweight="bold")
        for at, text in enumerate(texts):
            ax.text(at, height, text, color=color, **MIDDLE)
    high = count if {*"NL"} <= {*over} else len(sentences[0]) if "L" in over else 1
    wide = width if "D" in over else 1
    means = mean(x, tuple(map("NLD".index, over or "D"))).expand_as(x).flatten(0, 1)
    for row, at in itertools.product(range(0, count, high), range(0, width, wide)) if over else ():
        size = wide - 0.08, high * apart - 0.12
        place = at - 0.46, row * apart - 0.44
        ax.add_patch(Rectangle(place, *size, fill=False, ec=MEAN, ls="--", lw=1.5))
        x0, y0 = (at, bottom - 1) if over == "NL" else (width, apart * (row + high / 2) - 0.5)
        if over == "NL" or "D" in over:
            ax.text(x0, y0, number(means[row, at]), color=MEAN, **MIDDLE)
    ax.set(xlim=(-1.6, width + 0.5), ylim=(bottom, -1.6))
    ax.axis("off")
    return picture.png()


def _way(x: Tensor, gamma: Tensor, beta: Tensor, rms: bool, zoom: int) -> dict[str, Tensor]:
    """Return the row's numbers at each station, keyed by the station's name."""
    steps = layer_norm_steps(x, len(x))
    y = x / x.square().mean().sqrt() if rms else steps.x_hat
    way = {"x": x} if rms else {"x": x, "− mean": x - steps.mean}
    way["÷ RMS" if rms else "÷ spread"] = y
    way[f"× {zoom}"] = zoom * y
    return {**way, "· γ + β": zoom * (gamma * y + beta)} if len(gamma) else way


@cache  # many presets begin with the same picture
@in_style
def stations(row: Any, gamma: Any, beta: Any, guess: Any, rms: bool, reach: int) -> bytes:
    """Draw a word at each stage of a norm; a guess replaces all stages but the first."""
    x, zoom = torch.tensor(row, dtype=torch.float64), reach // 2
    way = _way(x, torch.tensor(gamma), torch.tensor(beta), rms, zoom)
    if guess:
        way = {"x": x, f"your guess, × {zoom}": zoom * torch.tensor(guess)}
    picture = Picture("", 5.8, 0.62 * len(way) + 0.4)
    ax = picture.subplots()
    lines = torch.stack([*way.values()])
    heights = torch.arange(len(way))
    if not guess:
        means, spreads = lines.mean(1), lines.std(1, correction=0)
        until = [*way].index(f"× {zoom}")
        edges = (means - spreads)[:until], (means + spreads)[:until]
        ax.fill_betweenx(heights[:until], *edges, color=SPREAD, alpha=0.25, lw=0)
        ax.plot(means, heights, color=MEAN, lw=2.5)
        ax.plot(lines, heights.expand(len(x), -1).T, color=GRAY, lw=1, zorder=1)
    look: dict[str, Any] = {"boxstyle": "round,pad=0.25", "fc": DATA, "ec": "white"}
    for line, height in zip(lines.tolist(), heights.tolist(), strict=True):
        ax.axhline(height, color=GRAY, lw=1.5, zorder=0)
        for at in sorted({*line}):
            name = "".join(letter for letter, v in zip("abcdefgh", line, strict=False) if v == at)
            ax.text(at, height, name, color="white", bbox=look, **{**MIDDLE, "fontsize": 9})
    ax.set_yticks(heights, [*way])
    ax.set(xlim=(-reach, reach), ylim=(len(way) - 0.6, -0.6), xticks=[])
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return picture.png()
