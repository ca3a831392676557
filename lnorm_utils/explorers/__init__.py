"""Sliders around a picture: one explorer or more for each lesson, and the means to make another."""

from lnorm_utils.explorers.collapse import explore_collapse
from lnorm_utils.explorers.controls import Button, Choice, Slider, Switch, powers_of_ten, steps
from lnorm_utils.explorers.explorer import Explorer
from lnorm_utils.explorers.residual import explore_residual

__all__ = [
    "Button",
    "Choice",
    "Explorer",
    "Slider",
    "Switch",
    "explore_collapse",
    "explore_residual",
    "powers_of_ten",
    "steps",
]
