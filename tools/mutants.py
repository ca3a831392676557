"""Plant mistakes in a layer norm, one at a time, and see that tests catch each.

In a copy of the project, the unit tests alone and the notebooks alone have to turn red. Of the unit
tests, those of the layer have to do it, without those of pictures, exercises and sliders. It also
says which mistakes the check that most people write would miss: one comparison on `randn(4, 8)`.
"""

import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from copies import copy_of_project, run
from project import PROJECT

QUIET = ["-q", "--color=no", "--tb=no", "-p", "no:cacheprovider"]
PYTEST = [sys.executable, "-m", "pytest", "-n0", "-x", "-rfE", *QUIET]
# What sees most comes first, so that most mistakes are found soon.
OF_THE_LAYER = ("functional", "backward", "modules", "fuzz_op", "examples")
UNITS = [f"tests/core/test_{name}.py" for name in OF_THE_LAYER]
NOTEBOOKS = [f"notebooks/{name}.ipynb" for name in ("03_standardize", "04_gamma_beta")]
NOTEBOOKS += [f"notebooks/{name}.ipynb" for name in ("08_build_the_layer", "12_backward_pass")]
NOTEBOOKS += ["notebooks"]
NAIVE_CHECK = """
import torch
from lnorm_utils import LayerNorm
torch.manual_seed(0)
x = torch.randn(4, 8)
torch.testing.assert_close(LayerNorm(8)(x), torch.nn.LayerNorm(8)(x), atol=1e-4, rtol=0)
"""
NAIVE = "randn(4, 8)"
JUDGES = {
    "unit tests": [*PYTEST, *UNITS],
    "notebooks": [*PYTEST, *NOTEBOOKS],
    NAIVE: [sys.executable, "-c", NAIVE_CHECK],
}
IMPORTED = "import lnorm_utils; print(lnorm_utils.__file__)"

OP, MODULES, BACKWARD = FILES = "functional.py", "modules.py", "backward.py"
AXES = "_standardized(x, axes, eps)"
VARIANCE = "    var = mean(centered.square(), dim)\n    rstd"
RSTD = "(var + eps).rsqrt()"
GAMMA = "y = x_hat if weight is None else x_hat * weight"
BETA = "y = y if bias is None else y + bias"
BETA_FIRST = "y = x_hat if bias is None else x_hat + bias"
CENTERED = "once = in_statistics_dtype(x) - m\n    return once - mean(once, dim)"
DX = "steps.rstd * (g_hat - g_mean - steps.x_hat * g_slope)"
DETACHED = "once = in_statistics_dtype(x) - m.detach()\n    return once - mean(once, dim).detach()"
# Name: (file, what is right, what is wrong). They are written apart from `lnorm_course.slips` on
# purpose: a tool that judges the tests must not use the code that the tests hold.
MISTAKES = {
    "unbiased variance": (OP, VARIANCE, "    var = centered.var(dim, keepdim=True)\n    rstd"),
    "mean over the first axis": (OP, AXES, "_standardized(x, 0, eps)"),
    "mean over all axes": (OP, AXES, "_standardized(x, tuple(range(x.ndim)), eps)"),
    "no centering": (OP, "rstd, centered * rstd", "rstd, in_statistics_dtype(x) * rstd"),
    "variance about zero": (OP, VARIANCE, "    var = mean(x.square(), dim)\n    rstd"),
    "divided by the variance": (OP, RSTD, "(var + eps).reciprocal()"),
    "eps outside the root": (OP, RSTD, "(var.sqrt() + eps).reciprocal()"),
    "eps dropped": (OP, RSTD, "var.rsqrt()"),
    "eps = 1e-6 as the default": (MODULES, "eps: float = 1e-5", "eps: float = 1e-6"),
    "last axis only": (OP, AXES, "_standardized(x, -1, eps)"),
    "no gamma": (OP, GAMMA, "y = x_hat"),
    "beta subtracted": (OP, BETA, BETA.replace("y + bias", "y - bias")),
    "gamma applied after beta": (
        OP,
        f"{GAMMA}\n    {BETA}",
        f"{BETA_FIRST}\n    y = y if weight is None else y * weight",
    ),
    "variance in one pass": (
        OP,
        VARIANCE,
        "    var = mean(x.square(), dim) - m.square()\n    rstd",
    ),
    "detached mean": (OP, CENTERED, DETACHED),
    "statistics in float16": (
        OP,
        "return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x",
        "return x",
    ),
    "in place on x": (OP, CENTERED, CENTERED.replace(" - m\n", ".sub_(m)\n")),
    "constant rows not exactly 0": (
        OP,
        CENTERED,
        CENTERED.split(" - m\n")[0] + " - m\n    return once",
    ),
    "gamma as 1 + weight": (OP, GAMMA, GAMMA.replace("x_hat * weight", "x_hat * (1 + weight)")),
    "gamma starts at 0": (MODULES, "nn.Parameter(ones)", "nn.Parameter(0 * ones)"),
    "bias=False is ignored": (MODULES, "_like(ones)) if bias else None", "_like(ones))"),
    "gradient without the slope": (BACKWARD, DX, DX.replace(" - steps.x_hat * g_slope", "")),
    "gradient of gamma from x": (BACKWARD, "(upstream * steps.x_hat).sum", "(upstream * x).sum"),
    "gradient of beta with gamma": (BACKWARD, "dbias = upstream.sum", "dbias = g_hat.sum"),
}


