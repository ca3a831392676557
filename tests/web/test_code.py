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
        ("assert_close(mean(x), x.mean(-1, keepdim=True))", True),
        ("shared_cells(standardize(x), dim=-1)", True),
        ("images = normal(2, 3, seed=0)\nshared_cells(images, dim=1)", True),
        ("x = encoded_points()\nx", False),
        ("y = standardize(x)\nshared_cells(y, dim=-1)", False),
        ("print(mean(x))", False),
        ("def mean(x):\n    return x.mean()", False),
        ("x.mean()", False),
        ("for row in x:\n    print(row)", False),
    ],
)
def test_only_code_that_draws_or_asserts_is_folded(source, is_folded):
    assert only_shows(source) == is_folded


def test_each_line_knows_its_indentation_and_the_text_stays():
    page = with_lines(highlighted(PROGRAM))
    assert re.findall(r"--indent:(\d+)", page) == ["0", "4", "4", "0", "4"]
    assert unescape(re.sub(r"<[^>]+>", "", page)).strip() == PROGRAM.strip()
    for line in re.findall(r'<span class="lnorm-line".*?\n</span>', page, re.DOTALL):
        assert line.count("<span") == line.count("</span>")


def test_a_line_breaks_behind_a_bracket_and_keeps_a_comment_with_its_shape():
    page = with_lines(highlighted("y = f(x).mean(-1)  # (N, D), of x"))
    assert (
        re.sub(r"<(?!wbr)[^>]+>", "", page).strip()
        == "y = f(<wbr>x)<wbr>.mean(<wbr>-1)  # (N, D), of x"
    )
    assert '"lnorm-whole"># (N, D)</span>, of x' in page
