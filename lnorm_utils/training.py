"""Train a network by plain gradient descent."""

import torch
from torch import Tensor, nn

__all__ = ["train"]


def train(
    network: nn.Module, x: Tensor, labels: Tensor, rate: float = 0.05, steps: int = 200
) -> Tensor:
    """Train a classifier in place by gradient descent on all points at once.

    At each step, each parameter p becomes p − rate · ∂ loss / ∂ p, where the loss is the mean cross
    entropy, in nats. Guessing between two classes has the loss ln 2 = 0.693.

    Args:
        network: takes x and gives a number for each class, (N, classes).
        x: the points, with N along the first axis.
        labels: (N,), the class of each point, int64.
        rate: the learning rate.
        steps: how often the parameters change.

    Returns:
        (steps,), the loss before each step, without a gradient.

    >>> from lnorm_utils import LayerNorm
    >>> from lnorm_utils.examples import ring_network, two_rings
    >>> losses = train(ring_network(LayerNorm), *two_rings(), steps=2)
    >>> bool(losses[1] < losses[0])
    True
    """
    parameters = [p for p in network.parameters() if p.requires_grad]
    losses = []
    for _ in range(steps):
        loss = nn.functional.cross_entropy(network(x), labels)
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter.sub_(rate * gradient)
        losses.append(loss.detach())
    return torch.stack(losses)
