"""Pictures and explorers look as they did when somebody looked at them."""

import re

import looks
import pytest

NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e-?\d+)?")
PAGES = looks.pages()
NEAR = 2e-3  # points, of 1/72 inch
AGAIN = "`make looks` draws it afresh, and git shows what has changed."


def same(drawn, kept):
    """Whether two texts are the same, apart from the last digits of their numbers."""
    if drawn == kept:
        return True
    if NUMBER.split(drawn) != NUMBER.split(kept):
        return False
    numbers = [list(map(float, NUMBER.findall(text))) for text in (drawn, kept)]
    return numbers[0] == pytest.approx(numbers[1], abs=NEAR, rel=1e-6)


def test_a_page_is_kept_for_each_kind_of_picture_and_each_explorer():
    assert {path.stem for path in looks.KEPT.iterdir()} == {*PAGES}


@pytest.mark.parametrize("name", PAGES)
def test_it_looks_as_it_did(name):
    kept = (looks.KEPT / f"{name}.html").read_text("utf-8")
    drawn = PAGES[name]()
    if looks.MADE_WITH not in kept:
        pytest.skip(f"It was not drawn with {looks.MADE_WITH}, as this would be.")
    pairs = zip(drawn.splitlines(), kept.splitlines(), strict=False)
    changed = next(
        (f"is now: {new}\nwas:    {old}" for new, old in pairs if not same(new, old)), ""
    )
    assert not changed, f"{name} {changed}\n{AGAIN}"
    assert drawn.count("\n") == kept.count("\n"), f"{name} has another length. {AGAIN}"


@pytest.mark.parametrize(
    ("new", "is_same"),
    [
        ("M 1.5 2.25", True),
        ("M 1.5004 2.25", True),
        ("M 1.51 2.25", False),
        ("L 1.5 2.25", False),
        ("M 1.5", False),
        ("M 1.5 -2.25", False),
    ],
)
def test_a_line_is_the_same_up_to_the_last_digits(new, is_same):
    assert same(new, "M 1.5 2.25") == is_same
