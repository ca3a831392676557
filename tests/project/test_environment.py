"""pip, conda, and Binder all mean the same environment."""

import re
import tomllib

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from project import PROJECT

CONDA_NAMES = {"torch": "pytorch-cpu"}
PIN = re.compile(r"([\w.-]+)==(\d+(?:\.\w+)*)(?: ; .+)?")


def constraints():
    """Read {canonical name: exact version}."""
    lines = (PROJECT / "constraints.txt").read_text("utf-8").splitlines()
    pins = [PIN.fullmatch(line) for line in lines if not line.startswith("#")]
    assert all(pins), "constraints.txt holds lines other than name==version ; marker"
    assert len({pin[1] for pin in pins}) == len(pins), "a name is pinned twice"
    return {canonicalize_name(pin[1]): pin[2] for pin in pins}


def requirements():
    """Read {extra: direct dependencies}; those of the package itself stand at ""."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    lists = {"": project["dependencies"], **project["optional-dependencies"]}
    return {extra: [Requirement(text) for text in texts] for extra, texts in lists.items()}


def environment():
    """Read what conda installs and what pip then installs, as two sets of lines."""
    content = yaml.safe_load((PROJECT / "environment.yml").read_text("utf-8"))
    *conda, last = content["dependencies"]
    return set(conda), set(last["pip"])


def test_conda_and_pip_install_the_direct_dependencies_at_their_constraints_and_nothing_else():
    listed = [r for extra in ("", "course", "lab", "test") for r in requirements()[extra]]
    wanted = [r for r in listed if r.name != "lnorm-utils"]  # whose extra `course` the lab needs
    pins = {r.name: constraints()[canonicalize_name(r.name)] for r in wanted}
    by_conda = {name: pins.pop(name) for name in ("torch", "numpy")}
    conda, pip = environment()
    assert conda == {"python=3.11", "pip"} | {
        f"{CONDA_NAMES.get(name, name)}={version}" for name, version in by_conda.items()
    }
    assert pip == {f"{name}=={version}" for name, version in pins.items()}


def test_binder_has_the_same_environment():
    binder = (PROJECT / ".binder" / "environment.yml").read_bytes()
    assert binder == (PROJECT / "environment.yml").read_bytes()
