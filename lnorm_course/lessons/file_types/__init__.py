"""Magika, a network that recognizes the type of a file from its bytes, and files to try it on."""

from lnorm_course.lessons.file_types.formulas import FORMULAS, over_features
from lnorm_course.lessons.file_types.model import FileTypes, magika, with_norm
from lnorm_course.lessons.file_types.reading import as_codes, kinds, likeliest, sample_files

__all__ = [
    "FORMULAS",
    "FileTypes",
    "as_codes",
    "kinds",
    "likeliest",
    "magika",
    "over_features",
    "sample_files",
    "with_norm",
]
