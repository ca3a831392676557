"""Write the sample files of `lnorm_course/lessons/file_types`: the course's own, and made ones.

A longer file is cut down to the two ends that the network reads, so nothing it says of one changes.
The committed files stay as they are when the course changes; lesson 16 speaks of them.
"""

import bz2
import gzip
import io
import lzma
import os
import pickle
import sqlite3
import sys
import tarfile
import wave
import zipfile
from pathlib import Path

import matplotlib
import numpy
import torch
from matplotlib.figure import Figure
from PIL import Image

from lnorm_course.lessons.file_types.reading import BLOCK, SIDE

PROJECT = Path(__file__).resolve().parents[1]
FILE = PROJECT / "lnorm_course" / "lessons" / "file_types" / "samples.zip"
OWN = [
    "notebooks/01_mean.ipynb",
    "notebooks/02_variance.ipynb",
    "notebooks/03_standardize.ipynb",
    "notebooks/04_gamma_beta.ipynb",
    "notebooks/05_batch_vs_layer_norm.ipynb",
    "notebooks/06_two_feature_collapse.ipynb",
    "notebooks/07_projection_fix.ipynb",
    "Makefile",
    "LICENSE",
    "README.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "pyproject.toml",
    "environment.yml",
    ".gitignore",
    ".dockerignore",
    ".gitattributes",
    ".pre-commit-config.yaml",
    ".github/workflows/test.yml",
    "deploy/Dockerfile",
    "deploy/values.yaml",
    "docs/cheat_sheet.md",
    "docs/pictures/01_mean.png",
    "docs/pictures/collapse.png",
    "lnorm_utils/functional.py",
    "lnorm_utils/modules.py",
    "lnorm_staff/web/live.js",
    "lnorm_staff/web/live.css",
    "lnorm_staff/web/favicon.svg",
    "lnorm_staff/web/stix_two_math.woff2",
    ".ci/run",
    "lnorm_course/explorers/engine/explorer.js",
    "lnorm_course/lessons/transformer/grid.json",
    "lnorm_course/lessons/transformer/pride_and_prejudice.txt",
]
SOURCES = PROJECT / "tools" / "sample_sources"


def packed(kind):
    """Put two files of the course into an archive, with no times in it."""
    buffer = io.BytesIO()
    own = {name: (PROJECT / name).read_bytes() for name in ("README.md", "lnorm_utils/modules.py")}
    if kind == "zip":
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in own.items():
                archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    else:
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            for name, content in own.items():
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def made():
    """Return files that Python, NumPy, PyTorch, Matplotlib, and Pillow write."""
    novel = (PROJECT / "lnorm_course/lessons/transformer/pride_and_prejudice.txt").read_bytes()
    database = sqlite3.connect(":memory:")
    database.execute("create table rows (word text, mean real)")
    database.executemany("insert into rows values (?, ?)", [(f"w{i}", i / 7) for i in range(99)])
    sound, arrays, tensors = io.BytesIO(), io.BytesIO(), io.BytesIO()
    with wave.open(sound, "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes((9000 * numpy.sin(numpy.arange(4000) / 9)).astype("<i2").tobytes())
    numpy.save(arrays, numpy.random.default_rng(0).normal(size=(40, 8)))
    torch.save({"weight": torch.ones(8), "bias": torch.zeros(8)}, tensors)
    font = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
    files = {
        "rows.sqlite": database.serialize(),
        "tone.wav": sound.getvalue(),
        "rows.npy": arrays.getvalue(),
        "norm.pt": tensors.getvalue(),
        "novel.txt.gz": gzip.compress(novel, mtime=0),
        "novel.txt.bz2": bz2.compress(novel),
        "novel.txt.xz": lzma.compress(novel),
        "course.zip": packed("zip"),
        "course.tar": packed("tar"),
        "list.pkl": pickle.dumps([{"word": f"w{i}", "mean": i / 7} for i in range(99)]),
        "DejaVuSans.ttf": font.read_bytes(),
    }
    return files | pictures()


def pictures():
    files = {}
    figure = Figure(figsize=(3, 2))
    figure.subplots().plot([1, 3, 2])
    for kind in ("pdf", "svg", "eps"):
        figure.savefig(buffer := io.BytesIO(), format=kind)
        files[f"plot.{kind}"] = buffer.getvalue()
    image = Image.open(PROJECT / "docs" / "pictures" / "01_mean.png").convert("RGB")
    for kind in ("jpeg", "gif", "bmp", "webp", "tiff", "ico"):
        image.save(buffer := io.BytesIO(), format=kind)
        files[f"mean.{kind}"] = buffer.getvalue()
    return files


def ends(content):
    """Cut out what the network doesn't read."""
    if len(content) <= 2 * SIDE:
        return content
    return content[:BLOCK].lstrip()[:SIDE] + content[-BLOCK:].rstrip()[-SIDE:]


def main():
    # No dates and no chance, so that the pictures come out the same each time.
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    matplotlib.rcParams["svg.hashsalt"] = "samples"
    contents = {name.split("/")[-1]: (PROJECT / name).read_bytes() for name in OWN}
    contents |= {path.name: path.read_bytes() for path in sorted(SOURCES.iterdir())} | made()
    with zipfile.ZipFile(FILE, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(zipfile.ZipInfo(name), ends(content), zipfile.ZIP_DEFLATED)
    print(f"{len(contents)} files")


if __name__ == "__main__":
    sys.exit(main())
