"""Three students on the hub: they work, come back, and notice nothing of each other's trouble."""

import asyncio

import access
import faults
import pytest
from attempts import ATTEMPTS


def meanwhile(students, trouble):
    """Let students work and save while there is trouble; whatever they notice is raised."""

    async def both():
        done = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for student in students:
                group.create_task(student.work_until(done))
            try:
                await trouble
            finally:
                done.set()

    return both()


def test_all_run_the_whole_lesson_at_once(the_class, running):
    async def run_all():
        await asyncio.gather(*(student.run_cells() for student in the_class.students))

    running(run_all())


def test_who_comes_back_finds_the_saved_work_and_the_kernel_with_its_variables(the_class, running):
    async def leave_and_come_back(student):
        await student.save("# I was here.")
        await student.leave()
        await student.come_back()

    for student in the_class.students:
        running(leave_and_come_back(student))


def test_nobody_notices_that_the_hub_restarts(the_class, running):
    running(meanwhile(the_class.students, the_class.hub.restart()))


@pytest.mark.usefixtures("accounts")
@pytest.mark.parametrize("fault", [faults.out_of_memory, faults.all_killed])
def test_nobody_notices_what_goes_wrong_for_another_who_loses_no_work(the_class, running, fault):
    *others, one = the_class.students[:2]
    running(meanwhile([*others, the_class.students[2]], fault(one)))


@pytest.mark.usefixtures("accounts")
def test_nobody_notices_that_anothers_disk_is_full(the_class, running):
    *others, one = the_class.students
    if not the_class.hub.mounted:
        pytest.skip("this machine mounts no small disk")
    running(meanwhile(others, faults.disk_full(one)))


@pytest.fixture(scope="module")
def facts(the_class, running):
    """What is known of the victim, with and without the secrets."""
    return running(access.prepare(the_class.hub, the_class.students[0]))


@pytest.mark.usefixtures("accounts")
@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt.what)
def test_only_the_owner_gets_at(the_class, running, facts, attempt):
    victim, attacker, _ = the_class.students
    trying = access.make(attempt, the_class.hub, victim, attacker, *facts)
    owner, other, proof = running(trying)
    assert proof in owner, "not even the owner could, so a refusal would mean nothing"
    assert proof not in other
