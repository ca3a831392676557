"""Draw pictures of tensors: numbers in, a Matplotlib Figure out, with a description in words.

Each function that draws takes tensors (on any device, with or without grad), or anything that
NumPy can convert, and returns a `Picture`, whose `words` say what the picture shows. If the input
doesn't consist of numbers, the function raises a TypeError; if the numbers or their shapes don't
fit, it raises a ValueError that says what the function needs.
"""

from lnorm_utils.plotting.cells import invariance_table, shared_cells, signed_cells
from lnorm_utils.plotting.curves import curves
from lnorm_utils.plotting.histograms import hist_encoding, hist_layer_normed
from lnorm_utils.plotting.picture import Picture, new_picture
from lnorm_utils.plotting.points import (
    number_lines,
    points_before_after,
    points_by_class,
    regions,
)

__all__ = [
    "Picture",
    "curves",
    "hist_encoding",
    "hist_layer_normed",
    "invariance_table",
    "new_picture",
    "number_lines",
    "points_before_after",
    "points_by_class",
    "regions",
    "shared_cells",
    "signed_cells",
]
