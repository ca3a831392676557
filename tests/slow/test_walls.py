"""What a kernel can't reach, and what it can't use up."""

import os
import socket
import sys
import time
from pathlib import Path

import psutil
import pytest
from kernel_values import value_of

from lnorm_staff.grading.run import kernel as kernels
from lnorm_staff.grading.run import processes as starting
from lnorm_staff.grading.run import sandbox
from lnorm_staff.grading.run.kernel import Kernel, Outcome
from lnorm_staff.grading.run.processes import LIMITS
from lnorm_staff.grading.run.sandbox import can_sandbox

DIED = Outcome("crashed", "the kernel died.", lost=True)
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="a limit that only Linux has")
# In CI, where there is no sandbox, that's a failure and no reason to skip.
IN_SANDBOX = pytest.mark.skipif(
    not (can_sandbox() or os.environ.get("CI")), reason="bubblewrap is missing, or cannot work"
)


@ON_LINUX
def test_a_kernel_has_its_limits(kernel):
    limits = ", ".join(f"resource.getrlimit(resource.{name})[1]" for name in LIMITS)
    assert kernel.run("import resource") == Outcome()
    found = dict(zip(LIMITS, value_of(kernel, f"[{limits}]"), strict=True))
    assert all(found[name] <= most for name, most in LIMITS.items())


SEVERAL = """
import time
from multiprocessing import Process
def take():
    taken = bytearray(300 * 2**20)
    time.sleep(30)
for _ in range(2):
    Process(target=take).start()
time.sleep(30)
"""


@ON_LINUX
def test_all_that_a_notebook_starts_shares_one_limit_of_memory(processes, monkeypatch):
    monkeypatch.setattr(starting, "MOST_MEMORY", 2**29)
    with Kernel(processes, timeout=60, total=99) as kernel:
        assert kernel.run(SEVERAL) == Outcome("crashed", kernels.TOO_LARGE, lost=True)


def ends(ticket, is_there=False):
    """Say whether a process with this in its command line is gone soon, or is there soon."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        found = [each.info["cmdline"] or [] for each in psutil.process_iter(["cmdline"])]
        if any(ticket in words for words in found) == is_there:
            return True
        time.sleep(0.1)
    return False


@ON_LINUX
def test_what_a_kernel_leaves_behind_is_ended_with_it_also_without_a_sandbox(unwalled):
    ticket = f"86398.{os.getpid()}"
    code = f"import os, subprocess; subprocess.Popen(['sleep', '{ticket}'])"
    with Kernel(unwalled, timeout=20, total=60) as kernel:
        assert kernel.run(f"{code}; os._exit(1)") == DIED
        assert ends(ticket)
        assert kernel.run(code) == Outcome()
        assert ends(ticket, is_there=True)
    assert ends(ticket)


@pytest.mark.parametrize("is_there", [True, False])
def test_bubblewrap_that_is_missing_or_does_not_work_is_not_used(monkeypatch, tmp_path, is_there):
    tool = tmp_path / "bwrap"
    tool.write_text("#!/bin/sh\nexit 1\n")
    tool.chmod(0o755)
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: str(tool) if is_there else None)
    assert not can_sandbox.__wrapped__()


# Each of these raises an OSError in a sandbox, also for root.
WAYS_OUT = """
import ctypes, mmap, os, socket, time
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    if getattr(libc, name)(*arguments) < 0:
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
    "look into the grader's home": lambda: [open(path).read() for path in {home!r}],
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
    "enter a new namespace": lambda: call("unshare", 0x10000000),
    "read the answers": lambda: open({package!r} + "/exercises/mean.py"),
    "read the compiled answers": lambda: os.listdir({package!r} + "/exercises/__pycache__"),
    "read the tests": lambda: os.listdir({package!r} + "/../tests"),
    "write in the course": lambda: open({package!r} + "/../new.py", "w"),
    "open a socket": lambda: socket.socket(),
    "keep memory in a file without a name": lambda: os.memfd_create("name"),
    "keep memory in System V's objects": lambda: call("shmget", 0, 4096, 0o1600),
    "keep memory that is mapped by nobody": lambda: mmap.mmap(-1, 4096),
    "keep memory in a device": lambda: open("/dev/zero", "r+b"),
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
    assert processes.is_walled, "without walls, what follows would change this machine"
    other, ticket = tmp_path / "of_somebody_else.ipynb", f"86399.{os.getpid()}"
    other.write_text("{}")
    about = {
        "other": str(other),
        "package": str(sandbox.COURSE / "lnorm_course"),
        "grader": os.getpid(),
    }
    about["home"] = [str(path) for path in Path.home().iterdir() if path.is_file()] or ["nothing"]
    left = ["fork without end"] if os.geteuid() == 0 else []
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
        assert ends(ticket, is_there=True)
    assert ends(ticket)
    assert [path.name for path in tmp_path.iterdir()] == [other.name]
