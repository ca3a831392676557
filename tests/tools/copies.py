"""A copy of the project, in which something is changed, and the tests that look at it."""

import os
import shutil
import subprocess
from pathlib import Path

from project import PROJECT

# What is made in the folder of the course and isn't part of it.
LEFT_OUT = [".git", ".venv", "__pycache__", ".ipynb_checkpoints", ".*_cache", "my_lessons", "build"]


def copy_of_project(folder):
    """Copy all but environments and caches to a folder that there is not yet; return it."""
    ignored = shutil.ignore_patterns(*LEFT_OUT)
    return Path(shutil.copytree(PROJECT, folder, ignore=ignored)).resolve()


def run(course, command, **environment):
    """Run a command where the copy is what is imported, in this process and in all kernels."""
    places = {"PYTHONPATH": str(course), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    outer = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    everything = outer | places | environment
    return subprocess.run(command, cwd=course, env=everything, capture_output=True, text=True)
