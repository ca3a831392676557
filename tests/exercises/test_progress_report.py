"""What a student has solved is kept beside the notebooks, and never gets in the way."""

import subprocess
import sys

import pytest

from lnorm_course import progress_files
from lnorm_course.checking.exercise import Exercise
from lnorm_course.checking.feedback import State
from lnorm_course.checking.prediction import Prediction
from lnorm_course.exercises.progress_report import progress
from lnorm_course.progress_files import RIGHT, WRONG, _say, keep

TOPIC = "progress_example"


@pytest.fixture(autouse=True)
def bank(monkeypatch):
    monkeypatch.setattr(Exercise, "bank", {})
    _say.cache_clear()
    for name in ("first", "second"):
        made(name)


def made(name, topic=TOPIC, further=False):
    Prediction(right=[(4, "")], wrong=[], hints=[]).put_in_bank(topic, name, further)


@pytest.fixture
def kept(tmp_path, monkeypatch):
    folder = tmp_path / "progress"
    monkeypatch.setenv("LNORM_PROGRESS", str(folder))
    return folder


def states():
    return [progress_files.kept(TOPIC, name) for name in ("first", "second")]


def test_without_the_variable_it_is_kept_beside_the_notebook_and_if_that_is_empty_nowhere(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LNORM_PROGRESS", "")
    keep(TOPIC, "first", RIGHT)
    assert states() == ["", ""]
    assert list(tmp_path.iterdir()) == []
    monkeypatch.delenv("LNORM_PROGRESS")
    keep(TOPIC, "first", WRONG)
    assert states() == [WRONG, ""]
    assert [path.name for path in tmp_path.iterdir()] == [".progress"]


def test_a_check_is_kept_under_topic_and_name_and_right_stays_right(kept):
    exercise = Exercise.bank[TOPIC]["second"]
    exercise.judge(4)
    Prediction(right=[(4, "")], wrong=[], hints=[]).check(4)  # one in no bank
    assert not kept.exists()
    keep("another", "first", WRONG)
    for attempt, state in ((3, WRONG), (..., WRONG), (4, RIGHT), (3, RIGHT)):
        exercise.check(attempt)
        assert states() == ["", state]


KEEP = f"""
import sys
from lnorm_course.progress_files import RIGHT, WRONG, keep
for state in (WRONG, RIGHT):
    for number in range(50):
        keep({TOPIC!r}, f"e{{number}}_{{sys.argv[1]}}", state)
print("done", flush=True)
while True:
    keep({TOPIC!r}, f"e0_{{sys.argv[1]}}", WRONG)
"""


def test_notebooks_that_run_at_the_same_time_and_are_killed_lose_nothing(kept):
    commands = [[sys.executable, "-c", KEEP, str(n)] for n in range(2)]
    running = [subprocess.Popen(each, stdout=subprocess.PIPE, text=True) for each in commands]
    said = [process.stdout.readline() for process in running]
    for process in running:
        process.kill()
        process.communicate()
    assert said == ["done\n"] * 2
    names = [f"e{number}_{n}" for number in range(50) for n in range(2)]
    assert {progress_files.kept(TOPIC, name) for name in names} == {RIGHT}


def test_a_place_that_cannot_be_written_to_is_told_once_and_the_check_answers(
    tmp_path, monkeypatch, capfd
):
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "missing" / "below"):
        monkeypatch.setenv("LNORM_PROGRESS", str(place))
        for _ in range(2):
            Exercise.bank[TOPIC]["first"].check(4)
        told = capfd.readouterr()
        assert told.out == 2 * f"{State.RIGHT.value}.\n"
        (said,) = told.err.splitlines()
        assert str(place) in said
        assert states() == ["", ""]
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_it_is_shown_as_a_list_in_words_and_of_all_topics_without_one(kept):
    made("a < b")
    keep(TOPIC, "first", RIGHT)
    keep(TOPIC, "second", WRONG)
    head, *lines = repr(progress(TOPIC)).splitlines()
    assert head.startswith("1 of 3 ")
    assert [line[0] for line in lines] == ["✓", "✗", "○"]
    page = progress(TOPIC)._repr_html_()
    assert (page.count("<li>"), "a &lt; b" in page) == (3, True)
    assert f"○ {TOPIC}: 1 of 3" in repr(progress())


def test_side_trips_are_counted_apart_once_one_is_begun(kept):
    for name in ("third", "fourth"):
        made(name, further=True)
    for name in ("first", "second"):
        keep(TOPIC, name, RIGHT)
    assert repr(progress(TOPIC)).splitlines()[0] == "2 of 2 exercises are right."
    assert "third" not in repr(progress(TOPIC))
    keep(TOPIC, "third", RIGHT)
    assert "2 of 2 exercises are right, and 1 of 2 further" in repr(progress(TOPIC))
    assert f"✓ {TOPIC}: 2 of 2, and 1 of 2 further" in repr(progress())


def test_an_unknown_topic_is_named():
    made("first", "an_earlier")
    with pytest.raises(ValueError, match=r"an_earlier, progress_example"):
        progress("none_of_them")
