"""Exercises on what a network doesn't notice, and on the relatives of layer norm."""

from lnorm_utils.beliefs import Belief
from lnorm_utils.examples import normal
from lnorm_utils.exercises.engine.code_exercise import CodeExercise
from lnorm_utils.exercises.engine.prediction import Prediction, Wrong

TOPIC = "invariances"
POINTS = normal(8, 5, seed=1).double()
MATRIX = normal(6, 5, seed=2).double()
# As many outputs as inputs, so that a wrong axis fits as well, and is wrong.
SQUARE = normal(5, 5, seed=3).double() + 0.5
# Means that aren't zero, and rows so narrow that an ε shows.
ROWS = normal(8, 6, seed=4).double() + 1
NARROW = 0.1 * normal(5, 5, seed=5).double() + 0.1

# About lessons 3, 5, and 6.
five_x = Prediction(
    TOPIC,
    "five_x",
    answer=0.8,
    reason="The 5 cancels, because the standard deviation is five times as large too. The − 3 is "
    "subtracted with the mean.",
    wrong=[
        Wrong(4, "The standard deviation also becomes five times as large, so the 5 cancels."),
        Wrong(1, "That's 5 · 0.8 − 3. Layer norm comes last, and takes both away."),
        Wrong(-0.8, "A positive factor keeps the signs. Only a negative one turns them around."),
        Wrong(0.8 - 3, "The − 3 is part of the mean, and the mean is subtracted."),
        Wrong(0.16, "You divided by 5. The standard deviation does that, and the row had times 5."),
    ],
    hints=[
        "What happens to a mean and to a standard deviation if you add a number to all features?",
        "What happens to both if you multiply all features by 5?",
    ],
)


columns = Prediction(
    TOPIC,
    "columns",
    answer=8,
    reason="One for each feature, taken over the 32 points.",
    wrong=[
        Wrong(32, "That's one for each point, as layer norm takes it."),
        Wrong(1, "That would be one mean of all numbers. Each feature has its own."),
        Wrong(256, "That's how many numbers there are. 32 of them share a mean."),
        Wrong(40, "Those are the means of batch norm and of layer norm together."),
    ],
    hints=["Which numbers are alike for batch norm?", "A mean over the batch: one for each what?"],
)


len_64 = Prediction(
    TOPIC,
    "len_64",
    answer=8,
    reason="The squares of a standardized row add up to D = 64, so its length is √64.",
    wrong=[
        Wrong(64, "That's what the squares add up to. The length is the root of it."),
        Wrong(1, "That's the standard deviation. The length has 64 squares under the root."),
        Wrong(0, "The features add up to 0. The length is the root of the sum of their squares."),
        Wrong(62**0.5, "D − 2 is how many dimensions are left. The length is that of D features."),
        Wrong(63**0.5, "You divided by D − 1 in the variance. Layer norm divides by D."),
    ],
    hints=[
        "The variance is the mean of the squares, and it's 1. What is their sum?",
        "The length is the root of the sum of the squares.",
    ],
)


by_ten = Prediction(
    TOPIC,
    "by_ten",
    answer="no norm",
    reason="Each layer norm divides the 10 away again.",
    wrong=[
        Wrong(
            "both",
            "Each layer norm divides by the standard deviation of the row, which is ten times as "
            "large too.",
        ),
        Wrong("neither", "Without a norm, nothing divides the 10 away. Each layer multiplies."),
        Wrong(
            "layer norm",
            "It's the other way around: a norm divides by the standard deviation of the row.",
        ),
    ],
    hints=[
        "What does a layer norm make of a row, and of ten times that row?",
        "The ReLU of 10 · a is 10 times the ReLU of a. What do eight such layers do?",
    ],
)


unit_w = CodeExercise(
    TOPIC,
    "unit_w",
    inputs={
        "the points and weights of this lesson": (POINTS, MATRIX),
        "a layer from five features to five": (POINTS, SQUARE),
    },
    hints=[
        "The weight vector of one output is one row of the matrix. Along which axis do you sum?",
        "`matrix.norm(dim=…, keepdim=True)` is a length. With it you get a new matrix, and the "
        "rest is `x @ … .T`.",
    ],
)


