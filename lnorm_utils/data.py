"""Make the tensors and networks for the lessons; whatever is random has its own seed.

No function here changes the caller's random state. In shapes, N is the number of points, L is
the number of positions, and D is the number of features. Numbers have no unit, and tensors are
float32, unless a docstring says otherwise.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from lnorm_utils.modules import PositionalEncoding, ResidualStack

__all__ = [
    "dummy_points",
    "encoded_points",
    "nine_sentences",
    "normal",
    "projected_sequence",
    "projection",
    "residual_stack",
    "ring_network",
    "source_sequence",
    "two_rings",
    "two_words",
]


def normal(*shape: int, seed: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Draw a tensor of standard normal numbers, using the given seed.

    Args:
        shape: the sizes of the axes, each as a separate argument.
        seed: the seed of the numbers.
        dtype: the dtype of the numbers.

    >>> normal(2, 3, seed=0).shape
    torch.Size([2, 3])
    """
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def encoded_points() -> Tensor:
    """Return 3 points at 2 positions with 4 features, scaled and positionally encoded: (3, 2, 4).

    >>> encoded_points()[0, 0]
    tensor([-3.8049,  1.9899, -1.7325,  2.1359])
    """
    return PositionalEncoding(max_len=2, d_model=4)(normal(3, 2, 4, seed=34))


def dummy_points() -> Tensor:
    """Return four points at one position with 256 features, positionally encoded: (4, 1, 256).

    >>> dummy_points()[0, 0, :3]
    tensor([-14.4193,  10.0495,  -7.8116])
    """
    return PositionalEncoding(max_len=1, d_model=256)(normal(4, 1, 256, seed=23))


def source_sequence() -> Tensor:
    """Return a (1, 2, 2) tensor: one sequence of two corners of a square, with their coordinates.

    >>> source_sequence()[0, 0]
    tensor([1.0349, 0.9661])
    """
    return torch.tensor([[[1.0349, 0.9661], [0.8055, -0.9169]]])


def projected_sequence() -> Tensor:
    """Return `source_sequence` projected to six features and positionally encoded: (1, 2, 6).

    >>> projected_sequence()[0, 0, :3]
    tensor([-2.0934,  1.5040,  1.8742])
    """
    with torch.no_grad():
        return PositionalEncoding(max_len=2, d_model=6)(
            projection(2, 6, seed=11)(source_sequence())
        )


def two_words() -> Tensor:
    """Return one sentence of two words with three features each: (1, 2, 3).

    >>> two_words()[0, 1]
    tensor([0.5000, 0.1000, 0.1000])
    """
    return torch.tensor([[[0.2, 0.1, 0.3], [0.5, 0.1, 0.1]]])


def nine_sentences() -> Tensor:
    """Return the first words of three of nine sentences, as eight rounded features each: (3, 8).

    >>> nine_sentences()[0, :3]
    tensor([ 0.4467, -1.3007, -0.0920])
    """
    return torch.tensor(
        [
            [0.4467, -1.3007, -0.0920, -1.2152, 0.3026, -0.2864, -1.5821, -0.0724],
            [-0.7923, 0.0367, 0.8204, 0.7569, 0.8571, 0.5695, 0.5892, -1.6977],
            [1.1445, -0.0371, -0.3484, -1.1498, -0.2298, 0.0535, -0.1654, -0.3413],
        ]
    )


