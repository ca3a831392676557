"""Students at work in the lesson, and the others who go on while something goes wrong for one."""

import asyncio
import contextlib
import math
import time

A_CELL = "a cell of the lesson"  # the phase
PATIENCE = 240  # seconds
QUICK_CELL, QUICK_PATIENCE = 5, 30  # it counts the points near two places
BETWEEN, SAVE_EVERY = 0.5, 4  # seconds from a cell to the next, and cells from a save to the next
LEAST_SECONDS = 6  # that the others work meanwhile


class Worker:
    """Who runs the cells of a notebook in a kernel.

    It has a name, `times` to write to, a notebook, and a kernel that runs code.
    """

    @property
    def cells(self):
        """The cells with code."""
        return [cell for cell in self.notebook["cells"] if cell["cell_type"] == "code"]

    async def run_cell(self, number, patience=PATIENCE):
        """Run a cell of the lesson, and return the seconds it took.

        Raises:
            RuntimeError: the cell raised an error.
            TimeoutError: it took longer than the student has patience.
        """
        cell = self.cells[number]
        async with asyncio.timeout(patience):
            reply = await self.kernel.run("".join(cell["source"]))
        if not reply.is_ok:
            raise RuntimeError(f"Cell {number + 1} of the lesson raised {reply.text}")
        cell["outputs"] = reply.outputs
        return reply.seconds

    async def run_cells(self, numbers=None, pauses=None, phase=A_CELL, patience=PATIENCE):
        """Run cells one after another, all without numbers; return (cell, seconds) for each.

        A cell that failed has math.inf seconds. pauses: seconds before each cell.
        patience: as in `run_cell`.
        """
        numbers = range(len(self.cells)) if numbers is None else numbers
        waits = []
        for number, pause in zip(numbers, pauses or [0] * len(numbers), strict=True):
            await asyncio.sleep(pause)
            try:
                with self.times.phase(phase, self.name):
                    waits.append((number, await self.run_cell(number, patience)))
            except Exception:  # the phase has recorded it
                waits.append((number, math.inf))
        return waits


@contextlib.asynccontextmanager
async def others_work(students, phase):
    """Let students run cells and save until the block ends; a failure counts in the phase."""
    done, start = asyncio.Event(), time.monotonic()
    tasks = [asyncio.create_task(_work(student, phase, done)) for student in students]
    try:
        yield
        await asyncio.sleep(LEAST_SECONDS - (time.monotonic() - start))
    finally:
        done.set()
        await asyncio.gather(*tasks)


async def _work(student, phase, done):
    number = 0
    while not done.is_set():
        number += 1
        ((_, seconds),) = await student.run_cells([QUICK_CELL], [BETWEEN], phase, QUICK_PATIENCE)
        if math.isinf(seconds):
            await asyncio.sleep(BETWEEN)
        if number % SAVE_EVERY == 0:
            with contextlib.suppress(Exception), student.times.phase(phase, student.name):
                await student.save(f"{phase}, {number}")
