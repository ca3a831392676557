"""The published tensors are in what lessons show, and not only in the package."""

import re

import nbformat
import pytest
from project import NOTEBOOK_PATHS

NUMBER = re.compile(r"-?\d+\.\d+")
ROUNDED = 2e-4  # some of the published inputs were rounded to four decimals themselves
# Rows of each, as they were published; D features each, or one number for each row.
PUBLISHED = {
    "encoded_points, values": [
        [-3.8049, 1.9899, -1.7325, 2.1359],
        [1.7854, 0.8155, 0.1116, -1.742],
        [-2.4273, 1.3559, 2.8615, 2.0084],
        [-1.0353, -1.2766, -2.2082, -0.6952],
        [-0.8044, 1.9707, 3.3704, 2.0587],
        [4.2256, 6.9575, 1.477, 2.0762],
    ],
    "encoded_points, mean": [[-0.3529, 0.2426, 0.9496, -1.3038, 1.6489, 3.6841]],
    "encoded_points, biased variance": [[6.3756, 1.6661, 4.0862, 0.3153, 2.3135, 4.6163]],
    "encoded_points, standardized eps 1e-5": [
        [-1.3671, 0.9279, -0.5464, 0.9857],
        [1.1953, 0.4438, -0.1015, -1.5376],
        [-1.6706, 0.201, 0.9458, 0.5238],
        [0.4782, 0.0485, -1.6106, 1.0839],
        [-1.6129, 0.2116, 1.1318, 0.2695],
        [0.252, 1.5236, -1.0272, -0.7484],
    ],
    "dummy_points, encoded first3": [
        [-14.4193, 10.0495, -7.8116],
        [2.6628, -3.5462, -23.6461],
        [-24.6397, -1.9127, -16.4244],
        [13.7988, 21.4612, 10.4125],
    ],
    "dummy_points, encoded last3": [
        [-15.4844, -18.0732, -3.9566],
        [-0.9403, -18.4375, -37.4197],
        [-17.3708, -26.055, -14.0706],
        [-3.2333, -17.0188, 3.9237],
    ],
    "dummy_points, layer normed first3": [
        [-0.921, 0.5911, -0.5127],
        [0.1399, -0.2607, -1.5574],
        [-1.5755, -0.1191, -1.0491],
        [0.8643, 1.3324, 0.6575],
    ],
    "dummy_points, layer normed last3": [
        [-0.9868, -1.1467, -0.2744],
        [-0.0925, -1.2214, -2.446],
        [-1.1097, -1.6662, -0.8982],
        [-0.1761, -1.0183, 0.2611],
    ],
    "source_sequence, values": [
        [1.0349, 0.9661],
        [0.8055, -0.9169],
    ],
    "source_sequence, encoded": [
        [1.4636, 2.3663],
        [1.9806, -0.7564],
    ],
    "source_sequence, layer normed": [
        [-1.0, 1.0],
        [1.0, -1.0],
    ],
    "projected_sequence, encoded": [
        [-2.0934, 1.504, 1.8742, 0.0628, 0.3034, 2.019],
        [-0.8853, 2.8213, 0.5911, 2.4193, -2.523, 0.3599],
    ],
    "projected_sequence, layer normed": [
        [-1.9061, 0.6287, 0.8896, -0.3868, -0.2172, 0.9917],
        [-0.7362, 1.2864, 0.0694, 1.067, -1.6299, -0.0568],
    ],
    "two_words, values": [
        [0.2, 0.1, 0.3],
        [0.5, 0.1, 0.1],
    ],
    "two_words, mean": [[0.2, 0.2333]],
    "two_words, std with eps": [[0.0817, 0.1886]],
    "two_words, layer normed": [
        [0.0, -1.2238, 1.2238],
        [1.414, -0.707, -0.707],
    ],
    "nine_sentences, rows": [
        [0.4467, -1.3007, -0.092, -1.2152, 0.3026, -0.2864, -1.5821, -0.0724],
        [-0.7923, 0.0367, 0.8204, 0.7569, 0.8571, 0.5695, 0.5892, -1.6977],
        [1.1445, -0.0371, -0.3484, -1.1498, -0.2298, 0.0535, -0.1654, -0.3413],
    ],
    "nine_sentences, mean": [[-0.4749, 0.1425, -0.1342]],
    "nine_sentences, std with eps": [[0.7292, 0.8661, 0.5927]],
    "nine_sentences, layer normed": [
        [1.2639, -1.1324, 0.5252, -1.0152, 1.0662, 0.2586, -1.5183, 0.552],
        [-1.0793, -0.1222, 0.7828, 0.7094, 0.8252, 0.4931, 0.5158, -2.1246],
        [2.1576, 0.1638, -0.3613, -1.7135, -0.1612, 0.3167, -0.0527, -0.3495],
    ],
}


def texts(cell):
    """Yield what a cell prints, and what it shows as text."""
    for output in cell.get("outputs", ()):
        yield output.get("text", "") or output.get("data", {}).get("text/plain", "")


@pytest.fixture(scope="module")
def shown():
    """Return the numbers of each output of each notebook, without zeros, whose sign may differ."""
    cells = [c for path in NOTEBOOK_PATHS for c in nbformat.read(path, as_version=4).cells]
    found = [[float(n) for n in NUMBER.findall(text)] for each in cells for text in texts(each)]
    return [[n for n in numbers if abs(n) > ROUNDED] for numbers in found]


def holds(numbers, row):
    """Tell whether a row stands somewhere in these numbers, in its order."""
    row = [n for n in row if abs(n) > ROUNDED]
    parts = (numbers[n : n + len(row)] for n in range(len(numbers) - len(row) + 1))
    return any(all(abs(a - b) <= ROUNDED for a, b in zip(p, row, strict=True)) for p in parts)


@pytest.mark.parametrize("rows", PUBLISHED.values(), ids=PUBLISHED)
def test_some_output_of_a_lesson_has_each_published_tensor(shown, rows):
    assert any(all(holds(numbers, row) for row in rows) for numbers in shown)
