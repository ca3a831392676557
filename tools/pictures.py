"""Draw the pictures of the README from the course itself, into `docs/pictures`.

The explorer and the diagnosis are photographed in JupyterLab. The picture of each lesson is one of
its own, drawn again on smaller axes. Each file keeps, as its "Description", the words that the
course has for what it shows: from them a test can tell that a picture is out of date.
"""

import ast
import contextlib
import io
import sys
import tempfile
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import matplotlib
import nbformat
from freeze import KERNEL
from jupyterlab_page import Page, browser, jupyterlab
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from PIL import Image, ImageOps
from PIL.PngImagePlugin import PngInfo
from project import NOTEBOOKS, PROJECT

from lnorm_utils.plotting.picture import STYLE

KEPT = PROJECT / "docs" / "pictures"
SCALE, MARGIN = 1.5, 18
MOVED, MOVING_WIDTH = "difference, ×", 640
SMALL, DPI = (3.84, 2.4), 125  # inches; 480 × 300 pixels, to be shown at 240 × 150

EXPLORER = """from lnorm_course.explorers import explore_collapse

explore_collapse(preset="two features")"""
IMPORT = "from lnorm_course.exercises.standardize import formula"
# The layer norm of "The Annotated Transformer", as an answer in lesson 3.
ATTEMPT = """def rows_standardized(x, eps):  # (N, L, D) -> (N, L, D)
    centered = x - x.mean(dim=-1, keepdim=True)
    return centered / (x.std(dim=-1, keepdim=True) + eps)

formula.check(rows_standardized)"""


class Small(NamedTuple):
    """Which picture of a lesson is drawn small: its cell and panels, and what is around them."""

    cell: str
    alt: str  # what the README says that it shows
    titles: list[str]  # {} stands for the title that the panel has
    below: list[str]
    panels: tuple[int, ...] = (0,)
    without: tuple[str, ...] = ()  # "x" and "y": the numbers on that axis; "texts"; "legend"


LESSONS = {
    "01_mean": Small("6c0e51a3", "rows in colors", ["each row has its own mean"], ["feature"]),
    "02_variance": Small(
        "1e721e6e",
        "rows of dots",
        ["features, mean ± standard deviation"],
        ["value"],
        without=("y", "legend"),
    ),
    "03_standardize": Small(
        "85a1520d",
        "histograms, before and after",
        ["{}", "{}"],
        ["before", "after"],
        (0, 2),
        without=("y",),
    ),
    "04_gamma_beta": Small(
        "ba5774d2", "columns in colors", ["each feature has its own γ"], ["feature"]
    ),
    "05_batch_vs_layer_norm": Small(
        "893dfeb4", "batch norm jumps", ["one point in twenty batches"], ["batch"]
    ),
    "06_two_feature_collapse": Small(
        "6a33f68a",
        "a cloud, two corners",
        ["{}", "{}"],
        ["feature 0", "feature 0"],
        (0, 1),
        without=("x", "texts"),
    ),
    "07_projection_fix": Small(
        "4daa7cb2", "two rising curves", ["share that can be recovered"], ["projection size"]
    ),
    "08_build_the_layer": Small(
        "ff797f5a",
        "two rings, one network that tells them apart",
        ["no norm", "layer norm"],
        ["", ""],
        (3, 7),
        without=("legend",),
    ),
    "09_rms_norm": Small("rms-13", "two rings on one circle", ["behind RMSNorm"], ["feature 0"]),
    "10_add_and_norm": Small(
        "add-norm-16", "variance over blocks", ["variance of the stream"], ["blocks passed"]
    ),
    "11_train_it": Small(
        "01e3dcf5",
        "probabilities by distance",
        ["said of each point"],
        ["distance from the origin"],
    ),
    "12_backward_pass": Small("b12a0021", "table of slopes", ["slopes of layer norm"], ["input"]),
    "13_half_precision": Small(
        "precision-25", "errors by offset", ["error in bfloat16"], ["offset"]
    ),
    "14_invariances": Small(
        "inv-19",
        "weights move, outputs stay",
        ["{}", "{}"],
        ["output", "point"],
        (1, 2),
        without=("y",),
    ),
    "15_transformer": Small(
        "trf-45", "losses by rate", ["loss on new text"], ["learning rate"], without=("texts",)
    ),
    "16_in_the_wild": Small(
        "wild-18", "γ over places", ["γ of norm 1"], ["place in the file"], without=("legend",)
    ),
    "17_find_the_bug": Small(
        "l08-40", "errors of layers", [""], ["largest error"], without=("x", "texts")
    ),
}


