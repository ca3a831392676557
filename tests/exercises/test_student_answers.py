"""Each answer of a student gets the verdict that it deserves, and most mistakes are named."""

import pytest
from exercise_banks import CODE, WITH_NORM
from student_answers import ANSWERS

from lnorm_course.checking.feedback import State
from lnorm_course.checking.search import Explanations

ANSWERED = dict.fromkeys(answer.exercise for answer in ANSWERS)


def is_as_deserved(answer, feedback):
    """Tell whether feedback has the verdict of an answer, all of its words, and an end."""
    is_whole = answer.state is not State.WRONG or feedback.message.endswith((".", "?"))
    has_words = all(part in feedback.said for part in answer.words)
    return feedback.state is answer.state and has_words and is_whole


@pytest.mark.parametrize("exercise", ANSWERED)
def test_each_answer_gets_its_verdict_and_is_named_for_what_it_does(exercise):
    judged = [(answer, answer.judge()) for answer in ANSWERS if answer.exercise == exercise]
    assert [f"{a.source} → {told}" for a, told in judged if not is_as_deserved(a, told)] == []


# Here and not beside the models, because it looks through what the answers above have made run.
@pytest.mark.parametrize("exercise", WITH_NORM, ids=lambda exercise: exercise.name)
def test_what_a_wrong_piece_gives_is_explained_by_it_or_by_the_exercises_own_mistake(exercise):
    search: Explanations = exercise.search
    numbers = range(len(exercise.right))
    unexplained = []
    for piece in search.model_pieces:
        results = {n: search.result((piece,), n) for n in numbers}
        if all(search.equal(results[n], exercise.right[n]) for n in numbers):
            continue
        found = search.of(results, piece.has)
        is_own = found and found[0][0] in [*search.mistakes, *search.own_pieces]
        if not is_own and (piece,) not in found:
            unexplained.append((piece.why, found))
    assert unexplained == []


def test_each_wrong_piece_changes_something_in_some_exercise():
    silent = {piece.code for exercise in WITH_NORM for piece in exercise.model.pieces}
    for search, right in ((exercise.search, exercise.right) for exercise in WITH_NORM):
        for piece in (each for each in search.model_pieces if each.code in silent):
            results = (search.result((piece,), n) for n in range(len(right)))
            if not all(map(search.equal, results, right)):
                silent.discard(piece.code)
    assert silent == set()


def test_every_exercise_that_is_code_has_wrong_answers():
    missing = {e.name for e in CODE} - {a.exercise for a in ANSWERS if a.state is State.WRONG}
    assert not missing, "give each of these wrong answers in a file of the folder answers"
