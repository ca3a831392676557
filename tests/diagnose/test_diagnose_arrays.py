"""Two arrays: every explanation that fits is named, and random numbers are not explained."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lnorm_course import diagnose
from lnorm_course.diagnose.__main__ import main


def numbers(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


X, WEIGHT, BIAS = numbers(4, 6, 8), numbers(8, seed=1), numbers(8, seed=2)


def test_arbitrary_numbers_are_not_explained():
    for shape in ((2,), (3, 1), (2, 3), (2, 3, 4)):
        x, y = (numbers(*shape, seed=seed) for seed in (100, 200))
        pair = ((3 * x).round(), (3 * y).round()) if len(shape) < 3 else (x, y)
        assert diagnose(*pair).right is None, shape


def test_right_numbers_are_right_only_as_far_as_one_pair_tells():
    diagnosis = diagnose(X, F.layer_norm(X, (8,)))
    assert diagnosis.right
    assert any("ε is added outside the root" in place for place in diagnosis.places)


def test_all_explanations_are_named_and_an_input_that_tells_them_apart():
    diagnosis = diagnose(X, (X - X.mean(-1, keepdim=True)) / X.std(-1, keepdim=True))
    assert len(diagnosis.slips) > 1
    assert all("D − 1" in slip for slip in diagnosis.slips)
    assert "would tell them apart" in diagnosis.places[0]


@pytest.mark.parametrize(
    ("y", "options", "words"),
    [
        (F.rms_norm(X, (8,), 1 + WEIGHT, 1e-5), {"weight": WEIGHT}, "1 + γ"),
        (F.layer_norm(X, (8,), WEIGHT), {"weight": WEIGHT, "bias": BIAS}, "β is left out"),
        (F.layer_norm(X, (8,), WEIGHT, BIAS), {}, "wasn't given"),
        (F.layer_norm(X, (8,)).mT, {}, "transposed"),
        (F.layer_norm(X, (6, 8)), {}, "all axes but the first"),
        (F.layer_norm(X, (8,), eps=1e-3), {}, "1e-3"),
        (F.layer_norm(X, (8,)), {"like": nn.RMSNorm(8)}, "layer norm"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_difference_between_frameworks_is_named(y, options, words):
    diagnosis = diagnose(X.numpy(), y.detach().numpy(), **options)
    assert diagnosis.right is False
    assert words in repr(diagnosis)


def test_channels_first_is_named():
    x = numbers(2, 8, 5, 5)
    y = F.layer_norm(x.movedim(1, -1), (8,), WEIGHT, BIAS, 1e-6).movedim(-1, 1)
    assert "channels" in diagnose(x, y, weight=WEIGHT, bias=BIAS, eps=1e-6).verdict


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((X, X[:2]), {}, "have the same shape"),
        ((X, X * torch.inf), {}, "aren't finite"),
        ((X, X), {"weight": numbers(5)}, "should end with these sizes"),
        ((X, [["a"]]), {}, "isn't made of numbers"),
        ((X,), {}, "give two arrays"),
        ((X, X), {"like": nn.Linear(8, 8)}, "like must be"),
        ((X, X), {"eps": -1}, "eps must be"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_does_not_fit_gets_one_clear_sentence(arguments, options, words):
    with pytest.raises((TypeError, ValueError), match=words):
        diagnose(*arguments, **options)


def test_every_kind_of_file_can_be_read(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    x, y = numbers(6, 8), F.layer_norm(numbers(6, 8), (8,), eps=1e-3)
    np.save(tmp_path / "x.npy", x.numpy())
    torch.save(y, tmp_path / "y.pt")
    np.savetxt(tmp_path / "y.csv", y.numpy(), delimiter=",")
    np.savez(tmp_path / "both.npz", x=x.numpy(), y=y.numpy())
    for names in (["x.npy", "y.pt"], ["x.npy", "y.csv"], ["both.npz"]):
        assert main(names) == 1
        assert "Your ε is 1e-3" in capsys.readouterr().out


def test_a_file_that_holds_code_is_refused(tmp_path, capsys):
    torch.save(nn.Linear(2, 2), tmp_path / "x.pt")
    with pytest.raises(SystemExit, match="2"):
        main([str(tmp_path / "x.pt"), str(tmp_path / "x.pt")])
    assert "x.pt can't be read as pt" in capsys.readouterr().err
