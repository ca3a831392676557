"""Functions and rows that the exercises on file types are called with.

They are classes without a base, because a grader can send only those to where an attempt runs.
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
    """Rows that take nothing but `@`, so that γ and β must go into what stands behind it."""

    def __init__(self, rows):
        self._rows, self.shape = rows, rows.shape

    def __repr__(self):
        return "rows"

    def __matmul__(self, matrix):
        return self._rows @ matrix

    @classmethod
    def __torch_function__(cls, function, types, arguments=(), others=None):
        if function not in (torch.nn.functional.linear, torch.matmul, torch.mm):
            # PyTorch would take a TypeError for "try the other way round", and lose its words.
            raise ValueError("x_hat takes nothing but @. Put γ and β into the matrix and the bias")
        rows = (each._rows if isinstance(each, cls) else each for each in arguments)
        return function(*rows, **(others or {}))