@unit_w.answer
def each_vector_by_its_length(x, matrix):
    return x @ (matrix / matrix.norm(dim=1, keepdim=True)).T


@unit_w.mistake()
def lengths_of_columns(x, matrix):
    """You divided by the lengths of the columns. The weights of one output are a row of W
    (`dim=1`)."""
    return x @ (matrix / matrix.norm(dim=0, keepdim=True)).T


@unit_w.mistake()
def lengths_without_an_axis(x, matrix):
    """Your lengths have lost their axis. PyTorch then lines them up with the columns of W. Keep it,
    with size 1 (`keepdim=True`)."""
    return x @ (matrix / matrix.norm(dim=1)).T


@unit_w.mistake()
def not_transposed(x, matrix):
    """You multiplied by W as it is. Each output is a weight vector times x, and with the points in
    front that's `x @ … .T`."""
    return x @ (matrix / matrix.norm(dim=1, keepdim=True))


@unit_w.mistake()
def one_length(x, matrix):
    """You divided by one length for the whole matrix. Each output has a weight vector with a length
    of its own."""
    return x @ (matrix / matrix.norm()).T


@unit_w.mistake()
def squared_length(x, matrix):
    """You divided by the sum of the squares. The length is the root of it."""
    return x @ (matrix / matrix.square().sum(1, keepdim=True)).T


@unit_w.mistake()
def root_mean_square(x, matrix):
    """You divided by the root of the mean of the squares. The length is the root of their sum."""
    return x @ (matrix / matrix.square().mean(1, keepdim=True).sqrt()).T


@unit_w.mistake()
def sum_of_sizes(x, matrix):
    """You divided by the sum of the absolute values. The length is the root of the sum of the
    squares."""
    return x @ (matrix / matrix.abs().sum(1, keepdim=True)).T


@unit_w.mistake()
def standardized_weights(x, matrix):
    """You subtracted the mean of each weight vector too. Weight norm only divides."""
    centered = matrix - matrix.mean(1, keepdim=True)
    return x @ (centered / centered.norm(dim=1, keepdim=True)).T


@unit_w.mistake()
def no_norm_at_all(x, matrix):
    """That's the layer without a norm. Divide each weight vector by its length first."""
    return x @ matrix.T


@unit_w.mistake()
def normed_outputs(x, matrix):
    """You divided the outputs by their length. Weight norm divides the weights, and doesn't look at
    the points."""
    outputs = x @ matrix.T
    return outputs / outputs.norm(dim=1, keepdim=True)


@unit_w.mistake()
def points_too(x, matrix):
    """You divided the points by their lengths as well. Weight norm leaves them as they are."""
    return (x / x.norm(dim=1, keepdim=True)) @ (matrix / matrix.norm(dim=1, keepdim=True)).T


unseen = Prediction(
    TOPIC,
    "unseen",
    answer=4,
    reason="It notices a change of one weight vector, and a shift of all points.",
    wrong=[
        Wrong(
            6,
            "Layer norm notices some of them. Ask of each whether it does the same to all six "
            "outputs of a point.",
            Belief.WEIGHTS_AND_DATA_ALIKE,
        ),
        Wrong(
            5,
            "Layer norm isn't batch norm, and isn't weight norm: think of `one weight vector × 3`, "
            "and of `x + c`.",
            Belief.WEIGHTS_AND_DATA_ALIKE,
        ),
        Wrong(
            3,
            "Look again at `W + c`, which adds the same number to all six outputs of a point, and "
            "at `one point × 3`, which multiplies all six.",
        ),
        Wrong(
            2,
            "Either you counted those that it notices, or you missed some that do the same to all "
            "six outputs of a point.",
        ),
        Wrong(1, "There are more: whatever adds or multiplies a whole row of outputs goes away."),
        Wrong(0, "Ten times W went unnoticed above."),
    ],
    hints=[
        "Ask each time: what happens to the six outputs of one point?",
        "If all six get the same factor, or the same number added, layer norm takes it away.",
    ],
)


