"""A lecture is given by keys alone, and polls are read by programs of other people."""

import html
import json
import re
import subprocess
import zipfile
from xml.etree import ElementTree

import pytest
from project import NOTEBOOK_PATHS, PROJECT
from site_page import serious

from lnorm_course.lab.lesson_files import exercises
from lnorm_staff.web.baking import curly
from lnorm_staff.web.lecture import read_lectures
from lnorm_staff.web.polls import predictions, write_polls
from lnorm_utils.words import inline

SMALLEST = 28  # pixels
LAST_ROW = (1920, 1080)
PARSER = PROJECT / ".venv/polls/node_modules/gift-pegjs"
READ = """
const text = require("fs").readFileSync(0, "utf8");
console.log(JSON.stringify(require(process.argv[1]).parse(text)));
"""
QTI = "{http://www.imsglobal.org/xsd/imsqti_v2p1}"
# Of the screen that is shown: texts with their sizes, and how much of the height its picture has.
SEEN = """() => {
    const screen = [...document.querySelectorAll('section')].find((one) => one.checkVisibility());
    const sized = (element) => {
        const svg = element.closest('.scene svg');
        const size = parseFloat(getComputedStyle(element).fontSize);
        if (svg) return size * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
        for (var zoom = 1, one = element; one; one = one.parentElement)
            zoom *= Number(getComputedStyle(one).zoom);
        return size * zoom;
    };
    const texts = [];
    const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const [text, element] = [walker.currentNode.data.trim(), walker.currentNode.parentElement];
        const { width, height, bottom, right } = element.getBoundingClientRect();
        if (!text || element.closest('table, script') || width * height < 2) continue;
        if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
        texts.push([text, sized(element), bottom <= innerHeight + 1 && right <= innerWidth + 1]);
    }
    const picture = screen.querySelector('.scene, .stage, .figures')?.getBoundingClientRect();
    return { texts, picture: picture && picture.height / innerHeight, address: location.hash };
}"""


LECTURES = read_lectures(PROJECT / "docs/lectures.toml")


@pytest.mark.parametrize("name", LECTURES)
def test_a_lecture_is_given_by_keys_and_tells_no_answer_before_its_asked_for(visit, name):
    page = visit(f"lecture.html#{name}/1", LAST_ROW).page
    waiting = [predictions()[part["ask"]].answers[0].why for part in LECTURES[name]]
    screens = []  # since the last answer
    while not screens or page.evaluate("location.hash") != screens[-1]["address"]:
        page.wait_for_timeout(300)
        screens.append(seen := page.evaluate(SEEN))
        assert min(size for _, size, _ in seen["texts"]) >= SMALLEST, seen["address"]
        assert all(is_inside for *_, is_inside in seen["texts"]), seen["address"]
        assert seen["picture"] is None or seen["picture"] >= 0.8, seen["address"]
        assert name != "fifteen" or serious(page) == [], seen["address"]
        told = " ".join(text for text, *_ in seen["texts"])
        if is_told := page.locator("li.right:visible").count() == 1:
            assert len(screens) > 2  # the question, and what shows the answer
        longest = max(waiting[0].split("`"), key=len).strip()  # code in it is a text of its own
        assert (curly(longest) in told) == is_told, seen["address"]
        page.keyboard.press("PageDown" if seen["picture"] else "Space")
        if is_told:
            del waiting[0]
            screens = [] if waiting else screens
    assert waiting == []
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("location.hash") != screens[-1]["address"]


@pytest.fixture(scope="module")
def polls(tmp_path_factory):
    out = tmp_path_factory.mktemp("polls")
    write_polls(NOTEBOOK_PATHS, out, "https://course.example/")
    return out


def test_another_parser_reads_each_poll_in_gift(polls):
    if not PARSER.exists():
        pytest.skip("needs npm")
    text = (polls / "polls.gift.txt").read_text("utf-8")
    read = subprocess.run(["node", "-e", READ, PARSER], input=text, capture_output=True, text=True)
    found = {each["title"].split(", ")[1]: each["choices"] for each in json.loads(read.stdout)}
    asked = {name for path in NOTEBOOK_PATHS for name in exercises(json.loads(path.read_text()))}
    assert {*found} == asked & {*predictions()}
    for name, choices in found.items():
        question = predictions()[name]
        right = [each["isCorrect"] for each in choices]
        assert (right.count(True), len(right)) == (1, 1 + len(question.wrong))
        told = {each["feedback"]["text"] for each in choices}
        assert told == {curly(inline(each.why)) for each in (question.answers[0], *question.wrong)}


def test_each_poll_has_an_item_in_qti_whose_feedback_is_that_of_the_choice_and_a_code(polls):
    with zipfile.ZipFile(polls / "polls.qti.zip") as package:
        names = {*package.namelist()} - {"imsmanifest.xml"}
        listed = re.findall(r'<file href="(.+?)"', package.read("imsmanifest.xml").decode())
        assert {*listed} == names
        for name in names:
            item = ElementTree.fromstring(package.read(name))
            told = {f.get("identifier"): f for f in item.iter(f"{QTI}modalFeedback")}
            question = predictions()[name.removesuffix(".xml").split("-")[1]]
            assert len(told) == 1 + len(question.wrong)
            assert {*told} == {one.get("identifier") for one in item.iter(f"{QTI}simpleChoice")}
            right = told[item.find(f".//{QTI}correctResponse/{QTI}value").text]
            words = "".join(right.itertext())
            assert words == html.unescape(curly(question.answers[0].why)).replace("`", "")
            assert (polls / name).with_suffix(".svg").stat().st_size > 1000
