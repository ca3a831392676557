"""The pictures of the README show the course as it is today."""

from pictures import KEPT, LESSONS, descriptions
from PIL import Image
from project import LESSON_PATHS, PROJECT

README = (PROJECT / "README.md").read_text("utf-8")
FILES = ["collapse.png", "diagnosis.png", *(f"{lesson}.png" for lesson in LESSONS)]
AGAIN = "`make tool NAME=pictures` draws them afresh."


def test_every_lesson_has_a_picture():
    assert [*LESSONS] == [path.stem for path in LESSON_PATHS]


def test_a_picture_has_the_words_that_the_course_says_today():
    words = descriptions()
    assert {path.name for path in KEPT.iterdir()} == {*FILES} == {*words}, AGAIN
    for name in FILES:
        with Image.open(KEPT / name) as picture:
            assert picture.text["Description"] == words[name], (name, AGAIN)


def test_the_readme_shows_each_picture():
    assert [name for name in FILES if f"docs/pictures/{name}" not in README] == []
