"""A student's class is made, run, loaded and trained, and judged by the numbers alone."""

import copy

import nbformat
import pytest
import torch
from nbformat.v4 import new_code_cell, new_notebook
from torch import nn

from lnorm_utils import LayerNorm, standardize
from lnorm_utils.exercises import module as bank
from lnorm_utils.exercises.engine import class_attempts as trials
from lnorm_utils.exercises.engine.feedback import State
from lnorm_utils.exercises.module import GLOBAL, TABLE, TARGETS, mine, repair
from lnorm_utils.grading.grade import grade


def tried(make, what, *more, shape=4, options=(0.1,), x=TABLE):
    return trials.module(make, what, shape, options, x, *more)


@pytest.mark.parametrize("make", [LayerNorm, nn.LayerNorm, bank.MyLayerNorm])
def test_the_layer_of_the_course_that_of_pytorch_and_the_solution_pass_the_same_checks(make):
    for exercise in (mine, repair):
        assert exercise.judge(make).state is State.RIGHT


def test_a_step_of_gradient_descent_moves_all_of_gamma_and_beta():
    gamma, beta = tried(nn.LayerNorm, trials.TRAINED, TARGETS).reshape(2, 4)
    assert ((gamma - 1).abs() > 0.01).all()
    assert (beta.abs() > 0.01).all()


def test_what_training_does_is_what_an_optimizer_does():
    layer = nn.LayerNorm(4, eps=0.1).double()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
    (layer(TABLE) - TARGETS).square().mean().backward()
    optimizer.step()
    after = tried(nn.LayerNorm, trials.TRAINED, TARGETS)
    torch.testing.assert_close(after, torch.cat([layer.weight, layer.bias]).detach())


def test_the_words_of_a_refusal_say_whether_both_shapes_are_named():
    narrow = torch.ones(3, 1).double()

    def silent(*arguments):
        raise ValueError("no")

    assert tried(LayerNorm, trials.REFUSED, x=narrow) == "an error that names both shapes"
    assert tried(nn.LayerNorm, trials.REFUSED, x=narrow) == "an error that names both shapes"
    assert tried(lambda *_: silent, trials.REFUSED, x=narrow) == "an error without both shapes"
    assert tried(nn.RMSNorm, trials.REFUSED, shape=4, x=TABLE) == "no error"


class Named:
    """An object with what it is made of, and the output of nothing but its input."""

    def __init__(self, **numbers):
        vars(self).update(numbers)

    def forward(self, x):
        return x


@pytest.mark.parametrize(
    ("numbers", "starts"),
    [
        ({}, (1.0, 0.0)),
        ({"weight": torch.tensor([2.0, 4.0]), "bias": torch.tensor([5.0])}, (3.0, 5.0)),
        ({"gamma": torch.tensor([2.0, 4.0]), "beta": torch.tensor([5, 6])}, (3.0, 5.5)),
        ({"weight": torch.tensor(2.0), "gamma": torch.tensor(4.0)}, (2.0, 0.0)),
        ({"weight": 2.0, "bias": None, "gamma": torch.tensor(4.0)}, (4.0, 0.0)),
        ({"weight": torch.ones(0), "bias": torch.ones(0)}, (1.0, 0.0)),
        ({"weight": nn.Parameter(torch.tensor([0.5]))}, (0.5, 0.0)),
    ],
)
def test_where_gamma_and_beta_start_is_their_mean_by_either_name(numbers, starts):
    assert tried(lambda *_: Named(**numbers), trials.START) == starts


def test_where_gamma_and_beta_start_is_computed_in_double_precision():
    tenths = torch.tensor([0.1, 0.2], dtype=torch.float16)
    start, _ = tried(lambda *_: Named(weight=tenths), trials.START)
    assert start == tenths.double().mean().item()


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ({}, "nothing"),
        ({"weight": None}, "nothing"),
        ({"weight": None, "bias": None}, "None"),
        ({"weight": None, "bias": 0}, "not None"),
        ({"weight": torch.ones(4), "bias": None}, "not None"),
    ],
)
def test_what_stands_in_place_of_what_is_off_is_told_in_words(numbers, words):
    assert tried(lambda *_: Named(**numbers), trials.OFF) == words


