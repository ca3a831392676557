"""Run all notebooks and tests as they run on other processors, and print what differs there.

It makes PyTorch and its libraries round as on older processors, one setting after the other, and
tries one thread and two. `ARGS=--arm` runs the notebooks and the tests of the core on an emulated
64-bit Arm processor, which takes hours. To run less, name settings and paths:
`ARGS="avx2 notebooks/16_in_the_wild.ipynb"`. What pytest says is kept in build/elsewhere.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path
from time import perf_counter

from copies import copy_of_project
from project import NOTEBOOK_PATHS, PROJECT

OUT = PROJECT / "build" / "elsewhere"
ONE = {"OMP_NUM_THREADS": "1"}
AVX2 = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_CBWR": "AVX2"}
# PyTorch's own sums, the convolutions of oneDNN, and the products of MKL choose their instructions
# each for itself. MKL_CBWR also works on processors from AMD, where MKL_ENABLE_INSTRUCTIONS does
# nothing. It knows no SSE4.2 there; COMPATIBLE means SSE2.
OLD = {"aten": {"ATEN_CPU_CAPABILITY": "default"}}
OLD |= {"onednn": {"ONEDNN_MAX_CPU_ISA": "SSE41"}, "mkl": {"MKL_CBWR": "COMPATIBLE"}}
SETTINGS = {"avx2": AVX2, **OLD, "old": OLD["aten"] | OLD["onednn"] | OLD["mkl"]}
SETTINGS |= {"one-thread": ONE, "two-threads": {"OMP_NUM_THREADS": "2"}}
# Numbers whose last bits depend on the instructions, and on the number of threads.
PROBE = """
import torch
def normal(*shape):
    bits = torch.arange(torch.Size(shape).numel(), dtype=torch.int64) * 2654435761 % 2**32
    return (bits.float() / 2**31 - 1).view(shape)
