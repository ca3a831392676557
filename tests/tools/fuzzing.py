"""Make the fuzz tests draw the same examples each time; FUZZ_TIMES=10 draws ten times as many."""

import importlib
import math
import os
import pkgutil

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir
from project import PROJECT

import lnorm_course
import lnorm_diagnose
import lnorm_staff
import lnorm_utils

# Hypothesis also draws constants from the modules that are loaded. Load all modules, so that a test
# draws the same examples when it runs alone and among the others.
for package in (lnorm_utils, lnorm_diagnose, lnorm_course, lnorm_staff):
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(found.name)

set_hypothesis_home_dir(PROJECT / ".pytest_cache" / "hypothesis")
SAME_EACH_TIME = settings(
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TIMES = int(os.environ.get("FUZZ_TIMES", "1"))
NOT_FINITE = [math.nan, math.inf, -math.inf]
seeds = st.integers(0, 10_000)


def examples(number):
    """Return the settings of a test that draws this many examples, times FUZZ_TIMES."""
    return settings(SAME_EACH_TIME, max_examples=number * TIMES)
