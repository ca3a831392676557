"""JupyterHub for a class on one machine; deploy/hub.py starts it, and docs/hub.md explains it.

Where systemd runs, it limits each student's memory and processor. Where root has no systemd, as in
a container, prlimit limits each process. If you aren't root, all seats are your own account.
"""

import hmac
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from hub import HUB, PROXY, PROXY_API, SEATS, STATE, proxy_token
from jupyterhub.auth import Authenticator, LocalAuthenticator
from seats import COMMENT, SeatsError, plain, read_seats

c = get_config()  # type: ignore[name-defined]  # noqa: F821 - JupyterHub gives it

MEMORY = int(os.environ.get("LNORM_HUB_MEMORY", "1024"))  # MiB for each student
CORES = float(os.environ.get("LNORM_HUB_CORES", "1"))  # for each student, where systemd runs
HOMES = os.environ.get("LNORM_HUB_HOMES", "/home")  # where accounts are made
IDLE = 3600  # seconds without a request, until a server is stopped
ROOT = os.geteuid() == 0
SYSTEMD = ROOT and os.path.isdir("/run/systemd/system")


Base: Any = LocalAuthenticator if ROOT else Authenticator


class SeatAuthenticator(Base):
    """Let in whoever knows the code of a seat, and put out who loses it within five minutes."""

    async def authenticate(self, handler: Any, data: dict[str, str]) -> str | None:
        seats = self.seats() or {}
        name, code = data["username"].strip().lower(), plain(data["password"])
        # A name that isn't there takes as long as one that is.
        right = hmac.compare_digest(seats.get(name, "-").encode(), code.encode())
        return name if right and name in seats else None

    async def refresh_user(self, user: Any, handler: Any = None) -> bool:
        seats = self.seats()
        return seats is None or user.name in seats

    def seats(self) -> dict[str, str] | None:
        try:
            return read_seats(SEATS)
        except (SeatsError, OSError) as problem:  # until it's repaired, nobody else gets in
            self.log.error("%s", problem)
            return None


c.JupyterHub.authenticator_class = SeatAuthenticator
c.Authenticator.allow_all = True  # who has a seat
c.LocalAuthenticator.create_system_users = True
c.LocalAuthenticator.add_user_cmd = [
    *("useradd", "--create-home", "--base-dir", HOMES, "--key", "HOME_MODE=0700"),
    *("--user-group", "--shell", "/bin/bash", "--comment", COMMENT),
]

# All of it listens on this machine only. A proxy of its own goes on while the hub restarts.
c.JupyterHub.bind_url, c.JupyterHub.hub_bind_url = PROXY, HUB
c.ConfigurableHTTPProxy.api_url = PROXY_API
c.ConfigurableHTTPProxy.should_start = False
c.ConfigurableHTTPProxy.auth_token = proxy_token()
c.JupyterHub.cleanup_servers = False
c.JupyterHub.db_url = f"sqlite:///{STATE / 'hub.sqlite'}"
c.JupyterHub.cookie_secret_file = str(STATE / "cookie_secret")

# -P: no file in a student's home takes the place of a module.
server = [sys.executable, "-P", "-m", "lnorm_course", "--hub", "--folder", "~/my_lessons"]
c.Spawner.disable_user_config = True
c.Spawner.mem_limit = MEMORY * 2**20
c.Spawner.start_timeout, c.Spawner.http_timeout = 300, 120  # thirty at once take minutes
if SYSTEMD:
    c.JupyterHub.spawner_class = "systemdspawner.SystemdSpawner"
    # Without "continue", systemd stops the whole server when a kernel runs out of memory.
    properties = {"OOMPolicy": "continue", "TasksMax": "512", "MemorySwapMax": "0"}
    # No crontab, sudo or the like, which would go on without these limits.
    c.SystemdSpawner.unit_extra_properties = {**properties, "NoNewPrivileges": "yes"}
    c.SystemdSpawner.isolate_tmp = True
    c.Spawner.cpu_limit = CORES
elif ROOT:
    c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
    limits = [f"--data={MEMORY * 2**20}", "--nproc=512", f"--fsize={2**28}", "--core=0"]
    server = ["setpriv", "--no-new-privs", "prlimit", *limits, *server]
else:
    c.JupyterHub.spawner_class = "jupyterhub.spawner.SimpleLocalProcessSpawner"
    c.SimpleLocalProcessSpawner.home_dir_template = str(STATE / "homes" / "{username}")
c.Spawner.cmd = server

scopes = ["list:users", "read:users:activity", "read:servers", "delete:servers"]
c.JupyterHub.load_roles = [{"name": "culler", "scopes": scopes, "services": ["culler"]}]
cull = [sys.executable, "-m", "jupyterhub_idle_culler", f"--timeout={IDLE}"]
c.JupyterHub.services = [{"name": "culler", "command": cull}]
