"""A kernel that runs what was handed in: what it answers, how it ends, and what it cannot reach."""

import os
import socket
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
import torch

from lnorm_utils.exercises.mean import row_means
from lnorm_utils.grading import kernel as kernels
from lnorm_utils.grading import processes as starting
from lnorm_utils.grading import sandbox
from lnorm_utils.grading.kernel import Kernel, Outcome
from lnorm_utils.grading.plain_data import decode
from lnorm_utils.grading.processes import Processes
from lnorm_utils.grading.sandbox import can_sandbox
from lnorm_utils.grading.walls import LIMITS

DIED = Outcome("crashed", "the kernel died.", lost=True)
AGAIN = Outcome("crashed", "the kernel died again and again.", lost=True)
IMPORTS = "import os, torch\nfrom lnorm_utils.exercises.mean import how_many, row_means"
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="a limit that only Linux has")
IN_SANDBOX = pytest.mark.skipif(not can_sandbox(), reason="bubblewrap is missing, or cannot work")


@pytest.fixture(scope="module", params=["forked", "forked, no sandbox", "started", "no sandbox"])
def processes(request):
    """Start processes in each of the ways that a machine may offer."""
    patch = pytest.MonkeyPatch()
    patch.setenv("SECRET_TOKEN", "s3cret")
    if "no sandbox" in request.param:
        patch.setattr(starting, "can_sandbox", lambda: False)
    with Processes(seconds=2) as processes:
        processes.can_fork = processes.can_fork and "forked" in request.param
        yield processes
        assert processes.can_fork == ("forked" in request.param and sys.platform == "linux")
    patch.undo()


@pytest.fixture(scope="module")
def kernel(processes):
    """A kernel for cells that do no harm to the next one."""
    with Kernel(processes, timeout=20, total=300) as kernel:
        yield kernel


@pytest.fixture(scope="module")
def own():
    """Processes for tests of what is the same wherever a kernel comes from."""
    with Processes(seconds=2) as processes:
        yield processes


def value_of(kernel, expression):
    """Return the value of an expression in a kernel."""
    outcome = kernel.run(f"{IMPORTS}\nhow_many.check({expression})")
    assert (outcome.failed, outcome.reason) == ("", "")
    (value,) = outcome.attempts["how_many"]["values"]
    return decode(value)


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


@ON_LINUX
def test_a_kernel_has_its_limits(kernel):
    limits = ", ".join(f"resource.getrlimit(resource.{name})[1]" for name in LIMITS)
    assert kernel.run("import resource") == Outcome()
    found = dict(zip(LIMITS, value_of(kernel, f"[{limits}]"), strict=True))
    assert found.pop("RLIMIT_NPROC") <= LIMITS["RLIMIT_NPROC"]
    assert found.items() <= LIMITS.items()


MANY = """
import os, time
from multiprocessing import Process
def take():
    taken = bytearray(300 * 2**20)
    time.sleep(30)
for _ in range(4):
    Process(target=take).start()
time.sleep(30)
"""


@ON_LINUX
def test_the_processes_of_a_kernel_share_one_limit_of_memory(own, monkeypatch):
    monkeypatch.setattr(kernels, "MOST_MEMORY", 2**30)
    with Kernel(own, timeout=60, total=99) as kernel:
        assert kernel.run(MANY) == Outcome("crashed", kernels.TOO_LARGE, lost=True)


