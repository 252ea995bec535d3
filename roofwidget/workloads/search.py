"""The search for the fastest partition of a graph: exact if few steps are enough, greedy otherwise.

The exact search is dynamic programming over downsets. A state is the set of finished ops. This set is a downset: with
each op it contains all ops that this op depends on. A step runs one more group, connected through shared tensors, so
that the finished ops are again a downset. Such groups are convex and their quotient graph has no cycle, so only their
forms need checks (`forms.py`). A part of a legal group need not be legal: a product with a softmax after it may need
rows that do not fit, and the two with the next product not. Therefore a group grows as long as no two of its ops clash,
whether or not it has a form. Parts of the graph that share no tensor are searched separately.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final, Literal, TypeAlias

from roofwidget.chips import MissingFigureError
from roofwidget.support.budget import Budget
from roofwidget.support.progress import Progress, advancing
from roofwidget.workloads import greedy
from roofwidget.workloads.forms import Forms
from roofwidget.workloads.legality import Rules
from roofwidget.workloads.masks import Mask, members, union
from roofwidget.workloads.structure import Structure

MAX_STEPS: Final = 100_000
"""The largest number of steps that the exact search may try."""
# Two times are equal if their relative difference is below this number. Of two partitions with equal times, the one
# that moves fewer bytes is chosen, then the one with fewer kernels.
_TIE: Final = 1e-12

How: TypeAlias = Literal["optimal", "greedy"]
"""Whether a search was exact."""

Price: TypeAlias = Callable[[Mask], "tuple[float, int] | None"]
"""The seconds and the bytes of a group, or None if the group is no kernel."""


@dataclass(frozen=True)
class Found:
    """The fastest partition that `fastest` found.

    Parameters
    ----------
    groups
        The groups, in any order.
    how
        Whether the search was exact.
    evaluations
        The number of steps that the exact search tried.
    budget_ended
        Whether the budget ended before the search.
    """

    groups: list[Mask]
    how: How
    evaluations: int
    budget_ended: bool = False


def fastest(rules: Rules, forms: Forms, *, budget: Budget | None = None, progress: Progress = False) -> Found:
    """Search for the partition with the shortest time whose kernels fit on chip.

    With a limited budget, the greedy search is first, and the exact search has the rest of the time. If the budget
    ends, the result has the groups of the exact search for the parts of the graph that this search finished. The other
    groups are those of the greedy search.
    """
    budget = budget or Budget(None)
    with_all = rules, forms, budget, progress
    groups = _greedy(*with_all) if budget.is_limited else None
    exact = _exact(*with_all)
    if exact.is_complete:
        return Found(exact.groups, "optimal", exact.evaluations)
    groups = groups or _greedy(*with_all)
    if not exact.budget_ended:
        return Found(groups, "greedy", MAX_STEPS)
    finished = union(exact.groups)
    better = [*exact.groups, *(group for group in groups if not group & finished)]
    return Found(better, "greedy", exact.evaluations, budget_ended=True)


def _greedy(rules: Rules, forms: Forms, budget: Budget, progress: Progress) -> list[Mask]:
    def saved(parts: Sequence[Mask], merged: tuple[float, int] | None) -> float:
        if merged is None:
            return -1.0
        unmerged = sum(price[0] for part in parts if (price := forms.price(part)))
        gain = unmerged - merged[0]
        # A gain this small may come from rounding.
        return gain if gain > _TIE * unmerged else -1.0

    def bound(parts: Sequence[Mask], union: Mask) -> float:
        try:
            return saved(parts, forms.least(union, max(parts, key=int.bit_count)))
        except MissingFigureError:
            # A part has no price, but the union may have no form either.
            return inf

    def gain(parts: Sequence[Mask], union: Mask) -> float:
        return saved(parts, forms.price(union))

    with advancing(progress, None, unit="merge", description="greedy search") as advance:
        return greedy.by_gain(rules, bound, gain, budget, advance)


@dataclass(frozen=True)
class _Exact:
    """The fastest groups of the parts of a graph that the exact search finished."""

    groups: list[Mask]
    evaluations: int
    is_complete: bool
    budget_ended: bool = False


def _exact(rules: Rules, forms: Forms, budget: Budget, progress: Progress) -> _Exact:
    structure = rules.structure
    groups: list[Mask] = []
    evaluations = 0
    with advancing(progress, len(structure.ops), unit="op", description="exact search") as advance:
        for part in structure.connected(structure.everything):
            left = MAX_STEPS - evaluations
            if budget.is_over():
                return _Exact(groups, evaluations, is_complete=False, budget_ended=True)
            if takes_more(structure, rules, part, left):
                return _Exact(groups, MAX_STEPS, is_complete=False)
            found = optimal(structure, rules, forms.price, part, left, budget, advance, forms.least)
            evaluations += found.evaluations
            if found.groups is None:
                return _Exact(groups, evaluations, is_complete=False, budget_ended=found.budget_ended)
            groups += found.groups
    return _Exact(groups, evaluations, is_complete=True)


def takes_more(structure: Structure, rules: Rules, part: Mask, limit: int) -> bool:
    """Return whether `optimal` surely needs more than `limit` steps. Two lower bounds decide without a search.

    First bound: the search tries each run of connected ops, in the graph's order, that do not clash. Second bound: take
    n ops that read one tensor, do not clash and do not depend on each other. For each set of finished ops among them,
    the search tries each subset of the unfinished ops: 3^n - 2^n steps.
    """
    return _siblings(structure, rules, part, limit) or _runs(structure, rules, part, limit)


def _siblings(structure: Structure, rules: Rules, part: Mask, limit: int) -> bool:
    for t in {t for op in members(part) for t in structure.reads[op]}:
        many, banned = 0, 0
        for op in members(structure.readers[t] & part):
            if not banned >> op & 1:
                many += 1
                banned |= rules.clashes[op] | structure.after[op]
        if 3**many - 2**many > limit:
            return True
    return False


def _runs(structure: Structure, rules: Rules, part: Mask, limit: int) -> bool:
    ops = list(members(part))
    found = 0
    for start in range(len(ops)):
        banned, parts = 0, list[Mask]()
        for op in ops[start:]:
            if banned >> op & 1:
                break
            banned |= rules.clashes[op]
            near = structure.near[op]
            beside = [part for part in parts if part & near]
            parts = [*(part for part in parts if not part & near), sum(beside) | 1 << op]
            found += len(parts) == 1
            if found > limit:
                return True
    return False


@dataclass(frozen=True)
class Optimum:
    """What the exact search found in one part of a graph.

    Parameters
    ----------
    groups
        The fastest partition, or None if the limit was reached or the budget ended.
    evaluations
        The number of steps: pairs of a set of finished ops and a group to run next.
    budget_ended
        Whether the budget ended before the search.
    """

    groups: tuple[Mask, ...] | None
    evaluations: int
    budget_ended: bool = False


@dataclass(frozen=True)
class _Way:
    """The fastest known way to run a set of ops: the ops finished before its last group, and this group.

    `ready` has the ops that can run next.
    """

    time: float
    bytes: int
    kernels: int
    before: Mask
    group: Mask
    ready: Mask

    def then(self, cost: tuple[float, int]) -> tuple[float, int, int]:
        """Return the time, the bytes and the kernels after one more group of this cost."""
        return self.time + cost[0], self.bytes + cost[1], self.kernels + 1


def optimal(  # noqa: PLR0917 - the graph, its rules, and what ends the search
    structure: Structure,
    rules: Rules,
    price: Price,
    part: Mask,
    limit: int,
    budget: Budget | None = None,
    advance: Callable[[int], object] = lambda _ops: None,
    least: Callable[[Mask, Mask], tuple[float, int]] = lambda _group, _smaller: (0.0, 0),
) -> Optimum:
    """Return the fastest partition of `part`, a set of ops that shares no tensor with the other ops of the graph.

    Parameters
    ----------
    structure, rules
        The graph and what may fuse.
    price
        A function that returns the seconds and the bytes of a group, or None if the group has no form.
    part
        The ops.
    limit
        The largest number of steps.
    budget
        The time for the search; None: no limit.
    advance
        A function that takes the number of ops that the search has finished since the last call.
    least
        A function of a group and of a smaller group from which it grew: lower bounds of its seconds and bytes. A way
        that is no better with these is no better with the price, so the price is not asked for.
    """
    budget = budget or Budget(None)
    first = union(1 << op for op in members(part) if not structure.needs[op])
    ways: dict[Mask, _Way] = {0: _Way(0.0, 0, 0, 0, 0, first)}
    sizes: list[list[Mask]] = [[] for _ in range(part.bit_count() + 1)]
    sizes[0].append(0)
    evaluations = 0
    for states in sizes[:-1]:
        for done in states:
            way = ways[done]
            for group, smaller in _next_groups(structure, rules, part & ~done, way.ready):
                if evaluations == limit or budget.is_over():
                    return Optimum(None, evaluations, budget_ended=evaluations < limit)
                evaluations += 1
                old = ways.get(state := done | group)
                if old is not None and not _is_better(way.then(least(group, smaller)), old):
                    continue
                if (cost := price(group)) is None:
                    continue
                found = way.then(cost)
                if old is None:
                    sizes[state.bit_count()].append(state)
                    ways[state] = _Way(*found, done, group, _ready_after(structure, way.ready, state, group))
                elif _is_better(found, old):
                    ways[state] = _Way(*found, done, group, old.ready)
        advance(1)
    groups = []
    state = part
    while state:
        groups.append(ways[state].group)
        state = ways[state].before
    return Optimum(tuple(reversed(groups)), evaluations)


def _is_better(found: tuple[float, int, int], old: _Way) -> bool:
    if abs(found[0] - old.time) <= _TIE * old.time:
        return found[1:] < (old.bytes, old.kernels)
    return found[0] < old.time


def _ready_after(structure: Structure, ready: Mask, done: Mask, group: Mask) -> Mask:
    """Return the ops that can run after a group has run. `ready` has the ops that could run before this group."""
    needs = structure.needs
    later = union(structure.feeds[op] for op in members(group)) & ~done
    return (ready & ~group) | union(1 << op for op in members(later) if not needs[op] & ~done)


def _next_groups(structure: Structure, rules: Rules, left: Mask, ready: Mask) -> Iterator[tuple[Mask, Mask]]:
    """Yield connected groups of unfinished ops that lead to another downset, each with the group that it grew from.

    `left` has the unfinished ops, and `ready` has the ops among them that can run next.

    A group grows by an op that shares a tensor with it, together with all unfinished ops that this op depends on. It
    grows only while no two of its ops clash, because a larger group would have the same clash.
    """
    before, near, clashes = structure.before, structure.near, rules.clashes
    seen = set[Mask]()
    waiting = [(1 << op, 0, near[op], clashes[op]) for op in members(ready)]
    while waiting:
        group, smaller, touched, banned = waiting.pop()
        if group in seen:
            continue
        seen.add(group)
        yield group, smaller
        for op in members(touched & left & ~group & ~banned):
            added = (before[op] & left | 1 << op) & ~group
            grown = group | added
            if grown in seen:
                continue
            touches, bans = touched, banned
            for new in members(added):
                touches |= near[new]
                bans |= clashes[new]
            if not grown & bans:
                waiting.append((grown, group, touches, bans))
