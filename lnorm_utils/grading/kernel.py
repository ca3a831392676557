"""A kernel for code that nobody trusts: limited in time and memory, started again if it dies.

Where it can be, it runs in a sandbox.
"""

import contextlib
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Empty

from lnorm_utils.grading import fetch_attempt
from lnorm_utils.grading.plain_data import encode
from lnorm_utils.grading.sandbox import can_sandbox, sandboxed

__all__ = ["Kernel", "Outcome"]

GIBIBYTE = 2**30
# RLIMIT_DATA and not RLIMIT_AS: libraries may be large, what a student allocates may not.
LIMITS = {
    "RLIMIT_DATA": 4 * GIBIBYTE,
    "RLIMIT_FSIZE": GIBIBYTE // 4,
    "RLIMIT_NPROC": 4096,  # for all that the user runs, so not too few
    "RLIMIT_CORE": 0,
}
START = f"""
import contextlib
for name, most in {LIMITS}.items():
    with contextlib.suppress(ImportError, AttributeError, ValueError, OSError):
        import resource
        resource.setrlimit(getattr(resource, name), (most, most))
from ipykernel.kernelapp import launch_new_instance
launch_new_instance()
"""
LARGEST_REPLY = 2**26
SECONDS_TO_START, SECONDS_TO_STOP, SECONDS_FOR_A_CALL = 60, 3, 10
# Nothing else of the environment reaches the kernel, because it often holds keys and passwords.
KEPT = {
    *("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONPATH", "LANG", "LC_ALL", "LC_CTYPE"),
    *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT"),
}


@dataclass(frozen=True)
class Outcome:
    """What became of code in the kernel: its answer, or a state of failure and its reason."""

    failed: str = ""  # or "crashed", "timed out"
    reason: str = ""
    answer: object = None
    lost: bool = False  # what the code has defined is gone with the kernel


