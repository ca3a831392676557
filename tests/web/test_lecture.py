"""Lectures and polls: what there is to choose from, and what's said of a wrong line."""

import ast

import pytest
from exercise_banks import PREDICTIONS
from project import PROJECT

from lnorm_course.checking.feedback import State
from lnorm_staff.exercise_words import words_in_context
from lnorm_staff.web.exercises import options
from lnorm_staff.web.lecture import read_lectures
from lnorm_staff.web.polls import choices


def value_of(text, question, asked):
    """Return what somebody means who chooses a text."""
    _, told = options(asked, question)
    words = {said: word for word, said in told.items()} | {word: word for word in question.words}
    if text in words:
        return words[text]
    plain = text.replace("−", "-").replace("NaN", "float('nan')")
    plain = plain if plain.startswith("(") else plain.replace(",", "")
    return float("nan") if "nan" in plain else ast.literal_eval(plain)


@pytest.mark.parametrize("question", PREDICTIONS, ids=lambda one: one.name)
def test_of_the_choices_of_a_poll_the_judge_calls_one_right_and_the_others_what_they_tell(question):
    asked = words_in_context().get(question.name, "")
    found = choices(question, asked)
    assert len(found) == 1 + len(question.wrong) == len({choice.text for choice in found})
    assert sum(choice.is_right for choice in found) == 1
    for choice in found:
        feedback = question.judge(value_of(choice.text, question, asked))
        assert (feedback.state is State.RIGHT) == choice.is_right, choice.text
        assert choice.why in feedback.message


def test_a_lecture_takes_as_long_as_its_name_says():
    minutes = {"fifteen": 15, "fifty": 50, "ninety": 90}
    lectures = read_lectures(PROJECT / "docs/lectures.toml")
    assert minutes == {
        name: sum(part["minutes"] for part in parts) for name, parts in lectures.items()
    }


@pytest.mark.parametrize(
    ("line", "given", "there_is"),
    [
        ('ask = "plases"', "plases", "places"),
        ('show = "explore_colapse()"', "explore_colapse", "explore_collapse"),
        ("show = \"explore_row(preset='nope')\"", "nope", "four numbers"),
        ("show = \"explore_batch(preset='nope')\"", "nope", "batch of two"),
        ('asks = "places"', "asks", "minutes"),
        ('minutes = "five"', "five", "a number"),
        ("minutes = five", "", "Invalid value"),
    ],
)
def test_what_a_lecture_names_wrongly_is_said_with_its_line_and_with_what_there_is(
    line, given, there_is, tmp_path
):
    file = tmp_path / "lectures.toml"
    file.write_text(f'[[mine]]\nask = "humps"\n\n[[mine]]\nsay = ""\n{line}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"lectures\.toml.*line 6") as said:
        read_lectures(file)
    assert given in str(said.value)
    assert there_is in str(said.value)
