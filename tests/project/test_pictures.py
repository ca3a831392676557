"""The pictures of the README show the course as it is today."""

import re

import pytest
from pictures import KEPT, LESSONS, descriptions
from PIL import Image
from project import LESSON_PATHS, PROJECT

README = (PROJECT / "README.md").read_text("utf-8")
FILES = ["collapse.png", "diagnosis.png", *(f"{lesson}.png" for lesson in LESSONS)]
MOST_BYTES = 1_000_000
AGAIN = "`make pictures` draws them afresh."


@pytest.fixture(scope="module")
def words():
    return descriptions()


def test_every_lesson_has_a_picture():
    assert [*LESSONS] == [path.stem for path in LESSON_PATHS]


def test_no_other_pictures_are_kept_than_are_drawn():
    assert {path.name for path in KEPT.iterdir()} == {*FILES}, AGAIN


@pytest.mark.parametrize("name", FILES)
def test_a_picture_has_the_words_that_the_course_says_today(name, words):
    with Image.open(KEPT / name) as picture:
        assert picture.text["Description"] == words[name], AGAIN


@pytest.mark.parametrize("name", FILES)
def test_the_readme_shows_the_picture_and_says_what_it_shows(name):
    place = re.escape(f"docs/pictures/{name}")
    markdown, image = rf"!\[([^\]]+)\]\({place}\)", rf'<img (?=[^>]*alt="([^"]+))[^>]*src="{place}"'
    found = re.search(f"{markdown}|{image}", README)
    assert found, f"The README does not show {name}."
    assert len((found[1] or found[2]).split()) > 2, f"Say what {name} shows."


def test_the_diagnosis_names_a_mistake_and_what_it_comes_from(words):
    named = r"Not yet: [^.]+\. .+ \([^()]*\bwrong: .+\)$"
    assert re.match(named, words["diagnosis.png"])


def test_the_pictures_of_the_lessons_are_of_one_size():
    sizes = set()
    for lesson in LESSONS:
        with Image.open(KEPT / f"{lesson}.png") as picture:
            sizes.add(picture.size)
    assert len(sizes) == 1


def test_all_pictures_together_are_small():
    assert sum(path.stat().st_size for path in KEPT.iterdir()) < MOST_BYTES
