"""Misconceptions about layer normalization, each with a name."""

from enum import Enum

__all__ = ["Misconception"]


class Misconception(Enum):
    """A common but wrong belief, quoted in the feedback on mistakes that come from it.

    Texts name it in brackets after a sentence: "That's averaged over the batch. [over the batch]".
    """

    OVER_THE_BATCH = "layer norm averages over the batch"
    OVER_THE_POSITIONS = "layer norm averages over the words of a sentence"
    ONE_MEAN_PER_SENTENCE = "there is one mean for each sentence"
    VARIANCE_OVER_D_MINUS_1 = "norms use the unbiased variance, which divides by D − 1"
    EPS_OUTSIDE_THE_ROOT = "ε is added outside the root, or left out"
    TWO_FEATURES_GIVE_PLUS_MINUS_1 = "two features always give exactly ±1, the same for every point"
    ONE_FEATURE_GIVES_1 = "one feature gives 1"
    SAME_AS_GROUP_NORM = "layer norm over the channels is the same as GroupNorm(1, C)"
    SINGLE_GAMMA_AND_BETA = "γ and β are single numbers, or one for each position"
    PRE_NORM_IS_POST_NORM = (
        "layer norm before the branch and after the addition make the same network"
    )
    NOTHING_IS_LOST = "layer norm loses nothing, and γ and β can undo it"
    ONE_PASS_IS_AS_GOOD = "E[x²] − E[x]² is just another way to write the variance"
    RESHAPE_SWAPS_AXES = "reshape swaps axes"
    TRAINING_MODE = "layer norm has a training mode, or depends on the batch size"
    SCALING_CHANGES_NOTHING = "scaling a row never changes its layer norm"
    ATTRIBUTES_ARE_TRAINED = "everything that a class stores is trained with the network"
    STATE_DICT_HOLDS_ALL = "a state dict holds everything that a layer needs"
    STATISTICS_ARE_CONSTANTS = "mean and variance are constants in the backward pass"
    GAMMA_GRADIENT_PER_ROW = "each row has its own gradient for γ"
    LARGE_INPUT_LARGE_GRADIENT = "a large input gets a large gradient"
    OVERFLOW_SHOWS_AS_NAN = "overflow always shows as NaN"
    BFLOAT16_IS_MORE_PRECISE = "bfloat16 is the more precise half precision"
    SMALLER_EPS_IS_SAFER = "a smaller ε is safer"
    WEIGHTS_AND_DATA_ALIKE = (
        "what layer norm doesn't notice in the weights, it doesn't notice in the data either"
    )
    OUTPUTS_ARE_GAUSSIAN = "layer norm makes numbers bell-shaped"
    DECAY_SHRINKS_THE_FUNCTION = "weight decay makes the outputs of a layer with a norm smaller"

    @property
    def code(self) -> str:
        """The name used in files, such as "over-the-batch", which is independent of the wording."""
        return self.name.lower().replace("_", "-")
