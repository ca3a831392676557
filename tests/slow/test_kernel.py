"""A kernel that runs what was handed in: what it answers, and how it ends."""

import os
import sys
import time
from pathlib import Path

import psutil
import torch
from kernel_values import IMPORTS, value_of

from lnorm_course.exercises.mean import row_means
from lnorm_staff.grading.run import processes as starting
from lnorm_staff.grading.run.kernel import Kernel, Outcome
from lnorm_staff.grading.run.plain_data import decode
from lnorm_staff.grading.run.processes import Processes

DIED = Outcome("crashed", "the kernel died.", lost=True)


def test_cells_run_one_after_the_other_unseen_and_their_checks_are_written_down(kernel, capfd):
    loud = "print('loud'); os.write(1, b'loud'); os.write(2, b'loud')"
    assert kernel.run(f"import os; {loud}; x = 2") == Outcome()
    assert kernel.run("before = 5; 1 / 0").reason == "ZeroDivisionError: division by zero"
    assert kernel.run("x = = 1").reason.startswith("SyntaxError: ")
    assert value_of(kernel, "[x, before]") == [2, 5]
    attempts = kernel.run("row_means.check(lambda x: x.mean(-1, keepdim=True))\n1/0").attempts
    assert list(attempts) == ["row_means"]
    found = [decode(value) for value in attempts["row_means"]["values"]]
    torch.testing.assert_close(found, row_means.right)
    assert kernel.run("%matplotlib inline\nawait __import__('asyncio').sleep(0)") == Outcome()
    assert kernel.run("input()").failed == "crashed"
    assert capfd.readouterr() == ("", "")


def test_a_check_gives_a_lesson_its_names_back_as_in_a_notebook(kernel):
    assert kernel.run(f"{IMPORTS}\nfrom lnorm_utils import layer_norm") == Outcome()
    taken = "def layer_norm(x):\n    return x.mean(-1, keepdim=True)\n\n"
    assert kernel.run(f"{taken}row_means.check(layer_norm)").failed == ""
    assert value_of(kernel, "layer_norm.__module__") == "lnorm_utils.functional"


def test_a_copy_that_a_cell_makes_of_its_kernel_does_not_answer_too(kernel):
    if hasattr(os, "fork"):
        assert kernel.run("import os; child = os.fork()") == Outcome()
        assert value_of(kernel, "child > 0") is True
        assert value_of(kernel, "2") == 2


def test_a_kernel_gets_no_secret_of_the_environment_and_a_home_of_its_own(kernel):
    gets_no_secret_and_a_home(kernel)


def gets_no_secret_and_a_home(kernel):
    environment, place, files, home = value_of(
        kernel, "[str(dict(os.environ)), os.getcwd(), str(os.listdir()), os.environ['HOME']]"
    )
    assert "s3cret" not in environment
    assert "'LNORM_PROGRESS': ''" in environment
    assert (Path(home) / "empty", files) == (Path(place), "[]")
    if sys.platform == "linux":
        assert "s3cret" not in value_of(kernel, "open('/proc/self/environ').read()")


def test_what_runs_too_long_is_stopped_and_the_kernel_lives_on(processes):
    with Kernel(processes, timeout=1.5, total=60) as kernel:
        reason = "it ran for more than 1.5 seconds."
        outcome = kernel.run(f"{IMPORTS}\nhow_many.check(6)\nx = 5\nwhile True: pass")
        assert (outcome.failed, outcome.reason, outcome.lost) == ("timed out", reason, False)
        assert list(outcome.attempts) == ["how_many"]
        assert value_of(kernel, "x") == 5


def test_after_a_death_all_that_ran_well_is_run_again(processes):
    with Kernel(processes, timeout=20, total=100) as kernel:
        assert kernel.run("x = [1]") == Outcome()
        assert kernel.run("x.append(2)") == Outcome()
        assert kernel.run("x.append(3); 1 / 0").failed == "crashed"
        assert kernel.run("import os; os.closerange(0, 99)") == DIED
        assert value_of(kernel, "x") == [1, 2]
        later = time.time() + 1
        assert kernel.run(f"import os, time; time.time() > {later} and os._exit(1)") == Outcome()
        time.sleep(max(0, later - time.time()) + 0.1)
        assert kernel.run("os._exit(1)") == DIED
        assert kernel.run("1").reason == "the kernel died again and again."


# Written to the grader in the place of an answer: too long, and another form.
FORGED = ["(2**30).to_bytes(4, 'big') + b'a' * 2**26", "(2).to_bytes(4, 'big') + b'[]'"]
FORGE = """
import os
for number in 3, 4:
    try:
        os.write(number, {forged})
    except OSError:
        pass
os._exit(0)
"""


def test_whatever_a_kernel_sends_is_no_error_of_the_grader(processes):
    with Kernel(processes, timeout=3, total=100) as kernel:
        assert kernel.run("x = 4") == Outcome()
        for forged in FORGED:
            before = psutil.Process().memory_info().rss
            outcome = kernel.run(FORGE.format(forged=forged))
            assert (outcome.failed, outcome.lost, outcome.attempts) == ("crashed", True, {})
            assert psutil.Process().memory_info().rss - before < 100 * 2**20
        assert value_of(kernel, "x") == 4


def test_where_no_kernel_starts_every_cell_says_so(monkeypatch):
    monkeypatch.setattr(starting, "START", "import sys; sys.exit(1)")
    never = Outcome("crashed", "no kernel could be started.", lost=True)
    with Processes(2) as processes, Kernel(processes, timeout=5, total=10) as kernel:
        assert kernel.run("1") == never


UNREADABLE = """
import os
os.makedirs('a/b')
open('a/b/c', 'w').close()
os.chmod('a/b', 0)
os.chmod('a', 0)
if os.name == 'posix':
    for _ in range(1000):
        os.mkdir('deeper')
        os.chdir('deeper')
"""


def test_without_a_sandbox_secrets_time_and_files_are_looked_after_all_the_same(unwalled):
    with Kernel(unwalled, timeout=5, total=60) as kernel:
        gets_no_secret_and_a_home(kernel)
        assert kernel.run("while True: pass").failed == "timed out"
        assert kernel.run(UNREADABLE) == Outcome()
        assert list(unwalled.folder.glob("tmp*"))
    assert not list(unwalled.folder.glob("tmp*"))
