"""What a kernel can't reach, and what it can't use up."""

import os
import socket
import stat
import sys
import time
from pathlib import Path

import psutil
import pytest
from kernel_values import DIED, WELL, look, run, value

from lnorm_staff.grading.run import child, sandbox
from lnorm_staff.grading.run.child import LIMITS, LIMITS_IN_SANDBOX
from lnorm_staff.grading.run.sandbox import walls

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="a limit that only Linux has")
# In CI, where there is no sandbox, that's a failure and no reason to skip.
IN_SANDBOX = pytest.mark.skipif(
    not (walls() or os.environ.get("CI")), reason="bubblewrap is missing, or cannot work"
)


@ON_LINUX
def test_a_kernel_has_its_limits_and_is_the_first_to_end_when_memory_is_short():
    processor = min(os.sched_getaffinity(0))
    child.PROCESSOR.set(str(processor))
    most = LIMITS | (LIMITS_IN_SANDBOX if walls() else {})
    limits = ", ".join(f"resource.getrlimit(resource.{name})[1]" for name in most)
    score = "open('/proc/self/oom_score_adj')"
    lower = f"{score[:-1]}, 'w').write('-1000')"
    own = look("[*os.sched_getaffinity(0), os.nice(0) >= 5]")
    shared = look("__import__('mmap').mmap(-1, 2**32)")
    _, found, _, first, where, more = run(
        "import resource", look(f"[{limits}]"), lower, look(f"{score}.read()"), own, shared
    )
    child.PROCESSOR.set("")
    assert value(found) == [*most.values()]
    assert value(first) == "1000\n"
    assert value(where) == [processor, True]
    assert "Cannot allocate memory" in more.reason


def ends(ticket):
    """Say whether a process with this in its command line is gone soon."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        found = [each.info["cmdline"] or [] for each in psutil.process_iter(["cmdline"])]
        if not any(ticket in words for words in found):
            return True
        time.sleep(0.1)
    return False


@ON_LINUX
@pytest.mark.usefixtures("walled_or_not")
def test_what_a_kernel_leaves_behind_is_ended_with_it():
    ticket = f"86398.{os.getpid()}"
    code = f"import os, subprocess; subprocess.Popen(['sleep', '{ticket}'])"
    assert run(f"{code}; os._exit(1)") == [DIED]
    assert ends(ticket)
    assert run(code, "import time; time.sleep(1)") == [WELL] * 2
    assert ends(ticket)


@pytest.mark.parametrize("is_there", [True, False])
def test_bubblewrap_that_is_missing_or_does_not_work_is_not_used(monkeypatch, tmp_path, is_there):
    monkeypatch.setattr(sandbox, "problem", sandbox.problem.__wrapped__)
    tool = tmp_path / "bwrap"
    if is_there:
        tool.write_text("#!/bin/sh\necho not permitted >&2; exit 1\n")
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert walls.__wrapped__() == ()
    assert ("not permitted" if is_there else "bwrap") in sandbox.problem()


# What nothing but the filter of system calls refuses. None of it reaches a file, a network, or a
# process, but the machine around a virtual one may answer such a socket.
ONLY_REFUSED = [
    "reach the machine around a virtual one",
    "ask for many things at once",
    "stop at a page",
    "take another processor",
    "reach a socket of the machine",
    "send to one without a connection",
    "open a socket",
    "watch files",
]
# Each of these raises an OSError in a sandbox, also for root.
WAYS_OUT = """
import ctypes, os, socket, time
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
    "enter a new namespace by a copy": lambda: call("syscall", {clone}, 0x10000011, 0, 0, 0, 0),
    "reach the machine around a virtual one": lambda: socket.socket(40, socket.SOCK_STREAM),
    "ask for many things at once": lambda: call("syscall", 425, 8, ctypes.create_string_buffer(99)),
    "stop at a page": lambda: call("syscall", {userfault}, 1),
    "take another processor": lambda: os.sched_setaffinity(0, range(64)),
    "reach a socket of the machine": lambda: socket.socket(socket.AF_UNIX),
    "send to one without a connection": lambda: socket.socketpair(type=socket.SOCK_DGRAM),
    "use a connection of the grader": lambda: socket.socket(socket.AF_UNIX).connect("\\0{ticket}"),
    "mount another cover": lambda: call("mount", b"none", b"/tmp", b"tmpfs", 0, None),
    "go to the root of init": lambda: os.chroot("/proc/1/root"),
    "enter another namespace": lambda: call("setns", os.open("/proc/1/ns/user", 0), 0),
    "enter a new namespace": lambda: call("unshare", 0x10000000),
    "read the tests": lambda: os.listdir({package!r} + "/../tests"),
    "write in the course": lambda: open({package!r} + "/new.py", "w"),
    "open a socket": lambda: socket.socket(),
    "watch files": lambda: call("inotify_init1", 0),
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
@pytest.mark.parametrize("has_filter", [True, False])
def test_in_the_sandbox_are_no_files_no_network_and_no_processes(tmp_path, monkeypatch, has_filter):
    assert walls(), "without walls, what follows would change this machine"
    if not has_filter:
        unfiltered = [each for each in walls() if each not in ("--seccomp", "9")]
        monkeypatch.setattr(child, "walls", lambda: unfiltered)
    other, ticket = tmp_path / "of_somebody_else.ipynb", f"86399.{os.getpid()}"
    other.write_text("{}")
    is_x86 = os.uname().machine == "x86_64"
    about = {
        "other": str(other),
        "package": str(sandbox.COURSE / "lnorm_course"),
        "grader": os.getpid(),
        "home": [str(path) for path in Path.home().iterdir() if path.is_file()] or ["nothing"],
        "ticket": ticket,
        "clone": 56 if is_x86 else 220,
        "userfault": 323 if is_x86 else 282,
    }
    stay = f"import subprocess\nsubprocess.Popen(['sleep', {ticket!r}], start_new_session=True)"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as own:
        own.bind(f"\0{ticket}")
        own.listen()
        code = WAYS_OUT.format(**about, address=server.getsockname())
        change = "os.chmod('/dev/full', 0o644)" if has_filter and os.geteuid() == 0 else ""
        tried, found, status, stayed, changed = run(
            code, look("found"), look("open('/proc/self/status').read()"), stay, change, timeout=60
        )
    assert (tried, stayed, changed) == (WELL, WELL, WELL)
    assert stat.S_IMODE(os.stat("/dev/full").st_mode) != 0o644
    left = [*(() if has_filter else ONLY_REFUSED), *(["fork without end"] * (os.geteuid() == 0))]
    assert value(found) == left
    assert {line for line in value(status).splitlines() if line.startswith("Cap")} == {
        f"Cap{kind}:\t{0:016x}" for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb")
    }
    assert ends(ticket)
    assert [path.name for path in tmp_path.iterdir()] == [other.name]
