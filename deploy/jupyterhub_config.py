"""JupyterHub for a class on one machine: `make hub` starts it, and docs/hub.md explains it.

Run as root, it admits the accounts that `deploy/seats.py` creates, and each student's server runs
in the student's own account. Run without root, which is meant for trying it out, it accepts one
password for every name, and all servers run in your account. The hub stores its files in the
folder in which it's started.
"""

import os
import secrets
import sys
from pathlib import Path

c = get_config()  # type: ignore[name-defined]  # noqa: F821 - JupyterHub defines it

PORT = int(os.environ.get("LNORM_HUB_PORT") or 8000)  # the first of three ports
MEMORY = os.environ.get("LNORM_HUB_MEMORY") or "1G"  # for each student, if systemd is running
CORES = float(os.environ.get("LNORM_HUB_CORES") or 1)  # also per student, if systemd is running
IDLE = int(os.environ.get("LNORM_HUB_IDLE") or 3600)  # seconds until an unused server is stopped
ROOT = os.geteuid() == 0
SYSTEMD = ROOT and os.path.isdir("/run/systemd/system")

# Only this machine can connect to the three ports. Encryption is left to a web server in front.
ADDRESS, c.ConfigurableHTTPProxy.api_url, c.JupyterHub.hub_bind_url = (
    f"http://127.0.0.1:{PORT + n}" for n in range(3)
)
c.JupyterHub.bind_url = ADDRESS
PROXY = Path(sys.prefix) / "node_modules" / ".bin" / "configurable-http-proxy"
c.ConfigurableHTTPProxy.command = str(PROXY)
c.Application.log_level = c.ConfigurableHTTPProxy.log_level = "WARN"
print(f"The hub is starting at {ADDRESS}. Press Ctrl+C to stop it.")

c.Authenticator.username_pattern = "[a-z][a-z0-9-]*"  # a username is also a folder's name
if ROOT:
    c.JupyterHub.authenticator_class = "pam"
    c.LocalAuthenticator.allowed_groups = {"lnorm-students"}  # not every account on this machine
    print("Log in with an account created by deploy/seats.py.")
else:
    c.JupyterHub.authenticator_class = "shared-password"
    c.Authenticator.allow_all = True
    password = os.environ.get("LNORM_HUB_PASSWORD") or secrets.token_hex(4)
    c.SharedPasswordAuthenticator.user_password = password
    print(f"Log in with any name and the password {password}.")
    print("You aren't root, so all servers run in your account: nothing keeps students apart.")

c.JupyterHub.spawner_class = "systemd" if SYSTEMD else "localprocess" if ROOT else "simple"
c.SimpleLocalProcessSpawner.home_dir_template = str(Path.cwd() / "homes" / "{username}")
# A kernel that exceeds the memory limit is killed, but the student's server keeps running.
limits = {"OOMPolicy": "continue", "TasksMax": "512", "MemorySwapMax": "0"}
c.SystemdSpawner.unit_extra_properties = limits
c.SystemdSpawner.isolate_tmp = c.SystemdSpawner.disable_user_sudo = True
c.Spawner.mem_limit, c.Spawner.cpu_limit = MEMORY, CORES
c.Spawner.start_timeout, c.Spawner.http_timeout = 300, 120  # thirty starts at once take minutes
c.Spawner.disable_user_config = True
# The accounts have no shell, but IPython's ! needs one. With -P, no file in a student's home can
# replace a module.
course = [sys.executable, "-P", "-m", "lnorm_course", "--hub", "--folder", "~/my_lessons"]
c.Spawner.cmd = ["/usr/bin/env", "SHELL=/bin/bash", *course]

scopes = ["list:users", "read:users:activity", "read:servers", "delete:servers"]
c.JupyterHub.load_roles = [{"name": "culler", "scopes": scopes, "services": ["culler"]}]
cull = [sys.executable, "-m", "jupyterhub_idle_culler", f"--timeout={IDLE}"]
c.JupyterHub.services = [{"name": "culler", "command": cull}]
