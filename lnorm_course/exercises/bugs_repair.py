"""Exercises on bugs in other people's layer norms: to find and to repair them."""

import torch
from torch.nn import Parameter

from lnorm_course.checking.class_attempts import Observation, Observed
from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import put_in_bank
from lnorm_course.checking.prediction import Prediction
from lnorm_course.checking.watching import FINISHED_NORMS
from lnorm_course.exercises.module import (
    BETA,
    GAMMA,
    OF_ANY_LAYER,
    TABLE,
    TARGETS,
    WIDE,
    WIDE_AFFINE,
    WIDE_TARGETS,
    WORDS,
)
from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.layer import WrongLayer, with_parameters
from lnorm_course.slips.models import LAST_AXIS
from lnorm_utils.data import normal

TOPIC = "bugs"
WIDE_WORDS = 0.02 * normal(2, 4, 6, seed=96).double() + 1

spread_of_4 = Prediction(
    answer=6,
    reason="The mean is 4, the squared deviations are 4, 4, 0 and 16, and 24 / 4 = 6.",
    wrong={
        8: Belief.VARIANCE_OVER_D_MINUS_1("You divided by D − 1 = 3. Layer norm divides by D."),
        6**0.5: "That is the standard deviation, the root of the variance.",
        24: "That is the sum of the squared deviations. Divide it by D.",
        22: "That is the mean of the squares. Subtract the mean before you square.",
        2: "You forgot to square. The deviations are −2, −2, 0 and 4.",
        4: "That is the mean.",
    },
    within=0.006,
    hints=["Find the mean first, then the four deviations.", "Square them, and average."],
)


gamma_shape = Prediction(
    answer=(2, 4),
    reason="γ has the shape that the layer was made with.",
    wrong={
        (4,): "The layer was made with two axes, and γ has both.",
        (5, 2, 4): "That is the shape of the input. All points share one γ.",
        (1,): Belief.SINGLE_GAMMA_AND_BETA(
            "γ isn't a single number. Each place in the normalized axes has its own."
        ),
        (8,): "There are 8 numbers, but γ keeps the two axes.",
        (5, 4): "The layer doesn't know how many points there are.",
        (2,): "That leaves out the last axis, the features.",
    },
    hints=["What is `normalized_shape` here?", "All 5 points are multiplied by the same γ."],
)


rows_changed = Prediction(
    answer=1,
    reason="Each row is normalized by itself, so only the row you changed comes out different.",
    wrong={
        32: Belief.OVER_THE_BATCH(
            "All rows would change if layer norm averaged over the batch. It averages over the "
            "features of each row."
        ),
        31: "Those are the rows that stay the same.",
        0: "The row you changed has another mean now, and its numbers come out different.",
    },
    hints=[
        "Which numbers enter the mean of row 3?",
        "Is a number of row 3 used for any other row?",
    ],
)


how_many_train = Prediction(
    answer=3,
    reason="A factor that is nearly the same for all rows doesn't stop the training. Only the "
    "layer that never divides leaves the loss at 0.69.",
    wrong={
        0: "Then every training run would be a test of the layer. Estimate for each mistake how "
        "much it changes a row with 64 features.",
        1: "More than one of these layers may train. Estimate for each mistake how much it changes "
        "a row.",
        2: "You may have taken one of the mistakes for a large one. With a variance near 1 and ε = "
        "1e-5, estimate how much each of them changes a row.",
        4: "You think that every one of these layers keeps the spread. Check that for each of "
        "them, because in lesson 2 the network failed when it shrank.",
    },
    hints=[
        "√(64/63) is about 1.008. Would a network notice that factor?",
        "In the plain network, differences shrink with each layer (lesson 2). Which of the four "
        "layers leaves the spread as it is?",
    ],
)


