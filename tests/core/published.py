"""Published numbers that the package must reproduce, to the four decimals in which they appeared.

Values from a seed agree to `SEEDED`; values computed from inputs that were themselves rounded to
four decimals agree to `ROUNDED`.
"""

from torch import tensor

SEEDED = {"atol": 6e-5, "rtol": 0.0}
ROUNDED = {"atol": 2e-4, "rtol": 0.0}

ENCODED_POINTS = tensor(
    [
        [[-3.8049, 1.9899, -1.7325, 2.1359], [1.7854, 0.8155, 0.1116, -1.7420]],
        [[-2.4273, 1.3559, 2.8615, 2.0084], [-1.0353, -1.2766, -2.2082, -0.6952]],
        [[-0.8044, 1.9707, 3.3704, 2.0587], [4.2256, 6.9575, 1.4770, 2.0762]],
    ]
)
ENCODED_POINTS_MEAN = tensor([[-0.3529, 0.2426], [0.9496, -1.3038], [1.6489, 3.6841]])
ENCODED_POINTS_VARIANCE = tensor([[6.3756, 1.6661], [4.0862, 0.3153], [2.3135, 4.6163]])
ENCODED_POINTS_STANDARDIZED = tensor(
    [
        [[-1.3671, 0.9279, -0.5464, 0.9857], [1.1953, 0.4438, -0.1015, -1.5376]],
        [[-1.6706, 0.2010, 0.9458, 0.5238], [0.4782, 0.0485, -1.6106, 1.0839]],
        [[-1.6129, 0.2116, 1.1318, 0.2695], [0.2520, 1.5236, -1.0272, -0.7484]],
    ]
)

DUMMY_POINTS_FIRST3 = tensor(
    [
        [-14.4193, 10.0495, -7.8116],
        [2.6628, -3.5462, -23.6461],
        [-24.6397, -1.9127, -16.4244],
        [13.7988, 21.4612, 10.4125],
    ]
)
DUMMY_POINTS_LAST3 = tensor(
    [
        [-15.4844, -18.0732, -3.9566],
        [-0.9403, -18.4375, -37.4197],
        [-17.3708, -26.0550, -14.0706],
        [-3.2333, -17.0188, 3.9237],
    ]
)
DUMMY_POINTS_NORMED_FIRST3 = tensor(
    [
        [-0.9210, 0.5911, -0.5127],
        [0.1399, -0.2607, -1.5574],
        [-1.5755, -0.1191, -1.0491],
        [0.8643, 1.3324, 0.6575],
    ]
)
DUMMY_POINTS_NORMED_LAST3 = tensor(
    [
        [-0.9868, -1.1467, -0.2744],
        [-0.0925, -1.2214, -2.4460],
        [-1.1097, -1.6662, -0.8982],
        [-0.1761, -1.0183, 0.2611],
    ]
)

SOURCE_SEQUENCE = tensor([[[1.0349, 0.9661], [0.8055, -0.9169]]])
SOURCE_SEQUENCE_ENCODED = tensor([[[1.4636, 2.3663], [1.9806, -0.7564]]])
SOURCE_SEQUENCE_NORMED = tensor([[[-1.0, 1.0], [1.0, -1.0]]])

PROJECTED_SEQUENCE = tensor(
    [
        [
            [-2.0934, 1.5040, 1.8742, 0.0628, 0.3034, 2.0190],
            [-0.8853, 2.8213, 0.5911, 2.4193, -2.5230, 0.3599],
        ]
    ]
)
PROJECTED_SEQUENCE_NORMED = tensor(
    [
        [
            [-1.9061, 0.6287, 0.8896, -0.3868, -0.2172, 0.9917],
            [-0.7362, 1.2864, 0.0694, 1.0670, -1.6299, -0.0568],
        ]
    ]
)

TWO_WORDS = tensor([[[0.2, 0.1, 0.3], [0.5, 0.1, 0.1]]])
TWO_WORDS_MEAN = tensor([[0.2, 0.2333]])
TWO_WORDS_STD_WITH_EPS = tensor([[0.0817, 0.1886]])
TWO_WORDS_NORMED = tensor([[[0.0, -1.2238, 1.2238], [1.414, -0.707, -0.707]]])

NINE_SENTENCES_MEAN = tensor([-0.4749, 0.1425, -0.1342])
NINE_SENTENCES_STD_WITH_EPS = tensor([0.7292, 0.8661, 0.5927])
NINE_SENTENCES_NORMED = tensor(
    [
        [1.2639, -1.1324, 0.5252, -1.0152, 1.0662, 0.2586, -1.5183, 0.5520],
        [-1.0793, -0.1222, 0.7828, 0.7094, 0.8252, 0.4931, 0.5158, -2.1246],
        [2.1576, 0.1638, -0.3613, -1.7135, -0.1612, 0.3167, -0.0527, -0.3495],
    ]
)
NINE_SENTENCES_TORCH_STD = 1.0215

# torch.rand(4, 20) without a seed, so only its order of magnitude can be reproduced.
EPS_OUTSIDE_MAX_DIFFERENCE = 7.2598e-05
