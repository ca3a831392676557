"""Text of a student, made safe to print: it can't move the cursor of a terminal."""

__all__ = ["MOST_OF_A_MESSAGE", "one_line", "printable"]

MOST_OF_A_MESSAGE = 1000  # characters; it may quote a line of a student's, and what that raised


def printable(text: str) -> str:
    """Replace characters that a terminal obeys, or that UTF-8 can't write."""
    return "".join(letter if letter.isprintable() else "�" for letter in text)


def one_line(text: object, most: int = 300) -> str:
    """Return the first characters in a single line."""
    return printable(" ".join(str(text).split())[:most])
