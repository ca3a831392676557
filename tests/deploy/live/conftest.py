"""A class of three students, on the course's own hub and on this machine."""

import asyncio
import contextlib
import os
from types import SimpleNamespace

import pytest
from class_hub import Hub
from class_student import Student


@pytest.fixture(scope="package")
def running():
    """What runs coroutines; all connections belong to its one loop."""
    with asyncio.Runner() as runner:
        yield runner.run


@pytest.fixture(scope="package")
def the_class(running):
    """Let three students log in, start a server, open the lesson, and run its first cell."""

    async def begin(stack):
        hub = await stack.enter_async_context(Hub(3))
        students = [Student(hub, *seat) for seat in hub.codes.items()]
        for student in students:
            stack.push_async_callback(student.leave)
        await asyncio.gather(*(student.arrive() for student in students))
        return SimpleNamespace(hub=hub, students=students)

    stack = contextlib.AsyncExitStack()
    try:
        yield running(begin(stack))
    finally:
        running(stack.aclose())


@pytest.fixture
def accounts():
    """Leave a test out where students have no accounts of their own."""
    if os.getuid():
        pytest.skip("only root can give each student an account")
