"""Hand out copies of the course, and grade submissions: python -m lnorm_staff.grading."""

import argparse
import asyncio
import contextlib
import io
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from lnorm_course.lab.lesson_files import ORIGINALS, LessonError
from lnorm_course.lab.working_copy import lesson_named
from lnorm_staff.grading.collect.handed_in import HandedIn, collect
from lnorm_staff.grading.grade import ON_ANOTHER, STRAY, UNTOUCHED, Grade, in_short
from lnorm_staff.grading.hand_out import COURSE, student_zip
from lnorm_staff.grading.report import class_folder
from lnorm_staff.grading.report.gradebook import read_gradebook
from lnorm_staff.grading.report.summary import summarize
from lnorm_staff.grading.run.grade_many import grade_many
from lnorm_staff.grading.run.sandbox import problem, walls
from lnorm_staff.tables import TableError

NO_WALLS = """\
Nothing would keep the notebooks from reading and changing your files or using the network,
because bubblewrap (0.8 or newer) can't create a sandbox here: {}
docs/walls.md says what to do, including on Ubuntu 24.04. To go on anyway, add --without-walls."""
WITHOUT_WALLS = "Careful: the notebooks can read and change your files, and use the network."
ROOT = """\
You are root, so the students' code would run as root too. If it escaped from its sandbox, it
could do anything to this machine. Grade as a different user, or add --as-root."""
ENDING = "SIGTERM", "SIGHUP"  # a request to end, and what a closing terminal sends
MANY = (UNTOUCHED, STRAY, ON_ANOTHER)  # files in these states are counted, not listed


def main(arguments: list[str] | None = None) -> int:
    """Run the command given on the command line.

    Returns:
        0 on success, 1 on an error, 3 if some answers couldn't be judged, and 130 after Ctrl+C or
        a signal that asks the grader to end.
    """
    options = _parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):  # their encoding may lack letters that names contain
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    before = os.umask(options.umask)
    try:
        return options.command(options)
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    except (LessonError, TableError, OSError) as why:
        told = f"{why.filename or 'A file'}: {why.strerror}." if isinstance(why, OSError) else why
        print(told, *getattr(why, "__notes__", ()), sep="\n", file=sys.stderr)
        return 1
    finally:
        os.umask(before)


def _parser() -> argparse.ArgumentParser:
    """Return the command-line parser."""
    parser = argparse.ArgumentParser(prog="python -m lnorm_staff.grading", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="student or grade")
    student = commands.add_parser("student", help="pack a copy of the course without answers")
    student.add_argument("archive", type=_path, help="the zip archive to write")
    student.set_defaults(command=_write_copy, umask=0o022)
    graded = commands.add_parser("grade", help="grade notebooks, exercise by exercise")
    add = graded.add_argument
    about = "a notebook, a folder, or an archive; or exercises.csv, to rewrite the other files"
    add("submissions", type=_path, nargs="+", metavar="submission", help=about)
    add("--out", type=_path, help="folder for tables, report, and feedback")
    add("--class", type=_path, dest="gradebook", metavar="TABLE", help="from Moodle or Canvas")
    add("--timeout", type=float, default=60, help="seconds allowed for a cell (default: 60)")
    usable = getattr(os, "sched_getaffinity", lambda process: range(os.cpu_count() or 1))(0)
    add("--jobs", type=int, default=len(usable), help="notebooks at once (default: one per core)")
    add("--as-root", action="store_true", help="grade even as root")
    add("--without-walls", action="store_true", help="grade even without bubblewrap")
    add("--site", default="", help="address of your web edition, for links in the report")
    # No other user of this machine may open the files that the grader writes.
    graded.set_defaults(command=_grade, umask=0o077)
    for command in (student, graded):
        command.add_argument(
            "--lessons", type=_lesson, nargs="+", metavar="01", help="only these lessons"
        )
    return parser


def _path(text: str) -> Path:
    return Path(text).expanduser()


