"""Open your own copy of the lessons in JupyterLab, at the first one you haven't finished."""

import argparse
import os
import sys
from pathlib import Path

from lnorm_course.lab.lesson_files import ORIGINALS
from lnorm_course.lab.working_copy import finished, fresh_copy, lesson_named, lessons, update


def main(arguments: list[str] | None = None) -> int:
    """Make or update the working copy, then run JupyterLab until it is stopped."""
    options, for_jupyterlab = _parser().parse_known_args(arguments)
    if options.hub:
        os.umask(0o077)  # other students have accounts on the same machine
    try:
        copies = options.folder.expanduser().resolve()
        first = _prepare(copies, options)
    except (ValueError, RuntimeError) as problem:  # RuntimeError if `~user` has no home folder
        print(problem, file=sys.stderr)
        return 1
    except OSError as problem:
        where = problem.filename or options.folder
        print(f"{where}: {problem.strerror}. Choose a different --folder.", file=sys.stderr)
        return 1
    if options.hub:
        _start_on_hub(copies, first, for_jupyterlab)
    elif not options.copy_only:
        start_jupyterlab(ORIGINALS if options.edit else copies, first, for_jupyterlab)
    return 0


def _parser() -> argparse.ArgumentParser:
    """Return the command-line parser; options it doesn't recognize are passed on to JupyterLab."""
    parser = argparse.ArgumentParser(
        prog="python -m lnorm_course",
        description=__doc__,
        epilog="Other options, such as --no-browser or --port 9000, are passed on to JupyterLab.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=ORIGINALS.parent / "my_lessons",
        help="where to keep your copy (default: my_lessons in the course folder)",
    )
    parser.add_argument(
        "--copy-only", action="store_true", help="make the copy without starting JupyterLab"
    )
    parser.add_argument(
        "--hub", action="store_true", help="run as a student's server under JupyterHub"
    )
    either = parser.add_mutually_exclusive_group()
    either.add_argument(
        "--fresh",
        metavar="LESSON",
        help="start over with a lesson, such as 02_variance; your own version is kept next to it",
    )
    either.add_argument(
        "--edit", action="store_true", help="open the course's own notebooks, to change the course"
    )
    return parser


def _prepare(copies: Path, options: argparse.Namespace) -> str:
    """Bring the working copy up to date, and return the name of the lesson to open.

    Raises:
        ValueError: there are no lessons, the given name doesn't match exactly one, or the folder is
            unsuitable.
        OSError: the folder can't be written to.
    """
    if not lessons(ORIGINALS):
        raise ValueError(f"There are no lessons in {ORIGINALS}: run this in a clone of the course.")
    if options.edit:
        return lessons(ORIGINALS)[0].name
    if copies == ORIGINALS or (copies.exists() and not copies.is_dir()):
        what = "the course's own notebooks" if copies == ORIGINALS else "a file"
        raise ValueError(f"{copies} is {what}. Use --folder to put your copy elsewhere.")
    if options.fresh is not None:
        print(fresh_copy(ORIGINALS, copies, options.fresh))
    _bring_up_to_date(copies)
    done = finished(ORIGINALS, copies)
    print(f"Your lessons are in {copies}: {sum(done.values())} of {len(done)} finished.")
    if options.fresh is not None:
        return lesson_named(ORIGINALS, options.fresh).name
    return next((name for name, is_done in done.items() if not is_done), min(done))


def _bring_up_to_date(copies: Path) -> None:
    """Update the working copy; if that fails but a copy exists, print why and continue with it.

    Raises:
        OSError: there is no copy, and none can be made.
    """
    try:
        for sentence in update(ORIGINALS, copies):
            print(sentence)
    except OSError as problem:
        if not lessons(copies):
            raise
        print(f"{copies} can't be brought up to date: {problem.strerror}.", file=sys.stderr)


def _settings_for(folder: Path, lesson: str) -> list[str]:
    """Return JupyterLab's settings for opening a lesson in a folder, with or without a hub."""
    return [
        f"--ServerApp.root_dir={folder}",
        f"--ServerApp.default_url=/lab/tree/{lesson}",
        f"--LabApp.default_url=/lab/tree/{lesson}",
        f"--LabApp.workspaces_dir={folder / '.workspaces'}",  # don't reopen tabs of other projects
        "--Application.log_level=ERROR",
        "--KernelManager.transport_encryption=auto",  # without it, each kernel prints a warning
    ]


def _start_on_hub(folder: Path, lesson: str, options: list[str]) -> None:
    """Run JupyterLab the way JupyterHub expects, with only the features that the course needs."""
    # With this module, jsonschema would read a grammar that nothing here needs, which takes half a
    # second and 15 MiB.
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
    from jupyterhub.singleuser import main

    settings = [
        "--ServerApp.jpserver_extensions=jupyter_server_terminals=False",  # lessons use no terminal
        "--LabApp.extension_manager=readonly",
        "--MappingKernelManager.cull_idle_timeout=3600",
    ]
    main([*_settings_for(folder, lesson), *settings, *options])


def start_jupyterlab(folder: Path, lesson: str, options: list[str]) -> None:
    """Run JupyterLab with a lesson open; it prints only its address and errors."""
    settings = _settings_for(folder, lesson)
    # This way, kernels find the course even if its folder was moved after installation.
    places = (str(ORIGINALS.parent), os.environ.get("PYTHONPATH"))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, places))
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        print("You are root, so JupyterLab is started with --allow-root.")
        settings.append("--allow-root")
    print(f"Starting JupyterLab at {lesson}. To stop it, press Ctrl+C twice in this window.")
    sys.stdout.flush()
    from jupyterlab.labapp import LabApp  # a slow import, which --copy-only doesn't need

    LabApp.launch_instance([*settings, *options])


if __name__ == "__main__":
    sys.exit(main())
