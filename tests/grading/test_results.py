"""Results survive an interruption: a file is whole or not there, and the journal goes on."""

from lnorm_utils.grading.grade import Grade
from lnorm_utils.grading.results import Journal, whole_file

ONE = Grade("01_mean", "one", "wrong", "γ\n", "Why.")
TWO = Grade("01_mean", "two", "right")


def test_a_file_is_replaced_when_all_is_written_and_kept_when_that_fails(tmp_path):
    path = tmp_path / "grades.csv"
    with whole_file(path) as file:
        file.write("γ\r\n")
    assert path.read_bytes() == "γ\r\n".encode()
    interrupted = whole_file(path)
    interrupted.__enter__().write("half")
    assert not interrupted.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert path.read_bytes() == "γ\r\n".encode()
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_journal_goes_on_after_a_line_that_was_cut_off(tmp_path):
    path, first, second = tmp_path / "journal", tmp_path / "a.ipynb", tmp_path / "b.ipynb"
    first.write_text("1")
    second.write_text("2")
    journal = Journal(path)
    journal.add("a", first, [ONE, TWO])
    journal.add("b", second, [TWO])
    path.write_text(path.read_text()[:-9])
    resumed = Journal(path, resume=True)
    assert resumed.done("a", first) == [ONE, TWO]
    assert resumed.done("b", second) is None
    resumed.add("b", second, [TWO])
    assert Journal(path, resume=True).done("b", second) == [TWO]
    first.write_text("handed in again")
    assert resumed.done("a", first) is None
    assert Journal(path).done("b", second) is None
    resumed.remove()
    assert not path.exists()


def test_a_journal_reads_no_file_without_an_end(tmp_path):
    endless = tmp_path / "endless.ipynb"
    endless.symlink_to("/dev/zero")
    journal = Journal(tmp_path / "journal")
    journal.add("endless", endless, [ONE])
    assert Journal(journal.path, resume=True).done("endless", endless) == [ONE]
