"""What a sandbox refuses to ask of Linux, as a filter that libseccomp writes for bubblewrap.

These calls lead out of the walls, such as a socket to the machine around a virtual one, keep memory
that belongs to no process, or reach deep into Linux, where most of its security holes were. Without
libseccomp, which Debian and most systems with systemd have, nothing is refused.
"""

import ctypes
import errno
from pathlib import Path

__all__ = ["write_filter"]

REFUSED = (
    *("unshare", "setns", "mount", "umount2", "pivot_root", "open_tree", "move_mount", "fsopen"),
    *("memfd_create", "memfd_secret", "shmget", "semget", "msgget", "mq_open", "vmsplice"),
    *("add_key", "request_key", "keyctl", "bpf", "perf_event_open", "ptrace", "userfaultfd"),
    *("io_uring_setup", "fanotify_init"),
)
ALLOW, REFUSE = 0x7FFF0000, 0x00050000  # with the number of an error
NOT_EQUAL, HAS_BITS = 1, 7  # how an argument is compared
AF_UNIX, NEW_USER_NAMESPACE = 1, 0x10000000
SHARED_BY_NOBODY = 0x21  # MAP_SHARED and MAP_ANONYMOUS


class Comparison(ctypes.Structure):
    """Which argument of a call is compared how, and with what."""

    _fields_ = (
        ("argument", ctypes.c_uint),
        ("how", ctypes.c_int),
        ("value", ctypes.c_uint64),
        ("other", ctypes.c_uint64),
    )


def write_filter(file: Path) -> bool:
    """Write the filter, and return whether there is one for this machine."""
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        return False
    library.seccomp_init.restype = ctypes.c_void_p
    rules = ctypes.c_void_p(library.seccomp_init(ALLOW))

    def refuse(name: str, error: int, *compared: Comparison) -> int:
        call = library.seccomp_syscall_resolve_name(name.encode())
        given = (Comparison * len(compared))(*compared)
        return library.seccomp_rule_add_array(rules, REFUSE | error, call, len(compared), given)

    failed = [refuse(name, errno.EPERM) for name in REFUSED]
    # Its flags are out of sight; without it, libraries call clone.
    failed.append(refuse("clone3", errno.ENOSYS))
    own = Comparison(0, HAS_BITS, NEW_USER_NAMESPACE, NEW_USER_NAMESPACE)
    failed.append(refuse("clone", errno.EPERM, own))
    failed.append(refuse("socket", errno.EAFNOSUPPORT, Comparison(0, NOT_EQUAL, AF_UNIX)))
    nobody_s = Comparison(3, HAS_BITS, SHARED_BY_NOBODY, SHARED_BY_NOBODY)
    failed.append(refuse("mmap", errno.EPERM, nobody_s))
    with file.open("wb") as written:
        failed.append(library.seccomp_export_bpf(rules, written.fileno()))
    library.seccomp_release(rules)
    return not any(failed[-5:])
