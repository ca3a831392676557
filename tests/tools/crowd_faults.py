"""What goes wrong for one student, or for the hub, while the others go on working."""

import asyncio
import contextlib
import time

from crowd_kernel import KernelGoneError
from crowd_work import QUICK_CELL

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


class FaultError(Exception):
    """A fault didn't end as it should."""


async def out_of_memory(student):
    """Fill the memory of a kernel, and start it again."""
    await student.save("before the memory is full")
    try:
        reply = await student.kernel.run(TAKE_MEMORY)
        if NO_LIMIT in reply.text:
            raise FaultError("A kernel may take twice its limit of memory.")
        said = reply.text
    except KernelGoneError as gone:
        said = str(gone)
    await student.api("POST", f"kernels/{student.session['kernel']['id']}/restart")
    await student.connect()
    await student.run_cells(range(QUICK_CELL + 1))
    await student.check_saved()
    return f"The kernel was stopped ({said}), and started again."


async def disk_full(student):
    """Fill the student's home, and try to save."""
    await student.save("before the disk is full")
    reply = await student.kernel.run(FILL_DISK)
    if "No space left" not in reply.text and "quota" not in reply.text:
        raise FaultError(f"The disk didn't fill up: {reply.text}")
    kept = student.saved
    try:
        await student.save("while the disk is full" * 2**16)
    except Exception as problem:
        said = str(problem)
    else:
        raise FaultError("The server said that it saved to a full disk.")
    student.saved = kept
    await student.check_saved()
    await student.kernel.run(EMPTY_DISK)
    await student.save("when there is room again")
    await student.check_saved()
    return f"Saving was refused ({said}), and what was saved before is whole."


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
    return "The server was started again, and the saved work is there."


async def restarted(hub):
    """Restart the hub."""
    return f"The hub was back after {await hub.restart():.1f} s."


def faults(crowd):
    """Return (what happens, the function, for whom) for each fault that can be tried here.

    The rest is written to `crowd.left_out`. For nobody is for the hub.
    """
    found = [("while the hub is restarted", restarted, None)]
    if not crowd.hub.has_accounts or len(crowd.students) < 2:
        crowd.left_out.append("three of the four faults: they need root, and two students")
        return found
    one = crowd.students[1]
    small = [student for student in crowd.students if student.home_mib]
    if small and crowd.hub.mounted:
        found.insert(0, ("while a student's disk is full", disk_full, small[0]))
    else:
        crowd.left_out.append("a full disk: this machine mounts none")
    found.insert(0, ("while a student's kernel runs out of memory", out_of_memory, one))
    return [*found, ("while all processes of a student are killed", all_killed, one)]
