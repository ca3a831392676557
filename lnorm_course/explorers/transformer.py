"""How a transformer trains and what it writes, by learning rate, norms, and initialization."""

import itertools
import math
import textwrap
from typing import Any

import numpy as np

from lnorm_course.explorers.engine import Choice, Explorer, Slider, Switch, line, panel
from lnorm_course.lessons.transformer import PLACES, grid
from lnorm_course.lessons.transformer.text import Entropies, entropies
from lnorm_utils.plotting.picture import BLACK, BLUE, GRAY, LAYER_NORM, NO_NORM, PINK, in_style
from lnorm_utils.words import capitalized, fixed, significant

__all__ = ["explore_transformer"]

LOOKS = {  # maps each place of the norms to its line, color, and marker in the legend
    "no norm": (":s", NO_NORM, "■"),
    "post-LN": ("-o", LAYER_NORM, "●"),
    "pre-LN": ("-.^", BLUE, "▲"),
    "pre-RMSNorm": (":D", PINK, "◆"),
}
LOW, HIGH = 1.7, 3.9  # the range of the losses shown, in nats
WIDTH = 33  # width of the text, in characters
NEAR = 0.03  # in nats; a loss this close to an entropy counts as equal to it
# For each recorded loss, the middle of the steps over which it is averaged.
STEP = np.arange(grid.STEPS).reshape(-1, grid.EVERY).mean(1)
CONTROLS = {
    "rate": Slider("learning rate", 0.003, grid.RATES),
    "place": Choice("place of the norms", "pre-LN", LOOKS),
    "embeddings": Slider("embeddings start larger, ×", 1, grid.EMBEDDINGS),
    # The runs with larger embeddings have no warm-up.
    "warm_up": Switch(
        "warm-up over 100 steps", False, when=lambda values: values["embeddings"] == 1
    ),
}
PRESETS: dict[str, dict[str, Any]] = {
    "post-LN, a good rate": {"place": "post-LN"},
    "post-LN, a large rate": {"rate": 0.01, "place": "post-LN"},
    "… with a warm-up": {"rate": 0.01, "place": "post-LN", "warm_up": True},
    "… with larger embeddings": {"rate": 0.01, "place": "post-LN", "embeddings": 8},
    "pre-LN, a large rate": {"rate": 0.01},
    "no norm, a good rate": {"place": "no norm"},
    "no norm, a large rate": {"rate": 0.01, "place": "no norm"},
    "… from larger embeddings": {"rate": 0.01, "place": "no norm", "embeddings": 8},
}


def _trained(rate: float, place: str, embeddings: int, warm_up: bool) -> dict[str, grid.Run]:
    """Look up the run with seed 0 for each place of the norms."""
    steps = grid.WARM_UP if warm_up and embeddings == 1 else 1
    return {name: grid.run(name, rate, steps, embeddings=embeddings) for name in LOOKS}


@in_style
def explore_transformer(preset: str | None = None, **start: Any) -> Explorer:
    """Explore how a small transformer learns to write, by learning rate, norms, and initialization.

    The curves are training losses, and the lines are entropies of the text that the models train
    on. The words compare one model's loss on new text with the entropies of that text.

    >>> explore_transformer(preset="no norm, a large rate").words[-21:]
    'so it writes nothing.'
    """
    trained_on, new = map(entropies, grid.split())
    losses, ax = panel("losses of a transformer in training", height=2.25, xlabel="step")
    ax.set(ylabel="loss in training, in nats", xlim=(0, grid.STEPS), ylim=(LOW, HIGH))
    ax.grid(color=GRAY, lw=0.5)
    names = [f"{name}\n{fixed(height)}" for name, height in trained_on._asdict().items()]
    ax.set_yticks([*trained_on, 2], [*names, "2"])
    for height in trained_on:
        ax.axhline(height, color=BLACK, lw=1)
    curves, keys = {}, {}
    for n, (name, (kind, color, marker)) in enumerate(LOOKS.items()):
        curves[name] = line(ax, kind, STEP, color=color, mec=color, markevery=6)
        keys[name] = ax.text(0.46 * (n % 2), 1.14 - 0.1 * (n // 2), "", transform=ax.transAxes)
        keys[name].set(color=color, text=f"{marker} {name}")
    writing, below = panel("what each of the four writes", height=2.75, ylim=(3.8, 0))
    below.axis("off")
    cards = {}
    for n, (name, (_, color, marker)) in enumerate(LOOKS.items()):
        title = below.text(0, n, "", va="top", color=color)
        title.set_text(f"{marker} {name}: {PLACES[name][0]}")
        cards[name] = title, below.text(0, n + 0.27, "", va="top", fontsize=14, linespacing=1.25)

    def show(
        runs: dict[str, grid.Run], rate: float, place: str, embeddings: int, warm_up: bool
    ) -> str:
        for name, curve in curves.items():
            is_chosen = name == place
            curve.set_ydata(np.clip(runs[name].losses, LOW, HIGH))
            curve.set(linewidth=2.5 if is_chosen else 1.0, markersize=6 if is_chosen else 3)
            title, text = cards[name]
            for label in (title, keys[name]):
                label.set_fontweight("bold" if is_chosen else "normal")
            lines = textwrap.wrap(" ".join(runs[name].text.split()), WIDTH)[:2]
            text.set_text("\n".join(lines) or "(nothing)")
        how = "with" if warm_up and embeddings == 1 else "without"
        return (
            f"{capitalized(place)} at learning rate {significant(rate)}, embeddings ×{embeddings}, "
            f"{how} a warm-up: {_compared(runs[place].validation, new)}"
        )

    written = [*itertools.chain(*cards.values())]
    panels: Any = {losses: [*curves.values(), *keys.values()], writing: written}
    return Explorer(panels, _trained, show, CONTROLS, PRESETS, preset, start)


def _compared(loss: float, known: Entropies) -> str:
    """Compare a loss on the validation text with the entropies of that text."""
    if math.isnan(loss):
        return "its loss grew until it overflowed, so it writes nothing."
    ends = f"on new text, its loss is {fixed(loss)}"
    if loss > known.letters - NEAR:
        return f"{ends}, no better than always answering with the frequencies, {known.letters:.2f}."
    if loss > known.pairs + NEAR:
        return f"{ends}, between the entropies of letters and of pairs."
    if loss > known.pairs - NEAR:
        return f"{ends}, about the entropy of pairs, {fixed(known.pairs)}."
    return f"{ends}, so it uses more than just the previous character."
