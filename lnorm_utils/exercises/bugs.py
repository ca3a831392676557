"""Exercises on bugs in other people's layer norms."""

import torch
from torch.nn import Parameter

from lnorm_utils.beliefs import Belief
from lnorm_utils.examples import normal
from lnorm_utils.exercises.engine.class_attempts import Observation, Observed
from lnorm_utils.exercises.engine.code_exercise import CodeExercise
from lnorm_utils.exercises.engine.prediction import Prediction, Wrong
from lnorm_utils.exercises.module import (
    BETA,
    GAMMA,
    OF_ANY_LAYER,
    TABLE,
    TARGETS,
    WORDS,
    with_parameters,
)
from lnorm_utils.slips import LastAxes, WrongLayer

TOPIC = "bugs"
WIDE = normal(5, 6, seed=91).double() + 2  # for γ and β of a size of their own

spread_of_4 = Prediction(
    TOPIC,
    "spread_of_4",
    answer=6,
    reason="The mean is 4, the squared deviations are 4, 4, 0 and 16, and 24 / 4 = 6.",
    wrong=[
        Wrong(
            8,
            "You divided by D − 1 = 3. Layer norm divides by D.",
            Belief.VARIANCE_OVER_D_MINUS_1,
        ),
        Wrong(6**0.5, "That is the standard deviation, the root of the variance."),
        Wrong(24, "That is the sum of the squared deviations. Divide it by D."),
        Wrong(22, "That is the mean of the squares. Subtract the mean before you square."),
        Wrong(2, "You forgot to square. The deviations are −2, −2, 0 and 4."),
        Wrong(4, "That is the mean."),
    ],
    within=0.006,
    hints=["Find the mean first, then the four deviations.", "Square them, and average."],
)


gamma_shape = Prediction(
    TOPIC,
    "gamma_shape",
    answer=(2, 4),
    reason="γ has the shape that the layer was made with.",
    wrong=[
        Wrong((4,), "The layer was made with two axes, and γ has both."),
        Wrong((5, 2, 4), "That is the shape of the input. All points share one γ."),
        Wrong(
            (1,),
            "γ isn't a single number. Each place in the normalized axes has its own.",
            Belief.SINGLE_GAMMA_AND_BETA,
        ),
        Wrong((8,), "There are 8 numbers, but γ keeps the two axes."),
        Wrong((5, 4), "The layer doesn't know how many points there are."),
        Wrong((2,), "That leaves out the last axis, the features."),
    ],
    hints=["What is `normalized_shape` here?", "All 5 points are multiplied by the same γ."],
)


rows_changed = Prediction(
    TOPIC,
    "rows_changed",
    answer=1,
    reason="Each row is normalized by itself, so only the row you changed comes out different.",
    wrong=[
        Wrong(
            32,
            "All rows would change if layer norm averaged over the batch. It averages over the "
            "features of each row.",
            Belief.OVER_THE_BATCH,
        ),
        Wrong(31, "Those are the rows that stay the same."),
        Wrong(
            0,
            "The row you changed has another mean now, and its numbers come out different.",
        ),
    ],
    hints=[
        "Which numbers enter the mean of row 3?",
        "Is a number of row 3 used for any other row?",
    ],
)


how_many_train = Prediction(
    TOPIC,
    "how_many_train",
    answer=3,
    reason=(
        "A factor that is nearly the same for all rows doesn't stop the training. Only the layer "
        "that never divides leaves the loss at 0.69."
    ),
    wrong=[
        Wrong(
            0,
            "Then every training run would be a test of the layer. Three of these mistakes change "
            "the numbers so little that the network learns all the same.",
        ),
        Wrong(
            1,
            "More than one trains. Estimate for each mistake how much it changes a row with 64 "
            "features.",
        ),
        Wrong(
            2,
            "One more trains. With a variance near 1 and ε = 1e-5, three of these layers return "
            "almost the right numbers.",
        ),
        Wrong(
            4,
            "One doesn't. In lesson 2, the spread shrank from layer to layer, and one of the four "
            "lets it shrink.",
        ),
    ],
    hints=[
        "√(64/63) is about 1.008. Would a network notice that factor?",
        "The plain network fails because the spread shrinks tenfold a layer. Which of the four "
        "layers leaves the spread as it is?",
    ],
)


