"""Reading ONNX Runtime's profile: nodes with their runs, work from shapes, bytes from sizes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from roofwidget.readers import ProfileError, read
from tests.places import FIXTURES
from tests.tables import has_columns

RECORDED = FIXTURES / "onnxruntime" / "session_1.32.0.json"


def event(name: str, operator: str = "", dur: Any = 8, cat: str = "Node", **arguments: Any) -> dict[str, Any]:
    args = {"op_name": operator, "provider": "CPUExecutionProvider", **arguments} if operator else arguments
    return {"cat": cat, "pid": 1, "tid": 1, "ts": 5, "ph": "X", "name": name, "dur": dur, "args": args}


def node(name: str, operator: str, inputs: list[Any], result: Any, dur: Any = 8, **more: Any) -> dict[str, Any]:
    sizes = {"activation_size": "2048", "parameter_size": "8192", "output_size": "1024"}
    shapes: dict[str, Any] = {"input_type_shape": inputs, "output_type_shape": [result]}
    return event(f"{name}_kernel_time", operator, dur, **shapes, **sizes, **more)


def profile(*events: dict[str, Any]) -> bytes:
    return json.dumps([event("model_loading_uri", cat="Session"), *events]).encode()


A, B, Y = {"float": [8, 64]}, {"float": [64, 32]}, {"float": [8, 32]}


def test_a_node_is_a_row_over_all_runs() -> None:
    product = node("fc", "MatMul", [A, B], Y)
    kernels = read(
        profile(
            event("fc_fence_before", "MatMul", 1),
            product,
            event("fc_fence_after", "MatMul", 1),
            event("SequentialExecutor::Execute", cat="Session", dur=99),
            product | {"dur": 10},
        )
    )
    has_columns(
        kernels,
        names=["fc"],
        count=[2],
        time=[18e-6],
        flops=[2 * 2 * 8 * 64 * 32],
        bytes=[2 * (2048 + 8192 + 1024)],
        precision=["fp32"],
        category=["MatMul"],
    )
    assert "events that are no node's own time were left out: 4" in kernels.warnings


@pytest.mark.parametrize(
    ("operator", "inputs", "result", "flops"),
    [
        ("Gemm", [A, B, {"float": [32]}], Y, 2 * 8 * 64 * 32),
        ("Gemm", [{"float": [64, 8]}, B], Y, 2 * 8 * 64 * 32),
        ("MatMul", [{"float16": [4, 8, 64]}, {"float16": [4, 64, 32]}], {"float16": [4, 8, 32]}, 4 * 2 * 8 * 64 * 32),
        ("MatMul", [{"float": [64]}, B], {"float": [32]}, 2 * 64 * 32),
        ("QLinearMatMul", [{"uint8": [8, 64]}, {"float": []}, {"uint8": []}, {"uint8": [64, 32]}], Y, 2 * 8 * 64 * 32),
        ("MatMulNBits", [A, {"uint8": [32, 2, 16]}], Y, 2 * 8 * 64 * 32),
        ("Conv", [{"float": [1, 6, 9, 9]}, {"float": [4, 3, 3, 3]}], {"float": [1, 4, 7, 7]}, 2 * 4 * 49 * 27),
        ("ConvTranspose", [{"float": [1, 6, 7, 7]}, {"float": [6, 4, 3, 3]}], {"float": [1, 4, 9, 9]}, 2 * 6 * 49 * 36),
        ("Add", [Y, Y], Y, 256),
        ("Transpose", [Y], {"float": [32, 8]}, 0),
        ("LSTM", [A, B], Y, np.nan),
        ("Conv", [{"float": [1, 6, 9, 9]}, {"float": [4]}], {"float": [1, 4, 7, 7]}, np.nan),
    ],
)
def test_flops_come_from_shapes(operator: str, inputs: list[Any], result: Any, flops: float) -> None:
    np.testing.assert_equal(read(profile(node("n", operator, inputs, result))).flops, [flops])


def test_a_recorded_session_has_the_work_of_packed_weights() -> None:
    kernels = read(RECORDED)
    has_columns(kernels, names=["conv", "flatten", "gemm", "matmul", "tanh"], count=[2] * 5)
    gemm, matmul = 2 * 2 * 2048 * 32, 2 * 2 * 32 * 24
    assert kernels.flops[:4].tolist() == [2 * 2 * 2 * 8 * 256 * 27, 0, 2 * gemm, 2 * matmul]
    # The profile lists neither 2048 x 32 nor 32 x 24 weights of 4 bytes.
    sizes = [6144 + 864 + 16384, 16384 + 16384, 16384 + 128 + 256 + 4 * 2048 * 32, 256 + 192 + 4 * 32 * 24]
    assert kernels.bytes[:4].tolist() == [2 * size for size in sizes]
    assert kernels.origin["bytes:main"][2].endswith("packed weights")


def test_kernels_of_a_device_give_the_time_of_their_node() -> None:
    kernels = read(
        profile(
            node("fc", "MatMul", [A, B], Y, provider="CUDAExecutionProvider"),
            event("sgemm", "MatMul", 3, cat="Kernel"),
            event("splitk", "MatMul", 2, cat="Kernel"),
            node("act", "Relu", [Y], Y, provider="CUDAExecutionProvider"),
            event("relu", "Relu", 1, cat="Kernel"),
        )
    )
    assert kernels.time.tolist() == [5e-6, 1e-6]
    without = read(profile(node("fc", "MatMul", [A, B], Y, provider="CUDAExecutionProvider")))
    said = (
        "the profile has no kernels of a device: times of 'CUDAExecutionProvider' are times in which the host launched"
    )
    assert any(word.startswith(said) for word in without.warnings)


def test_nodes_that_contain_others_are_left_out() -> None:
    kernels = read(profile(node("loop", "Loop", [A], Y, dur=100), node("fc", "MatMul", [A, B], Y)))
    assert kernels.names.tolist() == ["fc"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (profile(), "the profile has no event of a node"),
        (profile(node("fc", "MatMul", [A, B], Y, dur=-1)), "entry 2, 'dur': expected a number from 0, got -1"),
        (profile(node("fc", "MatMul", [A, B], Y))[:-9], "not JSON"),
        (profile(event("fc_kernel_time", "MatMul", activation_size="many")), "entry 2, 'activation_size': expected a"),
    ],
)
def test_bad_profiles_end_in_one_error(data: bytes, message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        read(data)
