"""The examples in the docs run, and links and commands lead somewhere."""

import ast
import json
import re
import sys
import textwrap
from types import ModuleType
from urllib.parse import unquote

import pytest
from page_examples import SHOWN, output_of
from pictures import KEPT, descriptions
from PIL import Image
from project import MAKEFILE, NOTEBOOK_PATHS, PROJECT, named_presets

from lnorm_course import explorers
from lnorm_course.checking.bank import BankLoader
from lnorm_course.exercises import Exercise
from lnorm_course.explorers import rings, row, stream
from lnorm_course.explorers.engine.panels import Explorer
from lnorm_staff.check_lesson import problems
from lnorm_staff.web.site import PAGES as SITE

PLACES = ("README.md", "docs/**/*.md", ".github/*.md")
PAGES = sorted(page for place in PLACES for page in PROJECT.glob(place))
# What the web edition has, besides its own files.
ON_SITE = {*NOTEBOOK_PATHS, *(path for place in SITE for path in PROJECT.glob(place))}
FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# An example with an output runs alone; the others end in an object that is tried.
SNIPPETS = [
    pytest.param(*found, id=f"{page.stem}-{number}")
    for page in PAGES
    for number, found in enumerate(SHOWN.findall(page.read_text("utf-8")))
]
BLOCKS = [
    block for page in PAGES for block in FENCE.findall(SHOWN.sub("", page.read_text("utf-8")))
]
EXAMPLES = [code for language, code in BLOCKS if language == "python"]
LINK = re.compile(r'\]\(<?([^)\s>]+)|\b(?:href|src)="([^"]+)"|^\[[^\]]+\]: *(\S+)', re.MULTILINE)
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)
MAKE = re.compile(r"^`?(?:\w+=\S+ )*make((?: [a-z]+)+)", re.MULTILINE)

# What a word of the text can point at in a row: a part of its picture, or one of its states.
TERMS = ("x", "mean", "centered", "var", "spread", "eps", "gamma", "beta", "y")
STATES = [name for sheet in row.SHEETS.values() for name in sheet["states"]]
HANDLES = {f"row={name}" for name in (*TERMS, *(re.sub(r"\W+", "-", s.lower()) for s in STATES))}

every_page = pytest.mark.parametrize("page", [*PAGES, *NOTEBOOK_PATHS], ids=lambda page: page.name)


def run(code):
    """Run an example; return its names and the value of its last line."""
    *before, last = ast.parse(code).body
    exec(compile(ast.Module(before, []), "example", "exec"), names := {})
    return names, eval(compile(ast.Expression(last.value), "example", "eval"), names)


def prose(page):
    """Return the text of a page, or of a notebook's Markdown cells, without blocks of code."""
    text = page.read_text("utf-8")
    if page.suffix == ".ipynb":
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells)
    return FENCE.sub("", text)


def anchors(page):
    """Return the anchors of the headings: JupyterLab's in a notebook, GitHub's in a page.

    The web edition has none of headings below the third level.
    """
    headings = re.findall(r"^#{1,3} +(.+?) *$", prose(page), re.MULTILINE)
    if page.suffix == ".md":
        headings = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return {heading.replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(("code", "text"), SNIPPETS)
def test_a_snippet_gives_the_output_or_the_error_that_stands_below_it(code, text):
    assert output_of(code) == text


@pytest.mark.parametrize("code", EXAMPLES)
def test_an_example_runs_and_its_explorer_works(code):
    _, last = run(code)
    if isinstance(last, Explorer):
        for preset, state in last.presets.items():
            last.preset = preset
            assert last.state == [*state]
            assert last.words
        last.close()


def test_nothing_is_wrong_in_the_bank_that_the_docs_show(tmp_path, monkeypatch):
    page = (PROJECT / "docs" / "write_lessons.md").read_text("utf-8")
    first = (PROJECT / ".github" / "CONTRIBUTING.md").read_text("utf-8")
    shown = re.search(r"^    ```python\n.*?(?=^\S)", page, re.MULTILINE | re.DOTALL)
    path = tmp_path / "example.txt"
    entry = re.search(r"^( +)means_of_five\n.*?(?=^\1```)", first, re.MULTILINE | re.DOTALL)
    path.write_text("\n\n".join(map(textwrap.dedent, (shown[0], entry[0]))), "utf-8")
    module = ModuleType("example")
    monkeypatch.setattr(Exercise, "bank", {})
    monkeypatch.setitem(sys.modules, "example", module)
    BankLoader("example", str(path)).exec_module(module)
    assert list(problems(path, Exercise.bank["example"])) == []
    assert {"how_many_roots", "means_of_five", "normed_sum"} == set(module.__all__)
    said = module.normed_sum.judge(
        lambda x, f: (x + f - (x + f).mean(-1, True)) / ((x + f).std(-1, keepdim=True) + 1e-5)
    )
    named = {"variance-over-d-minus-1", "eps-outside-the-root"}
    assert {each.code for each in said.misconceptions} == named


def test_the_explorer_that_the_docs_build_moves_its_mean():
    _, explorer = run(next(code for code in EXAMPLES if "def explore_one_feature" in code))
    explorer.preset = "far away"
    explorer.frame(tuple(explorer.state))
    ((mean, _),) = explorer.panels.values()
    assert mean.get_xdata() == [13 / 3]
    explorer.close()


@every_page
def test_every_relative_link_leads_to_a_page_and_a_heading_in_the_web_edition_too(page):
    links = ["".join(found) for found in LINK.findall(re.sub(r"`[^`\n]+`", "", prose(page)))]
    for link in (link for link in links if not re.match(r"[a-z]+:|//", link)):
        name, _, anchor = unquote(link).partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target in ON_SITE, link
        assert not anchor or anchor in {*anchors(target), *HANDLES}, link


@every_page
def test_every_image_has_a_text_alternative(page):
    assert not re.findall(r'!\[\s*\]|<img\b(?![^>]*\balt="[^"]*\w)[^>]*>', prose(page))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_make_target_that_a_page_names_exists(page):
    code = "\n".join(CODE.findall(page.read_text("utf-8")))
    named = {target for targets in MAKE.findall(code) for target in targets.split()}
    assert named <= {*re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE)}


# Those of the other explorers are looked up beside them, where each is made once.
def test_every_explorer_that_a_lesson_or_a_page_names_is_there_and_every_preset_of_three():
    known = {"explore_row": STATES, "explore_stream": stream.PRESETS}
    known["explore_rings"] = rings.NETWORKS
    assert len(named_presets()) > 30
    for name, preset in named_presets():
        assert name in explorers.__all__
        assert preset in known.get(name, [preset]), name


def test_a_photograph_has_the_words_that_the_course_says_today():
    for name, words in descriptions().items():
        with Image.open(KEPT / name) as picture:
            said = picture.text["Description"]
        assert said == words, f"{name}: `make tool NAME=pictures` draws it afresh."
