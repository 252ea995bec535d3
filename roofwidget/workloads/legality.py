"""Which ops may become one kernel whatever the chip, and why other ops may not.

Two groups of a partition may be merged if all of this is true: the groups share a tensor, neither contains an opaque
op, no other op must run between them, and the kernels of the whole partition still have an order in which they can run.
A kernel has matrix products of at most two levels, and products that have nothing in common do not share one. Whether a
group has tiles that fit on a chip is the question of `forms.py`.

`js/src/fusion/legality.ts` mirrors this file. The tests compare both files with `tests/golden/fusion.json`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from roofwidget.workloads.masks import Mask, flood, members, union
from roofwidget.workloads.quotient import QuotientGraph
from roofwidget.workloads.structure import Structure


@dataclass(frozen=True)
class Refusal:
    """Why two groups may not become one kernel.

    Parameters
    ----------
    code
        ``"same"``, ``"not-connected"``, ``"barrier"``, ``"kinds"``, ``"not-convex"``, ``"cycle"``, ``"axes"`` or
        ``"capacity"``. They are checked in this order, except that tiles are checked last: some of their refusals are
        ``"kinds"``.
    sentence
        The reason, as a sentence for users.
    path
        Names of the ops concerned: the clashing ops, or a path through ops outside the group.
    """

    __module__ = "roofwidget.workloads"

    code: str
    sentence: str
    path: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.sentence


class FusionError(ValueError):
    """A requested merge is refused.

    Parameters
    ----------
    refusal
        The reason.
    """

    __module__ = "roofwidget.workloads"

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.sentence)
        self.refusal = refusal

    def __reduce__(self) -> tuple[object, ...]:
        return FusionError, (self.refusal,)


@dataclass(frozen=True)
class Body:
    """A group that breaks no rule, with the data that are needed to merge the group with another group.

    Parameters
    ----------
    ops
        The ops.
    clashes
        The ops that clash with one of the ops.
    before, after
        The ops that one of the ops depends on, and the ops that depend on one of the ops.
    """

    ops: Mask
    clashes: Mask
    before: Mask
    after: Mask

    @staticmethod
    def of(parts: Iterable[Body]) -> Body:
        """Return the union of groups."""
        ops = clashes = before = after = 0
        for part in parts:
            ops |= part.ops
            clashes |= part.clashes
            before |= part.before
            after |= part.after
        return Body(ops, clashes, before, after)


class Rules:
    """The rules for one group of ops, independent of the other groups.

    Attributes
    ----------
    clashes
        For each op, the ops with which it may never share a group. A subset of a group without clashes has no clashes
        either.
    """

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        self.opaque, self.matmuls = structure.of_kind["opaque"], structure.of_kind["matmul"]
        self.clashes = [
            structure.everything & ~(1 << op) if self.opaque >> op & 1 else self.opaque
            for op in range(len(structure.ops))
        ]
        for dot, others in self._product_clashes().items():
            self.clashes[dot] |= others

    def merge_refusal(self, quotient: QuotientGraph, a: int, b: int) -> Refusal | None:
        """Return why two groups may not be merged, or None if they may."""
        s, one, other = self.structure, quotient.groups[a], quotient.groups[b]
        if a == b:
            return Refusal("same", f"{s.label(one)} is already one kernel", tuple(self._names(one)))
        if b not in quotient.near(a):
            return Refusal("not-connected", f"{s.label(one)} and {s.label(other)} share no tensor")
        if refusal := self.refusal(one | other):
            return refusal
        detour = quotient.detour((a, b))
        return self.cycle(quotient, detour, one | other) if detour else None

    def cycle(self, quotient: QuotientGraph, detour: Sequence[int], union: Mask) -> Refusal:
        """Return the refusal for a path that leaves a union of groups and returns to it through other groups."""
        s = self.structure
        path: list[int] = []
        for one, other in itertools.pairwise(detour):
            start = next(op for op in members(quotient.groups[one]) if s.feeds[op] & quotient.groups[other])
            path += [start, next(members(s.feeds[start] & quotient.groups[other]))]
        names = tuple(s.names[op] for op, _ in itertools.groupby(path))
        between = s.label(quotient.groups[detour[1]])
        return Refusal("cycle", f"{s.label(union)} in one kernel would run both before and after {between}", names)

    def refusal(self, group: Mask) -> Refusal | None:
        """Return the first rule that a group of connected ops breaks (barrier, kinds, convexity), or None."""
        if not group & (group - 1):
            return None
        if opaque := group & self.opaque:
            (name, *_) = self._names(opaque)
            sentence = f"{name} is opaque: a whole algorithm that cannot share its kernel"
            return Refusal("barrier", sentence, (name,))
        return self._kinds(group) or self._detour(group)

    def allows(self, group: Mask) -> bool:
        """Return whether a group breaks no rule. This method is faster than `refusal(group) is None`."""
        if not group & (group - 1):
            return True
        return not self.has_clash(group) and self.is_convex(group)

    def body(self, op: int) -> Body:
        """Return an op as a group of its own."""
        return Body(1 << op, self.clashes[op], self.structure.before[op], self.structure.after[op])

    def merged(self, parts: Sequence[Body]) -> Body | None:
        """Return the union of groups, or None if it breaks a rule. This method is faster than `allows`."""
        ops = 0
        for part in parts:
            if part.clashes & ops:
                return None
            ops |= part.ops
        whole = Body.of(parts)
        return None if whole.after & whole.before & ~ops else whole

    def has_clash(self, group: Mask) -> bool:
        """Return whether a group contains two ops that clash."""
        return any(self.clashes[op] & group for op in members(group))

    def is_convex(self, group: Mask) -> bool:
        """Return whether no op outside the group must run between ops of the group."""
        return not self._between(group)

    # -- products --------------------------------------------------------------------------------------------------

    def _product_clashes(self) -> dict[int, Mask]:
        """Return, for each product, the products that share no kernel with it.

        These are the products before or after it with another one between, and those that have nothing in common with
        it: neither an input nor an op that uses both results through at most one further product each.
        """
        s, matmuls = self.structure, self.matmuls
        reach: dict[int, Mask] = {}
        clashes, preceding = dict.fromkeys(members(matmuls), 0), dict.fromkeys(members(matmuls), 0)
        users = [0] * len(s.ops)
        for dot in clashes:
            nearest, found = self._users(1 << dot)
            further, more = self._users(nearest)
            reach[dot] = found | nearest | more | further
            for op in members(reach[dot]):
                users[op] |= 1 << dot
            clashes[dot] |= matmuls & union(s.after[other] for other in members(nearest))
            for other in members(nearest):
                preceding[other] |= 1 << dot
        for dot in clashes:
            clashes[dot] |= matmuls & union(s.before[other] for other in members(preceding[dot]))
            beside = union(s.readers[t] for t in s.reads[dot])
            meeting = union(users[op] for op in members(reach[dot]))
            clashes[dot] |= matmuls & ~(s.before[dot] | s.after[dot] | beside | meeting | 1 << dot)
        return clashes

    def _users(self, ops: Mask) -> tuple[Mask, Mask]:
        """Return the nearest products that use the results of ops, and the ops between."""
        s = self.structure
        near = union(s.feeds[op] for op in members(ops))
        between = flood(near & ~self.matmuls, s.feeds, ~self.matmuls & s.everything)
        return (near | union(s.feeds[op] for op in members(between))) & self.matmuls, between

    def _kinds(self, group: Mask) -> Refusal | None:
        s = self.structure
        clash = next(((op, self.clashes[op] & group) for op in members(group) if self.clashes[op] & group), None)
        if clash is None:
            return None
        one, other = clash[0], next(members(clash[1]))
        between = self.matmuls & s.after[one] & s.before[other]
        ops = (one, next(members(between)), other) if between else (one, other)
        names = tuple(s.names[op] for op in ops)
        if between:
            row = f"{names[0]}, {names[1]} and {names[2]} are three matrix products one after the other"
            sentence = f"{row}: a kernel has at most two"
        else:
            sentence = f"{names[0]} and {names[1]} are matrix products that share no input and no result"
        return Refusal("kinds", sentence, names)

    # -- order -----------------------------------------------------------------------------------------------------

    def _between(self, group: Mask) -> Mask:
        s, after, before = self.structure, 0, 0
        for op in members(group):
            after |= s.after[op]
            before |= s.before[op]
        return after & before & ~group

    def _detour(self, group: Mask) -> Refusal | None:
        between = self._between(group)
        if not between:
            return None
        s = self.structure
        start = next(op for op in members(group) if s.feeds[op] & between)
        path = _shortest(start, s.feeds, between, group)
        names = tuple(s.names[op] for op in path)
        inner = s.label(sum(1 << op for op in path[1:-1]))
        return Refusal("not-convex", f"{inner} must run after {names[0]} and before {names[-1]}", names)

    def _names(self, group: Mask) -> list[str]:
        return [self.structure.names[op] for op in members(group)]


def _shortest(start: int, feeds: Sequence[Mask], through: Mask, end: Mask) -> list[int]:
    """Return the shortest path from an op through ops of `through` to an op of `end`. Such a path must exist."""
    came = {start: -1}
    queue = [start]
    for op in queue:
        if op != start and (goal := feeds[op] & end):
            path = [next(members(goal)), op]
            while came[path[-1]] >= 0:
                path.append(came[path[-1]])
            return path[::-1]
        for reached in members(feeds[op] & through):
            if reached not in came:
                came[reached] = op
                queue.append(reached)
    return []
