"""Measured ceilings of the catalogue: each is what its source prints, with the size of its multiplication."""

from __future__ import annotations

import pytest

from roofwidget.chips import chip, chips

# TFLOP/s and shape, as the tables of the sources print them.
MATMULS = [
    ("a100-sxm-80gb", "bf16", 271.2, "1024x10240x5120"),
    ("a100-pcie-80gb", "bf16", 252.9, "2048x5120x6144"),
    ("gh200-144gb", "bf16", 828.6, "1024x15360x4096"),
    ("h100-sxm", "bf16", 794.5, "2048x2048x13312"),
    ("h100-sxm", "fp8", 1402.6, "1024x9216x14336"),
    ("h200-sxm", "fp8", 1453.4, "1280x4096x12032"),
    ("b200", "bf16", 1745.0, "1792x16128x3072"),
    ("b200", "fp8", 3432.5, "15360x4096x3072"),
    ("b300", "bf16", 1769.0, "12288x18432x1024"),
    ("gb200", "bf16", 1822.0, "4096x9728x2048"),
    ("mi300x", "bf16", 668.4, "10240x15360x8192"),
    ("mi325x", "bf16", 784.9, "13312x10240x8192"),
    ("mi355x", "bf16", 1565.0, "12288x8192x8192"),
    ("gaudi2", "bf16", 418.7, "14336x15360x2048"),
    ("gaudi3", "fp8", 1289.5, "16640x1536x3072"),
    ("rtx-4090", "bf16", 175.2, "4096x4096x4096"),
    ("rtx-5090", "bf16", 254.0, "16384x16384x16384"),
    ("rtx-pro-6000-server", "fp8", 905.3, "16384x16384x16384"),
    ("h200-nvl", "bf16", 845.1, "16384x16384x16384"),
    ("gb10", "bf16", 102.0, "8192x8192x8192"),
    ("tpu-v6e", "bf16", 827.474382048629, "8192x8192x8192"),
]
# GB/s: the fastest kernel of gpu-stream that reads.
STREAMS = [
    ("a100-sxm-40gb", 1500, "read"),
    ("a100-sxm-80gb", 1794, "triad"),
    ("a40", 680, "read"),
    ("gh200-96gb", 3783, "triad"),
    ("h100-pcie", 1942, "read"),
    ("l40", 845, "read"),
    ("mi100", 982, "triad"),
    ("mi210", 1412, "scale"),
    ("mi300a", 3034, "triad"),
    ("mi300x", 4199, "read"),
]
# GB/s of caches: the kernel, its set, and the rate in the table of gpu-benches.
CACHES = [
    ("l40", "L2", 5235.0, "gpu-l2-cache, read, set of 44,032 KiB"),
    ("l40", "L1", 22538.5, "gpu-cache, read, 64 KiB for each SM"),
    ("gh200-96gb", "L2", 10796, "gpu-l2-stream, triad, set of 10,901 KiB; read alone 4.61 TB/s"),
    ("mi300a", "L2", 12396, "gpu-l2-stream, triad, set of 511 KiB; read alone 5.96 TB/s"),
]
# GB/s, as the tables and examples of the sources print them, and what was timed.
BANDWIDTHS = [
    ("h100-sxm", 3180, "BabelStream, dot, CUDA 12.6; copy 2.90, triad 2.97 TB/s"),
    ("h200-sxm", 4480, "BabelStream, dot, CUDA 12.6; copy 4.01, triad 4.15 TB/s"),
    ("gb200", 7350, "the kernel is not named"),
    ("tpu-v6e", 1359.5960438266143, "copy of 33.6 MB, median time on the device"),
    ("tpu-7x", 6420.961823, "copy of 8.6 GB on both TensorCores, median time"),
]


@pytest.mark.parametrize(("name", "precision", "rate", "shape"), MATMULS)
def test_a_measured_matmul_has_its_rate_and_its_shape(name: str, precision: str, rate: float, shape: str) -> None:
    (found,) = [one for one in chip(name).ceilings if one.precision == precision]
    assert (found.name, found.measured) == ("measured", True)
    assert found.rate == pytest.approx(rate * 1e12, rel=1e-9)
    assert found.source is not None
    assert f"matmul {shape}," in found.source.title


@pytest.mark.parametrize(("name", "rate", "kernel"), STREAMS)
def test_a_measured_bandwidth_has_its_rate_and_its_kernel(name: str, rate: float, kernel: str) -> None:
    (found,) = [one for one in chip(name).ceilings if one.memory == chip(name).main_memory]
    assert (found.name, found.measured, found.rate) == ("measured", True, rate * 1e9)
    assert found.source is not None
    assert f"gpu-stream, {kernel}, " in found.source.title


@pytest.mark.parametrize(
    ("name", "level", "rate", "timed"),
    [*CACHES, *((name, chip(name).main_memory, rate, timed) for name, rate, timed in BANDWIDTHS)],
)
def test_a_measured_level_has_its_rate_and_what_was_timed(name: str, level: str, rate: float, timed: str) -> None:
    (found,) = [one for one in chip(name).ceilings if one.memory == level]
    assert (found.name, found.measured) == ("measured", True)
    assert found.rate == pytest.approx(rate * 1e9, rel=1e-12)
    assert found.source is not None
    assert found.source.title.endswith(f"({timed})")
    assert found.source.url.startswith("https://")


def test_every_measured_matmul_says_its_size_and_where_it_is_from() -> None:
    measured = [ceiling for one in chips() for ceiling in one.ceilings if ceiling.precision]
    assert len(measured) > 30
    for ceiling in measured:
        assert ceiling.source is not None
        assert ceiling.source.url.startswith("https://")
        assert "matmul " in ceiling.source.title
