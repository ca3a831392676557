"""Pictures with sliders: at least one explorer for each lesson. Their parts are in `engine`."""

from lnorm_course.explorers.amplitude import explore_amplitude
from lnorm_course.explorers.batch import explore_batch
from lnorm_course.explorers.broken import explore_broken
from lnorm_course.explorers.collapse import explore_collapse
from lnorm_course.explorers.file_types import explore_file_types
from lnorm_course.explorers.gamma_beta import explore_gamma_beta
from lnorm_course.explorers.gradient import explore_gradient
from lnorm_course.explorers.invariances import explore_invariances
from lnorm_course.explorers.offset import explore_offset
from lnorm_course.explorers.precision import explore_precision
from lnorm_course.explorers.projection import explore_projection
from lnorm_course.explorers.rings import explore_rings
from lnorm_course.explorers.row import explore_row
from lnorm_course.explorers.stream import explore_stream
from lnorm_course.explorers.transformer import explore_transformer

__all__ = [
    "explore_amplitude",
    "explore_batch",
    "explore_broken",
    "explore_collapse",
    "explore_file_types",
    "explore_gamma_beta",
    "explore_gradient",
    "explore_invariances",
    "explore_offset",
    "explore_precision",
    "explore_projection",
    "explore_rings",
    "explore_row",
    "explore_stream",
    "explore_transformer",
]
