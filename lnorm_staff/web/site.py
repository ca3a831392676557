"""Write the web edition: every lesson and every page of `docs`, all served from one host."""

import json
import re
import runpy
import shutil
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from lnorm_course.checking.choosing import SCRIPT as GAPS
from lnorm_course.checking.exercise import Exercise
from lnorm_course.checking.prediction import Prediction
from lnorm_course.exercises.progress_report import import_banks
from lnorm_course.explorers.engine.panels import HERE as ENGINE
from lnorm_course.explorers.engine.panels import SCRIPT
from lnorm_course.explorers.rings import SCRIPT as RINGS
from lnorm_course.explorers.row import SCRIPT as ROW
from lnorm_course.explorers.stream import SCRIPT as STREAM
from lnorm_course.lab.lesson_files import CHECK, ORIGINALS, cleared, read, write
from lnorm_course.lab.working_copy import lessons
from lnorm_staff.exercise_words import LAB_ONLY
from lnorm_staff.lesson_list import LESSONS
from lnorm_staff.web.baking import bake, calls_in
from lnorm_staff.web.exercises import prediction
from lnorm_staff.web.getting import (
    ARCHIVE,
    addressed,
    getting_page,
    how_to_get,
    write_archive,
)
from lnorm_staff.web.images import in_files
from lnorm_staff.web.lecture import lecture_page, read_lectures
from lnorm_staff.web.lesson_map import lesson_map
from lnorm_staff.web.lesson_page import OPENINGS, explorer, lesson_page, with_handles
from lnorm_staff.web.search import write_sections

__all__ = ["PROJECT", "write_site", "write_static"]

ROOM = Path(__file__).parent
PROJECT = ROOM.parents[1]
COURSE = PROJECT / "lnorm_course"
CACHE = PROJECT / "build/site"  # where the frames of explorers are cached
WORK, SITE = CACHE / "work", CACHE / "work/site"  # recreated each time
LECTURES = PROJECT / "docs/lectures.toml"
CHECKING = COURSE / "checking"
SCRIPTS = ("page.js", "predictions.js", "choosing.js", "live.js", "progress.js")
STYLES = ("look.css", "live.css", "questions.css", "places.css", "print.css")
# Placeholders for the search field, the map, and a link to the lectures.
SEARCH = "<!-- search -->"
MAP = "<!-- map -->"
GIVE = "<!-- lectures -->"
FIELD = (
    '<form class="lnorm-search" role="search" action="{}search.html">'
    "<noscript>Searching needs JavaScript, which is off.</noscript>"
    '<input type="search" name="q" aria-label="Search" '
    'placeholder="a question, a word, or an error message"><button>Search</button></form>'
)
# Matches an interactive block on a page of `docs`: calls to explorers, or checks of questions.
ALIVE = re.compile(r"^```\{(?:explorer|question)\} ?(\w*)\n(.+?)\n```$", re.MULTILINE | re.DOTALL)
# Matches the heading in a link to a lesson. JupyterLab and GitHub keep its capitals and
# punctuation, but Sphinx doesn't.
HEADING = re.compile(r"(?<=\.ipynb#)[^)\s]+(?=\))")
TOCTREE = re.compile(r"```\{toctree\}.*?```", re.DOTALL)
# The site's sources besides the lessons. Those that aren't pages can be downloaded through links.
LICENSES = ("LICENSE", "lnorm_course/lessons/file_types/*.APACHE.txt")
PAGES = (
    "README.md",
    ".github/*.md",
    "docs/**/*.md",
    "docs/*.toml",
    *LICENSES,
    "CITATION.cff",
    "docs/pictures/*",
)


def write_site(out: Path) -> None:
    """Write the site to a folder, replacing what's there.

    Raises:
        SystemExit: a lecture or a page contains a mistake, which is printed.
    """
    try:
        read_lectures(LECTURES)
    except ValueError as problem:  # report it now, not minutes later
        raise SystemExit(str(problem)) from None
    shutil.rmtree(WORK, ignore_errors=True)
    (SITE / "pictures").mkdir(parents=True)
    print(
        "Drawing all pictures, which takes minutes the first time and seconds after that.",
        flush=True,
    )
    with get_context("spawn").Pool() as pool:
        for name, content in _sources(pool):
            path = WORK / "source" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        write_static(WORK / "static")
        print("Laying out the pages, which takes about a minute.", flush=True)
        _run_sphinx()
        write_sections(SITE, pool)
    (SITE / "lecture.html").write_text(lecture_page(LECTURES, _drawn), encoding="utf-8")
    for page in SITE.rglob("*.html"):
        up = "../" * (len(page.relative_to(SITE).parts) - 1)
        text = in_files(page.read_text("utf-8"), SITE / "pictures", f"{up}pictures/")
        page.write_text(text, encoding="utf-8")
    for name in ("docs/pictures", OPENINGS):
        shutil.copytree(PROJECT / name, SITE / name)
    for path in lessons(ORIGINALS):
        write(cleared(read(path)), SITE / "notebooks" / path.name)
    (SITE / ".nojekyll").touch()  # otherwise GitHub Pages leaves out folders such as _static
    shutil.rmtree(out, ignore_errors=True)
    shutil.move(SITE, out)