found = Prediction(
    TOPIC,
    "found",
    answer=4 * 4 + 4,
    reason="16 in the matrix and 4 in its bias. The network doesn't find γ and β of `PlainNorm`.",
    wrong=[
        Wrong(
            4 * 4 + 4 + 4 + 4,
            "You counted γ and β. They are tensors in an ordinary class, and the network looks "
            "for parameters only in modules. It doesn't find them, whatever `requires_grad` says.",
            Belief.ATTRIBUTES_ARE_TRAINED,
        ),
        Wrong(
            4 * 4 + 4 + 4,
            "Either you counted γ or β beside the linear layer, or both in place of its bias. "
            "They are tensors in an ordinary class and are not found; the bias of "
            "`nn.Linear(4, 4)` is.",
            Belief.ATTRIBUTES_ARE_TRAINED,
        ),
        Wrong(4 * 4, "`nn.Linear(4, 4)` has a bias too, of four numbers."),
        Wrong(
            4 + 4,
            "γ and β are 8 numbers, but they are not found. `nn.Linear(4, 4)` is: count its matrix "
            "and its bias.",
        ),
        Wrong(2, "Two tensors are found, a matrix and a bias. Count the numbers in them."),
        Wrong(0, "`PlainNorm` is not found, but `nn.Linear` is a module and is."),
    ],
    hints=[
        "`parameters()` asks the network, and the network asks the modules in it. Is `PlainNorm` "
        "one?",
        "What is left is `nn.Linear(4, 4)`: a matrix and a bias.",
    ],
)


repair = CodeExercise(
    TOPIC,
    "repair",
    observations=[
        Observation(Observed.STARTS, 4, (0.1,), TABLE),
        Observation(Observed.OUTPUT, 4, (0.1,), TABLE),
        Observation(Observed.OUTPUT, 4, (0.1,), WORDS),
        Observation(Observed.PARAMETERS, 4, (0.1,), TABLE),
        Observation(Observed.OUTPUT_AFTER_LOADING, 4, (0.1,), WORDS, (GAMMA[0, 0], BETA[0, 0])),
        Observation(Observed.AFTER_A_STEP, 4, (0.1,), TABLE, (TARGETS,)),
        Observation(Observed.INPUT_GRADIENT, 4, (0.1,), TABLE, (TARGETS,)),
        Observation(Observed.OUTPUT, 6, (0.1,), WIDE),
    ],
    norm=WrongLayer,
    layout=LastAxes(),
    within=1e-5,
    hints=[
        "What does `SmallLayerNorm` of lesson 8 have that `PlainNorm` doesn't? Three things.",
        "The class in brackets, the call of `super()`, and what γ and β are wrapped in.",
    ],
)


