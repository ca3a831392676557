"""The likely slips of a whole layer, with those of the lessons."""

from collections.abc import Callable, Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

from lnorm_course.diagnose.known import SLIPS
from lnorm_course.diagnose.slip import Slip

__all__ = ["AS_RMS_NORM", "OWN", "RMS_NORM"]

# What makes the layer norm with switches an RMSNorm.
AS_RMS_NORM: Mapping[str, Callable] = {
    "numerator": lambda x, mean: x,
    "inner_mean": lambda x, mean: x,
}


def _instead(done: str, function: Callable[[Tensor], Tensor]) -> Slip:
    """Return the slip of doing something else in the place of a norm."""
    return Slip(
        done,
        "subtracts the mean and divides by the standard deviation",
        {"quotient": lambda x, mean, above, below, eps: function(x)},
    )


# Frameworks and models: Keras, flax, JAX and Llama, BERT, and PyTorch's RMSNorm in float32.
EPSILONS = ("1e-12", "1e-3", "1e-4", "1e-7", "1e-9", "1e-10", "0.01")
RMS_NORM = Slip(
    "the mean isn't subtracted anywhere, so this is RMSNorm",
    "subtracts the mean, in x and in the variance",
    AS_RMS_NORM,
)
OWN = (
    RMS_NORM,
    Slip(
        "the mean isn't subtracted anywhere, and 1 + γ multiplies, as in the RMSNorm of Gemma 3",
        "subtracts the mean, in x and in the variance, and multiplies by γ as it is",
        {**AS_RMS_NORM, "gamma": lambda weight, bias: 1 + weight},
    ),
    *SLIPS,
    *(
        Slip(
            f"your ε is {value}",
            "uses the given ε",
            {"eps": lambda given, value=value: float(value)},
        )
        for value in EPSILONS
    ),
    Slip(
        "your ε is the smallest step of float32, 1.19e-7",
        "uses the given ε",
        {"eps": lambda given: torch.finfo(torch.float32).eps},
    ),
    Slip(
        "your ε is the smallest step of float64, 2.2e-16",
        "uses the given ε",
        {"eps": lambda given: torch.finfo(torch.float64).eps},
    ),
    Slip(
        "ε is left out, and only a variance of 0 is guarded",
        "adds ε to the variance, inside the root",
        {"denominator": lambda variance, eps, root: torch.where(variance == 0, 1, root(variance))},
    ),
    _instead("nothing is normalized: the numbers go through", lambda x: x),
    _instead(
        "nothing is normalized: this is tanh(x / 2), as in a new DyT", lambda x: (x / 2).tanh()
    ),
    _instead("nothing is normalized: this is tanh(x)", torch.tanh),
    _instead("this is a softmax, whose numbers add up to 1", lambda x: x.softmax(-1)),
    _instead(
        "each row is stretched to run from 0 to 1",
        lambda x: (x - x.amin(-1, True)) / (x.amax(-1, True) - x.amin(-1, True)),
    ),
    _instead("each row is divided by its largest number", lambda x: x / x.abs().amax(-1, True)),
    _instead("each row is divided by its length", lambda x: F.normalize(x, dim=-1)),
    _instead("each row is divided by its sum", lambda x: x / x.sum(-1, True)),
)
