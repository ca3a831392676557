"""What only --all tries, and kernels to try: in a sandbox if there can be one, and without."""

import pytest

from lnorm_staff.grading.run import processes as starting
from lnorm_staff.grading.run.kernel import Kernel
from lnorm_staff.grading.run.processes import Processes


def pytest_addoption(parser):
    parser.addoption(
        "--all", action="store_true", help="also what is only tried at the end of an edition"
    )


@pytest.fixture
def with_all(request):
    """Leave out what trains for long, unless --all asks for it."""
    if not request.config.getoption("--all"):
        pytest.skip("tried with --all")


@pytest.fixture(scope="module")
def processes():
    """Start processes as this machine can, with a secret in the grader's environment."""
    with pytest.MonkeyPatch.context() as patch, Processes(seconds=2) as processes:
        patch.setenv("SECRET_TOKEN", "s3cret")
        yield processes


@pytest.fixture(scope="module")
def kernel(processes):
    """A kernel for cells that do no harm to the next one."""
    with Kernel(processes, timeout=20, total=3000) as kernel:
        yield kernel


@pytest.fixture
def unwalled(monkeypatch):
    """Start processes as on a machine without bubblewrap."""
    monkeypatch.setattr(starting, "can_sandbox", lambda: False)
    monkeypatch.setenv("SECRET_TOKEN", "s3cret")
    with Processes(seconds=2) as processes:
        yield processes
