"""What a student has solved is kept beside the notebooks, and never gets in the way."""

import ast
import errno
import functools
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from jupyter_client.manager import start_new_kernel

from lnorm_utils.exercises.engine.exercise import Exercise
from lnorm_utils.exercises.engine.feedback import State
from lnorm_utils.exercises.engine.progress import Progress, progress
from lnorm_utils.progress_files import RIGHT, WRONG, _say, keep

TOPIC = "progress_example"


@pytest.fixture(autouse=True)
def bank(monkeypatch):
    monkeypatch.setattr(Exercise, "bank", {})
    _say.cache_clear()
    for name in ("first", "second"):
        Exercise(TOPIC, name, hints=[])


@pytest.fixture
def kept(tmp_path, monkeypatch):
    folder = tmp_path / "progress"
    monkeypatch.setenv("LNORM_PROGRESS", str(folder))
    return folder


def states():
    return [state.name for state in progress(TOPIC).values()]


def test_without_the_variable_it_is_kept_in_the_folder_of_the_notebook(tmp_path, monkeypatch):
    monkeypatch.delenv("LNORM_PROGRESS")
    monkeypatch.chdir(tmp_path)
    keep(TOPIC, "first", WRONG)
    assert states() == ["WRONG", "NOT_ATTEMPTED"]
    assert [path.name for path in tmp_path.iterdir()] == [".progress"]


@pytest.mark.parametrize("later", [WRONG, RIGHT])
def test_right_stays_right(kept, later):
    keep(TOPIC, "first", RIGHT)
    keep(TOPIC, "first", later)
    assert states() == ["RIGHT", "NOT_ATTEMPTED"]


def test_wrong_becomes_right_and_is_not_forgotten_by_an_empty_attempt(kept):
    keep(TOPIC, "first", WRONG)
    Exercise.bank[TOPIC]["first"].check(...)
    assert states() == ["WRONG", "NOT_ATTEMPTED"]
    keep(TOPIC, "first", RIGHT)
    keep("another", "first", WRONG)
    assert states() == ["RIGHT", "NOT_ATTEMPTED"]


KEEP_A_HUNDRED = f"""
import sys
from lnorm_utils.progress_files import RIGHT, WRONG, keep
print("ready", flush=True)
sys.stdin.readline()
for state in (WRONG, RIGHT):
    for number in range(50):
        keep({TOPIC!r}, f"e{{number}}_{{sys.argv[1]}}", state)
"""


def test_notebooks_that_run_at_the_same_time_lose_nothing(kept):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    commands = [[sys.executable, "-c", KEEP_A_HUNDRED, str(n)] for n in range(2)]
    processes = [subprocess.Popen(command, **pipes) for command in commands]
    assert [process.stdout.readline() for process in processes] == ["ready\n"] * 2
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate()
    names = [f"e{number}_{n}" for number in range(50) for n in range(2)]
    for name in names:
        Exercise(TOPIC, name, hints=[])
    assert {name: progress(TOPIC)[name] for name in names} == dict.fromkeys(names, State.RIGHT)


RIGHT_ANSWER = """
from lnorm_utils.exercises import progress
from lnorm_utils.exercises.mean import how_many, shape_left
how_many.check(how_many.answers[0]())
"""


def test_a_kernel_that_is_killed_in_a_cell_loses_nothing(kept):
    manager, client = start_new_kernel(env={**os.environ, "LNORM_PROGRESS": str(kept)})
    try:
        run = functools.partial(client.execute_interactive, timeout=60, output_hook=bool)
        assert run(RIGHT_ANSWER)["content"]["status"] == "ok"
        client.execute("while True: shape_left.check(0)")
        end = time.monotonic() + 60
        while len(list(kept.iterdir())) < 2:
            assert time.monotonic() < end
        manager.provisioner.process.kill()
        manager.restart_kernel(now=True)
        client.wait_for_ready(timeout=60)
        assert run(RIGHT_ANSWER)["content"]["status"] == "ok"
        states = "{name: state.name for name, state in progress('mean').items()}"
        reply = run("", user_expressions={"states": states})["content"]["user_expressions"]
        found = ast.literal_eval(reply["states"]["data"]["text/plain"])
        assert (found.pop("how_many"), found.pop("shape_left")) == ("RIGHT", "WRONG")
        assert set(found.values()) == {"NOT_ATTEMPTED"}
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_a_check_is_kept_under_the_lesson_and_the_name_of_its_exercise(kept):
    exercise = Exercise.bank[TOPIC]["second"]
    exercise.answer(lambda: 4)
    exercise.check(3)
    assert states() == ["NOT_ATTEMPTED", "WRONG"]
    exercise.check(4)
    assert states() == ["NOT_ATTEMPTED", "RIGHT"]


