"""Check the exercises of one lesson, while an author writes them: `make check LESSON=mean`.

Each exercise is printed with its question, and each entry of it is judged as an answer of a student
would be. What's wrong is told with its line in the text.
"""

import argparse
import importlib
import itertools
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lnorm_course.checking.bank_text import BankError, Entry, Section, sections
from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.comparing import plain, same
from lnorm_course.checking.exercise import Exercise
from lnorm_course.checking.feedback import Feedback, State, first_sentence
from lnorm_course.checking.prediction import ROUNDED, Prediction, Wrong
from lnorm_course.checking.search import Choice, Mistake, Raised
from lnorm_course.lab.lesson_files import ORIGINALS, read, topics
from lnorm_course.slips.beliefs import Belief

__all__ = ["main", "problems", "questions"]

FOLDER = Path(__file__).parents[1] / "lnorm_course" / "exercises"
Problems = Iterator[tuple[int, str]]


def main(argv: Sequence[str] | None = None) -> int:
    """Print the exercises on a topic, and what's wrong with them; return 1 if something is."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("topic", help="the topic of a lesson, such as mean")
    topic = parser.parse_args(argv).topic
    path = FOLDER / f"{topic}.txt"
    if not path.exists():
        parser.error(f"there's no {path.name}. Choose from: {', '.join(_texts())}.")
    try:
        asked = questions(topic)
        importlib.import_module(f"lnorm_course.exercises.{topic}")
        for section in sections(path):
            print(f"{section.name}, line {section.line}")
            print(f"  {asked.get(section.name, 'No lesson asks it.')}")
            for entry in section.entries:
                print(f"    {entry.line:4} {entry.word:7} {entry.rest or '…'}")
        found = [*problems(path, Exercise.bank[topic]), *_of_answers(topic)]
    except BankError as problem:
        found = [str(problem)]
    print(*found, sep="\n") if found else print(f"{path.name}: nothing is wrong.")
    return bool(found)


def _texts() -> list[str]:
    return sorted(file.stem for file in FOLDER.glob("*.txt"))


def questions(topic: str) -> dict[str, str]:
    """Return for each exercise on a topic the words of the cell above its check."""
    found, words = {}, ""
    for notebook in map(read, sorted(ORIGINALS.glob("*.ipynb"))):
        for cell in notebook["cells"] if topic in topics(notebook) else ():
            source = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                words = source
            for name in re.findall(r"^(\w+)\.check\(", source, re.MULTILINE):
                found[name] = words.replace("\n", "\n  ")
    return found


def problems(path: Path, bank: Mapping[str, Exercise]) -> Iterator[str]:
    """Judge all that a text says, and yield a sentence for each thing that's wrong in it."""
    for section in sections(path):
        exercise = bank[section.name]
        found = list(_of_hints(exercise, section))
        if isinstance(exercise, CodeExercise):
            found += _of_code(exercise, section)
        elif isinstance(exercise, Prediction):
            found += _of_values(exercise, section)
        for line, said in sorted(found):
            yield f"{path.name}, line {line}: {said}"


def _of_hints(exercise: Exercise, section: Section) -> Problems:
    code = exercise.shown_solution().code
    is_value = isinstance(exercise, Prediction)
    answer = str(plain(exercise.answers[0][0])) if is_value else code.rsplit("return ")[-1]  # type: ignore[attr-defined]
    given = re.compile(rf"(?<![\w.]){re.escape(answer)}(?!\w|\.\d)", re.IGNORECASE)
    hints = section.all("hint")
    if len(hints) < 2:
        yield section.line, f"{section.name!r} needs two hints."
    if is_value or not answer.isidentifier():  # a name alone gives nothing away
        for hint in hints:
            if given.search(hint.rest):
                yield hint.line, f"the hint tells the answer, {answer}."


def _as_told(feedback: Feedback, message: str, belief: Belief | None) -> bool:
    """Tell whether a wrong answer is told these words, which name the mistake, and this belief."""
    beliefs = (belief,) if belief else ()
    named = feedback.mistake == first_sentence(message) and feedback.message.startswith(message)
    return named and feedback.beliefs == beliefs


