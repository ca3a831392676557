"""What looks into a model leaves the model, the inputs, and the random state as they are."""

import copy
import logging
import warnings

import pytest
import torch
from torch import nn

from lnorm_diagnose import diagnose, first_wrong, norms_of
from lnorm_utils.data import normal

X = normal(5, 8, seed=0)
both = pytest.mark.parametrize("look", [first_wrong, norms_of])


@both
def test_the_model_the_default_dtype_and_the_random_state_stay_as_they_are(look):
    model = nn.Sequential(nn.BatchNorm1d(8), nn.Dropout(0.5), nn.LayerNorm(8), nn.ReLU(True))
    x = normal(5, 8, seed=0)
    before, state, kept = copy.deepcopy(model.state_dict()), torch.get_rng_state(), x.clone()
    look(model, x)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert torch.equal(state, torch.get_rng_state())
    assert torch.equal(x, kept)
    assert torch.get_default_dtype() == torch.float32
    for each in model.modules():
        assert each.training
        assert [*each._forward_hooks, *each._forward_pre_hooks] == []
        assert "forward" not in vars(each)
        assert all(p.grad is None for p in each.parameters())


@both
def test_what_is_no_module_or_can_not_be_copied_gets_one_sentence(look):
    for given, name in (([nn.Linear(4, 4)], "list"), (nn.LayerNorm, "LayerNorm")):
        with pytest.raises(
            TypeError, match=rf"^{look.__name__} needs a module .*, but got {name}\.$"
        ):
            look(given, torch.ones(4))
    model = nn.Linear(4, 4)
    model.kept = torch.ones(2, requires_grad=True) * 2
    with pytest.raises(TypeError, match="works on a copy of the model, and this one can't be"):
        look(model, torch.ones(4))


class OnePass(nn.LayerNorm):
    """E[x²] − E[x]², which loses all digits of a row that is far from zero."""

    def forward(self, x):
        mean, square = x.mean(-1, keepdim=True), x.square().mean(-1, keepdim=True)
        return (x - mean) / (square - mean.square() + self.eps).sqrt()


def compiled(module):
    return torch.compile(module, backend="eager")


@both
@pytest.mark.parametrize("wrap", [compiled, nn.DataParallel], ids=["compile", "DataParallel"])
def test_a_wrapper_is_looked_through_and_names_are_those_inside(look, wrap):
    plain, x = nn.Sequential(nn.Identity(), OnePass(8)), normal(5, 8, seed=0) + 1000
    models = wrap(plain), nn.Sequential(plain[0], wrap(plain[1])), nn.DataParallel(wrap(plain))
    assert "1 (OnePass)" in str(look(plain, x))
    for model in models:
        inside = dict(model.named_modules())
        assert str(look(model, x)) == str(look(plain, x))
        assert dict(model.named_modules()) == inside


@both
@pytest.mark.parametrize("as_script", [torch.jit.script, lambda m: torch.jit.trace(m, X)])
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_torch_script_is_refused_in_one_sentence(look, as_script):
    script = as_script(nn.LayerNorm(8))
    for model in (script, nn.Sequential(script)):
        with pytest.raises(
            TypeError, match=rf"^{look.__name__} can't look into TorchScript: give .*\.$"
        ):
            look(model, X)


class Noisy(nn.LayerNorm):
    def forward(self, x):
        print("a layer that prints")
        logging.getLogger("torch").warning("and logs")
        warnings.warn("and warns", stacklevel=1)
        return super().forward(x)


def test_what_a_layer_prints_logs_and_warns_of_is_not_shown(capfd, recwarn):
    assert diagnose(Noisy(8)).right
    assert not first_wrong(Noisy(8), torch.ones(2, 8)).off
    assert norms_of(Noisy(8), torch.ones(2, 8)).norms
    assert [*capfd.readouterr(), *recwarn] == ["", ""]
    assert logging.root.manager.disable == logging.NOTSET
