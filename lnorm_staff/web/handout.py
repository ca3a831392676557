"""Write a lesson as a single HTML file that also works from a USB stick."""

import base64
import mimetypes
import re
from pathlib import Path
from typing import Any

__all__ = ["write_handout"]

# Elements that lead to other pages, which a single file doesn't have.
ELSEWHERE = (
    ".sidebar-drawer > *, .mobile-header > *, .related-pages, .lnorm-run, "
    "head link:not([rel~=stylesheet], [rel~=icon])"
)
FILES = {"link[href]": "href", "script[src]": "src", "img[src]": "src"}
FONT = re.compile(r"url\((\w+\.woff2)\)")


def write_handout(page: Path, out: Path) -> None:
    """Write a single file that contains a page of the site and everything that the page needs.

    Args:
        page: the page of a lesson or of the lectures, in a complete site.
        out: the file to write.
    """
    from bs4 import BeautifulSoup

    soup: Any = BeautifulSoup(page.read_text("utf-8"), "html.parser")
    soup.html["class"] = [*soup.html.get("class", []), "lnorm-alone"]
    for tag in soup.select(ELSEWHERE):
        tag.decompose()
    for kind, name in FILES.items():
        for tag in soup.select(kind):
            if not tag[name].startswith("data:"):
                tag[name] = _data(page.parent / tag[name].split("?")[0])
    for tag in soup.select("a[href]"):
        if not tag["href"].startswith(("#", "http")):
            tag.unwrap()
    for tag in {tag["data-folder"]: tag for tag in soup.select(".lnorm-live")}.values():
        for packed in sorted((page.parent / tag["data-folder"]).glob("*.gz")):
            inside = soup.new_tag("script", type="text/plain")
            inside["data-file"] = f"{tag['data-folder']}/{packed.name}"
            inside.string = base64.b64encode(packed.read_bytes()).decode()
            tag.insert_after(inside)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(str(soup), encoding="utf-8")


def _data(file: Path) -> str:
    """Return the content of a file as a data URL; a style sheet includes its fonts."""
    content, kind = file.read_bytes(), mimetypes.guess_type(file.name)[0]
    if kind == "text/css":
        text = content.decode()
        content = FONT.sub(lambda found: f"url({_data(file.parent / found[1])})", text).encode()
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
