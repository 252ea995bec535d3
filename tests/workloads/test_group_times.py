"""The times by which the search chooses, and how many steps it surely needs."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofwidget import bound
from roofwidget.chips import Chip
from roofwidget.workloads import Graph, Tensor
from roofwidget.workloads.legality import Rules
from roofwidget.workloads.partition import Partition
from roofwidget.workloads.search import takes_more
from roofwidget.workloads.structure import Structure
from tests.workloads.fusion_help import forms_of
from tests.workloads.test_fusion_properties import graphs

CHIP = Chip("chip", {"bf16": 1e12, "vector": 1e11, "fp32": 3e11}, {"HBM": 1e9})


@given(graphs(6), st.sampled_from(["auto", "AUTO", "fp32", "bf16"]), st.sampled_from([0.0, 2e-6]), st.data())
def test_each_group_takes_the_time_of_its_kernel(
    graph: Graph, precision: str, overhead: float, data: st.DataObject
) -> None:
    for partition in (Partition.unfused(graph), Partition.fully(graph)):
        kernels = partition.kernels(chip=CHIP)
        if precision.lower() != "auto":
            kernels = kernels.replace(precision=[precision] * len(kernels))
        expected = bound(kernels, CHIP, launch_overhead=overhead).time.tolist()
        forms = forms_of(graph, CHIP, precision=precision, launch_overhead=overhead)
        for group, seconds in zip(partition.indices, expected, strict=True):
            ops = sum(1 << op for op in group)
            products = {forms.structure.stated[op] for op in group if forms.structure.ops[op].kind == "matmul"}
            if len(products) > 1 and precision.lower() == "auto":
                continue
            smaller = data.draw(st.sampled_from([0, ops & -ops, ops & (ops - 1)]))
            if data.draw(st.booleans()):
                forms.price(smaller)
            cost = forms.price(ops, smaller)
            assert cost is not None
            assert cost[0] == pytest.approx(seconds, rel=1e-12)


def test_products_of_several_precisions_each_have_the_peak_of_their_own() -> None:
    graph = Graph("both")
    x, w = graph.input("x", (8, 8), "bf16"), graph.input("w", (8, 8), "bf16")
    wide = graph.input("v", (8, 8), "fp32")
    ends = [Tensor(name, (8, 8), "bf16") for name in "abc"]
    graph.op("matmul", "narrow", [x, w], ends[:1], 6_000_000)
    graph.op("matmul", "wide", [x, wide], ends[1:2], 6_000_000)
    graph.op("elementwise", "add", ends[:2], ends[2:], 1_000)
    graph.output(ends[2])
    cost = forms_of(graph, CHIP).price(0b111)
    assert cost is not None
    assert cost[0] == pytest.approx(6e6 / 1e12 + 6e6 / 3e11 + 1e3 / 1e11, rel=1e-12)
    one = forms_of(graph, CHIP, precision="bf16").price(0b111)
    assert one is not None
    assert one[0] == pytest.approx(12e6 / 1e12 + 1e3 / 1e11, rel=1e-12)


def matmul(dtype: str) -> Graph:
    """Return a graph of one op: 6e6 FLOPs, 3 B over HBM for each byte of a number."""
    graph = Graph("one")
    x = graph.input("x", (2,), dtype)
    y = Tensor("y", (1,), dtype)
    graph.op("matmul", "product", [x], [y], 6_000_000)
    graph.output(y)
    return graph


@pytest.mark.parametrize(
    ("dtype", "precision", "overhead", "seconds"),
    [
        ("bf16", "auto", 0.0, 6e6 / 1e12),
        ("fp32", "auto", 0.0, 6e6 / 3e11),
        ("fp32", "bf16", 0.0, 6e6 / 1e12),
        ("bf16", "fp32", 0.0, 6e6 / 3e11),
        ("bf16", "auto", 1e-3, 1e-3),
    ],
)
def test_the_peak_is_that_of_the_kernels_precision_or_of_the_asked_one(
    dtype: str, precision: str, overhead: float, seconds: float
) -> None:
    cost = forms_of(matmul(dtype), CHIP, precision=precision, launch_overhead=overhead).price(1)
    assert cost is not None
    assert cost[0] == pytest.approx(seconds, rel=1e-12)


def test_a_kernel_without_flops_takes_the_time_of_its_bytes() -> None:
    graph = Graph("copy")
    x = graph.input("x", (1000,), "bf16")
    y = Tensor("y", (500,), "bf16")
    graph.op("elementwise", "copy", [x], [y], 0)
    graph.output(y)
    assert forms_of(graph, CHIP).price(1) == (3000 / 1e9, 3000)


def written(text: str) -> tuple[Structure, Rules]:
    """Return a graph of ops written as ``kind: inputs > output``, each of 8 numbers."""
    graph = Graph("written")
    found: dict[str, Any] = {}
    for at, step in enumerate(text.split(";")):
        kind, _, rest = step.partition(":")
        reads, _, made = rest.partition(">")
        for name in reads.split():
            if name not in found:
                found[name] = graph.input(name, (8, 8), "bf16")
        one = Tensor(made.strip(), (8, 8), "bf16")
        graph.op(kind.strip(), f"o{at}", [found[name] for name in reads.split()], [one], 10)
        found[one.name] = one
    graph.output(found[one.name])
    structure = Structure(graph)
    return structure, Rules(structure)


@pytest.mark.parametrize(
    ("text", "ops", "steps"),
    [
        # Four readers of x: 3^4 - 2^4.
        ("elementwise: x > a; elementwise: x > b; elementwise: x > c; elementwise: x > d", 4, 65),
        # Two of them alone: 3^2 - 2^2.
        ("elementwise: x > a; elementwise: x > b; elementwise: x > c; elementwise: x > d", 2, 5),
        # The last reader depends on the first: 3^3 - 2^3.
        ("elementwise: x > a; elementwise: x > b; elementwise: x > c; elementwise: x a > d", 4, 19),
        # The second depends on the first, and the two after it on no other.
        ("elementwise: x > a; elementwise: x a > b; elementwise: x > c; elementwise: x > d", 4, 19),
        # A chain of 4: all runs, 4 + 3 + 2 + 1.
        ("elementwise: x > a; elementwise: a > b; elementwise: b > c; elementwise: c > d", 4, 10),
        # Runs end before an op that fuses with none: 2 + 1 + 1 + 2 + 1.
        ("elementwise: x > a; elementwise: a > b; opaque: b > c; elementwise: c > d; elementwise: d > e", 5, 7),
        # Of three products in a row the first and the last never share a kernel: 2 + 2 + 1.
        ("matmul: x w > a; matmul: a w > b; matmul: b w > c", 3, 5),
        # The first two share nothing, until the third joins them.
        ("elementwise: x > a; elementwise: y > b; elementwise: a b > c", 3, 5),
        # Two chains of two that the last op joins: 4 ops of their own, 1-3, 2-4 not in order, and what the last joins.
        ("elementwise: x > a; elementwise: a > b; elementwise: y > c; elementwise: b c > d", 4, 8),
    ],
)
def test_a_search_of_more_steps_than_its_lower_bounds_is_not_begun(text: str, ops: int, steps: int) -> None:
    structure, rules = written(text)
    part = (1 << ops) - 1
    assert [takes_more(structure, rules, part, limit) for limit in (steps - 1, steps)] == [True, False]


def test_lower_bounds_are_no_more_than_all_connected_runs() -> None:
    for ops, starts in itertools.product(range(1, 7), range(2)):
        chained = "; ".join(f"elementwise: t{at} > t{at + 1}" for at in range(starts, ops + starts))
        structure, rules = written(chained)
        assert takes_more(structure, rules, (1 << ops) - 1, ops * (ops + 1) // 2 - 1)
        assert not takes_more(structure, rules, (1 << ops) - 1, ops * (ops + 1) // 2)
