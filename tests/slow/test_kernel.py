"""A kernel that runs what was handed in: what it answers, and how it ends."""

import asyncio
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import tracemalloc
from pathlib import Path

import psutil
import pytest
import torch
from kernel_values import DIED, IMPORTS, WELL, look, run, value

from lnorm_course.exercises.mean import how_many, row_means
from lnorm_staff.grading.collect.handed_in import HandedIn
from lnorm_staff.grading.grade import Grade
from lnorm_staff.grading.run.child import Child
from lnorm_staff.grading.run.grade_many import grade_one
from lnorm_staff.grading.run.judge import NOT_AN_ATTEMPT
from lnorm_staff.grading.run.plain_data import read_outcome

EXIT = "import os; os._exit(1)"


def test_cells_run_one_after_the_other_unseen_and_their_checks_are_written_down(capfd):
    loud, failed, seen, checked, magic, asked, copied, alone = run(
        "import os; print('loud'); os.write(1, b'loud'); os.write(2, b'loud'); x = 2",
        "before = 5; 1 / 0",
        look("[x, before]"),
        "row_means.check(lambda x: x.mean(-1, keepdim=True))\n1/0",
        "%matplotlib inline\nawait __import__('asyncio').sleep(0)",
        "input()",
        "child = os.fork() if hasattr(os, 'fork') else 1",
        look("child > 0"),
    )
    assert [loud, magic, copied] == [WELL] * 3
    assert [failed.failed, asked.failed] == ["crashed"] * 2
    assert value(seen) == [2, 5]
    assert [*checked.attempts] == ["row_means"]
    found = read_outcome(checked.attempts["row_means"]).values
    torch.testing.assert_close(found, row_means.right)
    assert value(alone) is True  # the copy doesn't answer too
    assert capfd.readouterr() == ("", "")


def test_a_check_gives_a_lesson_its_names_back_and_help_says_nothing():
    taken = "def layer_norm(x):\n    return x.mean(-1, keepdim=True)\n\n"
    found = run(
        f"{IMPORTS}\nfrom lnorm_utils import layer_norm",
        f"{taken}row_means.check(layer_norm)",
        look("layer_norm.__module__"),
        "row_means.hint(); row_means.solution(); row_means.choose()",
    )
    assert [outcome.failed for outcome in found] == [""] * 4
    assert value(found[2]) == "lnorm_utils.functional"


@pytest.mark.usefixtures("walled_or_not")
def test_a_kernel_gets_no_secret_of_the_environment_and_a_home_of_its_own(monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "s3cret")
    told = "[str(dict(os.environ)), os.getcwd(), str(os.listdir()), os.environ['HOME']]"
    own = "open('/proc/self/environ').read()" if sys.platform == "linux" else "''"
    found, environ = map(value, run(look(told), look(own)))
    environment, place, files, home = found
    assert "s3cret" not in environment + environ
    assert "'LNORM_PROGRESS': ''" in environment
    assert (Path(home) / "empty", files) == (Path(place), "[]")


@pytest.mark.parametrize("wait", ["while True: pass", "import time; time.sleep(99)"])
def test_what_runs_too_long_is_stopped_and_the_kernel_lives_on(wait):
    check = f"{IMPORTS}\nhow_many.check(6)\nx = 5\n{wait}"
    late, after = run(check, look("x"), timeout=1.5)
    assert (late.failed, late.reason) == ("timed out", "it ran for more than 1.5 seconds.")
    assert list(late.attempts) == ["how_many"]
    assert value(after) == 5


def test_after_a_death_all_that_ran_well_is_run_again(unwalled, tmp_path):
    mark = str(tmp_path / "mark")
    once = f"import os; os.path.exists({mark!r}) and os._exit(1)"
    wait = f"open({mark!r}, 'w').close()"
    cells = ("x = [1]", "x.append(2)", "x.append(3); 1 / 0", "import os; os.closerange(0, 99)")
    found = run(*cells, look("x"), once, wait, EXIT, "1")
    assert [each.failed for each in found[:3]] == ["", "", "crashed"]
    assert found[3] == DIED
    assert value(found[4]) == [1, 2]
    assert found[5:8] == [WELL, WELL, DIED]
    assert found[8].reason == "the kernel died repeatedly."


# Written to the grader in the place of an answer: too long, other forms, and very many.
FORGED = ["b'1' * 2**26", "b'[]\\n'", "b'{}\\n'", "b'\\xff\\n'", "b'{\"attempts\": 1}\\n' * 10**6"]
FORGE = """
import os
for number in range(3, 12):
    try:
        os.write(number, {forged})
    except OSError:
        pass
os._exit(0)
"""


@pytest.mark.parametrize("forged", FORGED)
def test_whatever_a_kernel_sends_is_no_error_of_the_grader(forged):
    before = psutil.Process().memory_info().rss
    _, found, x = run("x = 4", FORGE.format(forged=forged), look("x"), timeout=5)
    assert (found.failed, found.attempts, value(x)) == ("crashed", {}, 4)
    assert psutil.Process().memory_info().rss - before < 100 * 2**20


A_LOT = f"""
{IMPORTS}
from lnorm_staff.grading.run import kernel
class Forged(dict):
    def clear(self): pass
kernel.ATTEMPTS = Forged(how_many=[[]] * 900_000)
"""


def test_however_much_a_kernel_sends_the_grader_keeps_little_of_it():
    file = HandedIn(Grade("ada", "", "a.ipynb", ""), [A_LOT, *["1"] * 9], [how_many])
    tracemalloc.start()
    (grade,) = asyncio.run(grade_one(file, 20))
    assert (grade.state, grade.message.endswith(NOT_AN_ATTEMPT)) == ("crashed", True)
    assert tracemalloc.get_traced_memory()[1] < 300 * 10**6  # each of ten fills 80 MB
    tracemalloc.stop()


@pytest.mark.skipif(os.name != "posix", reason="groups of processes")
def test_what_dies_twice_from_outside_is_judged_at_the_third_try(monkeypatch):
    ask, turns = Child.ask, itertools.count()

    async def killed(self, message, seconds):
        if next(turns) in (4, 6):  # a kernel starts and has two cells, then judges start and judge
            os.killpg(self.process.pid, signal.SIGKILL)
        return await ask(self, message, seconds)

    monkeypatch.setattr(Child, "ask", killed)
    cells = [IMPORTS, "how_many.check(how_many.answers[0].answer)"]
    file = HandedIn(Grade("ada", "", "a.ipynb", ""), cells, [how_many])
    (grade,) = asyncio.run(grade_one(file, 20, is_last=False))
    assert (grade.state, next(turns)) == ("right", 9)


UNREADABLE = """
import os
os.makedirs('a/b')
open('a/b/c', 'w').close()
os.chmod('a/b', 0)
os.chmod('a', 0)
if os.name == 'posix':
    for _ in range({deep}):
        os.mkdir('deeper')
        os.chdir('deeper')
"""


def test_without_a_sandbox_time_and_files_are_looked_after_all_the_same(
    unwalled, tmp_path, monkeypatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    late, made = run("while True: pass", UNREADABLE.format(deep=100), timeout=3)
    assert (late.failed, made) == ("timed out", WELL)
    assert os.listdir(tmp_path) == []
    assert run(UNREADABLE.format(deep=3000)) == [WELL]  # what is left of it stops nothing
    subprocess.run(["rm", "-rf", *tmp_path.iterdir()], check=os.name == "posix")
