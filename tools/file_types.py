"""Write the weights of `lnorm_course/lessons/file_types`, and what the original says of samples.

Call it in an environment of its own with `pip install magika==1.0.3 onnx`; it doesn't need the
course. `sample_files.py` goes first.
"""

import hashlib
import io
import json
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import magika
import numpy
import onnx
from onnx import numpy_helper

PROJECT = Path(__file__).resolve().parents[1]
ROOM = PROJECT / "lnorm_course" / "lessons" / "file_types"
EXPECTED = PROJECT / "tests" / "file_types" / "expected.json"
MODEL = "standard_v3_3"
LAYERS = "jax2tf_get_logits_/pjit_get_logits_/MagikaV2/"


def weights(graph):
    """Return the weights in float16, by the names that they have in PyTorch."""
    of = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    found = {
        # Each row has the bias of the dense layer already.
        "embedding.weight": of["jax2tf_get_logits_/Const:0"] + of[f"{LAYERS}Dense_0/Reshape:0"][0],
        "convolution.weight": of[f"{LAYERS}Conv_0/transpose_3:0"].squeeze(-1),
        "convolution.bias": of["const_fold_opt__209"].reshape(-1),
        "to_kinds.weight": of["jax2tf_get_logits_/Const_24:0"].T,
        "to_kinds.bias": of[f"{LAYERS}Dense_1/Reshape:0"].reshape(-1),
    }
    for number in (0, 1):
        for part, name in ((2, "weight"), (3, "bias")):
            value = of[f"{LAYERS}LayerNorm_{number}/Reshape_{part}:0"]
            found[f"norm_{number + 1}.{name}"] = value.reshape(-1)
    return {name: numpy.ascontiguousarray(a, numpy.float16) for name, a in found.items()}


def provenance(onnx_file, kinds):
    return {
        "made by": "python tools/file_types.py",
        "origin": f"the model {MODEL} of the Python package magika, https://github.com/google/magika",
        "version": version("magika"),
        "sha256 of its model.onnx": hashlib.sha256(onnx_file.read_bytes()).hexdigest(),
        "sha256 of magika.npz": hashlib.sha256((ROOM / "magika.npz").read_bytes()).hexdigest(),
        "copyright": "2024 Google LLC",
        "license": "Apache-2.0, see magika.APACHE.txt; the package has no NOTICE file",
        "changed": "from ONNX in float32 to NumPy in float16; the first bias is added to the "
        "rows of the first matrix",
        "kinds": kinds,
    }


def outputs(kinds, original):
    """Yield each sample file with all kinds that the original gives 0.001 or more."""
    with zipfile.ZipFile(ROOM / "samples.zip") as samples:
        for name in samples.namelist():
            seekable = magika.magika.Seekable(io.BytesIO(samples.read(name)))
            features = original._extract_features_from_seekable(
                seekable, 1024, 0, 1024, 256, 4096, False
            )
            row = numpy.array(original._get_raw_predictions([(Path(name), features)])[0])
            likely = [i for i in numpy.argsort(-row) if row[i] >= 0.001]
            yield name, {kinds[i]: round(float(row[i]), 5) for i in likely}


def main():
    folder = Path(magika.__file__).parent / "models" / MODEL
    graph = onnx.load(folder / "model.onnx").graph
    numpy.savez(ROOM / "magika.npz", **weights(graph))
    kinds = json.loads((folder / "config.min.json").read_text("utf-8"))["target_labels_space"]
    text = json.dumps(provenance(folder / "model.onnx", kinds), indent=1)
    (ROOM / "magika.json").write_text(f"{text}\n", "utf-8")
    lines = (
        f"{json.dumps(name)}: {json.dumps(row)}"
        for name, row in outputs(kinds, magika.Magika(model_dir=folder))
    )
    EXPECTED.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
