"""Make accounts for a class on this machine, as root, and print a name and a password for each.

`python deploy/seats.py 30` makes seat-01 to seat-30, and with a second word, such as mon, mon-01 to
mon-30. Those that are there stay as they are.
"""

import os
import pwd
import secrets
import subprocess
import sys

GROUP = "lnorm-students"  # whom deploy/jupyterhub_config.py lets in
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # those that nobody mixes up on paper
# No shell, so that no seat is a way in by SSH.
ACCOUNT = ["--key=HOME_MODE=0700", f"--groups={GROUP}", "--shell=/usr/sbin/nologin"]
LOOK = ["runuser", "-u", "nobody", "--", sys.executable, "-P", "-c", "import lnorm_course"]


def main(students: str, prefix: str = "seat") -> None:
    """Make the accounts that aren't there yet."""
    if os.geteuid() != 0:
        sys.exit("Only root can make accounts: sudo .venv/bin/python deploy/seats.py 30")
    if subprocess.run(LOOK, cwd="/", capture_output=True).returncode:
        sys.exit(f"Students can't use {sys.executable}. Put the course into /opt, for example.")
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
