"""Exercises of lesson 9, layer norm in the residual stream."""

import torch
from torch import Tensor

from lnorm_utils.examples import normal
from lnorm_utils.exercises.beliefs import Belief
from lnorm_utils.exercises.engine.exercise import Exercise
from lnorm_utils.functional import standardize

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


# Unequal axes, a mean that is not zero, and once a spread so small that ε shows. float32, so that a
# `LayerNorm(4)` can be tried.
ROWS = 2 * normal(2, 3, 4, seed=91) + 1
F, G, H = Branch("f", 92), Branch("g", 94), Branch("h", 96)
SMALL = 0.01 * ROWS
SMALL_BRANCHES = (Branch("f", 98, scale=0.01), Branch("g", 100, scale=0.01))

two_ways = Exercise(
    TOPIC,
    "two_ways",
    within=6e-3,
    hints=[
        "The row has mean 7 and standard deviation 3. What is its layer norm?",
        "Post-LN: add first, which makes three times the row, and then normalize. Pre-LN: "
        "normalize, double what you get, and add that to the row as it was.",
    ],
)


@two_ways.answer
def added_then_normalized_and_normalized_then_added():
    """Post-LN ends on a normalized row. Pre-LN ends on a sum: 4 + 2 · (−1)."""
    return (-1, 4 + 2 * -1)


@two_ways.mistake(Belief.PRE_NORM_IS_POST_NORM)
def both_as_post_ln():
    """You gave both the result of post-LN. In pre-LN nothing is normalized after the addition: the
    row itself, 4, is still in the sum."""
    return (-1, -1)


@two_ways.mistake(Belief.PRE_NORM_IS_POST_NORM)
def both_as_pre_ln():
    """You gave both the result of pre-LN. In post-LN the sum is normalized at the end, so its first
    number lies below 0, the mean."""
    return (2, 2)


@two_ways.mistake()
def the_two_swapped():
    """You have the two the wrong way around. "Post" means that the norm comes after the
    addition."""
    return (2, -1)


@two_ways.mistake()
def residual_left_out():
    """The first number is right. In the second you left out the row itself: f of the normalized row
    is −2, and it is added to 4."""
    return (-1, -2)


@two_ways.mistake()
def normalized_row_in_the_sum():
    """The first number is right. In the second you added f to the normalized row. In pre-LN only f
    sees the normalized row; it is added to the row as it was."""
    return (-1, -1 + 2 * -1)


@two_ways.mistake()
def norm_after_f():
    """The first number is right. In the second you normalized what f returns. In pre-LN the norm
    stands before f."""
    return (-1, 4 - 1)


@two_ways.mistake()
def norm_on_the_wrong_path():
    """The first number is right. In the second you normalized the row that is added and gave f the
    raw one. It is the other way around."""
    return (-1, -1 + 8)


@two_ways.mistake()
def post_ln_without_norm():
    """The second number is right. The first is x + f(x), and post-LN normalizes that sum."""
    return (4 + 8, 2)


@two_ways.mistake()
def pre_ln_without_norm():
    """The first number is right. The second is x + f(x), and in pre-LN f gets the normalized
    row."""
    return (-1, 4 + 8)


@two_ways.mistake()
def normalized_first_in_post_ln():
    """The second number is right. −3 is the normalized row plus f of it, −1 − 2. In post-LN, f and
    the sum see the row as it is, and the norm comes last. If you did add first and divided by 3:
    the sum is three times the row, so its standard deviation is 9."""
    return (-1 + 2 * -1, 2)


@two_ways.mistake()
def each_part_normalized_by_itself():
    """The second number is right. In the first you normalized the row and f(x) and added then.
    Post-LN adds first and normalizes the sum, once."""
    return (-1 - 1, 2)


@two_ways.mistake()
def no_norm_at_all():
    """You added twice and normalized nothing. Each of the two has one layer norm."""
    return (4 + 8, 4 + 8)


post_ln = Exercise(
    TOPIC,
    "post_ln",
    inputs=[(ROWS, F), (SMALL, F)],
    within=WITHIN,
    hints=[
        "Which of the two comes last, the addition or the norm?",
        "First the sum of the row and what f makes of it. Then `standardize`, once.",
    ],
)


