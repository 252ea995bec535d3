"""Nested operations: the innermost operation with a rule owns a kernel, and each work counts once."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import roofwidget as rw
from roofwidget.readers import read

BF16 = "c10::BFloat16"
# Of a library other than PyTorch: q, k, v with the axes batch, rows, heads, d; not causal.
FLASH = "flash_attn::_flash_attn_forward"
FLASH_FLOPS = 4 * 2 * 4 * 32 * 32 * 16
FLASH_DIMS = [[2, 32, 4, 16]] * 3
# Two products of 8 x 4 by 4 x 2.
MM_FLOPS = 2 * 8 * 4 * 2


def op(name: str, start: float, duration: float, number: int, *dims: list[int]) -> dict[str, Any]:
    args: dict[str, Any] = {"External id": number}
    if dims:
        args |= {"Input Dims": [*dims, [], [], []], "Input type": [BF16] * len(dims) + ["Scalar"] * 3}
        args |= {"Concrete Inputs": [""] * len(dims) + ["0.0", "1.0", "False"]}
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": duration, "args": args}


def kernel(name: str, start: float, duration: float, number: int) -> dict[str, Any]:
    args = {"External id": number, "device": 0, "stream": 7}
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": start, "dur": duration, "args": args}


def table(*events: Any, by: str = "operation") -> rw.Kernels:
    return read(json.dumps({"schemaVersion": 1, "traceEvents": events}).encode(), idle=False, by=by)


def rows(kernels: rw.Kernels) -> dict[str, tuple[float, float | None]]:
    """Return microseconds and FLOPs (None if unknown) by name."""
    return {
        name: (round(float(time * 1e6), 6), None if np.isnan(flops) else float(flops))
        for name, time, flops in zip(kernels.names, kernels.time, kernels.flops, strict=True)
    }


MM = [[8, 4], [4, 2]]


def test_operations_without_a_rule_between_an_operation_with_a_rule_and_its_kernel_change_nothing() -> None:
    kernels = table(
        op(FLASH, 0, 50, 1, *FLASH_DIMS),
        op("mine::outer", 5, 40, 2, [7]),
        op("mine::inner", 10, 30, 3, [7]),
        kernel("k", 60, 5, 3),
        kernel("l", 66, 2, 2),
        kernel("m", 69, 1, 1),
    )
    assert rows(kernels) == {FLASH: (8, FLASH_FLOPS)}
    assert kernels.extra["kernel"].tolist() == ["k + l + m"]


def test_the_work_of_an_operation_with_several_kernels_counts_once_by_kernel_too() -> None:
    events = [
        op(FLASH, 0, 50, 1, *FLASH_DIMS),
        op("mine::inner", 10, 30, 3),
        kernel("k", 60, 5, 3),
        kernel("l", 66, 2, 1),
    ]
    assert rows(table(*events, by="kernel")) == {"k": (5, FLASH_FLOPS), "l": (2, None)}


def test_a_product_inside_an_operation_of_another_library_owns_its_kernel() -> None:
    kernels = table(
        op("vllm::rocm_unquantized_gemm", 0, 50, 1, [8, 4], [2, 4]),
        op("aten::linear", 5, 40, 2, [8, 4], [2, 4]),
        op("aten::mm", 10, 30, 3, *MM),
        kernel("gemm", 60, 5, 3),
    )
    assert rows(kernels) == {"aten::mm": (5, MM_FLOPS)}


def test_an_operation_whose_work_others_do_inside_has_no_work_of_its_own_for_the_rest() -> None:
    """Attention of 131,072 FLOPs whose two products inside have 65,536 each; a kernel beside them counts nothing."""
    products = [op("aten::mm", at, 2, number, [64, 16], [16, 32]) for at, number in ((10, 2), (20, 3))]
    kernels = table(
        op(FLASH, 0, 50, 1, *FLASH_DIMS[:1], [2, 8, 4, 16], [2, 8, 4, 16]),
        *products,
        kernel("a", 60, 5, 2),
        kernel("b", 66, 2, 3),
        kernel("c", 69, 1, 1),
    )
    assert rows(kernels) == {"aten::mm": (7, 2 * 65_536), FLASH: (1, None)}


def test_a_small_operation_inside_takes_its_own_kernels_and_leaves_the_work_to_the_rest() -> None:
    kernels = table(
        op(FLASH, 0, 50, 1, *FLASH_DIMS), op("aten::fill_", 5, 4, 2, [6]), kernel("f", 60, 1, 2), kernel("k", 62, 5, 1)
    )
    assert rows(kernels) == {"aten::fill_": (1, 0), FLASH: (5, FLASH_FLOPS)}


def test_operations_of_pytorch_include_those_that_they_call() -> None:
    attention = "aten::_scaled_dot_product_flash_attention"
    kernels = table(
        op(attention, 0, 50, 1, *[[2, 4, 32, 16]] * 3),
        op("aten::fill_", 5, 4, 2, [6]),
        op("aten::_flash_attention_forward", 10, 9, 3, *FLASH_DIMS),
        kernel("f", 60, 1, 2),
        kernel("k", 62, 5, 3),
    )
    assert rows(kernels) == {attention: (6, FLASH_FLOPS)}


def test_an_enclosing_operation_without_a_rule_owns_only_what_it_launches() -> None:
    kernels = table(
        op("mine::outer", 0, 50, 1), op("mine::inner", 5, 9, 2), kernel("a", 60, 1, 1), kernel("b", 62, 2, 2)
    )
    assert rows(kernels) == {"mine::outer": (1, None), "mine::inner": (2, None)}
