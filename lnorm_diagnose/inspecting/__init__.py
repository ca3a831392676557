"""Inspect any model: list its norms, and find where its numbers first go wrong."""

from lnorm_diagnose.inspecting.first_wrong import FirstWrong, Wrong, first_wrong
from lnorm_diagnose.inspecting.norms import Norm, Norms, norms_of

__all__ = ["FirstWrong", "Norm", "Norms", "Wrong", "first_wrong", "norms_of"]
