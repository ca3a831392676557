"""An author is told what's wrong with the exercises of a lesson, and in which line."""

import sys
from types import ModuleType

import pytest
from exercise_banks import BANK, ROOM

from lnorm_course.checking.bank import BankLoader
from lnorm_course.checking.exercise import Exercise
from lnorm_staff.check_lesson import main, problems
from lnorm_staff.exercise_words import exercise_words

TEXT = """# Of nothing.

```python
X = torch.arange(6.0).reshape(2, 3).double()
```

how_many
    right  6  # Three in each of two rows.
    wrong  6.001  # That's a little more.
    wrong  2  # Those are the rows.
    wrong  2.005  # Those are the rows, and a little more.
    choose [6, 2, 3]
    hint   There are 6.

center(x)
    on     x: X
    norm   norm.mean(x)
    hint   Subtract the mean.
    hint   Return x - x.mean(-1, keepdim=True).
    gaps
        def centered(x):
            x = x ⟨+ 0
                ¦ + 1 ⇒ You added 1.
                ¦ * 2 ⇒ You doubled it.⟩
            return x - x.mean(-1, keepdim=True)
    wrong  norm.center(x)  # You centered it.
    wrong  norm.center(x) * 2  # You multiplied by two.
    wrong  norm.center(x) * 3  # You multiplied by three.
"""


@pytest.fixture
def found(tmp_path, monkeypatch):
    def problems_of(text):
        path = tmp_path / "example.txt"
        path.write_text(text, "utf-8")
        module = ModuleType("example")
        monkeypatch.setitem(sys.modules, "example", module)
        monkeypatch.setattr(Exercise, "bank", {})
        BankLoader("example", str(path)).exec_module(module)
        told = [line.removeprefix("example.txt, line ") for line in problems(path, vars(module))]
        return [(int(number), said) for number, _, said in (line.partition(": ") for line in told)]

    return problems_of


def test_what_is_wrong_is_told_with_its_line(found):
    assert found(TEXT) == [
        (7, "'how_many' needs at least two hints."),
        (9, "6.001 is too close to 6 on line 8."),
        (11, "2.005 is too close to 2 on line 10."),
        (11, "the value 2.005 gets a different message: Those are the rows."),
        (12, "the choice 3 has no entry."),
        (13, "the hint gives away the answer, 6."),
        (17, "`norm` and the program give different results."),
        (19, "the hint gives away the answer, x - x.mean(-1, keepdim=True)."),
        (23, "the distractor '+ 1' gives the right result for every input."),
        (26, "this mistake is judged right, not wrong."),
    ]


def lines_told_other_words(problems):
    return [line for line, said in problems if line > 15 and "message" in said]


def test_two_mistakes_with_the_same_results_and_other_words_are_told(found):
    text = TEXT.replace("    norm   norm.mean(x)\n", "").replace("norm.center(x)", "(x - x.mean())")
    assert lines_told_other_words(found(text)) == []
    assert lines_told_other_words(found(text.replace("* 3  # You", "* 2  # You"))) == [26, 27]


def test_two_pieces_with_the_same_results_and_other_words_are_told(found):
    text = TEXT.replace("¦ + 1 ⇒", "¦ + x ⇒").replace("    norm   norm.mean(x)\n", "")
    text = text.replace("norm.center(x)", "(x - x.mean())")
    assert lines_told_other_words(found(text.replace("(x - x.mean()) * 2", "x"))) == [22, 23]


def test_a_name_that_another_text_has_is_told(found, tmp_path):
    (tmp_path / "other.txt").write_text(
        "center\n    right  1  # One.\n    hint   Count.\n", "utf-8"
    )
    assert (15, "other.txt also contains 'center'.") in found(TEXT)


@pytest.mark.parametrize("topic", [file.stem for file in sorted(ROOM.glob("*.txt"))])
def test_nothing_is_wrong_in_the_texts_of_the_course(topic):
    assert list(problems(ROOM / f"{topic}.txt", BANK[topic])) == []


def test_the_exercises_are_printed_with_their_questions(capsys):
    assert main(["speed"]) == 0
    shown = capsys.readouterr().out
    assert exercise_words()["slower_copy"] in shown
    assert "hint" in shown
    assert "no problems found" in shown
