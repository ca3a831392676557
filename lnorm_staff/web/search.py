"""Write the text that the site's search covers: each section of each page."""

import json
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

__all__ = ["write_sections"]

# These elements are skipped, because hints and solutions mustn't appear in the results.
NOT_SEARCHED = "script, style, svg, .headerlink, .lnorm-meaning, .lnorm-prediction, .lnorm-exercise"

# No space is added around these elements, because they occur inside sentences.
INSIDE_WORDS = "a, button, code, em, span, strong, wbr"


def write_sections(site: Path, pool: Any) -> None:
    """Write all sections of a site to sections.json in the site's root folder.

    Args:
        site: the site's folder, as Sphinx wrote it.
        pool: a pool of processes.
    """
    found = pool.imap(partial(_sections, site=site), sorted(site.rglob("*.html")))
    text = json.dumps([*chain(*found)], ensure_ascii=False, separators=(",", ":"))
    (site / "sections.json").write_text(text, encoding="utf-8")


def _sections(page: Path, site: Path) -> list[dict[str, str]]:
    """List the sections of a page that have a heading, each without its subsections."""
    from bs4 import BeautifulSoup, SoupStrainer

    only: Any = SoupStrainer("article", role="main")
    soup: Any = BeautifulSoup(page.read_text("utf-8"), "html.parser", parse_only=only)
    article = soup.article
    if article is None:
        return []
    for tag in article.select(NOT_SEARCHED):
        tag.decompose()
    for tag in article.select(INSIDE_WORDS):
        tag.unwrap()
    article.smooth()
    found = []
    for section in article.select("section[id]"):
        heading = section.find(["h1", "h2", "h3"], recursive=False)
        if heading is not None:
            own = [tag for tag in section.find_all(recursive=False) if tag.name != "section"]
            blocks = [pre.extract() for tag in own for pre in tag.select("pre")]
            own = [tag for tag in own if tag is not heading]
            found.append(
                {
                    "id": f"{page.relative_to(site).as_posix()}#{section['id']}",
                    "page": _words(article.h1.get_text(" ")),
                    "title": _words(heading.get_text(" ")),
                    "text": _words(" ".join(tag.get_text(" ") for tag in own)),
                    "code": _words(" ".join(pre.get_text(" ") for pre in blocks)),
                }
            )
    return found


def _words(text: str) -> str:
    return " ".join(text.split())
