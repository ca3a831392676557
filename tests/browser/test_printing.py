"""What is meant to be printed on one page fits on it."""

import re

import pytest
from nbconvert.filters import markdown2html
from project import PROJECT

STYLE = """
body { font: 10pt/1.3 sans-serif }
table { border-collapse: collapse; font-size: 9pt }
td, th { border: 1px solid gray; padding: 2px 5px; white-space: nowrap }
code { font-size: 8.5pt }
"""
MARGIN = dict.fromkeys(("top", "right", "bottom", "left"), "12mm")


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_the_cheat_sheet_prints_on_one_page(chromium, paper):
    text = (PROJECT / "docs" / "cheat_sheet.md").read_text("utf-8")
    page = chromium.new_page()
    page.set_content(f"<style>{STYLE}</style>{markdown2html(text)}")
    printed = page.pdf(format=paper, margin=MARGIN)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
    page.close()