def test_a_parameter_is_not_off_whatever_the_other_is():
    assert tried(lambda *_: nn.LayerNorm(4, bias=False), trials.OFF) == "None"
    assert tried(lambda *_: nn.RMSNorm(4), trials.OFF) == "nothing"


def test_the_parameters_are_named_in_their_order_with_their_shapes():
    layer = nn.LayerNorm((2, 4))
    assert tried(lambda *_: layer, trials.NAMES, x=torch.ones(3, 2, 4).double()) == (
        ("bias", 2, 4),
        ("weight", 2, 4),
    )


def test_an_object_that_is_no_module_has_no_names():
    assert tried(lambda *_: Named(weight=torch.ones(4)), trials.NAMES) == (("not an nn.Module",),)


@pytest.mark.parametrize("what", [trials.OUTPUT, trials.NAMES, trials.START, trials.OFF])
def test_a_layer_that_returns_nothing_is_asked_for_nothing(what):
    assert tried(lambda *_: lambda x: None, what) is None


def test_what_is_asked_for_may_have_words_before_it():
    assert tried(lambda *_: Named(), f"without both, {trials.OFF}") == "nothing"


def test_a_layer_computes_in_float64_and_gets_its_shape_and_options():
    layer = nn.LayerNorm(4, 0.1).double()
    torch.testing.assert_close(tried(nn.LayerNorm, trials.OUTPUT), layer(TABLE))


def test_numbers_are_loaded_into_gamma_and_beta_and_used():
    gamma, beta = torch.arange(4).double(), torch.arange(4, 8).double()
    after = tried(nn.LayerNorm, trials.LOADED, gamma, beta)
    torch.testing.assert_close(after, nn.functional.layer_norm(TABLE, [4], gamma, beta, 0.1))


def test_numbers_that_do_not_fit_are_not_loaded():
    layer = nn.LayerNorm(4, 0.1)
    wide, beta = torch.ones(2, 4).double(), torch.ones(4).double()
    after = tried(lambda *_: layer, trials.LOADED, wide, beta)
    torch.testing.assert_close(after, nn.functional.layer_norm(TABLE, [4], None, beta, 0.1))
    bare = tried(lambda *_: nn.LayerNorm(4, 0.1, bias=False), trials.LOADED, beta, beta)
    torch.testing.assert_close(bare, nn.functional.layer_norm(TABLE, [4], None, None, 0.1))


def test_an_output_of_another_shape_is_not_trained_but_shown():
    class Sums(nn.LayerNorm):
        def forward(self, x):
            return super().forward(x).sum(-1)

    after = tried(Sums, trials.TRAINED, TARGETS)
    assert after.shape == (5,)


def test_what_cannot_be_trained_is_shown_as_it_is():
    plain = Named(weight=torch.full((2, 2), 2.0), bias=None)
    after = tried(lambda *_: plain, trials.TRAINED, TARGETS)
    torch.testing.assert_close(after, torch.full((4,), 2.0).double())
    nothing = tried(lambda *_: Named(), trials.TRAINED, TARGETS)
    assert (nothing.shape, nothing.dtype) == ((0,), torch.float64)


def test_a_parameter_that_is_not_used_is_not_moved():
    class Spare(nn.LayerNorm):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            self.spare = nn.Parameter(torch.ones(3))

    torch.testing.assert_close(
        tried(Spare, trials.TRAINED, TARGETS), tried(nn.LayerNorm, trials.TRAINED, TARGETS)
    )


@pytest.mark.parametrize(
    ("shape", "said", "words"),
    [
        (4, "4 expected in 3, 1", "an error that names both shapes"),
        ((2, 4), "(2, 4) expected in [3, 1]", "an error that names both shapes"),
        ((2, 4), "(2, 4) expected", "an error without both shapes"),
        ((2, 4), "not in [3, 1]", "an error without both shapes"),
        ((2, 4), "2 and 4 expected in 3 and 1", "an error without both shapes"),
    ],
)
def test_an_error_names_a_shape_if_its_sizes_stand_in_it(shape, said, words):
    def refusing(x):
        raise RuntimeError(said)

    narrow = torch.ones(3, 1).double()
    assert tried(lambda *_: refusing, trials.REFUSED, shape=shape, x=narrow) == words


