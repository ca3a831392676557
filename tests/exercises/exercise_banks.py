"""All exercises, as tests and notebooks look at them."""

import importlib
import re
from pathlib import Path

from lnorm_utils.exercises import Exercise

PROJECT = Path(__file__).parents[2]
ROOM = PROJECT / "lnorm_utils" / "exercises"

for file in sorted(ROOM.glob("*.py")):
    importlib.import_module(f"lnorm_utils.exercises.{file.stem}")

BANK = {
    lesson: Exercise.bank[lesson]
    for lesson in sorted(Exercise.bank)
    if (ROOM / f"{lesson}.py").exists()
}
EXERCISES = [exercise for exercises in BANK.values() for exercise in exercises.values()]
MISTAKES = [(exercise, mistake) for exercise in EXERCISES for mistake in exercise.mistakes]


def is_prediction(exercise):
    return exercise.inputs is None


def attempt_of(exercise, function):
    """Make the attempt of a student who thinks as an answer or a mistake of the bank does."""
    return function() if is_prediction(exercise) else function


def words_of(html):
    return " ".join(re.sub("<[^>]+>", " ", html).split())
