"""The page about `diagnose` cites where people asked; test_docs.py runs its code."""

import re

from project import PROJECT

PAGE = (PROJECT / "docs" / "diagnose.md").read_text("utf-8").partition("## In a whole model")[0]


def test_there_are_five_public_questions_with_their_addresses():
    assert len(re.findall(r"^```\n\n```text$", PAGE, re.MULTILINE)) == 5
    assert len(re.findall(r"https://github\.com/\S+?/(?:issues|pull)/\d+", PAGE)) == 5
