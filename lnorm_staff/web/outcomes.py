"""Run every program with gaps ahead, for pages that judge what a reader chooses."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lnorm_course.checking.bank import setups
from lnorm_course.checking.choosing import outcomes
from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import Exercise
from lnorm_course.checking.progress import import_banks
from lnorm_staff.web.exercises import exercise_named
from lnorm_staff.web.fingerprint import fingerprint

__all__ = ["all_outcomes"]

PROJECT = Path(__file__).parents[2]
RUNNING = ("lnorm_utils", "lnorm_course/checking", "lnorm_course/exercises", "lnorm_course/slips")
Job = tuple[str, str, Path]


def all_outcomes(cache: Path, run_all: Any = map) -> Mapping[tuple[str, str], bytes]:
    """Return the outcomes of each template, by the topic and the name of its exercise.

    Args:
        cache: the folder with those that were found before; what isn't needed any more is removed.
        run_all: like `map`, maybe in several processes.
    """
    cache.mkdir(parents=True, exist_ok=True)
    files = {key: cache / f"{'-'.join(key)}-{print_}" for key, print_ in _fingerprints().items()}
    list(run_all(_run, [(*key, file) for key, file in files.items() if not file.exists()]))
    for file in {*cache.iterdir()} - {*files.values()}:
        file.unlink()
    return {key: file.read_bytes() for key, file in files.items()}


def _run(job: Job) -> None:
    topic, name, file = job
    exercise: Any = exercise_named(topic, name)
    file.write_bytes(outcomes(exercise))


def _fingerprints() -> dict[tuple[str, str], str]:
    """Name for each template what its outcomes depend on."""
    import_banks()
    texts = sorted((PROJECT / "lnorm_course" / "exercises").glob("*.txt"))
    rooms = (file for room in RUNNING for file in (PROJECT / room).rglob("*.py"))
    code = fingerprint(rooms, *(source for text in texts for _, source in setups(text)))
    return {
        (topic, name): fingerprint(
            [t for t in texts if t.stem == topic], code, repr(exercise.template)
        )
        for topic, bank in Exercise.bank.items()
        for name, exercise in bank.items()
        if isinstance(exercise, CodeExercise)
    }