found = Prediction(
    answer=4 * 4 + 4,
    reason="16 in the matrix and 4 in its bias. The network doesn't find γ and β of `PlainNorm`.",
    wrong={
        4 * 4 + 4 + 4 + 4: Belief.ATTRIBUTES_ARE_TRAINED(
            "You counted γ and β. They are tensors in an ordinary class, and the network looks for "
            "parameters only in modules. It doesn't find them, whatever `requires_grad` says."
        ),
        4 * 4 + 4 + 4: Belief.ATTRIBUTES_ARE_TRAINED(
            "You counted γ, β, or both of them. They are tensors in an ordinary class and are not "
            "found, but all that `nn.Linear(4, 4)` holds is."
        ),
        4 * 4: "`nn.Linear(4, 4)` has a bias too.",
        4 + 4: "γ and β are 8 numbers, but they are not found. `nn.Linear(4, 4)` is: count its "
        "matrix and its bias.",
        2: "Two tensors are found, a matrix and a bias. Count the numbers in them.",
        0: "`PlainNorm` is not found, but `nn.Linear` is a module and is.",
    },
    hints=[
        "`parameters()` asks the network, and the network asks the modules in it. Is `PlainNorm` "
        "one?",
        "What is left is `nn.Linear(4, 4)`: a matrix and a bias.",
    ],
)


repair = CodeExercise(
    observations=[
        Observation(Observed.STARTS, 4, (0.1,), TABLE),
        Observation(Observed.OUTPUT, 4, (0.1,), TABLE),
        Observation(Observed.OUTPUT, 4, (0.1,), WORDS),
        Observation(Observed.PARAMETERS, 4, (0.1,), TABLE),
        Observation(Observed.OUTPUT_AFTER_LOADING, 4, (0.1,), WORDS, (GAMMA[0, 0], BETA[0, 0])),
        Observation(Observed.AFTER_A_STEP, 4, (0.1,), TABLE, (TARGETS,)),
        Observation(Observed.INPUT_GRADIENT, 4, (0.1,), TABLE, (TARGETS,)),
        Observation(Observed.OUTPUT_IN_EVAL, 4, (0.1,), TABLE),
        Observation(Observed.OUTPUT, 6, (0.1,), WIDE),
        Observation(Observed.OUTPUT_AFTER_LOADING, 6, (0.1,), WIDE_WORDS, WIDE_AFFINE),
        Observation(Observed.AFTER_A_STEP, 6, (0.1,), WIDE, (WIDE_TARGETS,)),
    ],
    norm=WrongLayer,
    layout=LAST_AXIS,
    within=1e-5,
    without=FINISHED_NORMS,
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
    answer=5,
    reason="`range(x.ndim)` gives all axes, and the batch is one of them. With a single row it "
    "makes no difference, so a test with one row doesn't see it.",
    wrong={
        1: "Line 1 is needed: without it, a module can't register parameters.",
        2: "Line 2 is right: one γ for each feature, starting at 1.",
        3: "Line 3 is right: one β for each feature, starting at 0.",
        4: "Line 4 is right: ε isn't a parameter, so it is kept as it is.",
        6: "Close: the mean does run over the batch. But line 6 only uses the axes it is given. "
        "Look where they come from.",
        7: "Line 7 subtracts the mean first and divides by how many numbers there are, as layer "
        "norm does. It only uses the axes it is given.",
        8: "Line 8 is right: ε is added to the variance, inside the root.",
    },
    hints=[
        "Give it one row alone, then the same row among others. Which line lets the others in?",
        "Follow the axes. Which of them is the batch, and which line includes it?",
    ],
)


line_b = Prediction(
    answer=4,
    reason="Line 4 fills the new shape in reading order, so a row holds several pixels of one "
    "channel. `x.reshape(n, c, h * w).transpose(1, 2)` would be right.",
    wrong={
        1: "Line 1 is needed: without it, a module can't register another one.",
        2: "Line 2 is right: each pixel is a row, and its channels are the features. So the layer "
        "norm has the size of the channels.",
        3: "Line 3 only reads the four sizes.",
        5: "Line 5 normalizes the rows it gets. Check whether these rows are pixels.",
        6: "Line 6 swaps two axes with `transpose`, as it should be. Another line swaps them with "
        "something else.",
        7: "Line 7 only splits the last axis, h · w, into two. The order of the numbers stays, and "
        "that is what `reshape` is for. Another line uses it to swap axes.",
    },
    hints=[
        "Follow one number, for example channel 1 of the first pixel. In which row does it land?",
        "`reshape` can split an axis or join two neighbors. One line uses it for something else.",
    ],
)


put_in_bank(TOPIC, vars(), further=("found", "repair"))
