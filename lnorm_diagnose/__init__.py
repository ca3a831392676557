"""Find out why a norm returns unexpected numbers: `diagnose`, `norms_of`, and `first_wrong`.

The package needs only PyTorch and NumPy, and imports nothing from `lnorm_course`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from lnorm_utils.version import __version__ as __version__

if TYPE_CHECKING:
    from lnorm_diagnose.diagnosing import Diagnosis, Verdict, diagnose
    from lnorm_diagnose.inspecting import first_wrong, norms_of

__all__ = ["Diagnosis", "Verdict", "diagnose", "first_wrong", "norms_of"]
HOMES = ("diagnosing", "inspecting")


def __getattr__(name: str) -> object:
    """Import a name's module only on first use, because exercises need only the error models."""
    if name in __all__:
        homes = (import_module(f"lnorm_diagnose.{home}") for home in HOMES)
        return next(getattr(home, name) for home in homes if hasattr(home, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
