"""Hand out copies of the course, and grade what comes back: python -m lnorm_staff.grading."""

import argparse
import math
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from lnorm_course.lab.lesson_files import ORIGINALS
from lnorm_course.lab.working_copy import lesson_named
from lnorm_staff.grading.collect.handed_in import HandedIn, collect
from lnorm_staff.grading.collect.homes import Owner, collect_homes
from lnorm_staff.grading.collect.own_work import looked_at
from lnorm_staff.grading.files import private_files
from lnorm_staff.grading.grade import NOT_GRADED, STRAY, UNTOUCHED, Grade
from lnorm_staff.grading.hand_out.copies import COURSE, CopyError, student_copy, student_zip
from lnorm_staff.grading.plain_text import printable
from lnorm_staff.grading.report.class_folder import EXERCISES, GRADES, REPORT, write_results
from lnorm_staff.grading.report.class_list import ClassList, ClassListError, read_class_list
from lnorm_staff.grading.report.exercises_table import TableError, read_grades
from lnorm_staff.grading.report.terminal import TimeLeft, table
from lnorm_staff.grading.run.grade_many import grade_many
from lnorm_staff.grading.run.journal import Journal
from lnorm_staff.grading.run.sandbox import can_sandbox

NO_SANDBOX = (
    "Careful: the notebooks can read and change your files, and use the network. On Linux, install "
    "bubblewrap to prevent that. Elsewhere, grade in a container."
)
ROOT = (
    "You are root, so the students' code would run as root too. If it got out of its sandbox, it "
    "could do anything to this machine. Grade as another user, or add --as-root."
)
JOURNAL = "interrupted.jsonl"  # beside the results, until they are written


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line asks for, and return 0 if that worked; 130 after Ctrl-C.

    Raises:
        SystemExit: a submission does not exist, or the results cannot be written.
    """
    options = parser().parse_args(arguments)
    try:
        return options.command(options)
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="python -m lnorm_staff.grading", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="student, homes, grade or report")
    student = commands.add_parser("student", help="write a copy of the course without answers")
    student.add_argument(
        "out", type=Path, nargs="?", help="a folder that doesn't exist yet, or is empty"
    )
    student.add_argument("--zip", type=Path, help="write the copy as this zip archive")
    student.add_argument(
        "--lessons", nargs="+", metavar="LESSON", help="only these, such as 01 02 (all)"
    )
    student.add_argument(
        "--where",
        default="",
        metavar="ADDRESS",
        help="where students get the course",
    )
    student.add_argument(
        "--no-side-trips", action="store_true", help="leave out what comes after each recap"
    )
    student.set_defaults(command=write_copies)
    homes = commands.add_parser("homes", help="collect what students of a JupyterHub have done")
    homes.add_argument("homes", type=Path, help="the folder of their home folders, such as /home")
    homes.add_argument("--out", type=Path, required=True, help="a folder that isn't there yet")
    homes.add_argument("--owner", help="who will grade; with sudo, whoever called it")
    homes.set_defaults(command=collect_from_homes)
    graded = commands.add_parser("grade", help="grade notebooks, each exercise by itself")
    graded.add_argument(
        "submissions",
        type=Path,
        nargs="+",
        metavar="submission",
        help="a notebook, a folder of them, or a zip archive as Moodle or Canvas exports it",
    )
    graded.add_argument("--out", type=Path, help="write tables, report, and feedback here")
    graded.add_argument("--timeout", type=seconds, default=60, help="seconds for a cell (60)")
    graded.add_argument(
        "--jobs", type=count, default=os.cpu_count(), help="how many notebooks run at once (cores)"
    )
    graded.add_argument(
        "--resume", action="store_true", help="continue an interrupted call with --out"
    )
    graded.add_argument(
        "--lessons", nargs="+", metavar="LESSON", help="only these, such as 01 02 (all)"
    )
    graded.add_argument("--as-root", action="store_true", help="grade even as root")
    graded.set_defaults(command=grade_all)
    report = commands.add_parser("report", help="write the report on what was graded")
    report.add_argument(
        "graded",
        type=Path,
        nargs="+",
        help=f"folders of `grade --out`, or their {EXERCISES}",
    )
    report.add_argument("--out", type=Path, required=True, help="write the results to this folder")
    report.set_defaults(command=report_on_all)
    for command in (graded, report):
        command.add_argument(
            "--class",
            type=Path,
            dest="class_list",
            metavar="LIST",
            help="a table of the class, as Moodle, Canvas, or a spreadsheet saves it",
        )
        command.add_argument(
            "--semicolons", action="store_true", help="write tables with semicolons for commas"
        )
    return parser


def seconds(text: str) -> float:
    """Read a time of the command line.

    Raises:
        ArgumentTypeError: it is no time that can pass.
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return number


