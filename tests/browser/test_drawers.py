"""The lists at the sides of a page, by keys: opened, walked through, closed, and followed."""

import pytest
from site_page import NARROW
from test_site import LESSONS

INSIDE = "place => place.contains(document.activeElement)"
IN_SIGHT = """() => {
    const { top, bottom } = document.querySelector(':target > h2').getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
}"""


@pytest.mark.parametrize("size", [NARROW, (1100, 700)], ids=str)
def test_keys_open_a_list_walk_through_it_close_it_and_follow_it(visit, size):
    page = visit(LESSONS[5], size).page
    button = page.get_by_role("button", name="on this page")
    drawer = page.locator(".toc-drawer")
    page.get_by_role("button", name="colors").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    for _ in range(3):
        assert drawer.evaluate(INSIDE)
        page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    assert button.evaluate("button => button === document.activeElement")
    assert button.get_attribute("aria-expanded") == "false"
    page.keyboard.press("Enter")
    drawer.get_by_role("link", name="Recap").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.wait_for_function(IN_SIGHT)
    assert page.evaluate("document.querySelector(':target').contains(document.activeElement)")
    assert button.get_attribute("aria-expanded") == "false"


def test_the_buttons_of_a_phone_are_large(visit):
    page = visit(LESSONS[0], NARROW).page
    for name in ("all pages", "colors", "on this page"):
        box = page.locator(".mobile-header").get_by_role("button", name=name).bounding_box()
        assert min(box["width"], box["height"]) >= 44
