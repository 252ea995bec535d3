"""Worked numbers of single operators: streams, stencils, transforms, convolutions, optimizers."""

from __future__ import annotations

import math

import pytest

import roofwidget as rw
from roofwidget.workloads import Graph, chain, hpc_set
from roofwidget.workloads.expressions import evaluate
from roofwidget.workloads.partition import Partition


def intensity(g: Graph) -> float:
    return g.count("flops") / g.count("bytes")


def test_a_two_dimensional_stencil_on_a_machine_with_4_flops_a_word() -> None:
    def words(layers: str) -> Graph:
        g = Graph(convention="hpc")
        g.stencil(g.input("x", (1000, 1000), "fp64"), points=5, in_place=True, flops=6, layer_condition=layers)
        return g

    assert 8 * intensity(words("held")) == 3
    assert 8 * intensity(words("rows")) == 1.5

    def attainable(flops: float, rate: float) -> list[tuple[float, str]]:
        chip = rw.Chip("machine", {"fp64": flops}, {"DRAM": 8 * rate})
        bounds = [rw.bound(words(layers).kernels(), chip) for layers in ("held", "rows")]
        return [(float(bound.attainable[0]), str(bound.regime[0])) for bound in bounds]

    assert attainable(8e9, 2e9) == [(6e9, "memory"), (3e9, "memory")]
    assert attainable(32e9, 4e9) == [(12e9, "memory"), (6e9, "memory")]


def test_saxpy_into_a_third_array_reads_it_first() -> None:
    g = Graph(convention="hpc")
    g.stream_triad(g.input("y", (20_000_000,), "fp32"), g.input("x", (20_000_000,), "fp32"))
    assert g.count("bytes") == 320_000_000
    assert intensity(g) == 0.125
    assert intensity(g.with_convention("textbook")) == 2 / 12


def test_adding_a_vector_to_another() -> None:
    g = Graph()
    g.add(g.input("x", (1000,), "fp64"), g.input("y", (1000,), "fp64"))
    assert intensity(g) == 1 / 24


@pytest.mark.parametrize("n", [2**10, 2**20])
def test_an_out_of_place_transform_with_write_allocate(n: int) -> None:
    g = Graph(convention="hpc")
    g.fft(g.input("x", (n, 2), "fp64"))
    assert intensity(g) == 5 * math.log2(n) / 48


def test_stream_dot_and_dgemv() -> None:
    g = hpc_set(10**8, matrix=4096)
    plain = g.with_convention("textbook")

    def of(graph: Graph, name: str) -> float:
        flops, moved = graph.flops(name), graph.bytes(next(op for op in graph.ops if op.name == name))
        return evaluate(flops, {}) / evaluate(moved, {})

    assert of(plain, "stream_triad") == 2 / 24
    assert of(g, "stream_triad") == 0.0625
    assert of(g, "stream_copy") == 0
    assert of(g, "dot") == pytest.approx(0.125)
    assert of(g, "gemv") == pytest.approx(0.25, rel=1e-3)


def test_a_five_point_jacobi_step() -> None:
    def step(convention: str, layers: str) -> float:
        g = Graph(convention=convention)
        g.stencil(g.input("x", (1000, 1000), "fp64"), points=5, layer_condition=layers)
        return intensity(g)

    assert step("hpc", "held") == 4 / 24
    assert step("textbook", "held") == 4 / 16
    assert step("hpc", "rows") == 4 / 40


@pytest.mark.parametrize(("each", "balance"), [(7, 8.0), (27, 6.52), (100, 6.14)])
def test_the_balance_of_sparse_products(each: int, balance: float) -> None:
    rows = 10**6
    g = Graph(convention="hpc")
    g.spmv_csr(g.input("x", (rows,), "fp64"), rows=rows, nonzeros=each * rows)
    assert round(1 / intensity(g), 2) == balance


def test_two_cosines_fused_move_half() -> None:
    g = Graph()
    g.output(g.cos(g.cos(g.input("x", (10**6,), "fp32"))))
    assert g.count("bytes") == 2 * g.count("compulsory")
    a100 = rw.Chip("A100", {"fp32": 19.5e12}, {"HBM": 1.555e12})
    fused = Partition.fully(g)
    assert fused.time(a100) == Partition.unfused(g).time(a100) / 2
    assert f"{10**6 / fused.time(a100):.2e}" == "1.94e+11"
    dear = [chain([("f", each)], elements=10**6, dtype="fp32").kernels() for each in (100, 101)]
    assert [rw.bound(table, a100).regime[0] for table in dear] == ["memory", "compute"]


def test_adam_over_seven_billion_parameters_on_an_h100() -> None:
    g = Graph()
    g.adam_step(*(g.input(name, (7 * 10**9,), "fp32") for name in ("p", "g")))
    assert g.count("bytes") == 196_000_000_000
    assert round(intensity(g), 2) == 0.46
    h100 = rw.Chip("H100", {"fp32": 67e12}, {"HBM": 3.35e12})
    assert round(Partition.unfused(g).time(h100) * 1e3, 1) == 58.5


@pytest.mark.parametrize(
    ("channels", "size", "groups", "dtype", "digits", "ai"),
    [(64, 56, 1, "fp16", 0, 264), (64, 56, 64, "fp16", 2, 4.49), (512, 7, 1, "fp32", 1, 24.0)],
)
def test_convolutions_of_a_residual_network(
    *, channels: int, size: int, groups: int, dtype: str, digits: int, ai: float
) -> None:
    g = Graph()
    x = g.input("x", (1, channels, size, size), dtype)
    g.conv2d(x, channels, 3, padding=1, groups=groups)
    assert round(intensity(g), digits) == ai
    if groups == 1:
        assert g.count("flops") == 231_211_008


def test_all_pairs_of_16384_bodies() -> None:
    g = Graph()
    g.nbody(g.input("bodies", (16384, 4), "fp32"))
    assert intensity(g) == 10_240