def count(text: str) -> int:
    """Read a number of the command line.

    Raises:
        ArgumentTypeError: it is no number, or less than 1.
    """
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def is_root() -> bool:
    """Tell whether this process may do anything."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def write_copies(options: argparse.Namespace) -> int:
    """Write the copy for students and return 0, or print why there is none and return 1."""
    if not (options.out or options.zip):
        print(
            "Say where to write the copy: name a folder, or an archive with --zip.", file=sys.stderr
        )
        return 1
    for write, out in ((student_copy, options.out), (student_zip, options.zip)):
        if not out:
            continue
        try:
            side_trips = not options.no_side_trips
            write(COURSE, out.expanduser(), options.lessons, options.where, side_trips)
        except CopyError as problem:
            print(problem, file=sys.stderr)
            return 1
        except OSError as problem:
            print(f"{problem.filename or out}: {problem.strerror}.", file=sys.stderr)
            return 1
        print(f"The copy for students is {out}. Its solutions are closed.")
    return 0


@private_files()
def collect_from_homes(options: argparse.Namespace) -> int:
    """Copy what is in the home folders for grading, say what isn't copied, and return 0."""
    out, copied = options.out.expanduser(), []
    if out.exists():
        sys.exit(f"{out} is there already. Name a folder that isn't.")
    try:
        for name, reason in collect_homes(options.homes.expanduser(), out, owner(options.owner)):
            if not reason:
                copied.append(name)
            else:
                print(printable(f"  {name}: {reason}"))
    except OSError as problem:
        sys.exit(f"{problem.filename or out}: {problem.strerror}.")
    students = len({name.split("/")[0] for name in copied})
    print(f"{len(copied)} notebooks of {students} students are in {out}.")
    print("Grade them as an ordinary user.")
    return 0


def owner(name: str | None) -> Owner | None:
    """Return who is to grade; None if whoever runs this is an ordinary user.

    Raises:
        SystemExit: nobody is named, or nobody has that name, or it's root.
    """
    if not is_root():
        return None
    import pwd

    name = name or os.environ.get("SUDO_USER")
    if not name:
        sys.exit(
            "Say who will grade, because that shouldn't be root: --owner NAME, or with make: "
            'ARGS="--owner NAME"'
        )
    try:
        account = pwd.getpwnam(name)
    except KeyError:
        sys.exit(f"There is no account {name!r} on this machine.")
    if account.pw_uid == 0:
        sys.exit("Grading runs students' code, so root can't be the owner. Name another account.")
    return Owner(account.pw_uid, account.pw_gid)


@private_files()
def grade_all(options: argparse.Namespace) -> int:
    """Print a table for each submission, write the results if asked for, and return 0.

    After Ctrl-C, return 130; what is done then is kept for `--resume`.
    """
    if is_root() and not options.as_root:
        sys.exit(ROOT)
    out = options.out and options.out.expanduser()
    class_list, wanted = class_list_of(options), wanted_lessons(options.lessons)
    if out:
        _try_to_write(out)  # before the work is done
    with tempfile.TemporaryDirectory(prefix="lnorm") as scratch:
        found = files_in(options.submissions, Path(scratch))
        files = list(looked_at(found, wanted))
        if left_out := len(found) - len(files):
            print(f"{left_out:,} notebooks on other lessons aren't graded.\n")
        if not can_sandbox():
            print(NO_SANDBOX, file=sys.stderr)
        time_left = TimeLeft(sum(bool(file.path) for file in files))
        done: list[Grade] = []
        try:
            journal = Journal(out / JOURNAL, options.resume) if out else None
            with closing(grade_many(files, options.timeout, options.jobs, journal)) as graded:
                for file, grades in graded:
                    if file.path:
                        print(table(file.file, grades), flush=True)
                        time_left.one_more()
                    done += grades
        except OSError as problem:
            sys.exit(f"{problem.filename or out} cannot be written: {problem.strerror}.")
        except KeyboardInterrupt:
            how = " To go on, add --resume." if out else ""
            print(f"Stopped at {time_left.done} of {time_left.total}.{how}", file=sys.stderr)
            return 130
    print_not_graded(done)
    if out and journal:
        _write(done, out, class_list, options)
        journal.remove()
    return 0