def _of_values(exercise: Prediction, section: Section) -> Problems:
    entries = section.all("right") + section.all("wrong")
    known = [Wrong(*answer) for answer in exercise.answers] + exercise.wrong
    values = [value for value, *_ in known]
    within = 1.5 * max(exercise.within, ROUNDED)
    for entry, (value, message, belief) in zip(entries, known, strict=True):
        feedback = exercise.judge(value)
        if feedback.state.name.lower() != entry.word:
            yield entry.line, f"the value {value!r} is called {feedback.state.name.lower()}."
        elif entry.word == "wrong" and not _as_told(feedback, message, belief):
            yield entry.line, f"the value {value!r} is told other words: {feedback.message}"
    for (one, value), (other, near) in itertools.combinations(zip(entries, values, strict=True), 2):
        if "wrong" in (one.word, other.word) and same(value, near, within):
            yield other.line, f"{near!r} is too close to {value!r} in line {one.line}."
    for choice in set(exercise.choices) - {value for value in values if not isinstance(value, str)}:
        yield section.all("choose")[0].line, f"nothing is said of the choice {choice!r}."


def _of_code(exercise: CodeExercise, section: Section) -> Problems:
    (gaps,) = section.all("gaps")
    if exercise.norm and exercise.judge(exercise.attempt(exercise.norm)).state is not State.RIGHT:
        yield section.all("norm")[0].line, "`norm` gives other results than the program."
    search = exercise.search
    lines = [entry.line for entry in section.all("wrong")]
    lines += [entry.line for entry in section.all("mistakes")] * (len(search.mistakes) - len(lines))
    for line, mistake in zip(lines, search.mistakes, strict=False):
        feedback = exercise.judge(exercise.attempt(mistake.function))
        belief = exercise.beliefs[mistake.function]
        if feedback.state is State.RIGHT:
            yield line, "this mistake is called right: it changes nothing on any input."
        elif not _as_told(feedback, mistake.why, belief):
            yield line, f"this mistake is told other words: {feedback.message}"
    yield from _of_gaps(exercise, gaps)
    yield from _of_equals(exercise, list(zip(lines, search.mistakes, strict=False)))
    template = exercise.template
    assert template is not None  # the reader has seen to it
    at = [template.gaps[choice.gap][choice.number].at for choice in search.choices]
    lines = [gaps.below_line + gaps.below[:each].count("\n") for each in at]
    yield from _of_equals(exercise, list(zip(lines, search.choices, strict=True)))


def _of_equals(exercise: CodeExercise, parts: Sequence[tuple[int, Mistake | Choice]]) -> Problems:
    """Find two wrong parts with the same results and other words, of which one would be said."""
    for (line, one), (other_line, other) in itertools.combinations(parts, 2):
        if one.why != other.why and _are_alike(exercise, one, other):
            numbers = range(len(exercise.inputs))
            results = {n: exercise.search.result((one,), n) for n in numbers}
            if exercise.search.of(results)[0] in ((one,), (other,)):
                told = f"the results are those of line {line}, but the words are others."
                yield other_line, told


def _are_alike(exercise: CodeExercise, one: Mistake | Choice, other: Mistake | Choice) -> bool:
    for number in range(len(exercise.inputs)):
        its, others = (exercise.search.result((each,), number) for each in (one, other))
        if isinstance(its, Raised) or not exercise.search.equal(its, others):
            return False
    return True


def _of_gaps(exercise: CodeExercise, entry: Entry) -> Problems:
    template = exercise.template
    assert template is not None
    for chosen in template.programs:
        marked = template.marked(chosen)
        if len(marked) > 1 or exercise.is_right_with(chosen) != bool(marked):
            continue
        pieces = [gap[n] for gap, n in zip(template.gaps, chosen, strict=True)]
        if marked:
            piece = pieces[marked[0]]
            line = entry.below_line + entry.below[: piece.at].count("\n")
            yield line, f"the wrong piece {piece.code!r} changes nothing on any input."
        else:
            code = ", ".join(repr(piece.code) for piece in pieces)
            yield entry.line, f"the program with {code} isn't right."


def _of_answers(topic: str) -> Iterator[str]:
    """Judge what students might answer, if the tests that know it are there."""
    try:
        answers = importlib.import_module("student_answers").ANSWERS
    except ModuleNotFoundError:
        return
    for answer in answers:
        if answer.exercise in Exercise.bank[topic]:
            feedback = answer.judge()
            if feedback.state is not answer.state or any(
                words not in feedback.message for words in answer.words
            ):
                said = f"{feedback.state.name.lower()}: {feedback.message}"
                yield f"tests/exercises/answers: {answer.exercise}: {answer.source}\n  is {said}"


if __name__ == "__main__":
    sys.exit(main())
