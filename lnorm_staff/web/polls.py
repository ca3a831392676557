"""Turn predictions into polls: choices for a class to vote on, and files for learning platforms."""

import re
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from string import ascii_uppercase
from typing import Any, NamedTuple

from lnorm_course.checking.comparing import plain, same
from lnorm_course.checking.exercise import Exercise
from lnorm_course.checking.prediction import Prediction
from lnorm_course.exercises.progress_report import import_banks
from lnorm_course.lab.lesson_files import exercises, read
from lnorm_staff.exercise_words import words_in_context
from lnorm_staff.formulas import NAMESPACE, with_mathml
from lnorm_staff.tables import write_table
from lnorm_staff.web.baking import curly
from lnorm_staff.web.exercises import in_order, options
from lnorm_utils.words import inline

__all__ = ["Choice", "as_html", "choices", "predictions", "template", "write_polls"]

ROOM = Path(__file__).parent
GIFT = re.compile(r"([~=#{}:\\])")
MATH = f"<math{NAMESPACE}"


class Choice(NamedTuple):
    """An answer to vote for, whether it's right, and feedback on it; both texts are Markdown."""

    text: str
    is_right: bool
    why: str


def predictions() -> Mapping[str, Prediction]:
    """Return all predictions, keyed by name."""
    import_banks()
    every = (one for bank in Exercise.bank.values() for one in bank.values())
    return {one.name: one for one in every if isinstance(one, Prediction)}


def choices(question: Prediction, asked: str) -> list[Choice]:
    """Return a right answer and all wrong ones: numbers by size, words in the question's order."""
    _, told = options(asked, question)
    words = in_order(question, asked)

    def place(known: Any) -> tuple[Any, ...]:
        value = plain(known.answer)
        if isinstance(value, str):
            return 2, words.index(value)
        return (1, len(value), value) if isinstance(value, tuple) else (0, value != value, value)

    found = []
    for known in sorted([question.answers[0], *question.wrong], key=place):
        text = _shown(question, known)
        found.append(Choice(told.get(text, text), known not in question.wrong, known.why))
    return found


def _shown(question: Prediction, known: Any) -> str:
    """Write a value as people do, with as few digits as the judge needs to recognize it."""
    value = plain(known.answer)
    if isinstance(value, str):
        return value
    exact = [5] if same(_rounded(value, 5), value, 1e-9) else []
    rounded = (_rounded(value, digits) for digits in (*exact, *range(2, 9)))
    ways = (way for way in rounded if way or not value)  # a small number mustn't become 0
    return _written(next(way for way in ways if question.judge(way).found == ((known,),)))


def _rounded(value: Any, digits: int) -> Any:
    if isinstance(value, tuple):
        return tuple(_rounded(part, digits) for part in value)
    return round(value, digits) if isinstance(value, float) else value


def _written(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_written, value))}{',' * (len(value) == 1)})"
    if isinstance(value, bool) or value != value:
        return str(value).replace("nan", "NaN")
    text = f"{value:,.8f}".rstrip("0").rstrip(".").replace("-", "−")
    return text if abs(value) >= 10_000 else text.replace(",", "")


def as_html(text: str) -> str:
    """Convert a question's Markdown, including its formulas, to HTML."""
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": True, "xhtmlOut": True}).enable("table")
    return str(made.render(with_mathml(text))).strip()


def write_polls(notebooks: Iterable[Path], out: Path, site: str) -> int:
    """Write the lessons' predictions as GIFT, QTI 2.1, and CSV; return how many there are.

    Args:
        site: the address of the web edition, or "". If given, links are absolute and get QR codes.
    """
    out.mkdir(parents=True, exist_ok=True)
    known, words = predictions(), words_in_context()
    polls, rows = [], []
    for path, name in ((p, n) for p in notebooks for n in exercises(read(p)) if n in known):
        question, asked = known[name], words[name]
        place, found = f"{question.topic}-{name}", choices(question, asked)
        link = f"{site}notebooks/{path.stem}.html#{place}"
        if site:
            _qr_code(link).save(out / f"{place}.svg", scale=8)
        told = [(inline(one.text), curly(inline(one.why)), one.is_right) for one in found]
        text = as_html(options(asked, question)[0])
        polls.append({"id": place, "name": f"{path.stem}, {name}", "text": text, "told": told})
        right = next(
            letter for letter, one in zip(ascii_uppercase, found, strict=False) if one.is_right
        )
        votes = (part for one in found for part in (one.text, one.why))
        rows.append([path.stem, name, " ".join(asked.split()), link, right, *votes])
    gift = template("polls.gift.txt").render(polls=polls)
    (out / "polls.gift.txt").write_text(gift, encoding="utf-8")
    with zipfile.ZipFile(out / "polls.qti.zip", "w", zipfile.ZIP_DEFLATED) as package:
        manifest = template("imsmanifest.xml").render(polls=polls)
        package.writestr("imsmanifest.xml", manifest)
        for poll in polls:
            item = template("item.xml").render(poll).replace("<math", MATH)
            package.writestr(f"{poll['id']}.xml", item)
    titles = [f"{letter}{what}" for letter in ascii_uppercase for what in ("", " tells")]
    titles = ["lesson", "name", "question", "link", "right", *titles]
    width = max(map(len, rows), default=5)
    lines = [[*line, *[""] * width][:width] for line in (titles, *rows)]
    write_table(out / "polls.csv", lines)
    return len(polls)


def template(name: str) -> Any:
    """Return a Jinja template, with a filter that escapes the special characters of GIFT."""
    from jinja2 import Environment, FileSystemLoader

    texts = Environment(loader=FileSystemLoader(ROOM / "templates"), trim_blocks=True)
    texts.filters["gift"] = lambda text: GIFT.sub(r"\\\1", " ".join(text.split()))
    return texts.get_template(name)


def _qr_code(link: str) -> Any:
    """Return a QR code for an address."""
    import segno

    return segno.make(link)
