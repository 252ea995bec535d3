"""Properties of every partition of every graph."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roofwidget.chips import Chip
from roofwidget.workloads import Graph, Tensor
from roofwidget.workloads.expressions import evaluate
from roofwidget.workloads.legality import FusionError, Rules
from roofwidget.workloads.partition import Partition
from roofwidget.workloads.quotient import QuotientGraph, in_order
from roofwidget.workloads.search import optimal, takes_more
from roofwidget.workloads.structure import Structure

CHIP = Chip("chip", {"bf16": 1e12, "vector": 1e11, "fp32": 3e11}, {"HBM": 1e9})
KINDS = ("elementwise", "elementwise", "broadcast", "injective", "reduction", "matmul", "opaque")


@st.composite
def graphs(draw: st.DrawFn, most: int = 10) -> Graph:
    """Draw a graph with fan-out, several outputs, and tensors of different sizes."""
    graph = Graph("drawn")
    sizes = st.sampled_from([(8,), (8, 16), (3, 5), (64, 64)])
    tensors = [graph.input(f"x{i}", draw(sizes), "bf16") for i in range(draw(st.integers(1, 3)))]
    made: list[Tensor] = []
    for i in range(draw(st.integers(1, most))):
        read = draw(st.lists(st.sampled_from(tensors), min_size=1, max_size=3))
        written = [
            Tensor(f"t{i}_{j}", draw(sizes), draw(st.sampled_from(["bf16", "fp32"])))
            for j in range(draw(st.sampled_from([1, 1, 1, 2])))
        ]
        extra = draw(st.sampled_from([0, 0, 100]))
        flops = draw(st.integers(0, 10**6))
        graph.op(draw(st.sampled_from(KINDS)), f"o{i}", read, written, flops, extra_bytes=extra)
        tensors += written
        made += written
    graph.output(*draw(st.lists(st.sampled_from(made), max_size=3, unique=True)))
    return graph


def count(number: object) -> int:
    assert isinstance(number, int)
    return number


def total(partition: Partition) -> int:
    return count(partition.total_bytes())


def merges(partition: Partition) -> list[tuple[int, int]]:
    pairs = itertools.combinations(range(len(partition)), 2)
    return [pair for pair in pairs if partition.why_not(*pair) is None]


def walk(graph: Graph, seed: int) -> Iterator[Partition]:
    """Go from single ops by random merges as far as they go."""
    dice = random.Random(seed)  # noqa: S311 - a test's dice
    partition = Partition.unfused(graph)
    yield partition
    while allowed := merges(partition):
        partition = partition.fuse(*dice.choice(allowed))
        yield partition


@given(graphs())
def test_a_single_op_moves_what_its_own_formula_says(graph: Graph) -> None:
    parts = Partition.unfused(graph)
    for op in graph.ops:
        assert parts.bytes(op) == graph.bytes(op)
    assert parts.total_flops() == graph.count("flops")
    assert (parts.total_bytes(), parts.compulsory_bytes) == (graph.count("bytes"), graph.count("compulsory"))


@given(graphs(), st.integers(0, 99))
def test_merging_never_adds_bytes_nor_changes_flops_nor_falls_below_the_compulsory(graph: Graph, seed: int) -> None:
    extra = sum(evaluate(op.extra_bytes, {}) for op in graph.ops)
    for before, after in itertools.pairwise(walk(graph, seed)):
        assert count(after.compulsory_bytes) + extra <= total(after) <= total(before)
        assert after.total_flops() == before.total_flops()


@given(graphs(), st.integers(0, 99))
def test_the_order_of_merges_and_the_side_they_come_from_do_not_matter(graph: Graph, seed: int) -> None:
    for partition in walk(graph, seed):
        again = Partition(graph, reversed([list(reversed(group)) for group in partition.groups]))
        assert (again, again.groups, again.total_bytes()) == (partition, partition.groups, partition.total_bytes())
        for a, b in merges(partition):
            assert partition.fuse(a, b) == partition.fuse(b, a)


@given(graphs(), st.integers(0, 99))
def test_what_may_be_merged_is_a_legal_partition_and_what_may_not_is_none(graph: Graph, seed: int) -> None:
    *_, partition = walk(graph, seed)
    for a, b in itertools.combinations(range(len(partition)), 2):
        refusal = partition.why_not(a, b)
        rest = [group for place, group in enumerate(partition.groups) if place not in {a, b}]
        both = [*partition.groups[a], *partition.groups[b]]
        assert refusal is not None
        with pytest.raises(FusionError) as raised:
            Partition(graph, [*rest, both])
        assert raised.value.refusal.code == refusal.code


@given(graphs(), st.integers(0, 99))
def test_splitting_leaves_a_legal_partition_with_the_op_alone(graph: Graph, seed: int) -> None:
    *_, partition = walk(graph, seed)
    for op in graph.ops:
        apart = partition.split(op)
        assert (op.name,) in apart.groups
        # A part may need more on chip than the whole did, where the op between its reductions left.
        assert Partition.on_some_chip(graph, apart.groups) == apart
        assert total(apart) >= total(partition)


@given(graphs(), st.integers(0, 99))
def test_recomputing_stores_less_of_the_tensor_and_computes_more(graph: Graph, seed: int) -> None:
    *_, partition = walk(graph, seed)
    for op in graph.ops:
        try:
            again = partition.recompute(op.outputs[0])
        except FusionError:
            continue
        users = {group for group in partition.groups if any(c.name in group for c in graph.consumers(op.outputs[0]))}
        copies = len([one for one in again.graph.ops if one.name == op.name or one.name.startswith(f"{op.name}_")])
        assert copies <= 1 + len(users)
        flops = count(partition.total_flops()) + (copies - 1) * count(graph.flops(op))
        assert again.total_flops() == flops
        assert Partition(again.graph, again.groups) == again


@given(graphs(most=14), st.integers(0, 99))
def test_a_line_of_groups_stays_in_order_and_knows_every_circle(graph: Graph, seed: int) -> None:
    dice, structure = random.Random(seed), Structure(graph)  # noqa: S311 - a test's dice
    line = QuotientGraph(structure, [1 << op for op in range(len(graph.ops))])
    for _ in graph.ops:
        parts = dice.sample(sorted(line.groups), dice.randint(1, min(3, len(line.groups))))
        rest = [group for number, group in line.groups.items() if number not in parts]
        way = line.detour(parts)
        assert bool(way) == (in_order(structure, [*rest, line.union(parts)]) is None)
        if way:
            assert {way[0], way[-1]} <= set(parts)
            assert not set(way[1:-1]) & set(parts)
            assert all(other in line.after(one) for one, other in itertools.pairwise(way))
            continue
        line.merge(parts)
        places = [number for number in line._places if number is not None]
        assert sorted(places) == sorted(line.groups)
        later = [(places.index(one), places.index(other)) for one in places for other in line.after(one)]
        assert all(one < other for one, other in later)


@given(graphs())
@settings(max_examples=50)
def test_presets_are_legal_and_move_no_more_than_single_ops(graph: Graph) -> None:
    apart = Partition.unfused(graph)
    found = [
        Partition.fully(graph),
        Partition.pairs(graph),
        Partition.like("xla", graph, CHIP),
        Partition.like("inductor", graph),
        Partition.best(graph, CHIP),
    ]
    for partition in found:
        assert Partition(graph, partition.groups, chip=CHIP) == partition
        assert total(partition) <= total(apart)
    assert not merges(found[0])
    assert max(map(len, found[1].groups)) <= 2


@given(graphs(most=6), st.sampled_from([0.0, 1e-6]))
@settings(max_examples=60)
def test_the_best_is_as_fast_as_any_partition(graph: Graph, overhead: float) -> None:
    best = Partition.best(graph, CHIP, launch_overhead=overhead)
    times = [part.time(CHIP, launch_overhead=overhead) for part in every_partition(graph)]
    assert best.how == "optimal"
    assert best.time(CHIP, launch_overhead=overhead) == pytest.approx(min(times), rel=1e-9)


@given(graphs(), st.integers(0, 400))
def test_no_search_is_given_up_that_would_have_come_to_its_end(graph: Graph, limit: int) -> None:
    structure = Structure(graph)
    rules = Rules(structure)
    for part in structure.connected(structure.everything):
        if takes_more(structure, rules, part, limit):
            assert optimal(structure, rules, lambda _group: (1.0, 0), part, limit).groups is None


def every_partition(graph: Graph) -> list[Partition]:
    """Return every legal partition."""
    tried = (legal(graph, groups) for groups in set_partitions([op.name for op in graph.ops]))
    return [partition for partition in tried if partition is not None]


def legal(graph: Graph, groups: list[list[str]]) -> Partition | None:
    try:
        return Partition(graph, groups, chip=CHIP)
    except FusionError:
        return None


def set_partitions(names: list[str]) -> Iterator[list[list[str]]]:
    if not names:
        yield []
        return
    for rest in set_partitions(names[1:]):
        yield [names[:1], *rest]
        for place, group in enumerate(rest):
            yield [*rest[:place], [names[0], *group], *rest[place + 1 :]]
