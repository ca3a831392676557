"""Take the README's screenshots of an explorer and of feedback, for `docs/pictures`.

The "Description" of each file stores the course's words for what it shows, so that a test can tell
if the file is out of date. The other pictures in that folder aren't made by this tool.
"""

import io
import tempfile
from pathlib import Path

import nbformat
from cells_of_tests import as_cell
from freeze import KERNEL
from jupyterlab_page import Page, browser, jupyterlab
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from PIL import Image, ImageOps
from PIL.PngImagePlugin import PngInfo
from project import PROJECT

KEPT = PROJECT / "docs" / "pictures"
SCALE, MARGIN = 1.5, 18
MOVED, MOVING_WIDTH = "difference, ×", 640
FIRST_MS, EACH_MS = 1500, 90

EXPLORER = """from lnorm_course.explorers import explore_collapse

explore_collapse(preset="two features")"""
IMPORT = "from lnorm_course.exercises.standardize import formula"
# The layer norm of "The Annotated Transformer", as an answer in lesson 3.
ATTEMPT = """def rows_standardized(x, eps):  # (N, L, D) -> (N, L, D)
    centered = x - x.mean(dim=-1, keepdim=True)
    return centered / (x.std(dim=-1, keepdim=True) + eps)

formula.check(rows_standardized)"""


def descriptions():
    """Return the course's current words for what each file shows, keyed by file name."""
    names = {}
    exec(EXPLORER.replace("\nexplore", "\nexplorer = explore"), names)
    attempt = ATTEMPT.replace("formula.check(", "feedback = formula.judge(")
    exec(as_cell(f"{IMPORT}\n{attempt}", "exec"), names)
    names["explorer"].close()
    return {"collapse.png": names["explorer"].words, "diagnosis.png": repr(names["feedback"])}


def moved(page, explorer):
    """Move a slider to its other end and back; yield a screenshot at each of its stops."""
    slider = explorer.get_by_role("slider", name=MOVED, exact=True)
    slider.focus()
    explorer.evaluate("root => root.querySelector('.tools').remove()")
    slider.evaluate("slider => slider.style.outline = 'none'")
    stops = int(slider.get_attribute("max"))
    for key in ["Shift", *["ArrowLeft"] * stops, *["ArrowRight"] * (stops - 1)]:
        slider.press(key)
        page.wait_for_timeout(150)
        image = opened(explorer)
        height = round(image.height * MOVING_WIDTH / image.width)
        yield image.resize((MOVING_WIDTH, height), Image.Resampling.LANCZOS)


def opened(element):
    """Return a screenshot of an element of a page."""
    return Image.open(io.BytesIO(element.screenshot())).convert("RGB")


def keep(name, words, images):
    """Write a picture in few colors, with its description; several images make an animation."""
    about = PngInfo()
    about.add_text("Description", words[name])
    first = images[0].quantize(method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    rest = [image.quantize(palette=first, dither=Image.Dither.NONE) for image in images[1:]]
    moving = {"append_images": rest, "duration": [FIRST_MS, *[EACH_MS] * len(rest)], "loop": 0}
    first.save(KEPT / name, optimize=True, pnginfo=about, save_all=bool(rest), **moving)
    print(f"{name}: {(KEPT / name).stat().st_size / 1000:.0f} kB")


def main():
    words = descriptions()
    below = map(new_markdown_cell, ("one that separates", "one that is selected"))
    cells = [*map(new_code_cell, (EXPLORER, IMPORT, ATTEMPT)), *below]
    notebook = new_notebook(cells=cells, metadata={"kernelspec": KERNEL})
    with tempfile.TemporaryDirectory() as folder, jupyterlab(folder) as lab, browser() as chromium:
        nbformat.write(notebook, Path(folder, "pictures.ipynb"))
        page = Page(chromium, lab, "pictures.ipynb", height=1400, device_scale_factor=SCALE)
        page.run_all()
        (explorer,) = page.explorers.all()
        explorer.locator("p", has_text=words["collapse.png"]).wait_for()
        page.page.mouse.move(0, 0)  # over a button, it would trigger a hover shadow
        keep("collapse.png", words, list(moved(page.page, explorer)))
        page.page.set_viewport_size({"width": 1024, "height": 1400})
        image = opened(page.page.locator(".jp-CodeCell").nth(2))
        image = image.crop(ImageOps.invert(image).getbbox())  # cut off the white margin
        keep("diagnosis.png", words, [ImageOps.expand(image, MARGIN, "white")])


if __name__ == "__main__":
    main()
