"""Record two runs of a small model with ONNX Runtime's own profiler. Needs the packages onnx and onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).parents[1] / "fixtures" / "onnxruntime"


def _model() -> bytes:
    """Return a convolution, a Gemm with transposed weights, a product and tanh."""
    import numpy as np  # noqa: PLC0415 - with the packages below
    import onnx  # noqa: PLC0415 - an optional package

    random = np.random.default_rng(0)

    def weights(name: str, *sizes: int) -> Any:
        return onnx.numpy_helper.from_array(random.standard_normal(sizes).astype(np.float32), name)

    def value(name: str, *sizes: int) -> Any:
        return onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, sizes)

    nodes = [
        onnx.helper.make_node("Conv", ["x", "w"], ["maps"], name="conv", pads=[1, 1, 1, 1]),
        onnx.helper.make_node("Flatten", ["maps"], ["flat"], name="flatten"),
        onnx.helper.make_node("Gemm", ["flat", "g", "b"], ["dense"], name="gemm", transB=1),
        onnx.helper.make_node("MatMul", ["dense", "m"], ["product"], name="matmul"),
        onnx.helper.make_node("Tanh", ["product"], ["y"], name="tanh"),
    ]
    constants = [weights("w", 8, 3, 3, 3), weights("g", 32, 2048), weights("b", 32), weights("m", 32, 24)]
    graph = onnx.helper.make_graph(nodes, "small", [value("x", 2, 3, 16, 16)], [value("y", 2, 24)], constants)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    written: bytes = model.SerializeToString()
    return written


def main() -> None:
    """Write the profile."""
    import numpy as np  # noqa: PLC0415 - as above
    import onnxruntime as ort  # noqa: PLC0415 - an optional package

    FIXTURES.mkdir(exist_ok=True)
    options = ort.SessionOptions()
    options.enable_profiling = True
    options.profile_file_prefix = str(FIXTURES / "session")
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(_model(), options, providers=["CPUExecutionProvider"])
    for _ in range(2):
        session.run(None, {"x": np.ones((2, 3, 16, 16), np.float32)})
    Path(session.end_profiling()).rename(FIXTURES / f"session_{ort.__version__}.json")


if __name__ == "__main__":
    main()
