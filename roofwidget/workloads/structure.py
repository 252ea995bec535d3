"""A graph as bit masks: what a set of ops reads, writes, depends on and moves.

Ops and tensors are numbered from 0 in the graph's order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from roofwidget.kernels.table import Kernels
from roofwidget.workloads.axes import Axes
from roofwidget.workloads.expressions import Count, evaluate
from roofwidget.workloads.masks import Mask, flood, members, union
from roofwidget.workloads.op import CLASSES, KINDS, Op
from roofwidget.workloads.tensors import DTYPES, Tensor, is_floating

if TYPE_CHECKING:
    from roofwidget.workloads.graph import Graph

C = TypeVar("C", int, Count)


@dataclass(frozen=True)
class Counts(Generic[C]):
    """The bytes and FLOPs of each tensor and op of a graph, as ints or as expressions over its dimensions.

    Parameters
    ----------
    sizes
        Bytes by tensor.
    extra
        `Op.extra_bytes`, by op.
    flops
        FLOPs by class, by op; classes without FLOPs are left out.
    """

    sizes: Sequence[C]
    extra: Sequence[C]
    flops: Sequence[Mapping[str, C]]


class Structure:
    """A snapshot of a graph's ops and tensors, as bit masks.

    Parameters
    ----------
    graph
        The graph. Later additions to the graph are not included.

    Attributes
    ----------
    reads, makes
        For each op: the distinct tensors that it reads and writes.
    producer, readers
        For each tensor: the set of the op that writes it (empty for an input), and the set of the ops that read it.
    kept
        For each tensor: whether it is written even if all its readers are in one group. This is true for an output, and
        for a tensor without readers.
    dtypes
        For each tensor: the dtype that is used to count its bytes.
    stated
        For each op: the precision that it states, or None if the dtype of its result decides.
    needs, feeds
        For each op: the ops whose tensors it reads, and the ops that read its tensors.
    joined
        For each op: the union of `needs` and `feeds`.
    before, after
        For each op: all ops that it depends on, and all ops that depend on it.
    near
        For each op: the ops, itself included, that touch (read or write) a tensor that this op touches.
    of_kind
        For each kind: the set of the ops of that kind.
    axes
        The axes that reductions reduce.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.ops = graph.ops
        self.tensors: tuple[Tensor, ...] = tuple(graph.tensors.values())
        self.names = tuple(op.name for op in self.ops)
        self.index = {name: i for i, name in enumerate(self.names)}
        self.everything: Mask = (1 << len(self.ops)) - 1
        places = {tensor.name: i for i, tensor in enumerate(self.tensors)}
        self.reads = [tuple(dict.fromkeys(places[t.name] for t in op.inputs)) for op in self.ops]
        self.makes = [tuple(places[t.name] for t in op.outputs) for op in self.ops]
        self.of_kind: dict[str, Mask] = dict.fromkeys(KINDS, 0)
        self.producer: list[Mask] = [0] * len(places)
        self.readers: list[Mask] = [0] * len(places)
        for i, op in enumerate(self.ops):
            self.of_kind[op.kind] |= 1 << i
            for t in self.reads[i]:
                self.readers[t] |= 1 << i
            for t in self.makes[i]:
                self.producer[t] = 1 << i
        outputs = {places[tensor.name] for tensor in graph.outputs}
        self.kept = [t in outputs or not readers for t, readers in enumerate(self.readers)]
        main = graph.main_dtype if graph.dtype else None
        self.dtypes = [(graph.dtype if tensor.dtype == main else None) or tensor.dtype for tensor in self.tensors]
        self.stated = [self._stated(op, [self.dtypes[places[t.name]] for t in op.inputs[:2]]) for op in self.ops]
        self._counts: Counts[Count] | None = None
        self._join()
        self.axes = Axes(self)

    @staticmethod
    def _stated(op: Op, operands: Sequence[str]) -> str | None:
        if op.precision or (op.kind != "matmul" and "tensor" not in op.flops):
            return op.precision
        return max(operands, key=lambda dtype: (DTYPES[dtype], is_floating(dtype)), default=None)

    def _join(self) -> None:
        n = len(self.ops)
        self.needs = [union(self.producer[t] for t in reads) for reads in self.reads]
        self.feeds = [union(self.readers[t] for t in makes) for makes in self.makes]
        self.joined = [needs | feeds for needs, feeds in zip(self.needs, self.feeds, strict=True)]
        touched = [self.producer[t] | self.readers[t] for t in range(len(self.tensors))]
        self.near = [union(touched[t] for t in (*self.reads[i], *self.makes[i])) for i in range(n)]
        self.before = [0] * n
        self.after = [0] * n
        for i in range(n):
            self.before[i] = self.needs[i] | union(self.before[j] for j in members(self.needs[i]))
        for i in reversed(range(n)):
            self.after[i] = self.feeds[i] | union(self.after[j] for j in members(self.feeds[i]))

    @property
    def counts(self) -> Counts[Count]:
        """The counts as expressions over the dimensions only, or ints if the graph has no dimensions.

        The counts are compared with peaks. So a multiply-add counts as 2 FLOPs, as in peaks, in every convention.
        """
        if self._counts is None:
            convention = self.graph.convention.as_peaks_do
            same = convention == self.graph.convention
            simple = (self.graph if same else self.graph.with_convention(convention)).simplify
            self._counts = Counts(
                [simple(tensor.bytes) for tensor in self.tensors],
                [simple(op.extra_bytes) for op in self.ops],
                [{word: count for word in CLASSES if (count := simple(op.flops.get(word, 0))) != 0} for op in self.ops],
            )
        return self._counts

    def counts_at(self, dims: Mapping[str, int] | None) -> Counts[int]:
        """Return the counts as ints. Dimensions that are not given have their defaults."""
        env = self.graph.environment(dims)
        raw = self.counts
        return Counts(
            [evaluate(count, env) for count in raw.sizes],
            [evaluate(count, env) for count in raw.extra],
            [{word: evaluate(count, env) for word, count in by_class.items()} for by_class in raw.flops],
        )

    def touched(self, group: Mask) -> Collection[int]:
        """Return the distinct tensors that a group reads or writes."""
        return dict.fromkeys(t for op in members(group) for t in (*self.reads[op], *self.makes[op]))

    def crossing(self, group: Mask) -> list[int]:
        """Return the distinct tensors that enter or leave a group."""
        return [t for t in self.touched(group) if self.crosses(t, group)]

    def crosses(self, t: int, group: Mask) -> bool:
        """Return whether a tensor enters or leaves a group."""
        if self.producer[t] & group:
            return self.kept[t] or bool(self.readers[t] & ~group)
        return bool(self.readers[t] & group)

    def bytes(self, group: Mask, counts: Counts[C], spilled: Iterable[int] = ()) -> C:
        """Return the bytes that a group moves.

        A spilled tensor inside the group is written and read. A spilled tensor that enters or leaves the group is read
        once more.
        """
        moved: Any = 0
        for t in self.crossing(group):
            moved = moved + counts.sizes[t]
        for t in spilled:
            moved = moved + self._times_spilled(t, group) * counts.sizes[t]
        for op in members(group):
            moved = moved + counts.extra[op]
        return moved  # type: ignore[no-any-return]  # a sum of C is a C

    def spillable(self, group: Mask) -> list[int]:
        """Return the tensors that a group keeps on chip and could spill to main memory."""
        made = [t for op in members(group) for t in self.makes[op] if self.readers[t] & group]
        return made if group & self.of_kind["matmul"] else made + self.axes.held(group)

    def _times_spilled(self, t: int, group: Mask) -> int:
        """Return how often a group moves a tensor in addition if the tensor is spilled: 0, 1 or 2 times."""
        if not self.readers[t] & group:
            return 0
        if self.producer[t] & group:
            return 1 if self.crosses(t, group) else 2
        return int(not group & self.of_kind["matmul"] and self.axes.stays(t, group))

    def flops(self, group: Mask, counts: Counts[C]) -> dict[str, C]:
        """Return the FLOPs of a group by class, without classes that have no FLOPs."""
        total: dict[str, Any] = {}
        for op in members(group):
            for word, count in counts.flops[op].items():
                total[word] = total.get(word, 0) + count
        return {word: total[word] for word in CLASSES if total.get(word, 0) != 0}

    def compulsory(self, counts: Counts[C]) -> C:
        """Return the bytes of the inputs that are read and of the tensors that are always written."""
        moved: Any = 0
        for t, size in enumerate(counts.sizes):
            if (self.producer[t] and self.kept[t]) or (not self.producer[t] and self.readers[t]):
                moved = moved + size
        return moved  # type: ignore[no-any-return]  # the same

    def precision(self, group: Mask, counts: Counts[int]) -> str | None:
        """Return the precision whose peak applies to a group, or None if no op and no tensor decides it.

        The group has the precision of the op with most FLOPs among the ops that state a precision. Matrix products
        state the dtype of their wider operand. If the two operands are equally wide, they state the dtype of the
        floating-point operand. If no op states a precision, the group's precision is the dtype of the largest
        floating-point tensor that leaves the group. If no such tensor leaves, the largest tensor that enters counts.
        """
        stated = [(sum(counts.flops[op].values()), -op) for op in members(group) if self.stated[op]]
        if stated:
            return self.stated[-max(stated)[1]]
        crossing = [t for t in self.crossing(group) if is_floating(self.tensors[t].dtype)]
        leaving = [t for t in crossing if self.producer[t] & group]
        largest = max(leaving or crossing, key=lambda t: (counts.sizes[t], -t), default=None)
        return None if largest is None else self.dtypes[largest]

    def kernels(
        self,
        groups: Sequence[Mask],
        spilled: Iterable[int] = (),
        dims: Mapping[str, int] | None = None,
        *,
        own_precision: bool = True,
    ) -> Kernels:
        """Return one kernel per group. Without `own_precision` no kernel states a precision."""
        counts = self.counts_at(dims)
        flops = [self.flops(group, counts) for group in groups]
        columns: dict[str, list[float]] = {
            word: [float(row[word]) if word in row else np.nan for row in flops]
            for word in CLASSES
            if any(word in row for row in flops)
        }
        if not all(flops):
            columns[""] = [np.nan if row else 0.0 for row in flops]
        return Kernels(
            [" + ".join(self.names[op] for op in members(group)) for group in groups],
            columns,
            [float(self.bytes(group, counts, spilled)) for group in groups],
            precision=[
                self.precision(group, counts) if own_precision and row else None
                for group, row in zip(groups, flops, strict=True)
            ],
            source="; ".join(
                [f"graph '{self.graph.name}', counted by {self.graph.convention.described}", *self.graph.notes]
            ),
        )

    def connected(self, group: Mask) -> list[Mask]:
        """Return the connected parts of a set of ops, in order. Ops that share a tensor are connected."""
        parts = []
        while group:
            part = flood(group & -group, self.near, group)
            parts.append(part)
            group &= ~part
        return parts

    def label(self, group: Mask) -> str:
        """Return the name of a group for messages: ``gelu + dropout + add``.

        A group of more than three ops is named by its first and last op: ``gelu + … + add (5 ops)``.
        """
        names = [self.names[op] for op in members(group)]
        if len(names) <= 3:  # noqa: PLR2004 - more names would make a sentence hard to read
            return " + ".join(names)
        return f"{names[0]} + … + {names[-1]} ({len(names)} ops)"