def test_what_returns_nothing_refuses_nothing_yet():
    assert tried(lambda *_: lambda x: None, trials.REFUSED) is None
    assert tried(lambda *_: lambda x: x, trials.REFUSED) == "no error"


def test_the_use_of_a_class_is_said_in_words():
    assert trials.words(trials.OUTPUT, (2, 4), (0.1, False), torch.ones(3, 2, 4)) == (
        "made with (2, 4), 0.1, False and called with an input of shape (3, 2, 4)"
    )


ADVICE = "In `__init__`, call `super().__init__()` first"


def test_an_attribute_error_of_another_kind_is_left_as_it_is():
    def make(*arguments):
        raise AttributeError("no such thing")

    with pytest.raises(AttributeError, match=r"^no such thing$"):
        tried(make, trials.OUTPUT)


def test_where_the_module_was_not_set_up_the_error_says_what_to_do():
    with pytest.raises(AttributeError) as problem:
        tried(NoSuper, trials.OUTPUT)
    assert str(problem.value) == (
        f"cannot assign parameters before Module.__init__() call. {ADVICE}"
    )
    with pytest.raises(AttributeError) as problem:
        tried(NoSuperPlain, trials.OUTPUT)
    assert str(problem.value) == ADVICE


class Plain:
    """The class that the lesson shows first, by the argument that its forward reads."""

    def __init__(self, size, eps=1e-5):
        self.eps = eps
        self.weight = torch.ones(size, requires_grad=True)
        self.bias = torch.zeros(size, requires_grad=True)

    def forward(self, x):
        return self.weight * standardize(x, -1, self.eps) + self.bias


class Tensors(nn.Module):
    def __init__(self, size, eps=1e-5):
        super().__init__()
        self.eps, self.weight, self.bias = eps, torch.ones(size), torch.zeros(size)

    def forward(self, x):
        return self.weight * standardize(x, -1, self.eps) + self.bias


class Small(nn.Module):
    def __init__(self, size, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(size))
        self.bias = nn.Parameter(torch.zeros(size))

    def forward(self, x):
        return self.weight * self.standardized(x) + self.bias

    def standardized(self, x):
        return standardize(x, -1, self.eps)


class ReadsAGlobal(Small):
    def standardized(self, x):
        return standardize(GLOBAL, -1, self.eps)


class OverTheBatch(Small):
    def standardized(self, x):
        return standardize(x, tuple(range(x.ndim)), self.eps)


class Unbiased(Small):
    def standardized(self, x):
        return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + self.eps).sqrt()


class Outside(Small):
    def standardized(self, x):
        return (x - x.mean(-1, keepdim=True)) / (x.std(-1, False, keepdim=True) + self.eps)


class NoSuper(Small):
    def __init__(self, size, eps=1e-5):
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(size))


class NoSuperPlain(Tensors):
    def __init__(self, size, eps=1e-5):
        self.eps, self.weight, self.bias = eps, torch.ones(size), torch.zeros(size)


class Greek(nn.Module):
    def __init__(self, size, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.gamma = nn.Parameter(torch.ones(size))
        self.beta = nn.Parameter(torch.zeros(size))

    def forward(self, x):
        return self.gamma * standardize(x, -1, self.eps) + self.beta


class Zeros(Small):
    def __init__(self, size, eps=1e-5):
        super().__init__(size, eps)
        self.weight = nn.Parameter(torch.zeros(size))


class Swapped(Zeros):
    def __init__(self, size, eps=1e-5):
        super().__init__(size, eps)
        self.bias = nn.Parameter(torch.ones(size))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (Plain, "still no module"),
        (Tensors, "a module without parameters"),
        (ReadsAGlobal, "reads a global"),
        (OverTheBatch, "averages over the batch"),
        (Unbiased, "divides by one less"),
        (Outside, "eps outside"),
        (NoSuper, "your class raised AttributeError in line"),
        (NoSuper, "call `super().__init__()` first (it was made with 4, 0.1"),
        (
            NoSuperPlain,
            "raised AttributeError: In `__init__`, call `super().__init__()` first",
        ),
        (Greek, "called gamma and beta"),
        (Zeros, "gamma starts at zero"),
        (Swapped, "starts swapped"),
        (Small(4), "this exercise checks a class: pass its name"),
        (Small, "Right"),
    ],
)
def test_a_class_written_by_hand_is_recognized(make, words):
    assert words in repr(repair.judge(make))


