"""Which norms stand where in models that people run, as Transformers builds them.

Each row was read in the model's `modeling_….py` and `configuration_….py`, in version 4.57.1 if no
other is named.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from lnorm_utils.words import significant

__all__ = ["MODELS", "ModelNorms", "table"]

PRE, POST = "x + f(norm(x))", "norm(x + f(x))"
NORMED_STREAM = "norm(x) + f(norm(x))"
BOTH_SIDES, BEHIND = "x + norm(f(norm(x)))", "x + norm(f(x))"
BY_HEAD, BY_ROW = "q and k, each head", "q and k, all heads as one"
COMPRESSED = "the short rows that q, k, and v are made of"
SOURCE = "https://github.com/huggingface/transformers/blob"


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
    version: str = "4.57.1"  # of Transformers, where it was read

    @property
    def source(self) -> str:
        """Where the model's code stands."""
        models = f"{SOURCE}/v{self.version}/src/transformers/models"
        return f"{models}/{self.folder}/modeling_{self.folder}.py"


MODELS = [
    ModelNorms("GPT-2", "gpt2", "LayerNorm", 1e-5, "γ, β", PRE),
    ModelNorms("BERT", "bert", "LayerNorm", 1e-12, "γ, β", POST, "the embeddings", has_final=False),
    ModelNorms("T5", "t5", "RMSNorm", 1e-6, "γ", PRE),
    ModelNorms("LLaMA", "llama", "RMSNorm", 1e-6, "γ", PRE),
    ModelNorms("Gemma 2", "gemma2", "RMSNorm", 1e-6, "γ − 1", BOTH_SIDES),
    ModelNorms("Gemma 3", "gemma3", "RMSNorm", 1e-6, "γ − 1", BOTH_SIDES, BY_HEAD),
    ModelNorms(
        "Gemma 4",
        "gemma4",
        "RMSNorm",
        1e-6,
        "γ",
        BOTH_SIDES,
        f"{BY_HEAD}; v, without γ",
        version="5.24.0",
    ),
    ModelNorms(
        "Llama 4",
        "llama4",
        "RMSNorm",
        1e-5,
        "γ",
        PRE,
        f"{BY_HEAD} in most layers, without γ",
    ),
    ModelNorms("OLMo 2", "olmo2", "RMSNorm", 1e-5, "γ", BEHIND, BY_ROW),
    ModelNorms("Qwen 3", "qwen3", "RMSNorm", 1e-6, "γ", PRE, BY_HEAD),
    ModelNorms(
        "Qwen3-Next",
        "qwen3_next",
        "RMSNorm",
        1e-6,
        "γ − 1",
        PRE,
        f"{BY_HEAD}; behind linear attention, with γ",
    ),
    ModelNorms(
        "MiniMax-Text-01",
        "minimax",
        "RMSNorm",
        1e-5,
        "γ",
        NORMED_STREAM,
        "behind linear attention",
    ),
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
