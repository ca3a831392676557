"""Three students on the hub: they work at once, and none gets at what another has."""

import asyncio

import access
import pytest
from attempts import ATTEMPTS


def test_all_run_the_whole_lesson_at_once(the_class, running):
    async def run_all():
        await asyncio.gather(*(student.run_cells() for student in the_class.students))

    running(run_all())


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
