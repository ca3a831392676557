"""Print how many wrong programs are named, or placed, and by what.

The programs are the wrong answers in `tests/exercises/answers` to exercises in code, and those in
`tests/slips/programs.txt`; `ARGS=FILE` reads a list of the same form in their place. A
program is named if the feedback has a name for its mistake, and placed if it says which place in
the source alone has to be changed. `ARGS=--all` also prints what each is told.
"""

import argparse
import warnings
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median
from time import process_time

from exercise_banks import BY_NAME
from student_answers import ANSWERS, read
from test_programs import programs

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.feedback import State, first_sentence

PLACED = "Look at `"


def attempts_in(answers):
    """Return the name of the exercise, the source, and the attempt of each wrong answer in code."""
    return [
        (answer.exercise, answer.source, answer.attempt())
        for answer in answers
        if answer.state is State.WRONG and isinstance(BY_NAME[answer.exercise], CodeExercise)
    ]


def done_of(part):
    """Return how a message about a mistake or a piece begins."""
    return first_sentence(part.why)


def kind_of(exercise, feedback):
    """Return what became of an attempt, and what said it."""
    if feedback.state is not State.WRONG:
        return "not refused", feedback.state.value
    if feedback.message.startswith(PLACED):
        return "placed", "a place"
    if not feedback.mistake:
        return "neither", "the first difference, or an error"
    search = exercise.search
    for parts, what in (
        (search.mistakes, "a mistake of the exercise"),
        (search.own_pieces, "a wrong piece of its own program"),
        (search.model_pieces, "a wrong piece of its model"),
    ):
        if any(feedback.message.startswith(done_of(part)) for part in parts):
            return "named", what
    for begin in ("Two things", "Either"):
        if feedback.message.startswith(begin):
            return "named", f"{begin.lower()} …"
    return "named", "what the numbers say"


def report(title, attempts, is_all):
    """Judge attempts and print the sums."""
    kinds, seconds = Counter(), defaultdict(list)
    for name, source, attempt in attempts:
        exercise, start = BY_NAME[name], process_time()
        feedback = exercise.judge(attempt)
        seconds[name].append(process_time() - start)
        kind = kind_of(exercise, feedback)
        kinds[kind] += 1
        if is_all:
            print(f"{kind[0]:7} {name}: {source!r}\n        {feedback.message}")
    print(f"\n{title}: {len(attempts)} wrong programs")
    for kind in dict.fromkeys(each for each, _ in sorted(kinds)):
        of_kind = {what: count for (each, what), count in kinds.items() if each == kind}
        print(f"{sum(of_kind.values()):6} {kind}")
        for what, count in sorted(of_kind.items(), key=lambda item: -item[1]):
            print(f"{count:12} {what}")
    first = [each[0] for each in seconds.values()]
    later = [each for own in seconds.values() for each in own[1:]] or [0.0]
    print(
        f"CPU seconds: first attempt median {median(first):.2f}, slowest {max(first):.2f}; "
        f"later ones median {median(later):.3f}, slowest {max(later):.2f}; "
        f"in all {sum(map(sum, seconds.values())):.0f}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="lists of answers")
    parser.add_argument("--all", action="store_true", help="print what each program is told")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of wrong programs
    if options.files:
        for file in options.files:
            report(file.name, attempts_in(read(file)), options.all)
        return
    report("answers", attempts_in(ANSWERS), options.all)
    report("programs.txt", programs(), options.all)


if __name__ == "__main__":
    main()
