"""The course's `assert_close` says what PyTorch's says."""

import torch

from lnorm_utils import assert_close

ONE, NAN = torch.tensor([1.0, 2.0]), torch.tensor([1.0, float("nan")])
PAIRS = [
    *((ONE, ONE), (ONE, ONE + 1e-6), (ONE, ONE + 2e-5), (ONE, ONE.double()), (ONE, torch.ones(3))),
    *((ONE.double(), ONE.double() + 1e-7), (ONE.half(), ONE.half() + 1e-3), (ONE[None], ONE)),
    *((NAN, NAN), (1.0, 1.0 + 1e-8), (1.0, 1.1), (1.0, ONE[0]), ([1.0, 2.0], [1.0, 2.1])),
    *(([1.0, 2.0], [1.0]), ([1, 2], [1, 2]), (ONE.long(), ONE.long() + 1)),
    *((ONE.clone().requires_grad_(), ONE), (ONE, ONE.to("meta"))),
    (ONE.to_sparse(), ONE.to_sparse()),
]
OPTIONS = [{}, {"rtol": 0.0, "atol": 1e-4}, {"rtol": 0.1, "atol": 0}, {"rtol": 0.1}]


def outcome(function, pair, options):
    try:
        function(*pair, **options)
    except (AssertionError, TypeError, ValueError) as error:
        return type(error), str(error)


def test_it_raises_what_pytorch_raises_and_nothing_else():
    for options in OPTIONS:
        for pair in PAIRS:
            expected = outcome(torch.testing.assert_close, pair, options)
            assert outcome(assert_close, pair, options) == expected, (pair, options)
