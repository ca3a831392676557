"""Functions and rows that are passed to attempts in the exercises on file types.

Their classes have no base class, because a grader can send only objects of such classes to the
process that runs an attempt.
"""

import torch


class NormOverTheBatch:
    def __repr__(self):
        return "f"

    def __call__(self, x):
        return (x - x.mean(0)) / (x.var(0, correction=0) + 1e-6).sqrt()


class NormOverTheFeatures:
    def __repr__(self):
        return "f"

    def __call__(self, x):
        return torch.nn.functional.layer_norm(x, x.shape[-1:])


class DoubledWhereCrowded:
    def __repr__(self):
        return "f"

    def __call__(self, x):
        return x * torch.arange(1, len(x) + 1, dtype=x.dtype).reshape(-1, *[1] * (x.ndim - 1))


class Rows:
    """Rows that support only `@`, so that γ and β must be folded into the next matrix and bias."""

    def __init__(self, rows):
        self._rows, self.shape = rows, rows.shape

    def __repr__(self):
        return "rows"

    def __matmul__(self, matrix):
        return self._rows @ matrix

    @classmethod
    def __torch_function__(cls, function, types, arguments=(), others=None):
        if function not in (torch.nn.functional.linear, torch.matmul, torch.mm):
            # After a TypeError, PyTorch would try the reverse order, and lose the message.
            raise ValueError("x_hat supports only @. Put γ and β into the matrix and the bias")
        rows = (each._rows if isinstance(each, cls) else each for each in arguments)
        return function(*rows, **(others or {}))
