"""A kernel that runs what was handed in: what it answers, and how it ends."""

import os
import sys
import threading
import time
from pathlib import Path

import pytest
import torch
from kernel_values import IMPORTS, value_of

from lnorm_utils.exercises.mean import row_means
from lnorm_utils.grading.run import processes as starting
from lnorm_utils.grading.run.kernel import Kernel, Outcome
from lnorm_utils.grading.run.plain_data import decode
from lnorm_utils.grading.run.processes import Processes

DIED = Outcome("crashed", "the kernel died.", lost=True)
AGAIN = Outcome("crashed", "the kernel died again and again.", lost=True)


def test_cells_run_one_after_the_other_and_their_checks_are_written_down(kernel):
    assert kernel.run("x = 2") == Outcome()
    assert value_of(kernel, "x + 1") == 3
    assert kernel.run("before = 5; 1 / 0") == Outcome(
        "crashed", "ZeroDivisionError: division by zero"
    )
    assert kernel.run("x = = 1").reason.startswith("SyntaxError: ")
    assert value_of(kernel, "before") == 5
    attempts = kernel.run("row_means.check(lambda x: x.mean(-1, keepdim=True))\n1/0").attempts
    assert list(attempts) == ["row_means"]
    found = [decode(value) for value in attempts["row_means"]["values"]]
    torch.testing.assert_close(found, row_means.right)
    assert kernel.run("%matplotlib inline\nawait __import__('asyncio').sleep(0)") == Outcome()
    assert kernel.run("input()").failed == "crashed"


TAKEN = """
def layer_norm(x):
    return x.mean(-1, keepdim=True)

row_means.check(layer_norm)
"""


def test_a_check_gives_a_lesson_its_names_back_as_in_a_notebook(kernel):
    cells = (
        f"%time\n{IMPORTS}",
        "from lnorm_utils import layer_norm",
        "from nowhere import layer_norm",
    )
    assert [kernel.run(cell).failed for cell in cells] == ["", "", "crashed"]
    assert kernel.run(TAKEN).failed == ""
    assert value_of(kernel, "layer_norm.__module__") == "lnorm_utils.functional"


def test_what_runs_too_long_is_stopped_and_the_kernel_lives_on(processes):
    with Kernel(processes, timeout=1.5, total=60) as kernel:
        reason = "it ran for more than 1.5 seconds."
        loop = f"{IMPORTS}\nhow_many.check(6)\nx = 5\nwhile True: pass"
        outcome = kernel.run(loop)
        assert (outcome.failed, outcome.reason, outcome.lost) == ("timed out", reason, False)
        assert list(outcome.attempts) == ["how_many"]
        assert value_of(kernel, "x") == 5
        ignore = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
        assert kernel.run(ignore) == Outcome("timed out", reason, lost=True)
        assert kernel.run("while True: pass").reason == reason  # and the next one starts


def test_after_a_death_all_that_ran_well_is_run_again(processes):
    with Kernel(processes, timeout=20, total=100) as kernel:
        assert kernel.run("x = [1]") == Outcome()
        assert kernel.run("x.append(2)") == Outcome()
        assert kernel.run("x.append(3); 1 / 0").failed == "crashed"
        assert kernel.run("import os; os._exit(1)") == DIED
        assert value_of(kernel, "x") == [1, 2]
        assert kernel.run("os.close(3); os.closerange(0, 99)") == DIED
        assert value_of(kernel, "x") == [1, 2]


def test_a_copy_that_a_cell_makes_of_its_kernel_does_not_answer_too(kernel):
    if hasattr(os, "fork"):
        assert kernel.run("import os; child = os.fork()") == Outcome()
        assert value_of(kernel, "child > 0") is True
        assert value_of(kernel, "2") == 2


def test_a_cell_that_lets_the_kernel_die_later_ends_it_for_good(own):
    with Kernel(own, timeout=20, total=100) as kernel:
        later = time.time() + 1
        assert kernel.run(f"import os, time; time.time() > {later} and os._exit(1)") == Outcome()
        time.sleep(max(0, later - time.time()) + 0.1)
        assert kernel.run("os._exit(1)") == DIED
        assert kernel.run("1") == AGAIN


def test_the_time_of_a_notebook_ends_with_all_its_cells(own):
    with Kernel(own, timeout=5, total=2) as kernel:
        assert kernel.run("while True: pass").failed == "timed out"
        over = Outcome("timed out", "the 2 seconds for the whole notebook were over.", lost=True)
        assert kernel.run("1") == over


