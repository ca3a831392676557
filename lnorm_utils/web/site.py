"""Write the web edition: every lesson and every page of `docs`, with nothing from another host."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lnorm_utils.lab.lesson_files import cleared, read, write
from lnorm_utils.web.arrows import with_arrows
from lnorm_utils.web.baking import bake, calls_in
from lnorm_utils.web.lesson_page import LAB_ONLY, explorer, lesson_page

__all__ = ["write_site"]

ROOM = Path(__file__).parent
ENGINE = ROOM.parent / "explorers" / "engine"
EXPLORER = re.compile(r"^```\{explorer\} (.+)\n```$", re.MULTILINE)
TOCTREE = re.compile(r"```\{toctree\}.*?```", re.DOTALL)
# Besides the lessons. What isn't a page can be fetched through a link.
PAGES = ("README.md", ".github/*.md", "docs/*.md", "LICENSE", "CITATION.cff", "docs/pictures/*")


def write_site(project: Path, out: Path, cache: Path, draw_all: Any = map) -> None:
    """Write the site.

    Args:
        project: the course.
        out: the folder of the site, which is written anew.
        cache: a folder for what need not be made again, such as the frames of explorers.
        draw_all: like `map`, maybe in several processes.

    Raises:
        SystemExit: Sphinx has found something wrong in a page, and says what.
    """
    from sphinx.cmd.build import build_main

    source, pictures, pages = (cache / name for name in ("source", "pictures", "pages"))
    for folder in (pictures, pages):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    used: set[Path] = set()

    def baked(call: str) -> Path:
        folder = bake(call, cache / "baked", draw_all)
        used.add(folder)
        return folder

    texts = {"index.md": _index((project / "docs/index.md").read_text("utf-8"), baked)}
    for path in sorted((project / "notebooks").glob("*.ipynb")):
        page = lesson_page(json.loads(path.read_text("utf-8")), baked, pictures)
        texts[f"notebooks/{path.name}"] = json.dumps(page, ensure_ascii=False)
    for name, text in texts.items():
        _write(source / name, text.encode())
    copied = [path for pattern in PAGES for path in project.glob(pattern)]
    copied.remove(project / "docs/index.md")
    for path in copied:
        content = path.read_bytes()
        if path.suffix == ".md":
            content = with_arrows(LAB_ONLY.sub("", content.decode())).encode()
        _write(source / path.relative_to(project), content)
    wanted = {source / name for name in texts} | {source / p.relative_to(project) for p in copied}
    for path in source.rglob("*"):
        if path.is_file() and path not in wanted:
            path.unlink()
    write_static(cache / "static")
    options = ["-q", "-W", "--keep-going", "-j", "auto", "-c", str(project / "docs")]
    static = f"html_static_path={cache / 'static'}"
    if build_main([*options, "-D", static, "-d", str(cache / "trees"), str(source), str(pages)]):
        raise SystemExit("The site isn't complete: the lines above say why.")
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(pages, out)
    for folder in used:
        shutil.copytree(folder, out / "baked" / folder.name)
    shutil.copytree(pictures, out / "pictures")
    shutil.copytree(project / "docs/pictures", out / "docs/pictures")
    for path in (project / "notebooks").glob("*.ipynb"):
        write(cleared(read(path)), out / "notebooks" / path.name)
    (out / ".nojekyll").touch()  # or GitHub Pages would leave out folders such as _static


def write_static(folder: Path) -> None:
    """Write the script and the style of pages, each as one file."""
    folder.mkdir(parents=True, exist_ok=True)
    engine = (ENGINE / "explorer.js").read_text("utf-8").replace("export default { render };", "")
    live = re.sub(r"^import .*\n", "", (ROOM / "live.js").read_text("utf-8"), flags=re.MULTILINE)
    (folder / "live.js").write_text(f"{engine}\n{live}", encoding="utf-8")
    styles = (ENGINE / "explorer.css", ROOM / "live.css")
    text = "\n".join(style.read_text("utf-8") for style in styles)
    (folder / "live.css").write_text(text, encoding="utf-8")
    for font in ROOM.glob("stix_two_math.*"):
        shutil.copy(font, folder)


def _index(text: str, baked: Callable[[str], Path]) -> str:
    """Write the first page, which stands at the top of the site and not in `docs`."""

    def alive(found: re.Match[str]) -> str:
        (call,) = calls_in(found[1])
        return f"````{{raw}} html\n{explorer(call, baked(call.source), '')}\n````"

    text = re.sub(r"\]\((?!\.\./|http)", "](docs/", text).replace("](../", "](")
    return EXPLORER.sub(alive, TOCTREE.sub(lambda tree: _at_the_top(tree[0]), text))


def _at_the_top(tree: str) -> str:
    """Rewrite the pages that a toctree lists, each alone on its line or behind its title."""
    pages = re.sub(r"^(?=[a-z_]+$)|(?<=<)(?=[a-z_]+>$)", "docs/", tree, flags=re.MULTILINE)
    return pages.replace("../", "")


def _write(path: Path, content: bytes) -> None:
    """Write a file, unless it's there already: Sphinx looks at the time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != content:
        path.write_bytes(content)
