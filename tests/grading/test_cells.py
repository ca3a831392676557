"""A cell is read without running it."""

import pytest

from lnorm_utils.grading.cells import MOST_CHARACTERS, MOST_LINES, parse


@pytest.mark.filterwarnings("error")
def test_a_cell_is_read_as_the_notebook_reads_it_and_without_a_warning():
    text, tree = parse("%matplotlib inline\nawait x\ny = '\\d'")
    assert text == "get_ipython().run_line_magic('matplotlib', 'inline')\nawait x\ny = '\\d'\n"
    assert len(tree.body) == 3


@pytest.mark.parametrize(
    ("longest", "too_long"),
    [
        ("#\n" * (MOST_LINES - 1), "#\n" * MOST_LINES),
        ("#" * MOST_CHARACTERS, "#" * (MOST_CHARACTERS + 1)),
        ("one", "%magic\n" * 10_000),
    ],
    ids=["lines", "characters", "made to keep a parser busy"],
)
def test_a_cell_that_is_too_long_for_an_exercise_is_not_parsed(longest, too_long):
    parse(longest)
    with pytest.raises(ValueError, match="longer than"):
        parse(too_long)
