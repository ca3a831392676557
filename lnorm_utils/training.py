"""Train a network by plain gradient descent, or by Adam."""

import torch
from torch import Tensor, nn

__all__ = ["Adam", "train"]


class Adam:
    """Update parameters with Adam: p − lr · m̂ / (√v̂ + 1e-8).

    m and v are running means of the gradient and of its square, with β₁ = 0.9 and β₂ = 0.999. Both
    start at 0, so at step t they're divided by 1 − βᵗ, which gives m̂ and v̂. (This class replaces
    `torch.optim`, which takes a long time to load.)

    Args:
        parameters: tensors of any shape, which `step` changes in place.

    Source: Kingma & Ba 2015, arXiv:1412.6980. The numbers are the same as with `torch.optim.Adam`.

    >>> p = torch.tensor([3.0])
    >>> Adam([p]).step([torch.tensor([50.0])], lr=0.1)
    >>> p
    tensor([2.9000])
    """

    def __init__(self, parameters: list[Tensor]) -> None:
        self.parameters = parameters
        self.m = [torch.zeros_like(p) for p in parameters]
        self.v = [torch.zeros_like(p) for p in parameters]
        self.steps = 0

    @torch.no_grad()
    def step(self, gradients: list[Tensor], lr: float) -> None:
        """Update all parameters once.

        Args:
            gradients: one for each parameter, of the parameter's shape.
            lr: the learning rate.

        Raises:
            ValueError: there isn't exactly one gradient for each parameter.
        """
        self.steps += 1
        for p, g, m, v in zip(self.parameters, gradients, self.m, self.v, strict=True):
            m.lerp_(g, 1 - 0.9)  # m = 0.9 m + 0.1 g
            v.lerp_(g.square(), 1 - 0.999)
            m_hat = m / (1 - 0.9**self.steps)
            v_hat = v / (1 - 0.999**self.steps)
            p.sub_(lr * m_hat / (v_hat.sqrt() + 1e-8))


def train(
    network: nn.Module,
    x: Tensor,
    labels: Tensor,
    lr: float = 0.05,
    steps: int = 200,
    adam: bool = False,
    decay: float = 0.0,
) -> Tensor:
    """Train a classifier in place on all points at once, by gradient descent or by Adam.

    At each step of gradient descent, each parameter p becomes p − lr · ∂ loss / ∂ p, where the loss
    is the mean cross entropy, in nats. A network that always gives two classes equal probabilities
    has a loss of ln 2 = 0.693.

    Args:
        network: a module that takes x and returns a number for each class, (N, classes).
        x: the N points, along the first axis.
        labels: (N,), the class of each point, int64.
        lr: the learning rate.
        steps: the number of updates.
        adam: whether to use `Adam` instead of gradient descent, with the same learning rate.
        decay: weight decay on all parameters. At each step, before the update, p is multiplied by
            1 − lr · decay, as in AdamW of Loshchilov & Hutter 2019, arXiv:1711.05101.

    Returns:
        (steps,), the loss before each step, in nats, without a gradient.

    Raises:
        RuntimeError: the loss doesn't depend on one of the parameters.

    >>> from lnorm_utils import LayerNorm
    >>> from lnorm_utils.data import ring_network, two_rings
    >>> losses = train(ring_network(LayerNorm), *two_rings(), steps=2)
    >>> bool(losses[1] < losses[0])
    True
    """
    parameters = [p for p in network.parameters() if p.requires_grad]
    by_adam = Adam([*parameters]) if adam else None
    losses = []
    for _ in range(steps):
        loss = nn.functional.cross_entropy(network(x), labels)
        gradients = torch.autograd.grad(loss, parameters)
        losses.append(loss.detach())
        with torch.no_grad():
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter.mul_(1 - lr * decay)
                if not by_adam:
                    parameter.sub_(lr * gradient)
        if by_adam:
            by_adam.step(list(gradients), lr)
    return torch.stack(losses)
