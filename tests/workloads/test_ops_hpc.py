"""Kernels of numerical computing: FLOPs and bytes of each, with write-allocate and without."""

from __future__ import annotations

from math import log2
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofwidget.workloads import Graph, dim

sizes = st.integers(1, 10**6)


def counted(g: Graph) -> tuple[int, int, int]:
    """FLOPs, bytes, and bytes with write-allocate."""
    return g.count("flops"), g.count("bytes"), g.with_convention("hpc").count("bytes")


@given(sizes)
def test_blas_1_and_stream(n: int) -> None:
    for name, operands, flops, moved, allocated in (
        ("dot", 2, 2 * n, 16 * n + 8, 0),
        ("axpy", 2, 2 * n, 24 * n, 0),
        ("scal", 1, n, 16 * n, 0),
        ("stream_copy", 1, 0, 16 * n, 8 * n),
        ("stream_scale", 1, n, 16 * n, 8 * n),
        ("stream_add", 2, n, 24 * n, 8 * n),
        ("stream_triad", 2, 2 * n, 24 * n, 8 * n),
    ):
        g = Graph()
        getattr(g, name)(*(g.input(word, (n,), "fp64") for word in "xy"[:operands]))
        assert counted(g) == (flops, moved, moved + allocated)


def test_ger_updates_its_matrix_in_place() -> None:
    g = Graph()
    g.ger(g.input("a", (5, 7), "fp64"), g.input("x", (5,), "fp64"), g.input("y", (7,), "fp64"))
    assert counted(g) == (70, 8 * (2 * 35 + 12), 8 * (2 * 35 + 12))


@given(rows=st.integers(1, 1000), each=st.integers(1, 50))
def test_spmv_reads_values_indices_and_x_once(*, rows: int, each: int) -> None:
    nnz = rows * each
    g = Graph()
    g.spmv_csr(g.input("x", (rows,), "fp64"), rows=rows, nonzeros=nnz)
    moved = 12 * nnz + 4 * (rows + 1) + 8 * rows + 8 * rows
    assert counted(g) == (2 * nnz, moved, moved + 8 * rows)


def test_spmv_can_read_x_more_often() -> None:
    g = Graph()
    g.spmv_csr(g.input("x", (10,), "fp64"), rows=10, nonzeros=70, x_reads=70)
    assert g.count("bytes") == 12 * 70 + 4 * 11 + 8 * 70 + 8 * 10


@pytest.mark.parametrize(
    ("points", "shape", "layers", "flops", "words"),
    [
        (5, (20, 30), "held", 4, 2),
        (5, (20, 30), "rows", 4, 4),
        (7, (5, 6, 7), "held", 8, 2),
        (7, (5, 6, 7), "planes", 8, 4),
        (7, (5, 6, 7), "rows", 8, 6),
        (27, (5, 6, 7), "held", 30, 2),
        (27, (5, 6, 7), "planes", 30, 4),
        (27, (5, 6, 7), "rows", 30, 10),
    ],
)
def test_stencils_read_again_what_the_cache_does_not_hold(
    points: int, shape: tuple[int, ...], layers: str, flops: int, words: int
) -> None:
    g = Graph()
    x = g.input("x", shape, "fp64")
    y = g.stencil(x, points=points, layer_condition=layers)
    n = y.size
    assert counted(g) == (flops * n, 8 * words * n, 8 * (words + 1) * n)
    g = Graph()
    g.stencil(g.input("x", shape, "fp64"), points=points, layer_condition=layers, in_place=True, flops=6)
    assert counted(g) == (6 * n, 8 * words * n, 8 * words * n)


@pytest.mark.parametrize("n", [2, 1024, 2**20])
@pytest.mark.parametrize("passes", [1, 3])
def test_a_fourier_transform_moves_its_data_once_a_pass(n: int, passes: int) -> None:
    g = Graph()
    g.fft(g.input("x", (3, n, 2), "fp64"), passes=passes)
    assert counted(g) == (3 * 5 * n * int(log2(n)), 3 * 32 * n * passes, 3 * 48 * n * passes)
    g = Graph()
    g.fft(g.input("x", (n,), "fp32"), real=True)
    assert counted(g)[:2] == (round(2.5 * n * log2(n)), 8 * n)


def test_a_transform_along_several_axes_is_of_all_their_points() -> None:
    batch = dim("batch", 1, 8, default=2)
    g = Graph()
    g.fft(g.input("x", (batch, 16, 16, 16, 2), "fp64"), axes=3)
    assert str(g.flops("fft")) == f"{5 * 4096 * 12}·batch"


@given(st.integers(1, 10**6))
def test_all_pairs_of_bodies(n: int) -> None:
    g = Graph()
    g.nbody(g.input("bodies", (n, 4), "fp32"))
    assert counted(g) == (20 * n * n, 32 * n, 48 * n)


def test_vector_kernels_are_of_the_class_vector() -> None:
    g = Graph()
    g.stream_triad(g.input("a", (4,), "fp64"), g.input("b", (4,), "fp64"))
    assert g.flops_by_class("stream_triad") == {"vector": 8}
    assert g.with_convention("torch").count("flops") == 0


@pytest.mark.parametrize(
    ("name", "shape", "how", "message"),
    [
        ("stencil", (4, 4), {}, "op 'stencil': tensor x.* has 2 axes; it needs 3"),
        ("stencil", (4, 4), {"points": 9}, "points must be 5, 7 or 27, got 9"),
        ("stencil", (4, 4), {"points": 5, "layer_condition": "planes"}, "must be one of"),
        ("stencil", (4, 4), {"points": 5, "flops": -1}, "flops must be an int of at least 0"),
        ("fft", (4, 3), {}, r"complex data have a last axis of 2, got x\[4, 3\]"),
        ("fft", (dim("n", 1, 9, default=4), 2), {}, "a transform's length must be an int, got n"),
        ("fft", (4, 2), {"axes": 2}, "it needs at least 3"),
        ("nbody", (4, 3), {}, "a body has 4 numbers"),
        ("spmv_csr", (4,), {"rows": 4, "nonzeros": 0}, "nonzeros must be at least 1"),
        ("spmv_csr", (4,), {"rows": 4, "nonzeros": 8, "x_reads": 3}, "x_reads must be at least the 4 elements of 'x'"),
        ("scal", (4, 4), {}, "op 'scal': tensor x"),
    ],
)
def test_what_does_not_fit_is_refused(name: str, shape: tuple[Any, ...], how: dict[str, Any], message: str) -> None:
    g = Graph()
    with pytest.raises(ValueError, match=message):
        getattr(g, name)(g.input("x", shape, "fp64"), **how)
