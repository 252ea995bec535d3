"""Greedy partitions: merging as far as the rules allow, merging in pairs, and fusing as two compilers do."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Final, TypeAlias

from roofwidget.support.budget import Budget
from roofwidget.workloads.forms import Forms
from roofwidget.workloads.legality import Body, Rules
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


Gain: TypeAlias = Callable[[Sequence[Mask], Mask], float]
"""What a merge saves: a function of the groups to merge and of their union; negative if it must not be made."""


def by_gain(
    rules: Rules,
    bound: Gain,
    gain: Gain,
    budget: Budget | None = None,
    advance: Callable[[int], object] = lambda _merges: None,
) -> list[Mask]:
    """Merge the groups with the largest gain, until no merge has a gain of at least zero or the budget ends.

    Most merges are of two groups that share a tensor. A pair may have no form where three groups have one. So a group
    with a reduction is also offered between a matrix product before it and one after it, and with all matrix products
    that read its result. If several gains are equal, the groups whose first ops are earliest in the graph are merged.

    Parameters
    ----------
    rules
        What may be one kernel, whatever the chip.
    bound
        An upper bound of the gain. Most offers go before they are the best, so only their bounds are needed.
    gain
        The gain; negative if the union is no kernel.
    budget
        The time for the search; None: no limit.
    advance
        A function that takes the number of merges since its last call.
    """
    budget = budget or Budget(None)
    offers = _Offers(rules, bound, gain)
    for number in list(offers.quotient.groups):
        if budget.is_over():
            break
        offers.add_pairs(number, [other for other in offers.quotient.beside(number) if number < other])
        offers.add_around(number)
    while parts := offers.best(budget):
        merged = offers.merge(parts)
        advance(1)
        offers.add_pairs(merged, offers.quotient.beside(merged))
        offers.add_around(merged)
        for other in (*offers.quotient.before(merged), *offers.quotient.after(merged)):
            offers.add_around(other, merged)
    return list(offers.quotient.groups.values())


class _Offers:
    """Merges of groups that have a gain, the largest gain first."""

    def __init__(self, rules: Rules, bound: Gain, gain: Gain) -> None:
        self.rules, self.bound, self.gain = rules, bound, gain
        self.quotient = unmerged(rules.structure)
        self._bodies = {number: rules.body(number) for number in self.quotient.groups}
        # Offers by gain, or by a bound of it: then the mask is the union, and otherwise 0.
        self._heap: list[tuple[float, tuple[int, ...], tuple[int, ...], Mask]] = []

    def add_pairs(self, number: int, others: Iterable[int]) -> None:
        """Offer a group with each of other groups."""
        for other in others:
            self._add((number, other))

    def add_around(self, number: int, other: int | None = None) -> None:
        """Offer a group with the matrix products around it: all such merges, or those that contain another group."""
        if other is not None and not self.quotient.groups[other] & self.rules.matmuls:
            return
        for parts in _around(self.rules, self.quotient, number):
            if other is None or other in parts:
                self._add(parts)

    def _add(self, parts: Sequence[int]) -> None:
        groups = self.quotient.groups
        ordered = sorted(parts, key=lambda number: _first(groups[number]))
        body = self.rules.merged([self._bodies[number] for number in ordered])
        if body is None:
            return
        masks = [groups[number] for number in ordered]
        if (worth := self.bound(masks, body.ops)) >= 0:
            heapq.heappush(self._heap, (-worth, tuple(map(_first, masks)), tuple(ordered), body.ops))

    def best(self, budget: Budget) -> tuple[int, ...]:
        """Return the groups of the merge with the largest gain, or no groups if no merge has one or the budget ends."""
        groups = self.quotient.groups
        while self._heap and not budget.is_over():
            _, firsts, parts, union = heapq.heappop(self._heap)
            # A detour is a path between the parts through other groups. It disappears only if a group on the path is
            # merged with one of them. That merge creates a new offer, so this one can be dropped.
            if not all(part in groups for part in parts) or self.quotient.detour(parts):
                continue
            if not union:
                return parts
            if (worth := self.gain([groups[part] for part in parts], union)) >= 0:
                heapq.heappush(self._heap, (-worth, firsts, parts, 0))
        return ()

    def merge(self, parts: Sequence[int]) -> int:
        """Merge groups, and return the number of the merged group."""
        merged = self.quotient.merge(parts)
        self._bodies[merged] = Body.of([self._bodies.pop(part) for part in parts])
        return merged


def _around(rules: Rules, quotient: QuotientGraph, number: int) -> Iterator[tuple[int, ...]]:
    """Yield merges of a group with a reduction and no product: with the products around it, and with those after it."""
    group = quotient.groups[number]
    if not group & rules.structure.reducing or group & rules.matmuls:
        return
    after = [other for other in quotient.after(number) if quotient.groups[other] & rules.matmuls]
    before = [other for other in quotient.before(number) if quotient.groups[other] & rules.matmuls]
    yield from ((one, number, other) for one in before for other in after if one != other)
    if len(after) > 1:
        yield number, *after


def fully(rules: Rules, forms: Forms) -> list[Mask]:
    """Merge groups as long as a merge is legal. The next merge is always the merge that saves most bytes."""

    @cache
    def moved(group: Mask) -> int:
        return rules.structure.bytes(group, forms.counts)

    def saved(parts: Sequence[Mask], union: Mask) -> float:
        return sum(map(moved, parts)) - moved(union)

    return by_gain(rules, saved, lambda parts, union: -1 if forms.refusal(union) else saved(parts, union))


def pairs(rules: Rules, forms: Forms) -> list[Mask]:
    """Merge ops in pairs, the pair that saves most bytes first. In a tie the earliest pair in the graph is first."""
    structure, counts = rules.structure, forms.counts
    quotient = QuotientGraph(structure, singles(structure))
    alone = [structure.bytes(1 << op, counts) for op in range(len(structure.ops))]
    found = []
    for a in range(len(alone)):
        for b in members(structure.near[a] >> (a + 1) << (a + 1)):
            both = 1 << a | 1 << b
            if rules.allows(both) and not forms.refusal(both):
                found.append((structure.bytes(both, counts) - alone[a] - alone[b], a, b))
    for _, a, b in sorted(found):
        if a in quotient.groups and b in quotient.groups and not quotient.detour((a, b)):
            quotient.merge((a, b))
    return list(quotient.groups.values())


def xla_like(rules: Rules, forms: Forms) -> list[Mask]:
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
        if consumers and rules.allows(union) and not forms.refusal(union):
            saved = sum(forms.time(quotient.groups[part]) for part in parts) - forms.time(union)
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


def inductor_like(rules: Rules, forms: Forms, *, products: bool = False) -> list[Mask]:
    """Fuse pairs by score, as PyTorch's Inductor does (``choices.py`` and ``scheduler.py``) by default.

    There are at most ten rounds. Each round sorts all pairs of kernels that share a tensor. Pairs in which only one
    kernel has a reduction come after all other pairs. Among the pairs in which only one kernel has a reduction, and
    among the other pairs, the pair that shares most bytes is first. If two pairs share equally many bytes, the pair
    whose kernels are closest in the program is first. A pair is fused if the fusion is legal and the fused kernel has
    at most 64 ops. Matrix products are library calls and are not fused, unless `products`.
    """
    quotient = unmerged(rules.structure)
    for _ in range(_MAX_INDUCTOR_ROUNDS):
        before = len(quotient.groups)
        for *_, a, b in sorted(_scored(rules, forms, quotient, products=products)):
            one, other = quotient.owner(a), quotient.owner(b)
            union = quotient.union((one, other))
            if one == other or union.bit_count() > _MAX_INDUCTOR_OPS:
                continue
            if rules.allows(union) and not forms.refusal(union) and not quotient.detour((one, other)):
                quotient.merge((one, other))
        if len(quotient.groups) == before:
            break
    return list(quotient.groups.values())


def _scored(
    rules: Rules, forms: Forms, quotient: QuotientGraph, *, products: bool
) -> Iterable[tuple[bool, int, int, int, int]]:
    """Yield a score for each pair of groups that may be fused, with the first op of each group.

    The best pair has the smallest score.
    """
    structure = rules.structure
    alone = rules.opaque if products else rules.opaque | rules.matmuls
    for number, group in quotient.groups.items():
        for other in quotient.near(number):
            pair = sorted((group, quotient.groups[other]), key=_first)
            if pair[0] != group or (group | pair[1]) & alone:
                continue
            a, b = pair
            mixed = bool(a & structure.reducing) != bool(b & structure.reducing)
            shared = {*structure.touched(a)} & {*structure.touched(b)}
            distance = max(abs(_first(a) - b.bit_length() + 1), abs(_first(b) - a.bit_length() + 1))
            yield mixed, -sum(forms.counts.sizes[t] for t in shared), distance, _first(a), _first(b)


def _first(group: Mask) -> int:
    return (group & -group).bit_length() - 1
