"""Kernels of torch.compile: what the compiler says of their work, on the kernel or on its operation."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.readers import ProfileError, read
from roofwidget.readers.torch import work
from roofwidget.readers.torch.calls import OpCall, OpWork

NAME = "triton_poi_fused_add_0"
ARGS = {
    "External id": 5,
    "Input Dims": [[1024], [1024], []],
    "Input type": ["float", "float", "Scalar"],
    "Concrete Inputs": ["", "", "1024"],
}


def table(args: dict[str, Any], *kernels: dict[str, Any], by: str = "operation") -> rw.Kernels:
    op = {"ph": "X", "cat": "cpu_op", "name": NAME, "pid": 1, "tid": 1, "ts": 0, "dur": 9, "args": ARGS | args}
    ran = [
        {"ph": "X", "cat": "kernel", "name": f"{NAME}d{at}", "pid": 0, "tid": 7, "ts": 20 * at, "dur": 2 + at}
        | {"args": {"External id": 5, **more}}
        for at, more in enumerate(kernels)
    ]
    return read(json.dumps({"schemaVersion": 1, "traceEvents": [op, *ran]}).encode(), idle=False, by=by)


def test_bytes_that_the_compiler_states_on_the_operation_are_those_of_its_kernel() -> None:
    kernels = table({"kernel_num_gb": 8.192e-06}, {"grid": [4, 1, 1]})
    assert kernels.bytes == pytest.approx([8192], rel=1e-12)
    assert kernels.time.tolist() == [2e-6]
    assert kernels.origin["bytes:main"].tolist() == ["kernel_num_gb of the op x 1e9"]
    assert kernels.precision.tolist() == ["fp32"]


def test_flops_that_the_compiler_states_are_those_of_all_kernels_of_the_operation() -> None:
    stated = {"kernel_flop": 2_000_000, "kernel_num_gb": 0.001}
    kernels = table(stated, {}, {})
    assert kernels.count.tolist() == [1]
    assert (kernels.flops.tolist(), kernels.bytes.tolist()) == ([2e6], [1e6])
    assert kernels.origin["flops"].tolist() == ["kernel_flop of the op"]
    by_kernel = table(stated, {}, {}, by="kernel")
    np.testing.assert_equal(by_kernel.flops, [np.nan, 2e6])


def test_the_event_of_a_kernel_comes_before_its_operation() -> None:
    kernels = table({"kernel_flop": 7, "kernel_num_gb": 7.0}, {"kernel_flop": 4096, "kernel_num_gb": 0.5})
    assert (kernels.flops.tolist(), kernels.bytes.tolist()) == ([4096], [5e8])
    assert kernels.origin["flops"].tolist() == ["kernel_flop of the kernel's event"]


def test_a_count_of_zero_was_not_made() -> None:
    kernels = table({"kernel_backend": "triton", "kernel_flop": 0, "kernel_num_gb": 0}, {})
    assert "kernel_" not in str(kernels.origin)


def test_an_impossible_amount_is_refused() -> None:
    with pytest.raises(ProfileError, match=r"event 1: .*expected a number from 0 as its 'kernel_num_gb', got -1"):
        table({"kernel_num_gb": -1}, {})


def test_rules_know_what_the_compiler_says(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[OpCall] = []

    def rule(call: OpCall) -> OpWork:
        calls.append(call)
        return OpWork("fused", 1, 2, "a rule")

    monkeypatch.setattr(work, "FORMULAS", {NAME: rule})
    table({"kernel_backend": "triton", "kernel_kwargs": "XBLOCK=2", "grid": "grid(100,)"}, {})
    assert dict(calls[0].metadata or {}) == {
        "kernel_backend": "triton",
        "kernel_kwargs": "XBLOCK=2",
        "grid": "grid(100,)",
    }
    assert calls[0].values == ["", "", "1024"]