@post_ln.answer
def norm_of_the_sum(x, f):
    return torch.nn.functional.layer_norm(x + f(x), x.shape[-1:])


@post_ln.mistake(Belief.PRE_NORM_IS_POST_NORM)
def pre_ln_instead(x, f):
    """You normalized what f gets. That is pre-LN; post-LN gives f the raw row and normalizes the
    sum."""
    return x + f(standardize(x))


@post_ln.mistake()
def sum_not_normalized(x, f):
    """You added, and did not normalize. The rows still have the mean and the spread of the sum."""
    return x + f(x)


@post_ln.mistake()
def residual_left_out_of_the_sum(x, f):
    """You normalized f(x) alone. What makes the block residual is missing: add x first."""
    return standardize(f(x))


@post_ln.mistake()
def only_the_branch_normalized(x, f):
    """You normalized f(x) and then added x. In post-LN the norm comes after the addition."""
    return x + standardize(f(x))


@post_ln.mistake()
def each_normalized_by_itself(x, f):
    """You normalized the two parts and added then. The sum of two normalized rows is not
    normalized: there is one norm, and it comes last."""
    return standardize(x) + standardize(f(x))


@post_ln.mistake()
def normalized_before_and_after(x, f):
    """You normalized twice, before f and after the addition. Post-LN has one norm, the second of
    the two."""
    return standardize(x + f(standardize(x)))


@post_ln.mistake()
def residual_path_normalized(x, f):
    """You normalized the path that only passes x on, and added f(x) as it is. Post-LN adds the two
    first and normalizes the sum."""
    return standardize(x) + f(x)


@post_ln.mistake()
def normalized_first_and_never_again(x, f):
    """You normalized x and then worked with that row only. In post-LN, f and the sum see x as it
    is; the norm comes last."""
    return standardize(x) + f(standardize(x))


@post_ln.mistake(Belief.OVER_THE_BATCH)
def normalized_over_the_batch(x, f):
    """The order is right. But your norm averages over the points; layer norm looks at one row."""
    return standardize(x + f(x), dim=0)


@post_ln.mistake(Belief.ONE_MEAN_PER_SENTENCE)
def normalized_over_the_sentence(x, f):
    """The order is right. But your norm averages over positions and features together; each row has
    its own mean."""
    return standardize(x + f(x), dim=(1, 2))


@post_ln.mistake(Belief.VARIANCE_OVER_D_MINUS_1)
def divided_by_one_less(x, f):
    """The order is right. But your variance divides by D − 1, and layer norm divides by D."""
    total = x + f(x)
    return (total - total.mean(-1, keepdim=True)) / (total.var(-1, keepdim=True) + 1e-5).sqrt()


pre_ln = Exercise(
    TOPIC,
    "pre_ln",
    inputs=[(ROWS, F), (SMALL, F)],
    within=WITHIN,
    hints=[
        "The stream itself is never normalized. Who gets to see the normalized row?",
        "What is added to x is what f makes of the standardized x.",
    ],
)


@pre_ln.answer
def norm_inside_the_branch(x, f):
    return x + f(torch.nn.functional.layer_norm(x, x.shape[-1:]))


@pre_ln.mistake(Belief.PRE_NORM_IS_POST_NORM)
def post_ln_instead(x, f):
    """You normalized the sum. That is post-LN; in pre-LN the addition comes last, and the norm
    stands before f."""
    return standardize(x + f(x))


@pre_ln.mistake()
def nothing_normalized(x, f):
    """You added, and normalized nothing. Give f the normalized row."""
    return x + f(x)


@pre_ln.mistake()
def residual_left_out_of_pre_ln(x, f):
    """That is the branch alone. Add it to x."""
    return f(standardize(x))


@pre_ln.mistake()
def stream_normalized_too(x, f):
    """You added f to the normalized row. Only f sees the normalized row; what is added to is x as
    it came."""
    return standardize(x) + f(standardize(x))


@pre_ln.mistake()
def norm_behind_f(x, f):
    """You normalized what f returns. In pre-LN the norm stands before f."""
    return x + standardize(f(x))


@pre_ln.mistake()
def norm_on_the_other_path(x, f):
    """You normalized the path that only passes x on, and gave f the raw row. It is the other way
    around."""
    return standardize(x) + f(x)


