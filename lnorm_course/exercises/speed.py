"""Exercises on how often layer norm goes through memory, and how long that takes."""

import torch

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.models import TABLE
from lnorm_utils.data import normal

TOPIC = "speed"

means_taken = Prediction(
    answer=4096,
    reason="Each row has a mean of its own, over its features.",
    wrong={
        1: "That's one mean for all rows together. Each row has its own.",
        100: Belief.OVER_THE_BATCH("Each feature would have its own mean in batch norm."),
        409600: "That's how many numbers there are, and a row shares one mean.",
    },
    hints=["Which numbers does layer norm average together?", "How many rows are there?"],
)

from_length = Prediction(
    answer=9,
    reason="The sum of the squares is 6² = 36, and the variance is their mean, 36 / 4.",
    wrong={
        12: Belief.VARIANCE_OVER_D_MINUS_1("You divided 36 by D − 1. Divide by D."),
        36: "That's the sum of the squares. The variance is their mean.",
        6: "That's the length itself. Square it, and take the mean.",
        3: "That's the standard deviation. The variance is its square.",
        1.5: "You divided the length by 4. Square it first.",
    },
    hints=["What do the squares add up to, if the root of that is 6?", "Four squares: their mean?"],
)

loses_digits = Prediction(
    answer="b",
    reason="It subtracts two large squares, and only their rounding is left.",
    wrong={
        "a": "That squares the distances from the mean, which are small.",
        "both": "One of them never squares a number near 10,000.",
        "neither": Belief.ONE_PASS_IS_AS_GOOD(
            "In lesson 2, one of them returned negative variances."
        ),
    },
    hints=["Which formula squares numbers near 10,000?", "Which one subtracts such squares?"],
)

slower_copy = Prediction(
    answer="new",
    reason="The operating system hands out new memory page by page, and fills each page with zeros "
    "when it's first touched.",
    wrong={
        "old": "Both make two passes. Think about what else one of them needs.",
        "same": "They make as many passes. But one of them needs something else as well.",
    },
    hints=["Both read x once and write as much.", "Where does the memory for a tensor come from?"],
)

passes_made = Prediction(
    answer=8,
    reason="A mean is 1 pass, and there are two. Subtract, square, and multiply are 2 each.",
    wrong={
        5: "That's how many operations there are on the whole tensor, or how often they read it. "
        "Three of them also write a tensor of this size.",
        3: "Those are the tensors it writes. It also reads.",
        6: "You left out the means. Each of them reads a whole tensor, too.",
        7: "You left out one of the means. There are two, and each reads a whole tensor.",
        9: "You counted a read or a write that isn't there. The square reads one tensor, and a "
        "mean writes only one number for each row.",
        11: "That's what the course's own `layer_norm` makes, which has more steps.",
        10: "You took 2 for each operation. But a mean writes only one number for each row.",
        2: "That would do: x in, y out. But each operation goes through memory by itself.",
    },
    hints=[
        "Go through the operations one by one. Which tensors of the size of x does each one read?",
        "And which write one? What they do with one number for each row doesn't count.",
    ],
)

quicker = Prediction(
    answer="same",
    reason="Both have as many passes, and both write three new tensors.",
    wrong={
        "one_pass": "It's one pass on paper. Count the passes of each of its operations.",
        "two_pass": "It has no fewer passes. Count those of each operation.",
    },
    hints=["Count the passes of both.", "And how many new tensors does each of them write?"],
)

predicted_time = CodeExercise(
    inputs={
        "two_pass, where a read takes 2 ms and a copy 15": (8, 3, 2.0, 15.0),
        "a single copy": (2, 1, 3.0, 20.0),
        "a single read": (1, 0, 3.0, 20.0),
        "ten passes and one new tensor": (10, 1, 1.75, 7.3),
    },
    hints=[
        "Each new tensor costs a copy. How many passes do these copies account for?",
        "A copy has two passes. What's left of all passes costs a read each.",
    ],
)


@predicted_time.answer
def copies_and_reads(passes, new, read, copy):
    return new * copy + (passes - 2 * new) * read


@predicted_time.mistake()
def half_the_passes(passes, new, read, copy):
    """You took a copy for every two passes. But a copy pays for a new tensor, and there are fewer
    of those."""
    return passes / 2 * copy


@predicted_time.mistake()
def passes_twice(passes, new, read, copy):
    """You counted passes twice. The copies already have two passes each, so take those off."""
    return new * copy + passes * read


@predicted_time.mistake()
def one_copy(passes, new, read, copy):
    """You took one copy only. There's one for each new tensor."""
    return copy + (passes - 2) * read


@predicted_time.mistake()
def copies_doubled(passes, new, read, copy):
    """You took each copy twice. The time of a copy already has both of its passes in it."""
    return 2 * new * copy + (passes - 2 * new) * read


@predicted_time.mistake()
def no_copies(passes, new, read, copy):
    """You left out the copies. There's one for each new tensor."""
    return (passes - 2 * new) * read


@predicted_time.mistake()
def one_pass_each(passes, new, read, copy):
    """You took off one pass for each copy. A copy has two: it reads and it writes."""
    return new * copy + (passes - new) * read


