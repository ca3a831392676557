"""Which commands the first `make lab` runs, on which system, and with which index at hand."""

import os
import re
import shutil
import subprocess

import pytest
from project import MAKEFILE, MAKEFILES, PROJECT
from submissions import put

TORCH = re.search(r"^torch==(.*)$", (PROJECT / "constraints.txt").read_text("utf-8"), re.MULTILINE)
# Stands for the Python of the environment: it writes down what it is asked to do, and reaches one
# index only.
STAND_IN = """#!/bin/sh
echo "$@" >> commands
case "$*" in
  "-m venv"*) mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
  *--index-url*) case "$*" in *"{index}"*) ;; *) exit 1 ;; esac ;;
esac
"""
INDEX, NOWHERE = "https://index.example.org", "https://nowhere.example.org"

pytestmark = pytest.mark.skipif(
    os.name != "posix" or not shutil.which("make"), reason="`make` is not used here"
)


@pytest.fixture
def set_up(tmp_path):
    """Set the course up with the stand-in; return what was said and which commands ran."""
    for path in (*MAKEFILES, PROJECT / "pyproject.toml", PROJECT / "constraints.txt"):
        shutil.copy(path, tmp_path)
    programs = tmp_path / "programs"
    put(programs / "python", STAND_IN.format(index=INDEX).encode()).chmod(0o755)
    put(programs / "uname", b"#!/bin/sh\necho $SYSTEM\n").chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"

    def run(system, *choices):
        done = subprocess.run(
            ["make", ".venv/.ready", f"PYTHON={programs / 'python'}", *choices],
            cwd=tmp_path,
            env={"PATH": path, "HOME": str(tmp_path), "SYSTEM": system},
            capture_output=True,
            text=True,
            timeout=60,
        )
        commands = (tmp_path / "commands").read_text().splitlines()
        installs = [line.split("pip install", 1)[1] for line in commands if "pip install" in line]
        return done, installs

    return run


PIP, EVERYTHING = " --disable-pip-version-check", " -c constraints.txt -e .[lab,test]"


@pytest.mark.parametrize(
    ("system", "torch", "index", "small_is_tried", "quiet"),
    [
        ("Linux", "cpu", INDEX, True, " -q"),
        ("Linux", "cpu", NOWHERE, True, ""),  # that index is out of reach, so the rest tells more
        ("Linux", "cuda", INDEX, False, ""),
        ("Darwin", "cpu", INDEX, False, ""),
    ],
)
def test_on_linux_the_small_torch_is_installed_first_and_alone_unless_cuda_is_chosen(
    set_up, system, torch, index, small_is_tried, quiet
):
    done, (*small, rest) = set_up(system, f"TORCH={torch}", f"CPU_INDEX={index}")
    assert (done.returncode, rest) == (0, f"{PIP}{quiet}{EVERYTHING}")
    assert len(small) == small_is_tried
    for command in small:
        assert command.endswith(f" --index-url {index} --no-deps torch=={TORCH[1]}")
        assert "--retries 1 --timeout" in command
    # Only where the large one comes in place of the small one, that's announced in a line.
    announced = [line for line in done.stdout.splitlines() if "Ctrl+C" in line and "GB" in line]
    assert len(announced) == (index == NOWHERE)
    assert index != NOWHERE or done.stderr == ""


def test_another_choice_is_refused_before_anything_is_done(set_up, tmp_path):
    (tmp_path / "commands").touch()
    done, installs = set_up("Linux", "TORCH=gpu")
    assert (done.returncode != 0, installs) == (True, [])
    assert "TORCH is 'gpu'. Choose cpu or cuda." in done.stdout


def test_help_names_every_target_of_the_course():
    done = subprocess.run(["make", "help"], cwd=PROJECT, capture_output=True, text=True, check=True)
    named = re.findall(r"^  make (\w+)", done.stdout, re.MULTILINE)
    assert named == re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE)
