"""Real traces of PyTorch's profiler: numbers of other tools (skipped without their files) and of shapes."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.readers import read
from tests.places import FIXTURES
from tests.readers.test_torch import row
from tests.real_files import real_file
from tests.tables import warns

FLASH = "aten::_scaled_dot_product_flash_attention"


def row_of(kernels: rw.Kernels, name: str) -> int:
    return int(np.argmax(kernels.names == name))


def test_an_h100_trace_has_the_numbers_of_its_kernels() -> None:
    kernels = read(real_file("torch/tracelens_h100_bert-small.json.gz"))
    at = row(kernels, "aten::addmm", "[512], [141, 512], [512, 512]")
    assert (kernels.count[at], kernels.precision[at]) == (17, "bf16")
    assert (kernels.flops[at] / 17, kernels.bytes[at] / 17) == (73_924_608, 814_080)
    assert round(kernels.arithmetic_intensity[at], 1) == 90.8
    assert round(kernels.achieved[at] / 1e12, 2) == 12.73
    widest = row(kernels, "aten::addmm", "[30522], [141, 512], [512, 30522]")
    assert round(kernels.achieved[widest] / 1e12, 2) == 106.76
    flash = row(kernels, FLASH)
    assert (kernels.count[flash], kernels.flops[flash] / 4) == (4, 40_716_288)
    assert (kernels.bytes[flash] / 4, kernels.arithmetic_intensity[flash]) == (577_536, 70.5)
    assert kernels.chip == rw.chip("h100-sxm")
    assert kernels.time[kernels.category != "idle"].sum() == pytest.approx(309.437744140625e-6, rel=2e-5)


def test_an_h100_trace_is_idle_as_long_as_the_time_line_beside_it_says() -> None:
    kernels = read(real_file("torch/tracelens_h100_bert-small.json.gz"))
    with real_file("torch/tracelens_h100_bert-small__ref_gpu_timeline.csv").open(encoding="utf-8") as file:
        told = {row["type"]: float(row["time ms"]) for row in csv.DictReader(file)}
    at = row(kernels, "idle or not profiled")
    assert kernels.time[at] * 1e3 == pytest.approx(told["idle_time"], rel=1e-6)
    assert kernels.time.sum() * 1e3 == pytest.approx(told["total_time"], rel=1e-6)
    assert kernels.time[at] / kernels.time.sum() == pytest.approx(0.9208158635540133, rel=1e-6)


@pytest.mark.parametrize("table", ["GEMM", "SDPA_fwd", "BinaryElementwise"])
def test_an_h100_trace_agrees_with_the_tables_beside_it(table: str) -> None:
    kernels = read(real_file("torch/tracelens_h100_bert-small.json.gz"))
    with real_file(f"torch/tracelens_h100_bert-small__ref_{table}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert rows
    for told in rows:
        sizes = [size for size in json.loads(told["Input Dims_first"]) if size]
        shape = ", ".join(map(str, sizes))
        at = row(kernels, told["name"], shape)
        count = kernels.count[at]
        assert count == int(told["name_count"])
        # The other tool counts the bias.
        assert kernels.flops[at] / count == pytest.approx(float(told["GFLOPS_first"]) * 1e9, rel=2e-3)
        assert kernels.bytes[at] / count == pytest.approx(float(told["Data Moved (MB)_first"]) * 2**20, rel=1e-12)
        assert kernels.time[at] == pytest.approx(float(told["Kernel Time (µs)_sum"]) * 1e-6, rel=1e-4)
        assert kernels.arithmetic_intensity[at] == pytest.approx(float(told["FLOPS/Byte_first"]), rel=2e-3)


def test_an_a100_trace_without_shapes_has_times_only() -> None:
    kernels = read(real_file("torch/hta_a100_alexnet_noshapes.json.gz"))
    assert kernels.count[kernels.category != "idle"].sum() == 79 + 16 + 3
    copies = row(kernels, "Memcpy HtoD (Pageable -> Device)")
    assert kernels.bytes_by_level["host"][copies] == 244_403_360
    assert np.isnan(kernels.bytes[copies])
    assert np.isnan(kernels.flops[kernels.category != "copy"]).all()
    assert kernels.extra["operation"][row(kernels, "ampere_sgemm_32x32_sliced1x4_tn")] == "aten::addmm"
    assert warns(kernels, "profile with record_shapes=True")


def test_an_a100_trace_with_counters_has_flops_and_no_times() -> None:
    kernels = read(real_file("torch/hta_a100_alexnet_cupti_counters.json.gz"))
    assert np.isnan(kernels.time).all()
    assert kernels.count.sum() == 77
    assert kernels.flops[row_of(kernels, "__missing__")] == 2 * 9_119_334_400 + 24_780_800


def test_a_trace_of_a_cpu_has_the_flops_of_its_calls() -> None:
    kernels = read(real_file("torch/generated_cpu_withflops_torch2.13.json"))
    products = kernels.names == "aten::mm"
    assert kernels.precision[products].tolist() == ["fp32", "bf16"]
    assert (kernels.flops[products] / kernels.count[products]).tolist() == [100_663_296] * 2
    assert kernels.flops[row_of(kernels, "aten::conv2d")] == 3_538_944


# -- recorded on an H100, see fixtures/gpu/README.md -----------------------------------------------------------------

ROWS, WIDTH, HEADS = 8 * 2048, 4096, 32
OUT_OF_IN = {"qkv": (3 * WIDTH, WIDTH), "out": (WIDTH, WIDTH), "up": (4 * WIDTH, WIDTH), "down": (WIDTH, 4 * WIDTH)}


def recorded(name: str) -> rw.Kernels:
    return rw.read(FIXTURES / "gpu" / name)


@pytest.mark.parametrize(
    "name",
    [
        "block_eager.json.gz",
        "block_compiled.json.gz",
        "block_training.json.gz",
        "block_training_compiled.json.gz",
    ],
)
def test_a_transformer_block_has_the_flops_and_bytes_of_its_shapes_eager_and_compiled(name: str) -> None:
    kernels = recorded(name)
    rows = [row for row, found in enumerate(kernels.names) if found == "aten::addmm"]
    # Two steps; each operand of two bytes is read once and each result is written once.
    assert kernels.flops[rows].tolist() == [2 * 2 * ROWS * n * k for n, k in OUT_OF_IN.values()]
    assert kernels.bytes[rows].tolist() == [2 * 2 * (n + ROWS * k + n * k + ROWS * n) for n, k in OUT_OF_IN.values()]
    attention = kernels.names.tolist().index("aten::_scaled_dot_product_cudnn_attention")
    # Causal: half of 4 B H N² d.
    assert kernels.flops[attention] == 2 * 4 * 8 * HEADS * 2048**2 * (WIDTH // HEADS) / 2
    assert kernels.bytes[attention] == 2 * 2 * 4 * ROWS * WIDTH


@pytest.mark.parametrize("name", ["block_training.json.gz", "block_training_compiled.json.gz"])
def test_a_training_step_has_its_products_once_forward_and_twice_backward(name: str) -> None:
    kernels = recorded(name)
    once = 2 * sum(2 * ROWS * n * k for n, k in OUT_OF_IN.values())
    # Two products of half of the pairs forward, and five backward.
    attended = 2 * 4 * 8 * HEADS * 2048**2 * (WIDTH // HEADS) // 2
    sums = {
        (phase, category): float(np.nansum(kernels.filter(phases=phase, categories=category).flops))
        for phase in ("forward", "backward")
        for category in ("matrix product", "attention")
    }
    assert sums == {
        ("forward", "matrix product"): once,
        ("forward", "attention"): attended,
        ("backward", "matrix product"): 2 * once,
        ("backward", "attention"): 5 * attended // 2,
    }
    assert set(kernels.filter(phases="optimizer").names) == {"aten::_foreach_add_", "aten::_fused_adam_"}
    # Two steps of Adam: 13 FLOPs a parameter, four lists read and three written. The kernels' names have the dtype.
    parameters = sum(n * k + n for n, k in OUT_OF_IN.values()) + 4 * WIDTH
    adam = kernels.names.tolist().index("aten::_fused_adam_")
    assert (kernels.flops[adam], kernels.bytes[adam]) == (2 * 13 * parameters, 2 * 7 * 2 * parameters)
    assert (kernels.precision[adam], kernels.count[adam]) == ("bf16", 2)
    # All of each phase is known, so no column says how much.
    assert "known share of time" not in kernels.groupby("phase").extra


def test_products_of_a_serving_step_have_the_flops_and_bytes_of_their_shapes() -> None:
    kernels = recorded("scaled_products.json.gz")
    found = {
        name: (flops, moved) for name, flops, moved in zip(kernels.names, kernels.flops, kernels.bytes, strict=True)
    }
    m, k, n = 2048, 4096, 8192
    flops = 2 * 2 * m * n * k
    assert found["aten::mm"] == (flops, 2 * 2 * (m * k + k * n + m * n))
    assert found["aten::addmm"] == (flops, 2 * 2 * (n + m * k + k * n + m * n))
    # One byte an operand, two bytes a result.
    assert found["aten::_scaled_mm"] == (flops, 2 * (m * k + k * n + 2 * m * n))
    assert found["aten::bmm"] == (2 * 2 * 8 * 256 * 512 * 128, 2 * 2 * 8 * (256 * 128 + 128 * 512 + 256 * 512))
    # 32 heads of queries share 8 heads of keys; one query meets 4096 keys.
    attended = 2 * (4 * 16 * 32 * 4096 * 128), 2 * 2 * 128 * (2 * 16 * 32 + 2 * 16 * 8 * 4096)
    assert found["aten::_scaled_dot_product_cudnn_attention"] == attended
    precisions = dict(zip(kernels.names, kernels.precision, strict=True))
    assert precisions["aten::_scaled_mm"] == "fp8"


def test_the_replay_of_a_cuda_graph_has_the_times_of_its_kernels_and_no_operations() -> None:
    kernels = recorded("replay.json.gz")
    assert warns(kernels, "20 kernels (100.0% of all kernels' time) come from", "captures='capture_*.json.gz'")
    assert np.isnan(kernels.flops[kernels.names != "Memset (Device)"]).all()


@pytest.mark.parametrize("suffix", ["", "_by_shape", "_wide"])
def test_printed_averages_have_the_times_of_the_trace_beside_them(suffix: str) -> None:
    trace, table = recorded("block_eager.json.gz"), recorded(f"block_eager_table{suffix}.txt")

    def seconds(kernels: rw.Kernels, word: str) -> float:
        return float(sum(kernels.time[[row for row, name in enumerate(kernels.names) if word in name]]))

    for word in ("aten::addmm", "aten::gelu", "aten::add"):
        assert seconds(table, word[:20]) == pytest.approx(seconds(trace, word), rel=2e-3)