share = Prediction(
    TOPIC,
    "share",
    answer=0.5,
    reason="That's guessing. What's left of a point is its direction, and both rings have points "
    "in all directions.",
    wrong=[
        Wrong(
            1,
            "With the bias that's the share. Without it the first norm takes away how far a point "
            "is from the origin, and nothing after it can bring that back.",
            Belief.NOTHING_IS_LOST,
        ),
        Wrong(
            0.8,
            "Only the direction of a point is left, and both rings have points in all directions.",
        ),
        Wrong(0.7, "The first norm leaves only the direction, which says nothing about the ring."),
        Wrong(0, "Half of the points lie on each ring, so even a guess is right sometimes."),
        Wrong(50, "Give it as a share between 0 and 1."),
    ],
    within=0.04,
    hints=[
        "What does the first norm make of W x and of W · 2x?",
        "In which way do the two rings differ, in the direction of their points or in the length?",
    ],
)


root_ms = CodeExercise(
    TOPIC,
    "root_ms",
    inputs={
        "eight rows of six features with ε = 0.1": (ROWS, 0.1),
        "narrow rows with ε = 0.01": (NARROW, 0.01),
    },
    hints=[
        "Square the features of each row, take the mean, add ε, and take the root.",
        "Nothing is subtracted. Keep the averaged axis, so that the division broadcasts.",
    ],
)


@root_ms.answer
def over_the_root_of_the_mean_square(a, eps):
    return a / (a.square().mean(dim=-1, keepdim=True) + eps).sqrt()


@root_ms.mistake()
def layer_norm_itself(a, eps):
    """That's layer norm. RMSNorm subtracts no mean, neither from the row nor inside the root."""
    centered = a - a.mean(-1, keepdim=True)
    return centered / (centered.square().mean(-1, keepdim=True) + eps).sqrt()


@root_ms.mistake()
def over_the_deviation(a, eps):
    """You divided by the standard deviation. RMSNorm squares the features themselves, and not their
    distances from the mean."""
    return a / (a.var(-1, correction=0, keepdim=True) + eps).sqrt()


@root_ms.mistake()
def centered_above(a, eps):
    """You subtracted the mean of the row. RMSNorm only divides."""
    return (a - a.mean(-1, keepdim=True)) / (a.square().mean(-1, keepdim=True) + eps).sqrt()


@root_ms.mistake()
def without_eps(a, eps):
    """You left out ε. It's added to the mean of the squares, inside the root."""
    return a / a.square().mean(-1, keepdim=True).sqrt()


@root_ms.mistake(Belief.EPS_OUTSIDE_THE_ROOT)
def eps_outside(a, eps):
    """You added ε outside the root. It's added inside, to the mean of the squares."""
    return a / (a.square().mean(-1, keepdim=True).sqrt() + eps)


@root_ms.mistake()
def sum_of_squares(a, eps):
    """You took the sum of the squares. RMSNorm takes their mean, so divide by D."""
    return a / (a.square().sum(-1, keepdim=True) + eps).sqrt()


@root_ms.mistake(Belief.VARIANCE_OVER_D_MINUS_1)
def over_d_minus_1(a, eps):
    """You divided the sum of the squares by D − 1. RMSNorm divides it by D."""
    return a / (a.square().sum(-1, keepdim=True) / (a.shape[-1] - 1) + eps).sqrt()


@root_ms.mistake()
def without_the_root(a, eps):
    """You left out the root."""
    return a / (a.square().mean(-1, keepdim=True) + eps)


@root_ms.mistake()
def square_of_the_mean(a, eps):
    """You squared the mean. Square the features first, then take the mean."""
    return a / (a.mean(-1, keepdim=True).square() + eps).sqrt()


@root_ms.mistake()
def root_without_an_axis(a, eps):
    """Your mean has lost its axis. PyTorch then lines the roots up with the features. Keep it, with
    size 1 (`keepdim=True`)."""
    return a / (a.square().mean(-1) + eps).sqrt()


@root_ms.mistake(Belief.OVER_THE_BATCH)
def over_the_points(a, eps):
    """You averaged over the points. Each row has a root of its own (`dim=-1`)."""
    return a / (a.square().mean(0, keepdim=True) + eps).sqrt()


