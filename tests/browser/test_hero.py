"""The four numbers of the first page become what the course's own function computes."""

import pytest
import torch
from hands import Mouse, Touch

from lnorm_utils import layer_norm

ROWS = [(-6, 0, 2, 8), (-8, 8, -8, 8), (1, 1, 1, 1.25), (0, 0, 0, 0)]
SET = """(figure, row) => figure.querySelectorAll('input').forEach((input, i) => {
    input.value = row[i];
    input.dispatchEvent(new Event('input', { bubbles: true }));
})"""
VALUES = "inputs => inputs.map(input => input.value)"
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
    *_, last = figure.locator("tbody tr").all()
    said = [float(cell.replace("−", "-")) for cell in last.locator("td").all_inner_texts()[:4]]
    torch.testing.assert_close(torch.tensor(said).double(), normed, atol=0.0051, rtol=0)


def values(figure):
    return [
        float(value)
        for value in figure.locator("input").evaluate_all("all => all.map(i => i.value)")
    ]


def test_the_picture_shows_the_layer_norm_of_what_is_set(visit):
    figure = visit("index.html").page.locator(".lnorm-hero")
    check(figure, ROWS[0])
    for row in ROWS:
        figure.evaluate(SET, row)
        check(figure, row)


@pytest.mark.parametrize("hand", [Mouse, Touch])
def test_a_dot_is_moved_by_keys_by_mouse_and_by_finger(visit, hand):
    page = visit("index.html", **hand.options).page
    figure = page.locator(".lnorm-hero")
    page.get_by_role("slider", name="number a").focus()
    page.keyboard.press("ArrowRight")
    check(figure, (-5.75, 0, 2, 8))
    hand(page).pull(figure.locator(".upper .dot").nth(1), 80, 0)
    moved = [float(value) for value in figure.locator("input").evaluate_all(VALUES)]
    assert moved[1] > 2
    assert [moved[0], *moved[2:]] == [-5.75, 2, 8]
    check(figure, moved)
