"""What a reader meets who drops in: by a link, without a connection, without a script, on paper."""

import re

import pytest
from site_page import NARROW

LINKS = [
    "notebooks/06_two_feature_collapse.html#collapse=three-features-a-circle",
    "docs/hour.html#stream=24-blocks-pre-ln",
]
WITH_CARDS = [
    "03_standardize",
    "06_two_feature_collapse",
    "08_build_the_layer",
    "13_half_precision",
]
PASSAGES = """() => [...document.querySelectorAll('.lnorm-passage')].map(passage => ({
    asks: passage.querySelectorAll('form, .lnorm-exercise, .lnorm-live').length,
    title: passage.querySelector('h2').firstChild.textContent,
}))"""
# What the reader does next follows each passage, or what stands behind all of the lesson.
ENDS = """() => [...document.querySelectorAll('.lnorm-passage')].map(passage => {
    const next = passage.nextElementSibling;
    const acts = 'form, details, .lnorm-exercise, .lnorm-live, .lnorm-progress';
    return next === null || next.matches(acts)
        || /^(Predict|Your turn|Explore)/.test(next.textContent.trim());
})"""


@pytest.mark.parametrize("link", LINKS)
def test_a_link_to_a_state_opens_where_the_picture_stands(visit, link):
    page = visit(link, NARROW, is_mobile=True, has_touch=True).page
    topic = link.split("#")[1].split("=")[0]
    place = page.locator(f"#{topic}")
    place.locator(".lnorm-explorer > p:not(:empty)").wait_for()
    page.wait_for_timeout(500)
    assert page.evaluate("scrollY") > NARROW[1]
    assert 0 <= place.bounding_box()["y"] < 100


def test_without_a_connection_the_still_image_stays_and_one_can_try_again(visit):
    opened = visit("index.html", NARROW)
    opened.context.route("**/*.gz", lambda route: route.abort("internetdisconnected"))
    opened.open(LINKS[0].split("#")[0])
    page = opened.page
    page.locator(".lnorm-live").scroll_into_view_if_needed()
    again = page.get_by_role("button", name="Try again")
    again.wait_for()
    still = page.locator(".lnorm-live img.still")
    assert still.is_visible()
    again.click()  # still without a connection
    again.wait_for()
    assert opened.wrong
    opened.wrong.clear()
    opened.context.unroute("**/*.gz")
    again.click()
    page.locator(".lnorm-explorer > p:not(:empty)").wait_for()
    still.wait_for(state="detached")
    assert not again.is_visible()
    opened.explorers[0].check()


@pytest.mark.parametrize("name", WITH_CARDS)
def test_a_card_closes_a_whole_passage_for_everyone_until_an_answer_is_shown(visit, name):
    page = visit(f"notebooks/{name}.html").page
    passages = page.evaluate(PASSAGES)
    assert passages
    assert all(page.evaluate(ENDS))
    titles = [passage["title"] for passage in passages]
    assert [passage["asks"] for passage in passages] == [0] * len(passages)
    headings = page.get_by_role("heading", level=2)
    told = [*headings.all_inner_texts(), page.locator(".toc-tree").inner_text()]
    assert not any(title in text for title in titles for text in told)
    cards = page.get_by_role("button", name="show what comes next")
    cards.first.click()
    assert page.evaluate("document.activeElement.firstChild.textContent") == titles[0]
    assert titles[0] in page.locator(".toc-tree").inner_text()
    for fold in page.locator(".lnorm-answer > summary").all():
        fold.click()
    assert cards.count() == 0
    assert {*titles} <= {text.rstrip("¶") for text in headings.all_inner_texts()}


def test_a_link_to_a_closed_passage_opens_it(visit):
    name = "notebooks/06_two_feature_collapse.html"
    closed = visit(name).page.locator("section:has(> .lnorm-passage)").first.get_attribute("id")
    heading = visit(f"{name}#{closed}").page.locator(f"[id='{closed}'] > h2")
    heading.wait_for()
    assert 0 <= heading.bounding_box()["y"] < 100


@pytest.mark.parametrize("name", ["index.html", "notebooks/01_mean.html", "docs/hour.html"])
def test_without_javascript_nothing_promises_what_does_not_work(visit, name):
    page = visit(name, NARROW, java_script_enabled=False).page
    assert not any(b.is_visible() for b in page.locator(".content :is(button, input)").all())
    assert "work right here" not in page.locator(".content").inner_text()


def test_a_page_prints_without_what_only_a_screen_needs(visit):
    page = visit("notebooks/06_two_feature_collapse.html").page
    page.locator(".lnorm-live").first.scroll_into_view_if_needed()
    page.locator(".lnorm-explorer > p:not(:empty)").first.wait_for()
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 700, "height": 900})  # about a sheet
    assert not page.locator(".skip-to-content").is_visible()
    assert page.locator(".lnorm-passage").first.is_visible()
    wide = "all => all.filter(e => e.offsetParent && e.scrollWidth > e.clientWidth + 1).length"
    assert page.locator("pre").count() > 10
    assert page.locator(":is(pre, .stage)").evaluate_all(wide) == 0


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_the_cheat_sheet_of_the_site_prints_on_one_sheet(visit, paper):
    page = visit("docs/cheat_sheet.html").page
    margins = dict.fromkeys(("top", "right", "bottom", "left"), "10mm")
    printed = page.pdf(format=paper, margin=margins)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
