"""Exercises on gradients, learning rates, and the place of layer norm."""

import math

import torch

from lnorm_utils.beliefs import Belief
from lnorm_utils.examples import normal
from lnorm_utils.exercises.engine.code_exercise import CodeExercise
from lnorm_utils.exercises.engine.prediction import Prediction, Wrong

TOPIC = "training"

guess_of_4 = Prediction(
    TOPIC,
    "guess_of_4",
    answer=math.log(4),
    reason="The network gives each class the probability 1/4, and −ln(1/4) = ln 4.",
    wrong=[
        Wrong(
            math.log(2), "That is the loss of guessing between two classes. Here there are four."
        ),
        Wrong(2, "That is the loss in bits. Cross entropy in PyTorch uses the natural logarithm."),
        Wrong(0.25, "That is the probability of each class. The loss is minus its logarithm."),
        Wrong(0.75, "That is how often a guess is wrong. The loss is −ln of the probability."),
        Wrong(0, "A loss of 0 means that the right class always gets the probability 1."),
        Wrong(4, "That is the number of classes. The loss is its logarithm."),
    ],
    within=0.006,
    hints=[
        "Which probability does a network that guesses give to each of four classes?",
        "The loss is minus the natural logarithm of the right class's probability.",
    ],
)


after_8 = Prediction(
    TOPIC,
    "after_8",
    answer=1 + 8 * 0.5,
    reason="1 at the start, and a half from each block. In pre-LN the stream isn't normalized.",
    wrong=[
        Wrong(
            1,
            "That is post-LN, which normalizes the stream after each addition.",
            Belief.PRE_NORM_IS_POST_NORM,
        ),
        Wrong(8 * 0.5, "That is what the blocks add. The stream started with a variance of 1."),
        Wrong(
            1.5**8,
            "You multiplied by 1.5 in each block. What f adds doesn't grow, because f gets a "
            "normalized row.",
        ),
        Wrong(1 + 8, "Each block adds a variance of 1/2, not of 1."),
        Wrong(5**0.5, "That is the standard deviation, the root of the variance."),
        Wrong(1.5, "That is the variance after one block."),
    ],
    within=0.006,
    hints=["Each block adds a variance of 1/2.", "Don't forget the variance at the start."],
)


ten_times = Prediction(
    TOPIC,
    "ten_times",
    answer=0.5,
    reason="Mean and standard deviation become ten times as large too, so LN(10 r) = LN(r).",
    wrong=[
        Wrong(
            5, "The row is ten times as large, but so is the standard deviation it's divided by."
        ),
        Wrong(0.05, "The row is ten times as large, too, not only what it's divided by."),
        Wrong(-0.5, "A positive factor doesn't change the sign."),
        Wrong(0, "The row isn't constant, so its layer norm isn't 0."),
    ],
    within=0.006,
    hints=[
        "What happens to the mean and the standard deviation of the row?",
        "Subtract, then divide: which factor is left?",
    ],
)


