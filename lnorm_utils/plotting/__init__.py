"""Pictures of tensors: numbers in, a matplotlib Figure out, with the picture's words beside it."""

from lnorm_utils.plotting.bars import bars
from lnorm_utils.plotting.classes import points_by_class
from lnorm_utils.plotting.curves import curves
from lnorm_utils.plotting.histograms import hist_encoding, hist_layer_normed
from lnorm_utils.plotting.matrices import signed_cells
from lnorm_utils.plotting.picture import Picture, new_picture
from lnorm_utils.plotting.points import number_lines, points_before_after
from lnorm_utils.plotting.regions import regions
from lnorm_utils.plotting.tables import shared_cells
from lnorm_utils.plotting.verdicts import verdicts

__all__ = [
    "Picture",
    "bars",
    "curves",
    "hist_encoding",
    "hist_layer_normed",
    "new_picture",
    "number_lines",
    "points_before_after",
    "points_by_class",
    "regions",
    "shared_cells",
    "signed_cells",
    "verdicts",
]
