"""The network beside the original in onnxruntime, on every file of this repository."""

import io
from pathlib import Path

import pytest
import torch
from project import PROJECT

from lnorm_utils.file_types import as_codes, magika


@pytest.fixture(scope="module")
def original():
    reason = "compares with the original: pip install magika==1.0.3"
    return pytest.importorskip("magika", reason=reason)


@pytest.fixture(scope="module")
def contents():
    folders = ("lnorm_utils", "notebooks", "docs", "tools", "deploy")
    paths = (path for folder in folders for path in sorted((PROJECT / folder).rglob("*.*")))
    found = [
        path.read_bytes() for path in paths if path.is_file() and "__pycache__" not in str(path)
    ]
    return [content for content in found if len(content.lstrip()) >= 8]


def test_the_network_reads_and_says_what_the_original_does(original, contents):
    folder = Path(original.__file__).parent / "models" / "standard_v3_3"
    theirs = original.Magika(model_dir=folder)
    features = [
        theirs._extract_features_from_seekable(
            original.magika.Seekable(io.BytesIO(content)), 1024, 0, 1024, 256, 4096, False
        )
        for content in contents
    ]
    codes = as_codes(*contents)
    assert codes.tolist() == [each.beg + each.end for each in features]
    expected = torch.tensor(theirs._get_raw_predictions([(Path("-"), each) for each in features]))
    model = magika()
    with torch.no_grad():
        found = torch.cat([model(part).softmax(-1) for part in codes.split(16)])
    # 0.0006 over 266 files, because the weights are rounded to float16
    assert (found - expected).abs().max() < 0.003
