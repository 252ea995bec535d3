"""What partitions are, by the definitions: the judge of the cases in fusion.json.

Nothing of the package is imported here: everything follows by sets, plain loops and exact fractions.

**Order.** Ops in a group ascend. Groups stand in the topological order of their quotient graph; of the groups that may
come next the one whose first op is smallest comes first. Only ``groups`` of illegal partitions are in order of first
ops.

**Bytes of a group**: every tensor that enters (read in it, not made in it) once, every tensor that leaves (made in it
and read outside, or a graph output, or read nowhere) once, and the ``extra`` of its ops.
**FLOPs of a group**: those of its ops, with ``@fma`` at 2, as peak rates count it, whatever the convention in force.
**Precision of a group**: an op states one if it has a ``precision``, or if it is a product, of kind matmul or with
FLOPs of class ``tensor``: then the dtype of the wider of its first two inputs, int or float; of two equally wide ones
the floating-point one, else the first. The stating op with most FLOPs over all classes decides, of equals the first.
Where none states one it is the dtype of the largest floating-point tensor that leaves the group, else that enters it,
of equals the first; else null.
**Time of a group**: ``max(sum of FLOPs / peak by class, bytes / bandwidth, launch_overhead)``; of a partition: the sum.
The peak of class ``tensor`` is that of the group's precision, of bf16 where it is null.
**Need of a group**: its ops run in order, one tile at a time. While one runs the tiles of those tensors are on chip
that it or an op before it made and it or an op after it reads, in the group; of what it makes, if some op of the group
reads it. A tensor that enters a group without a matmul counts too, from its first to its last reader in the group, if
at least two ops of the group read it and it is held, or reductions clash and one of them reads it. A tile is, with a
matmul in the group, 128 x 128 elements of the last two dimensions; else, of a tensor that is held, the axes of all
reductions that hold it, and one element along its other axes; else 128 elements: in no dimension more than there are,
in bytes rounded up. The need is the largest sum of tiles; several ops whose need is above the share do not fit.
**Axes.** A reduction reduces the ``axes`` of its first input, counted from 0; here they count from the last axis, so
that they are the same axes of tensors of other ranks; an axis that a tensor lacks has one element. Only ops with axes
are reductions in what follows. Reduction r of a group *holds* tensor t if

- r makes t, t has at least as many axes as the first input of r, and no op of the group makes this input, or depends on
  r and reads this input; or
- an op of the group reads t that is r or that r depends on, and another op of the group that depends on r reads t; or
- an op of the group makes t, r reads it, and some output of r has at least as many axes as the first input of r.

Two reductions of a group *clash* if their axes differ, or if the injective ops of the group that they depend on differ.
With a clash in the group, each tensor that is held, or that a reduction of the group reads or makes, is held by all
reductions of the group; and if the injective ops differ, the tile of such a tensor is all of it.

**Codes**, in the order in which they are checked, for the union U of two groups of a legal partition:

1. ``same``: a is b.
2. ``not-connected``: no tensor is read or made by an op of a and read or made by an op of b. A shared input counts.
3. ``barrier``: an op of U is opaque.
4. ``kinds``: U breaks one of the kind rules:
   a. with a matmul in U, every other op of U is a matmul, elementwise or broadcast;
   b. no tensor made in U is read by a matmul of U;
   c. any two matmuls of U read at least one tensor in common;
   d. with a matmul in U, link ops of U by the tensors that are made *and* read in U: every set of linked ops holds a
      matmul;
   e. all reductions of U have first inputs of equal shape;
   f. no injective op of U depends on a reduction of U, directly or through any other ops.
5. ``not-convex``: an op outside U depends on an op of U while another op of U depends on it.
6. ``cycle``: with U in place of a and b, the quotient graph of the whole partition has a cycle.
7. ``axes``: reductions of U clash, and the need of U is above the share, or there is no share.
8. ``capacity``: the need of U is above the share, where there is one.

A whole partition is judged group by group in the order given: ``not-connected`` (the group is not connected through
shared tensors), ``barrier`` (an opaque op that is not alone), ``kinds``, ``not-convex``; and then ``cycle``.

**split(op)**: op becomes a group of its own. What is left of its group falls into the parts that are connected through
shared tensors. A part with ops that op depends on and ops that depend on op is separated once more: into the former
(ancestors of op) and all the rest, each again into connected parts. A part that breaks a kind rule becomes single ops.

**pairs**: start with single ops; go through the pairs of ops by bytes saved (of both less of the union), largest first,
then by the smaller and the larger op; merge a pair if both are still alone and the merge is not refused.

**xla**: start with single ops. The union of a group that makes something others read, its producer, with *all* groups
that read something it makes is a candidate if it is legal: rules 3 to 5 hold for it and the quotient graph stays
without a cycle. It saves the time of its parts less its own. Take the candidate that saves most, of equals the one
whose producer's first op is smallest; stop when none saves more than 0.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, TypeAlias

Group: TypeAlias = frozenset[int]
Wire: TypeAlias = Any

CLASSES: Final = ("tensor", "vector", "transcendental")
SIGNS: Final[Mapping[str, Callable[[list[int]], int]]] = {"+": sum, "*": math.prod, "min": min, "max": max}


def value(wire: Wire, env: Mapping[str, int]) -> int:
    """Return what an expression on the wire comes to."""
    if isinstance(wire, int):
        return wire
    if isinstance(wire, str):
        return int(wire) if wire.isdigit() else env[wire]
    sign, *parts = wire
    numbers = [value(part, env) for part in parts]
    if sign == "/":
        return -(-numbers[0] // numbers[1])
    return SIGNS[sign](numbers)


class Judge:
    """Knows a graph, and answers by the definitions in this file's text."""

    def __init__(self, graph: Mapping[str, Any], env: Mapping[str, int]) -> None:
        self.ops = graph["ops"]
        self.n = len(self.ops)
        self.all = range(self.n)
        self.shape = [tensor["shape"] for tensor in graph["tensors"]]
        self.size = [value(tensor["bytes"], env) for tensor in graph["tensors"]]
        self.reads = [set(op["inputs"]) for op in self.ops]
        self.makes = [set(op["outputs"]) for op in self.ops]
        self.touches = [reads | makes for reads, makes in zip(self.reads, self.makes, strict=True)]
        self.outputs = set(graph["outputs"])
        self.kind = [op["kind"] for op in self.ops]
        self.extra = [value(op["extra"], env) for op in self.ops]
        as_peaks = {**env, "@fma": 2}
        self.work = [{key: value(wire, as_peaks) for key, wire in op["flops"].items()} for op in self.ops]
        self.own = [{key: value(wire, env) for key, wire in op["flops"].items()} for op in self.ops]
        self.sides = [[value(side, env) for side in shape] for shape in self.shape]
        self.dtype = [tensor["dtype"] for tensor in graph["tensors"]]
        self.bits = graph["dtypes"]
        self.after: list[set[int]] = [set() for _ in self.all]
        for op in reversed(self.all):
            for other in range(op + 1, self.n):
                if self.makes[op] & self.reads[other]:
                    self.after[op] |= {other} | self.after[other]

    @functools.cached_property
    def compulsory(self) -> int:
        made, read = set().union(*self.makes), set().union(*self.reads)
        return sum(self.size[tensor] for tensor in (read ^ made) | self.outputs)

    @functools.cache  # noqa: B019 - judges are few and short-lived
    def bytes(self, group: Group) -> int:
        read, made = set().union(*(self.reads[op] for op in group)), set().union(*(self.makes[op] for op in group))
        outside = set().union(*(self.reads[op] for op in self.all if op not in group))
        leaving = {tensor for tensor in made if tensor in outside | self.outputs or tensor not in read}
        moved: int = sum(self.size[tensor] for tensor in (read - made) | leaving)
        return moved + sum(self.extra[op] for op in group)

    @functools.cache  # noqa: B019 - the same
    def flops(self, group: Group) -> dict[str, int]:
        sums = {key: sum(self.work[op].get(key, 0) for op in group) for key in CLASSES}
        return {key: number for key, number in sums.items() if number}

    def stated(self, op: int) -> str | None:
        told: str | None = self.ops[op].get("precision")
        operands = [self.dtype[tensor] for tensor in self.ops[op]["inputs"][:2]]
        if told or not operands or (self.kind[op] != "matmul" and "tensor" not in self.work[op]):
            return told
        widest = [dtype for dtype in operands if self.bits[dtype] == max(self.bits[other] for other in operands)]
        floats = [dtype for dtype in widest if "int" not in dtype]
        return str((floats or widest)[0])

    def precision(self, group: Group) -> str | None:
        stating = [op for op in sorted(group) if self.stated(op)]
        if stating:
            most = max(sum(self.work[op].values()) for op in stating)
            return next(self.stated(op) for op in stating if sum(self.work[op].values()) == most)
        read, made = set().union(*(self.reads[op] for op in group)), set().union(*(self.makes[op] for op in group))
        outside = set().union(*(self.reads[op] for op in self.all if op not in group))
        leaving = {tensor for tensor in made if tensor in outside | self.outputs or tensor not in read}
        for some in (leaving, read - made):
            floats = sorted(tensor for tensor in some if "int" not in self.dtype[tensor])
            if floats:
                most = max(self.size[tensor] for tensor in floats)
                return str(next(self.dtype[tensor] for tensor in floats if self.size[tensor] == most))
        return None

    def axes(self, op: int) -> frozenset[int]:
        """Return the axes that an op reduces, counted from the last."""
        rank = len(self.shape[self.ops[op]["inputs"][0]])
        return frozenset(axis - rank for axis in self.ops[op].get("axes", []))

    def reductions(self, group: Group) -> list[int]:
        return [op for op in sorted(group) if self.axes(op)]

    def moved(self, op: int, group: Group) -> frozenset[int]:
        """Return the injective ops of a group on which an op depends."""
        return frozenset(other for other in group if self.kind[other] == "injective" and op in self.after[other])

    @functools.cache  # noqa: B019 - the same
    def clash(self, group: Group) -> bool:
        return len({(self.axes(op), self.moved(op, group)) for op in self.reductions(group)}) > 1

    def keeps(self, op: int, tensors: Iterable[int]) -> bool:
        """Return whether one of these outputs still has the axes of the first input."""
        return any(len(self.shape[t]) >= len(self.shape[self.ops[op]["inputs"][0]]) for t in tensors)

    @functools.cache  # noqa: B019 - the same
    def holders(self, tensor: int, group: Group) -> list[int]:
        readers = [op for op in group if tensor in self.reads[op]]
        is_made = any(tensor in self.makes[op] for op in group)
        reductions = self.reductions(group)
        found = []
        for r in reductions:
            first = self.ops[r]["inputs"][0]
            stays = any(first in self.makes[op] or (first in self.reads[op] and op in self.after[r]) for op in group)
            makes = tensor in self.makes[r] and self.keeps(r, [tensor]) and not stays
            needs = any(op == r or r in self.after[op] for op in readers)
            again = needs and any(op in self.after[r] for op in readers)
            twice = is_made and r in readers and self.keeps(r, self.makes[r])
            if makes or again or twice:
                found.append(r)
        beside = any(tensor in self.touches[r] for r in reductions)
        return reductions if self.clash(group) and (found or beside) else found

    def tile(self, tensor: int, group: Group) -> int:
        sides, held = self.sides[tensor], self.holders(tensor, group)
        if any(self.kind[op] == "matmul" for op in group):
            elements = math.prod(min(side, 128) for side in sides[-2:])
        elif len({self.moved(op, group) for op in held}) > 1:
            elements = math.prod(sides)
        elif held:
            axes = frozenset[int]().union(*(self.axes(op) for op in held))
            elements = math.prod(side for axis, side in enumerate(sides, -len(sides)) if axis in axes)
        else:
            elements = min(math.prod(sides), 128)
        return math.ceil(Fraction(elements * self.size[tensor], math.prod(sides)))

    def need(self, group: Group) -> int:
        spans = []
        for tensor in range(len(self.size)):
            readers = [op for op in group if tensor in self.reads[op]]
            makers = [op for op in group if tensor in self.makes[op]]
            enters = not makers and len(readers) > 1 and not any(self.kind[op] == "matmul" for op in group)
            if readers and (makers or (enters and self.holders(tensor, group))):
                spans.append((tensor, min(makers + readers), max(readers)))
        return max(sum(self.tile(t, group) for t, first, last in spans if first <= now <= last) for now in group)

    def linked(self, group: Collection[int], links: Sequence[set[int]]) -> list[Group]:
        """Return the sets of ops in `group` that are joined by what they have in common in `links`."""
        left, parts = set(group), []
        while left:
            part, grown = set[int](), {min(left)}
            while grown:
                part |= grown
                grown = {op for op in left - part if any(links[op] & links[other] for other in part)}
            parts.append(frozenset(part))
            left -= part
        return parts

    @functools.cache  # noqa: B019 - the same
    def breaks_kinds(self, union: Group) -> bool:
        matmuls = [op for op in union if self.kind[op] == "matmul"]
        made = set().union(*(self.makes[op] for op in union))
        inside = made & set().union(*(self.reads[op] for op in union))
        if matmuls:
            links = [touched & inside for touched in self.touches]
            alone = any(not part & set(matmuls) for part in self.linked(union, links))
            strange = any(self.kind[op] not in {"matmul", "elementwise", "broadcast"} for op in union)
            fed = any(self.reads[op] & made for op in matmuls)
            apart = any(not self.reads[a] & self.reads[b] for a, b in itertools.combinations(matmuls, 2))
            return alone or strange or fed or apart
        reductions = [op for op in union if self.kind[op] == "reduction"]
        rows = {json.dumps(self.shape[self.ops[op]["inputs"][0]]) for op in reductions}
        later = set().union(*(self.after[op] for op in reductions))
        return len(rows) > 1 or any(self.kind[op] == "injective" for op in union & later)

    @functools.cache  # noqa: B019 - the same
    def is_convex(self, group: Group) -> bool:
        before = {op for op in self.all if self.after[op] & group}
        return not (set().union(*(self.after[op] for op in group)) & before) - group

    def broken(self, group: Group) -> str | None:
        """Return the first rule that a group of several ops breaks by itself, connectedness apart."""
        if len(group) == 1:
            return None
        if any(self.kind[op] == "opaque" for op in group):
            return "barrier"
        if self.breaks_kinds(group):
            return "kinds"
        return None if self.is_convex(group) else "not-convex"

    def ordered(self, groups: Iterable[Group]) -> list[Group] | None:
        """Return the groups in order, or None if their quotient graph has a cycle."""
        left, done = sorted(groups, key=min), set[int]()
        result = []
        while left:
            needs = (
                {a for a in self.all if a not in group and any(self.makes[a] & self.reads[b] for b in group)}
                for group in left
            )
            ready = next((group for group, need in zip(left, needs, strict=True) if need <= done), None)
            if ready is None:
                return None
            left.remove(ready)
            result.append(ready)
            done |= ready
        return result

    def in_order(self, groups: Iterable[Group]) -> list[Group]:
        order = self.ordered(groups)
        assert order is not None
        return order

    def merged(self, groups: Sequence[Group], parts: Collection[Group]) -> list[Group]:
        return [*(group for group in groups if group not in parts), frozenset().union(*parts)]

    def refusal(self, groups: Sequence[Group], a: Group, b: Group) -> str | None:
        if a == b:
            return "same"
        if not any(self.touches[one] & self.touches[other] for one in a for other in b):
            return "not-connected"
        if code := self.broken(a | b):
            return code
        if self.ordered(self.merged(groups, [a, b])) is None:
            return "cycle"
        return "axes" if self.clash(a | b) else None

    def fault(self, groups: Sequence[Group]) -> str | None:
        """Return the first rule that a whole partition breaks."""
        for group in groups:
            if len(self.linked(group, self.touches)) > 1:
                return "not-connected"
            if code := self.broken(group):
                return code
        return "cycle" if self.ordered(groups) is None else None

    def split(self, groups: Sequence[Group], op: int) -> list[Group]:
        whole = next(group for group in groups if op in group)
        parts: list[Group] = [frozenset([op])]
        for part in self.linked(whole - {op}, self.touches):
            before = frozenset(other for other in part if op in self.after[other])
            torn = before and part & self.after[op]
            for piece in (before, part - before) if torn else (part,):
                for one in self.linked(piece, self.touches):
                    parts += [frozenset([each]) for each in one] if self.broken(one) else [one]
        result = self.in_order([*(group for group in groups if group != whole), *parts])
        assert self.fault(result) is None
        return result

    @property
    def single(self) -> list[Group]:
        return [frozenset([op]) for op in self.all]

    def pairs(self) -> list[Group]:
        groups = self.single
        saved = {
            (a, b): self.bytes(frozenset([a])) + self.bytes(frozenset([b])) - self.bytes(frozenset([a, b]))
            for a, b in itertools.combinations(self.all, 2)
        }
        for a, b in sorted(saved, key=lambda pair: (-saved[pair], pair)):
            one, other = frozenset([a]), frozenset([b])
            if one in groups and other in groups and self.refusal(groups, one, other) is None:
                groups = self.merged(groups, [one, other])
        return self.in_order(groups)

    def time(self, group: Group, chip: Mapping[str, Any]) -> Fraction:
        peak = {**chip["peak"], "tensor": chip["peak"]["tensor"][self.precision(group) or "bf16"]}
        compute = sum(Fraction(n) / Fraction(peak[key]) for key, n in self.flops(group).items())
        memory = Fraction(self.bytes(group)) / Fraction(chip["bandwidth"])
        return max(Fraction(compute), memory, Fraction(chip["launch_overhead"]))

    def xla(self, chip: Mapping[str, Any]) -> list[Group]:
        groups = self.single
        while True:
            best: tuple[Fraction, int, list[Group]] = (Fraction(0), 0, [])
            for producer in groups:
                made = set().union(*(self.makes[op] for op in producer))
                consumers = [g for g in groups if g != producer and any(self.reads[op] & made for op in g)]
                parts = [producer, *consumers]
                union = frozenset().union(*parts)
                if not consumers or self.broken(union) or self.clash(union):
                    continue
                if self.ordered(self.merged(groups, parts)) is None:
                    continue
                saved = sum((self.time(part, chip) for part in parts), Fraction(0)) - self.time(union, chip)
                best = max(best, (saved, -min(producer), parts), key=lambda one: one[:2])
            if best[0] <= 0:
                return self.in_order(groups)
            groups = self.merged(groups, best[2])

    def best(self, chip: Mapping[str, Any]) -> tuple[Fraction, list[Group]]:
        """Try every partition."""
        shortest: tuple[Fraction, int] | None = None
        found: list[Group] = []
        for groups in partitions(list(self.all)):
            if any(len(self.linked(group, self.touches)) > 1 or self.broken(group) for group in groups):
                continue
            if any(self.clash(group) for group in groups):
                continue
            key = (sum((self.time(group, chip) for group in groups), Fraction(0)), len(groups))
            if (shortest is None or key < shortest) and (order := self.ordered(groups)) is not None:
                shortest, found = key, order
        assert shortest is not None
        return shortest[0], found


def partitions(items: list[int]) -> Iterator[list[Group]]:
    """Go through all ways to part `items` into groups."""
    if not items:
        yield []
        return
    for rest in partitions(items[1:]):
        yield [frozenset(items[:1]), *rest]
        for index, group in enumerate(rest):
            yield [*rest[:index], group | {items[0]}, *rest[index + 1 :]]
