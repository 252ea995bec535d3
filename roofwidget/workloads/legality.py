"""Which ops may become one kernel, and what is said of those that may not.

Two groups of a partition may be merged if they share a tensor, hold no opaque op, their kinds fuse, no op outside must
run between them, and the kernels of the whole partition can still be put in an order. Kinds follow the classes of TVM
(Chen et al., OSDI 2018, section 3): elementwise, broadcast and injective ops fuse freely, a matrix product takes
elementwise ops after it, a reduction takes what goes through the same rows.

`js/src/fusion/legality.ts` mirrors this file; both are held to `tests/golden/fusion.json`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from roofwidget.workloads.quotient import QuotientGraph
from roofwidget.workloads.structure import Mask, Structure, flood, members

__all__ = ["CODES", "FusionError", "Refusal", "Rules"]

_MOVES = ": it moves elements from one tile to another"

CODES: Final = ("same", "not-connected", "barrier", "kinds", "not-convex", "cycle", "capacity")
"""Why a merge is refused, in the order in which the reasons are looked for."""


@dataclass(frozen=True)
class Refusal:
    """Why two groups may not become one kernel.

    Parameters
    ----------
    code
        One of `CODES`.
    sentence
        The reason, for people.
    path
        Names of the ops that it is about: the clashing ones, or a way round through ops outside.
    """

    __module__ = "roofwidget.workloads"

    code: str
    sentence: str
    path: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.sentence


class FusionError(ValueError):
    """A merge was asked for that is refused.

    Parameters
    ----------
    refusal
        Why.
    """

    __module__ = "roofwidget.workloads"

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.sentence)
        self.refusal = refusal

    def __reduce__(self) -> tuple[object, ...]:
        return FusionError, (self.refusal,)


class Rules:
    """The rules that a group of ops obeys whatever becomes of the others.

    Attributes
    ----------
    clashes
        By op: the ops that it may never share a group with. A group without clashes has only subsets without clashes.
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
        """Return why two groups of a line may not be one, or None if they may."""
        s, one, other = self.structure, quotient.groups[a], quotient.groups[b]
        if a == b:
            return Refusal("same", f"{s.spoken(one)} is one kernel already", tuple(self._names(one)))
        if b not in quotient.near(a):
            return Refusal("not-connected", f"{s.spoken(one)} and {s.spoken(other)} share no tensor")
        if refusal := self.refusal(one | other):
            return refusal
        way = quotient.detour((a, b))
        return self.cycle(quotient, way, one | other) if way else None

    def cycle(self, quotient: QuotientGraph, way: Sequence[int], union: Mask) -> Refusal:
        """Return the refusal for a way that leaves a union of groups and comes back to it through other groups."""
        s = self.structure
        path: list[int] = []
        for one, other in itertools.pairwise(way):
            start = next(op for op in members(quotient.groups[one]) if s.feeds[op] & quotient.groups[other])
            path += [start, next(members(s.feeds[start] & quotient.groups[other]))]
        names = tuple(s.names[op] for op, _ in itertools.groupby(path))
        between = s.spoken(quotient.groups[way[1]])
        return Refusal("cycle", f"{s.spoken(union)} in one kernel would run both before and after {between}", names)

    def refusal(self, group: Mask) -> Refusal | None:
        """Return the first rule that a group of several connected ops breaks: barrier, kinds or convexity."""
        if not group & (group - 1):
            return None
        if opaque := group & self.opaque:
            (name, *_) = self._names(opaque)
            sentence = f"{name} is opaque, a whole algorithm in one kernel: nothing else can run in it"
            return Refusal("barrier", sentence, (name,))
        return self._kinds(group) or self._detour(group)

    def allows(self, group: Mask) -> bool:
        """Whether `refusal` has nothing against a group."""
        if not group & (group - 1):
            return True
        return not self.has_clash(group) and self.is_anchored(group) and self.is_convex(group)

    def has_clash(self, group: Mask) -> bool:
        """Whether two ops of a group may never be in one."""
        return any(self.clashes[op] & group for op in members(group))

    def is_anchored(self, group: Mask) -> bool:
        """Whether every op of a group with a matrix product is joined to one by tensors made and read in the group."""
        return not group & self.matmuls or not self._loose(group)

    def is_convex(self, group: Mask) -> bool:
        """Whether no op outside a group depends on one in it while another one in it depends on that."""
        return not self._between(group)

    # -- kinds -----------------------------------------------------------------------------------------------------

    def _rows(self, op: int) -> object:
        """Return what a reduction goes through: the shape of what it reads first."""
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
        """Return the ops that no tensor made and read in the group joins to a matrix product."""
        return group & ~flood(group & self.matmuls, self.structure.joined, group)

    def _kinds(self, group: Mask) -> Refusal | None:
        clash = next(((op, self.clashes[op] & group) for op in members(group) if self.clashes[op] & group), None)
        if clash is not None:
            first, others = clash
            return self._told(first, next(members(others)))
        if group & self.matmuls and (loose := self._loose(group)):
            names = self._names(loose)
            sentence = (
                f"{names[0]} works on nothing that {self._names(group & self.matmuls)[0]} makes: "
                "a matrix product only takes into its kernel what works on its result"
            )
            return Refusal("kinds", sentence, (self._names(group & self.matmuls)[0], names[0]))
        return None

    def _told(self, a: int, b: int) -> Refusal:
        """Say what is between two clashing ops, a before b."""
        names, s = self.structure.names, self.structure
        one, other, product = names[a], names[b], 1 << b & self.matmuls
        if product and s.needs[b] >> a & 1:
            sentence = f"{other} reads what {one} makes: a matrix product takes nothing before it into its kernel"
        elif product and 1 << a & self.matmuls:
            sentence = (
                f"{one} and {other} read no tensor in common: two matrix products share a kernel only side by side"
            )
        elif (1 << a | 1 << b) & self.matmuls:
            product_name, op = (other, a) if product else (one, b)
            sentence = (
                f"{product_name} is a matrix product, which takes into its kernel what works on its tile, "
                "elementwise ops after it; "
                f"{names[op]} is {_article(s.ops[op].kind)}{_MOVES if 1 << op & self.injective else ''}"
            )
        elif 1 << b & self.injective:
            sentence = f"{other} moves elements to other places, so it cannot follow {one} row by row in its kernel"
        else:
            sentence = f"{one} and {other} go through different rows: they reduce tensors of different shapes"
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
        inner = s.spoken(sum(1 << op for op in path[1:-1]))
        return Refusal("not-convex", f"{inner} must run after {names[0]} and before {names[-1]}", names)

    def _names(self, group: Mask) -> list[str]:
        return [self.structure.names[op] for op in members(group)]


def _article(kind: str) -> str:
    return "an injective op" if kind == "injective" else f"a {kind}"


def _shortest(start: int, feeds: Sequence[Mask], through: Mask, end: Mask) -> list[int]:
    """Return the shortest way from an op through some ops to one of `end`; there is one."""
    came = {start: -1}
    queue = [start]
    for op in queue:
        if op != start and (goal := feeds[op] & end):
            way = [next(members(goal)), op]
            while came[way[-1]] >= 0:
                way.append(came[way[-1]])
            return way[::-1]
        for reached in members(feeds[op] & through):
            if reached not in came:
                came[reached] = op
                queue.append(reached)
    return []
