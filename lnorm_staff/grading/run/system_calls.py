"""What a sandbox refuses to ask of Linux, as a filter that libseccomp writes for bubblewrap.

Bubblewrap's walls hide files, processes, and networks. These calls lead around them to the machine
around a virtual one, or reach deep into Linux, where most of its security holes were.
"""

import ctypes
import errno
import functools
import socket
import struct
import tempfile

__all__ = ["filter_of_calls"]

REFUSED = (
    *("add_key", "request_key", "keyctl", "bpf", "perf_event_open", "ptrace", "userfaultfd"),
    *("io_uring_setup", "fanotify_init", "memfd_secret", "vmsplice"),
)
ALLOW, REFUSE, NOT_EQUAL = 0x7FFF0000, 0x00050000 | errno.EPERM, 1


@functools.cache
def filter_of_calls() -> bytes:
    """Return the filter; nothing without libseccomp, which most systems with systemd have."""
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        return b""
    library.seccomp_init.restype = ctypes.c_void_p
    rules = ctypes.c_void_p(library.seccomp_init(ALLOW))
    # Of sockets only those between processes; the first argument is compared with their number.
    not_unix = struct.pack("IIQQ", 0, NOT_EQUAL, getattr(socket, "AF_UNIX", 1), 0)
    for name, compared in {**dict.fromkeys(REFUSED), "socket": not_unix}.items():
        call = library.seccomp_syscall_resolve_name(name.encode())
        library.seccomp_rule_add_array(rules, REFUSE, call, 1 if compared else 0, compared)
    with tempfile.TemporaryFile() as written:
        failed = library.seccomp_export_bpf(rules, written.fileno())
        written.seek(0)
        return b"" if failed else written.read()
