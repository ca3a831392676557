"""Exercises of lesson 8, the layer norm as a module."""

import torch

import lnorm_utils.slips as slips
from lnorm_utils.examples import encoded_points, normal
from lnorm_utils.exercises.beliefs import Belief
from lnorm_utils.exercises.engine.class_attempts import Observation, Observed
from lnorm_utils.exercises.engine.exercise import Exercise
from lnorm_utils.functional import layer_norm, standardize

TOPIC = "module"
# Unequal axes, means that are not zero, rows with a spread of 1 and of 0.02, and ε that matters.
TABLE = normal(5, 4, seed=86).double() + 2
WORDS = 0.02 * normal(3, 2, 4, seed=87).double() + 1
IMAGES = normal(2, 3, 2, 4, seed=88).double() + 2
# So far from zero that one pass keeps nothing: E[x²] and E[x]² are both exact multiples of 256.
FAR = 2.0**30 + torch.tensor([[[0, 1, 2, 5], [8, 0, 3, 5]], [[7, 1, 0, 0], [2, 2, 9, 3]]]).double()
GAMMA, BETA = normal(3, 2, 4, seed=89).double() + 1, normal(3, 2, 4, seed=90).double()
TARGETS = layer_norm(TABLE, 4, GAMMA[0, 0], BETA[0, 0])
NARROW = torch.ones(3, 1, dtype=torch.float64)  # the last axis is 1 and should be 4
GLOBAL = encoded_points().double()  # what `x` is in the notebook

learned = Exercise(
    TOPIC,
    "learned",
    hints=[
        "γ has the shape that the layer was made with. How many numbers is that?",
        "3 · 5 · 5 numbers for γ. Then β.",
    ],
)


@learned.answer
def one_for_each_channel_and_pixel():
    """75 for γ and 75 for β: one for each place in an image, shared by all images."""
    return 2 * 3 * 5 * 5


@learned.mistake()
def gamma_only():
    """That is γ alone. β has as many."""
    return 3 * 5 * 5


@learned.mistake(Belief.SAME_AS_GROUP_NORM)
def one_for_each_channel():
    """One γ and one β for each channel is what `GroupNorm(1, 3)` has. This layer was made with
    three axes, and γ has all three."""
    return 2 * 3


@learned.mistake(Belief.SINGLE_GAMMA_AND_BETA)
def a_single_gamma_and_a_single_beta():
    """You gave the whole layer one γ and one β. Each place of the normalized axes has its own."""
    return 2


@learned.mistake(Belief.SINGLE_GAMMA_AND_BETA)
def one_for_each_pixel():
    """You gave each of the 25 pixels one γ and one β for all its channels. The channels are
    normalized axes too, and have their own."""
    return 2 * 5 * 5


@learned.mistake(Belief.OVER_THE_BATCH)
def one_for_each_number_of_the_batch():
    """You counted both images. The batch is no part of the layer: all images share γ and β."""
    return 2 * 2 * 3 * 5 * 5


@learned.mistake()
def sizes_added():
    """You added the sizes, 3 + 5 + 5. A tensor of that shape has 3 · 5 · 5 numbers."""
    return 2 * (3 + 5 + 5)


fits = Exercise(
    TOPIC,
    "fits",
    inputs=[
        ((3, 2, 4), (2, 4)),
        ((3, 2, 4), [4]),
        ((3, 2, 4), (3, 2)),
        ((3, 2, 4), (4, 2)),
        ((3, 2, 4), (3, 4)),
        ((3, 2, 4), torch.Size([3, 2, 4])),
        ((5, 3, 4), (2, 4)),
        ((3, 8), (2, 4)),
        ((3, 1), (4,)),
        ((4,), (2, 4)),
        ((2,), (2, 4)),
        ((2, 4, 3), (2, 4)),
        ((3, 2, 4), 4),
        ((4, 3), 4),
    ],
    hints=[
        "Make a tuple of an `int` first. Then the two ends can be compared.",
        "`x_shape[-2:]` are the last two sizes. How many do you need here?",
    ],
)


