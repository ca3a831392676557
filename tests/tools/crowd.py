"""Let a crowd of simulated students work on the course's own hub: `make crowd STUDENTS=30`.

It tells how long they wait, what a student costs, what the others notice when something goes wrong
for one of them, and whether one can get at another's work. All of it runs on this machine.
"""

import argparse
import asyncio
import contextlib
import os
import random
import signal
import sys
import time
from statistics import median

import crowd_faults
import crowd_report
import psutil
from crowd_access import try_all
from crowd_browser import BrowserStudent
from crowd_hub import Hub
from crowd_measures import Times, memory, processor_seconds, said, share_in_time
from crowd_student import Student
from crowd_work import others_work
from jupyterlab_page import can_measure
from project import PROJECT

SIZES = (1, 2, 3, 5, 10, 20, 30)  # of a class
REPEATS = 3
PACE, PACE_SECONDS = 10, 40  # seconds from a cell to the next, and that a class works so
SMALL = 10  # a smaller crowd takes less time for each phase
MOST_STUDENTS, MOST_REQUESTS = 100, 1000  # requests of each student
MOST_SECONDS = 400, 20  # of all, and more for each student
ALREADY, BETWEEN = "one who works while all others come", "while nothing goes wrong"
PAUSE = 5  # seconds that students are away


