"""Text of a student, made safe to print: it can't move the cursor of a terminal."""

__all__ = ["one_line", "printable"]


def printable(text: str) -> str:
    """Replace characters that a terminal obeys, or that UTF-8 can't write."""
    return "".join(letter if letter.isprintable() else "�" for letter in text)


def one_line(text: object) -> str:
    """Return the first 300 characters in a single line."""
    return printable(" ".join(str(text).split())[:300])
