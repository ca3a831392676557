"""A kernel that runs what was handed in: what it answers, how it ends, and what it cannot reach."""

import os
import shutil
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
import torch

from lnorm_utils.exercises.engine.class_attempts import Observed
from lnorm_utils.grading import kernel as kernels
from lnorm_utils.grading import sandbox
from lnorm_utils.grading.kernel import Kernel, Outcome
from lnorm_utils.grading.plain_data import decode
from lnorm_utils.grading.sandbox import can_sandbox

DIED = Outcome("crashed", "the kernel died.", lost=True)
AGAIN = Outcome("crashed", "the kernel died again and again.", lost=True)
ANSWER = "type('Answer', (), {'_repr_json_': lambda self: {'found': found}})()"
ROWS = torch.arange(6.0).reshape(2, 3)


@pytest.fixture(scope="module")
def patient():
    """A kernel for code that does no harm."""
    with Kernel(timeout=20, total=300) as kernel:
        yield kernel


def values(outcome):
    assert (outcome.failed, outcome.reason, outcome.lost) == ("", "", False)
    return [decode(value) for value in outcome.answer["values"]]


def value_of(kernel, code):
    """Run code that sets `found`, and return that; unlike `fetch`, without waiting for torch."""
    assert kernel.run(code) == Outcome()
    return kernel._run("", ANSWER).answer["found"]


def test_what_a_part_defines_is_there_for_the_next(patient):
    assert patient.run("x = 2") == Outcome()
    assert value_of(patient, "found = x + 1") == 3


def test_a_part_that_fails_says_why_and_the_kernel_lives_on(patient):
    reason = "ZeroDivisionError: division by zero"
    assert patient.run("before = 5; 1 / 0") == Outcome("crashed", reason)
    assert value_of(patient, "found = before") == 5


def test_nobody_is_asked_to_type(patient):
    outcome = patient.run("input()")
    assert (outcome.failed, outcome.lost) == ("crashed", False)
    assert outcome.reason.startswith("StdinNotImplementedError: ")


def test_an_attempt_is_looked_at_or_called_with_the_inputs_or_tried(patient):
    assert values(patient.fetch("1, 'a'", None)) == [(1, "a")]
    first, second = values(patient.fetch("lambda x: x.sum(-1)", [(ROWS,), (ROWS + 1,)]))
    assert (first.tolist(), second.tolist()) == ([3, 12], [6, 15])
    assert patient.run("import torch") == Outcome()
    inputs = [(Observed.OUTPUT.name, 3, (), ROWS.double())]
    (seen,) = values(patient.fetch("torch.nn.LayerNorm", inputs, "observe"))
    torch.testing.assert_close(seen, torch.nn.LayerNorm(3).double()(ROWS.double()).detach())


def test_an_attempt_that_is_not_there_says_so(patient):
    reason = "NameError: name 'nowhere' is not defined"
    assert patient.fetch("nowhere", None) == Outcome("crashed", reason)


def test_what_is_no_answer_is_none(patient):
    assert patient._run("", "7") == Outcome(answer=None)


def test_what_runs_too_long_is_stopped_and_the_kernel_lives_on():
    with Kernel(timeout=1.5, total=60) as kernel:
        too_long = Outcome("timed out", "it ran for more than 1.5 seconds.")
        assert kernel.run("x = 5\nwhile True: pass") == too_long
        assert value_of(kernel, "found = x") == 5


def test_after_a_death_all_that_ran_well_is_run_again():
    with Kernel(timeout=20, total=100) as kernel:
        assert kernel.run("x = [1]") == Outcome()
        assert kernel.run("x.append(2)") == Outcome()
        assert kernel.run("x.append(3); 1 / 0").failed == "crashed"
        assert kernel.run("import os; os._exit(1)") == DIED
        assert value_of(kernel, "found = x") == [1, 2]
        assert kernel.fetch("__import__('os')._exit(1)", None) == DIED
        assert value_of(kernel, "found = x") == [1, 2]


def test_a_part_that_lets_the_kernel_die_later_ends_it_for_good():
    with Kernel(timeout=20, total=100) as kernel:
        later = time.time() + 1
        assert kernel.run(f"import os, time; time.time() > {later} and os._exit(1)") == Outcome()
        time.sleep(max(0, later - time.time()) + 0.1)
        assert kernel.run("os._exit(1)") == DIED
        assert kernel.run("1") == AGAIN
        assert kernel.fetch("1", None) == AGAIN


def test_the_time_of_a_notebook_ends_with_all_its_cells():
    with Kernel(timeout=5, total=2) as kernel:
        assert kernel.run("while True: pass").failed == "timed out"
        over = Outcome("timed out", "the 2 seconds for the whole notebook were over.", lost=True)
        assert kernel.run("1") == over
        assert kernel.fetch("1", None) == over


def test_an_answer_without_end_is_not_read(monkeypatch):
    monkeypatch.setattr(kernels, "SECONDS_TO_STOP", 0.5)
    with Kernel(timeout=3, total=100) as kernel:
        assert kernel._run("", "'a' * 2 ** 25").failed == ""
        assert kernel._run("", "'a' * 2 ** 27").failed == "timed out"


def test_whatever_a_kernel_sends_is_no_error_of_the_grader(monkeypatch):
    with Kernel(timeout=20, total=100) as kernel:
        assert kernel.run("x = 4") == Outcome()
        reply, sent = Kernel._reply, [{}]
        monkeypatch.setattr(
            Kernel, "_reply", lambda self, *asked: sent.pop() if sent else reply(self, *asked)
        )
        unread = "what the kernel answered cannot be read."
        assert kernel.fetch("x", None) == Outcome("crashed", unread, lost=True)
        assert value_of(kernel, "found = x") == 4


