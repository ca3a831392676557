"""Exercises on layer norm in the residual stream."""

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

first_of_4 = Prediction(
    TOPIC,
    "first_of_4",
    answer=-1,
    reason="The mean is 3 and the standard deviation 2, and (1 − 3) / 2 = −1.",
    wrong=[
        Wrong(-2, "You centered the row. Then divide by the standard deviation, 2."),
        Wrong(-0.5, "You divided by the variance, 4. Layer norm divides by its root."),
        Wrong(
            -2 / (16 / 3) ** 0.5,
            "You divided by D − 1 in the variance. Layer norm divides by D.",
            Belief.VARIANCE_OVER_D_MINUS_1,
        ),
        Wrong(1, "The sign is wrong: 1 lies below the mean, 3."),
        Wrong(0.5, "You divided by the standard deviation, but didn't subtract the mean."),
    ],
    within=0.006,
    hints=["Find the mean, 3, and the four deviations.", "Their squares are all the same."],
)


dims_left = Prediction(
    TOPIC,
    "dims_left",
    answer=14,
    reason="The mean takes one dimension away, and the standard deviation another.",
    wrong=[
        Wrong(
            16,
            "Layer norm does lose something: the row's mean and its scale.",
            Belief.NOTHING_IS_LOST,
        ),
        Wrong(15, "That counts the mean only. The scale is lost as well."),
        Wrong(2, "That is how many are lost."),
        Wrong(1, "With two features only one bit is left. Here there are sixteen."),
        Wrong(
            8, "Layer norm doesn't halve a row. It loses two dimensions, however many there are."
        ),
    ],
    hints=[
        "Which two numbers of a row can't be read from its layer norm?",
        "Each of the two takes away one dimension.",
    ],
)


plain_gamma = Prediction(
    TOPIC,
    "plain_gamma",
    answer=64,
    reason="Only β is an `nn.Parameter`. γ is an ordinary tensor, and training doesn't move it.",
    wrong=[
        Wrong(
            128,
            "γ is an ordinary tensor. A module registers what is wrapped in `nn.Parameter`, and "
            "nothing else.",
            Belief.ATTRIBUTES_ARE_TRAINED,
        ),
        Wrong(0, "β is wrapped in `nn.Parameter`, in a module, so it's found."),
        Wrong(1, "One tensor is found. Count the numbers in it."),
        Wrong(2, "Count the numbers that are found, not the attributes."),
    ],
    hints=["Which of the two is wrapped in `nn.Parameter`?", "Count its numbers."],
)


deep_chain = Prediction(
    TOPIC,
    "deep_chain",
    answer="guesses",
    reason=(
        "At this rate the loss wanders around 0.69. The norms keep the spread of the rows, but "
        "that isn't enough for 24 layers."
    ),
    wrong=[
        Wrong(
            "learns",
            "With 8 layers it does. With 24 the norms still keep the spread, but at this rate the "
            "loss wanders around 0.69.",
        ),
        Wrong(
            "nan",
            "The norms keep all numbers small, so nothing overflows. The loss wanders around that "
            "of a guess.",
        ),
    ],
    hints=[
        "Norms fix the spread going forward. Training also depends on the gradients coming back.",
        "If norms alone were enough at any depth, would anybody add residual connections?",
    ],
)


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
            "The first number is right. The second is f of the normalized row. Pre-LN adds that "
            "to the row itself, so to 4.",
        ),
        Wrong(
            (-1, -1 + 2 * -1),
            "The first number is right. The second is the normalized row plus f of it. In pre-LN "
            "only f sees the normalized row; what it returns is added to the row as it was.",
        ),
        Wrong(
            (-1, 4 - 1),
            "The first number is right. The second is the row plus a normalized one: either you "
            "left out f, or you normalized its result. In pre-LN the norm comes before f.",
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

third_way = Prediction(
    TOPIC,
    "third_way",
    answer=4 - 1,
    reason="The norm of the doubled row begins with −1, and it's added to the row as it was.",
    wrong=[
        Wrong(
            -1,
            "That is post-LN, where the sum is normalized. Here only f(x) is.",
            Belief.PRE_NORM_IS_POST_NORM,
        ),
        Wrong(
            4 + 2 * -1,
            "That is pre-LN, where f doubles a normalized row. Here the norm comes after f.",
            Belief.PRE_NORM_IS_POST_NORM,
        ),
        Wrong(4 + 8, "That is x + f(x), without a norm."),
        Wrong(-2, "That is the sum of two normalized rows. Here x is added as it is."),
        Wrong(4 + 1, "The sign is wrong: 4 lies below the mean of the row."),
    ],
    within=0.006,
    hints=[
        "f(x) is 8, 8, 20, 20. What is its layer norm?",
        "Add the first number of that to the first number of x.",
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
    TOPIC,
    "pre_ln",
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
    TOPIC,
    "adds",
    answer=1 + 24 * 0.5,
    reason="1 at the start, and a half from each of the 24 blocks.",
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
        "The variances of unrelated numbers add up. Don't forget the variance at the start.",
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