slope = Prediction(
    TOPIC,
    "slope",
    answer=0.1,
    reason=(
        "All numbers are ten times as far apart, so the same small step moves the output a tenth "
        "as much. Layer norm divides the gradient by the standard deviation of the row."
    ),
    wrong=[
        Wrong(
            1,
            "The output is the same at both rows. But a small step changes it less where all "
            "numbers are ten times as far apart.",
        ),
        Wrong(
            10,
            "You multiplied by 10. Layer norm divides by the standard deviation, and that is ten "
            "times as large.",
        ),
        Wrong(
            0,
            "Multiplying all numbers leaves the output as it is. But here one number moves by "
            "itself, and that changes the output, only less than before.",
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


gets_more = Prediction(
    TOPIC,
    "gets_more",
    answer="first",
    reason=(
        "Now the first block gets more than the last. That post-LN asks most of its last blocks "
        "was true for a loss that pulls all rows the same way."
    ),
    wrong=[
        Wrong(
            "last",
            "That was so when one direction pulled all rows the same way. With a direction of its "
            "own for each row it isn't.",
        ),
        Wrong("same", "They differ, though by less than before."),
    ],
    hints=[
        "With one direction for all rows, the gradients of similar rows add up. Do they now?",
        "If the rows pull in random directions, how much is left of what added up before?",
    ],
)


# Gradients of three blocks: (blocks, D, D) and (blocks, D). Small ones show a forgotten root.
WEIGHT_GRADIENTS = normal(3, 4, 4, seed=110).double() + 0.5
BIAS_GRADIENTS = normal(3, 4, seed=111).double() - 0.5

block_norms = CodeExercise(
    TOPIC,
    "block_norms",
    inputs={
        "gradients of three blocks": (WEIGHT_GRADIENTS, BIAS_GRADIENTS),
        "smaller gradients": (0.01 * WEIGHT_GRADIENTS, 0.02 * BIAS_GRADIENTS),
    },
    hints=[
        "Square all gradients of a block, add them up, and take the root of the sum.",
        "`weights.square().sum((1, 2))` has one number for each block. The biases come on top.",
    ],
)


@block_norms.answer
def root_of_the_summed_squares(weights, biases):
    squares = weights.square().sum((1, 2)) + biases.square().sum(1)
    return squares.sqrt()


@block_norms.mistake()
def two_norms_added(weights, biases):
    """You took a root for the weights and one for the biases, and added them. Add the squares of
    both, and take one root."""
    return weights.square().sum((1, 2)).sqrt() + biases.square().sum(1).sqrt()


@block_norms.mistake()
def no_root(weights, biases):
    """You added the squares and took no root."""
    return weights.square().sum((1, 2)) + biases.square().sum(1)


@block_norms.mistake()
def weights_only(weights, biases):
    """The gradients of the biases are missing. They are parameters of the block too."""
    return weights.square().sum((1, 2)).sqrt()


@block_norms.mistake()
def biases_only(weights, biases):
    """The gradients of the weights are missing."""
    return biases.square().sum(1).sqrt()


@block_norms.mistake()
def mean_of_squares(weights, biases):
    """You averaged the squares. The norm is the root of their sum."""
    together = torch.cat([weights.flatten(1), biases], 1)
    return together.square().mean(1).sqrt()


@block_norms.mistake()
def absolute_values_added(weights, biases):
    """You added the gradients without their signs. Square them first, and take the root of the
    sum."""
    return weights.abs().sum((1, 2)) + biases.abs().sum(1)


@block_norms.mistake()
def signed_sum(weights, biases):
    """You added the gradients with their signs, so that they cancel. Square them first, and take
    the root of the sum."""
    return weights.sum((1, 2)) + biases.sum(1)


@block_norms.mistake()
def largest_gradient(weights, biases):
    """You took the largest gradient of each block. The norm adds the squares of all of them."""
    return torch.cat([weights.flatten(1), biases], 1).abs().amax(1)


@block_norms.mistake()
def all_blocks_together(weights, biases):
    """You added over the blocks too. Each block has its own norm: leave out axis 0."""
    total = (weights.square().sum() + biases.square().sum()).sqrt()
    return total.expand(len(weights))


@block_norms.mistake()
def one_number_for_all(weights, biases):
    """You returned one number for all blocks. Each block has its own norm: leave out axis 0."""
    return (weights.square().sum() + biases.square().sum()).sqrt()


schedule = CodeExercise(
    TOPIC,
    "schedule",
    inputs={
        f"step {step}, rate {rate:g}, warm-up {warm_up}": (step, rate, warm_up)
        for step, rate, warm_up in (
            (0, 1.0, 50),
            (24, 1.0, 50),
            (49, 1.0, 50),
            (50, 1.0, 50),
            (149, 1.0, 50),
            (0, 0.3, 1),
            (9, 3.0, 40),
            (19, 3.0, 40),
            (60, 3.0, 40),
            (5, 0.3, 10),
        )
    },
    hints=[
        "Which share of the full rate does step 0 get? And step `warm_up − 1`?",
        "`min` of 1 and that share stops the rise.",
    ],
)


@schedule.answer
def up_in_equal_steps(step, rate, warm_up):
    share = min(1, (step + 1) / warm_up)
    return rate * share


@schedule.mistake()
def starts_at_zero(step, rate, warm_up):
    """At step 0 your rate is 0, so the first step does nothing, and the last step of the warm-up
    doesn't reach the full rate. Count from 1: `step + 1`."""
    return rate * min(1, step / warm_up)


@schedule.mistake()
def never_stops(step, rate, warm_up):
    """Your rate goes on rising after the warm-up. It stops at `rate`."""
    return rate * (step + 1) / warm_up


@schedule.mistake()
def no_warm_up(step, rate, warm_up):
    """You give the full rate from the start. During the warm-up it rises to that."""
    return rate


@schedule.mistake()
def share_only(step, rate, warm_up):
    """You return the share of the rate. Multiply it by `rate`."""
    return min(1, (step + 1) / warm_up)


@schedule.mistake()
def at_least_the_rate(step, rate, warm_up):
    """You took `max` where the smaller one is needed. During the warm-up the share is below 1."""
    return rate * max(1, (step + 1) / warm_up)


@schedule.mistake()
def stops_at_one(step, rate, warm_up):
    """Your rate stops at 1, whatever `rate` is. Limit the share first, then multiply by `rate`."""
    return min(1, rate * (step + 1) / warm_up)


@schedule.mistake()
def falls_during_the_warm_up(step, rate, warm_up):
    """Your rate falls. A warm-up starts with small steps and ends with large ones."""
    return rate * max(0, 1 - (step + 1) / warm_up)


@schedule.mistake()
def upside_down(step, rate, warm_up):
    """Your fraction is upside down: divide the step by the warm-up."""
    return rate * min(1, warm_up / (step + 1))


@schedule.mistake()
def falls_again(step, rate, warm_up):
    """Your rate falls again after the warm-up, with the root of the step. Vaswani et al. 2017 do
    that. Here it stays at `rate`."""
    done = (step + 1) / warm_up
    return rate * min(done, done**-0.5)


stops_at = Prediction(
    TOPIC,
    "stops_at",
    answer=0.99,
    reason=(
        "It waits at the loss of the best constant answer: it gives nearly every row the mean "
        "target, and little else."
    ),
    wrong=[
        Wrong(0, "Then it would have learned the task. In these 100 steps it doesn't get there."),
        Wrong(
            0.57,
            "That is about where pre-LN is after the same steps. At this rate, post-LN waits at a "
            "larger loss.",
        ),
        Wrong(9, "It does find the common part. That lowers the loss by far the most."),
        Wrong(
            math.log(2),
            "That is the loss of guessing between two classes. Here the loss is a squared error, "
            "and the loss of a constant answer was printed above.",
        ),
    ],
    within=0.015,
    hints=[
        "In these steps it learns what all targets share, and no more. Which loss is left then?",
        "A number for that was printed a few cells above.",
    ],
)


still_needed = Prediction(
    TOPIC,
    "still_needed",
    answer="both",
    reason=(
        "The run without a warm-up ends about as low as the one with it. In this task it was the "
        "common part that made the first steps harmful."
    ),
    wrong=[
        Wrong(
            "with",
            "The run without a warm-up gets through as well: the first gradients no longer point "
            "the same way for all rows.",
        ),
        Wrong("without", "The run with a warm-up learns too. It only starts more slowly."),
        Wrong("neither", "Both learn. The task is easier than before, because a part is gone."),
    ],
    hints=[
        "What did the first step do when all targets shared a large part?",
        "If the rows ask for different things, does one step still push all of them the same way?",
    ],
)


runs_that_train = Prediction(
    TOPIC,
    "runs_that_train",
    answer=5,
    reason=(
        "At rate 0.1 all three train, at 0.3 the two with norms, and at 1 none. In this network "
        "norms widen the range of rates that work, but they don't make every rate work."
    ),
    wrong=[
        Wrong(9, "A norm doesn't make every rate work, and one of the three has no norm."),
        Wrong(
            6,
            "Perhaps you think that norms always train, and that nothing trains without. With a "
            "residual and a small rate the network without norms trains, and at rate 1 none does.",
        ),
        Wrong(3, "That is one rate for all three. There is a rate at which only norms help."),
        Wrong(
            4,
            "That leaves out the network without norms. At the smallest of these rates, four "
            "blocks with a residual train without any.",
        ),
        Wrong(7, "At rate 1 none of the three trains. Count the other two rates again."),
        Wrong(0, "Some of them train: the rate of the first lessons was 0.05."),
    ],
    hints=[
        "Four blocks aren't deep. At a small rate, does the residual alone get through?",
        "Norms help at larger rates. But is there any rate that is too large for them as well?",
    ],
)
