"""Messages between the grader and a kernel: JSON with its length in front, and not too long."""

import json
from typing import Any, BinaryIO

__all__ = ["LONGEST", "receive", "send"]

LONGEST = 2**22  # bytes; the values of all attempts in a cell are much shorter


def send(file: BinaryIO, message: object) -> None:
    """Write a message.

    Raises:
        OSError: nobody reads it any more.
    """
    data = json.dumps(message).encode()
    file.write(len(data).to_bytes(4, "big") + data)
    file.flush()


def receive(file: BinaryIO, longest: int = LONGEST) -> Any:
    """Wait for a message, and return it.

    Raises:
        EOFError: there are no more.
        ValueError: it's too long or not JSON; a message made to break this may raise others.
    """
    length = int.from_bytes(_exactly(file, 4), "big")
    if length > longest:
        raise ValueError(f"a message of {length} bytes, and {longest} are allowed")
    return json.loads(_exactly(file, length))


def _exactly(file: BinaryIO, length: int) -> bytes:
    data = file.read(length)
    if len(data) < length:
        raise EOFError
    return data
