"""Models are right without distractors, and go on being right for others with some."""

import shutil

import pytest
import torch
import torch.nn.functional as F
from exercise_banks import BY_NAME

from lnorm_diagnose.slips.models import FOLDER, LAST, RMS_NORM, SENTENCES, ErrorModel, last_axes
from lnorm_diagnose.slips.notation import TextError
from lnorm_utils.data import normal
from lnorm_utils.words import first_sentence

X = normal(3, 2, 4, seed=1).double() + 1
GAMMA, BETA = normal(4, seed=2).double(), normal(4, seed=3).double()
EPS = 0.1


def test_without_distractors_layer_norm_is_that_of_pytorch_step_by_step():
    norm = SENTENCES.with_distractors()
    right = F.layer_norm(X, [4], GAMMA, BETA, EPS)
    torch.testing.assert_close(norm.layer_norm(X, GAMMA, BETA, eps=EPS), right)
    torch.testing.assert_close(norm.layer_norm(X, GAMMA, None, eps=EPS) + BETA, right)
    torch.testing.assert_close(norm.variance(X), X.var(-1, correction=0, keepdim=True))
    both = norm.standardize(X, (-2, -1), EPS)
    torch.testing.assert_close(both, F.layer_norm(X, [2, 4], eps=EPS))


def test_without_distractors_the_relatives_are_those_of_pytorch():
    rms = RMS_NORM.with_distractors().standardize(X, eps=EPS)
    torch.testing.assert_close(rms, F.rms_norm(X, [4], eps=EPS))
    q, k, v = normal(3, 2, 5, 4, seed=4).double()
    attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(BY_NAME["attend"].model.with_distractors().mix(q, k, v), attended)


def test_a_model_with_distractors_goes_on_being_right_for_others():
    of_layer = ErrorModel("norm_steps", "module_class", axes=LAST)
    left_out = next(p for p in of_layer.distractors if p.why.startswith("ε is left out."))
    layer = of_layer.with_distractors([left_out]).layer(4, EPS).double()
    torch.testing.assert_close(layer(X), F.layer_norm(X, [4], eps=0.0))
    right = of_layer.with_distractors().layer(4, EPS).double()
    torch.testing.assert_close(right(X), F.layer_norm(X, [4], eps=EPS))
    with pytest.raises(ValueError, match=r"4.*3"):
        layer(torch.ones(2, 3).double())


def test_axes_are_called_what_they_are():
    over = {first_sentence(p.why): p for p in SENTENCES.distractors if p.step == "standardize"}
    norm = SENTENCES.with_distractors([over["You averaged over the batch and the positions"]])
    statistics = {"dim": (0, 1), "keepdim": True}
    expected = (X - X.mean(**statistics)) / (X.var(**statistics, correction=0) + EPS).sqrt()
    torch.testing.assert_close(norm.standardize(X, eps=EPS), expected)


def test_the_last_axes_are_no_wrong_choice_and_none_stands_there_twice():
    choices = [[code for _, code, _ in last_axes(count).wrong] for count in (1, 2)]
    for code, is_in in {  # among the last axis, and the last two
        "-1": [False, True],
        "(-2, -1)": [True, False],
        "tuple(range(count(dim)))": [False, True],  # of one axis it's axis 0
        "0": [True, True],
    }.items():
        assert [code in each for each in choices] == is_in


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        (
            "⇒ You took the median.",
            "⇒ You took the {median}.",
            14,
            "braces must be one of {variance}",
        ),
        ("{wrong}. {norm} takes the mean over", "{number}.", 6, "braces must be one of {variance}"),
        ("- x.mean(inner, keepdim", "- x.maen(inner keepdim", 30, "isn't Python"),
        ("squares.sum(dim, keepdim=True) ⇒", "squares.sum(dim,, True) ⇒", 51, "isn't Python"),
        ("self.root(var) + eps ⇒", "self.root(var) + eps) ⇒", 67, "isn't Python"),
        ("        g, b = weight", "        g, b == = weight", 143, "isn't Python"),
        ("(share(x, dim) - 1) ⇒ Your mean", "(shrae(x, dim) - 1) ⇒ Your mean", 12, "'shrae'"),
        ("needs β", "needs γ", 145, "[needs γ] is neither a misconception nor a tag"),
        ("the median. {norm} takes the mean.", "the median", 14, "a sentence with a period"),
        ("⟨x - mean", "⟨x - mean⟩", 21, "a ¦ outside of a gap"),
    ],
)
def test_an_author_is_told_the_line_of_a_mistake_in_a_model(tmp_path, old, new, line, message):
    text = (FOLDER / "norm_steps.txt").read_text("utf-8")
    assert old in text
    (tmp_path / "norm_steps.txt").write_text(text.replace(old, new, 1), "utf-8")
    shutil.copy(FOLDER / "module_class.txt", tmp_path)
    with pytest.raises(TextError) as problem:
        _ = ErrorModel("norm_steps", "module_class", axes=LAST, folder=tmp_path).distractors
    assert str(problem.value).startswith(f"norm_steps.txt, line {line}: ")
    assert message in str(problem.value)
