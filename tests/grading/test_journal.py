"""Results survive an interruption: a file is whole or not there, and the journal goes on."""

from lnorm_utils.grading.collect.handed_in import HandedIn
from lnorm_utils.grading.collect.whose import Student
from lnorm_utils.grading.files import whole_file
from lnorm_utils.grading.grade import Grade
from lnorm_utils.grading.run.journal import Journal

ADA = ("ada", "", "a.ipynb", "", "ada/feedback.html", "01_mean")
ONE = Grade(*ADA, "one", "wrong", "γ\n", message="Why.")
TWO = Grade(*ADA, "two", "right")


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
    path = tmp_path / "journal"
    first, second = [HandedIn(Student("ada"), name, tmp_path / name) for name in ("a", "b")]
    first.path.write_text("1")
    second.path.write_text("2")
    journal = Journal(path)
    journal.add(first, [ONE, TWO])
    journal.add(second, [TWO])
    path.write_text(path.read_text()[:-9])
    resumed = Journal(path, resume=True)
    assert resumed.done(first) == [ONE, TWO]
    assert resumed.done(second) is None
    resumed.add(second, [TWO])
    assert Journal(path, resume=True).done(second) == [TWO]
    first.path.write_text("handed in again")
    assert resumed.done(first) is None
    assert Journal(path).done(second) is None
    resumed.remove()
    assert not path.exists()
