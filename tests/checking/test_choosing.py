"""A program with gaps is read, run, and says which gaps have to change."""

import pytest

from lnorm_course.checking.choosing import program_data
from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import Exercise
from lnorm_course.checking.prediction import Prediction
from lnorm_course.progress_files import CHOSEN, RIGHT, kept
from lnorm_diagnose.slips.notation import MOST, parse

TWO_GAPS = """def f(x):
    return x ⟨+ ¦ - ⇒ That's the wrong sign. ¦ * ⇒ That multiplies.⟩ ⟨1
        ¦ 2 ⇒ That's one too many.
        ¦ -1 ⇒ That goes the wrong way.⟩"""


@pytest.fixture
def exercise(monkeypatch, tmp_path):
    monkeypatch.setattr(Exercise, "bank", {})
    monkeypatch.setenv("LNORM_PROGRESS", str(tmp_path))
    add = CodeExercise(parse(TWO_GAPS), inputs={"the number 3": (3,)}, hints=[])
    other = Prediction(right=[(3, "")], wrong=[], hints=[])
    add.put_in_bank("example", "add")
    other.put_in_bank("example", "other")
    return add


def chosen(template, *options):
    return tuple(
        [option.code for option in gap].index(code)
        for gap, code in zip(template.gaps, options, strict=True)
    )


def test_all_programs_that_are_right_are_found(exercise):
    right = exercise.right_programs
    assert {*right} == {chosen(exercise.template, *p.split()) for p in ("+ 1", "- -1")}


def test_what_is_no_program_or_fails_is_wrong(exercise):
    for body in ("return x +", "return y", "raise SystemExit"):
        exercise.template = template = parse(f"def f(x):\n    ⟨{body} ¦ return x + 1⟩")
        assert not exercise.is_right_with(chosen(template, body))
        assert exercise.is_right_with(chosen(template, "return x + 1"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "needs at least one gap"),
        ("⟨x⟩", "two or more options"),
        ("⟨x ¦ x ⇒ It's wrong.⟩", "all different"),
        ("⟨x ⇒ It's wrong. ¦ y ⇒ So is this.⟩", "A gap's first option is right"),
        ("⟨x ¦ y ⇒ no period⟩", "a sentence with a period"),
        ("⟨x ¦ y ⇒ It's wrong. ⇒ Twice.⟩", "a sentence with a period"),
        ("⟨x ¦ y⟩ + ⟨x ¦ ⟨y⟩⟩", "a ⟨ outside of a gap"),
        ("⟨x ¦ y⟩ ¦ z", "a ¦ outside of a gap"),
        ("⟨x ¦ y⟩" * 10, f"1024 programs, but at most {MOST}"),
    ],
)
def test_a_template_that_is_written_wrongly_is_refused_in_a_sentence(text, message):
    with pytest.raises(ValueError, match=message):
        parse(text)


def test_it_is_kept_as_chosen_until_it_is_written(exercise):
    widget = exercise.shown_choices()
    assert kept("example", "add") == ""
    widget._handle_custom_msg("right", [])
    assert kept("example", "add") == CHOSEN
    exercise.check(lambda x: x)
    assert kept("example", "add") == CHOSEN
    exercise.check(lambda x: x + 1)
    assert kept("example", "add") == RIGHT


def test_the_last_hint_names_it_only_where_there_is_a_template(exercise, capsys):
    exercise.hint()
    assert ".choose()" in capsys.readouterr().out
    other = Exercise.bank["example"]["other"]
    other.hint()
    assert ".choose()" not in capsys.readouterr().out


def test_sentences_are_shown_as_html():
    data = program_data(parse("⟨x ¦ y<2 ⇒ Use `x`.⟩"), [], "Yes.")
    assert data["gaps"][0][1] == {"code": "y<2", "html": "Use <code>x</code>."}
