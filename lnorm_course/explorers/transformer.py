"""How a transformer trains at each rate, place of its norms, and start, and what it writes."""

import math
import textwrap

import numpy as np

from lnorm_course.explorers.engine.controls import Choice, Slider, Switch
from lnorm_course.explorers.engine.explorer import Explorer, Presets
from lnorm_course.explorers.engine.figures import fixed_panels, line
from lnorm_course.lessons.transformer.grid import (
    EMBEDDINGS,
    EVERY,
    RATES,
    STEPS,
    WARM_UP,
    run,
    split,
)
from lnorm_course.lessons.transformer.text import Entropies, entropies
from lnorm_utils.plotting.picture import BLACK, BLUE, GRAY, GREEN, PINK, VERMILION, in_style
from lnorm_utils.words import capitalized, fixed, significant

__all__ = ["explore_transformer"]

LOOKS = {
    "no norm": ("--s", VERMILION),
    "post-LN": ("-o", BLUE),
    "pre-LN": ("-.^", GREEN),
    "pre-RMSNorm": (":D", PINK),
}
THICK, THIN = 2.5, 1.0
LOW, HIGH = 1.7, 3.9  # nats
WIDTH, MOST_LINES = 31, 12  # of the text, in characters and in lines
NEAR = 0.03  # nats
STEP = np.arange(STEPS // EVERY) * EVERY + (EVERY - 1) / 2  # the middle of each mean
PRESETS: Presets = {
    "post-LN, a good rate": {"rate": 0.003, "place": "post-LN"},
    "post-LN, a large rate": {"rate": 0.01, "place": "post-LN"},
    "… with a warm-up": {"rate": 0.01, "place": "post-LN", "warm_up": True},
    "… with larger embeddings": {"rate": 0.01, "place": "post-LN", "embeddings": 8},
    "pre-LN, a large rate": {"rate": 0.01, "place": "pre-LN"},
    "no norm, a good rate": {"rate": 0.003, "place": "no norm"},
    "no norm, a large rate": {"rate": 0.01, "place": "no norm"},
    "… from larger embeddings": {"rate": 0.01, "place": "no norm", "embeddings": 8},
}


@in_style
def explore_transformer(
    rate: float = 0.003,
    place: str = "pre-LN",
    embeddings: int = 1,
    warm_up: bool = False,
    preset: str | None = None,
    presets: Presets | None = None,
) -> Explorer:
    """Explore how a small transformer learns to write, by rate, place of the norms, and start.

    Nothing is trained: the losses and the texts are those of `run`, with seed 0. The curves are
    losses in training, a large one at the upper edge, and the lines are entropies of the text that
    the models train on. The words compare losses on new text with entropies of that.

    Args:
        rate: the learning rate of Adam, from 0.0003 to 0.03.
        place: of the norms, "no norm", "post-LN", "pre-LN" or "pre-RMSNorm".
        embeddings: how many times as large they start, 1, 4 or 8.
        warm_up: whether the rate rises during the first 100 steps. The larger embeddings were
            trained without one, so with them it has no effect.
        preset, presets: the preset to start with, and more of them, as in `Explorer`.

    Raises:
        ValueError: an argument is not one of those.

    >>> explore_transformer(preset="no norm, a large rate").words[-21:]
    'so it writes nothing.'
    """
    trained_on, new = map(entropies, split())
    picture, (losses, writing) = fixed_panels(
        "Losses of a transformer in training, and a text that it writes",
        *(2, 4.0, 3.7),
        {"left": 0.125, "right": 0.985, "bottom": 0.14, "top": 0.86, "wspace": 0.06},
        width_ratios=(1.25, 1),
    )
    losses.set(xlabel="step", ylabel="loss in training, in nats", label="losses")
    losses.set(xlim=(0, STEPS), ylim=(LOW, HIGH))
    losses.grid(color=GRAY, lw=0.5)
    names = [f"{name}\n{fixed(height)}" for name, height in trained_on._asdict().items()]
    losses.set_yticks([*trained_on, 2], [*names, "2"])
    for height in trained_on:
        losses.axhline(height, color=BLACK, lw=1)
    curves = {
        name: line(losses, kind, STEP, color=color, mec=color, markevery=6, label=name)
        for name, (kind, color) in LOOKS.items()
    }
    writing.axis("off")
    writing.set_label("what it writes")
    title = writing.text(0, 1, "What it writes", va="top", fontsize=12)
    text = writing.text(0, 0.88, "", va="top", fontsize=10, family="monospace", linespacing=1.5)
    picture.legend(handles=list(curves.values()), loc="upper center", ncols=4)

    def move(rate: float, place: str, embeddings: int, warm_up: bool) -> str:
        is_warmed = warm_up and embeddings == 1
        steps = WARM_UP if is_warmed else 1
        for name, curve in curves.items():
            heights = np.array(run(name, rate, steps, embeddings=embeddings).losses)
            curve.set_ydata(np.clip(heights, LOW, HIGH))
            curve.set_linewidth(THICK if name == place else THIN)
            curve.set_markersize(6 if name == place else 3)
        now = run(place, rate, steps, embeddings=embeddings)
        text.set_text(_wrapped(now.text))
        warmed = "with a warm-up" if is_warmed else "without a warm-up"
        done = (
            f"{capitalized(place)} at rate {significant(rate)}, embeddings ×{embeddings}, {warmed}"
        )
        return f"{done}: {_told(now.validation, new)}"

    controls = {
        "rate": Slider("learning rate", rate, RATES),
        "place": Choice("place of the norms", place, LOOKS),
        "embeddings": Slider("embeddings start larger, ×", embeddings, EMBEDDINGS),
        "warm_up": Switch(
            "warm-up over 100 steps", warm_up, when=lambda values: values["embeddings"] == 1
        ),
    }
    moving = [*curves.values(), title, text]
    return Explorer(picture, moving, move, controls, PRESETS, preset, presets)


def _wrapped(text: str) -> str:
    """Break the lines of a text to the width of the panel; what's below the panel is left out."""
    wrapped = [piece for line in text.split("\n") for piece in textwrap.wrap(line, WIDTH)]
    return "\n".join(wrapped[:MOST_LINES])


def _told(loss: float, known: Entropies) -> str:
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
    return f"{ends}, so it uses more than the one character before."
