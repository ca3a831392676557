"""Exercises of lesson 9, layer norm in the residual stream."""

import itertools
from collections.abc import Iterator

import torch
from torch import Tensor

from lnorm_utils.beliefs import Belief
from lnorm_utils.examples import encoded_points, normal
from lnorm_utils.exercises.engine.code_exercise import CodeExercise
from lnorm_utils.exercises.engine.prediction import Prediction, Wrong

TOPIC = "residual"
WITHIN = 1e-5


class Branch:
    """A feed-forward network on four features, whose name an error message can tell."""

    def __init__(self, name: str, seed: int, scale: float = 1.0) -> None:
        self.name = name
        self.first, self.second = normal(4, 6, seed=seed), scale * normal(6, 4, seed=seed + 1)

    def __call__(self, x: Tensor) -> Tensor:
        return (x @ self.first).relu() @ self.second

    def __repr__(self) -> str:
        return self.name


# Once spreads so small that ε shows. float32, so that a `LayerNorm(4)` can be tried.
X = encoded_points()
F, G, H = Branch("f", 92), Branch("g", 94), Branch("h", 96)
SMALL = torch.tensor([[0.02], [0.005], [3e-4]]) * normal(2, 3, 4, seed=91) + 0.002
SMALL_BRANCHES = (Branch("f", 98, scale=0.01), Branch("g", 100, scale=0.01))
BLOCK_INPUTS = {"the x of this lesson": (X, F), "rows with spreads from 0.0003 to 0.02": (SMALL, F)}

# Here two norms in a row differ from one: ε is most of the variance of the smallest row.
TINY = torch.tensor([[0.02], [0.005], [1e-5]]) * normal(2, 3, 4, seed=91)

two_ways = Prediction(
    TOPIC,
    "two_ways",
    answer=(-1, 4 + 2 * -1),
    reason="Post-LN ends on a normalized row. Pre-LN ends on a sum: 4 + 2 · (−1).",
    wrong=[
        Wrong(
            (-1, -1),
            "You gave both the result of post-LN. In pre-LN nothing is normalized after the "
            "addition: the row itself, 4, is still in the sum.",
            Belief.PRE_NORM_IS_POST_NORM,
        ),
        Wrong(
            (2, 2),
            "You gave both the result of pre-LN. In post-LN the sum is normalized at the end, so "
            "its first number lies below 0, the mean.",
            Belief.PRE_NORM_IS_POST_NORM,
        ),
        Wrong(
            (2, -1),
            'You have the two the wrong way around. "Post" means that the norm comes after the '
            "addition.",
        ),
        Wrong(
            (-1, 2 * -1),
            "The first number is right. The second is f of the normalized row, and pre-LN adds "
            "that to the row itself, to 4.",
        ),
        Wrong(
            (-1, -1 + 2 * -1),
            "The first number is right. The second is the normalized row plus f of it. In pre-LN "
            "only f sees the normalized row; what it returns is added to the row as it was.",
        ),
        Wrong(
            (-1, 4 - 1),
            "The first number is right. The second is the row plus a normalized one: either f is "
            "left out, or its result is normalized. In pre-LN the norm stands before f.",
        ),
        Wrong(
            (-1, -1 + 8),
            "The first number is right. In the second you normalized the row that is added and "
            "gave f the raw one. It is the other way around.",
        ),
        Wrong((4 + 8, 2), "The second number is right. The first is x + f(x), not yet normalized."),
        Wrong(
            (-1, 4 + 8),
            "The first number is right. The second is x + f(x), and in pre-LN f gets the "
            "normalized row.",
        ),
        Wrong(
            (-1 + 2 * -1, 2),
            "The second number is right. −3 is either the normalized row plus f of it, or the "
            "sum's distance from its mean, −9, divided by 3. In post-LN the norm comes last, and "
            "the standard deviation of the sum is 9.",
        ),
        Wrong(
            (-1 - 1, 2),
            "The second number is right. The first is the sum of two normalized rows. Post-LN "
            "adds first and normalizes the sum, once.",
        ),
        Wrong((4 + 8, 4 + 8), "Both are x + f(x). Each of the two has one layer norm."),
    ],
    within=0.006,
    hints=[
        "The row has mean 7 and standard deviation 3. What is its layer norm?",
        "Post-LN: add first, which makes three times the row, and then normalize. Pre-LN: "
        "normalize, double what you get, and add that to the row as it was.",
    ],
)

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
    TOPIC,
    "post_ln",
    inputs=BLOCK_INPUTS,
    norm=lambda norm, x, f: _block(norm, x, f, POST),
    within=WITHIN,
    hints=[
        "Which of the two comes last, the addition or the norm?",
        "First the sum of the row and what f makes of it. Then `standardize`, once.",
    ],
)
_wrong_blocks(
    post_ln, POST, "Post-LN adds f(x) to x as both are, and normalizes once, after the addition."
)


@post_ln.answer
def norm_of_the_sum(x, f):
    return torch.nn.functional.layer_norm(x + f(x), x.shape[-1:])


pre_ln = CodeExercise(
    TOPIC,
    "pre_ln",
    inputs=BLOCK_INPUTS,
    norm=lambda norm, x, f: _block(norm, x, f, PRE),
    within=WITHIN,
    hints=[
        "The stream itself is never normalized. Who gets to see the normalized row?",
        "What is added to x is what f makes of the standardized x.",
    ],
)
_wrong_blocks(
    pre_ln, PRE, "Pre-LN normalizes what f gets and nothing else, and adds what f returns to x."
)


@pre_ln.answer
def norm_inside_the_branch(x, f):
    return x + f(torch.nn.functional.layer_norm(x, x.shape[-1:]))


