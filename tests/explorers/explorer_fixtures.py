"""Fixtures that make an explorer, and close it when the tests have seen it."""

import pytest


def moved_by_tests(function):
    """Make one explorer for a module: a test moves it before it looks; making one takes long."""

    @pytest.fixture(scope="module")
    def explorer():
        explorer = function()
        yield explorer
        explorer.close()

    return explorer


def made_by_tests(function):
    """Let a test make explorers with arguments of its own."""

    @pytest.fixture
    def explore():
        made = []

        def make(*arguments, **options):
            made.append(function(*arguments, **options))
            return made[-1]

        yield make
        for explorer in made:
            explorer.close()

    return explore
