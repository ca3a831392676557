"""An explorer without a screen: the messages that explorer.js sends when a slider moves."""

import asyncio
import gzip
import json
import random
import time

CALM, MOST_AHEAD = 0.04, 500  # as in explorer.js
BETWEEN, KEYS, REST = 2 / 60, 30, 2.0  # seconds between two keys of a drag, keys, and a look at it
LATEST = 30  # seconds after which a picture doesn't come any more


class Explorer:
    """What the browser knows of an explorer: where it stands, and the frames that it has."""

    def __init__(self, kernel, comm, state):
        self.kernel, self.comm, self.page = kernel, comm, state["page"]
        self.state = list(self.page["start"])
        self.frames = set(self.page["frames"])
        self.last = dict.fromkeys(range(len(self.state)))  # slider → its last stop, if it's known
        self.waits, self.prepared = [], 0
        self._awaited = {}
        self._calm = None
        sliders = [i for i, each in enumerate(self.page["controls"]) if each["kind"] == "slider"]
        self.sliders, self.used = sliders, sliders[0]

    def receive(self, content, buffers):
        """Take frames from the kernel, packed or not."""
        found = json.loads(gzip.decompress(buffers[0])) if buffers else content.get("frames", {})
        for name in found:
            self.frames.add(name)
            if name in self._awaited and not self._awaited[name].done():
                self._awaited[name].set_result(None)

    async def play(self, seconds, seed):
        """Drag the sliders for a while, with a look at the picture after each drag.

        Raises:
            TimeoutError: a picture never came.
        """
        chance, end = random.Random(seed), time.monotonic() + seconds
        self._ahead()
        while time.monotonic() < end:
            self.used = chance.choice(self.sliders)
            step = chance.choice((-1, 1))
            for _ in range(KEYS):
                last = len(self.page["controls"][self.used]["texts"]) - 1
                step = step if 0 <= self.state[self.used] + step <= last else -step
                await self._move(self.state[self.used] + step)
                await asyncio.sleep(BETWEEN)
            await asyncio.sleep(REST * chance.uniform(0.5, 1.5))

    async def _move(self, place):
        control = self.page["controls"][self.used]
        self.state[self.used] = place
        name = self._key(self.state)
        if name in self.frames:
            self.prepared += 1
        else:
            awaited = self._awaited[name] = asyncio.get_running_loop().create_future()
            start = time.perf_counter()
            await self._ask({"now": self.state, "background": False})
            async with asyncio.timeout(LATEST):
                await awaited
            self.waits.append(time.perf_counter() - start)
            del self._awaited[name]
        change = {control["name"]: control["values"][place]}
        update = {"method": "update", "state": change, "buffer_paths": []}
        await self.kernel.tell(self.comm, update)
        self._ahead()

    def _ahead(self):
        if self._calm:
            self._calm.cancel()
        loop = asyncio.get_running_loop()
        self._calm = loop.call_later(CALM, lambda: loop.create_task(self._ask_ahead()))

    async def _ask_ahead(self):
        wanted = [state for state in self._coming() if self._key(state) not in self.frames]
        await self._ask({"next": wanted[:MOST_AHEAD]})

    def _coming(self):
        others = [index for index in range(len(self.state)) if index != self.used]
        yield from self._along(self.used)
        yield from (preset["state"] for preset in self.page["presets"])
        for index in others:
            yield from self._along(index)

    def _along(self, index):
        control, here = self.page["controls"][index], self.state[index]
        places = [here + 1] if control["kind"] == "button" else range(len(control["texts"]))
        for place in sorted(places, key=lambda place: abs(place - here)):
            yield [*self.state[:index], place, *self.state[index + 1 :]]

    async def _ask(self, content):
        await self.kernel.tell(
            self.comm, {"method": "custom", "content": {"arrangement": 0, **content}}
        )

    @staticmethod
    def _key(state):
        return f"0:{','.join(map(str, state))}"