def _drawn(call: str) -> Path:
    """Copy an explorer's frames into the site, and return their folder in the cache."""
    folder = bake(call, CACHE / "baked")
    shutil.copytree(folder, SITE / "baked" / folder.name, dirs_exist_ok=True)
    return folder


def _lesson(path: Path) -> tuple[str, bytes]:
    page = lesson_page(read(path), path.stem, _drawn)
    return f"notebooks/{path.name}", json.dumps(page, ensure_ascii=False).encode()


def _sources(pool: Any) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each file that Sphinx reads."""
    yield from pool.imap(_lesson, lessons(ORIGINALS))
    import_banks()  # pages other than lessons ask questions, too
    repository = runpy.run_path(str(PROJECT / "docs/conf.py"))["repository"]
    how = how_to_get(repository, write_archive(PROJECT, SITE / ARCHIVE))
    for path in {path for pattern in PAGES for path in PROJECT.glob(pattern)}:
        name, content = path.relative_to(PROJECT).as_posix(), path.read_bytes()
        if path.suffix == ".md":
            text = addressed(content.decode(), repository)
            if name == "README.md":
                text = getting_page(text, how)
            elif name == "docs/index.md":
                name, text = "index.md", _at_the_top(text)
            up = "../" * name.count("/")
            text = text.replace(SEARCH, _raw(FIELD.format(up)))
            text = text.replace(MAP, _raw(lesson_map(LESSONS, up)))
            text = text.replace(GIVE, f'<a href="{up}lecture.html">Give one of them</a>.')
            text = _alive(LAB_ONLY.sub("", text), up)
            content = HEADING.sub(lambda found: _slug(found[0]), text).encode()
        yield name, content


def _raw(text: str) -> str:
    return f"````{{raw}} html\n{text}\n````"


def _slug(heading: str) -> str:
    return re.sub(r"[^\w-]", "", heading.lower())


def _run_sphinx() -> None:
    from sphinx.cmd.build import build_main

    options = ["-q", "-W", "--keep-going", "-j", "auto", "-c", str(PROJECT / "docs")]
    options += ["-D", f"html_static_path={WORK / 'static'}", "-d", str(WORK / "trees")]
    if build_main([*options, str(WORK / "source"), str(SITE)]):
        raise SystemExit("The site isn't complete: the lines above say why.")


def write_static(folder: Path) -> None:
    """Write the scripts and style sheets of the pages, and the font for formulas."""
    folder.mkdir(parents=True, exist_ok=True)
    own = ((ROOM / name).read_text("utf-8") for name in SCRIPTS)
    (folder / "site.js").write_text("\n".join([SCRIPT, GAPS, *own]), encoding="utf-8")
    styles = (
        ENGINE / "explorer.css",
        COURSE / "explorers/row.css",
        COURSE / "explorers/rings.css",
        COURSE / "explorers/stream.css",
        CHECKING / "gaps.css",
        *(ROOM / name for name in STYLES),
    )
    text = "\n".join(style.read_text("utf-8") for style in styles)
    (folder / "live.css").write_text(text, encoding="utf-8")
    (folder / "row.js").write_text(ROW, encoding="utf-8")
    (folder / "rings.js").write_text(RINGS, encoding="utf-8")
    (folder / "stream.js").write_text(STREAM, encoding="utf-8")
    alone = ("stix_two_math.*", "minisearch.*", "search.js", "lecture.*s*", "favicon.svg")
    for path in (path for pattern in alone for path in ROOM.glob(pattern)):
        shutil.copy(path, folder)


def _alive(text: str, up: str) -> str:
    """Replace the blocks that name explorers and questions with explorers and forms."""

    def alive(found: re.Match[str]) -> str:
        topic, source = found.groups()
        parts = [explorer(call, _drawn, up) for call in calls_in(source)]
        for name in CHECK.findall(source):
            question = Exercise.bank[topic][name]
            if not isinstance(question, Prediction):
                raise ValueError(f"A page can only ask for predictions, but {name!r} is code.")
            parts.append(prediction(question, found.string[: found.start()]))
        return _raw("\n".join(parts))

    return ALIVE.sub(alive, with_handles(text))


def _at_the_top(text: str) -> str:
    """Rewrite the links on the first page, which is at the top of the site, not in `docs`.

    In a toctree, a page's name is alone on its line, or in angle brackets after the page's title.
    """
    text = re.sub(r"\]\((?!\.\./|http|#)", "](docs/", text).replace("](../", "](")

    def listed(tree: re.Match[str]) -> str:
        pages = re.sub(r"^(?=[a-z_]+$)|(?<=<)(?=[a-z_]+>$)", "docs/", tree[0], flags=re.MULTILINE)
        return pages.replace("../", "")

    return TOCTREE.sub(listed, text)
