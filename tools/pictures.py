"""Photograph the explorer and the feedback of the README in JupyterLab, into `docs/pictures`.

Each file keeps, as its "Description", the words that the course has for what it shows: from them a
test can tell that it's out of date. The small picture of each lesson beside them is drawn once.
"""

import ast
import contextlib
import io
import sys
import tempfile
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import nbformat
from freeze import KERNEL
from jupyterlab_page import Page, browser, jupyterlab
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from PIL import Image, ImageOps
from PIL.PngImagePlugin import PngInfo
from project import PROJECT

KEPT = PROJECT / "docs" / "pictures"
SCALE, MARGIN = 1.5, 18
MOVED, MOVING_WIDTH = "difference, ×", 640

EXPLORER = """from lnorm_course.explorers import explore_collapse

explore_collapse(preset="two features")"""
IMPORT = "from lnorm_course.exercises.standardize import formula"
# The layer norm of "The Annotated Transformer", as an answer in lesson 3.
ATTEMPT = """def rows_standardized(x, eps):  # (N, L, D) -> (N, L, D)
    centered = x - x.mean(dim=-1, keepdim=True)
    return centered / (x.std(dim=-1, keepdim=True) + eps)

formula.check(rows_standardized)"""


def descriptions():
    """Return {file: the words that the course has today for what it shows}."""
    explorer = value_of(EXPLORER)
    explorer.close()
    feedback = value_of(IMPORT, ATTEMPT.replace(".check(", ".judge("))
    return {"collapse.png": explorer.words, "diagnosis.png": repr(feedback)}


def value_of(*sources):
    """Run cells, and return the value of the last line."""
    names = {}
    *before, last = ast.parse("\n".join(sources)).body
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(ast.Module(before, []), "<cells>", "exec"), names)
        return eval(compile(ast.Expression(last.value), "<cells>", "eval"), names)


def photographed(words):
    """Yield the explorer, and the attempt with its feedback, as JupyterLab shows them."""
    below = map(new_markdown_cell, ("one that separates", "one that is selected"))
    cells = [*map(new_code_cell, (EXPLORER, IMPORT, ATTEMPT)), *below]
    with tempfile.TemporaryDirectory() as folder, jupyterlab(folder) as address:
        notebook = new_notebook(cells=cells, metadata={"kernelspec": KERNEL})
        nbformat.write(notebook, Path(folder, "pictures.ipynb"))
        with browser() as chromium:
            sharp = SimpleNamespace(new_page=partial(chromium.new_page, device_scale_factor=SCALE))
            page = Page(sharp, address, "pictures.ipynb", height=1400)
            page.run_all()
            (explorer,) = page.explorers.all()
            explorer.locator("p", has_text=words).wait_for()
            page.page.mouse.move(0, 0)  # over a button it would cast a shadow
            yield "collapse.png", list(moved(page.page, explorer))
            page.page.set_viewport_size({"width": 1024, "height": 1400})
            attempt = page.page.locator(".jp-CodeCell").nth(2)
            yield "diagnosis.png", [framed(attempt.screenshot())]


def moved(page, explorer):
    """Move a slider to its other end and back; yield what is seen at each of its stops."""
    slider = explorer.get_by_role("slider", name=MOVED, exact=True)
    slider.focus()
    explorer.evaluate("root => root.querySelector('.tools').remove()")
    slider.evaluate("slider => slider.style.outline = 'none'")
    stops = int(slider.get_attribute("max"))
    for key in ["", *["ArrowLeft"] * stops, *["ArrowRight"] * (stops - 1)]:
        if key:
            slider.press(key)
            page.wait_for_timeout(150)
        image = Image.open(io.BytesIO(explorer.screenshot())).convert("RGB")
        height = round(image.height * MOVING_WIDTH / image.width)
        yield image.resize((MOVING_WIDTH, height), Image.Resampling.LANCZOS)


def framed(png):
    """Cut off the white around a photograph, and put an even margin there."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    return ImageOps.expand(image.crop(ImageOps.invert(image).getbbox()), MARGIN, "white")


def keep(name, images, words):
    """Write a picture with few colors, and with the words for it; it moves if there are several."""
    about = PngInfo()
    about.add_text("Description", words)
    first = images[0].quantize(method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    rest = [image.quantize(palette=first, dither=Image.Dither.NONE) for image in images[1:]]
    durations = [1500, *[90] * len(rest)]  # milliseconds
    options = {"save_all": True, "append_images": rest, "duration": durations, "loop": 0}
    first.save(KEPT / name, optimize=True, pnginfo=about, **(options if rest else {}))
    print(f"{name}: {(KEPT / name).stat().st_size / 1000:.0f} kB")


def main():
    words = descriptions()
    for name, images in photographed(words["collapse.png"]):
        keep(name, images, words[name])


if __name__ == "__main__":
    sys.exit(main())
