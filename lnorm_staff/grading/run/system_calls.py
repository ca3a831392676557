"""What a sandbox refuses to ask of Linux: memory that belongs to no process, and new walls.

The memory of a notebook is counted by its processes. Some system calls keep memory outside of them,
and some make a namespace in which a process has more rights. A filter (seccomp, in the language of
BPF) refuses these calls; Python then raises an OSError.
"""

import contextlib
import errno
import platform
import struct
import tempfile
from collections.abc import Iterator

__all__ = ["program", "refusals"]

# How the machine is called in the filter, and the numbers of its calls.
X86_64, ARM_64 = 0xC000003E, 0xC00000B7
MACHINES = {"x86_64": (X86_64, 0), "aarch64": (ARM_64, 1)}
REFUSED = {
    # memory that no process has: in files without a name, and in System V's objects
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "vmsplice": (278, 75),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "io_uring_setup": (425, 425),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    # new walls, and ways around the old ones
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "ptrace": (101, 117),
    "userfaultfd": (323, 282),
    "fanotify_init": (300, 262),
}
CLONE, CLONE_3, MMAP, SOCKET, SETSOCKOPT = (56, 220), (435, 435), (9, 222), (41, 198), (54, 208)
NEW_NAMESPACES = 0x7E020000  # a bit for each kind
AF_UNIX = 1
SIZE_TO_SEND = 7  # SO_SNDBUF
SHARED_BY_NOBODY = 0x21  # MAP_SHARED and MAP_ANONYMOUS
OF_32_BITS = 0x40000000  # added to the number of a call

# Instructions; the jumps say how many to skip if it's so, and if not.
LOAD, AND, RETURN = 0x20, 0x54, 0x06
IF_EQUAL, IF_AT_LEAST, IF_ANY_BIT = 0x15, 0x35, 0x45
NUMBER, MACHINE, FIRST, THIRD, FOURTH = 0, 4, 16, 32, 40  # where a call and its arguments are
ALLOW = struct.pack("HBBI", RETURN, 0, 0, 0x7FFF0000)


def program(machine: str) -> bytes:
    """Return the filter for a machine such as "x86_64"; empty if its calls aren't known here."""
    if machine not in MACHINES:
        return b""
    name, column = MACHINES[machine]
    parts = [
        _load(MACHINE),
        _if(IF_EQUAL, name, 1, 0),
        _refuse(errno.EPERM),
        _load(NUMBER),
        _if(IF_AT_LEAST, OF_32_BITS, 0, 1),
        _refuse(errno.EPERM),
    ]
    for numbers in REFUSED.values():
        parts += [_if(IF_EQUAL, numbers[column], 0, 1), _refuse(errno.EPERM)]
    # Its flags are out of sight; without it, libraries call clone.
    parts += [_if(IF_EQUAL, CLONE_3[column], 0, 1), _refuse(errno.ENOSYS)]
    flags = [_load(FIRST), _if(IF_ANY_BIT, NEW_NAMESPACES, 0, 1), _refuse(errno.EPERM)]
    family = [_load(FIRST), _if(IF_EQUAL, AF_UNIX, 1, 0), _refuse(errno.EAFNOSUPPORT)]
    kind = [
        _load(FOURTH),
        struct.pack("HBBI", AND, 0, 0, SHARED_BY_NOBODY),
        _if(IF_EQUAL, SHARED_BY_NOBODY, 0, 1),
        _refuse(errno.EPERM),
    ]
    option = [_load(THIRD), _if(IF_EQUAL, SIZE_TO_SEND, 0, 1), _refuse(errno.EPERM)]
    for numbers, then in ((CLONE, flags), (MMAP, kind), (SOCKET, family), (SETSOCKOPT, option)):
        parts += [_if(IF_EQUAL, numbers[column], 0, len(then) + 1), *then, ALLOW]
    return b"".join([*parts, ALLOW])


@contextlib.contextmanager
def refusals() -> Iterator[list[int]]:
    """Open a file with the filter for this machine, for bubblewrap; no file if there is none."""
    with tempfile.TemporaryFile() as file:
        file.write(program(platform.machine()))
        size = file.tell()
        file.seek(0)
        yield [file.fileno()] if size else []


def _load(place: int) -> bytes:
    return struct.pack("HBBI", LOAD, 0, 0, place)


def _if(test: int, value: int, then: int, otherwise: int) -> bytes:
    return struct.pack("HBBI", test, then, otherwise, value)


def _refuse(error: int) -> bytes:
    return struct.pack("HBBI", RETURN, 0, 0, 0x00050000 | error)
