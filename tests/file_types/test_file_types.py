"""The network agrees with the original, and reads of a file what that one reads."""

import hashlib
import json
from importlib.resources import files
from pathlib import Path

import pytest
import torch

from lnorm_course.lessons.file_types import as_codes, kinds, likeliest, magika, sample_files
from lnorm_course.lessons.file_types.reading import provenance

EXPECTED = json.loads(Path(__file__).with_name("expected.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def probabilities():
    with torch.no_grad():
        logits = magika()(as_codes(*sample_files().values()))
    return dict(zip(sample_files(), logits.softmax(-1), strict=True))


def test_the_network_says_what_the_original_says(probabilities):
    for name, said in EXPECTED.items():
        expected = torch.zeros(len(kinds()))
        for kind, probability in said.items():
            expected[kinds().index(kind)] = probability
        assert kinds()[probabilities[name].argmax()] == max(said, key=said.get), name
        # 0.001: what the file of the original's outputs leaves out
        assert (probabilities[name] - expected).abs().max() < 0.001, name


def test_every_sample_file_was_given_to_the_original():
    assert list(EXPECTED) == list(sample_files())


def test_the_weights_are_those_that_the_page_beside_them_names():
    stored = (files("lnorm_course.lessons.file_types") / "magika.npz").read_bytes()
    assert hashlib.sha256(stored).hexdigest() == provenance()["sha256 of magika.npz"]


def test_the_weights_come_without_touching_the_random_state_and_can_be_trained():
    before = torch.get_rng_state()
    parameters = list(magika().parameters())
    assert torch.equal(before, torch.get_rng_state())
    assert all(each.requires_grad and each.dtype == torch.float32 for each in parameters)
    assert sum(each.numel() for each in parameters) == 784_150


def test_the_head_stands_in_front_and_the_tail_at_the_end():
    content = b" \n" + bytes(range(48, 58)) * 500 + b"\n\t"
    (codes,) = as_codes(content)
    assert codes[:10].tolist() == codes[-10:].tolist() == list(range(48, 58))
    (short,) = as_codes(b"\n12345678 ")
    assert short[:9].tolist() == [*b"12345678 "]
    assert short[-9:].tolist() == [*b"\n12345678"]
    assert set(short[9:-9].tolist()) == {256}


def test_white_space_is_stripped_in_the_first_and_last_block_only():
    (codes,) = as_codes(b" " * 4000 + b"x" * 200 + b" " * 5000 + b"y" * 9)
    assert codes[:97].tolist() == [*b"x" * 96, 256]  # 4,096 − 4,000 bytes are left of the head
    assert codes[-1024:].tolist() == [*b" " * 1015, *b"y" * 9]


def test_a_path_is_as_good_as_its_bytes(tmp_path):
    (tmp_path / "a").write_bytes(b"0123456789")
    once, twice, thrice = as_codes(tmp_path / "a", str(tmp_path / "a"), b"0123456789")
    assert torch.equal(once, twice)
    assert torch.equal(once, thrice)


@pytest.mark.parametrize("size", [9, 4_000, 8_192, 8_193, 9_999, 50_000])
def test_of_a_long_file_both_ends_are_read(size, tmp_path):
    content = bytes(range(33, 127)) * (size // 94 + 1)
    (tmp_path / "a").write_bytes(content[:size])
    assert torch.equal(as_codes(tmp_path / "a"), as_codes(content[:size]))


def test_what_is_no_file_gets_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"There is no file '.*gone\.txt'\."):
        as_codes("~/gone.txt")
    with pytest.raises(FileNotFoundError, match=r"There is no file 'gone\.txt' in "):
        as_codes("gone.txt")
    with pytest.raises(ValueError, match=r"is a folder\. Name a file in it"):
        as_codes(tmp_path)


def test_the_likeliest_kinds_come_first(probabilities):
    (row,) = likeliest(probabilities["explorer.js"][None].log(), 3)
    assert [kind for kind, _ in row] == ["typescript", "javascript", "dart"]


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        (7, TypeError, "as bytes or as a path, but got a int"),
        (b"  12345 ", ValueError, "8 bytes or more behind leading white space, but this one has 6"),
    ],
)
def test_what_cannot_be_read_is_named(content, error, words):
    with pytest.raises(error, match=words):
        as_codes(content)
    with pytest.raises(ValueError, match="got nothing"):
        as_codes()
