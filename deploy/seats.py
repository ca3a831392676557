"""Create accounts for a class on this machine, as root, and print a name and password for each.

`python deploy/seats.py 30` creates seat-01 to seat-30. With `mon` as a second argument, it creates
mon-01 to mon-30. Accounts that already exist don't change.
"""

import os
import pwd
import secrets
import subprocess
import sys

GROUP = "lnorm-students"  # the group that deploy/jupyterhub_config.py admits
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # characters that nobody mixes up on paper
# The accounts have no shell, so that nobody can log in over SSH.
ACCOUNT = ["--key=HOME_MODE=0700", f"--groups={GROUP}", "--shell=/usr/sbin/nologin"]
LOOK = ["runuser", "-u", "nobody", "--", sys.executable, "-P", "-c", "import lnorm_course"]


def main(students: str, prefix: str = "seat") -> None:
    """Create the accounts that don't exist yet."""
    if os.geteuid() != 0:
        sys.exit("Only root can create accounts: sudo .venv/bin/python deploy/seats.py 30")
    if subprocess.run(LOOK, cwd="/", capture_output=True).returncode:
        sys.exit(f"Students can't use {sys.executable}. Move the course to /opt, for example.")
    subprocess.run(["groupadd", "--force", GROUP], check=True)
    there = {account.pw_name for account in pwd.getpwall()}
    for number in range(1, int(students) + 1):
        name = f"{prefix}-{number:02}"
        if name not in there:
            password = "-".join("".join(secrets.choice(LETTERS) for _ in "1234") for _ in "123")
            subprocess.run(["useradd", "--create-home", *ACCOUNT, name], check=True)
            subprocess.run(["chpasswd"], input=f"{name}:{password}", text=True, check=True)
            print(f"\nusername  {name}\npassword  {password}\n", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
