"""The unit tests of the layer catch each mistake that is planted in it."""

import sys

import pytest
from copies import copy_of_project, run

UNITS = [f"tests/core/test_{name}.py" for name in ("functional", "backward", "modules", "fuzz_op")]
PYTEST = [sys.executable, "-m", "pytest", "-n0", "-x", "-q", "-p", "no:cacheprovider", *UNITS]
AXES, RSTD = "_steps(x, axes, eps)", "(var + eps).rsqrt()"
VARIANCE = "    var = mean(centered.square(), dim)\n    rstd"
GAMMA, BETA = "y = x_hat if weight is None else x_hat * weight", "y if bias is None else y + bias"
ONCE = "once = at_least_float32(x) - m"
FLOATS = "x.float() if x.dtype in (torch.float16, torch.bfloat16) else x"
DX = "steps.rstd * (g_hat - g_mean - steps.x_hat * g_slope)"
# Of each file: what is right, and what is wrong in its place. They don't come from
# `lnorm_diagnose.slips`, so that a mistake there can't hide itself.
MISTAKES = {
    "functional": [
        (VARIANCE, "    var = centered.var(dim, keepdim=True)\n    rstd"),
        (VARIANCE, "    var = mean(x.square(), dim)\n    rstd"),
        (VARIANCE, "    var = mean(x.square(), dim) - m.square()\n    rstd"),
        (AXES, "_steps(x, 0, eps)"),
        (AXES, "_steps(x, -1, eps)"),
        (AXES, "_steps(x, tuple(range(x.ndim)), eps)"),
        ("rstd, centered * rstd", "rstd, at_least_float32(x) * rstd"),
        (RSTD, "(var + eps).reciprocal()"),
        (RSTD, "(var.sqrt() + eps).reciprocal()"),
        (RSTD, "var.rsqrt()"),
        (GAMMA, "y = x_hat"),
        (GAMMA, GAMMA.replace("* weight", "* (1 + weight)")),
        (BETA, "y if bias is None else y - bias"),
        (FLOATS, "x"),
        (ONCE, f"{ONCE}\n    return once"),
        (ONCE, "once = at_least_float32(x).sub_(m)"),
    ],
    "modules": [
        ("eps: float = 1e-5", "eps: float = 1e-6"),
        ("nn.Parameter(ones)", "nn.Parameter(0 * ones)"),
        ("_like(ones)) if bias else None", "_like(ones))"),
    ],
    "backward": [
        (DX, DX.replace(" - steps.x_hat * g_slope", "")),
        ("(upstream * steps.x_hat).sum", "(upstream * x).sum"),
        ("dbias = upstream.sum", "dbias = g_hat.sum"),
    ],
}
PLANTED = [(file, *mistake) for file, mistakes in MISTAKES.items() for mistake in mistakes]


@pytest.mark.parametrize(("file", "right", "wrong"), PLANTED)
def test_a_planted_mistake_is_caught(file, right, wrong, tmp_path, request):
    if (right, wrong) not in (mistakes[-1] for mistakes in MISTAKES.values()):
        request.getfixturevalue("with_all")
    course = copy_of_project(tmp_path / "course")
    text = (course / "lnorm_utils" / f"{file}.py").read_text("utf-8")
    assert text.count(right) == 1
    (course / "lnorm_utils" / f"{file}.py").write_text(text.replace(right, wrong), "utf-8")
    done = run(course, PYTEST)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    assert "1 failed" in done.stdout
