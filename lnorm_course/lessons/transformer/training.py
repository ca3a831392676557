"""Train a transformer with Adam, compute its validation loss, and let it write."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lnorm_course.lessons.transformer.model import Transformer
from lnorm_utils.training import Adam

__all__ = ["train_transformer", "validation_loss", "write"]

BATCH = 16


def train_transformer(
    model: Transformer,
    codes: Tensor,
    lr: float,
    warm_up: int = 1,
    steps: int = 300,
    seed: int = 0,
) -> Tensor:
    """Train a model in place on random pieces of a text, 16 per step, and return the losses.

    Args:
        model: predicts the next character at each position.
        codes: (characters of the text,), int64.
        lr: the learning rate after the warm-up.
        warm_up: the number of steps over which the learning rate rises linearly; 1 means no
            warm-up.
        steps: the number of updates.
        seed: seeds the random choice of pieces.

    Returns:
        (steps,), the mean cross entropy before each step, in nats.
    """
    generator = torch.Generator().manual_seed(seed)
    adam = Adam(list(model.parameters()))
    losses = []
    for step in range(steps):
        starts = torch.randint(len(codes) - model.length, (BATCH, 1), generator=generator)
        pieces = codes[starts + torch.arange(model.length + 1)]  # (N, L + 1)
        loss = _loss(model, pieces)
        gradients = torch.autograd.grad(loss, adam.parameters)
        adam.step(list(gradients), lr * min(1.0, (step + 1) / warm_up))
        losses.append(loss.detach())
    return torch.stack(losses)


@torch.no_grad()
def validation_loss(model: Transformer, codes: Tensor) -> float:
    """Compute the mean cross entropy, in nats, over a text cut into pieces.

    Args:
        model: predicts the next character at each position.
        codes: (characters of the text,), int64. What remains after the last whole piece isn't used.
    """
    pieces = codes.unfold(0, model.length + 1, model.length)  # (pieces, L + 1)
    losses = [_loss(model, each) * len(each) for each in pieces.split(64)]
    return float(torch.stack(losses).sum() / len(pieces))


@torch.no_grad()
def write(model: Transformer, codes: Tensor, length: int = 200, seed: int = 0) -> Tensor:
    """Let the model write by drawing each next character from its predicted probabilities.

    Args:
        model: predicts the next character at each position.
        codes: (L,), int64, the beginning of the text.
        length: how many characters to draw.
        seed: seeds the random choice of characters.

    Returns:
        (length,), int64, the new characters; fewer if the model's outputs aren't finite.
    """
    generator = torch.Generator().manual_seed(seed)
    begun = len(codes)
    for _ in range(length):
        logits = model(codes[None, -model.length :])[0, -1]
        if not logits.isfinite().all():
            break
        drawn = torch.multinomial(logits.softmax(dim=-1), 1, generator=generator)
        codes = torch.cat([codes, drawn])
    return codes[begun:]


def _loss(model: nn.Module, pieces: Tensor) -> Tensor:
    """Return the mean cross entropy of predicting the last L characters of pieces (N, L + 1)."""
    logits = model(pieces[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), pieces[:, 1:].flatten())
