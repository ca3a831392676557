"""Make explorers for tests, close them afterwards, and take them through all their states."""

import pytest
from control_ends import ends


def moved_by_tests(function):
    """Make one explorer for a module: a test moves it before it looks; making one takes long."""

    @pytest.fixture(scope="module")
    def explorer():
        explorer = function()
        yield explorer
        explorer.close()

    return explorer


def every_state(explorer):
    """Choose every preset, then move every control to both ends; yield the values each time."""
    for name in explorer.presets:
        explorer.preset = name
        yield explorer.values
    for control, values in ends(explorer).items():
        before = getattr(explorer, control)
        for value in values:
            setattr(explorer, control, value)
            yield explorer.values
        setattr(explorer, control, before)
