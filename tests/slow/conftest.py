"""What only --all tries, and kernels without walls."""

import pytest

from lnorm_staff.grading.run import child


def pytest_addoption(parser):
    parser.addoption(
        "--all", action="store_true", help="also what is only tried at the end of an edition"
    )


@pytest.fixture
def with_all(request):
    """Leave out what trains for long, unless --all asks for it."""
    if not request.config.getoption("--all"):
        pytest.skip("tried with --all")


@pytest.fixture
def unwalled(monkeypatch):
    """Start kernels as on a machine without bubblewrap."""
    monkeypatch.setattr(child, "walls", lambda: ())


@pytest.fixture(params=[True, False], ids=["walled", "unwalled"])
def walled_or_not(request):
    """Start kernels as this machine does, and then without walls."""
    if not request.param:
        request.getfixturevalue("unwalled")