@fits.answer
def the_last_sizes_are_those(x_shape, normalized_shape):
    if isinstance(normalized_shape, int):
        normalized_shape = (normalized_shape,)
    last = x_shape[-len(normalized_shape) :]
    return tuple(last) == tuple(normalized_shape)


def _sizes(shape):
    return (shape,) if isinstance(shape, int) else tuple(shape)


@fits.mistake()
def only_the_last_size_compared(x_shape, normalized_shape):
    """You compared the very last size only. An input (5, 3, 4) then passes for (2, 4), though its
    last two sizes are 3 and 4."""
    return x_shape[-1] == _sizes(normalized_shape)[-1]


@fits.mistake()
def compared_from_the_front(x_shape, normalized_shape):
    """You compared the first sizes. The batch stands there, and it is no part of the layer: count
    from the end."""
    sizes = _sizes(normalized_shape)
    return tuple(x_shape[: len(sizes)]) == sizes


@fits.mistake()
def the_whole_shape_compared(x_shape, normalized_shape):
    """You asked for the whole shape to be equal. The axes before the normalized ones may have any
    size."""
    return tuple(x_shape) == _sizes(normalized_shape)


@fits.mistake(Belief.RESHAPE_SWAPS_AXES)
def numbers_counted(x_shape, normalized_shape):
    """You compared how many numbers there are. (3, 8) has enough for (2, 4) only if it is reshaped,
    and then features get mixed. Compare the sizes, axis by axis."""
    x_numbers, numbers = 1, 1
    for size in x_shape:
        x_numbers *= size
    for size in _sizes(normalized_shape):
        numbers *= size
    return x_numbers % numbers == 0


@fits.mistake()
def a_list_compared_with_a_tuple(x_shape, normalized_shape):
    """You compare with `normalized_shape` as it was given. In Python a list is never equal to a
    tuple, whatever is in it: make a tuple of it first."""
    if isinstance(normalized_shape, int):
        normalized_shape = (normalized_shape,)
    return x_shape[-len(normalized_shape) :] == normalized_shape


@fits.mistake()
def sizes_in_any_order(x_shape, normalized_shape):
    """You asked whether each size occurs somewhere. They must stand at the end, and in that
    order."""
    return all(size in tuple(x_shape) for size in _sizes(normalized_shape))


@fits.mistake()
def whatever_broadcasts(x_shape, normalized_shape):
    """You let every shape pass that broadcasts. An input (3, 1) then becomes (3, 4), with numbers
    that nobody has put in."""
    sizes = _sizes(normalized_shape)
    pairs = zip(reversed(tuple(x_shape)), reversed(sizes), strict=False)
    return all(a == b or a == 1 for a, b in pairs)


@fits.mistake()
def a_size_of_one_accepted(x_shape, normalized_shape):
    """You accepted a size of 1 where another size is asked for. It would broadcast, so an input
    (3, 1) would become (3, 4). Layer norm asks for equal sizes."""
    last = tuple(x_shape)[-len(_sizes(normalized_shape)) :]
    sizes = _sizes(normalized_shape)
    return len(last) == len(sizes) and all(a in (b, 1) for a, b in zip(last, sizes, strict=True))


@fits.mistake()
def only_as_many_as_the_shorter_has(x_shape, normalized_shape):
    """You compared from the end, and stopped where the shorter shape ends, as `zip` does. An input
    (4,) then passes for (2, 4), though it has no second axis. Compare the lengths too."""
    pairs = zip(reversed(tuple(x_shape)), reversed(_sizes(normalized_shape)), strict=False)
    return all(a == b for a, b in pairs)


@fits.mistake()
def last_sizes_in_a_zip(x_shape, normalized_shape):
    """You took the last sizes and compared them in pairs, and `zip` stops where the shorter shape
    ends. An input (2,) then passes for (2, 4), though it has no second axis. Compare the lengths
    too."""
    sizes = _sizes(normalized_shape)
    return all(a == b for a, b in zip(x_shape[-len(sizes) :], sizes, strict=False))


