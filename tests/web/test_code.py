"""Which code a page folds, and that the lines of code stay what they are."""

import re
from html import unescape

import pytest

from lnorm_utils.web.code import highlighted, only_shows, with_lines

PROGRAM = 'def f(x):\n    """Two\n    lines."""\n\n    return x < "&"\n'


@pytest.mark.parametrize(
    ("source", "is_folded"),
    [
        ("import torch\nassert x.shape == (2, 3)", True),
        ("names = {'title': 'A row'}\ncurves(x, [y], **names)", True),
        ("images = normal(2, 3, seed=0)\nshared_cells(images, dim=1)", True),
        ("y = standardize(x)\nshared_cells(y, dim=-1)", False),
        ("print(mean(x))", False),
        ("def mean(x):\n    return x.mean()", False),
    ],
)
def test_only_code_that_draws_or_asserts_is_folded(source, is_folded):
    assert only_shows(source) == is_folded


def test_the_text_of_a_program_stays():
    page = with_lines(highlighted(PROGRAM))
    assert unescape(re.sub(r"<[^>]+>", "", page)).strip() == PROGRAM.strip()
