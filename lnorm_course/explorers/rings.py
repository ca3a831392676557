"""The rings: how a network divides the plane, and how far apart its points are in each layer."""

import base64
from typing import Any

import numpy as np

from lnorm_course.explorers.engine.controls import one_of
from lnorm_course.explorers.engine.stills import Still, of_record
from lnorm_utils.plotting import new_picture
from lnorm_utils.words import significant

__all__ = ["Rings", "explore_rings"]

SCRIPT, STYLE, RECORDED = of_record("rings")
RUNS: dict[str, Any] = RECORDED["runs"]
# Maps each preset to the networks in its picture. A network is shown only after a lesson has asked
# about it.
CHANGES, ONE_WAY = [*RUNS][:7], ["plain", "times 2", *[*RUNS][7:]]
NETWORKS: dict[str | None, list[str]] = {None: CHANGES[:2], **dict.fromkeys(ONE_WAY, ONE_WAY)}
NETWORKS |= dict.fromkeys([*CHANGES, "race"], CHANGES)


class Rings(Still):
    """The widget of `explore_rings`; it draws recorded training runs in the browser."""

    _esm = SCRIPT
    _css = STYLE
    alt = "Points on two rings, on their way through a network that should tell the rings apart"

    def __init__(self, page: dict[str, Any]) -> None:
        super().__init__(page)
        self.run = RUNS.get(page["preset"], RUNS["plain"])
        first, *_, last = (significant(distance, 2) for distance in self.run["apart"][0])
        self.words = f"Before training, the points are {first} apart after layer 1, and {last} "
        self.words += f"after layer {len(self.run['apart'][0])}."

    def png(self) -> bytes:
        """Draw the still image: the points' paths through the layers before training."""
        apart = np.array(self.run["apart"][0])[:, None]
        along = np.frombuffer(base64.b64decode(self.run["along"]), np.int8, 32 * len(apart))
        picture, ((ax,),) = new_picture(self.alt, 1, 1, 5.5, 3.4)
        for color, places in zip(("C0", "C1"), np.split(along.reshape(-1, 32), 2, 1), strict=True):
            ax.plot(places / 40 * apart, 1 + np.arange(len(apart)), ".-", color=color, linewidth=1)
        ax.set(xlim=(-8, 8), ylim=(8.5, 0.5), xlabel="from the mean point", ylabel="after layer")
        return picture.png()


def explore_rings(preset: str | None = None) -> Rings:
    """Explore what becomes of 128 points in a network that should tell their rings apart.

    Args:
        preset: the network to start with, such as "layer norm" or "times 2, forward only", or
            "race", in which seven networks train side by side. By default it's the plain network,
            to which only a layer norm can be added.

    Raises:
        ValueError: `preset` is unknown.

    >>> explore_rings("two hidden layers").words
    'Before training, the points are 3 apart after layer 1, and 1.1 after layer 2.'
    """
    names = NETWORKS[one_of(preset, NETWORKS, "preset")]
    return Rings({"preset": preset or "plain", "names": names})
