"""Whatever a student hands in, one sentence comes back, and it is true."""

import pytest
import torch

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.feedback import State
from lnorm_course.checking.prediction import Prediction
from lnorm_diagnose.fewest_slips import Mistake
from lnorm_diagnose.slips.misconceptions import Misconception
from lnorm_diagnose.slips.notation import parse

HINTS = ["Count.", "Count again."]


def made(program, inputs, mistakes=(), **options):
    """Make an exercise from its program, its inputs and functions that are mistakes."""
    given = {f"input {number}": arguments for number, arguments in enumerate(inputs)}
    behind = (Misconception.OVER_THE_BATCH,)
    known = [Mistake(m, " ".join(m.__doc__.split()), behind) for m in mistakes]
    return CodeExercise(parse(program), hints=HINTS, inputs=given, mistakes=known, **options)


def predicted(answer, *wrong, **options):
    known = [Mistake(value, f"It is not {value}. Count.") for value in wrong]
    return Prediction(right=[(answer, "One, two.")], wrong=known, hints=HINTS, **options)


SUMS = """def sums(x):
    return ⟨x.sum(-1) ¦ x.prod(-1) ⇒ You multiplied the numbers. Add them.⟩"""


def columns(x):
    """You summed
    the columns. Sum the rows."""
    return x.sum(0)


def blank(x): ...


def with_words_only(x):
    """Return the sums."""


def without_return(x):
    x.sum(-1)


def returning_once(x):
    return x.sum(-1) if x[0, 0] else None


X = torch.arange(6.0, dtype=torch.float64).reshape(2, 3)
ROWS = made(SUMS, [(X,), (X + 1,)], [columns])
NUMBER = Prediction(
    right=[(3.0, "One, two, three.")],
    wrong=[Mistake(2, "You began at zero. Begin at one.", (Misconception.ONE_MEAN_PER_SENTENCE,))],
    hints=HINTS,
    tol=0.01,
)
CHOICE = predicted(0.5, 0, 1, 0.3, choose=[0, 0.5, 1])
THIRD = predicted(1.0, 1 / 3)
RIGHT, WRONG, NOTHING = State.RIGHT, State.WRONG, State.NOT_ATTEMPTED
JUDGED = [
    (NUMBER, 3, RIGHT, "One, two, three."),
    (NUMBER, 2, WRONG, "You began at zero. Begin at one."),
    (NUMBER, 2.009, WRONG, "You began at zero."),
    (NUMBER, 2.011, WRONG, "it's not 2.011."),
    (ROWS, lambda x: torch.stack([sum(row) for row in x]), RIGHT, ""),
    (ROWS, lambda x: torch.nn.Parameter(x.sum(-1)), RIGHT, ""),
    # A blank body is no attempt, and one without `return` is asked about it.
    *((ROWS, attempt, NOTHING, "") for attempt in (None, blank, with_words_only)),
    *((ROWS, attempt, WRONG, "forget `return`") for attempt in (without_return, returning_once)),
    # A prediction may be rounded to two decimals to be a known mistake, and not to be right.
    *((THIRD, attempt, WRONG, "It is not 0.333") for attempt in (0.33, 0.3391)),
    *((THIRD, attempt, WRONG, f"it's not {attempt}") for attempt in (0.34, 1.004)),
    # With choices a number counts as the nearest one.
    (CHOICE, 0.5, RIGHT, "One, two."),
    (CHOICE, 0.6, RIGHT, "Of the choices, 0.5 is the closest to yours. One, two."),
    (CHOICE, 0.9, WRONG, "Of the choices, 1 is the closest to yours. It is not 1. Count."),
    (CHOICE, 0.75, WRONG, "closest of 0, 0.5, and 1."),
    (CHOICE, 1.3, WRONG, "closest of 0, 0.5, and 1."),
    (CHOICE, 0.3, WRONG, "It is not 0.3. Count."),
    (CHOICE, True, WRONG, "gave True"),
    (CHOICE, [0.5], WRONG, "gave a list"),
]


@pytest.mark.parametrize(("exercise", "attempt", "state", "words"), JUDGED)
def test_an_attempt_is_told_what_it_is(exercise, attempt, state, words):
    feedback = exercise.judge(attempt)
    assert feedback.state is state
    assert words in feedback.message


def test_a_known_mistake_is_named_with_its_misconception():
    feedback = NUMBER.judge(2)
    assert feedback.mistake == "You began at zero"
    assert feedback.misconceptions == (Misconception.ONE_MEAN_PER_SENTENCE,)
    feedback = ROWS.judge(columns)
    assert feedback.mistake == "You summed the columns"
    assert feedback.misconceptions == (Misconception.OVER_THE_BATCH,)


def test_a_mistake_that_shows_before_an_error_is_named_and_the_error_told():
    both = made(SUMS, [*ROWS.inputs, (torch.ones(3),)], [columns])
    feedback = both.judge(lambda x: x.sum(dim=(0,)) if x.ndim == 2 else x.sum(dim=1))
    assert feedback.mistake == "You summed the columns"
    assert "And your function raised IndexError" in feedback.message
    later = both.judge(lambda x: x.sum(dim=1)).message
    assert all(words in later for words in ("right on input 0", "on input 2 your function raised"))


def test_an_interrupt_while_comparing_ends_the_check():
    class Interrupting(torch.Tensor):
        def detach(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        NUMBER.judge(torch.ones(2).as_subclass(Interrupting))


def test_one_more_hint_is_shown_at_each_call(capsys):
    for _ in range(4):
        NUMBER.hint()
    first, second, *more = capsys.readouterr().out.splitlines()
    assert [first, second] == ["Hint: 1 of 2. Count.", "Hint: 2 of 2. Count again."]
    assert ["no more hints" in said for said in more] == [True, True]


def test_the_solution_is_a_value_with_its_reason_or_source(capsys):
    predicted((2, 3)).solution()
    ROWS.solution()
    source = "Solution.\ndef sums(x):\n    return x.sum(-1)\n"
    assert capsys.readouterr().out == f"Solution: One, two.\n(2, 3)\n{source}"


def test_a_mistake_is_named_first_and_what_to_do_comes_with_the_second_try(capsys):
    exercise = made(SUMS, [(X,), (X + 1,)])
    said = []
    for attempt in (lambda x: x.prod(-1), lambda x: x.prod(-1), lambda x: x.sum(-1)):
        exercise.check(attempt)
        said.append(capsys.readouterr().out)
    assert ["You multiplied" in each for each in said] == [True, True, False]
    assert ["Add them" in each for each in said] == [False, True, False]
    assert exercise.judge(lambda x: x.prod(-1)).message == "You multiplied the numbers. Add them."


def test_code_with_a_second_argument_is_told_to_be_passed_by_its_name(capsys):
    ROWS.check(lambda x: x, 1e-5)
    assert "only the name" in capsys.readouterr().out