@pre_ln.mistake()
def norm_after_the_addition_too(x, f):
    """You normalized once more after the addition. A pre-LN block ends with the addition."""
    return standardize(x + f(standardize(x)))


@pre_ln.mistake(Belief.OVER_THE_BATCH)
def pre_norm_over_the_batch(x, f):
    """The order is right. But your norm averages over the points; layer norm looks at one row."""
    return x + f(standardize(x, dim=0))


@pre_ln.mistake(Belief.ONE_MEAN_PER_SENTENCE)
def pre_norm_over_the_sentence(x, f):
    """The order is right. But your norm averages over positions and features together; each row has
    its own mean."""
    return x + f(standardize(x, dim=(1, 2)))


@pre_ln.mistake(Belief.VARIANCE_OVER_D_MINUS_1)
def pre_norm_divided_by_one_less(x, f):
    """The order is right. But your variance divides by D − 1, and layer norm divides by D."""
    return x + f((x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + 1e-5).sqrt())


adds = Exercise(
    TOPIC,
    "adds",
    within=6e-3,
    hints=[
        "What f gets is normalized. So does a late block add more than the first one?",
        "The variances of numbers that have nothing to do with each other add up. Do not forget "
        "what was there at the start.",
    ],
)


@adds.answer
def the_start_and_a_half_for_each_block():
    """1 at the start, and a half from each of the 24 blocks. Nothing takes it away again."""
    return 1 + 24 * 0.5


@adds.mistake(Belief.PRE_NORM_IS_POST_NORM)
def brought_back_to_one():
    """You let a norm bring the stream back to variance 1. That is post-LN. In pre-LN the norm
    stands in the branch, before f, and the stream itself is never normalized."""
    return 1


@adds.mistake()
def start_forgotten():
    """That is what the 24 blocks add. The stream had a variance before the first of them."""
    return 24 * 0.5


@adds.mistake()
def one_block_only():
    """That is the variance after one block. There are 24."""
    return 1 + 0.5


@adds.mistake()
def multiplied_by_each_block():
    """You multiplied by 1.5 in each block. What f adds does not grow with the stream, because f
    gets the normalized row: it is a half each time."""
    return 1.5**24


@adds.mistake()
def one_for_each_block():
    """You added 1 for each block. What f makes of a row of variance 1 has variance 1/2 here."""
    return 1 + 24


@adds.mistake()
def standard_deviation():
    """That is the standard deviation, the root of the variance."""
    return (1 + 24 * 0.5) ** 0.5


