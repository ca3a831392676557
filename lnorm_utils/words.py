"""Write numbers and sentences for people: 17,800 and 1e−5, with true minus signs, but never −0."""

import html
import math
import re
from collections.abc import Sequence
from typing import SupportsFloat

__all__ = [
    "capitalized",
    "clause",
    "counted",
    "dtype_name",
    "first_sentence",
    "fixed",
    "inline",
    "number",
    "power_of_ten",
    "significant",
    "spoken",
]

PLAIN = range(-4, 9)  # the powers of ten that are written without an exponent


def significant(value: SupportsFloat, digits: int = 4) -> str:
    """Write a number with at most `digits` significant digits, without trailing zeros.

    All digits before the decimal point are written, even if there are more than `digits`.

    >>> [significant(value) for value in (999.96, 17800, -0.25, 3.16e-5, 1e9, -0.0)]
    ['1,000', '17,800', '−0.25', '3.16e−5', '1e9', '0']
    >>> significant(1234.5), significant(1234.5, 10)
    ('1,234', '1,234.5')
    """
    value = float(value)
    if value == 0 or not math.isfinite(value):
        return _for_people(f"{abs(value):g}" if value == 0 else f"{value:g}")
    rounded, power = f"{value:.{digits - 1}e}".split("e")
    if int(power) not in PLAIN:
        return _for_people(f"{_without_zeros(rounded)}e{int(power)}")
    return _for_people(_without_zeros(f"{value:,.{max(0, digits - 1 - int(power))}f}"))


def fixed(value: SupportsFloat, decimals: int = 2) -> str:
    """Write a number with a fixed number of decimals.

    >>> fixed(-12345.678), fixed(-0.001), fixed(0.739957, decimals=5)
    ('−12,345.68', '0.00', '0.73996')
    """
    return _for_people(f"{round(float(value), decimals) + 0.0:,.{decimals}f}")


def number(value: SupportsFloat, beside: SupportsFloat = 1.0) -> str:
    """Write a number with two decimals, unless it's small or large.

    Numbers below 0.01 are written with two significant digits, and numbers of 100,000 or more
    without decimals.

    Args:
        beside: a number that the value was computed from. If the value is below a millionth of that
            number, it's only a rounding error, and is written as zero.

    >>> [number(value) for value in (-0.347, 0.0012, 1e-5, 131072, 1e-7)]
    ['−0.35', '0.0012', '1e−5', '131,072', '0.00']
    >>> number(1e-7, beside=1e-5)
    '1e−7'
    """
    size = abs(float(value))
    if size == 0 or size < 1e-6 * abs(float(beside)):
        return fixed(0)
    return fixed(value) if 0.01 <= size < 1e5 else significant(value, 2)


def power_of_ten(exponent: int) -> str:
    """Write a power of ten in the form used on a picture's axis.

    >>> [power_of_ten(exponent) for exponent in (-3, 0, 5)]
    ['1e−3', '1', '1e5']
    """
    return _for_people(f"1e{exponent}") if exponent else "1"


def counted(count: int, what: str) -> str:
    """Write a count and a noun for what is counted, in the plural unless the count is 1.

    >>> counted(1, "row"), counted(6, "row")
    ('1 row', '6 rows')
    """
    return f"{count:,} {what}{'s' * (count != 1)}"


def dtype_name(dtype: object) -> str:
    """Write the name of a PyTorch dtype or layout without the prefix `torch.`, as people do.

    >>> import torch
    >>> dtype_name(torch.float32)
    'float32'
    """
    return str(dtype).removeprefix("torch.")


def capitalized(text: str) -> str:
    """Begin a sentence with a capital, but leave a Greek letter as it is, because Γ isn't γ.

    >>> capitalized("add ε"), capitalized("γ is 1"), capitalized("")
    ('Add ε', 'γ is 1', '')
    """
    return text[:1].upper() + text[1:] if text[:1].isascii() else text


def spoken(things: Sequence[str], are_clauses: bool = False) -> str:
    """Join words as people do, without repeating any; put a comma between two clauses.

    >>> spoken(["a", "b", "c"]), spoken(["a", "b"]), spoken(["a", "a"])
    ('a, b, and c', 'a and b', 'a')
    >>> spoken(["one is missing", "one is wrong"], are_clauses=True)
    'one is missing, and one is wrong'
    """
    *most, last = dict.fromkeys(things)
    comma = "," * (are_clauses or len(most) > 1)
    return f"{', '.join(most)}{comma} and {last}" if most else last


def first_sentence(text: str) -> str:
    """Return what comes before a text's first period or semicolon, to name a mistake briefly.

    >>> first_sentence("You added 1e-5. It belongs under the root.")
    'You added 1e-5'
    """
    return re.split(r"(?<=[^.])[.;](?:\s|$)", " ".join(text.split()), maxsplit=1)[0]


def clause(sentence: str) -> str:
    """Uncapitalize a sentence for use inside another, unless it begins with a name or a symbol.

    >>> clause("You added ε."), clause("PyTorch adds ε."), clause("E[x] is missing.")
    ('you added ε.', 'PyTorch adds ε.', 'E[x] is missing.')
    """
    is_a_word = sentence[1:2].islower() or sentence[1:2] in (" ", "'")
    is_a_name = sentence.startswith(("PyTorch", "Python"))
    return f"{sentence[0].lower()}{sentence[1:]}" if is_a_word and not is_a_name else sentence


def inline(text: str) -> str:
    """Return a text as HTML, with the parts between backticks as code.

    >>> inline("`x.mean(-1)` is < 0")
    '<code>x.mean(-1)</code> is &lt; 0'
    """
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def _without_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _for_people(text: str) -> str:
    return text.replace("-", "−").replace("inf", "∞")
