"""The network agrees with the original, and reads of a file what that one reads."""

import hashlib
import json
from importlib.resources import files
from pathlib import Path

import pytest
import torch

from lnorm_course.lessons.file_types import as_codes, kinds, likeliest, magika, sample_files
from lnorm_course.lessons.file_types.reading import PADDING

LONG = bytes(range(33, 127)) * 600
EXPECTED = json.loads(Path(__file__).with_name("expected.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def probabilities():
    with torch.no_grad():
        logits = magika()(as_codes(*sample_files().values()))
    return dict(zip(sample_files(), logits.softmax(-1), strict=True))


def test_the_network_says_what_the_original_says(probabilities):
    assert [*EXPECTED] == [*probabilities]
    for name, said in EXPECTED.items():
        expected = torch.zeros(len(kinds()))
        for kind, probability in said.items():
            expected[kinds().index(kind)] = probability
        assert kinds()[probabilities[name].argmax()] == max(said, key=said.get), name
        # 0.001: what the file of the original's outputs leaves out
        assert (probabilities[name] - expected).abs().max() < 0.001, name


def test_the_weights_are_those_that_the_page_beside_them_names():
    room = files("lnorm_course.lessons.file_types")
    page = json.loads((room / "magika.json").read_text("utf-8"))
    stored = (room / "magika.npz").read_bytes()
    assert hashlib.sha256(stored).hexdigest() == page["sha256 of magika.npz"]


def test_the_weights_come_without_touching_the_random_state_and_can_be_trained():
    before = torch.get_rng_state()
    parameters = list(magika().parameters())
    assert torch.equal(before, torch.get_rng_state())
    assert all(each.requires_grad and each.dtype == torch.float32 for each in parameters)
    assert sum(each.numel() for each in parameters) == 784_150


@pytest.mark.parametrize(
    ("content", "head", "tail"),
    [
        (b" \n" + LONG + b"\n\t", LONG[:1024], LONG[-1024:]),
        (b"\n12345678 ", b"12345678 ", b"\n12345678"),
        # White space is stripped in the first and last 4,096 bytes only.
        (LONG + b" " * 4096, LONG[:1024], b""),
        (b" " * 4000 + b"x" * 200 + b" " * 5000 + b"y" * 9, b"x" * 96, b" " * 1015 + b"y" * 9),
        *((LONG[:n], LONG[:n][:1024], LONG[:n][-1024:]) for n in (9, 4_000, 8_192, 8_193, 9_999)),
    ],
)
def test_of_bytes_and_of_a_file_the_head_stands_in_front_and_the_tail_at_the_end(
    content, head, tail, tmp_path
):
    (tmp_path / "a").write_bytes(content)
    room = [PADDING] * (2048 - len(head) - len(tail))
    for given in (content, tmp_path / "a", str(tmp_path / "a")):
        assert as_codes(given)[0].tolist() == [*head, *room, *tail]


def test_the_likeliest_kinds_come_first(probabilities):
    (row,) = likeliest(probabilities["explorer.js"][None].log(), 3)
    assert [kind for kind, _ in row] == ["typescript", "javascript", "dart"]


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        ("~/gone.txt", FileNotFoundError, r"There is no file '.*gone\.txt'\."),
        ("gone.txt", FileNotFoundError, r"There is no file 'gone\.txt' in "),
        (".", ValueError, r"is a folder\. Name a file in it"),
        (7, TypeError, "as bytes or as a path, not as int"),
        (b"  12345 ", ValueError, "at least 8 bytes after leading white space, but this one has 6"),
    ],
)
def test_what_cannot_be_read_is_named(content, error, words):
    with pytest.raises(error, match=words):
        as_codes(content)
    with pytest.raises(ValueError, match="got nothing"):
        as_codes()
