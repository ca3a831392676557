"""Which norms today's models have, and where, as Transformers 5.24.0 builds them.

Each entry was taken in November 2026 from the model's `modeling_….py` and `configuration_….py`.
"""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lnorm_utils.words import significant

__all__ = ["MODELS", "NEW_FOLDERS", "ModelNorms", "table"]

PRE, POST = "x + f(norm(x))", "norm(x + f(x))"
NORMED_STREAM = "norm(x) + f(norm(x))"
BOTH_SIDES, BEHIND = "x + norm(f(norm(x)))", "x + norm(f(x))"
BY_HEAD, BY_ROW = "q and k, each head", "q and k, all heads as one"
COMPRESSED = "the short rows that q, k, and v are made of"
OF_DEEPSEEK = "q, each head, without γ; the keys; four streams, whose weighted sum is x here"
NORMED_STREAMS = "four streams, each; norm(x) is their weighted mean"
LINEAR = "in linear attention, q and k by their length, and its result"
LINEAR_RESULT = "the result of linear attention, before the gate"
OF_KIMI = f"{COMPRESSED}; {LINEAR}, before the gate"
OF_QWEN = f"{BY_HEAD}; {LINEAR}, with γ, before the gate"
CONVOLUTION = "in f, after a convolution; the patches; before each downsampling"
MODELS_FOLDER = "https://github.com/huggingface/transformers/blob/v5.24.0/src/transformers/models"


class ModelNorms(NamedTuple):
    """The norms of one model.

    `line` is the number of the line of source code where the model's block begins. `eps` is the
    default for its blocks; a checkpoint's configuration may differ. `also` says what else is
    normalized before the final norm, and `place` says how a branch f is added to the stream x. The
    default values of the fields fit most models.
    """

    model: str
    folder: str
    line: int
    norm: str
    eps: float
    also: str = ""
    learned: str = "γ"
    place: str = PRE
    has_final: bool = True  # whether there is a norm after the last block

    @property
    def source(self) -> str:
        """The URL of the model's block in the source code."""
        return f"{MODELS_FOLDER}/{self.folder}/modeling_{self.folder}.py#L{self.line}"


RMS, LAYER = "RMSNorm", "LayerNorm"
MODELS = [
    ModelNorms("GPT-2", "gpt2", 248, LAYER, 1e-5, learned="γ, β"),
    ModelNorms("BERT", "bert", 283, LAYER, 1e-12, "the embeddings", "γ, β", POST, has_final=False),
    ModelNorms("T5", "t5", 374, RMS, 1e-6),
    ModelNorms("LLaMA", "llama", 274, RMS, 1e-6),
    ModelNorms("Gemma 2", "gemma2", 284, RMS, 1e-6, learned="γ − 1", place=BOTH_SIDES),
    ModelNorms("Gemma 3", "gemma3", 359, RMS, 1e-6, BY_HEAD, "γ − 1", BOTH_SIDES),
    ModelNorms("Gemma 4", "gemma4", 1331, RMS, 1e-6, f"{BY_HEAD}; v, without γ", place=BOTH_SIDES),
    ModelNorms(
        "Llama 4", "llama4", 394, RMS, 1e-5, f"in Scout {BY_HEAD} in most layers, without γ"
    ),
    ModelNorms("OLMo 1", "olmo", 273, LAYER, 1e-5, learned="nothing"),
    ModelNorms("OLMo 2", "olmo2", 278, RMS, 1e-5, BY_ROW, place=BEHIND),
    ModelNorms("OLMo 3", "olmo3", 230, RMS, 1e-5, BY_ROW, place=BEHIND),
    ModelNorms("EXAONE 4", "exaone4", 277, RMS, 1e-5, BY_HEAD, place=BEHIND),
    ModelNorms("Qwen 3", "qwen3", 276, RMS, 1e-6, BY_HEAD),
    ModelNorms("Qwen 3.5", "qwen3_5", 855, RMS, 1e-6, OF_QWEN, "γ − 1"),
    ModelNorms("Qwen4-exp", "qwen4_exp", 1274, RMS, 1e-6, f"{OF_QWEN}; {NORMED_STREAMS}", "γ − 1"),
    ModelNorms("gpt-oss", "gpt_oss", 331, RMS, 1e-5),
    ModelNorms("Ministral 3", "ministral3", 215, RMS, 1e-5),
    ModelNorms("Kimi Linear", "kimi_linear", 784, RMS, 1e-5, OF_KIMI),
    ModelNorms("GLM-4", "glm4", 67, RMS, 1.5625e-7, place=BOTH_SIDES),
    ModelNorms(
        "GLM-5", "glm_moe_dsa", 576, RMS, 1e-5, f"{COMPRESSED}; an index of keys, by LayerNorm"
    ),
    ModelNorms("Trinity", "afmoe", 389, RMS, 1e-5, BY_HEAD, place=BOTH_SIDES),
    ModelNorms(
        "Hunyuan 7B", "hunyuan_v1_dense", 226, RMS, 1e-5, f"{BY_HEAD}, after their rotation"
    ),
    ModelNorms("MiniMax-Text-01", "minimax", 530, RMS, 1e-5, LINEAR_RESULT, place=NORMED_STREAM),
    ModelNorms("MiniMax-M2", "minimax_m2", 341, RMS, 1e-6, BY_ROW),
    ModelNorms("DeepSeek V3", "deepseek_v3", 486, RMS, 1e-6, COMPRESSED),
    ModelNorms("DeepSeek V4", "deepseek_v4", 1149, RMS, 1e-6, OF_DEEPSEEK),
    ModelNorms("Cohere 2", "cohere2", 265, LAYER, 1e-5, "one norm for both branches"),
    ModelNorms("Jais 2", "jais2", 197, LAYER, 1e-5, learned="γ, β"),
    ModelNorms("Nemotron-4", "nemotron", 291, LAYER, 1e-5, learned="γ − 1, β"),
    ModelNorms("ViT", "vit", 257, LAYER, 1e-12, learned="γ, β"),
    ModelNorms("ConvNeXt", "convnext", 114, LAYER, 1e-6, CONVOLUTION, "γ, β", "x + f(x)"),
    ModelNorms("Whisper", "whisper", 364, LAYER, 1e-5, learned="γ, β"),
    ModelNorms("Mamba 2", "mamba2", 626, RMS, 1e-5, "in f, after its gate"),
]

# Each folder with a `…ForCausalLM` that is in Transformers 5.24.0 but not in 4.57.1, the norm of
# its blocks, and, if q and k both have one, their norm. Norms of the short rows from which q and k
# are computed aren't listed.
with (Path(__file__).parent / "new_folders.csv").open(encoding="utf-8") as file:
    NEW_FOLDERS = list(csv.DictReader(file))


def table(models: Sequence[ModelNorms]) -> Any:
    """Show models as a Markdown table, with a link to the code of each model.

    >>> print(table(MODELS[2:3]).data.splitlines()[2][-67:])
    ling_t5.py#L374) | RMSNorm | 1e−6 | γ | `x + f(norm(x))` |  | yes |
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
