"""Which ops may become one kernel, and why other ops may not.

Two groups of a partition may be merged if all of this is true: the groups share a tensor, neither contains an opaque
op, the kinds of their ops fuse, and no other op must run between them. Also, the kernels of the whole partition must
still have an order in which they can run. Kinds follow the classes of TVM (Chen et al., OSDI 2018, section 3):
elementwise, broadcast and injective ops fuse freely, a matrix product takes elementwise ops after it, a reduction takes
ops over the same rows.

`js/src/fusion/legality.ts` mirrors this file. The tests compare both files with `tests/golden/fusion.json`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from roofwidget.workloads.masks import Mask, flood, members
from roofwidget.workloads.quotient import QuotientGraph
from roofwidget.workloads.structure import Structure

_INJECTIVE_REMARK: Final = ": it moves elements from one tile to another"


@dataclass(frozen=True)
class Refusal:
    """Why two groups may not become one kernel.

    Parameters
    ----------
    code
        ``"same"``, ``"not-connected"``, ``"barrier"``, ``"kinds"``, ``"not-convex"``, ``"cycle"``, ``"axes"`` or
        ``"capacity"``. They are checked in this order.
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

    def merged(self, other: Body) -> Body:
        """Return the union of two groups."""
        return Body(
            self.ops | other.ops,
            self.clashes | other.clashes,
            self.before | other.before,
            self.after | other.after,
        )


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
        kinds = structure.of_kind
        self.opaque, self.matmuls = kinds["opaque"], kinds["matmul"]
        self.reductions, self.injective = kinds["reduction"], kinds["injective"]
        rows: dict[object, Mask] = {}
        for op in members(self.reductions):
            shape = self._rows(op)
            rows[shape] = rows.get(shape, 0) | 1 << op
        self.clashes = [self._clashes(op, rows) for op in range(len(structure.ops))]

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
        return not self.has_clash(group) and self.is_anchored(group) and self.is_convex(group)

    def body(self, op: int) -> Body:
        """Return an op as a group of its own."""
        return Body(1 << op, self.clashes[op], self.structure.before[op], self.structure.after[op])

    def allows_merge(self, one: Body, other: Body) -> bool:
        """Return whether the union of two groups breaks no rule. This method is faster than `allows` for the union."""
        if one.clashes & other.ops:
            return False
        if (one.after | other.after) & (one.before | other.before) & ~(one.ops | other.ops):
            return False
        # If both groups have a matrix product, each op is joined to a product of its own group.
        both = bool(one.ops & self.matmuls) == bool(other.ops & self.matmuls)
        return both or self.is_anchored(one.ops | other.ops)

    def has_clash(self, group: Mask) -> bool:
        """Return whether a group contains two ops that clash."""
        return any(self.clashes[op] & group for op in members(group))

    def is_anchored(self, group: Mask) -> bool:
        """Return whether each op of a group is joined to a matrix product of the group.

        If the group has no matrix product, return True.
        """
        return not group & self.matmuls or not self._loose(group)

    def is_convex(self, group: Mask) -> bool:
        """Return whether no op outside the group must run between ops of the group."""
        return not self._between(group)

    # -- kinds -----------------------------------------------------------------------------------------------------

    def _rows(self, op: int) -> object:
        """Return the shape of a reduction's first input. Reductions over the same rows have the same shape."""
        inputs = self.structure.ops[op].inputs
        return inputs[0].shape if inputs else ()

    def _clashes(self, op: int, rows: dict[object, Mask]) -> Mask:
        s, one = self.structure, 1 << op
        if one & self.opaque:
            return s.everything & ~one
        found = self.opaque | (s.feeds[op] & self.matmuls)
        if one & self.matmuls:
            beside = 0
            for t in s.reads[op]:
                beside |= s.readers[t]
            found |= self.reductions | self.injective | s.needs[op] | (self.matmuls & ~beside)
        elif one & self.reductions:
            found |= self.matmuls | (self.reductions & ~rows[self._rows(op)]) | (self.injective & s.after[op])
        elif one & self.injective:
            found |= self.matmuls | (self.reductions & s.before[op])
        return found & ~one

    def _loose(self, group: Mask) -> Mask:
        """Return the ops that are joined to no matrix product by tensors written and read in the group."""
        return group & ~flood(group & self.matmuls, self.structure.joined, group)

    def _kinds(self, group: Mask) -> Refusal | None:
        clash = next(((op, self.clashes[op] & group) for op in members(group) if self.clashes[op] & group), None)
        if clash is not None:
            first, others = clash
            return self._clash_refusal(first, next(members(others)))
        if group & self.matmuls and (loose := self._loose(group)):
            names = self._names(loose)
            sentence = (
                f"{names[0]} does not use the result of {self._names(group & self.matmuls)[0]}: "
                "only ops on its result can join a matrix product"
            )
            return Refusal("kinds", sentence, (self._names(group & self.matmuls)[0], names[0]))
        return None

    def _clash_refusal(self, a: int, b: int) -> Refusal:
        """Return why two ops clash. Op a is before op b in the graph."""
        names, s = self.structure.names, self.structure
        one, other, product = names[a], names[b], 1 << b & self.matmuls
        if product and s.needs[b] >> a & 1:
            sentence = f"{other} reads the output of {one}: an op before a matrix product cannot join its kernel"
        elif product and 1 << a & self.matmuls:
            sentence = (
                f"{one} and {other} share no input: two matrix products share a kernel only if they share an input"
            )
        elif (1 << a | 1 << b) & self.matmuls:
            product_name, op = (other, a) if product else (one, b)
            kind = f"an injective op{_INJECTIVE_REMARK}" if 1 << op & self.injective else f"a {s.ops[op].kind}"
            sentence = (
                f"{product_name} is a matrix product: only elementwise ops that follow it can join its kernel; "
                f"{names[op]} is {kind}"
            )
        elif 1 << b & self.injective:
            sentence = f"{other} moves elements to other places, so it cannot follow {one} row by row in one kernel"
        else:
            sentence = f"{one} and {other} reduce tensors of different shapes"
        return Refusal("kinds", sentence, (one, other))

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
