"""The page for one hour: its answers are right, its pictures start where it says, and it ends."""

import ast
import re

from exercise_banks import BANK
from project import PROJECT

from lnorm_utils import explorers
from lnorm_utils.checking.feedback import State

TEXT = (PROJECT / "docs" / "hour.md").read_text("utf-8")
QUESTION = re.compile(
    r"^\*\*(\d)\.\*\* (?:[^`]+)^```\{question\} (\w+)\n(\w+)\.check\(\.\.\.\)\n```\n\n"
    r"<details .*?>\n\n\*\*Answer: (.+?)\.\*\*",
    re.MULTILINE,
)


def test_it_takes_an_hour():
    assert sum(map(int, re.findall(r"^## .*\((\d+) minutes\)$", TEXT, re.MULTILINE))) == 60


def test_it_asks_eight_questions_and_its_answers_are_right():
    questions = QUESTION.findall(TEXT)
    assert [int(number) for number, *_ in questions] == [*range(1, 9)]
    for _, topic, name, answer in questions:
        value = ast.literal_eval(answer.replace("−", "-"))
        assert BANK[topic][name].judge(value).state is State.RIGHT, name


def test_it_shows_six_pictures_each_at_a_preset():
    calls = re.findall(r"^```\{explorer\}\n(.+)\n```$", TEXT, re.MULTILINE)
    shown = [eval(call, vars(explorers).copy()) for call in calls]
    assert len(shown) == len({call.partition("(")[0] for call in calls}) == 6
    for call, explorer in zip(calls, shown, strict=True):
        assert explorer.preset in call
        assert explorer.preset
        explorer.close()