def projection(in_features: int, out_features: int, seed: int, bias: bool = True) -> nn.Linear:
    """Make an `nn.Linear` whose initial weights are drawn with a seed of their own.

    Args:
        in_features, out_features: the module maps (*, in_features) to (*, out_features).
        seed: the seed of the weights and of the bias.
        bias: whether the module has a bias.

    >>> projection(2, 6, seed=11).weight.shape
    torch.Size([6, 2])
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return nn.Linear(in_features, out_features, bias=bias)


INITS: dict[str, Callable[[nn.Linear], object]] = {
    "default": nn.Linear.reset_parameters,
    "xavier": lambda linear: None,  # `FeedForward` already starts this way
    "kaiming": lambda linear: nn.init.kaiming_normal_(linear.weight, nonlinearity="relu"),
}


def _check(init: str) -> None:
    if init not in INITS:
        known = ", ".join(map(repr, INITS))
        raise ValueError(f"init must be one of {known}, but {init!r} was given.")


def residual_stack(
    depth: int,
    placement: str,
    *,
    seed: int,
    d_model: int = 64,
    final_norm: bool | None = None,
    init: str = "xavier",
) -> ResidualStack:
    """Make a float64 `ResidualStack` whose initial weights are drawn with a seed of their own.

    Training amplifies small differences, but in float64, those due to rounding stay too small to
    see. A stack begins with the same blocks as any shorter stack that has the same seed. The stack
    maps (*, d_model) to the same shape.

    Args:
        depth, placement, d_model, final_norm: as in `ResidualStack`.
        seed: the seed of the weights.
        init: how the weights are initialized: "xavier"; "default" (PyTorch's), with smaller
            weights and with biases that aren't 0; or "kaiming" (by Kaiming He), with larger
            weights.

    Raises:
        ValueError: `init` isn't one of the three above.

    Source: Glorot & Bengio 2010, for "xavier"; He et al. 2015, arXiv:1502.01852, for "kaiming".

    >>> len(residual_stack(12, "pre", seed=0).blocks)
    12
    """
    _check(init)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        stack = ResidualStack(depth, d_model, placement, final_norm, dtype=torch.float64)
        torch.default_generator.manual_seed(seed)  # again: earlier draws depend on depth
        for module in stack.modules():
            if isinstance(module, nn.Linear):
                INITS[init](module)
        return stack


def two_rings(points: int = 128, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Return points near two rings of radius 1 and 2 around the origin, and each point's ring.

    Args:
        points: the number of points; every other point belongs to the outer ring.
        seed: the seed of the angles and of the noise, which has a standard deviation of 0.1 in
            each coordinate.

    Returns:
        The points, (points, 2), float64; and the ring of each, 0 for the inner and 1 for the outer
        ring, (points,), int64.

    >>> x, ring = two_rings()
    >>> x.shape, ring[:4]
    (torch.Size([128, 2]), tensor([0, 1, 0, 1]))
    """
    generator = torch.Generator().manual_seed(seed)
    angle = 2 * math.pi * torch.rand(points, generator=generator, dtype=torch.float64)
    jitter = 0.1 * torch.randn(points, 2, generator=generator, dtype=torch.float64)
    ring = torch.arange(points) % 2
    return (1 + ring)[:, None] * torch.stack([angle.cos(), angle.sin()], dim=1) + jitter, ring


def ring_network(
    norm: Callable[[int], nn.Module] | None = None,
    hidden_layers: int = 8,
    width: int = 64,
    seed: int = 0,
    init: str = "default",
    gain: float = 1.0,
    first_bias: bool = False,
) -> nn.Sequential:
    """Make a float64 network that can learn to tell the two rings apart: (N, 2) → (N, 2).

    Each hidden layer is a linear map, `norm` if there is one, and a ReLU. The last linear map has
    one output for each ring. All weights are drawn with the network's own seed, so they
    start out the same with and without a norm.

    Args:
        norm: a function that makes a norm for the given number of features, such as the class
            `LayerNorm`.
        hidden_layers, width: the number of hidden layers, and the number of features of each.
        seed: the seed of the weights.
        init: how the weights are initialized. "default": as in PyTorch's `nn.Linear`, biases
            included. "kaiming", named after Kaiming He: normal, with standard deviation √(2 / in)
            for `in` inputs. "xavier": uniform within ±√(6 / (in + out)). With these two, all biases
            are 0.
        gain: the factor that multiplies all of these weights and biases.
        first_bias: whether to give the first map a random bias if it would otherwise be 0. This is
            PyTorch's bias times the ratio of the weights' spread to the spread of PyTorch's
            weights. With "kaiming", the ratio is gain · √6.

    Raises:
        ValueError: `init` isn't one of the three above.

    Source: He et al. 2015, arXiv:1502.01852, equation 10, for "kaiming"; Glorot & Bengio 2010, for
    "xavier"; PyTorch's `nn.Linear.reset_parameters` for "default".

    >>> from lnorm_utils import LayerNorm
    >>> ring_network(LayerNorm)[:3]
    Sequential(
      (0): Linear(in_features=2, out_features=64, bias=True)
      (1): LayerNorm((64,), eps=1e-05, elementwise_affine=True, bias=True)
      (2): ReLU()
    )
    """
    _check(init)
    layers: list[nn.Module] = []
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        for layer in range(hidden_layers):
            layers.append(_linear(width if layer else 2, width, init, gain))
            layers += [norm(width)] if norm else []
            layers.append(nn.ReLU())
        network = nn.Sequential(*layers, _linear(width, 2, init, gain)).double()
    if init != "default" and first_bias:
        pytorch = ring_network(hidden_layers=1, width=width, seed=seed).state_dict()["0.bias"]
        factor = 6 if init == "kaiming" else 12 / (2 + width)
        network.state_dict()["0.bias"].copy_(gain * math.sqrt(factor) * pytorch)
    return network


def _linear(in_features: int, out_features: int, init: str, gain: float) -> nn.Linear:
    """Make a float64 `nn.Linear` and initialize it with float32 draws from the global random state.

    It doesn't rely on PyTorch's initialization, which differs in the last float32 digit from one
    instruction set to another. Training the ring network amplifies such a difference within 80
    steps.
    """
    with torch.random.fork_rng(devices=[]):  # PyTorch's own draws must not change the state
        linear = nn.Linear(in_features, out_features, dtype=torch.float64)
    with torch.no_grad():
        if init == "kaiming":
            drawn = torch.randn(linear.weight.shape).double()
            linear.weight.copy_(gain * math.sqrt(2 / in_features) * drawn)
        else:
            size = in_features if init == "default" else (in_features + out_features) / 6
            for parameter in linear.parameters():
                uniform = 2 * torch.rand(parameter.shape).double() - 1  # from −1 to 1
                parameter.copy_(gain * uniform / math.sqrt(size))
        if init != "default":
            linear.bias.zero_()
    return linear
