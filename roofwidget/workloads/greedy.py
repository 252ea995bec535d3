"""Partitions made step by step: as far as the rules allow, by twos, and as two compilers make them."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from roofwidget.workloads.legality import Rules
from roofwidget.workloads.line import Line
from roofwidget.workloads.structure import Counts, Mask, Structure, members

__all__ = ["by_gain", "inductor_like", "pairs", "singles", "xla_like"]

Fits: TypeAlias = Callable[[Mask], bool]
Time: TypeAlias = Callable[[Mask], float]

_ROUNDS: Final = 10
_MOST_OPS: Final = 64


def singles(structure: Structure) -> list[Mask]:
    """Return every op as a group of its own."""
    return [1 << op for op in range(len(structure.ops))]


def by_gain(
    structure: Structure, rules: Rules, fits: Fits, gain: Callable[[Mask, Mask], float], groups: Iterable[Mask]
) -> list[Mask]:
    """Merge the two groups that gain most, of equals those with the smallest first ops, until no merge gains.

    `gain` below zero is none. Groups that share no tensor are never merged.
    """
    line = Line(structure, groups)
    heap: list[tuple[float, int, int, int, int]] = []

    def offer(a: int, b: int) -> None:
        one, other = sorted((line.groups[a], line.groups[b]), key=_first)
        if rules.allows(one | other) and fits(one | other) and (worth := gain(one, other)) >= 0:
            heapq.heappush(heap, (-worth, _first(one), _first(other), a, b))

    for a in list(line.groups):
        for b in line.near(a):
            if a < b:
                offer(a, b)
    while heap:
        *_, a, b = heapq.heappop(heap)
        # A detour goes away only when a group on it is merged with one of the two, which makes a new offer.
        if a in line.groups and b in line.groups and not line.detour((a, b)):
            merged = line.merge((a, b))
            for other in line.near(merged):
                offer(merged, other)
    return list(line.groups.values())


def pairs(structure: Structure, rules: Rules, fits: Fits, counts: Counts[int]) -> list[Mask]:
    """Merge ops by twos: those that save most bytes first, of equals the smallest ops."""
    line = Line(structure, singles(structure))
    alone = [structure.bytes(1 << op, counts) for op in range(len(structure.ops))]
    found = []
    for a in range(len(alone)):
        for b in members(structure.near[a] >> (a + 1) << (a + 1)):
            both = 1 << a | 1 << b
            if rules.allows(both) and fits(both):
                found.append((structure.bytes(both, counts) - alone[a] - alone[b], a, b))
    for _, a, b in sorted(found):
        if a in line.groups and b in line.groups and not line.detour((a, b)):
            line.merge((a, b))
    return list(line.groups.values())


def xla_like(structure: Structure, rules: Rules, fits: Fits, time: Time) -> list[Mask]:
    """Fuse producers into all of their consumers, the one that saves most time first.

    XLA's priority fusion (``priority_fusion.cc`` and ``gpu_performance_model.cc``) keeps producers in a queue by the
    time that fusing each into all of its consumers saves, and fuses while some is saved. Where XLA would copy a
    producer into each of several consumers, here they all become one kernel, or the producer stays apart.
    """
    line = Line(structure, singles(structure))
    heap: list[tuple[float, int, int, tuple[int, ...]]] = []
    latest: dict[int, tuple[int, ...]] = {}

    def offer(producer: int) -> None:
        consumers = line.after(producer)
        latest[producer] = parts = (producer, *consumers)
        union = line.union(parts)
        if consumers and rules.allows(union) and fits(union):
            saved = sum(time(line.groups[part]) for part in parts) - time(union)
            if saved > 0:
                heapq.heappush(heap, (-saved, _first(line.groups[producer]), producer, parts))

    for number in list(line.groups):
        offer(number)
    while heap:
        *_, producer, parts = heapq.heappop(heap)
        if latest.get(producer) != parts or producer not in line.groups or line.detour(parts):
            continue
        merged = line.merge(parts)
        for number in (merged, *line.before(merged)):
            offer(number)
    return list(line.groups.values())


def inductor_like(structure: Structure, rules: Rules, fits: Fits, counts: Counts[int]) -> list[Mask]:
    """Fuse pairs by score, as PyTorch's Inductor does (``choices.py`` and ``scheduler.py``) by default.

    In each of at most ten rounds all pairs of kernels that share a tensor are put in order: first those of which both
    or neither reduce, then by the bytes of the tensors they share, then those near each other in the program. Going
    down the list, a pair is fused if that is legal and comes to at most 64 ops. Matrix products are calls of a library
    and stay alone.
    """
    line = Line(structure, singles(structure))
    for _ in range(_ROUNDS):
        before = len(line.groups)
        for *_, a, b in sorted(_scored(structure, rules, counts, line)):
            one, other = line.owner[a], line.owner[b]
            union = line.union((one, other))
            if one == other or union.bit_count() > _MOST_OPS or not rules.allows(union) or not fits(union):
                continue
            if not line.detour((one, other)):
                line.merge((one, other))
        if len(line.groups) == before:
            break
    return list(line.groups.values())


def _scored(
    structure: Structure, rules: Rules, counts: Counts[int], line: Line
) -> Iterable[tuple[bool, int, int, int, int]]:
    """Go through the pairs of groups that may be fused: the best compare smallest, and end with their first ops."""
    alone = rules.opaque | rules.matmuls
    for number, group in line.groups.items():
        for other in line.near(number):
            pair = sorted((group, line.groups[other]), key=_first)
            if pair[0] != group or (group | pair[1]) & alone:
                continue
            a, b = pair
            mixed = bool(a & rules.reductions) != bool(b & rules.reductions)
            shared = _touched(structure, a) & _touched(structure, b)
            distance = max(abs(_first(a) - b.bit_length() + 1), abs(_first(b) - a.bit_length() + 1))
            yield mixed, -sum(counts.sizes[t] for t in shared), distance, _first(a), _first(b)


def _touched(structure: Structure, group: Mask) -> set[int]:
    return {t for op in members(group) for t in (*structure.reads[op], *structure.makes[op])}


def _first(group: Mask) -> int:
    return (group & -group).bit_length() - 1