def _lesson(text: str) -> str:
    try:
        return lesson_named(ORIGINALS, text).stem
    except ValueError as problem:
        raise argparse.ArgumentTypeError(problem) from None


def _write_copy(options: argparse.Namespace) -> int:
    """Write a copy of the course for students."""
    student_zip(COURSE, options.archive, options.lessons)
    print(f"Wrote the copy for students to {options.archive}. Its solutions are closed.")
    return 0


def _grade(options: argparse.Namespace) -> int:
    """Print a line for each notebook, and write the results if there's a folder for them."""
    given = options.submissions
    is_table = [path.suffix for path in given] == [".csv"]
    out = options.out or (given[0].parent if is_table else None)
    # Read the earlier grades and the gradebook first, to report mistakes before the long run.
    before = class_folder.earlier(out) if out else []
    gradebook = read_gradebook(options.gradebook) if options.gradebook else None
    done: dict[Grade, list[Grade]] = {}
    grades: list[Grade] = []
    try:
        if is_table:
            grades = [*class_folder.read_grades(given[0])]
        else:
            # A script's background jobs ignore SIGINT. Without this handler, the one for `ENDING`
            # below, which raises SIGINT, would have no effect.
            by_hand = _signals(["SIGINT"], signal.default_int_handler)
            with by_hand, _signals(ENDING, lambda *_: signal.raise_signal(signal.SIGINT)):
                _run(options, done)
    finally:  # even after Ctrl+C or an error, so that no finished grade is lost
        told: list[str] = []
        if done:
            new = [each for of_file in done.values() for each in of_file]
            grades = class_folder.add_to(before, new)
            told = class_folder.kept(new, grades)
        if out and grades:
            with _signals((*ENDING, "SIGINT"), signal.SIG_IGN):
                results = class_folder.write_results(grades, out, gradebook, options.site)
                print(*told, *results, sep="\n")
    return 3 if told or any(student.pending for student in summarize(grades)) else 0


@contextlib.contextmanager
def _signals(names: Iterable[str], handler: Any) -> Iterator[None]:
    """During a `with` block, set a handler for the named signals that this system has."""
    kinds = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {kind: signal.signal(kind, handler) for kind in kinds}
    try:
        yield
    finally:
        for kind, former in before.items():
            signal.signal(kind, former)


def _run(options: argparse.Namespace, done: dict[Grade, list[Grade]]) -> None:
    """Run the submissions, print a line for each notebook, and store the grades in `done`.

    Raises:
        SystemExit: the options don't allow grading as root or without a sandbox, an option's value
            can't be used, or there's nothing to grade.
        OSError: a submission doesn't exist.
        KeyboardInterrupt: the user pressed Ctrl+C.
    """
    given = options.submissions
    if not (0 < options.timeout <= 86_400 and options.jobs > 0):
        sys.exit("--timeout must be above 0 and at most 86400 seconds, and --jobs at least 1.")
    if getattr(os, "geteuid", lambda: 1)() == 0 and not options.as_root:
        sys.exit(ROOT)
    if not walls():
        if not options.without_walls:
            sys.exit(NO_WALLS.format(problem()))
        print(WITHOUT_WALLS, file=sys.stderr)
    found = list(collect(given, options.lessons))
    if not found:
        sys.exit(f"There are no files in {', '.join(map(str, given))}.")
    for state, number in Counter(f.whole.state for f in found if f.whole.state in MANY).items():
        print(f"Notebooks {state}: {number:,}")
    files = [file for file in found if file.whole.state != ON_ANOTHER]
    students = [*dict.fromkeys(file.whole.student for file in files)]
    print(f"Students: {len(students)}, such as {', '.join(students[:5])}")

    def tell(file: HandedIn, grades: list[Grade]) -> None:
        done[file.whole] = grades
        if file.whole.state not in MANY:
            print(f"{grades[0].file}: {in_short(grades)}", flush=True)

    asyncio.run(grade_many(files, options.timeout, options.jobs, tell))


if __name__ == "__main__":
    sys.exit(main())