ending = Exercise(
    TOPIC,
    "ending",
    inputs=[(ROWS, (F, G, H)), (SMALL, SMALL_BRANCHES)],
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
def no_final_norm(x, fs):
    """The blocks are right. The final norm is missing: what leaves the stack has the scale that the
    stream has grown to."""
    for f in fs:
        x = x + f(standardize(x))
    return x


@ending.mistake(Belief.PRE_NORM_IS_POST_NORM)
def a_stack_of_post_ln(x, fs):
    """You built post-LN blocks, which normalize the sum each time. In pre-LN the norm stands before
    f, and once after the last block."""
    for f in fs:
        x = standardize(x + f(x))
    return x


@ending.mistake()
def final_norm_in_every_block(x, fs):
    """You put the final norm into the loop, so the stream is normalized after every block. It comes
    once, after the last one."""
    for f in fs:
        x = standardize(x + f(standardize(x)))
    return x


@ending.mistake()
def no_norm_in_the_branches(x, fs):
    """The final norm is there, but the blocks have none: f gets the raw stream."""
    for f in fs:
        x = x + f(x)
    return standardize(x)


@ending.mistake()
def normalized_once_at_the_start(x, fs):
    """You normalized at the start and at the end. Each block needs its own norm, before its f."""
    x = standardize(x)
    for f in fs:
        x = x + f(x)
    return standardize(x)


@ending.mistake()
def stream_normalized_in_every_block(x, fs):
    """You normalize the stream itself in every block. Only f sees the normalized row; what it is
    added to stays as it is."""
    for f in fs:
        x = standardize(x) + f(standardize(x))
    return standardize(x)


@ending.mistake()
def all_blocks_see_the_input(x, fs):
    """You gave every f the input of the stack. Each block gets what the block before it
    returned."""
    return standardize(x + sum(f(standardize(x)) for f in fs))


@ending.mistake()
def first_block_only(x, fs):
    """You return inside the loop, or use the first f only. All blocks come one after the other."""
    return standardize(x + fs[0](standardize(x)))


@ending.mistake()
def last_block_only(x, fs):
    """Only the last f has an effect: each turn of your loop starts from the input again."""
    return standardize(x + fs[-1](standardize(x)))


@ending.mistake()
def in_reverse_order(x, fs):
    """You went through the blocks from the last to the first."""
    for f in reversed(fs):
        x = x + f(standardize(x))
    return standardize(x)


@ending.mistake()
def residual_left_out_of_every_block(x, fs):
    """You replaced the stream by what f returns. Each block adds to the stream."""
    for f in fs:
        x = f(standardize(x))
    return standardize(x)


params = Exercise(
    TOPIC,
    "params",
    hints=[
        "How many layer norms are there in all? Count the one after the last block.",
        "In each of them every feature has a number to multiply by and a number to add.",
    ],
)


@params.answer
def two_for_each_feature_of_each_norm():
    """12 norms in the blocks and the final one, each with 64 γ and 64 β."""
    return (12 + 1) * 2 * 64


@params.mistake()
def final_norm_forgotten():
    """You counted the norms of the blocks. The pre-LN stack has one more, after the last block."""
    return 12 * 2 * 64


@params.mistake(Belief.SINGLE_GAMMA_AND_BETA)
def one_gamma_and_one_beta_for_each_norm():
    """You gave each norm one γ and one β. It has one of each for every feature, 64 of both."""
    return (12 + 1) * 2


@params.mistake(Belief.SINGLE_GAMMA_AND_BETA)
def one_gamma_and_one_beta_and_no_final_norm():
    """You gave each norm one γ and one β. It has one of each for every feature. And there is one
    more norm, after the last block."""
    return 12 * 2


@params.mistake()
def beta_forgotten():
    """You counted the γ. There are as many β."""
    return (12 + 1) * 64


@params.mistake()
def beta_and_final_norm_forgotten():
    """You counted the γ of the blocks. There are as many β, and one more norm after the last
    block."""
    return 12 * 64


@params.mistake()
def one_norm_for_all():
    """That is one layer norm. Each block has its own, and there is the final one."""
    return 2 * 64


@params.mistake()
def norms_counted():
    """That is how many layer norms there are. Each of them holds many numbers."""
    return 12 + 1


@params.mistake()
def two_norms_in_each_block():
    """You gave each block two norms. Here each block has one, because it has one branch."""
    return (2 * 12 + 1) * 2 * 64


@params.mistake()
def two_norms_in_each_block_and_no_final_norm():
    """You gave each block two norms. Here each block has one, because it has one branch. And there
    is one more norm, after the last block."""
    return 2 * 12 * 2 * 64


slope = Exercise(
    TOPIC,
    "slope",
    within=6e-3,
    hints=[
        "Layer norm of 10x is layer norm of x (lesson 3). How far must you move a number of 10x "
        "for the output to move as much as before?",
        "Layer norm divides by the standard deviation, and so does its slope. Which standard "
        "deviation does 10x have?",
    ],
)


@slope.answer
def divided_by_the_larger_spread():
    """Everything is ten times as far apart, so the same small step moves the output a tenth as
    much. The gradient on its way back is divided by the scale of the stream."""
    return 0.1


@slope.mistake()
def the_same_slope():
    """The output is the same at both rows, but not what a small step does to it: beside numbers ten
    times as large, the same step is ten times as small."""
    return 1


@slope.mistake()
def ten_times():
    """You multiplied by 10. Layer norm divides by the standard deviation, and that is ten times as
    large."""
    return 10


@slope.mistake()
def none_at_all():
    """If all numbers are multiplied together, the output stays. But here one number moves by
    itself, and that changes the row, only less than before."""
    return 0


@slope.mistake()
def divided_by_the_variance():
    """You divided by the variance, which is 100 times as large. Layer norm divides by its root."""
    return 0.01


@slope.mistake()
def divided_by_the_root_of_ten():
    """You took the root of 10. The standard deviation is the root already, and it is ten times as
    large."""
    return 0.1**0.5