def test_to_judge_keeps_nothing(kept):
    exercise = Exercise.bank[TOPIC]["second"]
    exercise.answer(lambda: 4)
    exercise.judge(4)
    assert states() == ["NOT_ATTEMPTED", "NOT_ATTEMPTED"]


def checked(exercise):
    """Check two attempts, and return what was answered."""
    exercise.answer(lambda: 4)
    return [str(exercise.check(attempt)) for attempt in (4, 4)]


def test_a_folder_that_cannot_be_written_to_is_told_once_and_the_check_answers(
    tmp_path, monkeypatch, capfd
):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    places = [tmp_path / "file", tmp_path / "file" / "below", tmp_path / "missing" / "below"]
    if getattr(os, "geteuid", int)():  # nothing is read-only for root
        (tmp_path / "folder").chmod(0o500)
        places.append(tmp_path / "folder" / "below")
    for place in places:
        monkeypatch.setenv("LNORM_PROGRESS", str(place))
        assert checked(Exercise(TOPIC, "first", hints=[])) == ["Right.", "Right."]
        assert states() == ["NOT_ATTEMPTED", "NOT_ATTEMPTED"]
        (said,) = capfd.readouterr().err.splitlines()
        assert said.startswith(f"Your progress cannot be kept in {place} (")
    assert {path.name for path in tmp_path.iterdir()} == {"file", "folder"}


def test_a_full_disk_is_told_once_and_what_was_kept_stays(kept, monkeypatch, capfd):
    def full(path):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    keep(TOPIC, "first", WRONG)
    keep(TOPIC, "second", RIGHT)
    before = list(kept.iterdir())
    monkeypatch.setattr(Path, "touch", full)
    assert checked(Exercise(TOPIC, "first", hints=[])) == ["Right.", "Right."]
    assert states() == ["WRONG", "RIGHT"]
    assert list(kept.iterdir()) == before
    assert capfd.readouterr().err == (
        f"Your progress cannot be kept in {kept} (No space left on device): make room on the "
        "disk, or make the folder writable, and run your cells again.\n"
    )


def test_an_empty_variable_keeps_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("LNORM_PROGRESS", "")
    monkeypatch.chdir(tmp_path)
    keep(TOPIC, "first", RIGHT)
    assert states() == ["NOT_ATTEMPTED", "NOT_ATTEMPTED"]
    assert list(tmp_path.iterdir()) == []


def test_a_lesson_without_exercises_is_named_with_those_that_have_some():
    sentence = "There are no exercises on 'none_of_them'; known topics: progress_example."
    with pytest.raises(ValueError, match=sentence):
        progress("none_of_them")


def test_it_is_shown_as_a_list_in_words(kept):
    keep(TOPIC, "first", RIGHT)
    text = "1 of 2 exercises are right.\n✓ first: right\n○ second: not attempted"
    assert repr(progress(TOPIC)) == text
    assert progress(TOPIC)._repr_html_() == (
        "<p>1 of 2 exercises are right.</p><ul style='list-style: none'>"
        "<li>✓ first: right</li><li>○ second: not attempted</li></ul>"
    )


def test_only_what_is_right_is_counted_and_what_is_wrong_is_said(kept):
    Exercise(TOPIC, "third", hints=[])
    keep(TOPIC, "first", RIGHT)
    keep(TOPIC, "second", WRONG)
    text = "1 of 3 exercises are right.\n✓ first: right\n✗ second: not yet\n"
    assert repr(progress(TOPIC)) == text + "○ third: not attempted"


def test_the_name_of_an_exercise_cannot_become_html():
    assert "<li>✓ a &lt; b: right</li>" in Progress({"a < b": State.RIGHT})._repr_html_()


def test_several_lessons_are_named_in_their_order_and_none_is_said_to_be_none(monkeypatch):
    Exercise("an_earlier", "first", hints=[])
    with pytest.raises(ValueError, match=r"known topics: an_earlier, progress_example\.$"):
        progress("none_of_them")
    monkeypatch.setattr(Exercise, "bank", {})
    with pytest.raises(ValueError, match=r"known topics: none yet\.$"):
        progress("none_of_them")


def test_without_a_lesson_all_lessons_are_shown(kept):
    keep(TOPIC, "first", RIGHT)
    shown = repr(progress())
    assert f"○ {TOPIC}: 1 of 2" in shown
    keep(TOPIC, "second", RIGHT)
    assert f"✓ {TOPIC}: 2 of 2" in repr(progress())
