"""Copy the project, so that a test can change something in the copy and run commands there."""

import os
import shutil
import subprocess
from pathlib import Path

from project import PROJECT

# What is created in the project's folder, but isn't part of the project.
LEFT_OUT = [".git", ".venv", "__pycache__", ".ipynb_checkpoints", ".*_cache", "my_lessons", "build"]


def copy_of_project(folder):
    """Copy everything but environments and caches to a new folder, and return that folder."""
    ignored = shutil.ignore_patterns(*LEFT_OUT)
    return Path(shutil.copytree(PROJECT, folder, ignore=ignored)).resolve()


def run(course, command, **environment):
    """Run a command that imports the copy, in its own process and in all kernels."""
    places = {"PYTHONPATH": str(course), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    outer = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    everything = outer | places | environment
    return subprocess.run(command, cwd=course, env=everything, capture_output=True, text=True)
