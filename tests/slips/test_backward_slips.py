"""Each slip of the backward pass does what its words say, and without slips it is autograd's."""

import torch
from torch.nn.functional import layer_norm
from torch.testing import assert_close

from lnorm_course.slips.backward import BACKWARD, BACKWARD_SLIPS, BackwardWithSlips
from lnorm_course.slips.forward import combined


def tensor(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


# As many rows as features, so that a mean that has lost its axis raises no error.
X, G, GAMMA = tensor(4, 4, 4), tensor(4, 4, 4, seed=1) + 0.3, tensor(4, seed=2) + 1
R = (X.var(-1, correction=0, keepdim=True) + 0.1).rsqrt()
X_HAT = (X - X.mean(-1, keepdim=True)) * R
H = GAMMA * G


def m(values, divisor=4):
    return values.sum(-1, keepdim=True) / divisor


def lost(values):
    return m(values).squeeze(-1)


MEAN, LINE = m(H), X_HAT * m(H * X_HAT)
DX = R * (H - MEAN - LINE)
PLAIN = G - m(G) - X_HAT * m(G * X_HAT)
# The formulas are written apart from the model, in the order of the slips.
EXPECTED = [
    R * H,
    R * (H - MEAN),
    R * (H - LINE),
    R * PLAIN,
    R * PLAIN * GAMMA,
    R * (H - m(G) - X_HAT * m(G * X_HAT)),
    R * (H - m(G) - LINE),
    R * (H - MEAN - X_HAT * m(G * X_HAT)),
    R * (H - 4 * MEAN - 4 * LINE),
    R * (H - 4 * MEAN - 4 * LINE) / 4,
    R * (H - 4 * MEAN - LINE),
    R * (H - MEAN - 4 * LINE),
    R * (H - m(H, 3) - X_HAT * m(H * X_HAT, 3)),
    R * (H - MEAN - X_HAT * m(H * X_HAT, 3)),
    R * (H - lost(H) - LINE),
    R * (H - MEAN - X_HAT * lost(H * X_HAT)),
    R * (H - lost(H) - X_HAT * lost(H * X_HAT)),
    R * (H - MEAN - X_HAT * MEAN),
    R * (H - MEAN - m(H * X_HAT)),
    R * (H - MEAN + LINE),
    R * (H + MEAN - LINE),
    R * (H + MEAN + LINE),
    DX / R,
    DX / R / R,
    DX * R,
    R * H - MEAN - LINE,
    R * (H / GAMMA**2 - m(H / GAMMA**2) - X_HAT * m(H / GAMMA**2 * X_HAT)),
    R * (H * GAMMA - m(H * GAMMA) - X_HAT * m(H * GAMMA * X_HAT)),
    -DX,
]


def gradient(*slips):
    backward = combined(*slips, model=BackwardWithSlips)
    return backward.gradient(G, X_HAT, R, GAMMA)


def test_a_slip_does_what_it_says_and_nothing_else():
    for slip, expected in zip(BACKWARD_SLIPS, EXPECTED, strict=True):
        assert_close(gradient(slip), expected, msg=f"{slip.done}: {{}}".format)


def test_without_slips_it_is_the_gradient_of_autograd():
    x = X.clone().requires_grad_()
    layer_norm(x, (4,), GAMMA, None, 0.1).backward(G)
    assert_close(gradient(), x.grad)


def test_axes_are_called_what_they_are_and_averaged_over():
    over = {slip.done: slip for slip in BACKWARD.all_slips()}
    batch = H.mean(0, keepdim=True)
    assert_close(gradient(over["your mean of ĝ runs over the batch"]), R * (H - batch - LINE))
    both = R * (H - batch - X_HAT * (H * X_HAT).mean(0, keepdim=True))
    assert_close(gradient(over["both of your means run over the batch"]), both)
