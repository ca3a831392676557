"""Which commands the first `make lab` runs, on which system, and with which index at hand."""

import functools
import http.server
import os
import re
import shutil
import subprocess
import sys
import threading
import zipfile

import pytest
from project import MAKEFILE, MAKEFILES, PROJECT

TORCH = re.search(r"^torch==(.*)$", (PROJECT / "constraints.txt").read_text("utf-8"), re.MULTILINE)
# Stands for the Python of the environment: it writes down what it is asked to do, and only asks
# the real pip whether the index has what is wanted.
STAND_IN = """#!/bin/sh
echo "$@" >> commands
case "$*" in
  "-m venv"*) mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
  *--index-url*) shift 2; exec "{python}" -m pip "$@" --isolated --dry-run --ignore-installed -q ;;
esac
"""

pytestmark = pytest.mark.skipif(
    os.name != "posix" or not shutil.which("make"), reason="`make` is not used here"
)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """An index on this machine that has PyTorch, or rather an empty package of that name."""
    root = tmp_path_factory.mktemp("index")
    name = f"torch-{TORCH[1]}"
    (root / "torch").mkdir()
    with zipfile.ZipFile(root / "torch" / f"{name}+cpu-py3-none-any.whl", "w") as wheel:
        metadata = f"Metadata-Version: 2.1\nName: torch\nVersion: {TORCH[1]}+cpu\n"
        wheel.writestr(f"{name}+cpu.dist-info/METADATA", metadata)
        wheel.writestr(f"{name}+cpu.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{name}+cpu.dist-info/RECORD", "")
    handler = functools.partial(Quiet, directory=root)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def set_up(tmp_path):
    """Set the course up with the stand-in; return what was said and which commands ran."""
    for path in (*MAKEFILES, PROJECT / "pyproject.toml", PROJECT / "constraints.txt"):
        shutil.copy(path, tmp_path)
    programs = tmp_path / "programs"
    programs.mkdir()

    def run(system, *choices):
        for name, text in {
            "python": STAND_IN.format(python=sys.executable),
            "uname": f"#!/bin/sh\necho {system}\n",
        }.items():
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        done = subprocess.run(
            ["make", ".venv/.ready", f"PYTHON={programs / 'python'}", *choices],
            cwd=tmp_path,
            env={"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=60,
        )
        commands = (tmp_path / "commands").read_text().splitlines()
        installs = [line.split("pip install", 1)[1] for line in commands if "pip install" in line]
        return done, installs

    return run


PIP, EVERYTHING = " --disable-pip-version-check", " -c constraints.txt -e .[lab,test]"
NOWHERE = "http://127.0.0.1:9"  # nothing listens there


def test_on_linux_the_small_torch_is_installed_first_and_alone(set_up, index):
    done, (torch, rest) = set_up("Linux", f"CPU_INDEX={index}")
    assert (done.returncode, rest) == (0, f"{PIP} -q{EVERYTHING}")
    assert torch.endswith(f" --index-url {index} --no-deps torch=={TORCH[1]}")
    assert "--retries 1 --timeout" in torch
    assert "Ctrl+C" not in done.stdout


def test_without_that_index_the_large_one_is_announced_in_one_line(set_up):
    done, (torch, rest) = set_up("Linux", f"CPU_INDEX={NOWHERE}")
    assert (done.returncode, rest) == (0, PIP + EVERYTHING)
    assert NOWHERE in torch
    (line,) = [line for line in done.stdout.splitlines() if "Ctrl+C" in line]
    assert "GB" in line
    assert done.stderr == ""


@pytest.mark.parametrize("choice", ["CPU_INDEX={}", "CPU_INDEX=" + NOWHERE])
def test_on_linux_whoever_wants_cuda_gets_the_ordinary_torch(set_up, index, choice):
    done, installs = set_up("Linux", "TORCH=cuda", choice.format(index))
    assert (done.returncode, installs) == (0, [PIP + EVERYTHING])


@pytest.mark.parametrize("choice", ["TORCH=cpu", "TORCH=cuda"])
def test_macos_is_left_alone(set_up, index, choice):
    done, installs = set_up("Darwin", f"CPU_INDEX={index}", choice)
    assert (done.returncode, installs) == (0, [PIP + EVERYTHING])


def test_another_choice_is_refused_before_anything_is_done(set_up, tmp_path):
    (tmp_path / "commands").touch()
    done, installs = set_up("Linux", "TORCH=gpu")
    assert (done.returncode != 0, installs) == (True, [])
    assert "TORCH is 'gpu'. Choose cpu or cuda." in done.stdout


def test_help_names_every_target_of_the_course():
    done = subprocess.run(["make", "help"], cwd=PROJECT, capture_output=True, text=True, check=True)
    named = re.findall(r"^  make (\w+)", done.stdout, re.MULTILINE)
    assert named == re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE)
