"""What to show in a lecture for each common belief.

The report on a class names it, and `make notebooks` writes a table of it into the page on teaching.
"""

from lnorm_course.slips.beliefs import Belief

__all__ = ["FOR_BELIEF"]

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
