"""What numpy's functions cost: FLOPs and bytes of each operation, worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from typing import Any

import numpy as np
import pytest

from roofwidget.measure.counts import Counts, OpCount, Request
from roofwidget.measure.numpy.counter import count

SIDE = 1024
MATRIX = 4 * SIDE * SIDE  # bytes of a 1024 × 1024 float32 array
A = np.ones((SIDE, SIDE), np.float32)
B = np.full((SIDE, SIDE), 2, np.float32)
ROW = np.ones((1, SIDE), np.float32)


def counted(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Counts:
    return count(function, args, kwargs, Request(timing=None))


def working(counts: Counts) -> list[OpCount]:
    """Return the operations that compute or move bytes."""
    return [op for op in counts.ops if op.flops is None or op.flops or op.bytes]


def only(function: Callable[..., Any], *args: Any, **kwargs: Any) -> OpCount:
    (op,) = working(counted(function, *args, **kwargs))
    return op


def add_in_place(a: Any, b: Any) -> None:
    a += b


@pytest.mark.parametrize(
    ("function", "args", "read", "written"),
    [
        (np.add, (A, B), 2 * MATRIX, MATRIX),
        (add_in_place, (A.copy(), B), 2 * MATRIX, MATRIX),
        (lambda a: a + a, (A,), MATRIX, MATRIX),
        (lambda a: np.maximum(a, 0, out=a), (A.copy(),), MATRIX, MATRIX),
        (lambda a, b, c: np.add(a, b, out=c), (A, B, A.copy()), 2 * MATRIX, MATRIX),
        (lambda a, row: a + row, (A, ROW), 4_198_400, MATRIX),
        (lambda a, row: a + np.broadcast_to(row, a.shape), (A, ROW), 4_198_400, MATRIX),
        (lambda a, row: a[:, ::2] + np.broadcast_to(row[:, ::2], (9, 512)), (A[:9], ROW), 9 * 2048 + 2048, 9 * 2048),
        (lambda a: a[::2] + 1, (A,), MATRIX // 2, MATRIX // 2),
        (lambda a: a + 1.5, (A,), MATRIX, MATRIX),
    ],
)
def test_an_element_wise_function_reads_each_operand_once_and_writes_its_result(
    function: Any, args: Any, read: int, written: int
) -> None:
    op = only(function, *args)
    assert (op.bytes_read, op.bytes_written, op.precision) == (read, written, "fp32")
    assert op.flops == {"vector": op.bytes_written and written // 4}


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a.T,
        lambda a: a[1:-1, ::2],
        lambda a: a.reshape(-1),
        lambda a: a.ravel(),
        lambda a: np.expand_dims(a, 0),
        lambda a: np.swapaxes(a, 0, 1),
        lambda a: a.astype(np.float32, copy=False),
        lambda a: np.split(a, 4),
        lambda a: np.broadcast_to(a, (3, *a.shape)),
        lambda a: a.diagonal(),
        lambda a: np.lib.stride_tricks.sliding_window_view(a, (3, 3)),
    ],
)
def test_a_view_moves_no_bytes(view: Any) -> None:
    counts = counted(view, A)
    assert not working(counts)
    assert counts.compulsory_bytes == 0
    assert len(counts.ops) > 0


@pytest.mark.parametrize(
    ("copy", "read", "written"),
    [
        (lambda a: a.T.copy(), MATRIX, MATRIX),
        (lambda a: a.T.reshape(-1), MATRIX, MATRIX),
        (lambda a: a.flatten(), MATRIX, MATRIX),
        (lambda a: a.astype(np.float64), MATRIX, 2 * MATRIX),
        (np.array, MATRIX, MATRIX),
        (lambda a: np.ascontiguousarray(a.T), MATRIX, MATRIX),
        (lambda a: np.concatenate([a, a]), MATRIX, 2 * MATRIX),
        (lambda a: np.where(a > 0, a, 0), MATRIX + MATRIX // 4, MATRIX),
        (np.zeros_like, 0, MATRIX),
        (lambda a: np.zeros(a.shape, a.dtype), 0, MATRIX),
    ],
)
def test_a_copy_reads_its_source_and_writes_its_result(copy: Any, read: int, written: int) -> None:
    op = working(counted(copy, A))[-1]
    assert (op.flops, op.bytes_read, op.bytes_written) == ({}, read, written)


@pytest.mark.parametrize("make", [np.empty_like, lambda a: np.empty(a.shape)])
def test_reserving_memory_moves_no_bytes(make: Any) -> None:
    assert not working(counted(make, A))


@pytest.mark.parametrize(
    "pick",
    [
        lambda table, rows: table[rows],
        lambda table, rows: table.take(rows, axis=0),
        lambda table, rows: np.take(table, rows, axis=0),
    ],
)
def test_a_gather_reads_what_it_picks_and_its_indices_not_the_table(pick: Any) -> None:
    op = only(pick, np.ones((50_000, SIDE), np.float32), np.arange(16))
    assert (op.bytes_read, op.bytes_written) == (65_664, 65_536)


def test_a_scatter_adds_to_the_elements_that_it_picks() -> None:
    op = only(np.add.at, np.zeros(10_000), np.arange(16), np.ones(16))
    # It reads 16 sums, 16 indices and 16 numbers, and writes 16 sums, 8 bytes each.
    assert (op.name, op.flops, op.bytes_read, op.bytes_written) == ("add.at", {"vector": 16}, 384, 128)


def test_an_assignment_writes_its_target_and_reads_its_value() -> None:
    def assign(target: Any, value: Any) -> None:
        target[:16] = value

    op = only(assign, A.copy(), ROW)
    assert (op.name, op.bytes_read, op.bytes_written) == ("setitem", 4096, 65_536)


def test_an_addition_to_a_part_in_place_is_no_second_assignment() -> None:
    def grow(a: Any) -> None:
        a[:16] += 1

    op = only(grow, A.copy())
    assert (op.name, op.bytes_read, op.bytes_written) == ("add", 65_536, 65_536)


@pytest.mark.parametrize("product", [np.matmul, np.dot, lambda a, b: a @ b, lambda a, b: a.dot(b)])
def test_a_matrix_product_has_two_flops_per_product(product: Any) -> None:
    n, k, m = 32, 64, 16
    op = only(product, np.ones((n, k)), np.ones((k, m)))
    assert (op.flops, op.precision) == ({"tensor": 2 * n * k * m}, "fp64")
    assert (op.bytes_read, op.bytes_written) == (8 * (n * k + k * m), 8 * n * m)


@pytest.mark.parametrize(
    ("function", "flops"),
    [
        (np.vdot, 2 * 8 * 12),
        (np.inner, 2 * 8 * 8 * 12),
        (lambda a, b: np.tensordot(a, b, axes=([0, 1], [0, 1])), 2 * 8 * 12),
        (lambda a, b: np.tensordot(a, b.T, axes=1), 2 * 8 * 8 * 12),
        (lambda a, b: np.einsum("ij,kj->ik", a, b), 2 * 8 * 8 * 12),
        (lambda a, b: np.einsum("ij,kj", a, b), 2 * 8 * 8 * 12),
        (lambda a, b: np.einsum("ij,kj,kl->il", a, b, b, optimize=True), 2 * 8 * 8 * 12 + 2 * 8 * 8 * 12),
        (lambda a, b: np.einsum("...j,kj", a, b), 2 * 8 * 8 * 12),
        (lambda a, b: np.einsum("...ij,...kj->...ik", np.stack([a, a, a]), b[None]), 3 * 2 * 8 * 8 * 12),
        (lambda a, b: a.astype(complex) @ b.T, 8 * 8 * 8 * 12),
        (lambda a, b: np.stack([a, a, a]) @ b.T, 3 * 2 * 8 * 8 * 12),
        (lambda a, b: np.convolve(a[0], b[0, :5]), 2 * 12 * 5),
        (lambda a, b: np.convolve(a[0], b[0, :5], "valid"), 2 * 8 * 5),
        (lambda a, b: a @ b[0], 2 * 8 * 12),
        # Of NumPy 2; in NumPy 1 the same by other means.
        (getattr(np.linalg, "vecdot", np.vdot), 2 * 8 * 12),
        (lambda a, b: np.linalg.multi_dot([a, b.T]), 2 * 8 * 8 * 12),
    ],
)
def test_contractions_count_two_flops_per_product_of_two_elements(function: Any, flops: int) -> None:
    assert sum((op.flops or {}).get("tensor", 0) for op in counted(function, *np.ones((2, 8, 12))).ops) == flops


@pytest.mark.parametrize("product", [np.dot, np.matmul, lambda a, b, out: a.dot(b, out)])
def test_a_target_given_by_position_is_written_and_not_read(product: Any) -> None:
    op = only(product, *np.ones((3, 8, 8)))
    assert (op.flops, op.bytes_read, op.bytes_written) == ({"tensor": 2 * 8**3}, 2 * 512, 512)


def test_an_einsum_in_one_loop_multiplies_all_operands_at_each_point() -> None:
    op = only(lambda a: np.einsum("ij,jk,kl->il", a, a, a), np.ones((8, 8)))
    assert op.flops == {"vector": 3 * 8**4}


@pytest.mark.parametrize(
    ("function", "flops"),
    [
        (np.linalg.cholesky, 30**3 // 3),
        (np.linalg.inv, 2 * 30**3),
        (np.linalg.det, 2 * 30**3 // 3),
        (lambda a: np.linalg.solve(a, a[:, :5]), 2 * 30**3 // 3 + 2 * 30**2 * 5),
        (lambda a: np.linalg.solve(a, a[0]), 2 * 30**3 // 3 + 2 * 30**2),
        (lambda a: np.linalg.qr(a, mode="r"), 2 * 30**3 - 2 * 30**3 // 3),
        (lambda a: np.linalg.qr(a[:, :15]), 2 * (2 * 30 * 15**2 - 2 * 15**3 // 3)),
        (lambda a: np.linalg.inv(np.stack([a, a])), 2 * 2 * 30**3),
    ],
)
def test_linear_algebra_has_the_usual_counts_of_lapack(function: Any, flops: int) -> None:
    matrix = np.eye(30) * 2
    assert working(counted(function, matrix))[-1].flops == {"tensor": flops}


@pytest.mark.parametrize("function", [np.linalg.eigvalsh, np.linalg.svd, np.linalg.eig, np.linalg.pinv])
def test_the_flops_of_eigenvalues_are_unknown_but_their_bytes_are_not(function: Any) -> None:
    op = only(function, np.eye(8))
    assert op.flops is None
    assert op.bytes_read == 8 * 8 * 8


@pytest.mark.parametrize(
    ("transform", "flops"),
    [
        (np.fft.fft, 16 * 5 * 64 * 6),
        (lambda x: np.fft.fft(x, axis=0), 64 * 5 * 16 * 4),
        (np.fft.rfft, 16 * 5 * 64 * 6 // 2),
        (lambda x: np.fft.irfft(x, n=64), 16 * 5 * 64 * 6 // 2),
        (lambda x: np.fft.fft(x, 32), 16 * 5 * 32 * 5),
        (np.fft.fft2, 5 * 1024 * 10),
        (np.fft.rfftn, 5 * 1024 * 10 // 2),
        (lambda x: np.fft.fftn(x, axes=(0,)), 64 * 5 * 16 * 4),
    ],
)
def test_a_fourier_transform_has_5_n_log2_n_flops_and_a_real_one_half(transform: Any, flops: int) -> None:
    assert only(transform, np.ones((16, 64))).flops == {"vector": flops}
    assert flops % log2(16) == 0


@pytest.mark.parametrize("function", [np.argsort, np.argmax, np.searchsorted, np.nonzero, np.count_nonzero])
def test_sorting_and_searching_have_no_flops(function: Any) -> None:
    args = (np.arange(100.0),) * (2 if function is np.searchsorted else 1)
    op = only(function, *args)
    assert op.flops == {}
    assert op.bytes_read == 800


def test_a_sort_copies_and_then_sorts_in_place() -> None:
    ops = working(counted(np.sort, np.arange(100.0)))
    assert [(op.name, op.bytes_read, op.bytes_written) for op in ops] == [("copy", 800, 800), ("sort", 800, 800)]


def test_a_mean_is_counted_once_through_the_calls_inside_it() -> None:
    columns = working(counted(np.mean, A, axis=0))
    assert [(op.name, op.flops) for op in columns] == [
        ("sum", {"vector": SIDE * SIDE - SIDE}),
        ("divide", {"vector": SIDE}),
    ]
    assert only(np.mean, A).flops == {"vector": SIDE * SIDE - 1}


def test_a_standard_deviation_is_counted_through_the_calls_inside_it() -> None:
    ops = working(counted(lambda a: a.std(axis=0), A))
    # NumPy 1 squares by a product.
    square = "square" if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else "multiply"
    assert [op.name for op in ops] == ["sum", "divide", "subtract", square, "sum", "divide", "sqrt"]
    whole, row = SIDE * SIDE, SIDE
    assert [op.flops for op in ops] == [{"vector": n} for n in (whole - row, row, whole, whole, whole - row, row, row)]


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def test_a_softmax_has_five_operations() -> None:
    counts = counted(softmax, A)
    column = 4 * SIDE
    assert [(op.name, op.flops, op.bytes_read, op.bytes_written) for op in counts.ops] == [
        ("max", {"vector": SIDE * SIDE - SIDE}, MATRIX, column),
        ("subtract", {"vector": SIDE * SIDE}, MATRIX + column, MATRIX),
        ("exp", {"transcendental": SIDE * SIDE}, MATRIX, MATRIX),
        ("sum", {"vector": SIDE * SIDE - SIDE}, MATRIX, column),
        ("divide", {"vector": SIDE * SIDE}, MATRIX + column, MATRIX),
    ]
    assert counts.compulsory_bytes == 2 * MATRIX


def stencil(u: Any) -> Any:
    v = np.zeros_like(u)
    v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return v


def test_a_five_point_stencil_counts_each_slice() -> None:
    inner = 1022 * 1022
    counts = counted(stencil, A)
    assert [(op.name, op.flops, op.bytes_read, op.bytes_written) for op in working(counts)] == [
        ("zeros_like", {}, 0, MATRIX),
        *[("add", {"vector": inner}, 8 * inner, 4 * inner)] * 3,
        ("multiply", {"vector": inner}, 4 * inner, 4 * inner),
        ("setitem", {}, 4 * inner, 4 * inner),
    ]
    assert counts.compulsory_bytes == 2 * MATRIX


def test_whole_numbers_have_no_flops_except_in_products() -> None:
    numbers = np.arange(12).reshape(3, 4)
    assert only(np.add, numbers, numbers).flops == {}
    product = only(np.matmul, numbers, numbers.T)
    assert (product.flops, product.precision) == ({"tensor": 2 * 3 * 3 * 4}, "int64")
    assert only(np.divide, numbers, 2).flops == {"vector": 12}


def test_complex_numbers_count_the_operations_on_real_numbers() -> None:
    z = np.ones(10, np.complex64)
    multiplied = only(np.multiply, z, z)
    assert (multiplied.flops, multiplied.precision) == ({"vector": 60}, "fp32")
    assert only(np.add, z, z).flops == {"vector": 20}
    assert only(np.exp, z).flops is None


def test_a_masked_operation_counts_the_elements_that_it_computes() -> None:
    op = only(lambda a, m, out: np.sqrt(a, where=m, out=out), np.ones(10), np.arange(10) < 3, np.zeros(10))
    assert op.flops == {"vector": 3}


def test_a_norm_is_one_operation() -> None:
    assert only(np.linalg.norm, np.ones(100)).flops == {"vector": 200}
    assert only(np.linalg.norm, np.ones((10, 10)), 2).flops is None


def test_a_function_that_numpy_runs_on_plain_arrays_has_unknown_flops() -> None:
    op = only(np.interp, np.ones(10), np.arange(20.0), np.arange(20.0))
    assert (op.name, op.flops, op.bytes_read, op.bytes_written) == ("interp", None, 80 + 2 * 160, 80)
    assert only(np.cov, np.ones((3, 10))).flops is None


def test_a_function_that_copies_its_array_unseen_is_counted_by_its_inner_calls() -> None:
    counts = counted(np.nan_to_num, np.ones(100))
    assert [(op.bytes_read, op.bytes_written) for op in counts.ops if op.name == "isnan"] == [(800, 100)]
    # The masks are read; no number is replaced.
    assert [(op.bytes_read, op.bytes_written) for op in counts.ops if op.name == "copyto"] == [(100, 0)] * 3
    assert all(op.flops is not None for op in counts.ops)


def test_a_form_of_arguments_that_is_not_foreseen_has_unknown_flops() -> None:
    # numpy also takes lists of numbers in place of subscripts.
    op = only(lambda a: np.einsum(a, [0, 1], a, [1, 2]), np.ones((4, 4)))
    assert (op.name, op.flops, op.bytes_read, op.bytes_written) == ("einsum", None, 128, 128)


def test_a_function_of_another_library_that_is_no_function_of_the_table_has_unknown_flops() -> None:
    halve = np.frompyfunc(lambda x: x / 2, 1, 1)
    counts = counted(halve, np.ones(4))
    assert [(op.name, op.flops) for op in counts.ops] == [("<lambda> (vectorized)", None)]
    assert counts.warnings == ("arrays of the type object are not counted",)
