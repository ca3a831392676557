"""The exercises in a cell are found without running it, in whatever form they are checked."""

import ast

import pytest

from lnorm_utils.grading.cells import (
    MOST_LETTERS,
    MOST_LINES,
    Check,
    Piece,
    checks_of,
    code_cells,
    parse,
    pieces,
)

KNOWN = ["one", "two"]


def test_the_code_cells_of_a_notebook_are_those_that_are_code():
    cells = [
        {"cell_type": "markdown", "source": "words"},
        {"cell_type": "code", "source": "1"},
        {"cell_type": "raw", "source": "raw"},
        {"cell_type": "code", "source": "2"},
    ]
    assert code_cells({"cells": cells}) == ["1", "2"]


@pytest.mark.parametrize(
    ("source", "code", "said"),
    [
        ("x=1\n", "x=1\n", "x = 1"),
        (
            "%matplotlib inline",
            "get_ipython().run_line_magic('matplotlib', 'inline')\n",
            "get_ipython().run_line_magic('matplotlib', 'inline')",
        ),
        ("await x", "await x\n", "await x"),
        ("async for x in y: pass", "async for x in y: pass\n", "async for x in y:\n    pass"),
        (r"x = '\d'", "x = '\\d'\n", r"x = '\\d'"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_cell_is_read_as_the_notebook_reads_it_and_without_a_warning(source, code, said):
    text, tree = parse(source)
    assert (text, ast.unparse(tree)) == (code, said)


def test_what_is_not_python_is_told_by_its_line():
    with pytest.raises(SyntaxError) as problem:
        parse("x = 1\nx = = 2")
    assert (problem.value.lineno, problem.value.filename) == (2, "the cell")


@pytest.mark.parametrize(
    ("longest", "too_long"),
    [
        ("#\n" * (MOST_LINES - 1), "#\n" * MOST_LINES),
        ("#" * MOST_LETTERS, "#" * (MOST_LETTERS + 1)),
    ],
    ids=["lines", "letters"],
)
def test_a_cell_that_is_too_long_for_an_exercise_is_not_read(longest, too_long):
    assert parse(longest)[1].body == []
    with pytest.raises(ValueError, match=r"^longer than 200 lines or 20000 letters$"):
        parse(too_long)


def check(exercise, attempt, alone=True):
    return (Check(exercise, attempt, alone),)


@pytest.mark.parametrize(
    ("source", "cut"),
    [
        ("x = 1", [Piece("x = 1")]),
        ("nonsense nonsense", [Piece("nonsense nonsense")]),
        ("check = 1", [Piece("check = 1\n")]),
        ("three.check(1)", [Piece("three.check(1)\n")]),
        ("one.check(1)", [Piece(""), Piece("one.check(1)", check("one", "1")), Piece("\n")]),
        (
            "x = 1\n\none.check(x)\ny = 2",
            [
                Piece("x = 1\n\n"),
                Piece("#\n#\none.check(x)", check("one", "x")),
                Piece("#\n#\n\ny = 2\n"),
            ],
        ),
        (
            "s = 'γβ'; one.check(s) ; two.check(\n    s,\n); X = 3",
            [
                Piece("s = 'γβ'; "),
                Piece("one.check(s)", check("one", "s")),
                Piece(""),
                Piece("two.check(\n    s,\n)", check("two", "s")),
                Piece("#\n#\nX = 3\n"),
            ],
        ),
        (
            "'γβ'\n'γ'; one.check(1)",
            [
                Piece("'γβ'\n'γ'; "),
                Piece("#\none.check(1)", check("one", "1")),
                Piece("#\n\n"),
            ],
        ),
        (
            "if x:\n\tprint(one.check(x))",
            [
                Piece(""),
                Piece("if x:\n\tprint(one.check(x))", check("one", "x", False)),
                Piece("#\n\n"),
            ],
        ),
    ],
)
def test_a_cell_is_cut_around_its_checks_and_keeps_its_line_numbers(source, cut):
    assert list(pieces(source, KNOWN)) == cut


def test_a_cell_with_a_check_that_is_not_python_cannot_be_cut():
    with pytest.raises(SyntaxError):
        list(pieces("x = = 1\none.check(x)", KNOWN))


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("one.check(x + 1)", [("one", "x + 1", True)]),
        ("one.check(attempt=x)", [("one", "x", True)]),
        ("one.check(x, y=2)", [("one", "x", True)]),
        ("one.check()", [("one", "...", True)]),
        ("bank.one.check(x)", [("one", "x", True)]),
        ("said = one.check(x)", [("one", "x", True)]),
        ("print(one.check(x))", [("one", "x", False)]),
        ("assert one.check(x)", [("one", "x", False)]),
        ("two.check(1), one.check(2)", [("two", "1", False), ("one", "2", False)]),
        ("one.check(two.check(2))", [("two", "2", False), ("one", "two.check(2)", True)]),
        ("if x:\n    two.check(1)\none.check(2)", [("two", "1", False)]),
        (
            "if two.check(1):\n  one.check(2)",
            [("two", "1", False), ("one", "2", False)],
        ),
        (
            "for x in (\n    1,\n): two.check(x); one.check(x)",
            [("two", "x", False), ("one", "x", False)],
        ),
        ("[one.check(\n 1), two.check(2)]", [("one", "1", False), ("two", "2", False)]),
        ("def f():\n    one.check(1)", []),
        ("async def f():\n    one.check(1)", []),
        ("class C:\n    one.check(1)", []),
        ("three.check(1)", []),
        ("one.hint()", []),
        ("check(1)", []),
        ("one(1)", []),
        ("one.checked(1)", []),
        ("{}.check(1)", []),
    ],
)
def test_the_checks_in_a_statement_are_found_in_their_order(statement, found):
    tree = ast.parse(statement).body[0]
    assert list(checks_of(tree, KNOWN)) == [Check(*each) for each in found]
