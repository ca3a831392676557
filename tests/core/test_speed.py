"""What is counted is what operations read and write, and the tables can be read."""

import pytest
import torch
import torch.nn.functional as F
from lesson_parts import parts_of

from lnorm_course.lessons.speed import bars, kept_for_backward, measured, traffic
from lnorm_utils import layer_norm
from lnorm_utils.data import normal

X = normal(6, 1000, seed=0)
OLD = torch.zeros_like(X)
COUNTED = {
    "nothing": (lambda x: None, (0, 0, 0)),
    "views": (lambda x: [x.T, x[1:], x.view(-1), x.split(2)], (0, 0, 0)),
    "a sum": (lambda x: x.sum(), (1, 0, 0)),
    "a tensor that stays empty": (torch.empty_like, (0, 0, 1)),
    "a tensor that is filled": (lambda x: torch.empty_like(x).fill_(1.0), (0, 1, 1)),
    "an empty one by shape": (lambda x: x.new_empty(6, 1000), (0, 0, 1)),
    "zeros": (torch.zeros_like, (0, 1, 1)),
    "zeros by shape": (lambda x: x.new_zeros(6, 1000), (0, 1, 1)),
    "random numbers": (lambda x: torch.empty_like(x).normal_(), (0, 1, 1)),
    "a copy in another shape": (lambda x: x.T.reshape(-1), (1, 1, 1)),
    "a row that is repeated": (lambda x: x[:1].expand(6, 1000).clone(), (1 / 6, 1, 1)),
    "half of x": (lambda x: x[:3].clone(), (0.5, 0.5, 0.5)),
    "a copy to old memory": (lambda x: OLD.copy_(x), (1, 1, 0)),
    "in place": (lambda x: OLD.mul_(x), (2, 1, 0)),
    "with out": (lambda x: torch.sub(x, x, out=OLD), (2, 1, 0)),
    "a list": (lambda x: torch.cat([x, x]), (2, 2, 2)),
    "float64": (lambda x: x.double(), (1, 2, 2)),
    "PyTorch's": (lambda x: F.layer_norm(x, (1000,)), (1, 1, 1)),
    "the course's": (lambda x: layer_norm(x, 1000), (7, 4, 4)),
}


@pytest.mark.parametrize("what", COUNTED)
def test_each_operation_is_counted_with_what_it_reads_writes_and_makes(what):
    function, counts = COUNTED[what]
    counted = traffic(function, X)
    assert counted == pytest.approx(counts, abs=0.02)  # a number for each row is a thousandth
    assert counted.passes == counted.read + counted.written


def test_the_count_does_not_depend_on_the_size_and_x_stays_as_it_is():
    before = X.clone()
    two_pass = parts_of("appendix_speed").two_pass
    assert traffic(two_pass, X) == pytest.approx(traffic(two_pass, X[:1]), abs=0.02)
    assert torch.equal(X, before)


@pytest.mark.parametrize("name", ["two_pass", "one_pass", "in_place", "in_blocks"])
@pytest.mark.parametrize("shape", [(1, 3), (128, 8), (300, 5)])
def test_what_is_measured_is_layer_norm(name, shape):
    x = normal(*shape, seed=1).double() + 1
    y = vars(parts_of("appendix_speed"))[name](x)
    torch.testing.assert_close(y, F.layer_norm(x, shape[1:]), rtol=1e-11, atol=1e-11)


def test_each_table_says_on_what_it_was_measured():
    for device in ("cpu", "cpu, kept memory"):
        assert "one thread; PyTorch 2." in measured(device).about


def test_what_is_kept_for_the_backward_pass_counts_once_and_in_units_of_x():
    x, weight = torch.ones(64, 256), torch.ones(256, requires_grad=True)
    assert kept_for_backward(lambda x: x + 1, x) == 0
    assert kept_for_backward(lambda x: x * x, x) == 1
    assert kept_for_backward(lambda x: x.exp().exp(), x) == 2
    with_statistics = kept_for_backward(lambda x: F.layer_norm(x, (256,), weight), x)
    assert with_statistics == 1 + (256 + 2 * 64) / x.numel()


def test_a_bar_is_as_long_as_its_time_and_a_mark_stands_where_it_was_predicted():
    figure = bars({"a": 3.0, "b": 12.5}, {"a": 2.0, "b": 10.0}, "Times")
    (ax,) = figure.axes
    assert [patch.get_width() for patch in ax.patches] == [3.0, 12.5]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    assert ax.lines[0].get_xdata().tolist() == [2.0, 10.0]
    assert figure.words == "Times, measured in ms: a 3 (predicted 2); b 12.5 (predicted 10)."
