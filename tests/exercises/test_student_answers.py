"""Each answer of a student gets the verdict that it deserves, and most mistakes are named."""

from functools import cache

import pytest
from exercise_banks import BY_NAME, CODE, WITH_NORM
from student_answers import ANSWERS

from lnorm_course.checking.feedback import State
from lnorm_course.checking.search import Search

ANSWERED = dict.fromkeys(answer.exercise for answer in ANSWERS)
OF_CODE = [exercise.name for exercise in CODE]


@cache
def judged(exercise):
    """Judge the answers to an exercise, once."""
    return [(answer, answer.judge()) for answer in ANSWERS if answer.exercise == exercise]


def is_as_deserved(answer, feedback):
    """Tell whether feedback has the verdict of an answer, all of its words, and an end."""
    is_whole = answer.state is not State.WRONG or feedback.message.endswith((".", "?"))
    has_words = all(part in feedback.message for part in answer.words)
    return feedback.state is answer.state and has_words and is_whole


# `make check LESSON=mean` chooses those of a topic by their ids.
@pytest.mark.parametrize("exercise", ANSWERED, ids=lambda name: f"{BY_NAME[name].topic}-{name}")
def test_each_answer_gets_its_verdict_and_is_named_for_what_it_does(exercise):
    others = [f"{a.source} → {f}" for a, f in judged(exercise) if not is_as_deserved(a, f)]
    assert not others, "\n".join(others)


@pytest.mark.parametrize("exercise", OF_CODE, ids=lambda name: f"{BY_NAME[name].topic}-{name}")
def test_every_exercise_that_is_code_has_wrong_answers(exercise):
    states = [answer.state for answer, _ in judged(exercise)]
    file = f"tests/exercises/answers/{BY_NAME[exercise].topic}.txt"
    assert State.WRONG in states, f"Give {exercise} wrong answers in {file}."


def test_of_a_hundred_wrong_answers_in_code_83_are_named_or_placed_in_the_source():
    wrong = [f for name in OF_CODE for _, f in judged(name) if f.state is State.WRONG]
    unnamed = [f for f in wrong if not f.mistake and not f.message.startswith("Look at `")]
    assert len(unnamed) < 0.17 * len(wrong), f"{len(unnamed)} of {len(wrong)} are neither"


# Here and not beside the models, because it looks through what the answers above have made run.
@pytest.mark.parametrize("exercise", WITH_NORM, ids=lambda exercise: exercise.name)
def test_what_a_distractor_gives_is_explained_by_it_or_by_the_exercises_own_mistake(exercise):
    search: Search = exercise.search
    numbers = range(len(exercise.right))
    unexplained = []
    for option in search.model_distractors:
        results = {n: search.result((option,), n) for n in numbers}
        if all(search.equal(results[n], exercise.right[n]) for n in numbers):
            continue
        shown = [each for each in option.has.split("|")[0].split("&") if each[:1] != "!"]
        found = search.find(results, " ".join(shown))
        is_own = found and found[0][0] in [*search.mistakes, *search.own_distractors]
        if not is_own and (option,) not in found:
            unexplained.append((option.why, found))
    assert unexplained == []


def test_each_distractor_changes_something_in_some_exercise():
    silent = {option.code for exercise in WITH_NORM for option in exercise.model.distractors}
    for search, right in ((exercise.search, exercise.right) for exercise in WITH_NORM):
        for option in (each for each in search.model_distractors if each.code in silent):
            results = (search.result((option,), n) for n in range(len(right)))
            if not all(map(search.equal, results, right)):
                silent.discard(option.code)
    assert silent == set()
