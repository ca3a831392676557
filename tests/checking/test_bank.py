"""The text of a bank becomes exercises, and an author reads in which line a mistake is."""

import sys
from types import ModuleType

import pytest

from lnorm_course.checking.bank import BankLoader
from lnorm_course.checking.exercise import Exercise
from lnorm_course.checking.feedback import State
from lnorm_diagnose.slips.misconceptions import Misconception
from lnorm_diagnose.slips.notation import TextError

ONE_PASS = Misconception.ONE_PASS_IS_AS_GOOD
TEXT = """# Of nothing.

```python
X = torch.arange(6.0).reshape(2, 3).double()
ROWS = {"a longer x": (torch.arange(20.0).reshape(4, 5).double(),)}
```

# A comment.
how_many  (further)
    right  2 * 3  # Three in each
           of two rows.
    right  "six"  # In words.
    # Another comment.
    wrong  2  # Those are the rows. [over the batch]
    tol    0.1
    hint   Count.
    hint   Count again.

center(x)
    on     x: X
    on     ROWS
    right  # Each row has mean 0.
    hint   Subtract.
    gaps
        def centered(x):
            return x ⟨-
                ¦ + ⇒ You added
                      the mean. [one pass is as good]
                ¦ @ ⇒ That's a product.⟩ x.mean(-1, keepdim=True)
    wrong  x.mean(-1, keepdim=True)  # Those are the means.
    wrong  # You halved it.
        half = x / 2
        return half - half.mean(-1, keepdim=True)
"""


@pytest.fixture(autouse=True)
def no_bank(monkeypatch):
    monkeypatch.setattr(Exercise, "bank", {})


@pytest.fixture
def load(tmp_path, monkeypatch):
    def loaded(text):
        path = tmp_path / "example.txt"
        path.write_text(text, "utf-8")
        module = ModuleType("example")
        monkeypatch.setitem(sys.modules, "example", module)
        BankLoader("example", str(path)).exec_module(module)
        return module

    return loaded


def test_a_text_becomes_a_bank(load):
    module = load(TEXT)
    assert Exercise.bank == {"example": {"how_many": module.how_many, "center": module.center}}
    assert (module.TOPIC, module.__all__) == ("example", ["how_many", "center"])
    assert (module.how_many.further, module.center.further) == (True, False)


def test_the_values_of_a_prediction_are_told_their_words(load):
    how_many = load(TEXT).how_many
    assert how_many.judge(6.05).message == "Three in each of two rows."
    assert how_many.judge("six").message == "In words."
    wrong = how_many.judge(2)
    assert wrong.message == "Those are the rows."
    assert wrong.misconceptions == (Misconception.OVER_THE_BATCH,)
    assert how_many.hints == ["Count.", "Count again."]


def test_the_first_pieces_are_the_answer(load):
    center = load(TEXT).center
    code = center.shown_solution().code
    assert code == "def centered(x):\n    return x - x.mean(-1, keepdim=True)"
    right = center.judge(lambda x: x - x.mean(-1, True))
    assert (right.state, right.message) == (State.RIGHT, "Each row has mean 0.")
    assert center.input_words == ["on x", "on a longer x"]


@pytest.mark.parametrize(
    ("attempt", "message", "misconceptions"),
    [
        (lambda x: x.mean(-1, True) + x, "You added the mean.", (ONE_PASS,)),
        (lambda x: x.mean(-1, True), "Those are the means.", ()),
        (lambda x: (x - x.mean(-1, True)) / 2, "You halved it.", ()),
    ],
)
def test_a_distractor_is_a_mistake_as_others_are(load, attempt, message, misconceptions):
    feedback = load(TEXT).center.judge(attempt)
    assert (feedback.message, feedback.misconceptions) == (message, misconceptions)


@pytest.mark.parametrize(("tag", "is_said"), [("has clamp", False), ("has clamp|mean", True)])
def test_what_stands_in_brackets_decides_whether_a_piece_is_said(load, tag, is_said):
    text = TEXT.replace("[one pass is as good]", f"[{tag}, one pass is as good]")
    feedback = load(text).center.judge(lambda x: x + x.mean(-1, True))
    assert ("You added the mean." in feedback.message) == is_said
    assert feedback.misconceptions == (ONE_PASS,) * is_said


def test_an_error_is_not_taken_for_that_of_an_option(load):
    said = load(TEXT).center.judge(lambda x: x @ x.mean(-1, keepdim=True)).message
    assert "raised RuntimeError" in said
    assert "product" not in said


def test_a_distractor_does_not_change_the_inputs_for_others(load):
    text = TEXT.replace("return x ⟨-", "return ⟨x ¦ x.add_(1) ⇒ That changes x.⟩ ⟨-")
    center = load(text).center
    assert center.judge(lambda x: x * 3).state is State.WRONG  # which runs all mistakes
    assert center.judge(lambda x: x - x.mean(-1, True)).state is State.RIGHT


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("how_many  (further)", "how many", 9, "an exercise begins with"),
        ("    tol    0.1", "    tl     0.1", 15, "'tl' isn't one of the words right, wrong"),
        ("    tol    0.1", "   tol    0.1", 15, "indented by four spaces"),
        (
            "[over the batch]",
            "[over a batch]",
            14,
            "[over a batch] is neither a misconception nor a tag. Choose one of: over the batch",
        ),
        ("[over the batch]", "[has x, over the batch]", 14, "one misconception"),
        ("  # Those are the rows. [over the batch]", "", 14, "a sentence with a period"),
        ("    wrong  2 ", "    wrong  2 * 3 ", 14, "the value 6 is written twice"),
        ("    wrong  2 ", "    wrong  2 + ", 14, "this isn't Python"),
        ("    wrong  2 ", "    wrong  Y ", 14, "this raises NameError: name 'Y'"),
        ("ROWS = {", "ROWS = 1 / 0 + {", 5, "this raises ZeroDivisionError"),
        ("ROWS = {", "ROWS = = {", 5, "this isn't Python"),
        ("the mean. [one", "the mean [one", 27, "a sentence with a period"),
        ("the mean. [one", "the mean.⟩ [one", 29, "a ¦ outside of a gap"),
        ("[one pass is as good]", "[one pass]", 27, "[one pass] is neither a misconception nor"),
        ("¦ @ ⇒ That's a product.⟩", "¦ @ ⇒ That's a product.", 26, "a ⟨ outside of a gap"),
        ("¦ @ ⇒", "¦ ) ⇒", 29, "the program with ')' isn't Python: unmatched ')'"),
        ("keepdim=True)\n    wrong", "keepdim=)\n    wrong", 25, "this isn't Python"),
        ("def centered(x):", "def centered(x=nn.N):", 25, "this raises AttributeError"),
        ("return x ⟨-", "return x ⟨* ⇒ No. ¦ -", 26, "A gap's first option is right"),
        ("    hint   Subtract.\n", "", 19, "'center' has no `hint`"),
        ("    gaps\n        def", "    wrong  # It.\n        def", 19, "'center' has no `gaps`"),
        ("half = x / 2", "half = x / / 2", 32, "this isn't Python"),
        ("center(x)", "how_many(x)", 19, "two exercises called 'how_many'"),
    ],
)
def test_an_author_is_told_the_line_of_a_mistake(load, old, new, line, message):
    assert old in TEXT
    with pytest.raises(TextError) as problem:
        load(TEXT.replace(old, new, 1))
    assert str(problem.value).startswith(f"example.txt, line {line}: ")
    assert message in str(problem.value)
