"""Importing the package stays light, and a package that is missing is named."""

import importlib
import re
import subprocess
import sys

import nbformat
import pytest
from project import NOTEBOOK_PATHS


def added_modules(*codes, before=""):
    """Yield for each code which modules a new Python imports for it, the standard library aside."""
    program = f"""
import os, sys
{before}
for code in {codes!r}:
    old = {{*sys.modules}}
    exec(code)
    print(*{{*sys.modules}} - old, flush=True)
os._exit(0)  # for PyTorch takes long to end
"""
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    for line in run.stdout.splitlines():
        yield {m for m in line.split() if m.split(".")[0] not in sys.stdlib_module_names}


def test_importing_the_package_imports_nothing_else():
    (added,) = added_modules("import lnorm_utils")
    assert added == {"lnorm_utils", "lnorm_utils.version"}


def test_the_first_use_of_the_op_imports_torch_and_its_own_room_and_a_comparison_little_more():
    op = "from lnorm_utils import layer_norm"
    comparison = "from lnorm_utils import assert_close\nassert_close(torch.ones(3), torch.ones(3))"
    with_op, with_comparison = added_modules(op, comparison, before="import torch")
    assert with_op == {"lnorm_utils", "lnorm_utils.functional", "lnorm_utils.version"}
    # It takes long to import them, and only what differs needs them.
    assert not {"sympy", "torch.distributed.tensor"} & with_comparison
    assert "lnorm_utils.assertions" in with_comparison


def test_what_starts_jupyterlab_and_runs_in_its_server_does_not_import_torch():
    (found,) = added_modules("import lnorm_course.__main__, lnorm_course.lab.server_extension")
    assert not {"torch", "numpy", "matplotlib"} & found


@pytest.mark.parametrize("package", ["lnorm_utils", "lnorm_diagnose", "lnorm_course"])
def test_every_public_name_is_there_and_no_other(package):
    module = importlib.import_module(package)
    assert all(getattr(module, name) for name in module.__all__)
    with pytest.raises(AttributeError, match="no attribute 'layernorm'"):
        _ = module.layernorm


def test_a_package_that_is_missing_is_named_with_what_to_run():
    program = "import sys; sys.modules.update(torch=None, ipywidgets=None); import lnorm_course"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    last = run.stderr.splitlines()[-1]
    assert "isn't fully installed: torch and ipywidgets can't be found" in last
    assert '`%pip install -c ../constraints.txt -e "..[course]"`' in last


def test_a_lesson_says_so_because_it_imports_the_package_before_anything_that_may_be_missing():
    for path in NOTEBOOK_PATHS:
        cells = nbformat.read(path, as_version=4).cells
        first = next(cell.source for cell in cells if cell.cell_type == "code")
        imported = re.findall(r"^(?:import|from) (\w+)", first, re.MULTILINE)
        first = next(n for n in imported if n not in sys.stdlib_module_names)
        assert first == "lnorm_course", path


def test_a_package_that_an_interrupted_pip_left_empty_is_missing_too(tmp_path):
    name = "numpy"
    (tmp_path / name).mkdir()
    program = f"""
import sys
from importlib.machinery import PathFinder
sys.path_importer_cache.clear()
found = PathFinder.find_spec
def found_here(wanted, *more):
    return found(wanted, [{str(tmp_path)!r}]) if wanted == {name!r} else found(wanted, *more)
PathFinder.find_spec = found_here
import lnorm_course
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert f"fully installed: {name} can't be found" in run.stderr
