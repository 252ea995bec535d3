"""Reductions over axes: which axes each operator reduces, and what stays on chip until a reduction is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from roofwidget import RooflineModel
from roofwidget.chips import Chip
from roofwidget.workloads import Graph, Tensor
from roofwidget.workloads.legality import FusionError, Refusal
from roofwidget.workloads.partition import Partition
from roofwidget.workloads.registry import built_in
from tests.workloads.test_partition import with_smem

ROWS, COLUMNS = 2**24, 64
SIZE: Final = 2 * ROWS * COLUMNS


def balanced(rows: int = ROWS, columns: int = COLUMNS) -> Graph:
    """Return a softmax over rows, divided by the sums of its columns."""
    graph = Graph("balanced")
    weights = graph.softmax(graph.input("x", (rows, columns), "bf16"))
    graph.output(graph.divide(weights, graph.reduce_sum(weights, axis=0)))
    return graph


def refused(parts: Partition, a: str, b: str, **how: Any) -> Refusal:
    refusal = parts.why_not(a, b, **how)
    assert refusal is not None
    with pytest.raises(FusionError) as error:
        parts.fuse(a, b, **how)
    assert error.value.refusal == refusal
    return refusal


# -- different axes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chip", ["h100-sxm", "a100-sxm-80gb", "v5p", "mi300x"])
def test_sums_of_columns_cross_blocks_but_what_uses_them_is_another_kernel(chip: str) -> None:
    best = Partition.best(balanced(), chip)
    assert best.how == "optimal"
    assert best.groups == (("softmax", "reduce_sum"), ("divide",))
    # softmax: x and its result; then its result again and what is divided. Each unit writes its 64 sums once.
    assert best.total_bytes() == 4 * SIZE + 4 * COLUMNS
    units = best.form(0, chip).units
    assert best.form(0, chip).workspace == 2 * 4 * COLUMNS * units
    assert best.why_not("softmax", "divide", chip=chip) is not None
    # The compilers' kernels have no partial results.
    for preset in (Partition.like("xla", balanced(), chip), Partition.like("inductor", balanced(), chip)):
        assert ("softmax",) in preset.groups


def over_both_axes(rows: int, columns: int) -> Partition:
    """Return a softmax over rows, and a softmax of its result over columns."""
    graph = Graph("both")
    x = graph.input("x", (rows, columns), "bf16")
    tensors = [Tensor(name, (rows, columns), "bf16") for name in "ab"]
    graph.op("reduction", "rows", [x], tensors[:1], 5, axes=[1])
    graph.op("reduction", "columns", tensors[:1], tensors[1:], 5, axes=[0])
    graph.output(tensors[1])
    return Partition.unfused(graph)


def test_the_refusal_says_which_op_reduces_which_axis_and_how_much_would_stay_on_chip() -> None:
    parts = over_both_axes(ROWS, COLUMNS)
    refusal = refused(parts, "rows", "columns", chip=with_smem(132 * 233_472, units="132 SM"))
    assert (refusal.code, refusal.path) == ("axes", ("rows", "columns"))
    # What rows reduces, and what columns reduces: 2.15 GB each.
    assert refusal.sentence == (
        "rows reduces axis 1 and columns reduces axis 0: one kernel of rows + columns would keep 4.29 GB "
        "on chip at a time; a unit's share of the SMEM of small holds 233 kB"
    )
    alone = refused(parts, "rows", "columns")
    assert alone.sentence.endswith("would keep 4.29 GB on chip at a time; name the chip that holds this much")
    # On a chip whose on-chip memory is unknown everything fits.
    assert parts.why_not("rows", "columns", chip=Chip("bare", {"bf16": 1e15}, {"HBM": 1e12})) is None


def test_a_column_that_is_read_before_and_after_its_sum_stays_on_chip_or_is_read_twice() -> None:
    # A line of 32 B has 16 columns of 2^24 bf16 numbers, 33.6 MB each, and a vector of sums has 128 B.
    parts, lines = Partition.unfused(balanced()).fuse("reduce_sum", "divide"), 16 * 2 * ROWS
    whole, twice = (parts.form("divide", with_smem(lines + capacity)) for capacity in (128, 127))
    assert (whole.name, whole.need, whole.bytes) == ("rows", lines + 128, 2 * SIZE)
    assert (twice.name, twice.reads, twice.bytes) == ("two passes", {"softmax": 2}, 3 * SIZE)


def test_tensors_that_fit_on_chip_whole_may_be_reduced_over_different_axes_in_one_kernel() -> None:
    graph = balanced(64, 64)
    best = Partition.best(graph, "h100-sxm")
    assert (len(best), best.how, best.excess()) == (1, "optimal", 1.0)
    # While softmax runs, 8,192 B of x and 8,192 B of its result.
    whole = Partition.unfused(graph).fuse("softmax", "reduce_sum", chip=with_smem(2 * 8192))
    assert whole.why_not("softmax", "divide", chip=with_smem(2 * 8192)) is None
    assert whole.form("softmax", with_smem(2 * 8192)).workspace == 0
    assert refused(whole, "softmax", "divide", chip=with_smem(2 * 8192 - 1)).code == "axes"


def test_groups_with_reductions_over_different_axes_are_given_with_their_chip() -> None:
    graph, groups = balanced(64, 64), [["softmax", "reduce_sum", "divide"]]
    with pytest.raises(FusionError, match="name the chip that holds this much") as error:
        Partition(graph, groups)
    assert error.value.refusal.code == "axes"
    assert Partition(graph, groups, chip="h100-sxm") == Partition.best(graph, "h100-sxm")
    with pytest.raises(FusionError, match="the SMEM of small holds 8 kB"):
        Partition(graph, groups, chip=with_smem(8000))
    # A page merges on the chip in focus, and another chip may come into focus.
    model = RooflineModel(["h100-sxm"], graph=graph)
    model.partition = [[0, 1, 2]]
    assert len(model.shown_kernels) == 1
    model.partition = Partition.best(graph, "h100-sxm")
    assert len(model.shown_kernels) == 1


def test_a_norm_after_a_norm_over_other_axes_is_a_kernel_of_its_own() -> None:
    graph = Graph("norms")
    x = graph.input("x", (256, 32, 56, 56), "bf16")
    graph.output(graph.batchnorm(graph.layernorm(x), training=True))
    parts = Partition.unfused(graph)
    refusal = refused(parts, "layernorm", "batchnorm", chip="h100-sxm")
    assert refusal.code == "axes"
    assert refusal.sentence.startswith("layernorm reduces axis 3 and batchnorm reduces axes 0, 2, 3: one kernel of")
    assert len(Partition.best(graph, "h100-sxm")) == 2
    twice = Graph("rows twice")
    twice.output(twice.rmsnorm(twice.layernorm(twice.input("x", (65536, 1024), "bf16"))))
    assert len(Partition.best(twice, "h100-sxm")) == 1


def test_reductions_of_elements_in_another_order_are_reductions_over_different_axes() -> None:
    graph = Graph("square")
    x = graph.input("x", (8192, 8192), "bf16")
    graph.output(graph.softmax(x), graph.softmax(graph.transpose(x)))
    parts = Partition.unfused(graph).fuse("transpose", "softmax_2")
    refusal = refused(parts, "softmax", "softmax_2", chip="h100-sxm")
    assert refusal.code == "axes"
    assert refusal.sentence.startswith("softmax and softmax_2 reduce axis 1, but elements are moved between them: one")
    assert Partition.unfused(graph).why_not("softmax", "transpose", chip="h100-sxm") is None


# -- one axis ----------------------------------------------------------------------------------------------------------


def test_a_sum_adds_up_what_an_elementwise_op_computes_however_long_the_axis_is() -> None:
    for axis in (0, 1):
        graph = Graph("sum")
        graph.output(graph.reduce_sum(graph.gelu(graph.input("x", (2**20, 2**20), "bf16")), axis=axis))
        assert len(Partition.best(graph, "h100-sxm")) == 1
        assert Partition.unfused(graph).why_not("gelu", "reduce_sum", chip=with_smem(256)) is None


def test_the_sums_of_many_rows_need_no_more_room_than_a_vector() -> None:
    graph = Graph("roots")
    graph.output(graph.sqrt(graph.reduce_sum(graph.input("x", (ROWS, 8), "bf16"))))
    assert Partition.fully(graph).form("sqrt", with_smem(256)).need == 256


def test_a_residual_stays_on_chip_from_the_norm_to_the_addition_or_is_read_again() -> None:
    graph = Graph("residual")
    x = graph.input("x", (512, 4096), "bf16")
    graph.output(graph.add(graph.layernorm(x), x))
    # A row of x, and a vector of the norm's result.
    parts, need, size = Partition.fully(graph), 2 * 4096 + 256, 2 * 512 * 4096
    assert parts.form("add", with_smem(need)).name == "rows"
    again = parts.form("add", with_smem(need - 1))
    assert (again.name, again.reads, again.bytes) == ("two passes", {"x": 2}, 3 * size + 4 * 4096)


def test_a_training_batchnorm_keeps_a_channel_of_all_images() -> None:
    graph = Graph("channels")
    graph.output(graph.batchnorm(graph.relu(graph.input("x", (8, 4, 16, 16), "fp32")), training=True))
    channel = 4 * 8 * 16 * 16
    names = [Partition.fully(graph).form("relu", with_smem(capacity)).name for capacity in (channel, channel - 1)]
    assert names == ["rows", "two passes"]


def test_what_is_far_before_a_reduction_and_read_after_it_stays_too() -> None:
    graph = Graph("far")
    y = graph.gelu(graph.input("x", (2**20, 4096), "bf16"))
    graph.output(graph.divide(y, graph.reduce_sum(graph.square(y), axis=0)))
    parts = Partition.fully(graph)
    # 16 columns of gelu's result, and vectors of the squares and of the sums.
    assert parts.form("divide", with_smem(16 * 2**21 + 512)).name == "rows"
    again = parts.form("divide", with_smem(16 * 2**21))
    assert (again.name, again.reads, again.times) == ("two passes", {"x": 2}, {"gelu": 2, "square": 2})


# -- the operators -----------------------------------------------------------------------------------------------------

X: Final = Tensor("x", (4, 8, 16, 16), "fp32")
REDUCTIONS: Final[dict[str, tuple[Callable[[Graph, Any], Any], dict[str, tuple[int, ...]]]]] = {
    "layernorm": (lambda g, x: g.layernorm(x), {"layernorm": (3,)}),
    "rmsnorm": (lambda g, x: g.rmsnorm(x), {"rmsnorm": (3,)}),
    "softmax": (lambda g, x: g.softmax(x), {"softmax": (3,)}),
    "batchnorm": (lambda g, x: g.batchnorm(x, training=True), {"batchnorm": (0, 2, 3)}),
    "reduce_sum": (lambda g, x: g.reduce_sum(x, axis=-3), {"reduce_sum": (1,)}),
    "global_average_pool": (lambda g, x: g.global_average_pool(x), {"global_average_pool": (2, 3)}),
    # A window needs near elements only.
    "max_pool2d": (lambda g, x: g.max_pool2d(x, 2), {"max_pool2d": ()}),
    "cross_entropy": (
        lambda g, x: g.cross_entropy(x, g.input("targets", (4, 8, 16), "int32")),
        {"cross_entropy": (3,)},
    ),
    "dot": (lambda g, _: g.dot(*(g.input(name, (8,), "fp64") for name in "ab")), {"dot": (0,)}),
    "unfused_attention": (lambda g, x: g.unfused_attention(x, x, x), {"attention.softmax": (3,)}),
    # The gates are the best scores of a row; a token's few rows are added up.
    "moe": (
        lambda g, _: g.moe(g.input("t", (6, 8), "bf16"), experts=4, active=2, ffn=16),
        {"moe.gates": (1,), "moe.combine": ()},
    ),
}
OTHERS: Final = """
    matmul batched_matmul linear gemv gemm blocked_matmul grouped_linear conv2d lstm_cell
    attention flash_attention sliding_window_attention decode_attention kv_append selective_scan
    unary binary relu negative absolute square scale sqrt rsqrt reciprocal exp log sin cos tanh erf sigmoid silu gelu
    add subtract multiply divide maximum minimum bias_activation swiglu dropout cast copy transpose embedding rope
    axpy scal ger stream_copy stream_scale stream_add stream_triad spmv_csr stencil fft nbody adam_step sgd_step
