"""Hand out copies of the course, and grade what comes back: python -m lnorm_utils.grading."""

import argparse
import csv
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from lnorm_utils.grading.grade import grade
from lnorm_utils.grading.hand_out import COURSE, CopyError, student_copy
from lnorm_utils.grading.report import COLUMNS, csv_rows, table
from lnorm_utils.grading.sandbox import can_sandbox
from lnorm_utils.grading.submissions import find_submissions

NO_SANDBOX = (
    "Careful: what was handed in can read and change your files and reach the network. On Linux, "
    "install bubblewrap to prevent that; elsewhere grade in a container."
)


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line asks for, and return 0 if that worked.

    Raises:
        SystemExit: the submission does not exist, or the CSV file cannot be written.
    """
    parser = argparse.ArgumentParser(prog="python -m lnorm_utils.grading", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="student or grade")
    student = commands.add_parser("student", help="write a copy of the course without answers")
    student.add_argument("out", type=Path, help="a folder that is not there yet, or is empty")
    student.set_defaults(command=hand_out)
    graded = commands.add_parser("grade", help="grade notebooks, each exercise by itself")
    graded.add_argument("submission", type=Path, help="a notebook, or a folder of them")
    graded.add_argument("--csv", type=Path, help="also write all grades to this file")
    graded.add_argument("--timeout", type=float, default=60, help="seconds for a cell (60)")
    graded.set_defaults(command=grade_all)
    options = parser.parse_args(arguments)
    return options.command(options)


def hand_out(options: argparse.Namespace) -> int:
    """Write the copy for students and return 0, or print why there is none and return 1."""
    out = options.out.expanduser()
    try:
        student_copy(COURSE, out)
    except CopyError as problem:
        print(problem, file=sys.stderr)
        return 1
    except OSError as problem:
        print(f"{problem.filename or out}: {problem.strerror}.", file=sys.stderr)
        return 1
    print(f"The copy for students is in {out}. `.solution()` is closed in it.")
    return 0


def grade_all(options: argparse.Namespace) -> int:
    """Print a table for each submission, write the CSV file if one is asked for, and return 0."""
    paths = dict(find_submissions(options.submission.expanduser()))
    if not paths:
        sys.exit(f"{options.submission} is neither a notebook nor a folder with one.")
    if not can_sandbox():
        print(NO_SANDBOX, file=sys.stderr)
    with ExitStack() as stack:
        if options.csv:
            path = options.csv.expanduser()
            try:
                file = stack.enter_context(path.open("w", encoding="utf-8", newline=""))
            except OSError as problem:
                sys.exit(f"{path} cannot be written: {problem.strerror}.")
            rows = csv.writer(file)
            rows.writerow(COLUMNS)
        pool = stack.enter_context(ThreadPoolExecutor(os.cpu_count()))
        graded = pool.map(lambda path: grade(path, options.timeout), paths.values())
        for name, grades in zip(paths, graded, strict=True):
            print(table(name, grades), flush=True)
            if options.csv:
                rows.writerows(csv_rows(name, grades))
    return 0


if __name__ == "__main__":
    sys.exit(main())
