"""Let one student try to get at another's files, kernel and server, in every way that we know.

The owner makes each attempt first, with the same code, so that a refusal means something.
"""

import asyncio
import contextlib
import io
import json
import secrets
from urllib.parse import quote, urlsplit

from class_hub import HOST, three_free_ports
from class_student import LESSON
from project import PROJECT

# What the victim does first, so that there is something to be had.
PREPARE = """
import json, os, subprocess, tempfile
from ipykernel.connect import get_connection_file
inside = proof.encode()
file = os.path.expanduser("~/diary.txt")
notes = os.path.join(tempfile.gettempdir(), f"notes-{os.getpid()}.txt")
for path in (file, notes):
    with open(path, "w") as out: out.write(proof)
child = subprocess.Popen(["sleep", "600"])
connection = get_connection_file()
print(json.dumps(dict(
    proof=proof, file=file, notes=notes, lessons=os.getcwd(), child=child.pid, kernel=os.getpid(),
    inside=id(inside) + inside.__sizeof__() - 1 - len(inside), size=len(inside),
    connection=connection, info=json.load(open(connection)),
)))
"""
TIDY = "child.kill(); child.wait(); os.remove(notes); os.remove(file)"
TOKEN = "import os; print(os.environ['JUPYTERHUB_API_TOKEN'])"
SECONDS = 60
SPEAK = "import time\nfor _ in range(14):\n    print(proof, flush=True); time.sleep(0.5)"
SECRET = {"key", "curve_publickey", "curve_secretkey"}  # of a connection file


async def prepare(hub, victim):
    """Give the victim something to be had; return what is known, with and without the secrets."""
    proof = secrets.token_hex(12)
    await victim.kernel.run(f"proof = {proof!r}")
    found = json.loads((await victim.kernel.run(PREPARE)).text)
    place, port = f"/user/{victim.name}/api/contents/{quote(LESSON)}", _port(hub, victim)
    found |= {
        "victim": victim.name,
        "lesson": f"{hub.address}{place}",
        "direct": f"http://{HOST}:{port}{place}",
        "tokens": f"{hub.address}/hub/api/users/{victim.name}/tokens",
        "routes": f"{hub.proxy_api}/api/routes",
        "port": three_free_ports(),
        "secrets": [str(path) for path in hub.secrets()],
        "course": [str(PROJECT / "lnorm_utils/__init__.py"), str(PROJECT / "notebooks" / LESSON)],
    }
    unlocked = {name: value for name, value in found["info"].items() if name not in SECRET}
    return found, {**found, "info": {**unlocked, "key": "a guess"}}


async def make(attempt, hub, victim, attacker, found, known):
    """Return what the owner gets of an attempt, what the attacker gets, and what would prove it."""
    by_owner = _as_root(attempt, found, hub) if attempt.outside else _run(victim, attempt, found)
    owner = await _heard(victim, attempt, by_owner)
    other = await _heard(victim, attempt, _run(attacker, attempt, known))
    return owner, other, attempt.proof or found["proof"]


async def _heard(victim, attempt, trying):
    """Make an attempt, and let the victim's kernel print something meanwhile if it listens."""
    speaking = victim.kernel.run(SPEAK) if attempt.listens else asyncio.sleep(0)
    return (await asyncio.gather(trying, speaking))[0]


async def _own(student, attempt):
    """Return what a student's browser and server would send."""
    hub = student.hub.address
    at = f"{hub}/hub/" if "tokens" in attempt.code else f"{student.home}/"
    cookies = student.cookies(at)
    mine = {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
    mine |= {"X-XSRFToken": cookies.get("_xsrf", ""), "Referer": at}
    return {"mine": mine, "token": (await student.kernel.run(TOKEN)).text.strip()}


async def _run(student, attempt, facts):
    """Run an attempt in a student's kernel, with what the student has."""
    facts = {**facts, **await _own(student, attempt)}
    code = f"import json; facts = json.loads({json.dumps(facts)!r})\n{attempt.code}"
    try:
        async with asyncio.timeout(SECONDS):
            return (await student.kernel.run(code)).text
    except TimeoutError:
        return f"Nothing came within {SECONDS} s."


async def _as_root(attempt, facts, hub):
    """Run an attempt in this process, with all the secrets."""
    facts = {**facts, "mine": {}, "token": hub.proxy_token}
    with contextlib.redirect_stdout(io.StringIO()) as told:
        await asyncio.to_thread(exec, attempt.code, {"facts": facts})
    return told.getvalue()


def _port(hub, student):
    """Find the port of a student's server: what the hub told it in its environment."""
    for process in hub.servers([student.name]):
        if address := process.environ().get("JUPYTERHUB_SERVICE_URL"):
            return urlsplit(address).port
    raise RuntimeError(f"{student.name} has no server.")
