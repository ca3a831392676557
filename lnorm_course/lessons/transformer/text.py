"""The text of lesson 15, its encoding as numbers, and the entropies of its letters.

The text is volume one, chapters 1 to 23, of "Pride and Prejudice" by Jane Austen (London, 1813),
which is in the public domain. It was transcribed by Project Gutenberg and taken from the R package
janeaustenr 1.0.0. Each line is a paragraph. Letters are lowercase; chapter headings, the marks for
italics, and parentheses are left out; and two dates are written as words. This leaves 37 distinct
characters.
"""

import math
from functools import cache
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["Entropies", "austen", "decode", "encode", "entropies"]


@cache
def austen() -> str:
    """Return volume one of "Pride and Prejudice", about 229,000 characters.

    >>> austen()[:38]
    'it is a truth universally acknowledged'
    """
    return Path(__file__).with_name("pride_and_prejudice.txt").read_text("utf-8")


@cache
def alphabet() -> str:
    """Return the text's V = 37 distinct characters, in the order of their codes."""
    return "".join(sorted({*austen()}))


def encode(text: str) -> Tensor:
    """Convert characters to their codes.

    Args:
        text: L characters, each of which is in `austen()`.

    Returns:
        (L,), int64, from 0 to V − 1.

    Raises:
        ValueError: a character isn't in the alphabet.

    >>> encode("a cab")
    tensor([11,  1, 13, 11, 12])
    """
    numbers = {character: number for number, character in enumerate(alphabet())}
    if unknown := sorted({*text} - {*numbers}):
        raise ValueError(
            f"{unknown[0]!r} is not one of the {len(numbers)} characters {alphabet()!r}."
        )
    return torch.tensor([numbers[character] for character in text])


def decode(codes: Tensor) -> str:
    """Convert codes (L,) back to characters.

    >>> decode(encode("a cab"))
    'a cab'
    """
    return "".join(alphabet()[code] for code in codes.tolist())


class Entropies(NamedTuple):
    """The smallest cross entropies, in nats, of three kinds of predictions. See `entropies`."""

    guessing: float
    letters: float
    pairs: float


def entropies(codes: Tensor) -> Entropies:
    """Compute the smallest cross entropies that three kinds of predictions can reach.

    guessing = ln V, if all V characters always get the same probability. letters =
    −Σ p(a) · ln p(a), if each character a always gets its frequency p(a). pairs =
    −Σ p(a, b) · ln p(b | a), if each b gets p(b | a), its frequency right after a character a.

    Args:
        codes: (L,), int64, character codes that begin at 0.

    Returns:
        The three entropies, in nats per character.

    Source: Shannon 1951, Prediction and Entropy of Printed English, who gives such numbers in bits.

    >>> entropies(torch.tensor([0, 1, 0, 1, 0]))
    Entropies(guessing=0.6931, letters=0.673, pairs=0.0)
    """
    count = int(codes.max()) + 1
    first, second = codes[:-1], codes[1:]
    pairs = torch.bincount(first * count + second, minlength=count**2).reshape(count, count)
    letters = _entropy(torch.bincount(codes))
    given = _entropy(pairs.flatten()) - _entropy(pairs.sum(dim=1))  # H(a, b) − H(a)
    return Entropies(*(round(value, 4) + 0.0 for value in (math.log(count), letters, given)))


def _entropy(counts: Tensor) -> float:
    return torch.special.entr(counts.double() / counts.sum()).sum().item()
