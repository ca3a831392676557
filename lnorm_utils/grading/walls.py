"""What a process does before it runs a line of a submission: it shuts itself in, for good.

bubblewrap builds the walls, and a process that was forked steps behind them, because it can't
start there. Linux only.
"""

import contextlib
import ctypes
import os
from collections.abc import Mapping
from pathlib import Path

__all__ = ["drop_privileges", "enter", "limit"]

OWNING_USER_NAMESPACE = 0xB701  # ioctl NS_GET_USERNS
NAMESPACES = ("mnt", "net", "ipc", "uts", "cgroup", "pid")
DROP_FROM_BOUNDING_SET, NO_NEW_PRIVILEGES, AMBIENT, CLEAR_ALL = 24, 38, 47, 4  # prctl
CAPABILITY_VERSION = 0x20080522
GIBIBYTE = 2**30
# RLIMIT_DATA and not RLIMIT_AS: libraries may be large, what a student allocates may not.
LIMITS = {
    "RLIMIT_DATA": 4 * GIBIBYTE,
    "RLIMIT_FSIZE": GIBIBYTE // 4,
    "RLIMIT_NPROC": 4096,  # for all that the user runs, so not too few
    "RLIMIT_CORE": 0,
}


def enter(pid: int) -> None:
    """Enter all namespaces of another process; the process number changes for children only.

    Raises:
        OSError: this process may not.
    """
    import fcntl

    files = {kind: _namespace(pid, kind) for kind in (*NAMESPACES, "user")}
    # bubblewrap makes its namespaces in one user namespace and may go on to a second one.
    owner = fcntl.ioctl(files["mnt"], OWNING_USER_NAMESPACE)
    own = _namespace(os.getpid(), "user")
    if not os.path.sameopenfile(owner, own):
        _set(owner)
    for kind in NAMESPACES:
        _set(files[kind])
    if not os.path.sameopenfile(files["user"], owner):
        _set(files["user"])


def _namespace(pid: int, kind: str) -> int:
    return os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC)


def _set(namespace: int) -> None:
    _succeed(_libc().setns(namespace, 0))


def drop_privileges() -> None:
    """Give up all capabilities, so that not even root can leave its walls or take them down.

    Raises:
        OSError: they can't be given up.
    """
    libc = _libc()
    last = int(Path("/proc/sys/kernel/cap_last_cap").read_text("ascii"))
    for capability in range(last + 1):
        _succeed(libc.prctl(DROP_FROM_BOUNDING_SET, capability, 0, 0, 0))
    _succeed(libc.prctl(AMBIENT, CLEAR_ALL, 0, 0, 0))
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    _succeed(libc.capset(header, (ctypes.c_uint32 * 6)()))
    _succeed(libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0))


def limit(limits: Mapping[str, int]) -> None:
    """Limit what this process may use, as far as the system knows how."""
    for name, most in limits.items():
        with contextlib.suppress(ImportError, AttributeError, ValueError, OSError):
            import resource

            resource.setrlimit(getattr(resource, name), (most, most))


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _succeed(result: int) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
