"""Attempts on another student's files, kernel and server: code that runs in a kernel.

`facts` says all that there is to know but the secrets. `facts["mine"]` are the headers and
`facts["token"]` the token of whoever makes the attempt.
"""

from typing import NamedTuple

ASK = """
import urllib.request
def ask(address, method="GET", data=None, **headers):
    request = urllib.request.Request(address, data, {**facts["mine"], **headers}, method=method)
    return urllib.request.urlopen(request, timeout=10).read().decode()
"""
CLIENT = """
from jupyter_client import BlockingKernelClient
client = BlockingKernelClient()
client.load_connection_info(facts["info"])
"""
LISTEN = """
import time
socket, end = client.connect_iopub(), time.time() + 6
while time.time() < end:
    if socket.poll(500): print(socket.recv_multipart())
"""
TRACE = """
import ctypes, os
attach, detach, is_any = 16, 17, 0x40000000
libc, child = ctypes.CDLL(None, use_errno=True), facts["child"]
if libc.ptrace(attach, child, 0, 0): raise OSError(ctypes.get_errno(), "ptrace")
os.waitpid(child, is_any)
libc.ptrace(detach, child, 0, 0)
print(facts["proof"])
"""
MEMORY = """
with open(f"/proc/{facts['kernel']}/mem", "rb", 0) as memory:
    memory.seek(facts["inside"])
    print(memory.read(facts["size"]).decode())
"""
RENAME = """
import re
renamed = re.sub("user-[a-z0-9-]*=", f"user-{facts['victim']}=", facts["mine"]["Cookie"])
"""
TOKEN = 'ask(facts["tokens"], "POST", b"{}", **{"Content-Type": "application/json"})'
PROXY = "ask(facts['routes'], Authorization='token ' + facts['token'])"
PORT = """
import socket
with socket.socket() as one:
    one.bind(("127.0.0.1", facts["port"]))
    print(facts["proof"])
"""
ANY = """
for path in facts["{0}"]:
    try: open(path, "{1}").close()
    except OSError as problem: print(problem)
    else: print(facts["proof"])
"""


class Attempt(NamedTuple):
    """What is tried, with which code, and what that prints if it works."""

    what: str
    code: str
    proof: str = ""  # without it, what only the victim knows
    outside: bool = False  # whether root tries it first, with the secrets
    listens: bool = False  # whether the victim's kernel prints something meanwhile


def printed(expression):
    return f"print({expression})"


ATTEMPTS = [
    Attempt("a file in the home", printed("open(facts['file']).read()")),
    Attempt(
        "the names of the lessons", printed("__import__('os').listdir(facts['lessons'])"), "06_"
    ),
    Attempt("a file in the folder for temporary files", printed("open(facts['notes']).read()")),
    Attempt(
        "the environment of the kernel, with its token",
        printed("open(f'/proc/{facts[\"kernel\"]}/environ').read()"),
        "JUPYTERHUB_API_TOKEN=",
    ),
    Attempt("the memory of the kernel", MEMORY),
    Attempt("the kernel's connection file", printed("open(facts['connection']).read()"), '"key"'),
    Attempt(
        "the kernel's ports, to run code",
        CLIENT + "client.start_channels()\n"
        "client.execute_interactive('print(proof)', timeout=8, allow_stdin=False)",
        outside=True,
    ),
    Attempt(
        "the kernel's ports, to hear what it prints", CLIENT + LISTEN, outside=True, listens=True
    ),
    Attempt("a process, to trace it", TRACE),
    Attempt(
        "a process, to signal it", "import os; os.kill(facts['child'], 0); print(facts['proof'])"
    ),
    Attempt(
        "the server at its own port, past the proxy",
        ASK + printed("ask(facts['direct'])"),
        '"cells"',
    ),
    Attempt(
        "the server through the proxy, with one's own cookies",
        ASK + printed("ask(facts['lesson'])"),
        '"cells"',
    ),
    Attempt(
        "the server through the proxy, with one's own cookies under the other's name",
        ASK + RENAME + printed("ask(facts['lesson'], Cookie=renamed)"),
        '"cells"',
    ),
    Attempt(
        "the server, with the token of one's own server",
        ASK + printed("ask(facts['lesson'], Cookie='', Authorization='token ' + facts['token'])"),
        '"cells"',
    ),
    Attempt("the hub, to make a token", ASK + printed(TOKEN), '"token"'),
    Attempt("the proxy's own interface", ASK + printed(PROXY), '"/user/', outside=True),
    Attempt("a port like the hub's, to answer while it restarts", PORT, outside=True),
    Attempt(
        "the hub's folder, with its cookie secret and its database",
        ANY.format("secrets", "r"),
        outside=True,
    ),
    Attempt(
        "the course that everybody imports, to change it", ANY.format("course", "a"), outside=True
    ),
]
