"""All exercises, as tests and notebooks look at them."""

import importlib
import re

from project import PROJECT

from lnorm_utils.exercises import Exercise

ROOM = PROJECT / "lnorm_utils" / "exercises"

for file in sorted(ROOM.glob("*.py")):
    importlib.import_module(f"lnorm_utils.exercises.{file.stem}")

TOPICS = [topic for topic in sorted(Exercise.bank) if (ROOM / f"{topic}.py").exists()]
BANK = {topic: Exercise.bank[topic] for topic in TOPICS}
EXERCISES = [exercise for exercises in BANK.values() for exercise in exercises.values()]
MISTAKES = [(exercise, mistake) for exercise in EXERCISES for mistake in exercise.mistakes]


def is_prediction(exercise):
    return exercise.inputs is None


def attempt_of(exercise, function):
    """Make the attempt of a student who thinks as an answer or a mistake of the bank does."""
    return function() if is_prediction(exercise) else function


def words_of(html):
    return " ".join(re.sub("<[^>]+>", " ", html).split())
