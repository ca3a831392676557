"""Exercises on layer norm in the residual stream."""

import itertools
from collections.abc import Iterator

import torch
from torch import Tensor

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.exercises.residual_streams import (  # noqa: F401 - in this bank, too
    after_branch,
    both_results,
    deep_chain,
    first_of_4,
    plain_gamma,
    row_plus_norm,
)
from lnorm_course.slips.beliefs import Belief
from lnorm_utils.data import encoded_points, normal

TOPIC = "residual"
WITHIN = 1e-5


class Branch:
    """A feed-forward network, whose name an error message can tell."""

    def __init__(self, name: str, seed: int, scale: float = 1.0, features: int = 4) -> None:
        self.name = name
        self.first = normal(features, 6, seed=seed)
        self.second = scale * normal(6, features, seed=seed + 1)

    def __call__(self, x: Tensor) -> Tensor:
        return (x @ self.first).relu() @ self.second

    def __repr__(self) -> str:
        return self.name


# Once spreads so small that ε shows. float32, so that a `LayerNorm(4)` can be tried.
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
# Here two norms in a row differ from one: ε is most of the variance of the smallest row.
TINY = torch.tensor([[0.02], [0.005], [1e-5]]) * normal(2, 3, 4, seed=91)

# What a layer norm in a residual block can normalize.
PLACES = {
    "read": "what f gets",
    "returned": "what f returns",
    "passed": "the x that is added to f(x)",
    "sum": "the sum",
}
POST, PRE = frozenset({"sum"}), frozenset({"read"})


def _block(norm, x, f, places, adds=True):
    """Run a residual block, with layer norms at some places, and with its addition or not."""

    def at(place, value):
        return norm.standardize(value) if place in places else value

    branch = at("returned", f(at("read", x)))
    return at("sum", at("passed", x) + branch) if adds else branch


def _blocks() -> Iterator[tuple[frozenset[str], bool, str]]:
    """Yield every block: where its norms are, whether it adds, and what was done, in words."""
    for size in range(len(PLACES) + 1):
        for places in map(frozenset, itertools.combinations(PLACES, size)):
            words = " and ".join(words for place, words in PLACES.items() if place in places)
            done = f"you normalized {words or 'nothing'}"
            yield places, True, done
            if places <= {"read", "returned"}:
                yield places, False, f"{done} and did not add x"


def _wrong_blocks(exercise: CodeExercise, right: frozenset[str], instead: str) -> None:
    """Give an exercise each block whose norms are at other places, as a mistake."""
    for places, adds, done in _blocks():
        if (places, adds) != (right, True):

            def mistake(norm, x, f, places=places, adds=adds):
                return _block(norm, x, f, places, adds)

            mistake.__doc__ = f"Y{done[1:]}. {instead}"
            is_other = adds and places in (POST, PRE)
            exercise.mistake(Belief.PRE_NORM_IS_POST_NORM if is_other else None)(mistake)


post_ln = CodeExercise(
    inputs=BLOCK_INPUTS,
    norm=lambda norm, x, f: _block(norm, x, f, POST),
    within=WITHIN,
    hints=[
        "Which of the two comes last, the addition or the norm?",
        "First add what f returns to the row. Then use `standardize`, once.",
    ],
)
_wrong_blocks(
    post_ln, POST, "Post-LN adds f(x) to x as both are, and normalizes once, after the addition."
)


@post_ln.answer
def norm_of_the_sum(x, f):
    return torch.nn.functional.layer_norm(x + f(x), x.shape[-1:])


pre_ln = CodeExercise(
    inputs=BLOCK_INPUTS,
    norm=lambda norm, x, f: _block(norm, x, f, PRE),
    within=WITHIN,
    hints=[
        "The stream itself is never normalized. Which function gets the normalized row?",
        "Give f the standardized x, and add what f returns to x.",
    ],
)
_wrong_blocks(
    pre_ln, PRE, "Pre-LN normalizes what f gets and nothing else, and adds what f returns to x."
)


@pre_ln.answer
def norm_inside_the_branch(x, f):
    return x + f(torch.nn.functional.layer_norm(x, x.shape[-1:]))


adds = Prediction(
    answer=1 + 24 * 0.5,
    reason="1 at the start, and a half from each of the 24 blocks.",
    wrong={
        1: "The variance would stay 1 with a norm after each addition, as in post-LN. In pre-LN "
        "the norm stands in the branch, before f, and the stream itself is never normalized.",
        24 * 0.5: "That is what the 24 blocks add. The stream had a variance before the first of "
        "them.",
        1 + 0.5: "That is the variance after one block. There are 24.",
        1.5**24: "You multiplied by 1.5 in each block. What f adds does not grow with the stream, "
        "because f gets the normalized row: it is a half each time.",
        1 + 24: "You added 1 for each block. Each of them adds a variance of 1/2.",
        (1 + 24 * 0.5) ** 0.5: "That is the standard deviation, the root of the variance.",
    },
    within=0.006,
    hints=[
        "What f gets is normalized. So does a late block add more than the first one?",
        "The variances of unrelated numbers add up. Don't forget the variance at the start.",
    ],
)


def _stack(norm, x, fs, places=PRE, adds=True, has_final=True):
    for f in fs:
        x = _block(norm, x, f, places, adds)
    return norm.standardize(x) if has_final else x


ending = CodeExercise(
    inputs={
        "the x of this lesson, with three blocks": (X, (F, G, H)),
        "rows with spreads from 0.00001 to 0.02, with two blocks": (TINY, SMALL_BRANCHES),
        "rows of five features, with four blocks": (FIVE, FIVE_BRANCHES),
        # Last, because it's the quickest one to search.
        "rows of five features, with one block": (FIVE, FIVE_BRANCHES[:1]),
    },
    norm=_stack,
    within=WITHIN,
    hints=[
        "`for f in fs:` gives you the networks one after the other. Each block gets what the block "
        "before it returned.",
        "The loop contains the pre-LN block and nothing else. What comes once, after it?",
    ],
)


