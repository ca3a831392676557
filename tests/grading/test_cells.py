"""The exercises in a cell are found without running it, in whatever form they are checked."""

import ast

import pytest

from lnorm_utils.grading.cells import (
    MOST_CHARACTERS,
    MOST_LINES,
    CellPart,
    Check,
    checks_of,
    parse,
    split_at_checks,
)

KNOWN = ["one", "two"]


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("%matplotlib inline", "get_ipython().run_line_magic('matplotlib', 'inline')\n"),
        ("await x", "await x\n"),
        (r"x = '\d'", "x = '\\d'\n"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_cell_is_read_as_the_notebook_reads_it_and_without_a_warning(source, code):
    text, tree = parse(source)
    assert text == code
    assert len(tree.body) == 1


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
        list(split_at_checks(f"one.check(1)\n{too_long}", KNOWN))
    assert list(split_at_checks(too_long, KNOWN)) == [CellPart(too_long)]


def check(exercise, attempt, alone=True):
    return (Check(exercise, attempt, alone),)


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("nonsense nonsense", [CellPart("nonsense nonsense")]),
        ("three.check(1)", [CellPart("three.check(1)\n")]),
        (
            "x = 1\n\none.check(x)\ny = 2",
            [
                CellPart("x = 1\n\n"),
                CellPart("#\n#\none.check(x)", check("one", "x")),
                CellPart("#\n#\n\ny = 2\n"),
            ],
        ),
        (
            "s = 'γβ'; one.check(s) ; two.check(\n    s,\n); X = 3",
            [
                CellPart("s = 'γβ'; "),
                CellPart("one.check(s)", check("one", "s")),
                CellPart(""),
                CellPart("two.check(\n    s,\n)", check("two", "s")),
                CellPart("#\n#\nX = 3\n"),
            ],
        ),
        (
            "'γ'\nif x:\n\tprint(one.check(x))",
            [
                CellPart("'γ'\n"),
                CellPart("#\nif x:\n\tprint(one.check(x))", check("one", "x", False)),
                CellPart("#\n#\n\n"),
            ],
        ),
    ],
)
def test_a_cell_is_cut_around_its_checks_and_keeps_its_line_numbers(source, parts):
    assert list(split_at_checks(source, KNOWN)) == parts


def test_a_cell_with_a_check_that_is_not_python_cannot_be_cut():
    with pytest.raises(SyntaxError) as problem:
        list(split_at_checks("one.check(x)\nx = = 1", KNOWN))
    assert problem.value.lineno == 2


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("one.check(x + 1)", [("one", "x + 1", True)]),
        ("one.check(attempt=x)", [("one", "x", True)]),
        ("one.check()", [("one", "...", True)]),
        ("bank.one.check(x)", [("one", "x", True)]),
        ("said = one.check(x)", [("one", "x", True)]),
        ("print(one.check(x))", [("one", "x", False)]),
        ("two.check(1), one.check(2)", [("two", "1", False), ("one", "2", False)]),
        ("one.check(two.check(2))", [("two", "2", False), ("one", "two.check(2)", True)]),
        ("if two.check(1):\n  one.check(2)", [("two", "1", False), ("one", "2", False)]),
        (
            "for x in (\n    1,\n): two.check(x); one.check(x)",
            [("two", "x", False), ("one", "x", False)],
        ),
        ("def f():\n    one.check(1)", []),
        ("async def f():\n    one.check(1)", []),
        ("class C:\n    one.check(1)", []),
        ("three.check(1)", []),
        ("one.hint()", []),
        ("check(1)", []),
        ("{}.check(1)", []),
    ],
)
def test_the_checks_in_a_statement_are_found_in_their_order(statement, found):
    tree = ast.parse(statement).body[0]
    assert list(checks_of(tree, KNOWN)) == [Check(*each) for each in found]