@root_ms.mistake()
def one_root_for_all(a, eps):
    """You divided by one root for the whole tensor. Each row has its own (`dim=-1`)."""
    return a / (a.square().mean() + eps).sqrt()


@root_ms.mistake()
def layer_norm_as_often_written(a, eps):
    """That's a layer norm, with D − 1 in its variance and ε outside the root. RMSNorm subtracts no
    mean, neither from the row nor inside the root."""
    return (a - a.mean(-1, keepdim=True)) / (a.std(-1, keepdim=True) + eps)


@root_ms.mistake()
def over_the_length(a, eps):
    """You divided by the length of each row, and added no ε. The sum of the squares is divided by D
    first, and then ε is added."""
    return a / a.norm(dim=-1, keepdim=True)


@root_ms.mistake()
def over_torchs_std(a, eps):
    """You divided by what `std` returns, plus ε. It subtracts the mean inside, and RMSNorm doesn't.
    And ε is added under the root."""
    return a / (a.std(-1, keepdim=True) + eps)


only_rms = Prediction(
    TOPIC,
    "only_rms",
    answer="W + c",
    reason="It adds the same number to all outputs of a point. Layer norm subtracts that with the "
    "mean, and RMSNorm has no mean.",
    wrong=[
        Wrong("3 W", "That's a factor for the whole row, and the root has it too, so it cancels."),
        Wrong(
            "3 x",
            "That's a factor for the whole row, and the root has it too, so it cancels "
            "here as well.",
        ),
        Wrong("one point × 3", "The root is taken for each point by itself, so the 3 cancels."),
        Wrong("x + c", "RMSNorm notices it, but layer norm does too: W c differs between outputs."),
        Wrong("one weight vector × 3", "RMSNorm notices it, and layer norm does too."),
        Wrong("none", "There's one. Think of what subtracting the mean takes away."),
    ],
    hints=[
        "The two norms differ in the mean. What does subtracting it take away from a row?",
        "Which of the six changes adds the same number to all six outputs of a point?",
    ],
)


alike = CodeExercise(
    TOPIC,
    "alike",
    inputs={
        "the weights of this lesson": (MATRIX,),
        "a layer from five features to five": (SQUARE,),
    },
    hints=[
        "The mean of a point's outputs is the mean over the rows of W, times x.",
        "Subtract something from W such that the outputs of each point add up to 0.",
    ],
)


@alike.answer
def without_the_mean_weight_vector(matrix):
    return matrix - matrix.mean(dim=0, keepdim=True)


@alike.mistake()
def unchanged(matrix):
    """That's W as it was. The outputs then have a mean, and RMSNorm doesn't subtract it."""
    return matrix


@alike.mistake()
def mean_of_each_vector(matrix):
    """You subtracted the mean of each weight vector. The mean of the outputs runs over the outputs,
    and those are the rows of W (`dim=0`)."""
    return matrix - matrix.mean(1, keepdim=True)


@alike.mistake()
def mean_of_each_vector_without_an_axis(matrix):
    """Your mean runs along each weight vector, and has lost its axis. The mean of the outputs runs
    over the outputs (`dim=0`)."""
    return matrix - matrix.mean(1)


@alike.mistake()
def one_mean(matrix):
    """You subtracted one mean of all weights. Each input feature has a mean of its own, over the
    outputs."""
    return matrix - matrix.mean()


@alike.mistake()
def mean_added(matrix):
    """You added the mean. Subtract it."""
    return matrix + matrix.mean(0, keepdim=True)


@alike.mistake()
def sum_subtracted(matrix):
    """You subtracted the sum over the outputs. Divide it by their number."""
    return matrix - matrix.sum(0, keepdim=True)


@alike.mistake()
def only_the_mean(matrix):
    """That's what must go away. Subtract it from W."""
    return matrix.mean(0, keepdim=True).expand_as(matrix)


@alike.mistake()
def both_means(matrix):
    """You subtracted the mean of each weight vector too. Only the mean over the outputs has to
    go."""
    centered = matrix - matrix.mean(0, keepdim=True)
    return centered - centered.mean(1, keepdim=True)


