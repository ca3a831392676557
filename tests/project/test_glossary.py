"""The glossary has one meaning for each word, and lessons and pages use words in that meaning."""

import json
import re

import pytest
from project import NOTEBOOK_PATHS, PROJECT

GLOSSARY = PROJECT / "docs" / "glossary.md"
PAGES = [PROJECT / "docs" / name for name in ("cheat_sheet.md", "teaching.md")]
NEEDED = "point position feature row batch token channel mean variance ε γ β standardize affine"
NEEDED += " normalized_shape broadcast keepdim projection embedding pre-LN post-LN"
ROWS = [
    [cell.strip().replace("`", "") for cell in line.strip("|").split("|")]
    for line in GLOSSARY.read_text("utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| word ")
]
WORDS = [word for words, *_ in ROWS for word in words.split(", ")]
AVOIDED = [word for *_, words in ROWS for word in words.split(", ") if word]

CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$", re.DOTALL)
QUOTED = re.compile(r'"[^"\n]*"|“[^”\n]*”|(?<!\*)\*(?!\*)[^*\n]+\*(?!\*)')
LINKED = re.compile(r"\]\([^)]*\)|<[^>\n]*>|^\*\*References\.\*\*.*$|^\|.*$", re.MULTILINE)
IMAGES = re.compile(r"\bimage|pixel|\(\w, C, H, W\)|\bRGB\b|convolution", re.IGNORECASE)


def paragraphs(path):
    """Yield the prose of a file: no code, formulas, quotations, links, tables, or references."""
    text = path.read_text("utf-8")
    if path.suffix == ".ipynb":
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells)
    for noise in (CODE, FORMULA, LINKED, QUOTED):
        text = noise.sub(" ", text)
    yield from text.split("\n\n")


def violations(text):
    """Yield a sentence for each word in a text that the glossary gives another meaning."""
    for word in AVOIDED:
        if re.search(rf"(?<![\w-]){re.escape(word)}s?(?![\w-])", text, re.IGNORECASE):
            yield f"{word!r} is a word to avoid"
    if re.search(r"\btokens?\b", text, re.IGNORECASE):
        yield "'token' stands here without quotation marks"
    if re.search(r"\bchannels?\b", text, re.IGNORECASE) and not IMAGES.search(text):
        yield "'channel' stands here without an image"
    for sentence in re.split(r"(?<=[.?])\s", text):
        is_about_them = "hyperparameter" in sentence and re.search("[γβ]", sentence)
        if is_about_them and not re.search(r"\bnot?\b|n't\b", sentence):
            yield "'hyperparameter' stands here for γ or β"


@pytest.mark.parametrize("path", [*NOTEBOOK_PATHS, *PAGES], ids=lambda path: path.name)
def test_words_are_used_in_the_meaning_of_the_glossary(path):
    found = [(problem, text[:60]) for text in paragraphs(path) for problem in violations(text)]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        *("Add epsilon.", "Each data point has one.", "Two timesteps.", "Draw a mini-batch."),
        *("Layernorm helps.", "The gain of a feature.", "Pre-norm blocks.", "The last dimension."),
        *("One mean for each token.", "It has four channels.", "γ is a hyperparameter."),
    ],
)
def test_a_word_in_another_meaning_is_found(text):
    assert len(list(violations(text))) == 1


def test_words_in_their_meaning_are_not_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        'A row is often called a "token". `nn.Embedding(tokens, 4)` of an image\'s 3 channels.\n'
        "γ isn't a hyperparameter, ε is.\n\n| others say | token, gain |\n\n"
        "$\\gamma$ again.\n\n**References.** *Epsilon and the mini-batch*.\n"
    )
    assert [problem for text in paragraphs(page) for problem in violations(text)] == []


def test_each_word_stands_once_and_none_that_is_needed_is_missing():
    assert len(WORDS) == len({*WORDS})
    assert {*NEEDED.split(), "batch norm", "layer norm", "residual stream"} <= {*WORDS}
    assert not {*WORDS} & {*AVOIDED}


def test_each_word_has_a_meaning():
    assert all(len(meaning.split()) > 3 for _, meaning, _ in ROWS)
