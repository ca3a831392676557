"""A layer norm exported to ONNX, and run by onnxruntime."""

import pytest
import torch
from torch import nn

REASON = "exports a layer: pip install onnx==1.23.2 onnxscript onnxruntime==1.32.0"


@pytest.fixture(scope="module")
def onnx():
    for package in ("onnxscript", "onnxruntime"):
        pytest.importorskip(package, reason=REASON)
    return pytest.importorskip("onnx", reason=REASON)


@pytest.fixture
def layer():
    torch.manual_seed(0)
    layer = nn.LayerNorm(64).requires_grad_(False)
    nn.init.normal_(layer.weight)
    nn.init.normal_(layer.bias)
    return layer


@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize(("dtype", "most"), [(torch.float32, 3e-7), (torch.float16, 5e-4)])
@pytest.mark.parametrize("today", [True, False])
@pytest.mark.parametrize("opset", [16, 17, 18, 20])
def test_onnxruntime_gives_what_pytorch_does(
    onnx, layer, opset, today, dtype, most, size, tmp_path
):
    import onnxruntime

    x, path = (size * torch.randn(256, 64)).to(dtype), tmp_path / "layer.onnx"
    torch.onnx.export(layer.to(dtype), (x,), path, opset_version=opset, dynamo=today)
    model = onnx.load(path)
    operations = {node.op_type for node in model.graph.node}
    if opset == 16 and not today:
        assert {"ReduceMean", "Sub", "Pow", "Sqrt", "Div"} <= operations
    else:
        assert operations == {"LayerNormalization"}
    assert model.opset_import[0].version == (18 if opset == 16 and today else opset)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
    right = layer.double()(x.double())
    assert ((torch.from_numpy(found) - right).abs() / (1 + right.abs())).max() < most
