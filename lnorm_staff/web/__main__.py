"""Write the web edition of the course: python -m lnorm_staff.web."""

import argparse
from pathlib import Path

from lnorm_course.lab.lesson_files import ORIGINALS
from lnorm_course.lab.working_copy import lesson_named
from lnorm_staff.web.handout import write_handout
from lnorm_staff.web.site import PROJECT, write_site


def main(arguments: list[str] | None = None) -> None:
    """Do what the command line asks for.

    Raises:
        SystemExit: there is no such lesson, or a page has something wrong in it.
    """
    parser = argparse.ArgumentParser(prog="python -m lnorm_staff.web", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="site or handout", dest="command")
    site = commands.add_parser("site", help="write all pages")
    site.add_argument("--out", type=Path, default=PROJECT / "site", help="the folder (site)")
    handout = commands.add_parser("handout", help="write one lesson as a single file")
    handout.add_argument("lesson", help="such as 06, or its topic, such as collapse")
    options = parser.parse_args(arguments)
    if options.command == "site":
        write_site(options.out)
        print(f"To see the site: python -m http.server -d {options.out}")
        return
    try:
        lesson = lesson_named(ORIGINALS, options.lesson).stem
    except ValueError as problem:
        raise SystemExit(str(problem)) from None
    pages, out = PROJECT / "build/for_handouts", PROJECT / "build/handouts" / f"{lesson}.html"
    write_site(pages)
    write_handout(pages / "notebooks" / f"{lesson}.html", out)
    print(f"Written: {out} ({out.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
