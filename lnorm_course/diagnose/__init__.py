"""Find out why a layer isn't layer norm: `from lnorm_course import diagnose`."""

import inspect
import sys
from types import ModuleType

from lnorm_course.diagnose.public import diagnose
from lnorm_course.diagnose.report import Diagnosis

__all__ = ["Diagnosis", "diagnose"]


class _CallableRoom(ModuleType):
    """This room and the function in it have the same name, so calling the room calls it."""

    __call__ = staticmethod(diagnose)


__signature__ = inspect.signature(diagnose)
sys.modules[__name__].__class__ = _CallableRoom
