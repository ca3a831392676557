"""Write a lesson as a single HTML file, which works from a USB stick too."""

import base64
import mimetypes
import re
from pathlib import Path
from typing import Any

from lnorm_course.lab.lesson_files import read, topics
from lnorm_course.lab.working_copy import lesson_named, lessons

__all__ = ["lesson_about", "write_handout"]

# What leads to other pages, which a single file doesn't have. The theme's script needs the header.
ELSEWHERE = (
    ".sidebar-drawer > *, .mobile-header > *, .related-pages, .lnorm-run, "
    "link[rel=index], link[rel=search], link[rel=next], link[rel=prev]"
)
FONT = re.compile(r"url\((\w+\.woff2)\)")
HIDDEN = ".sidebar-drawer, .mobile-header { display: none }"


def lesson_about(originals: Path, name: str) -> Path:
    """Find a lesson by its name or its beginning, such as 06, or by its topic, such as "collapse".

    Raises:
        ValueError: there is no such lesson, or more than one.
    """
    found = [path for path in lessons(originals) if name in topics(read(path))]
    return found[0] if len(found) == 1 else lesson_named(originals, name)


def write_handout(page: Path, out: Path) -> None:
    """Write a page of the site with all that it needs into one file.

    Args:
        page: of a lesson, in a site that is complete.
        out: the file to write.
    """
    from bs4 import BeautifulSoup

    soup: Any = BeautifulSoup(page.read_text("utf-8"), "html.parser")
    for tag in soup.select(ELSEWHERE):
        tag.decompose()

    def file(address: str) -> Path:
        return page.parent / address.split("?")[0]

    hidden = soup.new_tag("style")
    hidden.string = HIDDEN
    soup.head.append(hidden)
    for tag in soup.select("link[rel=stylesheet]"):
        style = soup.new_tag("style")
        style.string = _with_fonts(file(tag["href"]))
        tag.replace_with(style)
    for tag in soup.select("script[src]"):
        tag.string = file(tag["src"]).read_text("utf-8").replace("</script", "<\\/script")
        del tag["src"]
    for tag in soup.select("img[src], source[srcset], link[rel~=icon]"):
        name = {"img": "src", "source": "srcset"}.get(tag.name, "href")
        if not tag[name].startswith("data:"):
            tag[name] = _data(file(tag[name]))
    for tag in soup.select("a[href]"):
        if not tag["href"].startswith(("#", "http")):
            tag.unwrap()
    for tag in soup.select(".lnorm-live"):
        for packed in sorted(file(tag["data-folder"]).glob("*.gz")):
            inside = soup.new_tag("script", type="text/plain")
            inside["data-file"] = f"{tag['data-folder']}/{packed.name}"
            inside.string = base64.b64encode(packed.read_bytes()).decode()
            tag.insert_after(inside)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(str(soup), encoding="utf-8")


def _with_fonts(style: Path) -> str:
    """Return a style with its fonts inside."""
    text = style.read_text("utf-8")
    return FONT.sub(lambda found: f"url({_data(style.parent / found[1])})", text)


def _data(file: Path) -> str:
    kind = mimetypes.guess_type(file.name)[0]
    return f"data:{kind};base64,{base64.b64encode(file.read_bytes()).decode()}"
