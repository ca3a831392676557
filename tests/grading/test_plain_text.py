"""Text of a student says nothing about the machine, stays short, and moves no cursor."""

from pathlib import Path

import pytest
from exercise_banks import BANK

from lnorm_staff.grading import plain_text
from lnorm_staff.grading.plain_text import MOST_OF_A_MESSAGE, MOST_OF_AN_ERROR, one_line


@pytest.fixture
def profs(monkeypatch):
    """A machine of somebody whose home folder has a space in it."""
    monkeypatch.setattr(Path, "home", lambda: Path("/data/people/Ada Prof"))
    plain_text._places.cache_clear()
    yield
    plain_text._places.cache_clear()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("No such file: '/data/people/Ada Prof/exam.csv'", "No such file: '…/exam.csv'"),
        (f"{Path(__file__).parents[2]}/a.py, line 3", "…/a.py, line 3"),
        ("/home/other/a/b.py: no", "…/b.py: no"),
        (r"'C:\\Users\\prof\\my\\a.py'", "'…/a.py'"),
        ("1 / 0 and a/b/c, (3/4)", "1 / 0 and a/b/c, (3/4)"),
        ("a\n \x1b[2K", "a �[2K"),
    ],
)
def test_folders_are_taken_out_and_nothing_else(profs, text, told):
    assert one_line(text) == told


def test_a_long_text_is_cut_and_looked_at_in_no_time():
    assert len(one_line("a" * 10**6)) == MOST_OF_AN_ERROR
    for end in ("/" * 10**6, "/a" * 10**6, "\\" * 10**6, " " * 10**6):
        assert len(one_line(end)) <= MOST_OF_AN_ERROR


def test_no_sentence_of_a_bank_is_changed():
    for exercise in (e for bank in BANK.values() for e in bank.values()):
        sentences = [reason for _, reason in getattr(exercise, "answers", [])]
        sentences += [wrong.message for wrong in getattr(exercise, "wrong", [])]
        sentences += [mistake.__doc__ for mistake in getattr(exercise, "mistakes", [])]
        for sentence in sentences:
            assert one_line(sentence, MOST_OF_A_MESSAGE) == " ".join(sentence.split())