"""


@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_reduction_knows_the_axes_that_it_reduces(name: str) -> None:
    build, expected = REDUCTIONS[name]
    graph = Graph()
    build(graph, graph.input("x", X.shape, X.dtype))
    assert {op.name: op.axes for op in graph.ops if op.kind == "reduction"} == expected
    assert all(op.axes == () for op in graph.ops if op.kind != "reduction")


def test_every_operator_was_looked_at() -> None:
    assert {*REDUCTIONS, *OTHERS.split()} == built_in()
    assert not {*REDUCTIONS} & {*OTHERS.split()}


def test_an_op_of_your_own_reduces_the_last_axis_unless_it_says_otherwise() -> None:
    graph = Graph()
    x = graph.input("x", (4, 8), "fp32")
    ops = [
        graph.op("reduction", f"own{at}", [x], [Tensor(f"y{at}", (4, 8), "fp32")], 0, axes=axes)
        for at, axes in enumerate((None, [0], (-1, 0), ()))
    ]
    assert [op.axes for op in ops] == [(1,), (0,), (0, 1), ()]
    with pytest.raises(ValueError, match="axis 2 of op 'own' is none of the 2 axes of its first input x"):
        graph.op("reduction", "own", [x], [Tensor("y", (4,), "fp32")], 0, axes=[2])
    with pytest.raises(ValueError, match="op 'own' is elementwise, so it has no axes to reduce"):
        graph.op("elementwise", "own", [x], [Tensor("y", (4, 8), "fp32")], 0, axes=[1])