def commands():
    """Return the command lines of all processes."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended
            found += file.read_text(errors="replace").split("\0")
    return found


def ends(ticket, is_there=False):
    """Say whether a process with this in its command line is gone soon, or is there soon."""
    end = time.monotonic() + 10
    while (ticket in commands()) != is_there and time.monotonic() < end:
        time.sleep(0.1)
    return (ticket in commands()) == is_there


def begins(ticket):
    return ends(ticket, is_there=True)


@ON_LINUX
def test_what_a_kernel_leaves_behind_is_ended_with_it(processes):
    ticket = f"86398.{os.getpid()}"
    code = f"import os, subprocess; subprocess.Popen(['sleep', '{ticket}'])"
    with Kernel(processes, timeout=20, total=60) as kernel:
        assert kernel.run(f"{code}; os._exit(1)") == DIED
        assert ends(ticket)
        assert kernel.run(code) == Outcome()
        assert begins(ticket)
    assert ends(ticket)


def test_without_bubblewrap_there_is_no_sandbox(monkeypatch):
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: None)
    assert not can_sandbox.__wrapped__()


def test_bubblewrap_that_does_not_work_here_is_not_used(monkeypatch, tmp_path, capfd):
    tool, asked = tmp_path / "bwrap", []
    tool.write_text("#!/bin/sh\necho not permitted >&2\nexit 1\n")
    tool.chmod(0o755)
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: asked.append(name) or str(tool))
    assert not can_sandbox.__wrapped__()
    assert asked == ["bwrap"]
    assert capfd.readouterr() == ("", "")


# Each of these raises an OSError in a sandbox, also for root.
WAYS_OUT = """
import ctypes, os, socket, time
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    if getattr(libc, name)(*arguments):
        raise OSError(ctypes.get_errno(), name)
def fork_100_times():
    children = []
    try:
        for _ in range(100):
            children.append(os.fork())
            if children[-1] == 0:
                time.sleep(60)
                os._exit(0)
    finally:
        for child in children:
            os.kill(child, 9)
            os.waitpid(child, 0)
def fill(path):
    for n in range(9):
        with open(f"{{path}}/{{n}}", "wb") as file:
            file.write(bytes(2**26))
ways = {{
    "use a file from before": lambda: os.dup(5),
    "read another's file": lambda: open({other!r}).read(),
    "write beside it": lambda: open({other!r} + ".new", "w"),
    "write in the package": lambda: open({package!r} + "/new.py", "w"),
    "reach the network": lambda: socket.create_connection({address!r}, 2),
    "signal the grader": lambda: os.kill({grader}, 0),
    "look at the grader": lambda: open("/proc/{grader}/environ").read(),
    "make the package writable": lambda: call("mount", None, {package!r}.encode(), None, 4128, 0),
    "take the cover off": lambda: call("umount2", ({package!r} + "/exercises").encode(), 2),
    "mount another cover": lambda: call("mount", b"none", b"/tmp", b"tmpfs", 0, None),
    "go to the root of init": lambda: os.chroot("/proc/1/root"),
    "enter another namespace": lambda: call("setns", os.open("/proc/1/ns/user", 0), 0),
    "read the answers": lambda: open({package!r} + "/exercises/mean.py"),
    "change the system": lambda: open("/proc/sys/kernel/core_pattern", "r+"),
    "use up the disk": lambda: fill("/tmp"),
    "use up the shared memory": lambda: fill("/dev/shm"),
    "fork without end": fork_100_times,
    "use up the devices' folder": lambda: open("/dev/file", "w"),
}}
found = []
for way, go in ways.items():
    try:
        go()
        found.append(way)
    except OSError:
        pass
"""


@IN_SANDBOX
def test_in_the_sandbox_are_no_files_no_network_and_no_processes(tmp_path, processes):
    if not starting.can_sandbox():
        pytest.skip("this one has no sandbox")
    other, ticket = tmp_path / "of_somebody_else.ipynb", f"86399.{os.getpid()}"
    other.write_text("{}")
    about = {"other": str(other), "package": str(sandbox.PACKAGE), "grader": os.getpid()}
    left = ["read the answers"] if not processes.can_fork else []
    if os.geteuid() == 0 or not processes.can_fork:
        left.append("fork without end")
    with socket.create_server(("127.0.0.1", 0)) as server, Kernel(processes, 60, 99) as kernel:
        code = WAYS_OUT.format(**about, address=server.getsockname())
        assert kernel.run(code) == Outcome()
        assert value_of(kernel, "found") == left
        status = value_of(kernel, "open('/proc/self/status').read()")
        assert {line for line in status.splitlines() if line.startswith("Cap")} == {
            f"Cap{kind}:\t{0:016x}" for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb")
        }
        stay = f"import subprocess\nsubprocess.Popen(['sleep', {ticket!r}], start_new_session=True)"
        assert kernel.run(stay) == Outcome()
        assert begins(ticket)
    assert ends(ticket)
    assert [path.name for path in tmp_path.iterdir()] == [other.name]
