"""What `make crowd` says rests on these: who is late, and who notices that something went wrong."""

import asyncio
import math
from types import SimpleNamespace

import crowd_work
import pytest
from crowd_measures import Times, percentile, share_in_time


@pytest.mark.parametrize(
    ("values", "expected"), [(range(1, 21), 19), (range(1, 22), 20), ([3], 3), ([2, 1], 2)]
)
def test_the_percentile_is_a_value_that_95_percent_dont_exceed(values, expected):
    assert percentile(values) == expected


def test_a_cell_is_in_time_within_twice_its_own_time_or_a_tenth_of_a_second():
    alone = {"long": 1.0, "short": 0.01}
    in_time = [("long", 2.0), ("short", 0.11)]
    late = [("long", 2.01), ("short", 0.12), ("short", math.inf)]
    assert share_in_time(in_time, alone) == 1
    assert share_in_time(late, alone) == 0
    assert share_in_time(in_time + late, alone) == 2 / 5


class Worker(crowd_work.Worker):
    """A student whose kernel answers as told."""

    def __init__(self, times, answer):
        self.name, self.times = "somebody", times
        self.notebook = {"cells": [{"cell_type": "code", "source": "1"}] * 6}
        self.kernel = SimpleNamespace(run=answer)

    async def save(self, text):
        pass


async def right(code):
    return SimpleNamespace(is_ok=True, seconds=0.1, outputs=[])


async def wrong(code):
    return SimpleNamespace(is_ok=False, text="NameError")


async def gone(code):
    raise ConnectionError("closed")


async def silent(code):
    await asyncio.sleep(60)


@pytest.mark.parametrize(
    ("answer", "notices"), [(right, False), (wrong, True), (gone, True), (silent, True)]
)
def test_the_others_notice_an_error_a_closed_connection_and_silence(answer, notices, monkeypatch):
    monkeypatch.setattr(crowd_work, "BETWEEN", 0.01)
    monkeypatch.setattr(crowd_work, "LEAST_SECONDS", 0.1)
    monkeypatch.setattr(crowd_work, "QUICK_PATIENCE", 0.05)
    times = Times()

    async def work():
        async with crowd_work.others_work([Worker(times, answer)], "meanwhile"):
            pass

    asyncio.run(work())
    assert bool(times.problems["meanwhile"]) == notices
