"""One thing that is done otherwise than it should be, in words and as switches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lnorm_course.slips.beliefs import Belief

__all__ = ["Slip", "compatible"]


@dataclass(frozen=True)
class Slip:
    """One thing that is done otherwise than layer norm does it.

    Args:
        done: what was done, as a short clause such as "ε is left out".
        instead: what layer norm does instead, as the rest of a sentence that begins with its name.
            In both, {D} stands for the letter of how many numbers are averaged.
        changes: the switches that it throws, field of `NormWithSlips`, or of the model that it
            belongs to, -> value.
        belief: the common belief that it may come from.
        detail: how `done` goes on, behind a comma, where there is room for it.
        of: the name that `instead` goes on from, if it isn't that of the layout.
    """

    done: str
    instead: str
    changes: Mapping[str, Any] = field(hash=False)
    belief: Belief | None = None
    detail: str = ""
    of: str = ""

    @property
    def told(self) -> str:
        """What was done, in full."""
        return f"{self.done}, {self.detail}" if self.detail else self.done

    @property
    def is_affine(self) -> bool:
        """Whether it is about γ and β."""
        return not AFFINE.isdisjoint(self.changes)


# The switches that are about γ and β.
AFFINE = {
    "gamma",
    "scaled",
    "beta",
    "shifted",
    "is_shifted_first",
    "before",
    "weighed",
    "early",
}


def compatible(slips: Sequence[Slip]) -> bool:
    """Tell whether no two of the slips throw the same switch."""
    names = [name for slip in slips for name in slip.changes]
    return len(names) == len(set(names))