def test_where_no_kernel_starts_every_piece_says_so(monkeypatch):
    monkeypatch.setattr(kernels, "START", "import sys; sys.exit(1)")
    never = Outcome("crashed", "no kernel could be started.", lost=True)
    with Kernel(timeout=5, total=10) as kernel:
        assert kernel.run("1") == never
        assert kernel.fetch("1", None) == never


def test_a_kernel_takes_its_folder_along_when_it_ends(monkeypatch):
    with Kernel(timeout=20, total=60) as kernel:
        folder = kernel.folder
        assert folder.is_dir()
        assert folder.name.startswith("lnorm")
    assert not folder.exists()
    assert not kernel.manager.is_alive()
    with Kernel(timeout=20, total=60) as kernel:
        shutil.rmtree(kernel.folder)

    def full(self):
        raise OSError("no space left")

    monkeypatch.setattr(Kernel, "_start", full)
    refused = Kernel(timeout=20, total=60)
    with pytest.raises(OSError, match=r"^no space left$"):
        refused.__enter__()
    assert not refused.folder.exists()


@pytest.mark.parametrize("sandboxed", [True, False])
def test_a_kernel_gets_no_secret_of_the_environment_and_a_home_of_its_own(monkeypatch, sandboxed):
    monkeypatch.setenv("SECRET_TOKEN", "s3cret")
    monkeypatch.setenv("LNORM_PROGRESS", "somewhere")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    if not sandboxed:
        monkeypatch.setattr(kernels, "can_sandbox", lambda: False)
    with Kernel(timeout=20, total=60) as kernel:
        assert kernel.run("import os") == Outcome()
        environment, place, files = value_of(
            kernel, "found = [list(os.environ.items()), os.getcwd(), os.listdir()]"
        )
        environment, place = dict(environment), Path(place)
        assert "SECRET_TOKEN" not in environment
        assert "s3cret" not in str(environment)
        assert environment["LC_ALL"] == "C.UTF-8"
        assert environment["PATH"] == os.environ["PATH"]
        assert (environment["LNORM_PROGRESS"], environment["OMP_NUM_THREADS"]) == ("", "1")
        homes = {environment[name] for name in ("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP")}
        assert homes == {str(place.parent)}
        assert place.parent.parent == kernel.folder
        assert (place.name, files) == ("empty", [])


def test_nothing_that_a_kernel_writes_is_seen(capfd):
    with Kernel(timeout=20, total=60) as kernel:
        code = "import os; print('loud'); os.write(1, b'loud'); os.write(2, b'loud')"
        assert kernel.run(code) == Outcome()
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits what a process allocates")
def test_a_kernel_has_its_limits(patient):
    limits = ", ".join(f"list(resource.getrlimit(resource.{name}))" for name in kernels.LIMITS)
    found = value_of(patient, f"import resource; found = [{limits}]")
    assert found == [[most, most] for most in kernels.LIMITS.values()]


def commands():
    """Return the command lines of all processes."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended
            found += file.read_text(errors="replace").split("\0")
    return found


def ends(ticket):
    """Say whether a process with this in its command line is gone soon."""
    end = time.monotonic() + 10
    while ticket in commands() and time.monotonic() < end:
        time.sleep(0.1)
    return ticket not in commands()


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
def test_without_a_sandbox_what_a_kernel_leaves_behind_is_ended_with_it(monkeypatch):
    def stays():
        raise OSError("nobody answers")

    monkeypatch.setattr(kernels, "can_sandbox", lambda: False)
    ticket = f"86398.{os.getpid()}"
    code = f"import os, subprocess; subprocess.Popen(['sleep', '{ticket}'])"
    with Kernel(timeout=20, total=60) as kernel:
        assert kernel.run(f"{code}; os._exit(1)") == DIED
        assert ends(ticket)
        assert kernel.run(code) == Outcome()
        assert ticket in commands()
        kernel.client.stop_channels = stays
    assert ends(ticket)
    assert kernel.client.context.closed  # or its collection hangs, sooner or later


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


TRY_TO_GET_OUT = """
import os, socket, subprocess
found = []
for attempt in (
    lambda: open({other!r}).read(),
    lambda: open({other!r} + ".new", "w"),
    lambda: open({package!r} + "/new.py", "w"),
    lambda: socket.create_connection({address!r}, 2),
    lambda: os.kill({grader}, 0),
    lambda: open("/proc/{grader}/environ").read(),
    lambda: open("own", "w"),
):
    try:
        attempt()
        found.append("done")
    except OSError:
        found.append("not possible")
subprocess.Popen(["sleep", {ticket!r}], start_new_session=True)
"""


@pytest.mark.skipif(not can_sandbox(), reason="there is no bubblewrap, or it cannot be used here")
def test_in_the_sandbox_are_no_files_no_network_and_no_processes(tmp_path):
    other, ticket = tmp_path / "of_somebody_else.ipynb", f"86399.{os.getpid()}"
    other.write_text("{}")
    about = {"other": str(other), "package": str(Path(kernels.__file__).parent), "ticket": ticket}
    with socket.create_server(("127.0.0.1", 0)) as server, Kernel(20, 60) as kernel:
        code = TRY_TO_GET_OUT.format(**about, address=server.getsockname(), grader=os.getpid())
        assert value_of(kernel, code) == ["not possible"] * 6 + ["done"]
        assert ticket in commands()
    assert ends(ticket)
    assert [path.name for path in tmp_path.iterdir()] == [other.name]
