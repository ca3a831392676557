"""Arrows between the rooms of the package point down, and importing it stays light."""

import subprocess
import sys

import nbformat
import pytest
from architecture import ROOMS, violations
from project import NOTEBOOK_PATHS, PROJECT

PACKAGE = PROJECT / "lnorm_utils"

PLANTED = [
    ("functional.py", "from lnorm_utils.modules import LayerNorm", "functional may not import"),
    ("functional.py", "import numpy", "functional may not import numpy"),
    ("modules.py", "from lnorm_utils import examples", "modules may not import lnorm_utils"),
    ("modules.py", "import lnorm_utils", "modules may not import lnorm_utils itself"),
    ("examples.py", "from . import modules", "examples has a relative import"),
    ("plotting/points.py", "def f():\n    import torch", "plotting may not import torch"),
    ("plotting/points.py", "import IPython", "plotting imports IPython outside a function"),
    ("plotting/points.py", "from matplotlib import pyplot", "plotting imports matplotlib.pyplot"),
    ("plotting/points.py", "import matplotlib.pyplot as plt", "imports matplotlib.pyplot"),
    ("plotting/points.py", "from math import *", "plotting has a star import"),
    ("exercises.py", "from lnorm_utils.plotting import bars", "exercises may not import"),
    ("exercises/bank.py", "import lnorm_utils.explorers", "exercises may not import"),
    ("explorers/collapse.py", "from lnorm_utils.exercises import Exercise", "explorers may not"),
    ("grading/report/page.py", "from lnorm_utils.grading.run import kernel", "report may not"),
    ("grading/collect/a.py", "import lnorm_utils.grading.report.page", "collect may not import"),
    ("grading/helpers.py", "import math", "helpers is not a room of grading"),
    ("helpers.py", "", "helpers is not a room"),
    ("__init__.py", "import lnorm_utils.plotting", "__init__ may not import lnorm_utils.plotting"),
]
ALLOWED = [
    ("plotting/points.py", "def f():\n    from IPython.display import display"),
    ("plotting/points.py", "from lnorm_utils.plotting import picture"),
    ("exercises/bank.py", "from lnorm_utils.functional import mean"),
    ("explorers.py", "from lnorm_utils.plotting import bars\nimport ipywidgets"),
    ("grading/run/kernel.py", "from lnorm_utils.grading.run.channel import send"),
    ("grading/run/journal.py", "from lnorm_utils.grading.collect.unzip import unzip"),
    ("grading/__main__.py", "from lnorm_utils.grading.report.page import report_page"),
]


def violations_of(folder, name, code):
    """Return what is wrong with a package that has only one file."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(code, encoding="utf-8")
    return list(violations(folder))


def test_arrows_point_down():
    assert list(violations(PACKAGE)) == []


def test_each_room_stands_below_the_rooms_that_it_imports():
    above = set()
    for room, may_import in ROOMS.items():
        assert may_import & ROOMS.keys() <= above, room
        above.add(room)


def test_every_room_is_on_the_page_and_no_other():
    names = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert {*ROOMS} == names - {"__pycache__"}


@pytest.mark.parametrize(("name", "code", "sentence"), PLANTED)
def test_a_planted_violation_is_found(tmp_path, name, code, sentence):
    (found,) = violations_of(tmp_path, name, code)
    assert sentence in found


@pytest.mark.parametrize(("name", "code"), ALLOWED)
def test_an_arrow_that_points_down_is_allowed(tmp_path, name, code):
    assert violations_of(tmp_path, name, code) == []


def added_modules(code, before=""):
    """Return which modules a new Python imports for some code, the standard library aside."""
    program = (
        f"import sys\n{before}\nold = {{*sys.modules}}\n{code}\nprint(*{{*sys.modules}} - old)"
    )
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return {m for m in run.stdout.split() if m.split(".")[0] not in sys.stdlib_module_names}


def test_importing_the_package_imports_nothing_else():
    assert added_modules("import lnorm_utils") == {"lnorm_utils", "lnorm_utils.version"}


def test_the_first_use_of_the_op_imports_torch_and_its_own_room():
    added = added_modules("from lnorm_utils import layer_norm", before="import torch")
    assert added == {"lnorm_utils", "lnorm_utils.functional", "lnorm_utils.version"}


def test_what_starts_jupyterlab_and_runs_in_its_server_does_not_import_torch():
    found = added_modules("import lnorm_utils.__main__, lnorm_utils.lab.server_extension")
    assert not {"torch", "numpy", "matplotlib"} & found


def test_every_public_name_is_there_and_no_other():
    import lnorm_utils

    assert all(getattr(lnorm_utils, name) for name in lnorm_utils.__all__)
    with pytest.raises(AttributeError, match="no attribute 'layernorm'"):
        _ = lnorm_utils.layernorm


@pytest.mark.parametrize("room", ["lnorm_utils", "lnorm_utils.exercises", "lnorm_utils.plotting"])
def test_a_package_that_is_missing_is_named_with_what_to_run(room):
    program = f"import sys; sys.modules.update(torch=None, ipywidgets=None); import {room}"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    last = run.stderr.splitlines()[-1]
    assert last.startswith("ModuleNotFoundError: torch and ipywidgets missing")
    assert "`%pip install -c ../constraints.txt -e ..`" in last


@pytest.mark.parametrize("path", NOTEBOOK_PATHS, ids=lambda path: path.stem)
def test_the_first_cell_of_a_lesson_says_what_to_run_if_torch_is_missing(path):
    cells = nbformat.read(path, as_version=4).cells
    first = next(cell.source for cell in cells if cell.cell_type == "code")
    program = f"import sys; sys.modules['torch'] = None\n{first}"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "ModuleNotFoundError: torch missing" in run.stderr


@pytest.mark.parametrize("name", ["torch", "numpy", "matplotlib", "ipywidgets"])
def test_a_package_that_an_interrupted_pip_left_empty_is_missing_too(name, tmp_path):
    (tmp_path / name).mkdir()
    program = f"""
import sys
from importlib.machinery import PathFinder
sys.path_importer_cache.clear()
found = PathFinder.find_spec
def found_here(wanted, *more):
    return found(wanted, [{str(tmp_path)!r}]) if wanted == {name!r} else found(wanted, *more)
PathFinder.find_spec = found_here
import lnorm_utils
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert f"ModuleNotFoundError: {name} missing" in run.stderr