@ending.answer
def one_norm_after_the_last_block(x, fs):
    norm = torch.nn.functional.layer_norm
    for f in fs:
        x = x + f(norm(x, x.shape[-1:]))
    return norm(x, x.shape[-1:])


@ending.mistake()
def no_final_norm(norm, x, fs):
    """The final norm is missing, so the output has whatever scale the stream has grown to."""
    return _stack(norm, x, fs, has_final=False)


@ending.mistake()
def first_block_only(norm, x, fs):
    """Only the first f has an effect. Perhaps `return` is inside the loop and ends it in its first
    turn."""
    return _stack(norm, x, fs[:1])


@ending.mistake()
def first_block_without_a_final_norm(norm, x, fs):
    """Only the first f has an effect, and there is no final norm. Perhaps `return` is inside the
    loop and ends it in its first turn."""
    return _stack(norm, x, fs[:1], has_final=False)


@ending.mistake()
def last_block_only(norm, x, fs):
    """Only the last f has an effect. Each block gets what the block before it returned, not the
    input again."""
    return _stack(norm, x, fs[-1:])


@ending.mistake()
def last_block_left_out(norm, x, fs):
    """The last f has no effect. Perhaps your loop ends one block too early."""
    return _stack(norm, x, fs[:-1])


@ending.mistake()
def first_block_left_out(norm, x, fs):
    """The first f has no effect. Perhaps your loop begins with the second block."""
    return _stack(norm, x, fs[1:])


@ending.mistake()
def all_blocks_add_to_the_input(norm, x, fs):
    """You added what each f returns to the input of the stack. A block adds it to what the block
    before it returned."""
    stream = x
    for f in fs:
        stream = x + f(norm.standardize(stream))
    return norm.standardize(stream)


@ending.mistake()
def the_input_added_at_the_end(norm, x, fs):
    """You added x once, after the last f. Each block adds what its f returns to what it got."""
    return norm.standardize(x + _stack(norm, x, fs, adds=False, has_final=False))


@ending.mistake()
def all_blocks_see_the_input(norm, x, fs):
    """You gave every f the input of the stack. Each block gets what the block before it
    returned."""
    return norm.standardize(x + sum(f(norm.standardize(x)) for f in fs))


@ending.mistake()
def in_reverse_order(norm, x, fs):
    """You went through the blocks from the last to the first."""
    return _stack(norm, x, fs[::-1])


@ending.mistake()
def normalized_once_at_the_start(norm, x, fs):
    """You normalized at the start and at the end. Each block needs its own norm, before its f."""
    return _stack(norm, norm.standardize(x), fs, places=())


@ending.mistake()
def normalized_at_the_start_too(norm, x, fs):
    """You normalized x before the first block. In a pre-LN stack the blocks add to x as it came
    in."""
    return _stack(norm, norm.standardize(x), fs)


def _wrong_stacks() -> None:
    """Give `ending` the stacks whose blocks have their norms at other places, as mistakes."""
    for (places, adds, done), has_final in itertools.product(_blocks(), (True, False)):
        # After a block that ends in a norm, the next one changes hardly anything. What people
        # write is the final norm in every block, in place of the one at the end.
        is_post = adds and places == POST
        has_own_end = places == PRE | POST and not has_final
        is_same = "sum" in places and not (
            is_post or has_own_end or (has_final and not places & {"passed", "read"})
        )
        if (places, adds) != (PRE, True) and not is_same and (adds or len(places) < 2):

            def mistake(norm, x, fs, places=places, adds=adds, has_final=has_final):
                return _stack(norm, x, fs, places, adds, has_final)

            post = "Your blocks are post-LN: they normalize the sum"
            begin = post if is_post else f"In your blocks {done}"
            mistake.__doc__ = (
                f"{begin}{'' if has_final else ', and the final norm is missing'}. "
                "A pre-LN block normalizes what f gets and nothing else, and adds what f returns "
                "to x."
            )
            ending.mistake(Belief.PRE_NORM_IS_POST_NORM if is_post else None)(mistake)


_wrong_stacks()


params = Prediction(
    answer=(12 + 1) * 2 * 64,
    reason="12 norms in the blocks and the final one, each with 64 γ and 64 β.",
    wrong={
        12 * 2 * 64: "Those are the norms of the blocks. The pre-LN stack has one more, after the "
        "last block.",
        (12 + 1) * 2: Belief.SINGLE_GAMMA_AND_BETA(
            "You gave each norm one γ and one β. It has one of each for every feature, 64 of both."
        ),
        12 * 2: "That is two for each block. A block has one norm, with a γ and a β for every "
        "feature, and there is a norm after the last block.",
        (12 + 1) * 64: "Those are the γ. There are as many β.",
        12 * 64: "Those are the γ of the blocks. There are as many β, and one more norm after the "
        "last block.",
        2 * 64: "That is one layer norm. Each block has its own, and there is the final one.",
        12 + 1: "That is how many layer norms there are. Each of them holds many numbers.",
        (2 * 12 + 1) * 2 * 64: "You gave each block two norms. Here each block has one, because it "
        "has one branch.",
        2 * 12 * 2 * 64: "You gave each block two norms and left out the final one. Here each "
        "block has one, because it has one branch.",
    },
    hints=[
        "How many layer norms are there in all? Count the one after the last block.",
        "In each of them every feature has a number to multiply by and a number to add.",
    ],
)


put_in_bank(TOPIC, vars(), further=("ending", "params"))
