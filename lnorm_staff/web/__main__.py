"""Write the web edition of the course: python -m lnorm_staff.web."""

import argparse
from pathlib import Path

from lnorm_course.lab.lesson_files import ORIGINALS
from lnorm_course.lab.working_copy import lesson_named, lessons
from lnorm_staff.web.handout import write_handout
from lnorm_staff.web.polls import write_polls
from lnorm_staff.web.site import PROJECT, write_site
from lnorm_utils.words import counted

LECTURE = "lecture"  # the one handout that isn't a lesson


def main(arguments: list[str] | None = None) -> None:
    """Run the command given on the command line.

    Raises:
        SystemExit: the given lesson doesn't exist, or a page contains a mistake.
    """
    parser = argparse.ArgumentParser(prog="python -m lnorm_staff.web", description=__doc__)
    commands = parser.add_subparsers(
        required=True, metavar="site, handout, or polls", dest="command"
    )
    site = commands.add_parser("site", help="write all pages")
    site.add_argument(
        "--out", type=Path, default=PROJECT / "site", help="the folder to write to (default: site)"
    )
    handout = commands.add_parser("handout", help="write one lesson as a single file")
    handout.add_argument("lesson", help="a number such as 06, a topic, or lecture")
    polls = commands.add_parser("polls", help="write predictions for learning platforms")
    polls.add_argument("--lessons", nargs="+", metavar="LESSON", help="such as 06 (default: all)")
    polls.add_argument("--site", default="", help="the address of the web edition, for QR codes")
    options = parser.parse_args(arguments)
    if options.command == "site":
        write_site(options.out)
        print(f"To see the site: python -m http.server -d {options.out}")
        return
    is_poll = options.command == "polls"
    try:
        names = options.lessons or [] if is_poll else [options.lesson]
        chosen = [lesson_named(ORIGINALS, name) for name in names if name != LECTURE]
    except ValueError as problem:
        raise SystemExit(str(problem)) from None
    if is_poll:
        out, site = PROJECT / "build/polls", options.site.rstrip("/")
        number = write_polls(chosen or lessons(ORIGINALS), out, f"{site}/" if site else "")
        codes = "QR codes are included." if site else "To include QR codes, add ADDRESS=…"
        print(f"Wrote {counted(number, 'question')} to {out}. {codes}")
        return
    pages, name = PROJECT / "build/for_handouts", chosen[0].stem if chosen else LECTURE
    out = PROJECT / "build/handouts" / f"{name}.html"
    write_site(pages)
    write_handout(pages / ("notebooks" if chosen else ".") / f"{name}.html", out)
    print(f"Wrote {out} ({out.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
