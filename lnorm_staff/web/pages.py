"""A Sphinx extension that writes formulas as MathML and adds metadata to each page."""

import html
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from lnorm_staff.formulas import as_mathml
from lnorm_staff.web.words import open_meanings

__all__ = ["setup"]


def setup(app: Any) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.add_config_value("repository", "", "html")
    app.add_html_math_renderer(
        "mathml", (_formula, None), (partial(_formula, display="block"), None)
    )
    app.connect("html-page-context", _complete)
    app.connect("doctree-resolved", open_meanings)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _formula(translator: Any, node: Any, display: str = "inline") -> None:
    from docutils.nodes import SkipNode

    mathml = as_mathml(node.astext(), display)
    translator.body.append(mathml if display == "inline" else f'<div class="math">{mathml}</div>')
    raise SkipNode


def _complete(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Give a page metadata, a note on running its code, and scripts that draw in the browser."""
    if tree is None:
        return
    before, row, _ = context["body"].partition("lnorm-row-place")
    context["metatags"] += _description(app, page, context, tree)
    if page.startswith("notebooks/"):
        context["body"] += _how_to_run(app, page, context)
    if row:  # a row at the top blocks rendering, because drawing it later would move what's below
        script = context["pathto"]("_static/row.js", 1)
        waits = "" if "<h2" in before else ' blocking="render"'
        context["metatags"] += f'<script type="module"{waits} src="{script}"></script>'
    for topic in ("rings", "stream"):
        if f"lnorm-{topic}-place" in context["body"]:
            script = context["pathto"](f"_static/{topic}.js", 1)
            context["metatags"] += f'<script type="module" src="{script}"></script>'


def _description(app: Any, page: str, context: dict[str, Any], tree: Any) -> str:
    """Return tags with a page's title, first paragraph, and picture, for previews of links."""
    from docutils import nodes

    texts = (one for one in tree.findall(nodes.paragraph) if not isinstance(one[0], nodes.raw))
    paragraph = next(texts, None)
    about = " ".join(paragraph.astext().split()) if paragraph else ""
    name = PurePosixPath(page).name
    picture = name if Path(app.confdir, "pictures", f"{name}.png").exists() else "collapse"
    top = app.config.html_baseurl or context["pathto"]("", 1)
    tags = {
        "og:title": context.get("title", ""),
        "og:type": "article",
        "og:description": about,
        "og:image": f"{top}docs/pictures/{picture}.png",
    }
    return "\n".join(f'<meta property="{k}" content="{html.escape(v)}">' for k, v in tags.items())


def _how_to_run(app: Any, page: str, context: dict[str, Any]) -> str:
    """Return a link to a lesson's notebook, and to Binder if the repository has an address."""
    notebook = f"{PurePosixPath(page).name}.ipynb"
    start = f"{context['pathto']('README')}#start"
    binder = ""
    if repository := app.config.repository:
        name = repository.removeprefix("https://github.com/")
        address = f"https://mybinder.org/v2/gh/{name}/HEAD?urlpath=lab"
        binder = f', or <a href="{html.escape(address)}">run it on Binder</a>'
    return (
        '<p class="lnorm-run">To change the code, '
        f'<a href="{start}">get the course</a> and open '
        f'<a href="{notebook}" download>{notebook}</a>{binder}.</p>'
    )
