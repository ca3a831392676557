"""Which norms stand where in models that people run, as version 4.57.1 of Transformers builds them.

Each row was read in the model's `modeling_….py` and `configuration_….py` there, and compared with
the modules of a small model of that class.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from lnorm_utils.numbers import significant

__all__ = ["MODELS", "ModelNorms", "table"]

PRE, POST = "x + f(norm(x))", "norm(x + f(x))"
BOTH_SIDES, BEHIND = "x + norm(f(norm(x)))", "x + norm(f(x))"
BY_HEAD, BY_ROW = "q and k, each head", "q and k, all heads as one"
COMPRESSED = "the short rows that q, k, and v are made of"
SOURCE = "https://github.com/huggingface/transformers/blob/v4.57.1/src/transformers/models"


class ModelNorms(NamedTuple):
    """The norms of one model.

    `eps` is the default of its blocks; a checkpoint's own file may have another. `place` is
    how a branch f is added to the stream x, and `also` is what else is normalized before the end.
    """

    model: str
    folder: str
    norm: str
    eps: float
    learned: str
    place: str
    also: str = ""
    has_final: bool = True  # a norm behind the last block

    @property
    def source(self) -> str:
        """Where the model's code stands."""
        return f"{SOURCE}/{self.folder}/modeling_{self.folder}.py"


MODELS = [
    ModelNorms("GPT-2", "gpt2", "LayerNorm", 1e-5, "γ, β", PRE),
    ModelNorms("BERT", "bert", "LayerNorm", 1e-12, "γ, β", POST, "the embeddings", has_final=False),
    ModelNorms("T5", "t5", "RMSNorm", 1e-6, "γ", PRE),
    ModelNorms("LLaMA", "llama", "RMSNorm", 1e-6, "γ", PRE),
    ModelNorms("Gemma 2", "gemma2", "RMSNorm", 1e-6, "γ − 1", BOTH_SIDES),
    ModelNorms("Gemma 3", "gemma3", "RMSNorm", 1e-6, "γ − 1", BOTH_SIDES, BY_HEAD),
    ModelNorms("OLMo 2", "olmo2", "RMSNorm", 1e-5, "γ", BEHIND, BY_ROW),
    ModelNorms("Qwen 3", "qwen3", "RMSNorm", 1e-6, "γ", PRE, BY_HEAD),
    ModelNorms("DeepSeek V3", "deepseek_v3", "RMSNorm", 1e-6, "γ", PRE, COMPRESSED),
    ModelNorms("ViT", "vit", "LayerNorm", 1e-12, "γ, β", PRE),
    ModelNorms(
        "ConvNeXt",
        "convnext",
        "LayerNorm",
        1e-6,
        "γ, β",
        "x + f(x)",
        "in f, behind a convolution; the patches; before each downsampling",
    ),
    ModelNorms("Whisper", "whisper", "LayerNorm", 1e-5, "γ, β", PRE),
    ModelNorms("Mamba 2", "mamba2", "RMSNorm", 1e-5, "γ", PRE, "in f, behind the gate"),
]


def table(models: Sequence[ModelNorms]) -> Any:
    """Show models as a table, in Markdown, each with a link to its code.

    >>> print(table(MODELS[2:3]).data.splitlines()[2][-62:])
    ling_t5.py) | RMSNorm | 1e−6 | γ | `x + f(norm(x))` |  | yes |
    """
    from IPython.display import Markdown

    head = "| model | norm | ε | learned | block | also normalized | final norm |"
    rows = [head, "|---|---|---|---|---|---|---|"]
    for each in models:
        name, final = f"[{each.model}]({each.source})", "yes" if each.has_final else "no"
        eps, place = significant(each.eps), f"`{each.place}`"
        cells = (name, each.norm, eps, each.learned, place, each.also, final)
        rows.append(f"| {' | '.join(cells)} |")
    return Markdown("\n".join(rows))
