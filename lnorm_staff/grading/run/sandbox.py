"""Shut a command in with bubblewrap, so that it sees some folders and nothing else.

In the sandbox there is no network and no other process. All files are read-only, but for those in a
small folder that is kept in memory and ends with the sandbox. Where Linux lets this user make a
cgroup, that limits the memory and the processes of all in it together. Where libseccomp is, Linux
refuses some system calls, which lead around these walls or to most of its security holes.
"""

import ctypes
import errno
import functools
import os
import site
import struct
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

__all__ = ["COURSE", "HOME", "MOST_PROCESSES", "filter_of_calls", "problem", "walls"]

COURSE = Path(__file__).parents[3]
_TORCH = find_spec("torch")
# What Python and the course need, and no tests, which have answers of students.
READABLE = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/nix"),
    *(sys.base_prefix, sys.prefix, site.getusersitepackages()),
    *map(str, COURSE.glob("lnorm_*")),
    *([str(Path(_TORCH.origin).parents[1])] if _TORCH and _TORCH.origin else []),
)
HOME = "/tmp"  # the folder that can be written
LARGEST = 2**28, 2**26  # bytes in it, and in shared memory
MOST_PROCESSES = 64
# Nothing inside can make new walls, with which it could undo these.
BUBBLEWRAP = (
    *("bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent"),
    *("--cap-drop", "ALL", "--unsetenv", "XDG_RUNTIME_DIR"),
)
# 3 processes are bubblewrap's own.
CGROUP = (
    *("systemd-run", "--user", "--scope", "--quiet", "--collect", "--property=MemoryMax=4G"),
    *("--property=MemorySwapMax=0", f"--property=TasksMax={MOST_PROCESSES + 3}"),
    "--property=CPUQuota=100%",
)
REFUSED = (
    *("add_key", "request_key", "keyctl", "bpf", "perf_event_open", "ptrace", "userfaultfd"),
    *("io_uring_setup", "fanotify_init", "memfd_secret", "vmsplice"),
    # Pairs of sockets are left. Of watches for files, each user has few.
    *("socket", "connect", "sched_setaffinity", "inotify_init", "inotify_init1"),
)
# What does nothing for root, who owns the devices, which can't be mounted read-only.
UNDONE = (
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "utime", "utimes", "utimensat", "futimesat"),
    *("setxattr", "lsetxattr", "fsetxattr", "setxattrat"),
)
ALLOW, UNDO, REFUSE, MASKED = 0x7FFF0000, 0x00050000, 0x00050000 | errno.EPERM, 7


@functools.cache
def walls() -> tuple[str, ...]:
    """Return what starts a command in a sandbox, if it's written in front of it.

    That's nothing where there's a problem. If there's a filter of system calls, bubblewrap reads it
    as file 9.
    """
    if problem():
        return ()
    cgroup = () if _failure([*CGROUP, "true"]) else CGROUP
    filtered = ("--seccomp", "9") if filter_of_calls() else ()
    return (*cgroup, *BUBBLEWRAP, *_folders(), *filtered, "--")


@functools.cache
def problem() -> str:
    """Return why bubblewrap can't shut anything in here, such as before version 0.8; or nothing."""
    return _failure([*BUBBLEWRAP, *_folders(), "--", sys.executable, "-c", ""])


def _failure(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, timeout=60, check=False, text=True)
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    return (done.stderr.strip() or f"it ended with {done.returncode}.") if done.returncode else ""


def _folders() -> list[str]:
    home, shared = map(str, LARGEST)
    options = ["--size", home, "--tmpfs", HOME, "--dir", f"{HOME}/empty"]
    for path in sorted({*READABLE}, key=lambda path: path.count("/")):  # a folder before its own
        options += ["--ro-bind-try", path, path]
    options += ["--proc", "/proc", "--dev", "/dev", "--size", shared, "--tmpfs", "/dev/shm"]
    # In /proc, root could change the whole system.
    for path in ("/dev", "/proc", "/"):
        options += ["--remount-ro", path]
    return [*options, "--chdir", f"{HOME}/empty"]


@functools.cache
def filter_of_calls() -> bytes:
    """Return the filter; nothing without libseccomp, which most systems with systemd have."""
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        return b""
    library.seccomp_init.restype = ctypes.c_void_p
    rules = ctypes.c_void_p(library.seccomp_init(ALLOW))
    # A pair of sockets for datagrams, which is its second argument, reaches others by their names.
    others = (2, 3, 5)  # SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET; all but the lowest bits are options
    told = [(REFUSE, "socketpair", struct.pack("IIQQ", 1, MASKED, 15, kind)) for kind in others]
    told += [(REFUSE, name, b"") for name in REFUSED]
    told += [(UNDO, name, b"") for name in UNDONE if os.geteuid() == 0]
    for action, name, compared in told:
        call = library.seccomp_syscall_resolve_name(name.encode())
        library.seccomp_rule_add_array(rules, action, call, 1 if compared else 0, compared)
    with tempfile.TemporaryFile() as written:
        failed = library.seccomp_export_bpf(rules, written.fileno())
        written.seek(0)
        return b"" if failed else written.read()