@predicted_time.mistake()
def only_copies(passes, new, read, copy):
    """You counted the new tensors only. The other passes cost a read each."""
    return new * copy


@predicted_time.mistake()
def only_reads(passes, new, read, copy):
    """You took a read for each pass. A new tensor costs more than that."""
    return passes * read


WIDE = normal(5, 4, seed=161).double() + 1
MANY = 3 * normal(7, 6, seed=162).double() - 2
NARROW = 0.003 * normal(5, 8, seed=163).double() + 2

blocked = CodeExercise(
    inputs={
        "five rows in blocks of two": (WIDE, 2),
        "seven rows in blocks of three": (MANY, 3),
        "narrow rows in blocks of four": (NARROW, 4),
        "one block": (MANY, 7),
    },
    norm=lambda norm, x, rows: norm.standardize(x),
    layout=TABLE,
    hints=[
        "`x.split(rows)` gives the blocks of x, and `y.split(rows)` those of the result y. What "
        "you write to such a block is in y.",
        "`torch.sub(block, mean, out=result)` writes to a block of the result, and "
        "`result.mul_(…)` changes it in place. Both blocks come from `zip`.",
    ],
)


@blocked.answer
def each_block_in_its_place(x, rows):
    """This check sees the numbers only. `traffic` shows how many tensors your function makes."""
    y = torch.zeros_like(x)
    for block, result in zip(x.split(rows), y.split(rows), strict=True):
        torch.sub(block, block.mean(dim=-1, keepdim=True), out=result)
        length = torch.linalg.vector_norm(result, dim=-1, keepdim=True)
        result.mul_((length.square() / x.shape[-1] + 1e-5).rsqrt())
    return y


@blocked.mistake()
def all_rows_are_zero(norm, x, rows):
    """Your result is still all zeros. `result = …` only gives the name to another tensor. Write to
    the block itself, with `out=result`, `result.mul_(…)`, or `result[:] = …`."""
    return torch.zeros_like(x)


@blocked.mistake()
def last_rows_are_zero(norm, x, rows):
    """You left out the last block, which is shorter if the rows can't be divided evenly, and its
    rows are 0. `x.split(rows)` has it."""
    whole = len(x) // rows * rows
    return torch.cat([norm.standardize(x[:whole]), torch.zeros_like(x[whole:])])


@blocked.mistake()
def last_rows_are_those_of_x(norm, x, rows):
    """You left out the last block, which is shorter if the rows can't be divided evenly, and its
    rows are still those of x. `x.split(rows)` has it."""
    whole = len(x) // rows * rows
    return torch.cat([norm.standardize(x[:whole]), x[whole:]])


@blocked.mistake()
def last_rows_are_missing(norm, x, rows):
    """Your result has fewer rows than x. The last block is shorter if the rows can't be divided
    evenly; `x.split(rows)` has it."""
    return norm.standardize(x[: len(x) // rows * rows])


@blocked.mistake()
def first_block_only(norm, x, rows):
    """You returned the first block only. Put `return` after the loop."""
    return norm.standardize(x[:rows])


@blocked.mistake()
def last_block_only(norm, x, rows):
    """You returned the last block only. Maybe you wrote each block to the whole result, which then
    takes the block's shape. `y.split(rows)` gives the rows to write to."""
    return norm.standardize(x.split(rows)[-1])


@blocked.mistake()
def one_mean_for_a_block(norm, x, rows):
    """You took one mean and one length for each block. Each row has its own: `dim=-1`."""
    blocks = [block - block.mean() for block in x.split(rows)]
    return torch.cat([block * (block.square().mean() + 1e-5).rsqrt() for block in blocks])


@blocked.mistake()
def one_mean_only_for_a_block(norm, x, rows):
    """You subtracted one mean from a whole block. Each row has its own: `dim=-1`."""
    centered = torch.cat([block - block.mean() for block in x.split(rows)])
    return centered * (centered.square().mean(dim=-1, keepdim=True) + 1e-5).rsqrt()


@blocked.mistake()
def one_length_for_a_block(norm, x, rows):
    """You took one length for a whole block. Each row has its own: `dim=-1`."""
    blocks = norm.center(x).split(rows)
    return torch.cat([b * (b.square().sum() / x.shape[-1] + 1e-5).rsqrt() for b in blocks])


@blocked.mistake()
def divided_by_the_length(norm, x, rows):
    """You divided by the length. Layer norm divides by the root of length² / D + ε."""
    centered = norm.center(x)
    return centered / torch.linalg.vector_norm(centered, dim=-1, keepdim=True)


@blocked.mistake()
def divided_by_the_rows(norm, x, rows):
    """You divided by the number of rows in a block. The variance is length² / D, with D numbers in
    a row."""
    centered = norm.center(x)
    return centered * (centered.square().sum(dim=-1, keepdim=True) / rows + 1e-5).rsqrt()


@blocked.mistake()
def length_not_squared(norm, x, rows):
    """You divided the length by D. It's the root of the sum of squares, so square it first."""
    centered = norm.center(x)
    length = torch.linalg.vector_norm(centered, dim=-1, keepdim=True)
    return centered * (length / x.shape[-1] + 1e-5).rsqrt()


put_in_bank(TOPIC, vars())
