"""A kernel of a student on the hub: code to run in it, and what that prints."""

import contextlib
from typing import NamedTuple

import psutil
from jupyter_client import AsyncKernelClient

MOST_SECONDS = 240


class Reply(NamedTuple):
    """What came back from a cell."""

    is_ok: bool
    text: str  # what was printed, or the error


class Kernel:
    """A connection to a kernel, by the file that only its student and root can read."""

    def __init__(self, connection_file):
        self.client = AsyncKernelClient(connection_file=connection_file)
        self.client.load_connection_file()
        self.client.start_channels()

    async def run(self, code):
        """Run a cell, and wait until the kernel is idle again.

        Raises:
            TimeoutError: nothing came in time.
        """
        printed = []

        def hear(message):
            if message["msg_type"] == "stream":
                printed.append(message["content"]["text"])

        reply = await self.client.execute_interactive(
            code, allow_stdin=False, timeout=MOST_SECONDS, output_hook=hear
        )
        content = reply["content"]
        if content["status"] != "ok":
            printed.append(f"{content.get('ename')}: {content.get('evalue')}")
        return Reply(content["status"] == "ok", "".join(printed))

    async def close(self):
        self.client.stop_channels()


def connection_file_of(processes, number):
    """Find the file that a kernel with this number was started with; none while it starts."""
    for process in processes:
        with contextlib.suppress(psutil.Error):
            for word in process.cmdline():
                if word.endswith(f"kernel-{number}.json"):
                    return word
    return None