class Crowd:
    """A class at a hub, and what it has found out."""

    def __init__(self, hub):
        self.hub, self.times = hub, Times()
        seats = list(hub.codes.items())
        browsers = min(3, len(seats) // 3) if can_measure("The browser") else 0
        split = len(seats) - browsers
        self.students = [Student(hub, *seat, self.times) for seat in seats[:split]]
        self.browsers = [BrowserStudent(hub, *seat, self.times) for seat in seats[split:]]
        self.is_small = len(seats) < SMALL
        self.alone, self.costs, self.memory, self.hub_memory = {}, (0, 0), {}, None
        self.at_pace, self.at_once, self.faults, self.tried = [], [], [], []
        self.left_out, self.began = [], time.monotonic()

    async def work(self):
        """Go through all phases."""
        for phase in (
            *(self.come_alone, self.come_together, self.move_sliders, self.work_at_pace),
            *(self.work_at_once, self.come_back, self.go_wrong, self.try_doors),
        ):
            print(f"{time.monotonic() - self.began:5.0f} s  {phase.__doc__}", file=sys.stderr)
            await phase()

    async def come_alone(self):
        """One student comes alone, and runs the lesson."""
        first = self.students[0]
        before = processor_seconds(self.hub.processes())
        await first.arrive("alone: ")
        own = processor_seconds(self.hub.servers([first.name]))
        self.costs = own, processor_seconds(self.hub.processes()) - before
        await first.run_cells()
        self.memory["one alone"] = [memory(self.hub.servers([first.name]))]
        waits = zip(*[await first.run_cells() for _ in range(REPEATS)], strict=True)
        self.alone = {same[0][0]: median(seconds for _, seconds in same) for same in waits}

    async def come_together(self):
        """All others come within a minute, and run the lesson."""
        chance, comers = random.Random(0), [*self.students[1:], *self.browsers]
        minute = min(60, 2 * len(comers))
        if self.hub.has_accounts and self.students[1:]:
            self.students[-1].home_mib = crowd_faults.HOME_MIB

        async def come(student):
            await asyncio.sleep(chance.uniform(0, minute))
            if await student.arrive() and isinstance(student, Student):
                await student.run_cells()

        async with others_work(self.students[:1], ALREADY):
            await asyncio.gather(*map(come, comers))
        for gone in (student for student in comers if not student.has_come):
            await gone.leave()
        self.students = [student for student in self.students if student.has_come]
        self.browsers = [student for student in self.browsers if student.has_come]
        found = [memory(self.hub.servers([student.name])) for student in self.students]
        self.memory["each of all"] = found
        self.hub_memory = memory(self.hub.processes())

    async def move_sliders(self):
        """All move sliders, some in a browser; then these save, come back, and leave it."""
        seconds = 15 if self.is_small else 60
        await asyncio.gather(
            *(student.move_sliders(seconds) for student in self.students),
            *(student.move_sliders("all") for student in self.browsers),
        )
        for student in self.browsers:
            await student.move_sliders("nobody else")
        for found in await asyncio.gather(*map(self._leave_browser, self.browsers)):
            self.students += found

    async def work_at_pace(self):
        """A class reads and runs cells; a smaller one if this one waits too long."""
        for size in self._sizes()[::-1]:
            plans = []
            for seed in range(size):
                chance, pauses = random.Random(seed), []
                while sum(pauses) < PACE_SECONDS:
                    pauses.append(chance.expovariate(1 / PACE))
                start = chance.randrange(len(self.alone))
                cells = [(start + n) % len(self.alone) for n in range(len(pauses) - 1)]
                plans.append((cells, pauses[:-1]))
            if await self._try_size(self.at_pace, plans) >= crowd_report.IN_TIME:
                break

    async def work_at_once(self):
        """A class presses Run All in the same second; a larger one if this one doesn't wait."""
        for size in self._sizes():
            if await self._try_size(self.at_once, [(None, None)] * size) < crowd_report.IN_TIME:
                break

    async def come_back(self):
        """All save and leave, and come back after a pause."""
        await asyncio.gather(*(self._save(student) for student in self.students))
        await asyncio.sleep(PAUSE)
        await asyncio.gather(
            *(self._phase("come back", student, student.come_back()) for student in self.students),
        )

    async def go_wrong(self):
        """Things go wrong for one, while the others work."""
        async with others_work(self.students, BETWEEN):
            pass
        self.faults = [(BETWEEN, "")]
        for what, fault, victim in crowd_faults.faults(self):
            others = [student for student in self.students if student is not victim]
            async with others_work(others, what):
                try:
                    outcome = await fault(victim or self.hub)
                except Exception as problem:
                    outcome = f"WRONG: {said(problem)}"
                    self.times.problems["faults"].append(f"{what}: {said(problem)}")
            self.faults.append((what, outcome))
        for student in self.students:
            await self._phase("find the last saved work", student, student.check_saved())

    async def try_doors(self):
        """One student tries to get at another's work."""
        if self.hub.has_accounts and len(self.students) > 1:
            self.tried = await try_all(self.hub, *self.students[:2])
        else:
            self.left_out.append("access: it needs root, for accounts, and two students")

    async def _leave_browser(self, former):
        """Let a student save, come back, and leave the browser; return who goes on without one."""
        await former.save_and_come_back()
        await former.leave()
        student = Student(self.hub, former.name, former.code, self.times)
        steps = (student.log_in, student.start_server, student.open_lesson, student.start_kernel)
        with contextlib.suppress(Exception), self.times.phase("leave the browser", former.name):
            for step in steps:
                await step()
            return [student]
        return []

    async def _save(self, student):
        await self._phase("save", student, student.save("# I was here."))
        await student.leave()

    async def _phase(self, name, student, work):
        with contextlib.suppress(Exception), self.times.phase(name, student.name):
            await work

    def _sizes(self):
        most = len(self.students)
        return [*(size for size in SIZES if size < most), most]

    async def _try_size(self, found, plans):
        """Let some students work by a plan each, and return the share of cells back in time."""
        works = (s.run_cells(*plan) for s, plan in zip(self.students, plans, strict=False))
        waits = [wait for some in await asyncio.gather(*works) for wait in some]
        slowest = max(self.alone, key=self.alone.get)
        share = share_in_time(waits, self.alone)
        found.append((len(plans), len(waits), share, [s for cell, s in waits if cell == slowest]))
        return share

    @property
    def has_failed(self):
        """Whether something failed, a fault was noticed, work was lost, or access was had."""
        doors = any(each.other or not each.owner for each in self.tried)
        return doors or any(self.times.problems.values())


async def run(students):
    """Let so many students work, and return the crowd."""
    most, more = MOST_SECONDS
    # So that a crowd that is stopped removes what it has made.
    stop = asyncio.current_task().cancel
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop)
    async with Hub(students, MOST_REQUESTS * students) as hub:
        crowd = Crowd(hub)
        try:
            async with asyncio.timeout(most + more * students):
                await crowd.work()
        except Exception as problem:  # what was measured before is worth a report
            crowd.times.problems["all"].append(f"The crowd stopped: {said(problem)}")
            print(f"The end of the hub's log:\n{hub.log.read_text()[-3000:]}", file=sys.stderr)
        finally:
            await asyncio.gather(*(one.leave() for one in [*crowd.students, *crowd.browsers]))
        return crowd


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("students", type=int, nargs="?", default=3, help="how many, at most 100")
    students = parser.parse_args().students
    if not 1 <= students <= MOST_STUDENTS:
        parser.error(f"{students} students were given. Expected 1 to {MOST_STUDENTS}.")
    crowd = asyncio.run(run(students))
    used = processor_seconds([psutil.Process()])
    text = crowd_report.write(crowd, students, used, f"{os.cpu_count()} cores")
    path = PROJECT / "build" / "crowd.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")
    print(text)
    return int(crowd.has_failed)


if __name__ == "__main__":
    sys.exit(main())
