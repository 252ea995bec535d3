"""Greedy partitions: merging as far as the rules allow, merging in pairs, and fusing as two compilers do."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from functools import cache
from typing import Final

from roofwidget.support.budget import Budget
from roofwidget.workloads.capacity import Capacity
from roofwidget.workloads.legality import Rules
from roofwidget.workloads.masks import Mask, members
from roofwidget.workloads.quotient import QuotientGraph
from roofwidget.workloads.structure import Structure

# Limits of PyTorch Inductor: rounds of fusion, and ops per kernel.
_MAX_INDUCTOR_ROUNDS: Final = 10
_MAX_INDUCTOR_OPS: Final = 64


def singles(structure: Structure) -> list[Mask]:
    """Return one group per op."""
    return [1 << op for op in range(len(structure.ops))]


def unmerged(structure: Structure) -> QuotientGraph:
    """Return the quotient graph of a partition with one group per op."""
    return QuotientGraph(structure, singles(structure))


def by_gain(
    rules: Rules,
    capacity: Capacity,
    gain: Callable[[Mask, Mask], float],
    budget: Budget | None = None,
    advance: Callable[[int], object] = lambda _merges: None,
) -> list[Mask]:
    """Merge the two groups with the largest gain, until no merge has a gain of at least zero or the budget ends.

    If several gains are equal, the groups whose first ops are earliest in the graph are merged. Groups that share no
    tensor are never merged. The function `advance` takes the number of merges since its last call.
    """
    budget = budget or Budget(None)
    quotient = unmerged(rules.structure)
    bodies = {number: rules.body(number) for number in quotient.groups}
    heap: list[tuple[float, int, int, int, int]] = []

    def offer(a: int, b: int) -> None:
        one, other = sorted((quotient.groups[a], quotient.groups[b]), key=_first)
        if (
            rules.allows_merge(bodies[a], bodies[b])
            and capacity.fits_grown(one | other, max(one, other, key=int.bit_count))
            and (worth := gain(one, other)) >= 0
        ):
            heapq.heappush(heap, (-worth, _first(one), _first(other), a, b))

    for a, b in ((one, other) for one in quotient.groups for other in quotient.near(one) if one < other):
        if budget.is_over():
            break
        offer(a, b)
    while heap and not budget.is_over():
        *_, a, b = heapq.heappop(heap)
        # A detour between a and b is a path from one to the other through other groups. It disappears only if a group
        # on the path is merged with a or b. That merge creates a new offer, so the offer to merge a and b can be
        # dropped.
        if a in quotient.groups and b in quotient.groups and not quotient.detour((a, b)):
            merged = quotient.merge((a, b))
            bodies[merged] = bodies.pop(a).merged(bodies.pop(b))
            advance(1)
            for other in quotient.near(merged):
                offer(merged, other)
    return list(quotient.groups.values())


def fully(rules: Rules, capacity: Capacity) -> list[Mask]:
    """Merge groups as long as a merge is legal. The next merge is always the merge that saves most bytes."""

    @cache
    def moved(group: Mask) -> int:
        return rules.structure.bytes(group, capacity.counts)

    return by_gain(rules, capacity, lambda a, b: moved(a) + moved(b) - moved(a | b))


def pairs(rules: Rules, capacity: Capacity) -> list[Mask]:
    """Merge ops in pairs, the pair that saves most bytes first. In a tie the earliest pair in the graph is first."""
    structure, counts = rules.structure, capacity.counts
    quotient = QuotientGraph(structure, singles(structure))
    alone = [structure.bytes(1 << op, counts) for op in range(len(structure.ops))]
    found = []
    for a in range(len(alone)):
        for b in members(structure.near[a] >> (a + 1) << (a + 1)):
            both = 1 << a | 1 << b
            if rules.allows(both) and capacity.fits(both):
                found.append((structure.bytes(both, counts) - alone[a] - alone[b], a, b))
    for _, a, b in sorted(found):
        if a in quotient.groups and b in quotient.groups and not quotient.detour((a, b)):
            quotient.merge((a, b))
    return list(quotient.groups.values())


def xla_like(rules: Rules, capacity: Capacity, time: Callable[[Mask], float]) -> list[Mask]:
    """Fuse each producer into all of its consumers. The producer whose fusion saves most time is first.

    XLA's priority fusion (``priority_fusion.cc`` and ``gpu_performance_model.cc``) orders producers by the time that is
    saved if a producer is fused into all of its consumers. XLA fuses as long as a fusion saves time. XLA would copy a
    producer into each of several consumers. Here the producer and its consumers become one kernel, or the producer is
    not fused.
    """
    quotient = unmerged(rules.structure)
    heap: list[tuple[float, int, int, tuple[int, ...]]] = []
    latest: dict[int, tuple[int, ...]] = {}

    def offer(producer: int) -> None:
        consumers = quotient.after(producer)
        latest[producer] = parts = (producer, *consumers)
        union = quotient.union(parts)
        if consumers and rules.allows(union) and capacity.fits(union):
            saved = sum(time(quotient.groups[part]) for part in parts) - time(union)
            if saved > 0:
                heapq.heappush(heap, (-saved, _first(quotient.groups[producer]), producer, parts))

    for number in list(quotient.groups):
        offer(number)
    while heap:
        *_, producer, parts = heapq.heappop(heap)
        if latest.get(producer) != parts or producer not in quotient.groups or quotient.detour(parts):
            continue
        merged = quotient.merge(parts)
        for number in (merged, *quotient.before(merged)):
            offer(number)
    return list(quotient.groups.values())


def inductor_like(rules: Rules, capacity: Capacity) -> list[Mask]:
    """Fuse pairs by score, as PyTorch's Inductor does (``choices.py`` and ``scheduler.py``) by default.

    There are at most ten rounds. Each round sorts all pairs of kernels that share a tensor. Pairs in which only one
    kernel has a reduction come after all other pairs. Among the pairs in which only one kernel has a reduction, and
    among the other pairs, the pair that shares most bytes is first. If two pairs share equally many bytes, the pair
    whose kernels are closest in the program is first. A pair is fused if the fusion is legal and the fused kernel has
    at most 64 ops. Matrix products are library calls and are not fused.
    """
    quotient = unmerged(rules.structure)
    for _ in range(_MAX_INDUCTOR_ROUNDS):
        before = len(quotient.groups)
        for *_, a, b in sorted(_scored(rules, capacity, quotient)):
            one, other = quotient.owner(a), quotient.owner(b)
            union = quotient.union((one, other))
            if one == other or union.bit_count() > _MAX_INDUCTOR_OPS:
                continue
            if rules.allows(union) and capacity.fits(union) and not quotient.detour((one, other)):
                quotient.merge((one, other))
        if len(quotient.groups) == before:
            break
    return list(quotient.groups.values())


def _scored(rules: Rules, capacity: Capacity, quotient: QuotientGraph) -> Iterable[tuple[bool, int, int, int, int]]:
    """Yield a score for each pair of groups that may be fused, with the first op of each group.

    The best pair has the smallest score.
    """
    structure = rules.structure
    alone = rules.opaque | rules.matmuls
    for number, group in quotient.groups.items():
        for other in quotient.near(number):
            pair = sorted((group, quotient.groups[other]), key=_first)
            if pair[0] != group or (group | pair[1]) & alone:
                continue
            a, b = pair
            mixed = bool(a & rules.reductions) != bool(b & rules.reductions)
            shared = set(structure.touched(a)).intersection(structure.touched(b))
            distance = max(abs(_first(a) - b.bit_length() + 1), abs(_first(b) - a.bit_length() + 1))
            yield mixed, -sum(capacity.counts.sizes[t] for t in shared), distance, _first(a), _first(b)


def _first(group: Mask) -> int:
    return (group & -group).bit_length() - 1
