"""Hand out copies of the course, and grade what comes back: python -m lnorm_utils.grading."""

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

from lnorm_utils.grading.class_folder import EXERCISES, GRADES, REPORT, write_results
from lnorm_utils.grading.collect import HandedIn, collect
from lnorm_utils.grading.grade import Grade
from lnorm_utils.grading.grade_many import TimeLeft, grade_many
from lnorm_utils.grading.hand_out import COURSE, CopyError, student_copy, student_zip
from lnorm_utils.grading.homes import Owner, collect_homes
from lnorm_utils.grading.plain_text import printable
from lnorm_utils.grading.report import table
from lnorm_utils.grading.results import Journal
from lnorm_utils.grading.rows import Row, RowsError, read_rows, rows_of
from lnorm_utils.grading.sandbox import can_sandbox

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
    parser = argparse.ArgumentParser(prog="python -m lnorm_utils.grading", description=__doc__)
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
    student.set_defaults(command=hand_out)
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


def hand_out(options: argparse.Namespace) -> int:
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
            write(COURSE, out.expanduser(), options.lessons, options.where)
        except CopyError as problem:
            print(problem, file=sys.stderr)
            return 1
        except OSError as problem:
            print(f"{problem.filename or out}: {problem.strerror}.", file=sys.stderr)
            return 1
        print(f"The copy for students is {out}. Its solutions are closed.")
    return 0


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


def grade_all(options: argparse.Namespace) -> int:
    """Print a table for each submission, write the results if asked for, and return 0.

    After Ctrl-C, return 130; what is done then is kept for `--resume`.
    """
    if is_root() and not options.as_root:
        sys.exit(ROOT)
    out = options.out and options.out.expanduser()
    if out:
        _try_to_write(out)  # before the work is done
    with tempfile.TemporaryDirectory(prefix="lnorm") as scratch:
        files = handed_in(options.submissions, Path(scratch))
        if not can_sandbox():
            print(NO_SANDBOX, file=sys.stderr)
        paths = {file.file: file.path for file in files if file.path}
        done: dict[str, list[Grade]] = {}
        try:
            journal = Journal(out / JOURNAL, options.resume) if out else None
            time_left = TimeLeft(len(paths))
            with closing(grade_many(paths, options.timeout, options.jobs, journal)) as graded:
                for name, grades in graded:
                    print(table(name, grades), flush=True)
                    done[name] = grades
                    time_left.one_more()
        except OSError as problem:
            sys.exit(f"{problem.filename or out} cannot be written: {problem.strerror}.")
        except KeyboardInterrupt:
            how = " To go on, add --resume." if out else ""
            print(f"Stopped at {len(done)} of {len(paths)}.{how}", file=sys.stderr)
            return 130
    print_not_graded(files)
    if out and journal:
        rows = (row for file in files for row in rows_of(file, done.get(file.file, [])))
        _write(list(rows), out)
        journal.remove()
    return 0


def handed_in(submissions: Iterable[Path], scratch: Path) -> list[HandedIn]:
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


def print_not_graded(files: Iterable[HandedIn]) -> None:
    """Print each file that isn't graded, with the reason."""
    lines = [f"  {file.file}: {file.reason}" for file in files if not file.path]
    if lines:
        print("Not graded:", *map(printable, lines), sep="\n")


def report_on_all(options: argparse.Namespace) -> int:
    """Write the results of what was graded earlier, in one or more parts, and return 0."""
    rows: list[Row] = []
    for path in (given.expanduser() for given in options.graded):
        try:
            rows += read_rows(path / EXERCISES if path.is_dir() else path)
        except RowsError as problem:
            sys.exit(str(problem))
        except OSError as problem:
            sys.exit(f"{problem.filename or path} cannot be read: {problem.strerror}.")
    _write(rows, options.out)
    return 0


def _try_to_write(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=out).close()
    except OSError as problem:
        sys.exit(f"{out} cannot be written to: {problem.strerror}.")


def _write(rows: list[Row], out: Path) -> None:
    out = out.expanduser()
    try:
        write_results(rows, out)
    except OSError as problem:
        sys.exit(f"{problem.filename or out} cannot be written: {problem.strerror}.")
    print(f"The report is {out / REPORT}, the points are in {out / GRADES}.")


if __name__ == "__main__":
    sys.exit(main())
