"""No wrong answer is called right, even one that the banks have never seen, and most are named.

These attempts don't come from the banks or from `slips`, on purpose: they are what a confused or
hurried student could write after reading the notebooks alone. They are independent of the code that
they test, so a mistake in that code can't hide itself.
"""

import math

import pytest
import torch
import torch.nn.functional as F
from exercise_banks import BY_NAME, CODE, PREDICTIONS

from lnorm_utils import layer_norm, standardize
from lnorm_utils.exercises.engine.feedback import State

NAMES = {"F": F, "layer_norm": layer_norm, "standardize": standardize}
TENSORS = [e for e in CODE if isinstance(e.right[0], torch.Tensor) and not e.use_class]

# Behind # stand words of the diagnosis, if it names what was done. Most that aren't named are
# within 1e-3 of the right numbers on data of variance 1 with 256 features, or on one of the
# exercise's own inputs.
WRONG = {
    "row_means(x)": """
        x.sum(-1, keepdim=True) / (x.shape[-1] - 1)
        x.sum(-1, keepdim=True) / (x.shape[-1] + 1)
        x.sum(-1, keepdim=True) / 256
        x.sum(-1, keepdim=True) / 4
        mean_of(x) + 1e-5
        mean_of(x).round(decimals=3)
        mean_of(x[..., :-1])
        x.mean(0)  # Two; has lost its axis; runs over the batch
        x.mean(1, keepdim=True)  # Your mean runs over the positions
        x.mean()  # Two; has lost its axis; runs over the batch, the positions and the features
    """,
    "center(x)": """
        x - x.sum(-1, keepdim=True) / (x.shape[-1] - 1)
        x - x.sum(-1, keepdim=True) / 4
        x - mean_of(x).round(decimals=3)
        x - mean_of(x) + 1e-5
        x - x.mean(1, keepdim=True)
        x - mean_of(x).clamp(min=0)
        x - x.mean()  # Your mean runs over the batch, the positions and the features
        x - x.mean(0)  # Your mean runs over the batch
        torch.stack([row - row.mean() for row in x])  # Your mean runs over the positions and the
        mean_of(x) - x  # signs are flipped
        x - torch.einsum("nld->nl", x)[..., None]  # Your mean is a sum
    """,
    "swap(x)": """
        x.transpose(0, 1).flip(0)
        x.transpose(0, 1).abs()
        x.transpose(0, 1).half().to(x.dtype)
    """,
    "row_vars(x)": """
        var_of(x) + 1e-5
        var_of(x).clamp(min=1e-5)
        (x - mean_of(x)).square().sum(-1, keepdim=True) / 256
        (x - mean_of(x)).square().sum(-1, keepdim=True) / 3
        (x - mean_of(x)).square().sum(-1, keepdim=True) / (x.shape[-1] + 1)
        var_of(x).round(decimals=3)
        x.var(-1, keepdim=True)  # divides by D − 1
        (x - mean_of(x)).square().sum(-1, keepdim=True)  # is a sum
        x.square().mean(-1, keepdim=True)  # squares the numbers themselves
        x.std(-1, keepdim=True)  # Two; divides by D − 1; the standard deviation
        (x - x.mean()).square().mean(-1, keepdim=True)  # The mean inside your variance runs
        x.var(0, False, keepdim=True)  # Your variance runs over the batch
        (x - mean_of(x)).abs().mean(-1, keepdim=True)  # without their signs
        torch.einsum("nld,nld->nl", x, x)[..., None]  # Two; numbers themselves; is a sum
        torch.stack([row.var().expand(len(row), 1) for row in x])  # Two; the positions; D − 1
    """,
    "far_std(x)": """
        (var_of(x) + 1e-5).sqrt()
        (var_of(x) + 1e-6).sqrt()
        var_of(x).sqrt() + 1e-5
        var_of(x.half()).sqrt().to(x.dtype)
        one_pass(x - 10_000).sqrt()
        one_pass(x - x.flatten()[0]).clamp(min=0).sqrt()
        var_of(x)  # There is no root
        torch.linalg.vector_norm(x - mean_of(x), dim=-1, keepdim=True)  # is a sum
        x.std(-1, keepdim=True).sqrt()  # Two; divides by D − 1; its root
        (x.var(-1, keepdim=True) + 1e-5).sqrt()  # You added ε; divides by D − 1
    """,
    "formula(x, eps)": """
        norm_of(x, eps**2)
        norm_of(x, -eps)
        norm_of(x, 2 * eps)
        norm_of(norm_of(x, eps), eps)
        (x - mean_of(x)) / var_of(x).clamp(min=eps).sqrt()
        (x - mean_of(x) + eps) / var_of(x).sqrt()
        F.normalize(x - mean_of(x), dim=-1, eps=eps) * radius(x)
        over(x, 1, eps)
        (x - mean_of(x)) / (var_of(x).sqrt() + eps)  # ε is added outside the root
        (x - mean_of(x)) / (x.std(-1, keepdim=True) + eps)  # Two; D − 1; ε is added outside
        (x - mean_of(x)) / torch.sqrt(x.var(-1, keepdim=True) + eps)  # Your variance divides by
        (x - x.mean(0)) / (x.var(0) + eps) ** 0.5  # Two; over the batch; divides by D − 1
        F.layer_norm(x, x.shape[1:], eps=eps)  # over the positions and the features
        (x - x.mean()) / (x.var() + eps).sqrt()  # Two; the batch, the positions and the; D − 1
        (x - mean_of(x)) / ((x - mean_of(x)).square().mean() + eps).sqrt()  # mean of your squares
        x / (var_of(x) + eps).sqrt()  # subtract the mean
        x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)  # Two; themselves; subtract the mean
        (x - mean_of(x)) / x.std(-1, keepdim=True)  # Two; divides by D − 1; ε is left out
        F.layer_norm(x, x.shape[-1:])  # always 1e-5
        (x - mean_of(x)) / (x.var(-1, keepdim=True) + eps)  # Two; D − 1; there is no root
        (x - mean_of(x)) / torch.sqrt(x.std(-1, False, keepdim=True) + eps)  # standard deviation
        F.normalize(x - mean_of(x), dim=-1, eps=eps)  # each row has length 1
        F.normalize(x, dim=-1, eps=eps)  # subtract the mean; each row has length 1
        radius(x) * F.normalize(x - mean_of(x), dim=-1, eps=eps)  # a lower limit for the length
        (mean_of(x) - x) / (var_of(x) ** 0.5 + eps)  # Two; ε is added outside; flipped
        x - mean_of(x) / (var_of(x) + eps).sqrt()  # Only the mean is divided
        (x - mean_of(x)) / var_of(x).sqrt() + eps  # ε is added to the result
        (x - x.median(-1, keepdim=True).values) / (var_of(x) + eps).sqrt()  # You took the median
        torch.stack([(row - row.mean()) / (row.std() + eps) for row in x])  # Three; positions
        F.batch_norm(x, None, None, training=True, eps=eps)  # over the batch and the features
        F.instance_norm(x.transpose(1, 2), eps=eps).transpose(1, 2)  # averaged over the positions
        over(x.flatten(0, 1), 0, eps).reshape(x.shape)  # over the batch and the positions
        [norm_of(row, eps) for row in x][0]  # `return` inside the loop
        norm_of(x, eps).flatten(0, 1).T.reshape(x.shape)  # in the wrong places
        (x - x.mean(-1)) / (x.var(-1) + eps).sqrt()  # lost its axis
        (x - mean_of(x)) * (var_of(x) + eps).sqrt()  # You multiplied by the standard deviation
        (x - mean_of(x)) * torch.rsqrt(var_of(x) + 2 * mean_of(x).square() + eps)
        (x - x.amin(-1, keepdim=True)) / (x.amax(-1, keepdim=True) - x.amin(-1, keepdim=True) + eps)
    """,
    "add_norm(x, f)": """
        standardize(x + f, dim=1)
        standardize(x) + f / radius(x)
        (x + f - mean_of(x + f)) / (var_of(x) + var_of(f)).sqrt()
        standardize(standardize(x) + f)  # before the addition too
        over(x + f, -1, unbiased=True)  # divides by D − 1
    """,
    "rescale(x_hat, weight, bias)": """
        x_hat
        x_hat + bias
        x_hat * weight - bias
        x_hat * weight.abs() + bias
        x_hat / weight + bias
        standardize(x_hat * weight + bias)
        torch.cat([x_hat[..., :1], (x_hat * weight + bias)[..., 1:]], -1)
        bias * x_hat + weight  # γ and β have changed places
        (x_hat + bias) * weight  # β is added before γ multiplies
        x_hat * weight.mean() + bias.mean()  # averaged to one number each
        weight.mean() * (x_hat + bias.mean())  # Two; before γ multiplies; averaged to one
    """,
    "folded_bias(matrix, offset, weight, bias)": """
        offset + matrix.mean(1) * bias.sum()
        offset + (matrix @ bias).abs()
        offset + matrix.sum(1) * bias.mean()
        (offset + matrix @ bias) * weight[: len(offset)]
        matrix @ (weight * bias)
        offset + bias  # You added β itself
        bias @ matrix + offset  # summed over the outputs of W
        offset + (matrix * weight) @ bias  # You multiplied β by γ as well
        offset  # You left b as it was
    """,
    "way_back(y, weight, bias, mean, root)": """
        (y + bias) / weight * root + mean
        (y - bias) * weight * root + mean
        (y - bias) / (weight + 1e-5) * root + mean
        (y * root + mean - bias) / weight
        (y - bias) / weight * (root + 1e-5) + mean
        (y - bias) / weight * (root**2 + 1e-3).sqrt() + mean
    """,
    "words(x)": """
        over(x, (0, 1), eps=0.0)
        over(x, (0, 1), eps=1e-6)
        over(x, (0, 1), eps=1e-3)
        over(over(x, (0, 1)), (0, 1))
        (x - x.mean((0, 1))) / (x.std((0, 1), unbiased=False) + 1e-5)
        over(x, (0, 1), unbiased=True)  # divides by N · L − 1
        F.batch_norm(x, None, None, training=True)  # over the batch and the features
        standardize(x)  # averaged over the features. Batch norm
    """,
    "pixels(x)": """
        over(x, 1, eps=0.0)
        over(x, 1, eps=1e-6)
        over(x, 1, eps=1e-3)
        (x - x.mean(1, keepdim=True)) / (x.std(1, False, keepdim=True) + 1e-5)
        F.group_norm(x, 1)  # over the channels, the height and the width
        F.batch_norm(x, None, None, training=True)  # over the batch, the height and the width
        F.layer_norm(x.permute(0, 2, 3, 1), x.shape[1:2]).reshape(x.shape)  # in the wrong places
    """,
    "from_delta(delta, eps)": """
        delta / 2 / (delta.square() / 4 + 1e-5).sqrt()
        delta / 2 / (delta.square() / 4 + eps**2).sqrt()
        (delta / 2 / (delta.square() / 4 + eps).sqrt()).abs()
        (delta / (2 * eps**0.5)).tanh()
    """,
    "sphere(x)": """
        16 * F.normalize(x - mean_of(x), dim=-1)
        2 * F.normalize(x - mean_of(x), dim=-1)
        (x - mean_of(x)) / ((x - mean_of(x)).norm(dim=-1, keepdim=True) + 1e-5) * radius(x)
        F.normalize(x - mean_of(x)) * radius(x)
    """,
    "bring_back(g, x_hat, rstd, weight)": """
        rstd * weight * g  # You treated the mean and the variance as constants
        rstd * (weight * g - mean_of(weight * g))  # You treated the variance as a constant
        rstd * (weight * g - x_hat * mean_of(weight * g * x_hat))  # You treated the mean as
        rstd * weight * (g - mean_of(g) - x_hat * mean_of(g * x_hat))  # γ comes last
        rstd * (g - mean_of(g))  # Two things: you treated the variance as a constant, and γ is left
        weight * g - mean_of(weight * g) - x_hat * mean_of(weight * g * x_hat)  # isn't multiplied
        rstd * (weight * g - mean_of(weight * g) - x_hat * mean_of(weight * g) * mean_of(x_hat))
        rstd * (weight * g - mean_of(weight * g) - (weight * g * x_hat).mean(-1, keepdim=True))
        rstd * (weight * g - (weight * g).mean(0) - x_hat * (weight * g * x_hat).mean(0))  # batch
        rstd * (4 * weight * g - weight * g.sum(-1, keepdim=True)) / 4
        g
    """,
    "d_gamma(g, x_hat)": """
        (g * x_hat).sum(0).mean(0)
        (g * x_hat).sum((0, 1), keepdim=True)
        (g * x_hat).flatten(0, 1).cumsum(0)
        (g + x_hat).sum((0, 1))
        (g * g).sum((0, 1))
        x_hat.sum((0, 1))
        (g * x_hat).sum((0, 1)) / 4
    """,
    "rescue(x, weight, bias)": """
        layer_norm((x @ weight.T + bias).relu(), 6)
        layer_norm(x @ weight.T + bias, 6, bias, bias)
        layer_norm(x @ weight.T + bias, (len(x), 6))
        over(x @ weight.T + bias, -1, unbiased=True)
    """,
    "point_back(y, weight, bias)": """
        torch.linalg.pinv(weight) @ (y - bias)  # as if there had been no layer norm
        torch.linalg.lstsq(weight, (y * bias.std() - bias)[:, None]).solution[:, 0]
        torch.linalg.pinv(weight - weight.mean(0)) @ (y - bias + bias.mean())  # You left out s
        torch.linalg.lstsq(torch.stack([*(weight - weight.mean(0)).T, -y], 1), bias).solution[:2]
        torch.linalg.pinv(torch.stack([*weight.T, -y], 1))[:2] @ -bias  # without C
        weight.T @ y
        torch.zeros(2)
    """,
    "equal_bias(e)": """
        e / 16
        e / 6**0.5
        e / 2.449
        e / (radius(e) + 1e-5)
        (e / radius(e)).round(decimals=3)
        (e / radius(e)).abs()
    """,
    "fits(x_shape, shape)": """
        True
        False
        len(x_shape) >= len(sizes_of(shape))
        x_shape[-len(sizes_of(shape)) :] <= sizes_of(shape)
        sizes_of(shape)[::-1] == x_shape[: len(sizes_of(shape))]
        x_shape[1:] == sizes_of(shape)
        x_shape[-2:] == sizes_of(shape)
    """,
    "repair(size, eps)": """
        torch.nn.LayerNorm(size, eps=eps**2)
        torch.nn.Sequential(torch.nn.LayerNorm(size, eps=eps))
        torch.nn.LayerNorm(size, eps=eps).requires_grad_(False)
        Changed(lambda y: y.detach(), size, eps)
        Changed(lambda y: y + 1e-3, size, eps)
        Mine(lambda x, d, eps: over(x, 0, eps), size, eps)  # over the first axis, the batch
        Mine(lambda x, d, eps: over(x, d), size, eps)  # always 1e-5
        Mine(lambda x, d, eps: over(x, d, eps, True), size, eps)  # divides by D − 1
    """,
    "row_alone(layer, x)": """
        torch.allclose(layer(x), layer(x))  # You call every layer right
        torch.allclose(layer(x[:1]), x[:1])  # You call every layer wrong
        bool((layer(x[:1])[0] == layer(x)[0]).all())  # to the last bit
        layer(x[:1])[0] - layer(x)[0]
        "yes"
    """,
    "mine(shape, eps=1e-12, affine=True, bias=True)": """
        torch.nn.LayerNorm(shape, eps, affine, bias)
    """,
    "mine(shape, eps=1e-5, affine=True, bias=True)": """
        torch.nn.LayerNorm(shape, eps, bias, affine)
    """,
    "mine(*options)": """
        torch.nn.Sequential(torch.nn.LayerNorm(*options))
        torch.nn.LayerNorm(*options).requires_grad_(False)
        Changed(lambda y: y.detach(), *options)
        Changed(lambda y: y + 1e-3, *options)
        Mine(lambda x, d, e: (x - x.mean(d, True)) / (x.std(d, True, True) + e), *options)  # Two
        Mine(lambda x, d, eps: over(x, -1, eps), *options)  # over the last axis alone
        Mine(lambda x, d, eps: over(x, tuple(range(x.ndim)), eps), *options)  # over all axes
        Mine(lambda x, d, eps: over(x, tuple(range(len(d))), eps), *options)  # over the first axes
        Mine(lambda x, d, eps: x / (x.square().mean(d, True) + eps).sqrt(), *options)  # Two
        Mine(lambda x, d, eps: over(over(x, d, eps), d, eps), *options)  # You normalized twice
    """,
    "post_ln(x, f)": """
        norm_of(x + f(x), 0.0)
        norm_of(x + f(x), 1e-6)
        norm_of(norm_of(x + f(x)))
        norm_of(x + f(x)).round(decimals=3)
        norm_of((x + f(x)).half()).float()
        x + standardize(f(x))  # You normalized what f returns
        over(x + f(x), -1, unbiased=True)  # divides by D − 1
    """,
    "pre_ln(x, f)": """
        x + f(norm_of(x, 0.0))
        x + f(norm_of(x, 1e-4))
        x + f(norm_of(norm_of(x)))
        (x + f(norm_of(x))).round(decimals=3)
        x + f(over(x, -1, unbiased=True))  # divides by D − 1
        x + F.layer_norm(f(x), x.shape[-1:])  # You normalized what f returns
    """,
    "ending(x, fs)": """
        norm_of(pre_ln_blocks(x, fs), 0.0)
        norm_of(pre_ln_blocks(x, fs, 1e-4))
        norm_of(norm_of(pre_ln_blocks(x, fs)))
        norm_of(pre_ln_blocks(x, fs)).round(decimals=3)
        norm_of(pre_ln_blocks(x, fs[:-1]))
    """,
    "attend(q, k, v)": """
        F.scaled_dot_product_attention(v, k, q, is_causal=True)
        F.scaled_dot_product_attention(q, k, v, is_causal=True) + 1e-3
        F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.49)
        (q @ k.mT / radius(q) - 3 * torch.ones(q.shape[1], q.shape[1]).triu(1)).softmax(-1) @ v
        torch.tril((q @ k.mT / radius(q)).exp()) @ v
        v.cumsum(1) / torch.arange(1, v.shape[1] + 1)[:, None]
        F.scaled_dot_product_attention(q, k, v)  # There is no mask
        F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=1.0)  # by √D
        F.scaled_dot_product_attention(k, q, v, is_causal=True)  # have changed places
        torch.tril((q @ k.mT / radius(q)).softmax(-1)) @ v  # after the softmax
        torch.tril(q @ k.mT / radius(q)).softmax(-1) @ v  # to 0
        torch.tril(q @ k.mT / radius(q)) @ v  # no softmax
        ((s := q @ k.mT / radius(q)) - 1e9 * torch.ones_like(s).tril()).softmax(-1) @ v
    """,
    "pre_block(x, f, g)": """
        pre_ln_blocks(x, (f, g), 0.0)
        pre_ln_blocks(x, (f, g), 1e-4)
        pre_ln_blocks(x, (f, g, g))
        pre_ln_blocks(x, (f, f))
        pre_ln_blocks(x, (g, f))  # `g` first
        norm_of(pre_ln_blocks(x, (f, g)))  # at the end of the block
        x + f(norm_of(x)) + g(norm_of(x))  # Both branches read the x from the beginning
        x + g(norm_of(x + f(norm_of(x))))  # f's result is lost
        (h := norm_of(x)) + f(h) + g(h + f(h))  # once, at the beginning
        (h := norm_of(x + f(norm_of(x)))) + g(h)  # added g's result to the normalized
        x + g(norm_of(f(norm_of(x))))
    """,
    "final(stream, weight)": """
        norm_of(stream, 1e-4) @ weight.T
        norm_of(stream, 0.0) @ weight.T
        (norm_of(stream) @ weight.T).softmax(-1)  # You took the softmax
        (stream @ weight.T).softmax(-1)  # You took the softmax
        norm_of(stream) @ norm_of(weight).T
        stream @ weight.T  # The final norm is missing
        norm_of(stream @ weight.T)  # behind the linear map
        over(stream, 0) @ weight.T  # over the batch
        over(stream, 1) @ weight.T  # over the positions
        over(stream, -1, unbiased=True) @ weight.T  # divides by D − 1
        stream / (var_of(stream) + 1e-5).sqrt() @ weight.T  # subtract the mean
    """,
    "block_norms(weights, biases)": """
        weights.norm(dim=(1, 2)) + biases.norm(dim=1)  # and added them
        (weights.square().sum((1, 2)) + biases.square().sum(1)) ** 2
        (weights.norm(dim=(1, 2)) + biases.norm(dim=1)) / 2
        torch.cat([weights.flatten(1), biases], 1).norm(dim=0)
    """,
    "schedule(step, rate, warm_up)": """
        rate / warm_up
        rate * (step >= warm_up)
        rate * step / warm_up
        rate if step else 0.0
        rate * min(1.0, (step + 1) // warm_up)
    """,
    "careful_norm(x)": """
        norm_of(x)
        norm_of(x).float()
        norm_of(x.float()).half()  # converted them back to float16
        norm_of(x.bfloat16()).float()
        F.layer_norm(x, x.shape[-1:])
        F.layer_norm(x, x.shape[-1:]).float()
        (x - mean_of(x)).float() / (var_of(x.float()) + 1e-5).sqrt()
        (x - mean_of(x)) / (var_of(x.float()) + 1e-5).sqrt()
        (x.float() - mean_of(x.float())) / var_of(x.float()).sqrt()  # ε is left out
        over(x.float(), 0)  # averaged over the batch
        over(x.float(), -1, unbiased=True)  # divides by D − 1
        norm_of(x.float(), 1e-6)  # ε is 1e-6
    """,
    "first_wrong(y, right)": """
        [*y][0]
        [*y][-1]
        ""
        next((n for n in y if not y[n].isfinite().all()), "")  # for NaN and infinity
        next((n for n in y if y[n].isnan().any()), "")  # You looked for NaN only
        next((n for n in y if not torch.equal(y[n].double(), right[n])), "")
        next((n for n in y if not torch.allclose(y[n].double(), right[n])), "")
        next((n for n in y if not error_of(y, right, n).mean() < 0.1 * right[n].max()), "")
        next((n for n in y if not (error_of(y, right, n) / right[n].abs()).max() < 0.1), "")
        next((n for n in y if not torch.allclose(y[n].double(), right[n], rtol=0.1)), "")  # a tenth
        next((n for n in y if not error_of(y, right, n).max() < 0.1 * y[n].abs().max()), "")
        next((n for n in y if not error_of(y, right, n).max() < 0.1 * right[n].max()), "")
        next((n for n in y if not error_of(y, right, n).norm() < 0.1 * right[n].norm()), "")
        next((n for n in y if not error_of(y, right, n).max() < 0.05 * right[n].abs().max()), "")
        next((n for n in y if not y[n].abs().max() < 1.1 * right[n].abs().max()), "")
        next((n for n in y if not error_of(y, right, n).max() <= 0.1 * right[n].abs().max()), None)
        next((n for n in y if not error_of(y, right, n).max() < 0.1 * largest_of(right)), "")
        next((n for n in y if not error_of(y, right, n).max() < 0.1), "")  # 0.1 itself
    """,
    "predicted_time(passes, new, read, copy)": """
        new * copy
        new * copy + passes * read  # You counted passes twice
        (passes - new) * read + new * copy  # A copy has two
        new * copy + (passes - 2) * read
        new * copy + (passes - 2 * new) / read
        passes * copy
        read * (passes - 2) + copy  # You took one copy only
        2 * copy * new + passes * read
        max(new * copy, passes * read)
    """,
    "blocked(x, rows)": """
        norm_of(x, 1e-6)
        norm_of(x[-rows:])
        norm_of(x).flip(0)
        torch.stack([norm_of(block) for block in x.split(rows)][:1])
        torch.cat([norm_of(block) for block in x.split(rows)][:-1])
        F.normalize(x - mean_of(x), dim=-1)  # You divided by the length
        x * 0  # still all zeros
        torch.cat([over(block, 0) for block in x.split(rows)])
        torch.cat([(b - b.mean()) / (b.var() + 1e-5).sqrt() for b in x.split(rows)])
        torch.cat([b - b.mean(-1, keepdim=True) for b in x.split(rows)])
        [norm_of(block) for block in x.split(rows)]
        F.normalize(x, dim=-1)  # You divided by the length; subtract the mean
        (x - mean_of(x)) / ((x - mean_of(x)).norm(dim=-1, keepdim=True) / 4 + 1e-5).sqrt()
        (x - mean_of(x)) * ((x - mean_of(x)).norm(dim=-1, keepdim=True) ** 2 + 1e-5).rsqrt()
        x.clone().sub_(mean_of(x)).mul_(var_of(x) ** -0.5)  # ε is left out
        (x - mean_of(x)) / (x.std(-1, keepdim=True) + 1e-5)  # Two; divides by D − 1
    """,
    "unit_w(x, matrix)": """
        x @ matrix.T / matrix.norm(dim=1)[0]
        x @ F.normalize(matrix, dim=1, p=1).T  # the sum of the absolute values
        x @ F.normalize(matrix).T.abs()
        x @ F.normalize(matrix, dim=0).T  # You divided by the lengths of the columns
        F.normalize(x @ matrix.T)  # You divided the outputs by their length
        F.normalize(x) @ F.normalize(matrix).T  # You divided the points by their lengths
        standardize(x @ matrix.T)
        x @ standardize(matrix).T
        F.normalize(matrix)
    """,
    "root_ms(a, eps)": """
        F.rms_norm(a, a.shape[-1:])
        F.rms_norm(a, a.shape[-1:], eps=eps**2)
        F.normalize(a, dim=-1)  # the length of each row
        norm_of(a, eps)  # That's layer norm
        F.normalize(a, dim=-1) * radius(a)  # You left out ε
        a * (a.square().mean(-1, keepdim=True) + eps)
        a / a.square().mean(-1, keepdim=True).clamp(min=eps).sqrt()
        over(a, 0, eps)
        a / (a.std(-1, keepdim=True) + eps)  # what `std` returns
    """,
    "alike(matrix)": """
        standardize(matrix, dim=0)
        2 * (matrix - matrix.mean(0))  # 2 times the right one
        matrix - matrix.median(0).values
        matrix - matrix.mean(0, keepdim=True).abs()
        matrix - matrix.mean(1, keepdim=True)  # You subtracted the mean of each weight vector
        matrix - matrix.mean()  # one mean of all weights
        F.normalize(matrix - matrix.mean(0), dim=0)
        matrix[1:] - matrix[:1]
        matrix.mean(0)
    """,
}
CASES = [
    (*signature.rstrip(")").split("(", 1), line.strip())
    for signature, lines in WRONG.items()
    for line in lines.strip().splitlines()
]