def descriptions():
    """Return {file: the words that the course has today for what it shows}."""
    explorer = value_of(EXPLORER)
    explorer.close()
    feedback = value_of(IMPORT, ATTEMPT.replace(".check(", ".judge("))
    lessons = {f"{name}.png": said(name, small.cell) for name, small in LESSONS.items()}
    return {"collapse.png": explorer.words, "diagnosis.png": repr(feedback), **lessons}


def said(lesson, cell):
    """Return what a notebook says of the picture of a cell: in place of it, and under it."""
    outputs = cells_until(lesson, cell)[-1].outputs
    data = [output.data for output in outputs if output.output_type != "stream"]
    said = [each.get("text/markdown", each["text/plain"]) for each in data]
    return ". ".join(text.removeprefix("**In words.** ") for text in said)


def cells_until(lesson, last):
    """Return the code cells of a lesson, from the first to the one with this id."""
    cells = nbformat.read(NOTEBOOKS / f"{lesson}.ipynb", as_version=4).cells
    end = [cell.id for cell in cells].index(last)
    return [cell for cell in cells[: end + 1] if cell.cell_type == "code"]


def value_of(*sources):
    """Run cells, and return the value of the last line."""
    names = {}
    *before, last = ast.parse("\n".join(sources)).body
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(ast.Module(before, []), "<cells>", "exec"), names)
        return eval(compile(ast.Expression(last.value), "<cells>", "eval"), names)


@matplotlib.rc_context(STYLE)
def drawn_small(lesson, small):
    """Draw some panels of a picture on smaller axes, with letters as large as before."""
    value = value_of(*(cell.source for cell in cells_until(lesson, small.cell)))
    picture = getattr(value, "picture", value)  # an explorer has one
    panels = [picture.axes[index] for index in small.panels]
    has_legend = picture.legends and "legend" not in small.without
    texts = [text for ax in panels for text in ax.texts if "texts" in small.without]
    for part in [*picture.legends, *texts, *(ax for ax in picture.axes if ax not in panels)]:
        part.remove()
    places = picture.add_gridspec(1, len(panels))
    for ax, place, title, below in zip(panels, places, small.titles, small.below, strict=True):
        ax.set_subplotspec(place)
        ax.set_in_layout(True)  # an explorer has set its place by hand
        ax.set(title=title.format(ax.get_title()), xlabel=below, ylabel="")
        for axis in {"x", "y"} & {*small.without}:
            ax.tick_params(axis, labelbottom=False, labelleft=False, length=0)
    if has_legend:
        named = [line for line in panels[0].lines if not line.get_label().startswith("_")]
        shown = [line for line in named if len(line.get_xdata())]
        picture.legend(handles=shown, loc="outside upper center", ncols=2)
    picture.set_size_inches(SMALL)
    picture.set_layout_engine("constrained")
    file = io.BytesIO()
    picture.savefig(file, dpi=DPI)
    return Image.open(file).convert("RGB")


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
            page.explorers[0].wait_for(words)
            page.page.mouse.move(0, 0)  # over a button it would cast a shadow
            yield "collapse.png", list(moved(page.explorers[0]))
            page.page.set_viewport_size({"width": 1024, "height": 1400})
            attempt = page.page.locator(".jp-CodeCell").nth(2)
            yield "diagnosis.png", [framed(attempt.screenshot())]


def moved(shown):
    """Move a slider to its other end and back; yield what is seen at each of its stops."""
    slider = shown.control(MOVED)
    slider.focus()
    shown.root.evaluate("root => root.querySelector('.tools').remove()")
    shown.root.evaluate("root => document.activeElement.style.outline = 'none'")
    stops = int(slider.get_attribute("max"))
    for key in ["", *["ArrowLeft"] * stops, *["ArrowRight"] * (stops - 1)]:
        if key:
            shown.press(MOVED, key)
            shown.page.wait_for_timeout(150)
        image = Image.open(io.BytesIO(shown.root.screenshot())).convert("RGB")
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
    KEPT.mkdir(parents=True, exist_ok=True)
    words = descriptions()
    for lesson, small in LESSONS.items():
        keep(f"{lesson}.png", [drawn_small(lesson, small)], words[f"{lesson}.png"])
    for name, images in photographed(words["collapse.png"]):
        keep(name, images, words[name])


if __name__ == "__main__":
    sys.exit(main())
