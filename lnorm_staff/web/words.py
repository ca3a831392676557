"""Turn the first use of each glossary word in a lesson into a button that shows its meaning."""

import html
import re
from collections.abc import Iterator
from typing import Any

__all__ = ["open_meanings"]

GLOSSARY = "docs/glossary"
# These words aren't marked, because they have other meanings or occur in every other sentence.
COMMON = {"norm", "point", "mean", "range", "bits", "cache", "dimension"}
# Once a page uses one of these phrases, the word given for the phrase is no longer marked, because
# it means something else on that page.
OTHERWISE = {"blocks of rows": "block"}


def open_meanings(app: Any, tree: Any, page: str) -> None:
    """Mark the first use of each glossary word in a lesson; add anchors to the glossary itself."""
    if page == GLOSSARY:
        for entries in _rows(tree):
            entries[0]["ids"].append(_place(entries[0].astext()))
    elif page.startswith("notebooks/"):
        glossary = app.env.get_doctree(GLOSSARY)
        meanings = {entries[0].astext(): entries[1].astext() for entries in _rows(glossary)}
        names = [w for w in meanings if "," not in w and len(w) > 2 and w not in COMMON]
        address = app.builder.get_relative_uri(page, GLOSSARY)
        _mark_first_uses(tree, {name: meanings[name] for name in names}, address)


def _mark_first_uses(tree: Any, meanings: dict[str, str], glossary: str) -> None:
    """Turn the first use of each word in a page's prose into a button that shows its meaning."""
    from docutils import nodes

    left = {word.lower(): word for word in meanings}
    # Longer words come first, even once they're marked, because "batch norm" isn't "batch".
    known = sorted([*left, *OTHERWISE], key=len, reverse=True)
    either = "|".join(r"\s+".join(map(re.escape, word.split())) for word in known)
    pattern = re.compile(rf"(?<![\w-])({either})(s?)(?![\w-])", re.IGNORECASE)
    for text in list(tree.findall(nodes.Text)):
        if not left or not _is_prose(text):
            continue
        parts: list[Any] = []
        end = 0
        for found in pattern.finditer(text):
            name = " ".join(found[1].lower().split())
            left.pop(OTHERWISE.get(name, ""), None)
            word = left.pop(name, None)
            if word is None:
                continue
            shown = _shown(found[0], _place(word), meanings[word], glossary)
            parts += [nodes.Text(text[end : found.start()]), nodes.raw("", shown, format="html")]
            end = found.end()
        if parts:
            text.parent.replace(text, [*parts, nodes.Text(text[end:])])


def _shown(word: str, place: str, meaning: str, glossary: str) -> str:
    """Write a word as a button, followed by its meaning, which the browser shows beside it."""
    return (
        f'<button class="lnorm-word" popovertarget="{place}">{html.escape(word)}</button>'
        f'<span class="lnorm-meaning" popover id="{place}"><b>{html.escape(word)}</b>: '
        f'{html.escape(meaning)}. <a href="{glossary}#{place}">Glossary</a></span>'
    )


def _is_prose(text: Any) -> bool:
    """Return whether a text is in a paragraph of the lesson's prose."""
    from docutils import nodes

    node = text.parent
    while isinstance(node, nodes.emphasis | nodes.strong):
        node = node.parent
    if not isinstance(node, nodes.paragraph) or node.astext().startswith("References."):
        return False
    while not isinstance(node, nodes.section | nodes.entry | nodes.document):
        node = node.parent
    # A paragraph directly under a page's title belongs to the aims, which are collapsed.
    return isinstance(node, nodes.section) and isinstance(node.parent, nodes.section)


def _rows(tree: Any) -> Iterator[list[Any]]:
    """Yield the cells of each table row, except for header rows."""
    from docutils import nodes

    for body in tree.findall(nodes.tbody):
        for row in body.findall(nodes.row):
            yield list(row.findall(nodes.entry))


def _place(word: str) -> str:
    return "word-" + re.sub(r"\W+", "-", word.lower()).strip("-")
