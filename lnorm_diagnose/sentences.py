"""Shorten sentences, make clauses of them, and write them as HTML."""

import html
import re

__all__ = ["clause", "first_sentence", "inline"]


def first_sentence(text: str) -> str:
    """Return the first sentence of a text, without its period: a mistake in a few words.

    >>> first_sentence("You added 1e-5. It belongs under the root.")
    'You added 1e-5'
    """
    return re.split(r"(?<=[^.])[.;](?:\s|$)", " ".join(text.split()), maxsplit=1)[0]


def clause(sentence: str) -> str:
    """Return a sentence as a part of a longer one."""
    is_a_word = sentence[1:2].islower() or sentence[1:2] in (" ", "'")
    is_a_name = sentence.startswith(("PyTorch", "Python"))
    return f"{sentence[0].lower()}{sentence[1:]}" if is_a_word and not is_a_name else sentence


def inline(text: str) -> str:
    """Return a text as HTML, with what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
