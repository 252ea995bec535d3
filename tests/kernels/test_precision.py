"""The peak for a kernel of a graph: the inputs of a product decide, not the output of its group."""

from __future__ import annotations

import pytest

import roofwidget as rw
from roofwidget.workloads import Convention, Graph, Tensor
from roofwidget.workloads.partition import Partition

CHIP = rw.Chip("chip", {"bf16": 1e15, "fp8": 2e15, "fp32": 6.7e13, "int8": 4e15}, {"HBM": 3e12})
CUBE = 2 * 8192**3


def product(a: str, b: str, out: str, size: int = 8192) -> Graph:
    graph = Graph()
    graph.matmul(graph.input("a", (size, size), a), graph.input("b", (size, size), b), dtype=out)
    return graph


def precisions(graph: Graph) -> list[str | None]:
    return list(Partition.unfused(graph).kernels().precision)


@pytest.mark.parametrize("dtype", ["fp8", "fp32"])
def test_a_cast_fused_into_a_product_does_not_change_the_peak_that_judges_it(dtype: str) -> None:
    graph = product("bf16", "bf16", "bf16")
    graph.output(graph.cast(graph.tensors["matmul"], dtype))
    fused = Partition.fully(graph)
    assert (len(fused), fused.kernels().precision.tolist()) == (1, ["bf16"])
    assert fused.time(CHIP) == pytest.approx(CUBE / 1e15, rel=1e-15)
    assert Partition.best(graph, CHIP).time(CHIP) == fused.time(CHIP)


@pytest.mark.parametrize(
    ("a", "b", "out", "judging", "seconds"),
    [
        ("bf16", "bf16", "fp32", "bf16", CUBE / 1e15),
        ("fp8", "fp8", "bf16", "fp8", CUBE / 2e15),
        ("int8", "int8", "int32", "int8", CUBE / 4e15),
        ("int8", "bf16", "bf16", "bf16", CUBE / 1e15),
        ("bf16", "int8", "bf16", "bf16", CUBE / 1e15),
        ("int8", "fp8", "bf16", "fp8", CUBE / 2e15),
        ("fp8", "int8", "bf16", "fp8", CUBE / 2e15),
    ],
)
def test_a_product_is_judged_by_its_wider_operand(a: str, b: str, out: str, judging: str, seconds: float) -> None:
    graph = product(a, b, out)
    assert precisions(graph) == [judging]
    assert Partition.unfused(graph).time(CHIP) == pytest.approx(seconds, rel=1e-15)
    assert rw.bound(graph.kernels(), CHIP).total_time == pytest.approx(seconds, rel=1e-15)


def test_of_equally_wide_operands_of_one_sort_the_first_judges() -> None:
    assert precisions(product("fp16", "bf16", "fp32")) == ["fp16"]


def test_a_dtype_that_stands_for_the_main_one_judges_in_its_place() -> None:
    graph = product("bf16", "bf16", "fp32")
    assert precisions(graph.with_dtype("fp8")) == ["fp8"]
    assert Partition.unfused(graph.with_dtype("int8")).time(CHIP) == pytest.approx(CUBE / 4e15, rel=1e-15)


def test_what_an_op_states_comes_first_and_of_several_the_one_with_most_flops() -> None:
    graph = Graph()
    x, w, v = (graph.input(name, (64, 64), dtype) for name, dtype in (("x", "bf16"), ("w", "bf16"), ("v", "fp32")))
    tensors = [Tensor(name, (64, 64), "bf16") for name in ("small", "large", "other")]
    graph.op("matmul", "first", [x, w], [tensors[0]], 100)
    graph.op("matmul", "second", [x, v], [tensors[1]], 101)
    graph.op("matmul", "third", [x, w], [tensors[2]], 99, precision="tf32")
    assert precisions(graph) == ["bf16", "fp32", "tf32"]
    parts = Partition(graph, [["first", "second", "third"]])
    assert parts.kernels().precision.tolist() == ["fp32"]


def test_attention_and_caches_are_judged_by_what_is_multiplied() -> None:
    graph = Graph()
    q, k, v = (graph.input(name, (4, 512, 64), "fp8") for name in "qkv")
    graph.attention(q, k, v, log_sum_exp=True)
    graph.decode_attention(graph.input("new", (1, 1, 256), "bf16"), context=512, heads=4, cache_dtype="int8")
    outputs = [Tensor("ring", (4, 512, 64), "bf16")]
    graph.op("opaque", "ring_attention", [q, k, v], outputs, {"tensor": 100, "vector": 10})
    assert precisions(graph) == ["fp8", "bf16", "fp8"]


def test_other_ops_are_judged_by_what_they_write() -> None:
    graph = Graph()
    x = graph.input("x", (64, 64), "bf16")
    graph.op("elementwise", "wider", [x], [Tensor("y", (64, 64), "fp32")], 64)
    graph.op("reduction", "place", [x], [Tensor("index", (64,), "int32")], 64)
    assert precisions(graph) == ["fp32", "bf16"]


# -- conventions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("convention", ["mac", Convention("odd", fma=3, vector=False)])
def test_what_is_held_against_peaks_counts_a_multiply_add_as_2(convention: str | Convention) -> None:
    torch, other = (product("bf16", "bf16", "bf16").with_convention(one) for one in ("torch", convention))
    assert other.count("flops") == CUBE // 2 * other.convention.fma
    parts = Partition.unfused(other)
    assert parts.kernels().flops.tolist() == [CUBE]
    assert (parts.total_flops(), parts.flops("matmul")) == (CUBE, {"tensor": CUBE})
    assert parts.time(CHIP) == Partition.unfused(torch).time(CHIP) == pytest.approx(CUBE / 1e15, rel=1e-15)
    assert rw.bound(other.kernels(), CHIP).total_time == parts.time(CHIP)
    assert Partition.best(other, CHIP).time(CHIP) == parts.time(CHIP)


def test_the_search_is_the_same_under_a_convention_that_counts_multiply_adds() -> None:
    # A multiply-add counts as 2 FLOPs, so the product takes 1 s, and 1/256 s more with the GELU.
    graph = Graph(convention=Convention("one", fma=1))
    x, w = graph.input("x", (1024, 1024), "bf16"), graph.input("w", (1024, 1024), "bf16")
    graph.output(graph.gelu(graph.matmul(x, w)))
    other = graph.with_convention("textbook")
    chip = rw.Chip("edge", {"bf16": 2**31}, {"HBM": 2**24})
    assert Partition.best(graph, chip).time(chip) == Partition.best(other, chip).time(chip) == 1 + 1 / 256


def test_a_partition_says_so_where_its_convention_counts_otherwise() -> None:
    graph = product("bf16", "bf16", "bf16", size=1000)
    assert repr(Partition.unfused(graph)).endswith("1× the compulsory bytes; textbook)")
    assert repr(Partition.unfused(graph.with_convention("mac"))).endswith(
        "1× the compulsory bytes; mac, but a multiply-add is 2 FLOPs in kernels, as in peaks)"
    )


def test_a_model_plots_multiply_adds_as_peaks_count_them() -> None:
    model = rw.RooflineModel([CHIP])
    model.graph = product("bf16", "bf16", "bf16")
    before = model.shown_kernels.flops.tolist()
    model.convention = "mac"
    assert model.shown_kernels.flops.tolist() == before == [CUBE]
