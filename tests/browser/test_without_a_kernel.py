"""Where no kernel runs, the pictures with sliders stand as still images; and what axe finds."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from nbconvert import HTMLExporter
from project import LESSON_PATHS, NOTEBOOKS
from site_page import serious

NAMES = [LESSON_PATHS[0].name, LESSON_PATHS[5].name]
ERROR = "Error displaying widget"
# The first panel of a picture has the words for all of them.
LOADED = """images => images.every(i => i.complete && i.naturalWidth > 0
    && i.closest('.jp-OutputArea-output').querySelector('img').alt)"""


@pytest.mark.parametrize("name", NAMES)
def test_an_html_export_shows_all_pictures_offline_and_can_be_read_by_all(chromium, tmp_path, name):
    html, _ = HTMLExporter().from_filename(str(NOTEBOOKS / name))
    file = tmp_path / "lesson.html"
    file.write_text(html, "utf-8")
    page = chromium.new_page()
    page.context.set_offline(True)
    page.goto(file.as_uri(), wait_until="domcontentloaded")
    images = page.locator(".jp-OutputArea img")
    assert images.count() > 0
    assert images.evaluate_all(LOADED)
    assert page.get_by_text(ERROR).count() == 0
    assert page.get_by_text("Run this cell to get the sliders.").count() > 0
    assert serious(Axe().run(page, context=".jp-OutputArea-output")) == []
    page.close()
