"""The four numbers of the first page become what the course's own function computes."""

import pytest
import torch
from hands import Touch
from site_page import NARROW, WIDE

from lnorm_utils import layer_norm

ROWS = [
    (-6, 0, 2, 8),
    (8, -8, 8, 8),
    (-8, 8, -8, 8),
    (1, 1, 1, 1.25),
    (0, 0, 0, 0),
    (-3, -3, -3, -3),
]
SET = """(figure, row) => figure.querySelectorAll('input').forEach((input, i) => {
    input.value = row[i];
    input.dispatchEvent(new Event('input', { bubbles: true }));
})"""
# Where each dot is drawn, in units of its line, which has so many of them on each side of 0.
SEEN = """figure => Object.fromEntries([['upper', 11], ['lower', 2.2]].map(([name, most]) => {
    const line = figure.querySelector(`.${name}`).getBoundingClientRect();
    return [name, [...figure.querySelectorAll(`.${name} .dot`)].map(dot => {
        const { left, width } = dot.getBoundingClientRect();
        return ((left + width / 2 - line.left) / line.width * 2 - 1) * most;
    })];
}))"""


def check(figure, row):
    """Assert that the picture and its table show a row and its layer norm."""
    row = torch.tensor(row, dtype=torch.float64)
    normed = layer_norm(row, 4)
    seen = figure.evaluate(SEEN)
    torch.testing.assert_close(torch.tensor(seen["upper"]).double(), row, atol=0.05, rtol=0)
    torch.testing.assert_close(torch.tensor(seen["lower"]).double(), normed, atol=0.01, rtol=0)
    lines = [row.locator("td").all_inner_texts() for row in figure.locator("tbody tr").all()]
    numbers = [[float(cell.replace("−", "-")) for cell in line[:4]] for line in lines]
    centered = row - row.mean()
    for found, expected in zip(numbers, (row, centered, centered**2, normed), strict=True):
        torch.testing.assert_close(torch.tensor(found).double(), expected, atol=0.0051, rtol=0)
    mean, _, variance, root = [line[4].split(" ")[-1] for line in lines]
    assert float(mean.replace("−", "-")) == pytest.approx(float(row.mean()), abs=0.0051)
    assert float(variance) == pytest.approx(float(row.var(correction=0)), abs=0.0051)
    assert float(root) == pytest.approx(float((row.var(correction=0) + 1e-5).sqrt()), abs=0.0051)


def values(figure):
    return [
        float(value)
        for value in figure.locator("input").evaluate_all("all => all.map(i => i.value)")
    ]


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=str)
def test_the_picture_shows_the_layer_norm_of_what_is_set(visit, size):
    page = visit("index.html", size).page
    figure = page.locator(".lnorm-hero")
    check(figure, ROWS[0])
    for row in ROWS:
        figure.evaluate(SET, row)
        check(figure, row)
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


def test_a_dot_is_moved_by_keys_by_mouse_and_by_finger(visit):
    page = visit("index.html").page
    figure = page.locator(".lnorm-hero")
    page.get_by_role("slider", name="number a").focus()
    page.keyboard.press("ArrowRight")
    check(figure, (-5.75, 0, 2, 8))
    box = figure.locator(".upper .dot").nth(1).bounding_box()
    page.mouse.move(box["x"] + 13, box["y"] + 13)
    page.mouse.down()
    page.mouse.move(box["x"] + 113, box["y"] + 13, steps=4)
    page.mouse.up()
    moved = values(figure)
    assert moved[1] > 2
    assert [moved[0], *moved[2:]] == [-5.75, 2, 8]
    check(figure, moved)


def test_a_finger_moves_a_dot(visit):
    page = visit("index.html", **Touch.options).page
    figure = page.locator(".lnorm-hero")
    figure.locator(".plot").scroll_into_view_if_needed()
    box = figure.locator(".upper .dot").first.bounding_box()
    finger = page.context.new_cdp_session(page)
    for kind, by in (("touchStart", 0), ("touchMove", 20), ("touchMove", 60)):
        points = [{"x": box["x"] + 13 + by, "y": box["y"] + 13}]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    moved = values(figure)
    assert moved[0] > -4
    assert moved[1:] == [0, 2, 8]
    check(figure, moved)


def test_buttons_shift_and_equalize_and_start_over(visit):
    page = visit("index.html", reduced_motion="reduce").page
    figure = page.locator(".lnorm-hero")
    for button, row in (
        ("shift all four", (-4, 2, 4, 10)),
        ("shift all four", (-6, 0, 2, 8)),
        ("shift all four", (-8, -2, 0, 6)),
        ("make them equal", (-1, -1, -1, -1)),
        ("start over", ROWS[0]),
    ):
        figure.get_by_role("button", name=button).click()
        page.wait_for_timeout(100)
        check(figure, row)


def test_each_term_of_the_formula_is_lit_with_what_it_computes(visit):
    page = visit("index.html").page
    figure = page.locator(".lnorm-hero")
    figure.evaluate(
        """figure => { window.lit = []; new MutationObserver(() => {
            const lit = figure.querySelector('math .lit, math.lit')?.dataset.step;
            if (lit && window.lit.at(-1) !== lit) window.lit.push(lit);
        }).observe(figure, { subtree: true, attributeFilter: ['class'] }); }"""
    )
    page.wait_for_timeout(2500)  # what is lit when the page opens is over
    figure.get_by_role("slider", name="number d").press("ArrowLeft")
    page.wait_for_function("lit.slice(-5).join() === '1,2,3,4,5'")
    page.wait_for_function("!document.querySelector('.lnorm-hero .lit')")


def test_without_javascript_the_picture_stands_as_it_begins(visit):
    looks = [
        visit("index.html", java_script_enabled=script)
        .page.locator(".lnorm-hero tbody")
        .inner_text()
        for script in (True, False)
    ]
    assert looks[0] == looks[1]
    check(visit("index.html").page.locator(".lnorm-hero"), ROWS[0])
