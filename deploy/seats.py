"""The seats of a class: who may log in to the hub, and with which code."""

import csv
import html
import os
import pwd
import re
import secrets
from pathlib import Path

from lnorm_staff.tables import read_table

__all__ = ["COMMENT", "SeatsError", "add_seats", "plain", "read_seats", "write_sheet"]

# 32 letters and digits that nobody mixes up on paper: 12 of them are 60 bits.
LETTERS = "abcdefghjkmnpqrstuvwxyz123456789"
LEAST, GROUP = 12, 4
COMMENT = "seat of a student"  # of the accounts that the hub makes
NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
STRIP = """<tr><td>open <b>{address}</b></td>
<td>username <b>{name}</b></td><td>password <b>{code}</b></td></tr>
"""
SHEET = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Seats</title>
<style>
  body {{ font: 16px sans-serif }} table {{ border-collapse: collapse; width: 100% }}
  td {{ border: 1px dashed #999; padding: 14px }} tr {{ break-inside: avoid }}
  b {{ font: bold 18px monospace; white-space: nowrap }}
</style>
<table>
{strips}</table></html>
"""


class SeatsError(ValueError):
    """What is wrong with the file of seats, in one sentence."""


def read_seats(path: Path) -> dict[str, str]:
    """Read {name: code} from a table of two columns; no file means no seats.

    A name without a code is a seat that is closed: nobody gets it, and no new seat gets its name.

    Raises:
        SeatsError: others can read the file, or a line of it can't be used.
        OSError: the file can't be read at all.
    """
    return {name: code for name, code in _all_seats(path).items() if code}


def _all_seats(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    if path.stat().st_mode & 0o077:
        raise SeatsError(f"{path} can be read by others. Close it: chmod 600 {path}")
    seats: dict[str, str] = {}
    try:
        lines = read_table(path).lines
    except csv.Error as problem:
        raise SeatsError(f"{path} can't be read as a table: {problem}.") from None
    for number, row in lines:
        if row != ["name", "code"]:
            name, code = _checked(row, seats, f"{path}, line {number}: ")
            seats[name] = code
    return seats


def _checked(row: list[str], seats: dict[str, str], where: str) -> tuple[str, str]:
    name, code = (row[0].strip(), plain(row[1])) if len(row) == 2 else ("", "")
    if len(row) != 2:
        raise SeatsError(f"{where}expected a name and a code, and found {len(row)} values.")
    if not NAME.fullmatch(name):
        raise SeatsError(
            f"{where}the name {name!r} isn't small letters, digits, and hyphens, such as seat-01."
        )
    if name in seats:
        raise SeatsError(f"{where}there are two seats with the name {name!r}.")
    if _is_of_somebody_else(name):
        raise SeatsError(f"{where}{name!r} is an account of this machine. Choose another name.")
    if code and len(code) < LEAST:
        raise SeatsError(f"{where}the code of {name!r} has {len(code)} characters, not {LEAST}.")
    return name, code


def _is_of_somebody_else(name: str) -> bool:
    try:
        return pwd.getpwnam(name).pw_gecos.split(",")[0] != COMMENT
    except KeyError:
        return False


def plain(code: str) -> str:
    """Return a code as it is compared: without hyphens and spaces, in small letters."""
    return re.sub(r"[\s-]", "", code).lower()


def add_seats(path: Path, students: int) -> dict[str, str]:
    """Add seats until there are enough; those that are there stay as they are.

    Returns:
        {name: code} of all seats that aren't closed.

    Raises:
        SeatsError: the file that is there can't be used.
        OSError: the file can't be written.
    """
    seats, number = _all_seats(path), 0
    while sum(map(bool, seats.values())) < students:
        number += 1
        name = f"seat-{number:02}"
        if name not in seats and not _has_work(name, path):
            seats[name] = "".join(secrets.choice(LETTERS) for _ in range(LEAST))
    lines = [f"{name},{_grouped(code)}\n" for name, code in seats.items()]
    _write_closed(path, "".join(["name,code\n", *lines]))
    return {name: code for name, code in seats.items() if code}


def _has_work(name: str, path: Path) -> bool:
    """Tell whether somebody has had a seat of that name: its home isn't for somebody else."""
    try:
        return bool(pwd.getpwnam(name))
    except KeyError:
        return (path.parent / "homes" / name).exists()


def write_sheet(path: Path, seats: dict[str, str], address: str) -> None:
    """Write a page to print and cut: a strip for each seat, with the address of the hub."""
    strips = (
        STRIP.format(address=html.escape(address), name=name, code=html.escape(_grouped(code)))
        for name, code in seats.items()
    )
    _write_closed(path, SHEET.format(strips="".join(strips)))


def _grouped(code: str) -> str:
    return "-".join(code[n : n + GROUP] for n in range(0, len(code), GROUP))


def _write_closed(path: Path, text: str) -> None:
    """Write a file that nobody else can read, whole or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    draft.replace(path)