@repair.answer
class RepairedNorm(torch.nn.Module):
    """One step of gradient descent moved all four γ and all four β."""

    def __init__(self, size, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = torch.nn.Parameter(torch.ones(size))
        self.bias = torch.nn.Parameter(torch.zeros(size))

    def forward(self, x):
        centered = x - x.mean(-1, keepdim=True)
        var = centered.square().mean(-1, keepdim=True)
        return self.weight * centered / (var + self.eps).sqrt() + self.bias


for _mistake, _belief in OF_ANY_LAYER:
    repair.mistake(_belief)(_mistake)


@repair.mistake()
def always_four(norm, size, *options):
    """Your γ has 4 numbers, whatever `size` is. Give `size` to `torch.ones`, and for β to
    `torch.zeros`."""
    change = {"weight": torch.ones(4), "bias": torch.zeros(4)}
    layer = with_parameters(norm, (size, *options), lambda name, v: (name, Parameter(change[name])))

    def multiply(module, given):
        layer.weight * given[0]  # γ first, as in the lesson: so the error names the sizes

    layer.register_forward_pre_hook(multiply)
    return layer


line_a = Prediction(
    TOPIC,
    "line_a",
    answer=5,
    reason=(
        "`range(x.ndim)` gives all axes, and the batch is one of them. With a single row it makes "
        "no difference, so a test with one row doesn't see it."
    ),
    wrong=[
        Wrong(1, "Line 1 is needed: without it, a module can't register parameters."),
        Wrong(2, "Line 2 is right: one γ for each feature, starting at 1."),
        Wrong(3, "Line 3 is right: one β for each feature, starting at 0."),
        Wrong(4, "Line 4 is right: ε isn't a parameter, so it is kept as it is."),
        Wrong(
            6,
            "Close: the mean does run over the batch. But line 6 only uses the axes it is given. "
            "Look where they come from.",
        ),
        Wrong(
            7,
            "Line 7 subtracts the mean first and divides by how many numbers there are, as layer "
            "norm does. It only uses the axes it is given.",
        ),
        Wrong(8, "Line 8 is right: ε is added to the variance, inside the root."),
    ],
    hints=[
        "Give it one row alone, then the same row among others. Which line lets the others in?",
        "Follow the axes. Which of them is the batch, and which line includes it?",
    ],
)


line_b = Prediction(
    TOPIC,
    "line_b",
    answer=4,
    reason=(
        "Line 4 fills the new shape in reading order, so a row holds several pixels of one "
        "channel. `x.reshape(n, c, h * w).transpose(1, 2)` would be right."
    ),
    wrong=[
        Wrong(1, "Line 1 is needed: without it, a module can't register another one."),
        Wrong(
            2,
            "Line 2 is right: each pixel is a row, and its channels are the features. So the layer "
            "norm has the size of the channels.",
        ),
        Wrong(3, "Line 3 only reads the four sizes."),
        Wrong(5, "Line 5 normalizes the rows it gets. Check whether these rows are pixels."),
        Wrong(
            6,
            "Line 6 swaps two axes with `transpose`, as it should be. Another line swaps them "
            "with something else.",
        ),
        Wrong(
            7,
            "Line 7 only splits the last axis, h · w, into two. The order of the numbers stays, "
            "and that is what `reshape` is for. Another line uses it to swap axes.",
        ),
    ],
    hints=[
        "Follow one number, for example channel 1 of the first pixel. In which row does it land?",
        "`reshape` can split an axis or join two neighbors. One line uses it for something else.",
    ],
)


class TriedLayer:
    """A layer without parameters that is tried out, whose name an error message can tell."""

    def __init__(self, name, axes, factor=1.0, eps=1e-5, rounding=0.0):
        self.name, self.axes, self.factor = name, axes, factor
        self.eps, self.rounding = eps, rounding

    def __call__(self, x):
        centered = x - x.mean(self.axes, keepdim=True)
        var = centered.square().mean(self.axes, keepdim=True)
        return self.factor * centered / (var + self.eps).sqrt() + self.rounding * len(x)

    def __repr__(self):
        return self.name


row_alone = CodeExercise(
    TOPIC,
    "row_alone",
    inputs={
        layer.name: (layer, TABLE)
        for layer in (
            TriedLayer("layer norm", (-1,)),
            TriedLayer("a mean over the batch too", (0, 1)),
            TriedLayer("batch norm", (0,)),
            TriedLayer("layer norm with γ = 2", (-1,), factor=2.0),
            TriedLayer("layer norm with γ = −1", (-1,), factor=-1.0, eps=1e-12),
            TriedLayer("layer norm that rounds in another way", (-1,), eps=1e-12, rounding=1e-14),
        )
    },
    hints=[
        "Call the layer twice: with the table, and with a table that holds row 0 only.",
        "`x[:1]` keeps the batch axis. Compare row 0 of both outputs with `torch.allclose`.",
    ],
)


@row_alone.answer
def row_0_is_the_same_alone(layer, x):
    alone, among_others = layer(x[:1])[0], layer(x)[0]
    return torch.allclose(alone, among_others)


@row_alone.mistake()
def compared_with_the_right_one(layer, x):
    """You compared the layer with layer norm. A layer with another γ isn't layer norm, but each of
    its rows is computed alone. Compare the layer with itself."""
    return torch.allclose(layer(x), torch.nn.functional.layer_norm(x, x.shape[-1:]))


@row_alone.mistake()
def always_true(layer, x):
    """You call every layer right: you compared either the shapes only, or an output with itself.
    Compare the numbers of `layer(x[:1])` with those of `layer(x)`."""
    return layer(x[:1]).shape[-1:] == layer(x).shape[-1:]


@row_alone.mistake()
def to_the_last_bit(layer, x):
    """You asked for equality to the last bit. A layer may round differently when there are more
    rows, so use `torch.allclose`."""
    return torch.equal(layer(x[:1])[0], layer(x)[0])


@row_alone.mistake()
def the_other_way_around(layer, x):
    """You return True where the two differ, and False where they agree. It's the other way
    around."""
    return not torch.allclose(layer(x[:1])[0], layer(x)[0])


@row_alone.mistake()
def mean_and_variance_checked(layer, x):
    """You checked whether a row has mean 0 and variance 1. A layer with γ = 2 gives another
    variance, and each of its rows is computed alone all the same."""
    row = layer(x)[0]
    return bool(row.mean().abs() < 1e-3 and (row.var(correction=0) - 1).abs() < 1e-3)


@row_alone.mistake()
def compared_with_other_numbers(layer, x):
    """You call every layer wrong: you compared row 0 either with all rows, or with the input.
    Compare it with row 0 of the other output."""
    return torch.allclose(layer(x[:1])[0], layer(x))


caught_plain = Prediction(
    TOPIC,
    "caught_plain",
    answer=2,
    reason=(
        "`LayerA` mixes the rows, and D − 1 in place of D is a factor of √(4/3). The other two "
        "differ by less than 1e-4 on these rows."
    ),
    wrong=[
        Wrong(0, "Two mistakes change these numbers by far more than 1e-4: both act on every row."),
        Wrong(1, "One more is caught. With D = 4, dividing by D − 1 makes a large difference."),
        Wrong(
            3,
            "One less is caught. ε is 1e-5 here, beside variances of 0.05 and more, and the "
            "numbers are near zero, so that E[x²] − E[x]² rounds well.",
        ),
        Wrong(
            4,
            "Two pass. ε is 1e-5 here, beside variances of 0.05 and more, and the numbers are near "
            "zero, so that E[x²] − E[x]² rounds well.",
            Belief.ONE_PASS_IS_AS_GOOD,
        ),
    ],
    hints=[
        "ε = 1e-5 is small beside the variances of these rows. Does it matter where you add it?",
        "When does E[x²] − E[x]² lose digits? Are these rows far from zero?",
    ],
)
