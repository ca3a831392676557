"""The filter of a sandbox, run as Linux runs it: what it refuses on each kind of machine."""

import errno
import struct

import pytest

from lnorm_staff.grading.run.system_calls import ARM_64, X86_64, program

ALLOWED = 0
NEW_USER, THREAD = 0x10000000, 0x3D0F00  # what clone is asked for
PRIVATE, SHARED = 0x22, 0x21  # memory without a file


def answer(machine, architecture, number, *arguments):
    """Return the error that the filter gives a system call."""
    data = struct.pack("<IIQ6Q", number, architecture, 0, *arguments, *[0] * (6 - len(arguments)))
    instructions = list(struct.iter_unpack("HBBI", program(machine)))
    place = value = 0
    while True:
        code, then, otherwise, k = instructions[place]
        place += 1
        match code:
            case 0x20:
                (value,) = struct.unpack_from("<I", data, k)
            case 0x54:
                value &= k
            case 0x06:
                assert k == 0x7FFF0000 or k >> 16 == 5
                return k & 0xFFFF if k >> 16 == 5 else ALLOWED
            case _:
                is_so = {0x15: value == k, 0x35: value >= k, 0x45: bool(value & k)}[code]
                place += then if is_so else otherwise


@pytest.mark.parametrize(
    ("x86_64", "aarch64", "arguments", "error"),
    [
        (0, 63, (), ALLOWED),  # read
        (319, 279, (), errno.EPERM),  # memfd_create
        (29, 194, (), errno.EPERM),  # shmget
        (300, 262, (), errno.EPERM),  # fanotify_init, the last of the list
        (56, 220, (THREAD,), ALLOWED),  # clone
        (56, 220, (THREAD | NEW_USER,), errno.EPERM),
        (435, 435, (), errno.ENOSYS),  # clone3
        (9, 222, (0, 0, 0, PRIVATE), ALLOWED),  # mmap
        (9, 222, (0, 0, 0, SHARED), errno.EPERM),
        (41, 198, (1,), ALLOWED),  # socket
        (41, 198, (2,), errno.EAFNOSUPPORT),
        (54, 208, (3, 1, 8), ALLOWED),  # setsockopt
        (54, 208, (3, 1, 7), errno.EPERM),
    ],
)
def test_the_filter_refuses_the_same_on_both_machines(x86_64, aarch64, arguments, error):
    assert answer("x86_64", X86_64, x86_64, *arguments) == error
    assert answer("aarch64", ARM_64, aarch64, *arguments) == error


def test_calls_of_another_architecture_are_refused():
    assert answer("x86_64", 0x40000003, 0) == errno.EPERM  # programs of 32 bits
    assert answer("x86_64", X86_64, 0x40000000) == errno.EPERM
    assert answer("aarch64", X86_64, 0) == errno.EPERM


def test_for_an_unknown_machine_there_is_no_filter():
    assert program("riscv64") == b""