class Mine(torch.nn.LayerNorm):
    """PyTorch's layer, which standardizes in another way: (x, axes, ε) -> x_hat."""

    def __init__(self, standardized, *arguments):
        super().__init__(*arguments)
        self.standardized = standardized

    def forward(self, x):
        super().forward(x)  # refuses what does not fit
        y = self.standardized(x, tuple(range(-len(self.normalized_shape), 0)), self.eps)
        y = y if self.weight is None else y * self.weight
        return y if self.bias is None else y + self.bias


class Changed(torch.nn.LayerNorm):
    """PyTorch's layer, whose output is changed at the end."""

    def __init__(self, change, *arguments):
        super().__init__(*arguments)
        self.change = change

    def forward(self, x):
        return self.change(super().forward(x))


def sizes_of(shape):
    return (shape,) if isinstance(shape, int) else tuple(shape)


def mean_of(x):
    return x.mean(-1, keepdim=True)


def var_of(x):
    return x.var(-1, unbiased=False, keepdim=True)


def one_pass(x):
    return x.square().mean(-1, keepdim=True) - mean_of(x).square()


def norm_of(x, eps=1e-5):
    return (x - mean_of(x)) / (var_of(x) + eps).sqrt()


def over(x, dim, eps=1e-5, unbiased=False):
    var = x.var(dim, unbiased=unbiased, keepdim=True)
    return (x - x.mean(dim, keepdim=True)) / (var + eps).sqrt()


