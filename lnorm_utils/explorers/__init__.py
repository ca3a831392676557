"""Sliders around a picture: one explorer or more for each lesson, and the means to make another."""

from lnorm_utils.explorers.amplitude import explore_amplitude
from lnorm_utils.explorers.batch import explore_batch
from lnorm_utils.explorers.broken import explore_broken
from lnorm_utils.explorers.collapse import explore_collapse
from lnorm_utils.explorers.engine.controls import (
    Button,
    Choice,
    Slider,
    Switch,
    powers_of_ten,
    steps,
)
from lnorm_utils.explorers.engine.dragging import Drag
from lnorm_utils.explorers.engine.explorer import Explorer
from lnorm_utils.explorers.file_types import explore_file_types
from lnorm_utils.explorers.gamma_beta import explore_gamma_beta
from lnorm_utils.explorers.gradient import explore_gradient
from lnorm_utils.explorers.invariances import explore_invariances
from lnorm_utils.explorers.offset import explore_offset
from lnorm_utils.explorers.precision import explore_precision
from lnorm_utils.explorers.projection import explore_projection
from lnorm_utils.explorers.residual import explore_residual
from lnorm_utils.explorers.shared_mean import explore_shared_mean
from lnorm_utils.explorers.stream import explore_stream
from lnorm_utils.explorers.transformer import explore_transformer

__all__ = [
    "Button",
    "Choice",
    "Drag",
    "Explorer",
    "Slider",
    "Switch",
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
    "explore_residual",
    "explore_shared_mean",
    "explore_stream",
    "explore_transformer",
    "powers_of_ten",
    "steps",
]
