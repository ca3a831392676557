"""Open the lessons in JupyterLab, in a copy of your own, at the first one you haven't finished."""

import argparse
import os
import sys
from pathlib import Path

from lnorm_utils.lab.working_copy import finished, fresh_copy, lesson_named, update

COURSE = Path(__file__).parents[1]
ORIGINALS = COURSE / "notebooks"


def main(arguments: list[str] | None = None) -> int:
    """Make or update the working copy, then run JupyterLab until it is stopped."""
    options, for_jupyterlab = parser().parse_known_args(arguments)
    copies = options.folder.expanduser().resolve()
    try:
        first = prepare(copies, options)
    except ValueError as problem:
        print(problem, file=sys.stderr)
        return 1
    except OSError as problem:
        where = problem.filename or copies
        print(f"{where}: {problem.strerror}. --folder names another place.", file=sys.stderr)
        return 1
    if not options.copy_only:
        start_jupyterlab(ORIGINALS if options.edit else copies, first, for_jupyterlab)
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line; what it doesn't know is for JupyterLab."""
    parser = argparse.ArgumentParser(
        prog="python -m lnorm_utils",
        description=__doc__,
        epilog="Other options go to JupyterLab, such as --no-browser or --port 9000.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=COURSE / "my_lessons",
        help="where your copy is, by default my_lessons in the course",
    )
    parser.add_argument(
        "--fresh",
        metavar="LESSON",
        help="start a lesson over, such as 02_variance; yours is kept beside it",
    )
    parser.add_argument(
        "--copy-only", action="store_true", help="make the copy and don't start JupyterLab"
    )
    parser.add_argument(
        "--edit", action="store_true", help="open the course's own notebooks, to change the course"
    )
    return parser


def prepare(copies: Path, options: argparse.Namespace) -> str:
    """Bring the working copy up to date, and return the name of the lesson to open.

    Raises:
        ValueError: the lessons aren't there, or no lesson has the name that was given.
        OSError: the folder can't be written to.
    """
    if not ORIGINALS.is_dir():
        raise ValueError(f"The lessons aren't in {ORIGINALS}: run this in a clone of the course.")
    if options.edit:
        return lesson_named(ORIGINALS, "01").name
    for sentence in update(ORIGINALS, copies):
        print(sentence)
    if options.fresh:
        print(fresh_copy(ORIGINALS, copies, options.fresh))
    done = finished(ORIGINALS, copies)
    print(f"Your lessons are in {copies}: {sum(done.values())} of {len(done)} finished.")
    if options.fresh:
        return lesson_named(ORIGINALS, options.fresh).name
    return next((name for name, is_done in done.items() if not is_done), min(done))


def start_jupyterlab(folder: Path, lesson: str, options: list[str]) -> None:
    """Run JupyterLab at a lesson; it prints its address and what goes wrong, nothing else."""
    settings = [
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.default_url=/lab/tree/{lesson}",
        "--Application.log_level=WARN",
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        print("You are root, so JupyterLab is started with --allow-root.")
        settings.append("--allow-root")
    print(f"Starting JupyterLab at {lesson}. To stop it, press Ctrl+C twice in this window.")
    sys.stdout.flush()
    from jupyterlab.labapp import LabApp  # slow to import, and not needed for the copy

    LabApp.launch_instance([*settings, *options])


if __name__ == "__main__":
    sys.exit(main())