def files_in(submissions: Iterable[Path], scratch: Path) -> list[HandedIn]:
    """Collect what was handed in, each file under a name of its own.

    Raises:
        SystemExit: one of the submissions isn't there, or all are empty.
    """
    files: list[HandedIn] = []
    for given in (path.expanduser() for path in submissions):
        if not given.exists():
            sys.exit(f"{given} does not exist.")
        files += collect(given, scratch)
    seen: Counter[str] = Counter()
    for number, file in enumerate(files):
        seen[file.file] += 1
        if seen[file.file] > 1:  # as an archive may have it
            files[number] = replace(file, file=f"{file.file} ({seen[file.file]})")
    if not files:
        names = ", ".join(map(str, submissions))
        sys.exit(f"There is no file in {names}.")
    return files


def class_list_of(options: argparse.Namespace) -> ClassList | None:
    """Read the list of the class, if there is one.

    Raises:
        SystemExit: it can't be used.
    """
    if not options.class_list:
        return None
    path = options.class_list.expanduser()
    try:
        return read_class_list(path)
    except ClassListError as problem:
        sys.exit(str(problem))
    except OSError as problem:
        sys.exit(f"{problem.filename or path} cannot be read: {problem.strerror}.")


def wanted_lessons(names: Iterable[str] | None) -> set[str] | None:
    """Return the lessons that are named; None for all of them.

    Raises:
        SystemExit: there is no such lesson.
    """
    try:
        return {lesson_named(ORIGINALS, name).stem for name in names} if names else None
    except ValueError as problem:
        sys.exit(str(problem))


def print_not_graded(grades: Iterable[Grade]) -> None:
    """Print each file that can't be graded, with the reason, and how many others aren't graded."""
    files = [grade for grade in grades if not grade.exercise]
    states = Counter(file.state for file in files)
    for state in (UNTOUCHED, STRAY):
        if states[state]:
            print(f"Notebooks {state}: {states[state]:,}")
    if lines := [f"  {file.file}: {file.message}" for file in files if file.state == NOT_GRADED]:
        print("Not graded:", *lines, sep="\n")


@private_files()
def report_on_all(options: argparse.Namespace) -> int:
    """Write the results of what was graded earlier, in one or more parts, and return 0."""
    grades: list[Grade] = []
    class_list = class_list_of(options)
    for path in (given.expanduser() for given in options.graded):
        try:
            grades += read_grades(path / EXERCISES if path.is_dir() else path)
        except TableError as problem:
            sys.exit(str(problem))
        except OSError as problem:
            sys.exit(f"{problem.filename or path} cannot be read: {problem.strerror}.")
    _write(grades, options.out, class_list, options)
    return 0


def _try_to_write(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=out).close()
    except OSError as problem:
        sys.exit(f"{out} cannot be written to: {problem.strerror}.")


def _write(
    grades: list[Grade], out: Path, class_list: ClassList | None, options: argparse.Namespace
) -> None:
    out = out.expanduser()
    has_semicolons = options.semicolons or (class_list and class_list.separator == ";")
    try:
        write_results(grades, out, class_list, ";" if has_semicolons else ",")
    except OSError as problem:
        sys.exit(f"{problem.filename or out} cannot be written: {problem.strerror}.")
    print(f"The report is {out / REPORT}, the points are in {out / GRADES}.")


if __name__ == "__main__":
    sys.exit(main())
