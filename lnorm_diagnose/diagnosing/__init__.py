"""What tells any layer, or two arrays, from layer norm."""

from lnorm_diagnose.diagnosing.public import diagnose
from lnorm_diagnose.diagnosing.report import Diagnosis, Verdict

__all__ = ["Diagnosis", "Verdict", "diagnose"]
