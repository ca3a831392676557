"""What the exercises on residual blocks share: branches, inputs, and wrong blocks."""

import copy
import functools
import itertools
from collections.abc import Iterator

import torch
from torch import Tensor

from lnorm_diagnose.fewest_slips import Mistake
from lnorm_diagnose.slips.misconceptions import Misconception
from lnorm_utils.data import encoded_points, normal


class Branch:
    """A feed-forward network with a name that error messages can show."""

    def __init__(self, name: str, seed: int, scale: float = 1.0, features: int = 4) -> None:
        self.name = name
        self.first = normal(features, 6, seed=seed)
        self.second = scale * normal(6, features, seed=seed + 1)

    def __call__(self, x: Tensor) -> Tensor:
        return (x @ self.first).relu() @ self.second

    def __deepcopy__(self, memo: dict) -> "Branch":
        twin = copy.copy(self)  # every call to an attempt does this, so it must be fast
        twin.first, twin.second = self.first.clone(), self.second.clone()
        return twin

    def __repr__(self) -> str:
        return self.name


# X is float32, so that an attempt can use `LayerNorm(4)`. In SMALL, the spreads are so small that
# ε matters.
X = encoded_points()
F, G, H = Branch("f", 92), Branch("g", 94), Branch("h", 96)
SMALL = torch.tensor([[0.02], [0.005], [3e-4]]) * normal(2, 3, 4, seed=91) + 0.002
SMALL_BRANCHES = (Branch("f", 98, scale=0.01), Branch("g", 100, scale=0.01))
FIVE = normal(4, 6, 5, seed=115) + 1
FIVE_BRANCHES = tuple(Branch(name, 104 + 2 * n, features=5) for n, name in enumerate("fghk"))
BLOCK_INPUTS = {
    "the x of this lesson": (X, F),
    "rows with spreads from 0.0003 to 0.02": (SMALL, F),
    "rows of five features": (FIVE, FIVE_BRANCHES[0]),
}
# On these rows, two norms in sequence differ from one norm, because ε dominates the smallest row's
# variance.
TINY = torch.tensor([[0.02], [0.005], [1e-5]]) * normal(2, 3, 4, seed=91)
# The possible places of a layer norm in a residual block, each mapped to what the norm normalizes.
PLACES = {
    "read": "what f gets",
    "returned": "what f returns",
    "passed": "the x that is added to f(x)",
    "sum": "the sum",
}
POST, PRE = frozenset({"sum"}), frozenset({"read"})


def block(norm, x, f, places, adds=True):
    """Run a residual block with layer norms at the given places, with or without adding x."""

    def at(place, value):
        return norm.standardize(value) if place in places else value

    branch = at("returned", f(at("read", x)))
    return at("sum", at("passed", x) + branch) if adds else branch


def _all_blocks() -> Iterator[tuple[frozenset[str], bool, str]]:
    """Yield every block: where its norms are, whether it adds x, and a description in words."""
    for size in range(len(PLACES) + 1):
        for places in map(frozenset, itertools.combinations(PLACES, size)):
            words = " and ".join(words for place, words in PLACES.items() if place in places)
            done = f"you normalized {words or 'nothing'}"
            yield places, True, done
            if places <= {"read", "returned"}:
                yield places, False, f"{done} and did not add x"


def wrong_blocks(right: frozenset[str], instead: str) -> Iterator[Mistake]:
    """Yield, as mistakes, the blocks that have norms in the wrong places or don't add x."""
    for places, adds, done in _all_blocks():
        if (places, adds) != (right, True):
            mistake = functools.partial(block, places=places, adds=adds)
            is_other = adds and places in (POST, PRE)
            misconceptions = (Misconception.PRE_NORM_IS_POST_NORM,) * is_other
            yield Mistake(mistake, f"Y{done[1:]}. {instead}", misconceptions)


def stack(norm, x, fs, places=PRE, adds=True, has_final=True):
    for f in fs:
        x = block(norm, x, f, places, adds)
    return norm.standardize(x) if has_final else x


def wrong_stacks() -> Iterator[Mistake]:
    """Yield, as mistakes, stacks of any blocks but pre-LN, both with a final norm and without."""
    for (places, adds, done), has_final in itertools.product(_all_blocks(), (True, False)):
        # A norm right after a block that ends in a norm changes hardly anything, so most stacks
        # with such a norm are skipped. Those with the final norm in every block instead of after
        # the last one are kept, because some people do put it there.
        is_post = adds and places == POST
        has_own_end = places == PRE | POST and not has_final
        is_same = "sum" in places and not (
            is_post or has_own_end or (has_final and not places & {"passed", "read"})
        )
        if (places, adds) != (PRE, True) and not is_same and (adds or len(places) < 2):
            mistake = functools.partial(stack, places=places, adds=adds, has_final=has_final)
            post = "Your blocks are post-LN: they normalize the sum"
            begin = post if is_post else f"In your blocks {done}"
            why = (
                f"{begin}{'' if has_final else ', and the final norm is missing'}. "
                "A pre-LN block normalizes only what f gets, and adds what f returns to x."
            )
            yield Mistake(mistake, why, (Misconception.PRE_NORM_IS_POST_NORM,) * is_post)