kept = Exercise(
    TOPIC,
    "kept",
    hints=[
        "Which two names stand in the state dict of a layer norm?",
        "`eps` is an argument of `__init__`. Whose `__init__` made the new layer?",
    ],
)


@kept.answer
def that_of_the_new_layer():
    """ε is no parameter. It does not travel, and nobody says so."""
    return 0.5


@kept.mistake(Belief.STATE_DICT_HOLDS_ALL)
def that_of_the_trained_layer():
    """You let ε travel with γ and β. A state dict holds parameters (and buffers), and ε is only an
    argument of the class."""
    return 0.1


@kept.mistake()
def the_default():
    """1e-5 is what a layer gets that is made without `eps`. This one was made with it."""
    return 1e-5


@kept.mistake()
def both_added():
    """You added the two. One layer has one ε."""
    return 0.1 + 0.5


found = Exercise(
    TOPIC,
    "found",
    hints=[
        "`parameters()` asks the network, and the network asks the modules in it. Is `PlainNorm` "
        "one?",
        "What is left is `nn.Linear(4, 4)`: a matrix and a bias.",
    ],
)


@found.answer
def those_of_the_linear_map():
    """16 in the matrix, 4 in its bias. γ and β of `PlainNorm` are not found."""
    return 4 * 4 + 4


@found.mistake(Belief.ATTRIBUTES_ARE_TRAINED)
def gamma_and_beta_too():
    """You counted γ and β. They are tensors in an ordinary class, and the network asks modules
    only: it does not know of them, whatever `requires_grad` says."""
    return 4 * 4 + 4 + 4 + 4


@found.mistake(Belief.ATTRIBUTES_ARE_TRAINED)
def gamma_and_beta_in_place_of_the_bias():
    """You counted the matrix with γ and β, and left out its bias. γ and β are tensors in an
    ordinary class and are not found; the bias of `nn.Linear(4, 4)` is."""
    return 4 * 4 + 4 + 4


@found.mistake()
def the_matrix_only():
    """`nn.Linear(4, 4)` has a bias too, of four numbers."""
    return 4 * 4


@found.mistake(Belief.ATTRIBUTES_ARE_TRAINED)
def gamma_and_beta_only():
    """You counted γ and β, which are not found, and left out `nn.Linear(4, 4)`, which is."""
    return 4 + 4


@found.mistake()
def tensors_counted():
    """You counted the tensors, a matrix and a bias. Count the numbers in them."""
    return 2


@found.mistake()
def nothing():
    """`PlainNorm` is not found, but `nn.Linear` is a module and is."""
    return 0


