"""Check the exercises of one lesson while an author writes them: `make check LESSON=mean`.

The command prints each exercise with its question, judges each entry as if it were a student's
answer, and reports each problem with its line number in the text file.
"""

import argparse
import importlib
import itertools
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lnorm_course.checking.bank import Section, sections
from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.comparing import plain, same
from lnorm_course.checking.exercise import Exercise
from lnorm_course.checking.feedback import Feedback, State
from lnorm_course.checking.prediction import ROUNDED, Prediction
from lnorm_diagnose.fewest_slips import Mistake
from lnorm_diagnose.slips.notation import TextError
from lnorm_staff.exercise_words import exercise_words

__all__ = ["main", "problems"]

FOLDER = Path(__file__).parents[1] / "lnorm_course" / "exercises"
Problems = Iterator[tuple[int, str]]


def main(argv: Sequence[str] | None = None) -> int:
    """Print the exercises on a topic and the problems in them; return 1 if there are problems."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    texts = sorted(file.stem for file in FOLDER.glob("*.txt"))
    parser.add_argument("topic", choices=texts, help="the topic of a lesson, such as mean")
    topic = parser.parse_args(argv).topic
    path, asked = FOLDER / f"{topic}.txt", exercise_words()
    try:
        importlib.import_module(f"lnorm_course.exercises.{topic}")
        for section in sections(path):
            print(f"{section.name}, line {section.line}")
            print(f"  {asked.get(section.name, 'No lesson contains it yet.')}")
            for entry in section.entries:
                print(f"    {entry.line:4} {entry.word:7} {entry.rest or '…'}")
        found = [*problems(path, Exercise.bank[topic])]
    except TextError as problem:
        found = [str(problem)]
    print(*found or [f"{path.name}: no problems found."], sep="\n")
    return bool(found)


def problems(path: Path, bank: Mapping[str, Exercise]) -> Iterator[str]:
    """Judge every entry in a text file of exercises, and yield a sentence for each problem."""
    texts = [text for text in path.parent.glob("*.txt") if text != path]
    others = {section.name: text.name for text in texts for section in sections(text)}
    for section in sections(path):
        if other := others.get(section.name):
            yield f"{path.name}, line {section.line}: {other} also contains {section.name!r}."
        exercise = bank[section.name]
        answer = exercise.shown_solution().code
        if isinstance(exercise, CodeExercise):
            found = [*_of_code(exercise, section), *_of_gaps(exercise, section)]
            answer = answer.rsplit("return ")[-1]
        elif isinstance(exercise, Prediction):
            found = [*_of_values(exercise, section)]
            answer = str(plain(exercise.answers[0][0]))
        found += _of_hints(section, answer)
        for line, said in sorted(found):
            yield f"{path.name}, line {line}: {said}"


def _of_hints(section: Section, answer: str) -> Problems:
    given = re.compile(rf"(?<![\w.]){re.escape(answer)}(?!\w|\.\d)", re.IGNORECASE)
    hints = section.all("hint")
    if len(hints) < 2:
        yield section.line, f"{section.name!r} needs at least two hints."
    is_name = section.is_code and answer.isidentifier()  # a hint may mention a bare name
    for hint in hints:
        if not is_name and given.search(hint.rest):
            yield hint.line, f"the hint gives away the answer, {answer}."


def _of_answer(line: int, what: str, state: str, known: Mistake, feedback: Feedback) -> Problems:
    """Report an answer that gets the wrong verdict or the feedback meant for another answer."""
    called = feedback.state.name.lower()
    if called != state:
        yield line, f"{what} is judged {called}, not {state}."
    elif [[id(part) for part in parts] for parts in feedback.found] != [[id(known)]]:
        yield line, f"{what} gets a different message: {feedback.message}"


def _of_values(exercise: Prediction, section: Section) -> Problems:
    entries = section.all("right") + section.all("wrong")
    known = exercise.answers + exercise.wrong
    for entry, answer in zip(entries, known, strict=True):
        what, feedback = f"the value {answer.answer!r}", exercise.judge(answer.answer)
        yield from _of_answer(entry.line, what, entry.word, answer, feedback)
    tol = 1.5 * max(exercise.tol, ROUNDED)
    pairs = itertools.combinations(zip(entries, known, strict=True), 2)
    for (one, (value, *_)), (other, (near, *_)) in pairs:
        if "wrong" in (one.word, other.word) and same(value, near, tol):
            yield other.line, f"{near!r} is too close to {value!r} on line {one.line}."
    values = {value for value, *_ in known if not isinstance(value, str)}
    for choice in set(exercise.choices) - values:
        yield section.all("choose")[0].line, f"the choice {choice!r} has no entry."


def _of_code(exercise: CodeExercise, section: Section) -> Problems:
    if exercise.by_steps and exercise.judge(exercise.make(())).state is not State.RIGHT:
        yield section.all("norm")[0].line, "`norm` and the program give different results."
    lines = [entry.line for entry in section.all("wrong")]
    families = itertools.repeat(max((e.line for e in section.all("mistakes")), default=0))
    each = zip(itertools.chain(lines, families), exercise.search.mistakes, strict=False)
    for line, mistake in each:
        feedback = exercise.judge(exercise.make((mistake,)))
        yield from _of_answer(line, "this mistake", "wrong", mistake, feedback)


def _of_gaps(exercise: CodeExercise, section: Section) -> Problems:
    """Report programs whose result contradicts their options, and options that two messages fit."""
    (entry,), template, search = section.all("gaps"), exercise.template, exercise.search
    for chosen in template.programs:
        options = template.options(chosen)
        wrong = [option for option in options if option.why]
        if len(wrong) > 1 or exercise.is_right_with(chosen) != bool(wrong):
            continue
        if wrong:
            said = f"the distractor {wrong[0].code!r} gives the right result for every input."
            yield entry.line_of(wrong[0].at), said
        else:
            code = ", ".join(repr(option.code) for option in options)
            yield entry.line, f"the program with {code} isn't right."
    for option in search.own_distractors:
        results = {n: search.result((option,), n) for n in range(len(exercise.inputs))}
        found = [part for (part,) in search.find(results, most=1)]
        others = [part.why for part in found if part.why != option.why]
        if option in found and others:
            yield entry.line_of(option.at), f"a second message fits {option.code!r}: {others[0]}"


if __name__ == "__main__":
    sys.exit(main())
