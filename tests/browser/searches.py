"""The kinds of questions that are asked most, in words of public threads and of their subject.

Kind → (what answers it, as a part of an address of the site; five wordings).
"""

SEARCHES = {
    "without the mean": (
        ["09_rms_norm", "norms.html#what-is-the-difference-between-rmsnorm"],
        [
            "RMSNorm",
            "why not subtract the mean",
            "RMSNorm vs LayerNorm",
            "does the mean matter in RMSNorm",
            "which norm do language models use",
        ],
    ),
    "long queries and keys": (
        ["09_rms_norm", "transformers.html#what-does-qk-norm"],
        [
            "QK-norm",
            "qk norm",
            "query key normalization",
            "attention scores too large",
            "normalize queries and keys",
        ],
    ),
    "before or after a sublayer": (
        ["transformers.html#pre-ln-or-post-ln", "10_add_and_norm"],
        [
            "pre-norm or post-norm",
            "where should layer norm be applied",
            "normalization before layers instead of after",
            "why layer norm before sublayer and addition",
            "forward_post forward_pre difference",
        ],
    ),
    "dtypes that differ": (
        ["errors.html#expected-scalar", "errors.html#mixed-dtype", "numbers.html#which-dtypes"],
        [
            "expected scalar type Half but found Float",
            "expected scalar type Float but found Half",
            "RuntimeError mixed dtype (CPU)",
            "expected scalar type Half amp layer_norm",
            "fp16 weights float input layer norm error",
        ],
    ),
    "a shape that doesn't fit": (
        ["errors.html#given-normalized"],
        [
            "Given normalized_shape=[1536], expected input with shape [*, 1536], but got input",
            "expected input with shape [*, 256] but got input of size[4, 256, 200, 200]",
            "normalized_shape error image",
            "shape error layer norm",
            "normalized_shape expected input with shape",
        ],
    ),
    "another result in eval": (
        ["norms.html#does-layer-norm-have-running", "05_batch"],
        [
            "BatchNorm behaves different in train() and eval()",
            "model.eval() gives high error",
            "running statistics",
            "train and eval mode different results",
            "frozen statistics of BN",
        ],
    ),
    "several devices": (
        ["norms.html#does-layer-norm-need-synchronized"],
        [
            "all-reduce norm weight gradients sequence parallel",
            "layernorm grads tensor parallel",
            "sync batch norm layer norm several GPUs",
            "allreduce_layernorm_grads",
            "layer norm distributed training synchronized",
        ],
    ),
    "padding": (
        ["norms.html#does-padding", "05_batch"],
        [
            "padding batch norm",
            "variable length sequences normalization mask",
            "InstanceNorm GroupNorm affected by padding",
            "masked batch norm",
            "zero padding statistics",
        ],
    ),
    "before or after the activation": (
        ["training.html#does-the-norm-go-before", "04_gamma"],
        [
            "normalization before ReLU",
            "batch norm after activation",
            "sequence of act layer and norm layer",
            "cnn-relu-bn or cnn-bn-relu",
            "layer norm before or after activation",
        ],
    ),
    "freezing": (
        ["training.html#how-do-i-freeze"],
        [
            "freeze norm.weight",
            "make RMSNorm trainable with lora",
            "freezing layer_norm",
            "train only LayerNorm parameters",
            "norm layers modules_to_save",
        ],
    ),
    "weight decay": (
        ["training.html#should-weight-decay"],
        [
            "no_decay bias LayerNorm.weight",
            "exclude LayerNorm from weight decay",
            "weight decay for layernorms and biases",
            "why no weight decay on LayerNorm.bias",
            "AdamW layer norm decay",
        ],
    ),
    "float16": (
        ["numbers.html#why-is-my-layer-norm-nan", "13_half", "deployment.html#why-is-the-exported"],
        [
            "layernorm fp16 overflow",
            "layer_norm returns nan fp16",
            "NaN half precision layer norm",
            "layer norm fp16 accuracy TensorRT",
            "needs to be done in fp32 for fp16 inputs",
        ],
    ),
}