repair = Exercise(
    TOPIC,
    "repair",
    observations=[
        Observation(Observed.STARTS, 4, (0.1,), TABLE),
        Observation(Observed.OUTPUT, 4, (0.1,), TABLE),
        Observation(Observed.OUTPUT, 4, (0.1,), WORDS),
        Observation(Observed.PARAMETERS, 4, (0.1,), TABLE),
        Observation(Observed.AFTER_A_STEP, 4, (0.1,), TABLE, (TARGETS,)),
    ],
    within=1e-5,
    hints=[
        "What does `SmallLayerNorm` have that `PlainNorm` has not? There are three things.",
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


@repair.mistake(Belief.ATTRIBUTES_ARE_TRAINED)
def still_no_module(size, eps):
    """The output is right, but one step of gradient descent moved neither γ nor β. Your class is
    not made from `nn.Module`, so an optimizer finds nothing in it."""
    return slips.NoModule(size, eps)


@repair.mistake(Belief.ATTRIBUTES_ARE_TRAINED)
def a_module_without_parameters(size, eps):
    """It is a module now, but one step of gradient descent moved neither γ nor β. They are plain
    tensors: wrap each in `nn.Parameter`."""
    return slips.OtherParameters(slips.as_plain_tensors, size, eps)


@repair.mistake()
def reads_a_global(size, eps):
    """Your `forward` normalizes the notebook's `x`, whatever it is given. Use the name of its
    argument."""
    return slips.OtherFormula(lambda x, axes, eps: standardize(GLOBAL, axes, eps), size, eps)


@repair.mistake(Belief.OVER_THE_BATCH)
def averages_over_the_batch(size, eps):
    """Your mean and variance run over all axes, the batch included. Each row has its own."""
    return slips.OtherFormula(slips.over_all_axes, size, eps)


@repair.mistake(Belief.OVER_THE_BATCH)
def normalizes_columns(size, eps):
    """You normalized each feature over the batch. That is batch norm: layer norm goes along the
    last axis."""
    return slips.OtherFormula(slips.of_columns, size, eps)


@repair.mistake(Belief.EPS_OUTSIDE_THE_ROOT)
def eps_ignored(size, eps):
    """Your ε is always 1e-5. Keep the argument `eps` in `__init__`, and use it in `forward`."""
    return slips.OtherFormula(slips.default_eps, size, eps)


@repair.mistake(Belief.VARIANCE_OVER_D_MINUS_1)
def divides_by_one_less(size, eps):
    """Your variance divides by D − 1, as `var` does by default. Layer norm divides by D."""
    return slips.OtherFormula(slips.unbiased, size, eps)


@repair.mistake(Belief.EPS_OUTSIDE_THE_ROOT)
def eps_outside(size, eps):
    """You added ε to the standard deviation. It belongs to the variance, inside the root."""
    return slips.OtherFormula(slips.outside_the_root, size, eps)


@repair.mistake(Belief.SINGLE_GAMMA_AND_BETA)
def a_single_gamma_and_beta(size, eps):
    """You kept one γ and one β for all features. There is one for each: `torch.ones(size)`."""
    return slips.OtherParameters(slips.single_numbers, size, eps)


@repair.mistake()
def no_beta(size, eps):
    """γ moved, but there is no β. The layer has both."""
    return slips.OtherParameters(slips.without_bias, size, eps)


@repair.mistake()
def called_gamma_and_beta(size, eps):
    """The output is right and the parameters are found, but they are called gamma and beta. State
    dicts go by name, so PyTorch's would not load: call them weight and bias."""
    return slips.OtherParameters(slips.called_gamma_and_beta, size, eps)


@repair.mistake()
def gamma_starts_at_zero(size, eps):
    """Your γ starts at 0, so a new layer returns 0 for every input. γ is what the row is multiplied
    by: it starts at 1, and β at 0."""
    return slips.OtherParameters(slips.starting_at(0, 0), size, eps)


@repair.mistake()
def beta_starts_at_one(size, eps):
    """Your β starts at 1, so a new layer adds 1 to every number. β is what is added: it starts
    at 0, and γ at 1."""
    return slips.OtherParameters(slips.starting_at(1, 1), size, eps)


@repair.mistake()
def starts_swapped(size, eps):
    """Your γ starts at 0 and your β at 1, so a new layer returns 1 for every input. It is the other
    way around: γ multiplies and starts at 1, β is added and starts at 0."""
    return slips.OtherParameters(slips.starting_at(0, 1), size, eps)


line_a = Exercise(
    TOPIC,
    "line_a",
    hints=[
        "Give it one row alone, then the same row among others. Which line lets the others in?",
        "Follow the axes: which of them is the batch, and who says that it is averaged over?",
    ],
)


@line_a.answer
def all_axes():
    """`range(x.ndim)` are all axes, and the batch is one of them. For a batch of a single row it
    makes no difference, which is why it was not seen."""
    return 5


@line_a.mistake()
def super_is_called():
    """Line 1 is needed: without it `nn.Module` cannot take a parameter."""
    return 1


@line_a.mistake(Belief.SINGLE_GAMMA_AND_BETA)
def gamma_for_each_feature():
    """Line 2 is right: one γ for each feature, starting at 1."""
    return 2


@line_a.mistake(Belief.SINGLE_GAMMA_AND_BETA)
def beta_for_each_feature():
    """Line 3 is right: one β for each feature, starting at 0."""
    return 3


@line_a.mistake()
def eps_is_kept():
    """Line 4 is right: ε is no parameter, so it is kept as it is."""
    return 4


@line_a.mistake()
def the_mean_takes_the_axes_it_gets():
    """Close: the mean does run over the batch. But line 6 only takes the axes that it is given:
    look where they come from."""
    return 6


@line_a.mistake(Belief.VARIANCE_OVER_D_MINUS_1)
def the_variance_divides_by_their_number():
    """Line 7 subtracts the mean first and divides by how many numbers there are, as layer norm
    does. It only takes the axes that it is given."""
    return 7


@line_a.mistake(Belief.EPS_OUTSIDE_THE_ROOT)
def eps_is_inside():
    """Line 8 is right: ε is added to the variance, inside the root."""
    return 8


line_b = Exercise(
    TOPIC,
    "line_b",
    hints=[
        "Follow one number, for example channel 1 of the first pixel. In which row does it land?",
        "`reshape` may split an axis or join two neighbors. One line asks more of it than that.",
    ],
)


@line_b.answer
def reshaped_to_channels_last():
    """Line 4 asks for a shape with the channels last, and gets it filled in reading order: a row
    then holds pixels of one channel. `x.reshape(b, c, h * w).transpose(1, 2)` would be right."""
    return 4


@line_b.mistake()
def super_is_called_first():
    """Line 1 is needed: without it `nn.Module` cannot take a module."""
    return 1


@line_b.mistake(Belief.SAME_AS_GROUP_NORM)
def one_gamma_for_each_channel():
    """Line 2 is right: each pixel is a row, and its channels are the features. Layer norm over the
    channels is just this."""
    return 2


@line_b.mistake()
def sizes_are_read():
    """Line 3 only reads the four sizes."""
    return 3


@line_b.mistake()
def rows_are_normalized():
    """Line 5 normalizes the rows that it gets. Ask whether they are pixels."""
    return 5


@line_b.mistake()
def axes_are_swapped_back():
    """Line 6 swaps two axes with `transpose`, as it should be. Another line swaps them with
    something else."""
    return 6


@line_b.mistake(Belief.RESHAPE_SWAPS_AXES)
def an_axis_is_split():
    """The `reshape` in line 7 only splits the last axis, h · w, into two: no number changes its
    place in reading order, and that is what `reshape` can do. There is a line that asks it to swap
    axes, which it cannot."""
    return 7


mine = Exercise(
    TOPIC,
    "mine",
    observations=[
        Observation(Observed.OUTPUT, 4, (0.1,), TABLE),
        Observation(Observed.OUTPUT, [4], (), WORDS),
        Observation(Observed.OUTPUT, torch.Size([3, 2, 4]), (0.1,), IMAGES),
        Observation(Observed.OUTPUT, (2, 4), (0.1,), FAR),
        Observation(Observed.PARAMETERS, (2, 4), (), WORDS),
        Observation(Observed.OUTPUT_AFTER_LOADING, (3, 2, 4), (0.1,), IMAGES, (GAMMA, BETA)),
        Observation(Observed.AFTER_A_STEP, 4, (0.1,), TABLE, (TARGETS,)),
        Observation(Observed.PARAMETERS, 4, (0.1, True, False), TABLE),
        Observation(Observed.PARAMETERS, 4, (0.1, False), TABLE),
        Observation(Observed.SWITCHED_OFF, 4, (0.1, True, False), TABLE),
        Observation(Observed.SWITCHED_OFF, 4, (0.1, False), TABLE),
        Observation(Observed.OUTPUT, 4, (0.1, False), TABLE),
        Observation(Observed.REFUSAL, 4, (), NARROW),
        Observation(Observed.REFUSAL, (2, 4), (), torch.ones(5, 3, 4).double()),
    ],
    within=1e-5,
    hints=[
        "Make a tuple of `normalized_shape` first. Its length says how many axes a row has.",
        "`tuple(range(-n, 0))` are the last n axes, as `mean` takes them for `dim`.",
        "What was switched off is None: `self.bias = None`, and `forward` has to ask.",
        "The error names two shapes: `raise ValueError(f'... {self.shape} ... {tuple(x.shape)}')`.",
    ],
)


@mine.answer
class MyLayerNorm(torch.nn.Module):
    """Your layer passes what the one of this course has to pass: every form of
    `normalized_shape`, ε inside the root, an offset of a billion, state dicts, training, switches,
    and the error."""

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True):
        super().__init__()
        if isinstance(normalized_shape, int):
            normalized_shape = (normalized_shape,)
        self.shape = tuple(normalized_shape)
        self.eps = eps
        self.weight = self.bias = None
        if elementwise_affine:
            self.weight = torch.nn.Parameter(torch.ones(self.shape))
        if elementwise_affine and bias:
            self.bias = torch.nn.Parameter(torch.zeros(self.shape))

    def forward(self, x):
        if tuple(x.shape[-len(self.shape) :]) != self.shape:
            raise ValueError(f"{self.shape} expected at the end of {tuple(x.shape)}")
        dim = tuple(range(-len(self.shape), 0))
        centered = x - x.mean(dim, keepdim=True)
        var = centered.square().mean(dim, keepdim=True)
        y = centered / (var + self.eps).sqrt()
        y = y if self.weight is None else self.weight * y
        return y if self.bias is None else y + self.bias


@mine.mistake(Belief.ATTRIBUTES_ARE_TRAINED)
def no_module_at_all(*arguments):
    """The numbers are right, but the class is not made from `nn.Module`: γ and β are in no state
    dict, and no training step moves them."""
    return slips.NoModule(*arguments)


@mine.mistake(Belief.ATTRIBUTES_ARE_TRAINED)
def tensors_in_place_of_parameters(*arguments):
    """The numbers are right, but γ and β are plain tensors: they are in no state dict, and no
    training step moves them. Wrap each in `nn.Parameter`."""
    return slips.OtherParameters(slips.as_plain_tensors, *arguments)


@mine.mistake()
def other_names(*arguments):
    """The numbers are right, but the parameters are called gamma and beta. State dicts go by name,
    so PyTorch's would not load: call them weight and bias."""
    return slips.OtherParameters(slips.called_gamma_and_beta, *arguments)


@mine.mistake(Belief.SINGLE_GAMMA_AND_BETA)
def one_gamma_and_one_beta(*arguments):
    """Your γ and β are single numbers. They have the shape `normalized_shape`."""
    return slips.OtherParameters(slips.single_numbers, *arguments)


@mine.mistake()
def switches_ignored(*arguments):
    """The numbers are right, but the switches do nothing: there are a γ and a β even with
    `bias=False` and `elementwise_affine=False`."""
    return slips.OtherParameters(slips.always_with_both, *arguments)


@mine.mistake()
def beta_alone(*arguments):
    """With `elementwise_affine=False` you leave out γ and keep β. It switches off both."""
    return slips.OtherParameters(slips.with_beta_alone, *arguments)


@mine.mistake()
def bias_switch_ignored(*arguments):
    """The numbers are right, but there is a β even with `bias=False`. That switch leaves out β and
    keeps γ."""
    return slips.OtherParameters(slips.with_beta_for_every_gamma, *arguments)


@mine.mistake()
def gamma_alone(*arguments):
    """With `elementwise_affine=False` you leave out β, but a γ is still there. It switches off
    both."""
    return slips.OtherParameters(slips.with_gamma_alone, *arguments)


@mine.mistake()
def elementwise_affine_ignored(*arguments):
    """`bias=False` does what it should, but with `elementwise_affine=False` a γ and a β are still
    there. It switches off both."""
    return slips.OtherParameters(slips.with_both_unless_bias_is_off, *arguments)


@mine.mistake()
def no_attribute_for_what_is_off(*arguments):
    """The numbers are right, but with `bias=False` your layer has no attribute `bias` at all. In a
    layer norm what is switched off is None, so that other code can ask: `self.bias = None`."""
    return slips.OtherSwitches(slips.left_out, *arguments)


@mine.mistake()
def no_attribute_without_elementwise_affine(*arguments):
    """`bias=False` does what it should, but with `elementwise_affine=False` your layer lacks the
    attribute `weight` or `bias`. Both are switched off then, so both are None."""
    return slips.OtherSwitches(slips.left_out_with_gamma, *arguments)


@mine.mistake()
def something_else_than_none(*arguments):
    """The numbers are right, but with `bias=False` your `bias` is something else than None. In a
    layer norm what is switched off is None, so that other code can ask: `self.bias = None`."""
    return slips.OtherSwitches(slips.neutral_number, *arguments)


@mine.mistake()
def something_else_without_elementwise_affine(*arguments):
    """`bias=False` does what it should, but with `elementwise_affine=False` your `weight` or `bias`
    is something else than None. Both are switched off then, so both are None."""
    return slips.OtherSwitches(slips.neutral_number_with_gamma, *arguments)


@mine.mistake()
def argument_ignored(*arguments):
    """Your `forward` normalizes the notebook's `x`, whatever it is given. Use the name of its
    argument."""
    return slips.OtherFormula(lambda x, axes, eps: standardize(GLOBAL, axes, eps), *arguments)


@mine.mistake(Belief.OVER_THE_BATCH)
def batch_included(*arguments):
    """Your mean and variance run over all axes, the batch included. They run over the last axes
    only, as many as `normalized_shape` has."""
    return slips.OtherFormula(slips.over_all_axes, *arguments)


@mine.mistake(Belief.OVER_THE_BATCH)
def columns_normalized(*arguments):
    """You normalized each feature over the first axis. That is batch norm: layer norm goes along
    the last axes."""
    return slips.OtherFormula(slips.of_columns, *arguments)


@mine.mistake()
def only_the_last_axis_normalized(*arguments):
    """You always normalize the last axis alone. With `normalized_shape=(2, 4)` the last two axes
    are one row."""
    return slips.OtherFormula(lambda x, axes, eps: standardize(x, -1, eps), *arguments)


@mine.mistake(Belief.VARIANCE_OVER_D_MINUS_1)
def divided_by_one_less(*arguments):
    """Your variance divides by one less than the numbers in a row. Pass `correction=0` to `var`."""
    return slips.OtherFormula(slips.unbiased, *arguments)


@mine.mistake(Belief.EPS_OUTSIDE_THE_ROOT)
def eps_outside_the_root(*arguments):
    """You added ε to the standard deviation. It belongs to the variance, inside the root."""
    return slips.OtherFormula(slips.outside_the_root, *arguments)


@mine.mistake(Belief.EPS_OUTSIDE_THE_ROOT)
def eps_argument_ignored(*arguments):
    """Your ε is always 1e-5. Keep the argument `eps` in `__init__`, and use it in `forward`."""
    return slips.OtherFormula(slips.default_eps, *arguments)


@mine.mistake(Belief.ONE_PASS_IS_AS_GOOD)
def variance_in_one_pass(*arguments):
    """Your layer is right near zero, and fails on rows with an offset of a billion: E[x²] − E[x]²
    has lost all digits there. Subtract the mean first, then square."""
    return slips.OtherFormula(slips.one_pass, *arguments)


@mine.mistake(Belief.RESHAPE_SWAPS_AXES)
def features_brought_first_by_reshape(*arguments):
    """You brought the features to the front by `reshape`, which puts numbers of several rows
    together. Average over the last axes where they are."""
    return slips.OtherFormula(slips.reshaped, *arguments)


@mine.mistake()
def nothing_refused(*arguments):
    """All is right but one thing: an input whose last axes do not fit is not refused in a sentence
    that names both shapes. One of size 1 broadcasts, and nobody is told."""
    return slips.NoCheck(*arguments)


@mine.mistake()
def shapes_not_named(*arguments):
    """Your error does not name both shapes. You refuse an input that does not fit, which is right;
    write `normalized_shape` and the shape of the input into the message, so that a reader sees
    what does not fit."""
    return slips.NoNames(*arguments)


@mine.mistake()
def only_the_last_size_checked(*arguments):
    """You refuse a wrong last size, and nothing else. With `normalized_shape=(2, 4)` an input
    (5, 3, 4) has the right last size, and the error that comes later does not name both shapes.
    Layer norm compares all of the last sizes."""
    return slips.LastSizeChecked(*arguments)
