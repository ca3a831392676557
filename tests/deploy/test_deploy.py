"""The hub's settings load everywhere, its limits agree, and its login lets in who has a seat."""

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest
import yaml
from project import MAKEFILE, PROJECT
from traitlets.config.loader import PyFileConfigLoader

DEPLOY = PROJECT / "deploy"
VALUES = yaml.safe_load((DEPLOY / "values.yaml").read_text("utf-8"))
DOCKERFILE = (DEPLOY / "Dockerfile").read_text("utf-8")
CONSTRAINTS = (PROJECT / "constraints.txt").read_text("utf-8")
CODE = "abcd-efgh-jkmn"


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Load the hub's configuration as root or not, with systemd or without."""
    pytest.importorskip("jupyterhub", reason="`make hub` installs it")
    monkeypatch.setenv("LNORM_HUB_STATE", str(tmp_path))
    monkeypatch.delitem(sys.modules, "hub", raising=False)
    seats = tmp_path / "seats.csv"
    seats.write_text(f"ada,{CODE}\ncy,\n")
    seats.chmod(0o600)

    def loaded(root, systemd):
        monkeypatch.setattr(os, "geteuid", lambda: 0 if root else 1000)
        monkeypatch.setattr(os.path, "isdir", lambda path: systemd)
        return PyFileConfigLoader(str(DEPLOY / "jupyterhub_config.py")).load_config()

    return loaded


@pytest.mark.parametrize(
    ("root", "systemd", "spawner"),
    [
        (True, True, "SystemdSpawner"),
        (True, False, "LocalProcessSpawner"),
        (False, True, "SimpleLocalProcessSpawner"),
    ],
)
def test_each_machine_gets_its_spawner_and_the_limits_of_the_cluster(load, root, systemd, spawner):
    c = load(root, systemd)
    assert c.JupyterHub.spawner_class.endswith(f".{spawner}")
    assert VALUES["singleuser"]["memory"]["limit"] == "1G"
    assert c.Spawner.mem_limit == 2**30
    assert (f"--data={2**30}" in c.Spawner.cmd) == (root and not systemd)
    if systemd and root:
        assert c.Spawner.cpu_limit == VALUES["singleuser"]["cpu"]["limit"]
    command = VALUES["singleuser"]["cmd"]
    assert c.Spawner.cmd[-len(command) + 1 :] == command[1:]


def test_everything_listens_on_this_machine_only(load):
    c = load(root=False, systemd=False)
    addresses = [c.JupyterHub.bind_url, c.JupyterHub.hub_bind_url, c.ConfigurableHTTPProxy.api_url]
    assert len({*addresses}) == 3
    assert all(address.startswith("http://127.0.0.1:") for address in addresses)


@pytest.mark.parametrize("root", [True, False])
def test_who_has_a_seat_gets_in_and_nobody_else(load, tmp_path, root):
    login = load(root, systemd=False).JupyterHub.authenticator_class(allow_all=True)

    def who(username, password):
        return asyncio.run(login.authenticate(None, {"username": username, "password": password}))

    assert who("ada", CODE) == who(" Ada", "ABCD EFGH JKMN ") == "ada"
    for other in (
        ("ada", "abcd-efgh-jkmp"),
        ("bo", CODE),
        ("bo", "-"),
        ("", ""),
        ("cy", ""),
        ("ada", "é"),
    ):
        assert who(*other) is None
    ada = type("User", (), {"name": "ada"})
    assert asyncio.run(login.refresh_user(ada))
    (tmp_path / "seats.csv").write_text("ada\n")  # a mistake of the lecturer throws nobody out
    assert (who("ada", CODE), asyncio.run(login.refresh_user(ada))) == (None, True)
    (tmp_path / "seats.csv").write_text(f"bo,{CODE}\n")
    assert not asyncio.run(login.refresh_user(ada))


def test_the_image_has_the_versions_of_the_constraints_and_the_index_of_the_makefile():
    (version,) = re.findall(r"^ARG JUPYTERHUB_VERSION=(.+)$", DOCKERFILE, re.MULTILINE)
    assert f"\njupyterhub=={version}\n" in CONSTRAINTS
    (index,) = re.findall(r"^CPU_INDEX \?= (.+)$", MAKEFILE, re.MULTILINE)
    assert index in DOCKERFILE


def test_what_the_image_copies_is_there_and_is_not_ignored():
    kept = re.findall(r"^!(.+)$", (PROJECT / ".dockerignore").read_text("utf-8"), re.MULTILINE)
    copied = re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.MULTILINE)
    names = " ".join(copied).split()
    assert sorted(names) == sorted(kept)
    assert all((PROJECT / name).exists() for name in names)


def test_students_in_the_image_are_who_the_chart_takes_them_for():
    home = Path(VALUES["singleuser"]["storage"]["homeMountPath"])
    assert f"useradd --create-home --uid 1000 {home.name}" in DOCKERFILE
    assert "\nUSER 1000\n" in DOCKERFILE