def layer(forward):
    """Make a class that is right but for its forward, which gets (self, x)."""
    return type("Mine", (bank.MyLayerNorm,), {"forward": forward})


def last(self):
    return tuple(range(-len(self.shape), 0))


def one_pass(self, x):
    mean = x.mean(last(self), keepdim=True)
    var = (x**2).mean(last(self), keepdim=True) - mean**2
    return self.weight * (x - mean) / torch.sqrt(var + self.eps) + self.bias


def of_all_tokens(self, x):
    mean, var = x.mean(), x.var(correction=0)
    return self.weight * (x - mean) / (var + self.eps).sqrt() + self.bias


@pytest.mark.parametrize(
    ("forward", "name"),
    [
        (one_pass, "variance in one pass"),
        (of_all_tokens, "batch included"),
    ],
)
def test_the_first_thing_that_is_wrong_in_a_class_is_named_among_others(forward, name):
    # none of these asks whether γ and β are there, and none refuses a shape
    assert mine.judge(layer(forward)).mistake == name


def test_another_way_to_write_one_pass_is_known_by_the_same_name():
    def forward(self, x):
        rows = x.flatten(-len(self.shape))
        mean = rows.sum(-1) / rows.shape[-1]
        var = (rows * rows).sum(-1) / rows.shape[-1] - mean * mean
        for _ in self.shape:
            mean, var = mean.unsqueeze(-1), var.unsqueeze(-1)
        return self.weight * (x - mean) * (var + self.eps) ** -0.5 + self.bias

    assert mine.judge(layer(forward)).mistake == "variance in one pass"


class Whole(bank.MyLayerNorm):
    """Right, and with a place for each thing that can be wrong."""

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True):
        super().__init__(normalized_shape, eps)
        gamma, beta = self.switched(elementwise_affine, bias)
        if not gamma:
            self.off("weight")
        if not beta:
            self.off("bias")

    def switched(self, elementwise_affine, bias):
        return elementwise_affine, elementwise_affine and bias

    def off(self, name):
        setattr(self, name, None)

    def forward(self, x):
        weight, bias = (dict(self.named_parameters()).get(n) for n in ("weight", "bias"))
        if not self.fits(x):
            raise ValueError(self.error(x))
        x_hat = standardize(x, last(self), self.eps)
        x_hat = x_hat if weight is None else weight * x_hat
        return x_hat if bias is None else x_hat + bias

    def fits(self, x):
        return tuple(x.shape[-len(self.shape) :]) == self.shape

    def error(self, x):
        return f"{self.shape} {tuple(x.shape)}"


def off_without_weight(self, name):
    if name == "weight":
        del self.weight
    else:
        self.bias = None


def one_for_weight(self, name):
    delattr(self, name)
    setattr(self, name, torch.ones(4) if name == "weight" else None)


def changed_to(value):
    def off(self, name):
        delattr(self, name)
        setattr(self, name, value)

    return off


