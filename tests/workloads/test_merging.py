"""Checks of a merged group that use what is known of its two parts: they say what checks of the whole group say."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import pytest

from roofwidget.chips import Chip, Memory
from roofwidget.workloads import Graph, Tensor
from roofwidget.workloads.forms import Forms
from roofwidget.workloads.greedy import by_gain, unmerged
from roofwidget.workloads.legality import Body, Rules
from roofwidget.workloads.masks import members
from roofwidget.workloads.structure import Structure

KINDS = ("elementwise",) * 4 + ("reduction", "injective", "matmul", "broadcast")


def drawn(seed: int, ops: int = 14) -> Structure:
    dice, graph = random.Random(seed), Graph("drawn")  # noqa: S311 - a test's dice
    tensors = [graph.input(f"x{i}", (64, 128), "bf16") for i in range(2)]
    for i in range(ops):
        reads = dice.sample(tensors[-4:], min(len(tensors), dice.choice([1, 2])))
        kind = dice.choice(KINDS)
        tensors.append(Tensor(f"t{i}", (64, 128), "bf16"))
        axes = [dice.choice([0, 1])] if kind == "reduction" else None
        graph.op(kind, f"o{i}", reads, tensors[-1:], 10, axes=axes)
    graph.output(tensors[-1])
    return Structure(graph)


@pytest.mark.parametrize("capacity", [300, 1000, 20_000, 60_000, 1e9])
def test_merging_step_by_step_gives_the_verdicts_and_the_prices_of_whole_groups(capacity: float) -> None:
    chip = Chip("small", {"bf16": 1e15}, {"HBM": 1e12, "SMEM": Memory("SMEM", None, capacity)})
    fitting, allowed = set[bool](), set[bool]()
    for seed in range(25):
        structure, dice = drawn(seed), random.Random(seed)  # noqa: S311 - a test's dice
        counts = structure.counts_at(None)
        rules, forms = Rules(structure), Forms(structure, counts, chip)
        bodies = [rules.body(op) for op in range(len(structure.ops))]
        while pairs := list(itertools.combinations(bodies, 2)):
            legal: list[tuple[Body, Body]] = []
            for one, other in pairs:
                both = one.ops | other.ops
                body = rules.merged((one, other))
                assert (body is not None) == rules.allows(both)
                allowed.add(body is not None)
                if body is None:
                    continue
                assert body == Body.of(map(rules.body, members(both)))
                price = forms.price(both, max(one.ops, other.ops, key=int.bit_count))
                assert price == Forms(structure, counts, chip).price(both)
                fitting.add(price is not None)
                legal.append((one, other))
            if not legal:
                break
            one, other = dice.choice(legal)
            bodies = [body for body in bodies if body not in (one, other)] + [Body.of((one, other))]
    assert (fitting, allowed) == ({True, False}, {True, False})


@pytest.mark.parametrize("capacity", [1000, 60_000, 1e9])
def test_no_price_is_below_the_least_seconds_and_bytes_of_its_group(capacity: float) -> None:
    chip = Chip("small", {"bf16": 1e15}, {"HBM": 1e12, "SMEM": Memory("SMEM", None, capacity)})
    reached = set[bool]()
    for seed in range(25):
        structure = drawn(seed)
        rules, forms = Rules(structure), Forms(structure, structure.counts_at(None), chip)
        for ops in itertools.combinations(range(8), 3):
            group = sum(1 << op for op in ops)
            if len(structure.connected(group)) == 1 and rules.allows(group) and (price := forms.price(group)):
                least = forms.least(group, 1 << ops[0])
                assert least[0] <= price[0]
                assert least[1] <= price[1]
                reached.add(least == price)
    assert True in reached


def test_a_group_that_may_be_merged_with_another_is_beside_it() -> None:
    fewer = 0
    for seed in range(25):
        structure, dice = drawn(seed), random.Random(seed)  # noqa: S311 - a test's dice
        rules, quotient = Rules(structure), unmerged(structure)
        while True:
            legal = []
            for number, group in quotient.groups.items():
                near, beside = quotient.near(number), quotient.beside(number)
                allowed = [other for other in near if rules.allows(group | quotient.groups[other])]
                assert {*allowed} <= {*beside} <= {*near}
                fewer += len(near) - len(beside)
                legal += [(number, other) for other in allowed if not quotient.detour((number, other))]
            if not legal:
                break
            quotient.merge(dice.choice(legal))
    assert fewer > 0


def test_a_merge_that_gains_less_than_its_bound_waits_until_it_is_the_best() -> None:
    graph = Graph("row")
    x = graph.input("x", (8,), "bf16")
    graph.output(graph.relu(graph.relu(graph.relu(x))))
    asked = list[int]()

    def gain(_parts: Sequence[int], union: int) -> float:
        asked.append(union)
        return {0b011: 1.0, 0b110: 2.0}.get(union, -1.0)

    rules = Rules(Structure(graph))
    assert sorted(by_gain(rules, lambda _parts, union: {0b011: 3.0}.get(union, 2.0), gain)) == [0b001, 0b110]
    assert asked == [0b011, 0b110, 0b111]


def test_three_groups_may_be_merged_though_two_of_them_may_not() -> None:
    graph = Graph("three")
    x, w = (graph.input(name, (64, 64), "bf16") for name in "xw")
    first = graph.matmul(x, w)
    graph.output(graph.matmul(graph.softmax(first), w))
    rules = Rules(Structure(graph))
    bodies = [rules.body(op) for op in range(3)]
    assert rules.merged((bodies[0], bodies[2])) is None
    # The softmax that is between the two is last.
    assert rules.merged((bodies[0], bodies[2], bodies[1])) == Body.of(bodies)


@pytest.mark.parametrize("ops", [0, 1, 63, 64, 65, 300, 2000])
def test_the_members_of_a_large_set_are_found_in_order(ops: int) -> None:
    dice = random.Random(ops)  # noqa: S311 - a test's dice
    for most in (3000, 100_000):
        chosen = sorted(dice.sample(range(most), ops))
        assert list(members(sum(1 << op for op in chosen))) == chosen


def test_one_op_alone_breaks_no_rule_not_even_an_opaque_one_or_one_that_reads_nothing() -> None:
    graph = Graph("alone")
    first, second, drawn_numbers = (Tensor(name, (64,), "bf16") for name in ("a", "b", "c"))
    graph.op("opaque", "first", [graph.input("x", (64,), "bf16")], [first], 10)
    graph.op("opaque", "second", [first], [second], 10)
    graph.op("reduction", "numbers", [], [drawn_numbers], 10)
    graph.output(second, drawn_numbers)
    rules = Rules(Structure(graph))
    for op in range(3):
        assert rules.refusal(1 << op) is None
        assert rules.allows(1 << op)
    both = rules.refusal(0b11)
    assert both is not None
    assert both.code == "barrier"
    assert not rules.allows(0b11)
