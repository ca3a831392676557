"""Read the list of a class, as Moodle, Canvas, or a spreadsheet saves it."""

import csv
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lnorm_staff.grading.plain_text import printable
from lnorm_staff.tables import read_table

__all__ = ["ClassList", "ClassListError", "Member", "read_class_list"]

# The names of the columns, in small letters.
COLUMNS = {
    "name": {"name", "full name", "student", "student name"},
    "first": {"first name", "firstname", "given name", "forename"},
    "last": {"last name", "lastname", "surname", "family name"},
    "email": {"email", "e-mail", "email address", "e-mail address", "mail"},
    "number": {"id number", "idnumber", "student id", "student number", "sis user id"},
    "username": {"username", "user name", "user", "login", "account", "sis login id"},
    "identifier": {"identifier", "id"},
    "section": {"section"},
    "changed": {"last modified (grade)"},
}
EXPECTED = "name, first name, surname, email, ID number, username"
POINTS_POSSIBLE = "points possible"  # a line of Canvas's gradebook that is no student


class ClassListError(ValueError):
    """Why a file can't be used as the list of a class, in one sentence."""


@dataclass(frozen=True)
class Member:
    """A student on the list. What the list doesn't say is empty."""

    name: str
    email: str = ""
    number: str = ""  # the university's own
    username: str = ""
    identifier: str = ""  # how Moodle or Canvas knows the student, such as "Participant 4711"
    section: str = ""  # of Canvas
    changed: str = ""  # when Moodle's grade was last modified

    @property
    def id(self) -> str:
        """Return the number in the identifier."""
        digits = re.search(r"\d+$", self.identifier)
        return digits[0] if digits else ""


@dataclass(frozen=True)
class ClassList:
    """The students of a class, in the order of the file."""

    members: Sequence[Member] = ()
    is_canvas: bool = False  # whether it's a gradebook that Canvas exported
    separator: str = ","

    def find(self, name: str, number: str = "") -> Member | None:
        """Return who has the number, or else who alone has the name, an account, or an address."""
        by_id = [each for each in self.members if number and each.id == number]
        by_name = [each for each in self.members if _plain(name) in _names(each)]
        found = by_id if len(by_id) == 1 else by_name
        return found[0] if len(found) == 1 else None


def read_class_list(path: Path) -> ClassList:
    """Read the list of a class.

    Raises:
        ClassListError: it has no column that says who a student is, or a line is too short.
        OSError: it can't be read.
    """
    try:
        table = read_table(path)
    except csv.Error as problem:
        raise ClassListError(f"{path} can't be read as a table: {problem}.") from None
    (_, titles), *lines = table.lines or [(1, [""])]
    columns: dict[str, int] = {}  # the first one of each field
    for number, title in enumerate(titles):
        for field, names in COLUMNS.items():
            if title.lower().strip("\ufeff ") in names:
                columns.setdefault(field, number)
    if not columns.keys() & {"name", "last", "email", "number", "username", "identifier"}:
        raise ClassListError(
            f"{path} has no column that says who a student is. Name its columns in the first "
            f"line. These are known: {EXPECTED}."
        )
    members = []
    for number, cells in lines:
        if len(cells) < max(columns.values()) + 1:
            raise ClassListError(
                f"{path}, line {number}: found {len(cells)} values, and the first line has "
                f"{len(titles)}."
            )
        given = {field: printable(cells[n]) for field, n in columns.items()}
        member = _member(given)
        if (
            member.name or member.email or member.identifier
        ) and member.name.lower() != POINTS_POSSIBLE:
            members.append(member)
    lower = {title.lower() for title in titles}
    return ClassList(members, {"student", "id", "section"} <= lower, table.separator)


def _member(given: dict[str, str]) -> Member:
    first, last = given.pop("first", ""), given.pop("last", "")
    name = given.pop("name", "") or f"{first} {last}".strip()
    return Member(name, **given)


def _names(member: Member) -> set[str]:
    """Return all by which an archive may call a student, such as "lovelaceada"."""
    last, comma, first = member.name.partition(",")
    words = f"{first} {last}".split() if comma else member.name.split()
    turned = (" ".join(words[n:] + words[:n]) for n in range(len(words)))
    known = {*turned, member.username, member.email, member.email.partition("@")[0]}
    return {_plain(each) for each in known} - {""}


def _plain(name: str) -> str:
    """Return a name in small letters and digits, without accents and spaces."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in letters if letter.isalnum())
