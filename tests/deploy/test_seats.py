"""Seats: codes that are written once and never change, and one sentence for what can't be used."""

import os

import pytest

if os.name != "posix":
    pytest.skip("no hub runs here", allow_module_level=True)

from seats import LEAST, LETTERS, SeatsError, add_seats, plain, read_seats, write_sheet

CODE = "abcd-efgh-jkmn"


@pytest.fixture
def table(tmp_path):
    """Write a table of seats as a lecturer may do; return where it is."""

    def write(*lines, mode=0o600):
        path = tmp_path / "seats.csv"
        path.write_text("\n".join(["name,code", *lines, ""]))
        path.chmod(mode)
        return path

    return write


def test_seats_are_added_and_those_that_are_there_keep_their_codes(tmp_path):
    path = tmp_path / "seats.csv"
    first = add_seats(path, 2)
    more = add_seats(path, 30)
    assert [*more][:2] == [*first] == ["seat-01", "seat-02"]
    assert len({*more.values()}) == len(more) == 30
    assert first.items() <= more.items()
    assert add_seats(path, 1) == read_seats(path) == more
    assert len(LETTERS) ** LEAST >= 2**60
    assert len({*LETTERS}) == len(LETTERS)
    assert all(len(code) == LEAST and {*code} <= {*LETTERS} for code in more.values())


def test_names_of_one_s_own_stay_when_seats_are_added(table):
    path = table(f"ada,{CODE}", f"seat-02, {CODE.upper()}")
    assert [*add_seats(path, 4)] == ["ada", "seat-02", "seat-01", "seat-03"]
    assert read_seats(path)["seat-02"] == plain(CODE)


def test_no_name_is_given_to_a_second_student(table):
    path = table(f"seat-01,{CODE}", "seat-02,")
    (path.parent / "homes" / "seat-03").mkdir(parents=True)
    assert [*add_seats(path, 2)] == [*read_seats(path)] == ["seat-01", "seat-04"]
    assert "\nseat-02,\n" in path.read_text()


def test_a_table_that_a_spreadsheet_has_saved_is_read(table):
    path = table()
    path.write_bytes(f"name;code\r\nada;{CODE}\r\n;\r\nbo;müll-erwo-rtab\r\n".encode("cp1252"))
    assert read_seats(path) == {"ada": plain(CODE), "bo": "müllerwortab"}


def test_nobody_else_can_read_the_seats_or_the_sheet_and_it_has_all_of_them(tmp_path):
    seats = add_seats(tmp_path / "seats.csv", 3)
    write_sheet(tmp_path / "seats.html", seats, "https://hub.example.org")
    assert {path.stat().st_mode & 0o077 for path in tmp_path.iterdir()} == {0}
    sheet = (tmp_path / "seats.html").read_text()
    assert sheet.count("https://hub.example.org") == 3
    for name, code in seats.items():
        assert name in sheet
        assert code in plain(sheet)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["ada"], "line 2: expected a name and a code, and found 1"),
        (["ada,b,c"], "found 3"),
        ([f"Ada L,{CODE}"], "'Ada L'"),
        ([f"../ada,{CODE}"], "'../ada'"),
        ([f"root,{CODE}"], "'root' is an account of this machine"),
        ([f"nobody,{CODE}"], "'nobody'"),
        ([f"ada,{CODE}", f"ada,{CODE}"], "line 3: there are two"),
        (["ada,abc"], "3 characters"),
    ],
)
def test_a_line_that_cannot_be_used_is_named_in_one_sentence(table, lines, words):
    with pytest.raises(SeatsError) as problem:
        read_seats(table(*lines))
    assert words in str(problem.value)
    assert "\n" not in str(problem.value)


def test_a_table_that_others_can_read_is_refused(table):
    with pytest.raises(SeatsError, match="chmod 600"):
        read_seats(table(f"ada,{CODE}", mode=0o640))