@pytest.mark.parametrize(
    ("other", "name"),
    [
        ({}, ""),
        ({"switched": lambda self, affine, bias: (True, True)}, "switches ignored"),
        ({"switched": lambda self, affine, bias: (affine, affine)}, "bias switch ignored"),
        ({"switched": lambda self, affine, bias: (True, affine and bias)}, "gamma alone"),
        ({"switched": lambda self, affine, bias: (True, bias)}, "elementwise affine ignored"),
        ({"switched": lambda self, affine, bias: (affine, bias)}, "beta alone"),
        ({"off": lambda self, name: delattr(self, name)}, "no attribute for what is off"),
        ({"off": changed_to(0)}, "something else than none"),
        ({"off": changed_to(torch.zeros(4))}, "something else than none"),
        ({"off": off_without_weight}, "no attribute without elementwise affine"),
        ({"off": one_for_weight}, "something else without elementwise affine"),
        ({"error": lambda self, x: "no"}, "shapes not named"),
        ({"error": lambda self, x: f"{self.shape}"}, "shapes not named"),
        ({"fits": lambda self, x: x.shape[-1] == self.shape[-1]}, "only the last size checked"),
        ({"fits": lambda self, x: True}, "nothing refused"),
    ],
)
def test_what_is_wrong_with_a_switch_or_an_error_is_named(other, name):
    feedback = mine.judge(type("Mine", (Whole,), other))
    assert feedback.mistake == name
    assert feedback.state is (State.WRONG if name else State.RIGHT)


def test_a_crash_says_in_words_how_the_class_was_used():
    message = repair.judge(layer(lambda self, x: self.missing)).message
    assert message.endswith("(it was made with 4, 0.1 and called with an input of shape (5, 4)).")


def test_an_error_that_speaks_of_a_call_itself_is_told_whole():
    def forward(self, x):
        raise ValueError("no such row (called with 7).")

    message = repair.judge(layer(forward)).message
    assert " no such row (called with 7). (it was made with 4, 0.1 and called" in message


@pytest.mark.parametrize("make", [bank.RepairedNorm, bank.MyLayerNorm])
def test_a_solution_has_the_epsilon_of_pytorch_if_none_is_given(make):
    x = 0.01 * TABLE
    torch.testing.assert_close(make(4).double()(x), nn.LayerNorm(4).double()(x))


def test_the_solution_of_the_lesson_refuses_what_does_not_fit_and_names_both_shapes():
    with pytest.raises(ValueError, match=r"^\(2, 4\) expected at the end of \(5, 3, 4\)$"):
        bank.MyLayerNorm((2, 4))(torch.ones(5, 3, 4))


def test_a_class_that_is_not_written_yet_is_not_attempted():
    class Empty(nn.Module):
        def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True):
            super().__init__()
            self.weight = ...

        def forward(self, x): ...

    for exercise in (mine, repair):
        feedback = exercise.judge(Empty)
        assert feedback.state is State.NOT_ATTEMPTED
        assert feedback.message == "your class returns nothing yet."


def test_what_is_not_known_says_what_was_looked_at():
    class Shifted(Small):
        def standardized(self, x):
            return super().standardized(x) + 1

    assert repair.judge(Shifted).message.startswith("the output of a new layer: how you came")


def test_a_class_cannot_change_the_inputs_of_the_exercise():
    class InPlace(Small):
        def standardized(self, x):
            x -= x.mean(-1, keepdim=True)
            return super().standardized(x)

    before = copy.deepcopy(repair.inputs)
    assert "your class changes its input" in repr(repair.judge(InPlace))
    assert all(torch.equal(b[3], a[3]) for b, a in zip(before, repair.inputs, strict=True))


def test_classes_are_graded_in_a_kernel_of_their_own(tmp_path):
    plain = """
class Plain:
    def __init__(self, size, eps=1e-5):
        self.eps, self.weight, self.bias = eps, torch.ones(size), torch.zeros(size)

    def forward(self, x):
        x = x - x.mean(-1, keepdim=True)
        return self.weight * x / (x.square().mean(-1, keepdim=True) + self.eps).sqrt() + self.bias


repair.check(Plain)"""
    cells = [
        "import torch\nfrom torch import nn\nfrom lnorm_utils.exercises.module import *",
        f"{mine.source()}\n\n\nmine.check(MyLayerNorm)",
        plain,
    ]
    path = tmp_path / "08_build_the_layer.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(cell) for cell in cells]), path)
    grades = {one.exercise: (one.state, one.mistake) for one in grade(path, 30)}
    assert grades["mine"] == ("right", "")
    assert grades["repair"] == ("wrong", "still no module")
    assert grades["found"] == ("missing", "")
