"""The misconceptions about layer normalization that people really have, each with its name.

A mistake in a bank refers to one of them by number, and its feedback names it.
"""

BELIEFS = {
    1: "layer norm averages over the batch",
    2: "there is one mean for each sentence",
    3: "the variance divides by D − 1",
    4: "ε is added outside the root, or left out",
    5: "two features always give exactly ±1, the same for every point",
    6: "one feature gives 1",
    7: "layer norm over the channels is the same as GroupNorm(1, C)",
    8: "γ and β are single numbers, or one for each position",
    9: "layer norm before and after the addition is the same network",
    10: "layer norm loses nothing, and γ and β can undo it",
    11: "E[x²] − E[x]² is just another way to write the variance",
    12: "reshape swaps axes",
    13: "layer norm has a training mode, or depends on the batch size",
    14: "scaling a row never changes its layer norm",
    15: "whatever a class keeps is trained with the network",
    16: "the state dict holds all that a layer needs",
}
