"""What a student has solved is kept beside the notebooks, and never gets in the way."""

import os
import subprocess
import sys

import pytest

from lnorm_utils.exercises.exercise import Exercise
from lnorm_utils.exercises.feedback import State
from lnorm_utils.exercises.progress import note, progress

LESSON = "00_progress"
MODULE = "lnorm_utils.exercises.progress"


@pytest.fixture(autouse=True)
def bank(monkeypatch):
    monkeypatch.setattr(Exercise, "bank", {})
    for name in ("first", "second"):
        Exercise(LESSON, name, hints=[])


@pytest.fixture
def kept(tmp_path, monkeypatch):
    file = tmp_path / "progress.json"
    monkeypatch.setenv("LNORM_PROGRESS", str(file))
    return file


def states():
    return [state.name for state in progress(LESSON).values()]


def test_a_new_process_reads_what_another_one_has_noted(kept):
    program = f"from {MODULE} import note, State; note({LESSON!r}, 'first', State.RIGHT)"
    subprocess.run([sys.executable, "-c", program], check=True)
    assert states() == ["RIGHT", "NOT_ATTEMPTED"]
    assert [path.name for path in kept.parent.iterdir()] == [kept.name]


def test_without_the_variable_it_is_kept_in_the_folder_of_the_notebook(tmp_path, monkeypatch):
    monkeypatch.delenv("LNORM_PROGRESS")
    monkeypatch.chdir(tmp_path)
    note(LESSON, "first", State.WRONG)
    assert states() == ["WRONG", "NOT_ATTEMPTED"]
    assert [path.name for path in tmp_path.iterdir()] == [".progress.json"]


@pytest.mark.parametrize("later", [State.WRONG, State.NOT_ATTEMPTED, State.RIGHT])
def test_right_stays_right(kept, later):
    note(LESSON, "first", State.RIGHT)
    note(LESSON, "first", later)
    assert states() == ["RIGHT", "NOT_ATTEMPTED"]


def test_wrong_becomes_right_and_is_not_forgotten_by_an_empty_attempt(kept):
    note(LESSON, "first", State.WRONG)
    note(LESSON, "first", State.NOT_ATTEMPTED)
    assert states() == ["WRONG", "NOT_ATTEMPTED"]
    note(LESSON, "first", State.RIGHT)
    note("07_another", "first", State.WRONG)
    assert states() == ["RIGHT", "NOT_ATTEMPTED"]


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[1]",
        b"[" * 100_000,
        b'{"00_progress": 3}',
        b'{"00_progress": {"first": []}}',
        b'{"00_progress": {"first": "SOLUTION", "second": null}}',
    ],
    ids=lambda damage: repr(damage[:40]),
)
def test_a_damaged_file_is_no_progress_and_is_replaced_by_the_next_note(kept, damage):
    kept.write_bytes(damage)
    assert states() == ["NOT_ATTEMPTED", "NOT_ATTEMPTED"]
    note(LESSON, "second", State.RIGHT)
    assert states() == ["NOT_ATTEMPTED", "RIGHT"]


def test_a_folder_that_cannot_be_written_to_is_silent(tmp_path, monkeypatch, capfd):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    places = [tmp_path / "file" / "below", tmp_path / "missing" / "below", tmp_path / "folder", "."]
    if getattr(os, "geteuid", int)():  # nothing is read-only for root
        (tmp_path / "folder").chmod(0o500)
        places.append(tmp_path / "folder" / "below")
    for place in places:
        monkeypatch.setenv("LNORM_PROGRESS", str(place))
        note(LESSON, "first", State.RIGHT)
        assert states() == ["NOT_ATTEMPTED", "NOT_ATTEMPTED"]
    assert capfd.readouterr() == ("", "")
    assert {path.name for path in tmp_path.iterdir()} == {"file", "folder"}


def test_an_empty_variable_keeps_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("LNORM_PROGRESS", "")
    monkeypatch.chdir(tmp_path)
    note(LESSON, "first", State.RIGHT)
    assert states() == ["NOT_ATTEMPTED", "NOT_ATTEMPTED"]
    assert list(tmp_path.iterdir()) == []


def test_a_lesson_without_exercises_is_named_with_those_that_have_some():
    sentence = "There are no exercises of '99_none'; known lessons: 00_progress."
    with pytest.raises(ValueError, match=sentence):
        progress("99_none")


def test_it_is_shown_as_a_list_in_words(kept):
    note(LESSON, "first", State.RIGHT)
    text = "1 of 2 exercises are right.\n✓ first: right\n○ second: not attempted"
    assert repr(progress(LESSON)) == text
    assert "<li>✓ first: right</li>" in progress(LESSON)._repr_html_()