class Kernel:
    """A kernel of this environment in an empty folder of its own; a context that ends it.

    Args:
        timeout: seconds for a part of a notebook.
        total: seconds for all of them together.
    """

    def __init__(self, timeout: float, total: float) -> None:
        self.timeout, self.total = timeout, total
        self.deadline = time.monotonic() + total
        self.done: list[str] = []
        self.end = Outcome()  # once it has failed, nothing runs any more

    def __enter__(self) -> "Kernel":
        self.folder = Path(tempfile.mkdtemp(prefix="lnorm"))
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, code: str) -> Outcome:
        """Run a part of a notebook, after all parts that ran before it if the kernel has died."""
        outcome = self._guarded(code)
        if not outcome.failed:
            self.done.append(code)
        return outcome

    def fetch(self, attempt: str, inputs: Sequence[tuple] | None, use_class: str = "") -> Outcome:
        """Fetch the value of an expression, or what it returns when called with the inputs.

        Of a class, fetch what the function of `class_attempts` with that name makes of it.
        """
        data = None if inputs is None else [list(map(encode, values)) for values in inputs]
        seconds = max(1, min(SECONDS_FOR_A_CALL, self.timeout / 3))
        call = f"['fetch'](lambda: ({attempt}), {data!r}, {seconds}, {use_class!r})"
        return self._guarded("", f"__import__('runpy').run_path({fetch_attempt.__file__!r}){call}")

    def _guarded(self, code: str, expression: str = "") -> Outcome:
        """Run code unless time is over, and start the kernel again if the code ends it."""
        if self._over():
            return self.end
        try:
            outcome = self._run(code, expression)
        except Exception:  # a student's code may send anything
            outcome = Outcome("crashed", "what the kernel answered cannot be read.", lost=True)
        if outcome.lost and not self._over():
            self._start()
            if any(self._run(code).lost for code in self.done) and not self._over():
                self.end = Outcome("crashed", "the kernel died again and again.", lost=True)
        return outcome

    def _over(self) -> bool:
        if not self.end.failed and time.monotonic() > self.deadline:
            reason = f"the {self.total:g} seconds for the whole notebook were over."
            self.end = Outcome("timed out", reason, lost=True)
        return bool(self.end.failed)

    def _run(self, code: str, expression: str = "") -> Outcome:
        expressions = {"answer": expression} if expression else {}
        request = self.client.execute(
            code, silent=True, store_history=False, user_expressions=expressions, allow_stdin=False
        )
        until = min(time.monotonic() + self.timeout, self.deadline)
        reply = self._reply(request, until)
        if reply is None and self.manager.is_alive():
            self.manager.interrupt_kernel()
            stopped = self._reply(request, time.monotonic() + SECONDS_TO_STOP)
            reason = f"it ran for more than {self.timeout:g} seconds."
            return Outcome("timed out", reason, lost=stopped is None)
        if reply is None:
            return Outcome("crashed", "the kernel died.", lost=True)
        told = reply if reply["status"] != "ok" or not expression else _answer_in(reply)
        if told["status"] != "ok":
            return Outcome("crashed", f"{told.get('ename')}: {told.get('evalue')}")
        return Outcome(answer=told.get("data", {}).get("application/json"))

    def _reply(self, request: str, until: float) -> dict | None:
        """Wait for the reply to a request; None if the time is over or the kernel is dead."""
        while (left := until - time.monotonic()) > 0:
            alive = self.manager.is_alive()
            try:
                message = self.client.get_shell_msg(timeout=min(left, 0.2))
            except Empty:
                if not alive:
                    return None
                continue
            if message["parent_header"].get("msg_id") == request:
                return message["content"]
        return None

    def _start(self) -> None:
        from jupyter_client.kernelspec import KernelSpec
        from jupyter_client.manager import KernelManager

        self._stop()
        run = Path(tempfile.mkdtemp(dir=self.folder))
        (run / "empty").mkdir()
        # Sockets in a folder, where the system has them: nobody else can take their place.
        transport = "ipc" if os.name == "posix" else "tcp"
        self.manager = KernelManager(transport=transport, connection_file=str(run / "k.json"))
        command = [sys.executable, "-c", START, "-f", "{connection_file}"]
        command = sandboxed(command, run) if can_sandbox() else command
        self.manager._kernel_spec = KernelSpec(argv=command)
        kept = {name: value for name, value in os.environ.items() if name.upper() in KEPT}
        own = {"LNORM_PROGRESS": "", "OMP_NUM_THREADS": "1"}
        home = dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP"), str(run))
        with open(os.devnull, "wb") as nowhere:
            self.manager.start_kernel(
                cwd=str(run / "empty"), env={**kept, **own, **home}, stdout=nowhere, stderr=nowhere
            )
        self.client = self.manager.client()
        self.client.context.MAXMSGSIZE = LARGEST_REPLY
        # What is printed comes over a channel that stays closed here.
        self.client.start_channels(iopub=False, stdin=False, hb=False, control=False)
        ready = self.client.kernel_info()
        if self._reply(ready, time.monotonic() + SECONDS_TO_START) is None:
            self.end = Outcome("crashed", "no kernel could be started.", lost=True)

    def _stop(self) -> None:
        if not hasattr(self, "manager"):
            return
        group = getattr(self.manager.provisioner, "pgid", None)
        # Whatever a kernel does to stay, the next step ends it.
        with contextlib.suppress(Exception):
            self.client.stop_channels()
        with contextlib.suppress(Exception):
            # With a socket still open, the garbage collector could wait for it for ever.
            self.client.context.destroy(linger=0)
        with contextlib.suppress(Exception):
            self.manager.shutdown_kernel(now=True)
        if group:  # the processes that it started and left behind
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)


def _answer_in(reply: dict) -> dict:
    answer = reply.get("user_expressions", {}).get("answer", {})
    return answer if isinstance(answer, dict) and "status" in answer else {"status": "missing"}
