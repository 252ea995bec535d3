"""What partitions are, by the definitions: the judge of the cases in fusion.json.

Nothing of the package is imported here: everything follows by sets and plain loops.

**Order.** Ops in a group ascend. Groups are in the topological order of their quotient graph; of the groups that may
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

**Codes**, in the order in which they are checked, for the union U of two groups of a legal partition:

1. ``same``: a is b.
2. ``not-connected``: no tensor is read or made by an op of a and read or made by an op of b. A shared input counts.
3. ``barrier``: an op of U is opaque.
4. ``kinds``: U has two products with a third one between them, or two products that neither depend on each other, nor
   share an input, nor lead to a common op of the graph through at most one further product each.
5. ``not-convex``: an op outside U depends on an op of U while another op of U depends on it.
6. ``cycle``: with U in place of a and b, the quotient graph of the whole partition has a cycle.
7. On a chip, the code of `golden_forms.py`: ``kinds``, ``axes`` or ``capacity``.

A whole partition is judged group by group in the order given: ``not-connected`` (the group is not connected through
shared tensors), ``barrier`` (an opaque op that is not alone), ``kinds``, ``not-convex``; and then ``cycle``.

**split(op)**: op becomes a group of its own. What is left of its group falls into the parts that are connected through
shared tensors. A part with ops that op depends on and ops that depend on op is separated once more: into the former
(ancestors of op) and all the rest, each again into connected parts.

**pairs**: start with single ops; go through the pairs of ops by bytes saved (of both less of the union, each tensor
read once), largest first, then by the smaller and the larger op; merge a pair if both are still alone and the merge is
not refused.

**xla**: start with single ops. The union of a group that makes something others read, its producer, with *all* groups
that read something it makes is a candidate if it is a compiler's kernel and the quotient graph stays without a cycle.
It saves the time of its parts less its own. Take the candidate that saves most, of equals the one whose producer's
first op is smallest; stop when none saves more than 0.

**best**: of all partitions into kernels of the chip the fastest; of equally fast ones that of fewest bytes, then of
fewest kernels.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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

    def __init__(self, graph: Mapping[str, Any], env: Mapping[str, int], kernels: Any = None) -> None:
        self.kernels = kernels
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
    def reach(self, op: int, products: int) -> frozenset[int]:
        """Return the ops that an op leads to through at most so many further products, the last products included."""
        found = set[int]()
        for other in self.all:
            if self.makes[op] & self.reads[other]:
                left = products - (self.kind[other] == "matmul")
                found |= {other} | (self.reach(other, left) if left >= 0 else frozenset())
        return frozenset(found)

    @functools.cache  # noqa: B019 - the same
    def breaks_kinds(self, union: Group) -> bool:
        matmuls = [op for op in sorted(union) if self.kind[op] == "matmul"]
        for a, b in itertools.combinations(matmuls, 2):
            if b in self.after[a]:
                if any(self.kind[op] == "matmul" and b in self.after[op] for op in self.after[a]):
                    return True
            elif not (self.reads[a] & self.reads[b] or self.reach(a, 1) & self.reach(b, 1)):
                return True
        return False

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
        return self.refused(a | b)

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

    def refused(self, group: Group, kernels: Any = None) -> str | None:
        """Return why a group that breaks no rule is no kernel on the chip."""
        try:
            (kernels or self.kernels).way(group)
        except Exception as why:  # noqa: BLE001 - the class is that of a file that was run
            return str(why)
        return None

    def seconds(self, group: Group, kernels: Any = None) -> float:
        kernels = kernels or self.kernels
        found: float = kernels.seconds(group, kernels.way(group))
        return found

    def xla(self, kernels: Any) -> list[Group]:
        groups = self.single
        while True:
            best: tuple[float, int, list[Group]] = (0, 0, [])
            for producer in groups:
                made = set().union(*(self.makes[op] for op in producer))
                consumers = [g for g in groups if g != producer and any(self.reads[op] & made for op in g)]
                parts = [producer, *consumers]
                union = frozenset().union(*parts)
                if not consumers or self.broken(union) or self.refused(union, kernels):
                    continue
                if self.ordered(self.merged(groups, parts)) is None:
                    continue
                saved = sum(self.seconds(part, kernels) for part in parts) - self.seconds(union, kernels)
                best = max(best, (saved, -min(producer), parts), key=lambda one: one[:2])
            if best[0] <= 0:
                return self.in_order(groups)
            groups = self.merged(groups, best[2])

    def is_kernel(self, group: Group) -> bool:
        is_one = len(self.linked(group, self.touches)) == 1
        return is_one and self.broken(group) is None and self.refused(group) is None

    def best(self) -> tuple[float, int, list[Group]]:
        """Try every partition. Return its seconds, its bytes and its groups."""
        kernel = dict.fromkeys(self.single, True)
        found: tuple[float, int, int, list[Group]] | None = None
        for groups in partitions(list(self.all)):
            for group in groups:
                if group not in kernel:
                    kernel[group] = self.is_kernel(group)
            if not all(kernel[group] for group in groups) or (order := self.ordered(groups)) is None:
                continue
            seconds = sum(map(self.seconds, groups))
            moved = sum(self.kernels.bytes(group, self.kernels.way(group)) for group in groups)
            is_equal = found is not None and abs(seconds - found[0]) <= found[0] * 1e-12
            if found is None or ((moved, len(groups)) < found[1:3] if is_equal else seconds < found[0]):
                found = (seconds, moved, len(groups), order)
        assert found is not None
        return found[0], found[1], found[3]


def partitions(items: list[int]) -> Iterator[list[Group]]:
    """Go through all ways to part `items` into groups."""
    if not items:
        yield []
        return
    for rest in partitions(items[1:]):
        yield [frozenset(items[:1]), *rest]
        for index, group in enumerate(rest):
            yield [*rest[:index], group | {items[0]}, *rest[index + 1 :]]