def error_of(y, right, name):
    return (y[name] - right[name]).abs()


def largest_of(right):
    return max(r.max() for r in right.values())


def radius(x):
    return x.shape[-1] ** 0.5


def pre_ln_blocks(x, fs, eps=1e-5):
    for f in fs:
        x = x + f(norm_of(x, eps))
    return x


def attempt_of(parameters, line):
    return eval(f"lambda {parameters}: {line}", globals() | NAMES)


def assert_wrong(feedback):
    assert feedback.state is State.WRONG
    assert feedback.message.endswith((".", "?"))


@pytest.mark.parametrize(("name", "parameters", "line"), CASES)
def test_a_wrong_function_is_not_right_and_named_for_what_it_does(name, parameters, line):
    feedback = BY_NAME[name].judge(attempt_of(parameters, line))
    words = line.partition("  # ")[2]
    assert_wrong(feedback)
    assert all(part in feedback.message for part in words.split("; "))
    assert feedback.mistake or not words


def wrong_forms(right):
    """Make values that look like a right value and are not."""
    yield from (1j, [[right]], {0: right}, lambda: right, math.inf, math.nan)
    yield from ("", "nothing", b"right", range(64), torch.full((2, 2), 7.0))
    if isinstance(right, str):
        yield from (f"not {right}", right[:-1], f"{right} {right}", [right], (right,))
    elif isinstance(right, tuple):
        yield from (right[:-1], (*right, 1), tuple(n + 0.5 for n in right))
        yield from (str(right), tuple(map(str, right)), (right,), (right[0], math.nan))
        yield from (set(right), (1j * right[0], *right[1:]))
    else:
        yield from (-right or 1, 10 * right or 10, right + 0.1, right - 0.1, 1j * (right or 1))
        yield from (str(right), [right], (right,), {right}, torch.tensor([right]), (right, right))
        yield right == 1