x = normal(64, 257)
products = x @ normal(257, 63), normal(4, 10, 33) @ normal(4, 33, 9)
made = x.sum(-1), x.softmax(-1), *products, torch.conv1d(normal(2, 16, 200), normal(32, 16, 5))
made += (torch.nn.functional.linear(normal(5, 64), normal(32, 64), normal(32)),)
print([hash(tuple(numbers.flatten().tolist())) for numbers in made])
"""
PYTEST = ["-m", "pytest", "-q", "--color=no", "--tb=short", "-rfE", "-p", "no:cacheprovider"]
FAILED = re.compile(r"^(?:FAILED|ERROR) ([^:\n]+?)(?:::(.*?))?(?: - .*)?$", re.MULTILINE)

# PyTorch for Arm without CUDA's libraries: later ones need gigabytes of them.
ARM_TORCH = "torch==2.8.0"
OF_TORCH = ["filelock", "fsspec", "jinja2", "networkx", "sympy", "typing-extensions"]
ROOT = OUT / "arm"
ARM_PATHS = [
    *(f"notebooks/{path.name}" for path in NOTEBOOK_PATHS),
    "tests/core",
    "tests/inspecting",
]
DEBIAN, PYTHON = "bookworm", "3.11"
WHEELS = ["--only-binary=:all:", "--no-compile", "--python-version", PYTHON]
WHEELS += [f"--platform=manylinux_2_{libc}_aarch64" for libc in (17, 24, 26, 27, 28)]
WHEELS += ["--platform=manylinux2014_aarch64"]
EMULATED = "/proc/sys/fs/binfmt_misc/qemu-aarch64"
REMEDY = (
    "On Debian: apt install mmdebstrap qemu-user-static, mount -t binfmt_misc none"
    " /proc/sys/fs/binfmt_misc, and systemctl restart systemd-binfmt, all as root."
)
# A processor without what laptops don't have either (SVE).
INSIDE = ["HOME=/root", "PATH=/usr/bin:/bin", "LANG=C.UTF-8", "PYTHONPATH=/course"]
INSIDE += ["QEMU_CPU=neoverse-n1", "OMP_NUM_THREADS=1"]
MOUNTED = 'mount -t proc proc "$0/proc"; mount --rbind /sys "$0/sys"; mount --rbind /dev "$0/dev"; '
ENTER = ["unshare", "--mount", "sh", "-ec", MOUNTED + 'exec chroot "$0" env -i "$@"', str(ROOT)]


def judge(name, command, environment):
    """Run pytest, keep what it says, print a row of the table; return whether all is as here."""
    start = perf_counter()
    log = OUT / f"{name}.txt"
    with log.open("w") as said:
        to_log = {"stdout": said, "stderr": subprocess.STDOUT}
        done = subprocess.run(command, cwd=PROJECT, env=environment, **to_log)
    said = log.read_text("utf-8")
    found = defaultdict(list)
    for file, node in FAILED.findall(said):
        found[Path(file).stem].append(node or "not collected")
    differ = "; ".join(f"{file}: {', '.join(nodes)}" for file, nodes in found.items())
    if done.returncode and not found:
        differ = f"pytest stopped, see {log.relative_to(PROJECT)}"
    print(f"{name:24} {perf_counter() - start:7.0f}  {differ or 'nothing'}", flush=True)
    return done.returncode == 0


def environment_of(setting):
    """Return the environment with the variables of a setting, and without those of all others."""
    ours = {variable for variables in SETTINGS.values() for variable in variables}
    return {k: v for k, v in os.environ.items() if k not in ours} | ONE | setting


def rounds(setting):
    """Compute in a process of its own what depends on the setting."""
    command = [sys.executable, "-c", PROBE]
    environment = environment_of(setting)
    return subprocess.run(command, env=environment, check=True, capture_output=True).stdout


def elsewhere(names, paths):
    """Run everything under each setting, or say that the setting changes no number here."""
    command = [sys.executable, *PYTEST, "--nbval-cell-timeout=600", *paths]
    equal = True
    for name in names:
        setting = SETTINGS[name]
        if setting != ONE and rounds(setting) == rounds({}):
            print(f"{name:24} {'-':>7}  not run: this machine computes the same without it")
        else:
            equal &= judge(name, command, environment_of(setting))
    return equal


def arm(paths):
    """Run notebooks and tests one by one in a Debian for Arm, which is made if there is none."""
    missing = [tool for tool in ("mmdebstrap", "qemu-aarch64-static") if not shutil.which(tool)]
    missing += ["root's rights"] if os.geteuid() else []
    missing += [] if os.path.exists(EMULATED) else [EMULATED]
    if missing:
        sys.exit(f"Missing for this: {', '.join(missing)}. {REMEDY}")
    if not (ROOT / "ready").exists():
        make_root()
    shutil.rmtree(ROOT / "course", ignore_errors=True)
    copy_of_project(ROOT / "course")
    command = [*ENTER, *INSIDE, "sh", "-c", 'cd /course && exec python3 "$@"', "sh", *PYTEST]
    command += ["-n0", "--nbval-cell-timeout=3600", "--nbval-kernel-startup-timeout=600"]
    equal = [judge(Path(path).stem, [*command, path], None) for path in paths or ARM_PATHS]
    return all(equal)


def make_root():
    """Make a small Debian for Arm, and unpack in it the packages that the tests need."""
    shutil.rmtree(ROOT, ignore_errors=True)
    debian = ["mmdebstrap", "--variant=minbase", "--architectures=arm64", "--include=python3"]
    subprocess.run([*debian, DEBIAN, ROOT], check=True)
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["test"], *OF_TORCH]
    wanted = [package for package in wanted if not package.startswith("torch")]
    pins = ["-c", PROJECT / "constraints.txt"]
    target = ROOT / "usr/local/lib" / f"python{PYTHON}" / "dist-packages"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--target", target, *WHEELS]
    subprocess.run([*pip, "--no-deps", ARM_TORCH], check=True)
    subprocess.run([*pip, *pins, *wanted], check=True)
    (ROOT / "ready").touch()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = f"settings ({', '.join(SETTINGS)}), and paths of notebooks and tests; without any, all"
    parser.add_argument("what", nargs="*", help=what)
    parser.add_argument("--arm", action="store_true", help="on an emulated 64-bit Arm processor")
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    print(f"{'setting':24} {'seconds':>7}  what differs or fails", flush=True)
    names = [name for name in SETTINGS if name in options.what] or [*SETTINGS]
    paths = [path for path in options.what if path not in SETTINGS]
    return int(not (arm(paths) if options.arm else elsewhere(names, paths)))


if __name__ == "__main__":
    sys.exit(main())
