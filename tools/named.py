"""Print how many wrong programs are named, placed in their source, or neither.

The programs are the wrong answers in `tests/exercises/answers` to exercises in code, and those in
`tests/slips/programs.txt`; `ARGS=FILE` reads a list of answers in their place, and `ARGS=--all`
also prints what each is told. A program is named if the feedback has a name for its mistake, and
placed if it says which place in the source alone has to be changed.
"""

import argparse
import warnings
from collections import Counter
from pathlib import Path
from time import process_time

from exercise_banks import BY_NAME
from student_answers import ANSWERS, read
from test_programs import programs

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.feedback import State


def attempts_in(answers):
    """Return the name of the exercise, the source, and the attempt of each wrong answer in code."""
    return [
        (answer.exercise, answer.source, answer.attempt())
        for answer in answers
        if answer.state is State.WRONG and isinstance(BY_NAME[answer.exercise], CodeExercise)
    ]


def kind_of(feedback):
    if feedback.state is not State.WRONG:
        return "not refused"
    if feedback.message.startswith("Look at `"):
        return "placed"
    return "named" if feedback.mistake else "neither"


def report(title, attempts, is_all):
    """Judge attempts and print the sums."""
    kinds, seconds = Counter(), []
    for name, source, attempt in attempts:
        start = process_time()
        feedback = BY_NAME[name].judge(attempt)
        seconds.append(process_time() - start)
        kinds[kind_of(feedback)] += 1
        if is_all:
            print(f"{kind_of(feedback):7} {name}: {source!r}\n        {feedback.message}")
    print(f"{title}: {len(attempts)} wrong programs, {dict(kinds.most_common())}")
    print(f"CPU seconds: {sum(seconds):.0f} in all, slowest {max(seconds):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="lists of answers")
    parser.add_argument("--all", action="store_true", help="print what each program is told")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of wrong programs
    lists = {file.name: attempts_in(read(file)) for file in options.files}
    lists = lists or {"answers": attempts_in(ANSWERS), "programs.txt": programs()}
    for title, attempts in lists.items():
        report(title, attempts, options.all)


if __name__ == "__main__":
    main()
