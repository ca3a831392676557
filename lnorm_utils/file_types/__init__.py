"""Magika, a network that tells what kind of file some bytes are, and files to try it on."""

from lnorm_utils.file_types.model import FileTypes, magika
from lnorm_utils.file_types.reading import as_codes, kinds, likeliest, sample_files

__all__ = ["FileTypes", "as_codes", "kinds", "likeliest", "magika", "sample_files"]
