"""Kernels to try: in a sandbox, and without one."""

import pytest

from lnorm_utils.grading.run import processes as starting
from lnorm_utils.grading.run.kernel import Kernel
from lnorm_utils.grading.run.processes import Processes


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="try all exercises, not only a few kinds")


@pytest.fixture(scope="module", params=["in a sandbox", "no sandbox"])
def processes(request):
    """Start processes in each of the ways that a machine may offer."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "no sandbox":
            patch.setattr(starting, "can_sandbox", lambda: False)
        processes = Processes(seconds=2)
    with pytest.MonkeyPatch.context() as patch, processes:
        patch.setenv("SECRET_TOKEN", "s3cret")
        yield processes


@pytest.fixture(scope="module")
def kernel(processes):
    """A kernel for cells that do no harm to the next one."""
    with Kernel(processes, timeout=20, total=3000) as kernel:
        yield kernel


@pytest.fixture(scope="module")
def own():
    """Processes for tests of what is the same wherever a kernel comes from."""
    with Processes(seconds=2) as processes:
        yield processes
