"""Programs with gaps: on a page they're judged as in Python, and in JupyterLab by the kernel."""

import pytest
from exercise_banks import BY_NAME
from jupyterlab_page import Page, notebook
from site_page import NARROW, served

from lnorm_course.checking.choosing import outcomes, to_change
from lnorm_staff.web.baking import curly
from lnorm_staff.web.questions import code_exercise
from lnorm_staff.web.site import write_static

PAGE = """<!doctype html><meta charset="utf-8"><title>Choosing</title>
<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="live.css">
<p class="lnorm-progress"></p>{}
<details class="lnorm-answer"><summary>Go on</summary></details>
<script type="module" src="live.js"></script>"""
# Choose one program after the other, and tell which gaps have to change.
JUDGED = """async (form, programs) => {
    const selects = [...form.querySelectorAll('select')];
    const seen = [];
    for (const chosen of programs) {
        selects.forEach((select, n) => { select.value = chosen[n]; });
        form.requestSubmit();
        await new Promise((resolve) => setTimeout(resolve));
        const wrong = selects.flatMap((select, n) => select.ariaInvalid === 'true' ? [n] : []);
        seen.push([wrong, form.querySelector('.said').textContent]);
    }
    return seen;
}"""


@pytest.fixture
def opened(chromium, tmp_path, request):
    """Open a page with nothing but one exercise."""
    exercise = BY_NAME[request.param]
    table = outcomes(exercise.template, exercise.is_right_with)
    write_static(tmp_path)
    (tmp_path / "index.html").write_text(PAGE.format(code_exercise(exercise, "", table)), "utf-8")
    context = chromium.new_context(viewport=dict(zip(("width", "height"), NARROW, strict=True)))
    with served(tmp_path) as home:
        page = context.new_page()
        page.goto(home)
        yield exercise, page
    context.close()


# In the second one, two wrong pieces make a right program together.
@pytest.mark.parametrize("opened", ["swap", "unit_w"], indirect=True)
def test_every_program_is_judged_as_in_python(opened):
    exercise, page = opened
    template = exercise.template
    seen = page.locator("form").evaluate(JUDGED, template.programs)
    for chosen, (wrong, said) in zip(template.programs, seen, strict=True):
        assert wrong == to_change(template, chosen, exercise.is_right_with), chosen
        assert said.startswith("✗" if wrong else "✓ Right")
        for n in wrong:
            assert curly(template.gaps[n][chosen[n]].why.replace("`", "")) in said


@pytest.mark.parametrize("opened", ["row_means"], indirect=True)
def test_it_is_done_with_keys_and_kept(opened):
    _, page = opened
    pieces = ["-1", "True"]
    gaps = page.get_by_role("combobox")
    names = gaps.evaluate_all("gaps => gaps.map(gap => gap.ariaLabel)")
    assert names == [
        "gap 1 of 2, line 2, after return x.mean(dim=",
        "gap 2 of 2, line 2, after , keepdim=",
    ]
    page.get_by_role("button", name="Check").press("Enter")
    assert gaps.first.evaluate("gap => gap === document.activeElement")
    for number, piece in enumerate(pieces):
        gaps.nth(number).focus()
        page.keyboard.type(piece)
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    for _ in range(2):
        page.locator(".said").get_by_text("Right").wait_for()
        assert page.locator(".lnorm-answer").get_attribute("open") is not None
        assert page.locator(".lnorm-progress").inner_text().startswith("1 of 1 ")
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW[0]
        page.reload()


def test_in_jupyterlab_the_kernel_runs_what_is_chosen(chromium, address, lessons):
    cell = "from lnorm_course.exercises.mean import row_means\nrow_means.choose()"
    page = Page(chromium, address, notebook(lessons, "choosing.ipynb", cell))
    page.run_all()
    for piece, said in (("0", "over the points of the batch"), ("-1", "Now write it yourself")):
        page.page.get_by_role("combobox", name="gap 1 of 2, line 2").select_option(label=piece)
        page.page.get_by_role("combobox", name="gap 2 of 2, line 2").select_option(label="True")
        page.page.get_by_role("button", name="Check", exact=True).click()
        page.page.locator(".said").get_by_text(said).wait_for()
    assert page.errors == []
    page.page.close()
