"""Run JupyterHub for a class on this machine.

    python deploy/hub.py run --students 2      # proxy and hub, until Ctrl+C: what `make hub` does
    python deploy/hub.py seats --students 30   # only write the seats
    python deploy/hub.py proxy                 # one of the two as a service of its own,
    python deploy/hub.py hub                   # so that the hub can restart while students work

LNORM_HUB_STATE names the folder of what the hub keeps, LNORM_HUB_PORT the first of three ports.
"""

import argparse
import compileall
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from seats import SeatsError, add_seats, read_seats, write_sheet

COURSE = Path(__file__).resolve().parents[1]
STATE = Path(os.environ.get("LNORM_HUB_STATE") or COURSE / ".hub").resolve()
SEATS, SHEET, LOG = STATE / "seats.csv", STATE / "seats.html", STATE / "hub.log"
ADDRESS = STATE / "address"  # of the hub, for the sheet to print
WANTED_PORT = os.environ.get("LNORM_HUB_PORT") or "8000"
LOWEST = 1024 if os.geteuid() else 1  # below 1024, no student can take the place of the hub
if not (WANTED_PORT.isdecimal() and LOWEST <= int(WANTED_PORT) <= 65533):
    sys.exit(f"The port is {WANTED_PORT!r}. Expected a number from {LOWEST} to 65533.")
PORT = int(WANTED_PORT)
PROXY, PROXY_API, HUB = (f"http://127.0.0.1:{PORT + n}" for n in range(3))
PROXY_PROGRAM = Path(sys.prefix) / "node_modules" / ".bin" / "configurable-http-proxy"
MOST, NOBODY = 500, 65534
ONE_ACCOUNT = "You aren't root, so all seats are your own account: nothing keeps students apart."


class HubError(Exception):
    """Why the hub can't start, in one sentence."""


def main() -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("what", choices=["run", "seats", "proxy", "hub"])
    parser.add_argument("--students", default="0", help="at least so many seats")
    parser.add_argument("--address", help="of the hub, for the sheet to print; it's kept")
    options, for_jupyterhub = parser.parse_known_args()
    try:
        STATE.mkdir(parents=True, exist_ok=True)
        STATE.chmod(0o700)
        if options.what in ("run", "seats"):
            seats = add_seats(SEATS, students(options.students))
            if options.address:
                ADDRESS.write_text(options.address)
            address = ADDRESS.read_text() if ADDRESS.exists() else PROXY
            write_sheet(SHEET, seats, address)
            print(f"{len(seats)} seats are in {SEATS}. To print them, open {SHEET}.")
        proxy_token()
        if options.what == "run":
            return run()
        if options.what == "proxy":
            become_proxy()
        if options.what == "hub":
            become_hub(for_jupyterhub)
    except (SeatsError, HubError) as problem:
        sys.exit(str(problem))
    except OSError as problem:
        sys.exit(f"{problem.filename or STATE}: {problem.strerror}.")
    return 0


def students(text: str) -> int:
    """Read how many students there are."""
    if not text.isdecimal() or int(text) > MOST:
        raise HubError(f"The number of students is {text!r}. Expected a number up to {MOST}.")
    return int(text)


def become_proxy() -> None:
    """Become the proxy, which keeps the connections of all students."""
    ports = [f"--port={PORT}", f"--api-port={PORT + 1}", f"--error-target={HUB}/hub/error"]
    only_here = ["--ip=127.0.0.1", "--api-ip=127.0.0.1", "--log-level=warn"]
    environment = {**os.environ, "CONFIGPROXY_AUTH_TOKEN": proxy_token()}
    command = [str(PROXY_PROGRAM), *only_here, *ports]
    if os.geteuid() == 0:  # the only right that it needs is to listen at a low port
        right = [f"--{which}-caps=-all,+net_bind_service" for which in ("inh", "ambient")]
        nobody = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        command = ["setpriv", *nobody, *right, *command]
    os.execvpe(command[0], command, environment)


def proxy_token() -> str:
    """Return the secret that the hub and the proxy share; make it at the first call."""
    path = STATE / "proxy_token"
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(32))
    except FileExistsError:
        pass
    return path.read_text()


def become_hub(options: list[str]) -> None:
    """Become the hub.

    Raises:
        SeatsError: the file of seats can't be used.
    """
    if not read_seats(SEATS):
        print("There are no seats yet: make seats STUDENTS=30", file=sys.stderr)
    for package in ("lnorm_utils", "lnorm_course"):
        compileall.compile_dir(COURSE / package, quiet=2)  # students can't write there
    config = Path(__file__).with_name("jupyterhub_config.py")
    os.chdir(STATE)
    os.execv(sys.executable, [sys.executable, "-m", "jupyterhub", "-f", str(config), *options])


def run() -> int:
    """Run the proxy and the hub until Ctrl+C, then stop both and all students' servers."""
    look_around()
    for stop in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(stop, signal.default_int_handler)
    with LOG.open("wb") as log:
        commands = ([__file__, "proxy"], [__file__, "hub", "--JupyterHub.cleanup_servers=True"])
        proxy, hub = (
            # A session of its own: Ctrl+C comes here only, and all stop in order.
            subprocess.Popen([sys.executable, *c], stdout=log, stderr=log, start_new_session=True)
            for c in commands
        )
        try:
            wait_for(hub)
            print(f"The hub is at {PROXY}, and its log is {LOG}. Ctrl+C stops it.", flush=True)
            hub.wait()
        except KeyboardInterrupt:
            print("Stopping.", flush=True)
            return 0
        finally:
            for each in (hub, proxy):
                each.terminate()
                each.wait()
    raise HubError(f"The hub has stopped. {LOG} says why.")


def look_around() -> None:
    """Say what would keep students from working.

    Raises:
        HubError: a port is taken, or students can't read the course.
    """
    for port in range(PORT, PORT + 3):
        with socket.socket() as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if one.connect_ex(("127.0.0.1", port)) == 0:
                raise HubError(
                    f"Port {port} is taken, maybe by a hub that still runs. Stop that with Ctrl+C, "
                    "or name the first of three free ports: make hub PORT=8010"
                )
    if os.geteuid() != 0:
        print(ONE_ACCOUNT)
        return
    imports = [sys.executable, "-P", "-c", "import lnorm_course, jupyterhub"]
    try:
        tried = subprocess.run(
            imports,
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            cwd="/",
            stderr=subprocess.DEVNULL,
        )
        readable = tried.returncode == 0
    except PermissionError:
        readable = False
    if not readable:
        raise HubError(
            f"Students can't read {COURSE}, or the Python that its .venv was made from. Put the "
            "course where everybody can read it, such as /opt/course, and set it up with the "
            "system's Python: make clean hub PYTHON=/usr/bin/python3"
        )


def wait_for(hub: subprocess.Popen) -> None:
    """Wait until the hub answers, also through the proxy.

    Raises:
        HubError: it has ended, or doesn't answer within a minute.
    """
    end, waiting = time.monotonic() + 60, [PROXY, HUB]
    while time.monotonic() < end and hub.poll() is None:
        try:
            with urllib.request.urlopen(f"{waiting[-1]}/hub/health", timeout=5):
                waiting.pop()
            if not waiting:
                return
        except OSError:
            time.sleep(0.2)
    raise HubError(f"The hub doesn't start. {LOG} says why.")


if __name__ == "__main__":
    sys.exit(main())
