"""The search for the fastest partition of a graph: exact if few steps are enough, greedy otherwise.

The exact search is dynamic programming over downsets. A state is the set of finished ops. This set is a downset: with
each op it contains all ops that this op depends on. A step runs one more group, connected through shared tensors, so
that the finished ops are again a downset. Such groups are convex and their quotient graph has no cycle, so only the
kinds and the capacity need checks. Parts of the graph that share no tensor are searched separately.

`js/src/fusion/search.ts` mirrors this file. The tests compare both files with `tests/golden/fusion.json`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from roofwidget.chips import Chip
from roofwidget.support.budget import Budget
from roofwidget.support.progress import Progress, advancing
from roofwidget.workloads import greedy
from roofwidget.workloads.capacity import Capacity
from roofwidget.workloads.legality import Rules
from roofwidget.workloads.masks import Mask, members, union
from roofwidget.workloads.op import CLASSES
from roofwidget.workloads.structure import Counts, Structure
from roofwidget.workloads.tensors import is_floating

MAX_STEPS: Final = 100_000
"""The largest number of steps that the exact search may try."""
# Two times are equal if their relative difference is below this number. If two partitions have
# equal times, the partition with fewer kernels is chosen.
_TIE: Final = 1e-12

How: TypeAlias = Literal["optimal", "greedy"]
"""Whether a search was exact."""

Time: TypeAlias = Callable[[Mask, Mask], "float | None"]
_Sums: TypeAlias = tuple[int, tuple[int, ...]]


class Costs:
    """The bound time of groups on one chip, seconds.

    `roofwidget.bound` returns the same seconds for the kernels of the groups.

    Parameters
    ----------
    structure, counts
        The graph, and its counts as ints.
    chip
        The chip.
    precision
        The precision whose peak applies to every group; ``"auto"``: each group's own precision.
    launch_overhead
        Seconds per kernel.
    """

    def __init__(
        self, structure: Structure, counts: Counts[int], chip: Chip, precision: str, launch_overhead: float
    ) -> None:
        self.structure, self.counts, self.chip = structure, counts, chip
        self.asked, self.own = chip.precision(precision), precision.casefold() == "auto"
        self.overhead, self.bandwidth = launch_overhead, chip.bandwidth()
        self._flops = [tuple(by_class.get(word, 0) for word in CLASSES) for by_class in counts.flops]
        self._peaks: dict[tuple[str, str], float] = {}
        self._sums: dict[Mask, _Sums] = {0: (0, (0,) * len(CLASSES))}
        self._known: dict[Mask, float] = {}
        # If all groups have the same precision, it is looked up only once.
        floating = (dtype for t, dtype in enumerate(structure.dtypes) if is_floating(structure.tensors[t].dtype))
        judging = {*floating, *(structure.precision(1 << op, counts) for op in range(len(structure.ops)))}
        self._only = judging.pop() if len(judging) == 1 else None

    def __call__(self, group: Mask, smaller: Mask = 0) -> float:
        """Return the seconds of a group. This is faster if the seconds of its part `smaller` were computed before."""
        if group not in self._known:
            self._known[group] = self._time(group, smaller)
        return self._known[group]

    def _time(self, group: Mask, smaller: Mask) -> float:
        moved, flops = self._sums[group] = self._grown(group, smaller)
        compute = 0.0
        if any(flops):
            precision = self._precision(group)
            compute = sum(n / self._peak(word, precision) for word, n in zip(CLASSES, flops, strict=True) if n)
        return max(compute, moved / self.bandwidth, self.overhead)

    def _precision(self, group: Mask) -> str:
        own = (self._only or self.structure.precision(group, self.counts)) if self.own else None
        return own or self.asked

    def _grown(self, group: Mask, smaller: Mask) -> _Sums:
        """Return the bytes and the FLOPs by class of a group, computed from the values of a smaller group."""
        s, counts = self.structure, self.counts
        moved, flops = self._sums.get(smaller, self._sums[0])
        smaller = smaller if smaller in self._sums else 0
        total = list(flops)
        for op in members(group & ~smaller):
            moved += counts.extra[op]
            total = [some + more for some, more in zip(total, self._flops[op], strict=True)]
        for t in s.touched(group & ~smaller):
            moved += counts.sizes[t] * (s.crosses(t, group) - s.crosses(t, smaller))
        return moved, tuple(total)

    def _peak(self, word: str, precision: str) -> float:
        if (word, precision) not in self._peaks:
            self._peaks[word, precision] = self.chip.peak_of(word, precision)[0]
        return self._peaks[word, precision]


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


def fastest(
    rules: Rules, capacity: Capacity, costs: Costs, *, budget: Budget | None = None, progress: Progress = False
) -> Found:
    """Search for the partition with the shortest time whose kernels fit on chip.

    With a limited budget, the greedy search is first, and the exact search has the rest of the time. If the budget
    ends, the result has the groups of the exact search for the parts of the graph that this search finished. The other
    groups are those of the greedy search.
    """
    budget = budget or Budget(None)
    with_all = rules, capacity, costs, budget, progress
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


def _greedy(rules: Rules, capacity: Capacity, costs: Costs, budget: Budget, progress: Progress) -> list[Mask]:
    def saved(a: Mask, b: Mask) -> float:
        unmerged = costs(a) + costs(b)
        gain = unmerged - costs(a | b, max(a, b, key=int.bit_count))
        # A gain this small may come from rounding.
        return gain if gain > _TIE * unmerged else -1.0

    with advancing(progress, None, unit="merge", description="greedy search") as advance:
        return greedy.by_gain(rules, capacity, saved, budget, advance)


@dataclass(frozen=True)
class _Exact:
    """The fastest groups of the parts of a graph that the exact search finished."""

    groups: list[Mask]
    evaluations: int
    is_complete: bool
    budget_ended: bool = False


def _exact(rules: Rules, capacity: Capacity, costs: Costs, budget: Budget, progress: Progress) -> _Exact:
    def time(group: Mask, smaller: Mask) -> float | None:
        seconds = costs(group, smaller)
        return seconds if capacity.fits_grown(group, smaller) else None

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
            found = optimal(structure, rules, time, part, left, budget, advance)
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
    kernels: int
    before: Mask
    group: Mask
    ready: Mask


def optimal(  # noqa: PLR0917 - the graph, its rules, and what ends the search
    structure: Structure,
    rules: Rules,
    time: Time,
    part: Mask,
    limit: int,
    budget: Budget | None = None,
    advance: Callable[[int], object] = lambda _ops: None,
) -> Optimum:
    """Return the fastest partition of `part`, a set of ops that shares no tensor with the other ops of the graph.

    Parameters
    ----------
    structure, rules
        The graph and what may fuse.
    time
        A function that takes a group and a smaller part of it. It returns the seconds of the group, or None if the
        group does not fit on chip.
    part
        The ops.
    limit
        The largest number of steps.
    budget
        The time for the search; None: no limit.
    advance
        A function that takes the number of ops that the search has finished since the last call.
    """
    budget = budget or Budget(None)
    first = union(1 << op for op in members(part) if not structure.needs[op])
    ways: dict[Mask, _Way] = {0: _Way(0.0, 0, 0, 0, first)}
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
                if not rules.is_anchored(group) or (seconds := time(group, smaller)) is None:
                    continue
                seconds += way.time
                old = ways.get(state := done | group)
                if old is None:
                    sizes[state.bit_count()].append(state)
                    ready = _ready_after(structure, way.ready, state, group)
                    ways[state] = _Way(seconds, way.kernels + 1, done, group, ready)
                elif _is_better(seconds, way.kernels + 1, old):
                    ways[state] = _Way(seconds, way.kernels + 1, done, group, old.ready)
        advance(1)
    groups = []
    state = part
    while state:
        groups.append(ways[state].group)
        state = ways[state].before
    return Optimum(tuple(reversed(groups)), evaluations)


def _is_better(time: float, kernels: int, old: _Way) -> bool:
    if abs(time - old.time) <= _TIE * old.time:
        return kernels < old.kernels
    return time < old.time


def _ready_after(structure: Structure, ready: Mask, done: Mask, group: Mask) -> Mask:
    """Return the ops that can run after a group has run. `ready` has the ops that could run before this group."""
    needs = structure.needs
    later = union(structure.feeds[op] for op in members(group)) & ~done
    return (ready & ~group) | union(1 << op for op in members(later) if not needs[op] & ~done)


def _next_groups(structure: Structure, rules: Rules, left: Mask, ready: Mask) -> Iterator[tuple[Mask, Mask]]:
    """Yield connected groups of unfinished ops that lead to another downset, each with the group from which it grew.

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