# Written to the grader in the place of an answer: too long, no end, no JSON, another form.
FORGED = [
    "(2**30).to_bytes(4, 'big') + b'a' * 2**26",
    "(2**20).to_bytes(4, 'big') + b'a'",
    "(4).to_bytes(4, 'big') + b'nope'",
    "(2**21).to_bytes(4, 'big') + b'[' * 2**21",
    "(2).to_bytes(4, 'big') + b'[]'",
]
FORGE = """
import os
for number in 3, 4:
    try:
        os.write(number, {forged})
    except OSError:
        pass
os._exit(0)
"""
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


@pytest.mark.parametrize("forged", FORGED)
def test_whatever_a_kernel_sends_is_no_error_of_the_grader(own, forged):
    with Kernel(own, timeout=3, total=100) as kernel:
        assert kernel.run("x = 4") == Outcome()
        before = memory_of_this_process()
        outcome = kernel.run(FORGE.format(forged=forged))
        assert (outcome.failed, outcome.lost, outcome.attempts) == ("crashed", True, {})
        assert memory_of_this_process() - before < 100 * 2**20
        assert value_of(kernel, "x") == 4


def memory_of_this_process():
    import psutil

    return psutil.Process().memory_info().rss


def test_where_no_kernel_starts_every_cell_says_so(monkeypatch):
    monkeypatch.setattr(starting, "START", "import sys; sys.exit(1)")
    never = Outcome("crashed", "no kernel could be started.", lost=True)
    with Processes(2) as processes, Kernel(processes, timeout=5, total=10) as kernel:
        assert kernel.run("1") == never


def test_processes_take_their_folder_along_when_they_end(monkeypatch):
    monkeypatch.setattr(starting, "can_sandbox", lambda: False)
    with Processes(2) as processes:
        with Kernel(processes, timeout=20, total=60) as kernel:
            assert list(processes.folder.glob("tmp*"))
            assert kernel.run(UNREADABLE) == Outcome()
        assert not list(processes.folder.glob("tmp*"))
    assert not processes.folder.exists()


def test_closing_ends_a_cell_that_runs_and_starts_no_other(monkeypatch):
    with Processes(2) as processes, Kernel(processes, timeout=60, total=99) as kernel:
        start = time.monotonic()
        threading.Timer(1, processes.close).start()
        with pytest.raises(OSError, match="stopped"):
            kernel.run("import time; time.sleep(60)")
        assert time.monotonic() - start < 3
        with pytest.raises(OSError, match="stopped"):
            Kernel(processes, timeout=60, total=99).__enter__()


def test_a_kernel_gets_no_secret_of_the_environment_and_a_home_of_its_own(kernel):
    found = value_of(
        kernel, "[str(dict(os.environ)), os.getcwd(), str(os.listdir()), os.environ['HOME']]"
    )
    environment, place, files, home = found
    assert "SECRET_TOKEN" not in environment
    assert "s3cret" not in environment
    assert "'LNORM_PROGRESS': ''" in environment
    assert "'OMP_NUM_THREADS': '1'" in environment
    assert (Path(home) / "empty", files) == (Path(place), "[]")
    if sys.platform == "linux":
        assert "s3cret" not in value_of(kernel, "open('/proc/self/environ').read()")


def test_nothing_that_a_kernel_writes_is_seen(kernel, capfd):
    code = "import os; print('loud'); os.write(1, b'loud'); os.write(2, b'loud')"
    assert kernel.run(code) == Outcome()
    assert capfd.readouterr() == ("", "")


def test_a_kernel_knows_no_answers(kernel):
    assert kernel.run(IMPORTS) == Outcome()
    for way in ("answers[0]", "wrong[0]", "search", "__dict__['answers']"):
        assert kernel.run(f"how_many.check(how_many.{way})").attempts == {}
    for said in ("solution()", "hint()"):
        assert value_of(kernel, f"how_many.{said}") is ...
    assert kernel.run("from lnorm_utils.exercises import progress\nprogress('mean')") == Outcome()
    functions = "[o.__name__ for o in gc.get_objects() if isinstance(o, type(lambda: 0))]"
    assert kernel.run("import gc") == Outcome()
    name = row_means._answer.__name__
    assert value_of(kernel, f"{name!r} in {functions}") is False
