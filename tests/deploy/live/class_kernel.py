"""A kernel as JupyterLab talks to it: its messages over the WebSocket, through the proxy."""

import asyncio
import json
from typing import NamedTuple
from uuid import uuid4

from aiohttp import WSMsgType
from jupyter_client.session import Session
from jupyter_server.services.kernels.connection.base import (
    deserialize_msg_from_ws_v1,
    serialize_msg_to_ws_v1,
)

PROTOCOL = "v1.kernel.websocket.jupyter.org"
MOST_SECONDS = 240


class KernelGoneError(Exception):
    """The kernel has died, or its connection is closed."""


class Reply(NamedTuple):
    """What came back from a cell."""

    is_ok: bool
    text: str  # what was printed, or the error


class Kernel:
    """A connection to a kernel."""

    def __init__(self, socket, session_id):
        self.socket = socket
        self.session = Session(session=session_id)
        self._waiting = {}
        self._gone = None
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def connect(cls, web, address, origin):
        """Open the WebSocket of a kernel."""
        session_id = uuid4().hex
        socket = await web.ws_connect(
            f"{address}?session_id={session_id}",
            protocols=[PROTOCOL],
            origin=origin,
            max_msg_size=0,
            autoping=True,
        )
        if socket.protocol != PROTOCOL:
            await socket.close()
            raise KernelGoneError(f"The server doesn't speak {PROTOCOL}.")
        return cls(socket, session_id)

    async def run(self, code):
        """Run a cell, and wait until the kernel is idle again.

        Raises:
            KernelGoneError: it died, or the connection was closed.
            TimeoutError: nothing came in time.
        """
        content = {"code": code, "silent": False, "store_history": True, "stop_on_error": True}
        content |= {"user_expressions": {}, "allow_stdin": False}
        found = await self._request("execute_request", content)
        reply, text = found["execute_reply"], "".join(found["printed"])
        if reply["status"] != "ok":
            text += f"{reply.get('ename')}: {reply.get('evalue')}"
        return Reply(reply["status"] == "ok", text)

    async def send(self, message):
        """Send a message on the shell channel."""
        if self._gone:
            raise KernelGoneError(self._gone)
        data = serialize_msg_to_ws_v1(message, "shell", self.session.pack)
        try:
            await self.socket.send_bytes(data)
        except ConnectionError as problem:
            raise KernelGoneError(str(problem)) from None

    async def close(self):
        self._reader.cancel()
        await self.socket.close()

    async def _request(self, kind, content):
        message = self.session.msg(kind, content)
        number = message["header"]["msg_id"]
        found = {"printed": [], "done": asyncio.get_running_loop().create_future()}
        self._waiting[number] = found  # first, for the answer may come while this is sent
        try:
            async with asyncio.timeout(MOST_SECONDS):
                await self.send(message)
                await found["done"]
        finally:
            del self._waiting[number]
        return found

    async def _read(self):
        gone = "The connection to the kernel was closed."
        try:
            async for message in self.socket:
                if message.type is WSMsgType.BINARY:
                    self._hear(*deserialize_msg_from_ws_v1(message.data))
                if self._gone:
                    gone = self._gone
                    break
        finally:
            self._gone = gone
            for found in self._waiting.values():
                if not found["done"].done():
                    found["done"].set_exception(KernelGoneError(gone))

    def _hear(self, channel, parts):
        header, parent, _, content = map(json.loads, parts[:4])
        kind = header["msg_type"]
        found = self._waiting.get(parent.get("msg_id"))
        if kind == "status" and content["execution_state"] in ("restarting", "dead"):
            self._gone = "The kernel has died."
        elif found is None:
            return
        elif kind == "stream":
            found["printed"].append(content["text"])
        elif kind.endswith("_reply"):
            found[kind] = content
        elif kind == "status" and content["execution_state"] == "idle":
            found["idle"] = True
        if found and "idle" in found and "execute_reply" in found and not found["done"].done():
            found["done"].set_result(None)
