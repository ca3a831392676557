"""The pictures of the README show the course as it is today."""

from pictures import KEPT, descriptions
from PIL import Image
from project import LESSON_PATHS, PROJECT

README = (PROJECT / "README.md").read_text("utf-8")
AGAIN = "`make tool NAME=pictures` draws them afresh."


def test_a_photograph_has_the_words_that_the_course_says_today():
    for name, words in descriptions().items():
        with Image.open(KEPT / name) as picture:
            assert picture.text["Description"] == words, (name, AGAIN)


def test_the_readme_shows_each_picture_and_each_lesson_has_one():
    lessons = {f"{path.stem}.png" for path in LESSON_PATHS}
    assert {path.name for path in KEPT.iterdir()} == {"collapse.png", "diagnosis.png"} | lessons
    assert all(f'src="docs/pictures/{path.name}"' in README for path in KEPT.iterdir())
