"""Where no kernel runs, the pictures with sliders stand as still images; and what axe finds."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from jupyterlab_page import Page
from nbconvert import HTMLExporter
from pages import few
from project import LESSON_PATHS, NOTEBOOKS

NAMES = [path.name for path in LESSON_PATHS]
UNLIKE = [NAMES[0], NAMES[4], NAMES[5]]  # as in test_lessons_in_jupyterlab.py
ERROR = "Error displaying widget"
LOADED = "images => images.every(i => i.complete && i.naturalWidth > 0 && i.alt)"


def serious(results):
    """Name what axe calls serious or critical and what is ours."""
    return [
        f"{violation['id']}: {node['target']}"
        for violation in results.response["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


@pytest.mark.parametrize("name", few(NAMES, UNLIKE))
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


@pytest.mark.parametrize("name", few(NAMES, UNLIKE))
def test_a_notebook_that_was_just_opened_shows_all_pictures(chromium, address, name):
    page = Page(chromium, address, name)
    images = page.page.locator(".jp-OutputArea img")
    images.first.wait_for()
    assert images.evaluate_all(LOADED)
    assert page.page.get_by_text(ERROR).count() == 0
    assert page.errors == []
    page.page.close()


def test_a_notebook_that_was_run_and_saved_opens_with_its_still_images(chromium, address, lessons):
    name = NAMES[5]
    before = (lessons / name).stat().st_mtime_ns
    page = Page(chromium, address, name)
    page.run_all()
    assert page.explorers
    page.menu("File", "Save Notebook")
    page.page.wait_for_timeout(2000)
    assert (lessons / name).stat().st_mtime_ns > before
    page.menu("Kernel", "Shut Down Kernel")
    page.page.close()
    page = Page(chromium, address, name)
    page.page.get_by_text("Run this cell to get the sliders.").first.wait_for()
    assert page.page.get_by_text(ERROR).count() == 0
    assert page.errors == []
    page.page.close()


def test_without_websockets_the_still_images_stand_and_jupyterlab_keeps_connecting(
    chromium, address
):
    page = chromium.new_page()
    page.route_web_socket("**", lambda socket: socket.close())
    page.goto(address.format("without", NAMES[5]))
    page.get_by_text("| Connecting").wait_for()
    images = page.locator(".jp-OutputArea img")
    assert images.count() > 0
    assert images.evaluate_all(LOADED)
    assert page.get_by_text(ERROR).count() == 0
    page.close()
