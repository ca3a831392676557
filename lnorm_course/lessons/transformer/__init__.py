"""A transformer that predicts the next character: text, model, training, and recorded runs."""

from lnorm_course.lessons.transformer.grid import RATES, run, split
from lnorm_course.lessons.transformer.model import PLACES, Transformer, TransformerBlock, attention
from lnorm_course.lessons.transformer.text import austen, entropies
from lnorm_course.lessons.transformer.training import train_transformer, validation_loss
from lnorm_utils.training import Adam

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
    "validation_loss",
]
