"""What goes wrong for one student; each function shows that no work was lost."""

import asyncio
import contextlib
import time

import pytest
from aiohttp import ClientResponseError
from class_kernel import KernelGoneError
from class_student import QUICK_CELL

HOME_MIB = 64
DEAD_SECONDS, RETURN_SECONDS = 20, 90
NO_LIMIT = "Nothing stopped it."
# It stops by itself at twice the limit, for the sake of the machine.
TAKE_MEMORY = f"""
import os
limit, held = int(os.environ.get("MEM_LIMIT") or 2**31), []
while len(held) * 2**26 < 2 * limit:
    held.append(b"x" * 2**26)
print("{NO_LIMIT}")
"""
FILL_DISK = """
import os
filler = os.path.expanduser("~/filler")
with open(filler, "wb", 0) as file:
    while file.write(bytes(2**20)): pass
"""
EMPTY_DISK = "os.remove(filler)"
# -1 means all processes of the account, so never as root.
KILL_ALL = "import os\nassert os.getuid() == {uid} != 0\nos.kill(-1, 9)"


async def out_of_memory(student):
    """Fill the memory of a kernel, and start it again."""
    await student.save("before the memory is full")
    with contextlib.suppress(KernelGoneError):
        assert NO_LIMIT not in (await student.kernel.run(TAKE_MEMORY)).text
    await student.api("POST", f"kernels/{student.session['kernel']['id']}/restart")
    await student.connect()
    await student.run_cells(range(QUICK_CELL + 1))
    await student.check_saved()


async def disk_full(student):
    """Fill the student's home, and try to save."""
    await student.save("before the disk is full")
    reply = await student.kernel.run(FILL_DISK)
    assert "No space left" in reply.text or "quota" in reply.text, reply.text
    kept = student.saved
    with pytest.raises(ClientResponseError):
        await student.save("while the disk is full" * 2**16)
    student.saved = kept
    await student.check_saved()
    await student.kernel.run(EMPTY_DISK)
    await student.save("when there is room again")
    await student.check_saved()


async def all_killed(student):
    """Kill every process of the student from the kernel, and start the server again."""
    await student.save("before everything is killed")
    with contextlib.suppress(KernelGoneError, TimeoutError):
        async with asyncio.timeout(DEAD_SECONDS):
            await student.kernel.run(KILL_ALL.format(uid=student.uid))
    end = time.monotonic() + RETURN_SECONDS
    while True:
        try:
            await student.log_in()
            await student.restart_server()
            break
        except Exception:  # the hub may not know yet that the server is gone
            if time.monotonic() > end:
                raise
            await asyncio.sleep(1)
    await student.check_saved()
    await student.start_kernel()
    await student.run_cells(range(QUICK_CELL + 1))