@pytest.mark.parametrize("exercise", PREDICTIONS, ids=lambda exercise: exercise.name)
def test_a_value_that_only_looks_like_the_right_one_is_not_right(exercise):
    for value in wrong_forms(exercise.answers[0][0]):
        assert_wrong(exercise.judge(value))


WRONG_FORMS = {
    "another dtype": lambda y: y.half(),
    "a list": torch.Tensor.tolist,
    "an array": torch.Tensor.numpy,
    "a tuple": lambda y: (y,),
    "one axis more": lambda y: y[None],
    "without the last row": lambda y: y[:-1],
    "off by a thousandth": lambda y: y + 1e-3,
    "the other sign": lambda y: -y,
    "in place": lambda y: y,
}


@pytest.mark.parametrize("form", WRONG_FORMS)
@pytest.mark.parametrize("exercise", TENSORS, ids=lambda exercise: exercise.name)
def test_a_result_that_only_looks_like_the_right_one_is_not_right(exercise, form):
    def attempt(*arguments):
        y = exercise._answer(*arguments)
        if form == "in place":
            next(a for a in arguments if isinstance(a, torch.Tensor)).add_(1)
        return WRONG_FORMS[form](y)

    assert_wrong(exercise.judge(attempt))


def test_every_exercise_that_is_code_has_wrong_answers_here():
    missing = {exercise.name for exercise in CODE} - {name for name, *_ in CASES}
    assert not missing, "give each of these wrong answers in WRONG"