def plant(course, name):
    """Put a mistake in the copy, in place of the only passage that is right."""
    file, right, wrong = MISTAKES[name]
    text = (PROJECT / "lnorm_utils" / file).read_text("utf-8")
    if text.count(right) != 1:
        sys.exit(f"{name}: {file} holds this {text.count(right)} times, not once:\n{right}")
    (course / "lnorm_utils" / file).write_text(text.replace(right, wrong), encoding="utf-8")


def mend(course):
    for file in FILES:
        shutil.copy(PROJECT / "lnorm_utils" / file, course / "lnorm_utils")


def first_failure(course, judge):
    """Let a judge look at the copy; return what failed first, or None if nothing did."""
    done = run(course, JUDGES[judge])
    if not done.returncode:
        return None
    if judge == NAIVE and "AssertionError: Tensor-likes are not close" in done.stderr:
        return "other numbers"
    failed = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", done.stdout, re.MULTILINE)
    if done.returncode != 1 or not failed:
        sys.exit(f"No test failed, but the run did:\n{done.stdout}{done.stderr}")
    return failed[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=MISTAKES, metavar="NAME", help="mistakes")
    parser.add_argument("--units", action="store_true", help="only the unit tests")
    parser.add_argument("--notebooks", action="store_true", help="only the notebooks")
    options = parser.parse_args()
    asked = {"unit tests": options.units, "notebooks": options.notebooks}
    judges = [judge for judge, is_asked in asked.items() if is_asked] or [*JUDGES]
    survivors = {judge: [] for judge in judges}
    line = "{:26} {:11} {:>4}  {}"
    print(line.format("mistake", "judge", "s", "what fails first"), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        course = copy_of_project(Path(folder) / "course")
        imported = Path(run(course, [sys.executable, "-c", IMPORTED]).stdout.strip())
        if not imported.is_relative_to(course):
            sys.exit(f"Not the copy is imported, but {imported}.")
        for mistake in MISTAKES:  # so that one that fits nowhere any more is told at once
            plant(course, mistake)
        for mistake in (None, *(options.only or MISTAKES)):
            mend(course)
            if mistake:
                plant(course, mistake)
            for judge in judges:
                start = perf_counter()
                failure = first_failure(course, judge)
                seconds = perf_counter() - start
                found = failure or "nothing fails"
                print(
                    line.format(mistake or "no mistake", judge, f"{seconds:.0f}", found), flush=True
                )
                if failure and not mistake:
                    sys.exit("The tests have to pass before a mistake is planted.")
                if mistake and not failure:
                    survivors[judge].append(mistake)
    for judge, names in survivors.items():
        print(f"Missed by {judge}: {', '.join(names) or 'none'}.")
    return int(any(names for judge, names in survivors.items() if judge != NAIVE))


if __name__ == "__main__":
    sys.exit(main())
