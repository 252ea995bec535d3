"""Rows of fused groups, as TorchInductor makes them. Compiling needs a C++ compiler."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
import torch
from torch import nn

import roofwidget as rw
from roofwidget.measure.counts import Request
from roofwidget.measure.torch import counter, inductor

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="TorchInductor needs g++, which is not here")


class Normalised(nn.Module):  # type: ignore[misc]  # torch is not typed here
    """A layer normalisation, a GELU and a residual."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Any) -> Any:
        return nn.functional.gelu(self.norm(x)) + x


@needs_compiler
def test_a_normalisation_a_gelu_and_a_residual_are_one_group_of_ideal_bytes() -> None:
    _, config = inductor._compiler() or (None, None)
    assert config is not None
    settings = torch._inductor.config
    before = settings._post_fusion_custom_pass, settings.fx_graph_cache
    model = Normalised(1024)
    with torch.no_grad():
        counts = counter.count(model, (torch.ones(4096, 1024),), {}, Request(by="fusion", warmup=0, repeat=1))
    assert (settings._post_fusion_custom_pass, settings.fx_graph_cache) == before
    (group,) = counts.ops
    assert group.name == "native_layer_norm + gelu + add"
    # One read and one write of 4096 × 1024, and two vectors of 1024.
    assert (group.bytes, group.bytes_written) == (33_562_624, 16_777_216)
    assert counts.compulsory_bytes == 33_562_624
    elements = 4096 * 1024
    assert group.flops is not None
    assert group.flops["transcendental"] == elements
    assert 13 * elements <= group.flops["vector"] < 13.01 * elements
    assert (group.precision, group.time, len(counts.call_times)) == ("fp32", None, 1)


@needs_compiler
def test_library_calls_are_groups_with_their_flops_and_modules() -> None:
    model = torch.compile(nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64)), backend="eager")
    with torch.no_grad():
        counts = counter.count(model, (torch.ones(32, 64),), {}, Request(by="fusion", timing=None))
    assert [(op.name, op.module, (op.flops or {}).get("tensor"), op.bytes) for op in counts.ops] == [
        ("addmm", "0", 2 * 32 * 64 * 256, 4 * (32 * 64 + 65 * 256 + 32 * 256)),
        ("gelu", "1", None, 4 * 2 * 32 * 256),
        ("addmm", "2", 2 * 32 * 64 * 256, 4 * (32 * 256 + 257 * 64 + 32 * 64)),
    ]
    assert counts.warnings == ()


@needs_compiler
def test_a_backward_pass_inside_a_function_is_fused_too() -> None:
    model = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8))

    def step(x: Any) -> None:
        model(x).sum().backward()

    counts = counter.count(step, (torch.ones(2, 8),), {}, Request(by="fusion", timing=None))
    # Two products forward, and three backward: the input needs no gradient.
    assert sum((op.flops or {}).get("tensor", 0) for op in counts.ops) == 5 * 2 * 2 * 8 * 8
    assert counts.warnings == ()
    assert all(parameter.grad is None for parameter in model.parameters())


def test_without_the_hook_rows_are_operations_and_a_warning_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inductor, "_HOOK", "_no_such_setting")
    profile = rw.profile(nn.Linear(8, 8), torch.ones(2, 8), by="fusion", timing="call", repeat=1)
    assert profile.kernels.names.tolist() == ["addmm"]
    assert "does not show what its compiler fuses" in profile.warnings[0]
    assert profile.time is not None


def test_without_a_cpp_compiler_one_error_says_what_to_install() -> None:
    settings, _ = inductor._compiler() or (None, None)
    assert settings is not None
    model = Normalised(24)
    with (
        settings.patch({"cpp.cxx": ("no-such-compiler",)}),
        pytest.raises(RuntimeError, match=r"needs a C\+\+ compiler: install g\+\+"),
    ):
        rw.profile(model, torch.ones(3, 24), by="fusion")
    assert settings._post_fusion_custom_pass is None
