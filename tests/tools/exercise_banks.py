"""Collect all exercises, for the tests of exercises and notebooks."""

import importlib
import re

from project import PROJECT

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.prediction import Prediction
from lnorm_course.exercises import Exercise

ROOM = PROJECT / "lnorm_course" / "exercises"

for file in sorted(ROOM.glob("[a-z]*.*")):
    if file.suffix in (".py", ".txt"):
        importlib.import_module(f"lnorm_course.exercises.{file.stem}")

TOPICS = [topic for topic in sorted(Exercise.bank) if [*ROOM.glob(f"{topic}.*")]]
BANK = {topic: Exercise.bank[topic] for topic in TOPICS}
EXERCISES = [exercise for exercises in BANK.values() for exercise in exercises.values()]
PREDICTIONS = [exercise for exercise in EXERCISES if isinstance(exercise, Prediction)]
CODE = [exercise for exercise in EXERCISES if isinstance(exercise, CodeExercise)]
WITH_NORM = [exercise for exercise in CODE if exercise.by_steps]
BY_NAME = {exercise.name: exercise for exercise in EXERCISES}


def known(exercise):
    """Return the wrong answers that an exercise lists, apart from its options."""
    if isinstance(exercise, Prediction):
        return exercise.wrong
    return [m._replace(answer=exercise.make([m])) for m in exercise.mistakes]


def words_of(html):
    return " ".join(re.sub("<[^>]+>", " ", html).split())
