"""A file is whole or not there."""

from lnorm_utils.grading.files import whole_file


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
