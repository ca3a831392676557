"""The code on the page about `diagnose` gives the sentences that stand below it."""

import contextlib
import io
import re

import pytest
import torch
from project import PROJECT

PAGE = (PROJECT / "docs" / "diagnose.md").read_text("utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)


def test_there_are_five_public_questions_with_their_addresses():
    assert len(EXAMPLES) == 5
    assert len(re.findall(r"https://github\.com/\S+?/(?:issues|pull)/\d+", PAGE)) == 5


@pytest.mark.parametrize(("code", "text"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_says_what_stands_on_the_page(code, text):
    torch.manual_seed(0)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(code, {})
    assert output.getvalue() == text
