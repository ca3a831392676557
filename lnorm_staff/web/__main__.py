"""Write the web edition of the course: python -m lnorm_staff.web."""

import argparse
from pathlib import Path

from lnorm_course.lab.lesson_files import ORIGINALS
from lnorm_course.lab.working_copy import lesson_named, lessons
from lnorm_staff.web.handout import write_handout
from lnorm_staff.web.polls import write_polls
from lnorm_staff.web.site import PROJECT, write_site
from lnorm_utils.words import counted


def main(arguments: list[str] | None = None) -> None:
    """Do what the command line asks for.

    Raises:
        SystemExit: there is no such lesson, or a page has something wrong in it.
    """
    parser = argparse.ArgumentParser(prog="python -m lnorm_staff.web", description=__doc__)
    commands = parser.add_subparsers(
        required=True, metavar="site, handout, or polls", dest="command"
    )
    site = commands.add_parser("site", help="write all pages")
    site.add_argument("--out", type=Path, default=PROJECT / "site", help="the folder (site)")
    handout = commands.add_parser("handout", help="write one lesson as a single file")
    handout.add_argument("lesson", help="such as 06, or its topic, such as collapse")
    polls = commands.add_parser("polls", help="write predictions for learning platforms")
    polls.add_argument("--lessons", nargs="+", metavar="LESSON", help="such as 06 (all)")
    polls.add_argument("--site", default="", help="the address of the web edition, for QR codes")
    options = parser.parse_args(arguments)
    if options.command == "site":
        write_site(options.out)
        print(f"To see the site: python -m http.server -d {options.out}")
        return
    try:
        named = options.lessons if options.command == "polls" else [options.lesson]
        chosen = [lesson_named(ORIGINALS, name) for name in named or []] or lessons(ORIGINALS)
    except ValueError as problem:
        raise SystemExit(str(problem)) from None
    if options.command == "polls":
        out = PROJECT / "build/polls"
        number = write_polls(chosen, out, options.site and f"{options.site.rstrip('/')}/")
        codes = "with" if options.site else "without ADDRESS=…, so without"
        print(f"Written: {counted(number, 'question')} into {out}, {codes} QR codes")
        return
    (lesson,) = (path.stem for path in chosen)
    pages, out = PROJECT / "build/for_handouts", PROJECT / "build/handouts" / f"{lesson}.html"
    write_site(pages)
    write_handout(pages / "notebooks" / f"{lesson}.html", out)
    print(f"Written: {out} ({out.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