@alike.mistake()
def standardized(matrix):
    """You also divided by a standard deviation. RMSNorm divides, and it does so for each point."""
    centered = matrix - matrix.mean(0, keepdim=True)
    return centered / centered.square().mean(0, keepdim=True).sqrt()


in_two = Prediction(
    TOPIC,
    "in_two",
    answer=4,
    reason="One for each of the two groups in each of the two images.",
    wrong=[
        Wrong(
            2,
            "That's one for each group, or one for each image. Each group of each image has "
            "its own.",
        ),
        Wrong(8, "That's one for each channel of each image, as InstanceNorm takes it."),
        Wrong(
            12, "That's one for each pixel of each image, as layer norm over the channels takes it."
        ),
        Wrong(24, "Each pixel would have two groups then. A group has all pixels of its channels."),
        Wrong(48, "That's how many numbers there are. Twelve of them share a mean."),
    ],
    hints=[
        "Two of the four channels make a group, with all of their pixels.",
        "How many groups does an image have, and how many images are there?",
    ],
)


flatter = Prediction(
    TOPIC,
    "flatter",
    answer=0.1,
    reason="A step of ten times the size changes the direction of 10 W as much, so the slope is a "
    "tenth.",
    wrong=[
        Wrong(
            10,
            "You may have thought of the outputs without a norm. Here they don't change, "
            "but each weight is ten times as long.",
        ),
        Wrong(
            1,
            "The loss is the same, but the gradient isn't: W is ten times as far from the origin.",
        ),
        Wrong(
            0.01,
            "Two things make 10 W slower. This question is about the gradient only.",
        ),
        Wrong(
            100,
            "The loss is the same at both places. Ask how far you have to go for the same "
            "change of direction.",
        ),
        Wrong(0, "At right angles to W there's still a slope, and it's not flat."),
    ],
    hints=[
        "L(10 W) = L(W). Take the derivative with respect to W on both sides.",
        "On the left the chain rule gives a factor of 10. What's the gradient at 10 W then?",
    ],
)


faster = Prediction(
    TOPIC,
    "faster",
    answer=100,
    reason="The gradient is a tenth, and the step has to be ten times as long.",
    wrong=[
        Wrong(
            10,
            "That only makes up for the gradient, which is a tenth. The step also has to be "
            "ten times as long, because W is.",
        ),
        Wrong(1, "With the same rate the direction of 10 W turns far more slowly."),
        Wrong(0.1, "A smaller rate makes it worse: both the gradient and the turn are too small."),
        Wrong(
            0.01, "It's the other way around: 10 W turns more slowly, so it needs a larger rate."
        ),
        Wrong(1000, "Count again: the gradient is shorter, and W is longer."),
    ],
    hints=[
        "To turn 10 W by the same angle, how much longer must a step be?",
        "And by how much is the gradient shorter? Multiply the two.",
    ],
)


decayed = Prediction(
    TOPIC,
    "decayed",
    answer=1,
    reason="Layer norm divides by the standard deviation, and that has shrunk as much.",
    wrong=[
        Wrong(
            0.99**100,
            "That's what's left of W. The outputs are those of layer norm, which divides by the "
            "standard deviation.",
            Belief.DECAY_SHRINKS_THE_FUNCTION,
        ),
        Wrong(
            0.99,
            "One step shrinks W to that. Layer norm doesn't notice a factor that all weights have.",
            Belief.DECAY_SHRINKS_THE_FUNCTION,
        ),
        Wrong(
            0,
            "Each step takes away 1 % of what is left, not of the beginning. And layer norm "
            "doesn't notice such a factor at all.",
            Belief.DECAY_SHRINKS_THE_FUNCTION,
        ),
        Wrong(
            0.99**200,
            "That's what's left of the squares of W. Layer norm divides by the standard deviation, "
            "which shrinks with W.",
            Belief.DECAY_SHRINKS_THE_FUNCTION,
        ),
    ],
    within=0.001,
    hints=[
        "One hundred steps multiply W by 0.99 each. Is that one of the six changes?",
        "What does layer norm do with a factor that all weights have?",
    ],
)
