"""A transformer that predicts the next character: its text, its model, its training, its runs."""

from lnorm_utils.training import Adam
from lnorm_utils.transformer.grid import RATES, run, split
from lnorm_utils.transformer.model import PLACES, Transformer, TransformerBlock, attention
from lnorm_utils.transformer.text import austen, entropies
from lnorm_utils.transformer.training import train_transformer

__all__ = [
    "PLACES",
    "RATES",
    "Adam",
    "Transformer",
    "TransformerBlock",
    "attention",
    "austen",
    "entropies",
    "run",
    "split",
    "train_transformer",
]