adds = Prediction(
    TOPIC,
    "adds",
    answer=1 + 24 * 0.5,
    reason="1 at the start, and a half from each of the 24 blocks. Nothing takes it away again.",
    wrong=[
        Wrong(
            1,
            "The variance would stay 1 with a norm after each addition, as in post-LN. In pre-LN "
            "the norm stands in the branch, before f, and the stream itself is never normalized.",
        ),
        Wrong(
            24 * 0.5,
            "That is what the 24 blocks add. The stream had a variance before the first of them.",
        ),
        Wrong(1 + 0.5, "That is the variance after one block. There are 24."),
        Wrong(
            1.5**24,
            "You multiplied by 1.5 in each block. What f adds does not grow with the stream, "
            "because f gets the normalized row: it is a half each time.",
        ),
        Wrong(1 + 24, "You added 1 for each block. Each of them adds a variance of 1/2."),
        Wrong((1 + 24 * 0.5) ** 0.5, "That is the standard deviation, the root of the variance."),
    ],
    within=0.006,
    hints=[
        "What f gets is normalized. So does a late block add more than the first one?",
        "The variances of numbers that have nothing to do with each other add up. Do not forget "
        "what was there at the start.",
    ],
)


def _stack(norm, x, fs, places=PRE, adds=True, has_final=True):
    for f in fs:
        x = _block(norm, x, f, places, adds)
    return norm.standardize(x) if has_final else x


ending = CodeExercise(
    TOPIC,
    "ending",
    inputs={
        "the x of this lesson, with three blocks": (X, (F, G, H)),
        "rows with spreads from 0.00001 to 0.02, with two blocks": (TINY, SMALL_BRANCHES),
    },
    norm=_stack,
    within=WITHIN,
    hints=[
        "`for f in fs:` gives you the networks one after the other. Each block gets what the block "
        "before it returned.",
        "The loop holds the pre-LN block and nothing else. What comes once, after it?",
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
    """The final norm is missing: what leaves the stack has the scale that the stream has grown
    to."""
    return _stack(norm, x, fs, has_final=False)


@ending.mistake()
def first_block_only(norm, x, fs):
    """Only the first f has an effect. Perhaps `return` stands inside the loop, which it ends in its
    first turn."""
    return _stack(norm, x, fs[:1])


@ending.mistake()
def first_block_without_a_final_norm(norm, x, fs):
    """Only the first f has an effect, and there is no final norm. Perhaps `return` stands inside
    the loop, which it ends in its first turn."""
    return _stack(norm, x, fs[:1], has_final=False)


@ending.mistake()
def last_block_only(norm, x, fs):
    """Only the last f has an effect. Each block gets what the block before it returned, not the
    input again."""
    return _stack(norm, x, fs[-1:])


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
    """You normalized x before the first block. What is added to in a pre-LN stack is x as it
    came."""
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
    TOPIC,
    "params",
    answer=(12 + 1) * 2 * 64,
    reason="12 norms in the blocks and the final one, each with 64 γ and 64 β.",
    wrong=[
        Wrong(
            12 * 2 * 64,
            "Those are the norms of the blocks. The pre-LN stack has one more, after the last "
            "block.",
        ),
        Wrong(
            (12 + 1) * 2,
            "You gave each norm one γ and one β. It has one of each for every feature, 64 of both.",
            Belief.SINGLE_GAMMA_AND_BETA,
        ),
        Wrong(
            12 * 2,
            "That is two for each block: either a γ and a β, or two norms. A block has one norm, "
            "with a γ and a β for every feature, and there is a norm after the last block.",
        ),
        Wrong((12 + 1) * 64, "Those are the γ. There are as many β."),
        Wrong(
            12 * 64,
            "Those are the γ of the blocks. There are as many β, and one more norm after the last "
            "block.",
        ),
        Wrong(
            2 * 64, "That is one layer norm. Each block has its own, and there is the final one."
        ),
        Wrong(12 + 1, "That is how many layer norms there are. Each of them holds many numbers."),
        Wrong(
            (2 * 12 + 1) * 2 * 64,
            "You gave each block two norms. Here each block has one, because it has one branch.",
        ),
        Wrong(
            2 * 12 * 2 * 64,
            "You gave each block two norms and left out the final one. Here each block has one, "
            "because it has one branch.",
        ),
    ],
    hints=[
        "How many layer norms are there in all? Count the one after the last block.",
        "In each of them every feature has a number to multiply by and a number to add.",
    ],
)


slope = Prediction(
    TOPIC,
    "slope",
    answer=0.1,
    reason=(
        "Everything is ten times as far apart, so the same small step moves the output a "
        "tenth as much. The gradient on its way back is divided by the scale of the stream."
    ),
    wrong=[
        Wrong(
            1,
            "The output is the same at both rows, but not what a small step does to it: beside "
            "numbers ten times as large, the same step is ten times as small.",
        ),
        Wrong(
            10,
            "You multiplied by 10. Layer norm divides by the standard deviation, and that is ten "
            "times as large.",
        ),
        Wrong(
            0,
            "If all numbers are multiplied together, the output stays. But here one number moves "
            "by itself, and that changes the row, only less than before.",
        ),
        Wrong(
            0.01,
            "You divided by the variance, which is 100 times as large. Layer norm divides by its "
            "root.",
        ),
        Wrong(
            0.1**0.5,
            "You took the root of 10. The standard deviation is the root already, and it is ten "
            "times as large.",
        ),
    ],
    within=0.006,
    hints=[
        "Layer norm of 10x is layer norm of x (lesson 3). How far must you move a number of 10x "
        "for the output to move as much as before?",
        "Layer norm divides by the standard deviation, and so does its slope. Which standard "
        "deviation does 10x have?",
    ],
)
