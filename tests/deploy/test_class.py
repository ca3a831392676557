"""A class of three on the hub: they log in, work, lose a kernel, and stay apart."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
from class_student import LESSON, PLACE, Student

KILL = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
with_accounts = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives each an account")
at_once = ThreadPoolExecutor(3).map


@pytest.fixture(scope="module")
def students(seats, start_hub):
    """Three students who have opened the lesson."""
    with start_hub() as address:
        students = [Student(address, *seat) for seat in seats.items()]
        list(at_once(Student.arrive, students))
        yield students


def test_all_run_a_lesson_at_once(students):
    assert list(at_once(Student.work, students)) == [[], [], []]


def test_a_kernel_that_is_killed_starts_again_and_takes_no_other_along(students):
    for student in students:
        student.run("own = 1")
    first, *others = students
    assert first.run(KILL) == "died"
    assert "NameError" in first.run("print(own)")
    assert [student.run("print(own)") for student in others] == ["1\n", "1\n"]


def test_a_wrong_password_opens_nothing(students):
    assert not Student(students[0].hub, students[0].name, "12345678").log_in()


@with_accounts
def test_who_has_another_account_of_the_machine_does_not_get_in(students):
    other = Student(students[2].hub, students[2].name, students[2].password)
    subprocess.run(["gpasswd", "--delete", other.name, "lnorm-students"], check=True)
    assert not other.log_in()


def test_no_student_gets_into_the_server_of_another(students):
    owner, other, _ = students
    lesson = f"{owner.home}/api/{PLACE}"
    assert owner.web.get(lesson).ok
    assert other.web.get(lesson).status_code == requests.get(lesson).status_code == 403


@with_accounts
def test_no_student_reads_the_files_of_another(students):
    owner, other, _ = students
    path = owner.run(f"from pathlib import Path; print(Path({LESSON!r}).resolve())").strip()
    read = f"print(len(open({path!r}).read()))"
    assert int(owner.run(read)) > 1000
    assert "PermissionError" in other.run(read)
