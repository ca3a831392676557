"""Run a command in a bubblewrap sandbox, where it sees only certain folders.

The command can't reach the network or see processes outside the sandbox. All files are read-only,
except those in two small folders, `HOME` and /dev/shm, which are kept in memory and vanish with the
sandbox. If Linux lets this user create a cgroup, the cgroup limits the total memory and processes
in the sandbox. If libseccomp is installed, Linux refuses some system calls: those that could get
around these limits, and those that most of Linux's security holes involve.
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
# Python and the course need these folders. The tests, which contain answers, aren't among them.
READABLE = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/nix"),
    *(sys.base_prefix, sys.prefix, site.getusersitepackages()),
    *map(str, COURSE.glob("lnorm_*")),
    *([str(Path(_TORCH.origin).parents[1])] if _TORCH and _TORCH.origin else []),
)
HOME = "/tmp"  # the folder that can be written to
LARGEST = 2**28, 2**26  # the maximum sizes of HOME and of shared memory, in bytes
MOST_PROCESSES = 64
# Programs in the sandbox can't create namespaces, with which they could undo these walls.
BUBBLEWRAP = (
    *("bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent"),
    *("--cap-drop", "ALL", "--unsetenv", "XDG_RUNTIME_DIR"),
)
# Bubblewrap itself takes 3 processes.
CGROUP = (
    *("systemd-run", "--user", "--scope", "--quiet", "--collect", "--property=MemoryMax=4G"),
    *("--property=MemorySwapMax=0", f"--property=TasksMax={MOST_PROCESSES + 3}"),
    "--property=CPUQuota=100%",
)
REFUSED = (
    *("add_key", "request_key", "keyctl", "bpf", "perf_event_open", "ptrace", "userfaultfd"),
    *("io_uring_setup", "fanotify_init", "memfd_secret", "vmsplice"),
    # Socket pairs are still allowed. File watches aren't, because each user can have only a few.
    *("socket", "connect", "sched_setaffinity", "inotify_init", "inotify_init1"),
)
# If the grader runs as root, which owns the devices, these calls do nothing, because devices can't
# be made read-only.
UNDONE = (
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "utime", "utimes", "utimensat", "futimesat"),
    *("setxattr", "lsetxattr", "fsetxattr", "setxattrat"),
)
ALLOW, UNDO, REFUSE, MASKED = 0x7FFF0000, 0x00050000, 0x00050000 | errno.EPERM, 7


@functools.cache
def walls() -> tuple[str, ...]:
    """Return the prefix that makes a command run in a sandbox, or () if there's a `problem`.

    If there's a filter of system calls, bubblewrap reads it from file descriptor 9.
    """
    if problem():
        return ()
    cgroup = () if _failure([*CGROUP, "true"]) else CGROUP
    filtered = ("--seccomp", "9") if filter_of_calls() else ()
    return (*cgroup, *BUBBLEWRAP, *_folders(), *filtered, "--")


@functools.cache
def problem() -> str:
    """Return why bubblewrap 0.8 or newer can't create a sandbox here, or "" if it can."""
    return _failure([*BUBBLEWRAP, *_folders(), "--", sys.executable, "-c", ""])


def _failure(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, timeout=60, check=False, text=True)
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    return (done.stderr.strip() or f"it exited with {done.returncode}.") if done.returncode else ""


def _folders() -> list[str]:
    home, shared = map(str, LARGEST)
    options = ["--size", home, "--tmpfs", HOME, "--dir", f"{HOME}/empty"]
    for path in sorted({*READABLE}, key=lambda path: path.count("/")):  # parents come first
        options += ["--ro-bind-try", path, path]
    options += ["--proc", "/proc", "--dev", "/dev", "--size", shared, "--tmpfs", "/dev/shm"]
    # If these were writable, root could change the whole system through /proc.
    for path in ("/dev", "/proc", "/"):
        options += ["--remount-ro", path]
    return [*options, "--chdir", f"{HOME}/empty"]


@functools.cache
def filter_of_calls() -> bytes:
    """Return the filter of system calls, which is empty without libseccomp.

    Most systems with systemd have libseccomp.
    """
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        return b""
    library.seccomp_init.restype = ctypes.c_void_p
    rules = ctypes.c_void_p(library.seccomp_init(ALLOW))
    # A socketpair whose second argument asks for datagrams could reach other sockets by name.
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
