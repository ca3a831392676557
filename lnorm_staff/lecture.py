"""What to ask and to show in a lecture, for each lesson, and what to show for each common belief.

`make notebooks` writes the tables of the page on teaching from it.
"""

from typing import NamedTuple

from lnorm_course.slips.beliefs import Belief

__all__ = ["FOR_BELIEF", "FOR_LESSON", "Lecture"]


class Lecture(NamedTuple):
    """What to ask the room, and the call that shows the picture then."""

    ask: str
    show: str


FOR_LESSON = {
    "01_mean": Lecture(
        "Three sentences of two words, and four numbers for each word: how many means does "
        "layer norm take?",
        'explore_row(preset="one mean per sentence")',
    ),
    "02_variance": Lecture(
        "You add 10,000 to every number. What happens to the variance on paper, and what in "
        "float32?",
        'explore_offset(preset="offset 10,000")',
    ),
    "03_standardize": Lecture(
        "You multiply a row by 1,000. Does layer norm notice? And if you divide it by 1,000?",
        'explore_amplitude(preset="as small as √ε")',
    ),
    "04_gamma_beta": Lecture(
        "Can γ and β give each row back the mean and the spread that it had?",
        'explore_gamma_beta(preset="all stretched and moved")',
    ),
    "05_batch_vs_layer_norm": Lecture(
        "The same point comes in two different batches. Which norm gives it two different outputs?",
        'explore_batch(preset="batch of two")',
    ),
    "06_two_feature_collapse": Lecture(
        "A thousand random points with two features go through layer norm. At how many places"
        " do they end up?",
        'explore_collapse(preset="two features")',
    ),
    "07_projection_fix": Lecture(
        "You project two features to six before the norm. What does the bias of the "
        "projection change?",
        'explore_projection(preset="six features, no bias")',
    ),
    "08_build_the_layer": Lecture(
        "Four images (4, 3, 5, 5) go through `LayerNorm((3, 5, 5))`. How many means are "
        "there, and how many γ?",
        'explore_row(preset="per image")',
    ),
    "09_rms_norm": Lecture(
        "The layer in front of a norm adds the same number to all features of a row. Which norm "
        "notices, layer norm or RMSNorm?",
        'explore_invariances(preset="… with RMSNorm")',
    ),
    "10_add_and_norm": Lecture(
        "You stack 24 pre-LN blocks. What happens to the scale of the stream from block to block?",
        'explore_stream(preset="24 blocks, pre-LN")',
    ),
    "11_train_it": Lecture(
        "Which of 24 post-LN blocks gets the largest gradient at the start, and does that "
        "depend on the loss?",
        'explore_residual(preset="24 blocks, post-LN, own directions")',
    ),
    "12_backward_pass": Lecture(
        "A gradient comes back through a layer norm of three features. Which part of it never"
        " gets through?",
        'explore_gradient(preset="along x̂")',
    ),
    "13_half_precision": Lecture(
        "float16 goes up to 65,504. A row with a spread of 300 goes through a layer norm in "
        "float16. What comes out?",
        'explore_precision(preset="squares overflow")',
    ),
    "14_invariances": Lecture(
        "You add the same vector to the weights of every output. Which norms behind the layer"
        " don't notice?",
        'explore_invariances(preset="weights shifted")',
    ),
    "15_transformer": Lecture(
        "A language model always gives the same answer, whatever it reads. At which loss does"
        " it stop?",
        'explore_transformer(preset="post-LN, a large rate")',
    ),
    "16_in_the_wild": Lecture(
        "You put RMSNorm in place of one of the two layer norms of a network that tells kinds"
        " of files. How many of 65 files keep their kind?",
        'explore_file_types(preset="norm 2 as RMSNorm")',
    ),
    "17_find_the_bug": Lecture(
        "Five layer norms have a bug each. Which of them does a test on `randn(4, 8)` catch?",
        'explore_broken(preset="randn(4, 8)")',
    ),
}

# Where no explorer shows it, what to run instead.
FOR_BELIEF = {
    Belief.OVER_THE_BATCH: 'explore_batch(preset="batch of two")',
    Belief.ONE_MEAN_PER_SENTENCE: 'explore_row(preset="one mean per sentence")',
    Belief.VARIANCE_OVER_D_MINUS_1: 'explore_collapse(preset="two features")',
    Belief.EPS_OUTSIDE_THE_ROOT: 'explore_amplitude(preset="as small as √ε")',
    Belief.TWO_FEATURES_GIVE_PLUS_MINUS_1: 'explore_collapse(preset="almost equal")',
    Belief.ONE_FEATURE_GIVES_1: 'explore_collapse(preset="one feature")',
    Belief.SAME_AS_GROUP_NORM: 'explore_row(preset="per pixel")',
    Belief.SINGLE_GAMMA_AND_BETA: 'explore_gamma_beta(preset="one feature stretched")',
    Belief.PRE_NORM_IS_POST_NORM: 'explore_residual(preset="24 blocks, pre-LN, no final norm")',
    Belief.NOTHING_IS_LOST: 'explore_gamma_beta(preset="all stretched and moved")',
    Belief.ONE_PASS_IS_AS_GOOD: 'explore_offset(preset="offset 10,000")',
    Belief.RESHAPE_SWAPS_AXES: "torch.arange(6).view(2, 3).reshape(3, 2)",
    Belief.TRAINING_MODE: 'explore_batch(preset="batch of one")',
    Belief.SCALING_CHANGES_NOTHING: 'explore_amplitude(preset="far below √ε")',
    Belief.ATTRIBUTES_ARE_TRAINED: "dict(LayerNorm(4).named_parameters())",
    Belief.STATE_DICT_HOLDS_ALL: "LayerNorm(4, eps=0.1).state_dict()",
    Belief.STATISTICS_ARE_CONSTANTS: 'explore_gradient(preset="along x̂")',
    Belief.GAMMA_GRADIENT_PER_ROW: "LayerNorm(4).weight.shape",
    Belief.LARGE_INPUT_LARGE_GRADIENT: 'explore_gradient(preset="large row")',
    Belief.OVERFLOW_SHOWS_AS_NAN: 'explore_precision(preset="squares overflow")',
    Belief.BFLOAT16_IS_MORE_PRECISE: 'explore_precision(preset="far from zero")',
    Belief.SMALLER_EPS_IS_SAFER: 'explore_precision(preset="ε is lost")',
    Belief.WEIGHTS_AND_DATA_ALIKE: 'explore_invariances(preset="weights shifted")',
    Belief.OUTPUTS_ARE_GAUSSIAN: "LayerNorm(4)(torch.tensor([0.0, 0.0, 10.0, 10.0]))",
    Belief.DECAY_SHRINKS_THE_FUNCTION: 'explore_invariances(preset="all weights")',
}
