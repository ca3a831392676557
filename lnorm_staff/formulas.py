"""Convert TeX formulas to MathML, with the spacing that TeX would use."""

import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

__all__ = ["NAMESPACE", "as_mathml", "with_mathml"]

FORMULA = re.compile(r"\$\$?(.+?)\$\$?", re.DOTALL)

NAMESPACE = ' xmlns="http://www.w3.org/1998/Math/MathML"'  # HTML implies it, so pages leave it out
SIGNS, BARS = "+−-±", "|‖"
ROWS = ("math", "mrow", "msqrt")


def as_mathml(formula: str, display: str = "inline") -> str:
    """Convert a TeX formula to MathML; `display` is "inline" or "block"."""
    from latex2mathml.converter import convert

    return _spaced(convert(formula, display=display).replace(NAMESPACE, ""))


def with_mathml(text: str, write: Callable[[str], str] = str) -> str:
    """Convert the formulas in a text to MathML, and apply `write` to the text between them.

    >>> with_mathml("a < $b$", str.upper).replace("<mrow>", "").replace("</mrow>", "")
    'A < <math display="inline"><mi>b</mi></math>'
    """
    parts = enumerate(FORMULA.split(text))
    return "".join(as_mathml(part) if number % 2 else write(part) for number, part in parts)


def _spaced(mathml: str) -> str:
    """Set the spacing in a formula: a sign is a prefix if no operand comes before it.

    >>> formula = "<math>{}<mo>−</mo><mi>b</mi></math>"
    >>> "prefix" in _spaced(formula.format("")), "prefix" in _spaced(formula.format("<mi>a</mi>"))
    (True, False)
    """
    tree = ElementTree.fromstring(mathml)
    if tree.get("display") != "block":
        for root in list(tree.iter("msqrt")):
            _without_bar(root)
    for row in list(tree.iter()):
        if row.tag in ROWS:
            _space(row)
    return ElementTree.tostring(tree, encoding="unicode")


def _without_bar(root: Any) -> None:
    """Write the square root of one letter or number without its bar, which would leave a gap."""
    texts = [part.text for part in root.iter() if part.text]
    if len(texts) == 1 and (len(texts[0]) == 1 or texts[0].isdigit()):
        root.tag = "mrow"
        sign = ElementTree.Element("mi", {"mathvariant": "normal", "class": "lnorm-root"})
        sign.text = "√"
        root.insert(0, sign)


def _space(row: Any) -> None:
    """Keep signs and slashes close to their operands, and functions apart from their arguments."""
    before = None
    parts = list(row)
    for part, after in zip(parts, [*parts[1:], None], strict=True):
        text = part.text or ""
        if part.tag == "mo" and text.isalpha() and text.isascii():
            part.tag = "mi"  # latex2mathml turns \operatorname into an operator
        if text == "/" or (text and text in BARS):
            part.set("lspace", "0")
            part.set("rspace", "0")
        elif text and text in SIGNS and (before is None or _leaves_open(before)):
            part.set("form", "prefix")
        is_function = part.tag == "mi" and len(text) > 1
        if is_function and after is not None and "".join(after.itertext())[:1] not in "(,":
            row.insert(list(row).index(part) + 1, _thin())
        if is_function and before is not None and (before.tag != "mo" or before.text == ")"):
            row.insert(list(row).index(part), _thin())
        before = part


def _leaves_open(part: Any) -> bool:
    """Return whether a + or − right after this part is a prefix rather than a binary operator."""
    return part.tag == "mo" and (part.text or "") not in {*")]}!", *BARS}


def _thin() -> Any:
    return ElementTree.Element("mspace", {"width": "0.1667em"})
