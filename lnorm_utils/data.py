"""The tensors and networks of the course, from their seeds.

No function here touches the caller's random state. N points, L positions, D features. Numbers
have no unit, and those of tensors are float32, unless it's said.
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
    """Draw standard normal numbers of the given shape from their own seed.

    Args:
        shape: the sizes of the axes, each an argument of its own.
        seed: of the numbers.
        dtype: of the numbers.

    >>> normal(2, 3, seed=0).shape
    torch.Size([2, 3])
    """
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def encoded_points() -> Tensor:
    """Three points at two positions with four features, scaled and positionally encoded: (3, 2, 4).

    >>> encoded_points()[0, 0]
    tensor([-3.8049,  1.9899, -1.7325,  2.1359])
    """
    return PositionalEncoding(max_len=2, d_model=4)(normal(3, 2, 4, seed=34))


def dummy_points() -> Tensor:
    """Four points at one position with 256 features, positionally encoded: (4, 1, 256).

    >>> dummy_points()[0, 0, :3]
    tensor([-14.4193,  10.0495,  -7.8116])
    """
    return PositionalEncoding(max_len=1, d_model=256)(normal(4, 1, 256, seed=23))


def source_sequence() -> Tensor:
    """One sequence of two corners of a square, two coordinates each: (1, 2, 2).

    >>> source_sequence()[0, 0]
    tensor([1.0349, 0.9661])
    """
    return torch.tensor([[[1.0349, 0.9661], [0.8055, -0.9169]]])


def projected_sequence() -> Tensor:
    """The two corners, projected to six features and positionally encoded: (1, 2, 6).

    >>> projected_sequence()[0, 0, :3]
    tensor([-2.0934,  1.5040,  1.8742])
    """
    with torch.no_grad():
        return PositionalEncoding(max_len=2, d_model=6)(
            projection(2, 6, seed=11)(source_sequence())
        )


def two_words() -> Tensor:
    """One sentence of two words with three features each: (1, 2, 3).

    >>> two_words()[0, 1]
    tensor([0.5000, 0.1000, 0.1000])
    """
    return torch.tensor([[[0.2, 0.1, 0.3], [0.5, 0.1, 0.1]]])


def nine_sentences() -> Tensor:
    """Three rows, the first words of three of nine sentences, eight features each: (3, 8), rounded.

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
    """Make an `nn.Linear` whose initial weights come from their own seed.

    Args:
        in_features, out_features: it maps (*, in_features) to (*, out_features).
        seed: of the weights, and of the bias.
        bias: whether it has one.

    >>> projection(2, 6, seed=11).weight.shape
    torch.Size([6, 2])
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return nn.Linear(in_features, out_features, bias=bias)


INITS: dict[str, Callable[[nn.Linear], object]] = {
    "default": nn.Linear.reset_parameters,
    "xavier": lambda linear: None,  # as `FeedForward` does
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
    """Make a `ResidualStack` in float64 whose initial weights come from their own seed.

    Training makes small differences large, and in float64 those of rounding stay too small to see.
    A stack begins with the blocks of every shorter one from the same seed. It maps (*, d_model) to
    the same shape.

    Args:
        depth, placement, d_model, final_norm: as in `ResidualStack`.
        seed: of the weights.
        init: "xavier"; "default", PyTorch's, whose weights are smaller and whose biases aren't 0;
            or "kaiming", by Kaiming He, whose weights are larger.

    Raises:
        ValueError: `init` is not one of these.

    Source: Glorot & Bengio 2010, for "xavier"; He et al. 2015, arXiv:1502.01852, for "kaiming".

    >>> len(residual_stack(12, "pre", seed=0).blocks)
    12
    """
    _check(init)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        stack = ResidualStack(depth, d_model, placement, final_norm, dtype=torch.float64)
        torch.default_generator.manual_seed(seed)  # again, as what was drawn depends on the depth
        for module in stack.modules():
            if isinstance(module, nn.Linear):
                INITS[init](module)
        return stack


def two_rings(points: int = 128, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Points near two rings around the origin, of radius 1 and 2, and which ring each belongs to.

    Args:
        points: how many there are; every other one lies on the outer ring.
        seed: of their angles, and of the noise on each coordinate, of standard deviation 0.1.

    Returns:
        The points (points, 2), float64, and their ring, 0 for the inner one and 1 for the outer
        one: (points,), int64.

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
    """Make a network, in float64, that is to tell the two rings apart: (N, 2) → (N, 2).

    Each hidden layer is a linear map, `norm` if there is one, and a ReLU. The last linear map gives
    a number for each ring. All weights come from their own seed, and with and without a norm they
    start alike.

    Args:
        norm: makes a module from the number of features, such as `LayerNorm`.
        hidden_layers, width: how many hidden layers there are, and the features of each.
        seed: of the weights.
        init: how the weights start. "default": as in PyTorch's `nn.Linear`, biases included. With
            the others, all biases are 0. "kaiming", by Kaiming He: normal, with standard deviation
            √(2 / in) for `in` inputs. "xavier": uniform up to ±√(6 / (in + out)).
        gain: the factor on all of these weights and biases.
        first_bias: let the first map keep a random bias where it would be 0: PyTorch's, times the
            factor between the spreads of the weights, which is gain · √6 with "kaiming".

    Raises:
        ValueError: `init` is not one of these.

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
    """Draw an `nn.Linear` in float64, from the global state, as PyTorch draws one in float32.

    PyTorch's own initialization differs in the last float32 digit from one instruction set to
    another. Training the ring network makes such a difference large within 80 steps.
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
