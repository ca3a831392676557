"""Make residual blocks between two linear maps, which can be trained on the two rings."""

from torch import nn

from lnorm_utils.data import projection, residual_stack


def stack_for(blocks, placement, final_norm, init, seed):
    first, last = projection(2, 64, seed).double(), projection(64, 2, seed).double()
    stack = residual_stack(blocks, placement, seed=seed, final_norm=final_norm, init=init)
    return nn.Sequential(first, stack, last)
