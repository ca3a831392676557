"""Find how a layer, or a pair of arrays, differs from layer norm."""

from lnorm_diagnose.diagnosing.public import diagnose
from lnorm_diagnose.diagnosing.report import Diagnosis, Verdict

__all__ = ["Diagnosis", "Verdict", "diagnose"]
