"""The loops of a group of ops: which axes of its tensors the kernel walks together.

Ops share tensors, so the loops of an axis that one op writes and another reads are the same. A loop is split where one
op walks an axis whole and another walks its parts: ``h·d`` becomes h and d.

The loops are those of the whole graph, unless this makes two axes of a tensor of the group the same loop. For example,
queries and keys that are made from one tensor have its rows, and their scores have these rows twice. A group that does
not contain both ways to the scores walks the two axes apart, so then the loops are those of the group alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from roofwidget.workloads.index import ANY, Axis, Index
from roofwidget.workloads.masks import Mask, members, union

if TYPE_CHECKING:
    from roofwidget.workloads.structure import Structure

Set: TypeAlias = int
"""A set of loops of one group: bit i is 1 if loop i is in the set."""


class Walk(NamedTuple):
    """The loops of one op: those of each tensor's axes, by tensor, in the order of its reads and its writes."""

    reads: tuple[tuple[int, tuple[Axis, ...]], ...]
    makes: tuple[tuple[int, tuple[Axis, ...]], ...]


def walk_of(index: Index | None, inputs: Sequence[int], outputs: Sequence[int], ranks: Sequence[int]) -> Walk:
    """Return the loops of an op. A tensor that is listed twice has the loops of its first place."""
    if index is None:
        sides = [[(t, (ANY,) * ranks[t]) for t in side] for side in (inputs, outputs)]
    else:
        sides = [list(zip(side, axes, strict=True)) for side, axes in zip((inputs, outputs), index, strict=True)]
    reads, makes = (tuple(dict(reversed(side)).items()) for side in sides)
    return Walk(tuple(reversed(reads)), tuple(reversed(makes)))


@dataclass(frozen=True)
class Loops:
    """The loops of a group.

    Parameters
    ----------
    sizes
        The size of each loop, elements.
    axes
        For each tensor of the group: the loops of each axis.
    joined
        A tensor made in the group of which two axes are one loop, or None. Each block of such a kernel would need
        elements that other blocks make.
    of_op
        For each product: the loops of each letter.
    over
        For each reduction and each product: the loops that it adds up.
    """

    sizes: tuple[int, ...]
    axes: dict[int, tuple[Set, ...]]
    joined: int | None
    of_op: dict[int, dict[str, Set]]
    over: dict[int, Set]
    _whole: dict[int, Set] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_whole", {t: union(axes) for t, axes in self.axes.items()})

    def of(self, t: int) -> Set:
        """Return the loops of a tensor."""
        return self._whole.get(t, 0)

    def count(self, loops: Set) -> int:
        """Return the product of the sizes of loops."""
        total = 1
        for loop in members(loops):
            total *= self.sizes[loop]
        return total


class _Joining:
    """Axes that are joined one after the other. An axis is a list of nodes; a node may be split into others."""

    def __init__(self) -> None:
        self.size: list[int] = []
        self._parent: list[int] = []
        self._parts: dict[int, list[int]] = {}

    def node(self, size: int) -> int:
        self.size.append(size)
        self._parent.append(len(self._parent))
        return len(self._parent) - 1

    def find(self, node: int) -> int:
        while self._parent[node] != node:
            self._parent[node] = self._parent[self._parent[node]]
            node = self._parent[node]
        return node

    def expanded(self, nodes: Iterable[int]) -> list[int]:
        """Return the loops of an axis, without loops that were split."""
        if not self._parts:
            return [self.find(node) for node in nodes]
        found: list[int] = []
        for node in nodes:
            root = self.find(node)
            found += self.expanded(self._parts[root]) if root in self._parts else [root]
        return found

    def join(self, one: Sequence[int], other: Sequence[int]) -> None:
        """Make two axes the same loops, from the slowest loop on. Parts that do not match stay apart."""
        if len(one) == len(other) == 1 and not self._parts:
            self._union(self.find(one[0]), self.find(other[0]))
            return
        left, right = self.expanded(one), self.expanded(other)
        while left and right:
            a, b = left.pop(0), right.pop(0)
            if a == b:
                continue
            if self.size[a] == self.size[b]:
                self._union(a, b)
            elif self.size[a] % self.size[b] == 0:
                left.insert(0, self._split(a, b))
            elif self.size[b] % self.size[a] == 0:
                right.insert(0, self._split(b, a))
            else:
                return

    def _union(self, a: int, b: int) -> None:
        if a != b:
            self.size[a] = max(self.size[a], self.size[b])
            self._parent[b] = a

    def _split(self, node: int, first: int) -> int:
        """Split a loop into `first` and the rest, and return the rest."""
        rest = self.node(self.size[node] // self.size[first])
        self._parts[node] = [first, rest]
        return rest


class LoopsOf:
    """Finds the loops of the groups of one graph.

    Parameters
    ----------
    structure
        The graph.
    shapes
        The shape of each tensor, ints.
    """

    def __init__(self, structure: Structure, shapes: Sequence[Sequence[int]]) -> None:
        self.structure, self.shapes = structure, shapes
        self._known: dict[Mask, Loops] = {}
        self._sizes_of = [self._sizes(walk) for walk in structure.walks]
        self._over = [self._added(op) for op in range(len(structure.ops))]
        everything = structure.everything
        self._all = self._found(everything)
        self._apart: Mask = union(
            structure.producer[t] | structure.readers[t] for t, axes in self._all.axes.items() if _overlap(axes)
        )

    def __call__(self, group: Mask) -> Loops:
        """Return the loops of a group."""
        if not group & self._apart:
            return self._all
        if group not in self._known:
            self._known[group] = self._found(group)
        return self._known[group]

    def _found(self, group: Mask) -> Loops:
        joining = _Joining()
        axes: dict[int, list[list[int]]] = {}
        letters: dict[int, dict[str, int]] = {}
        later: list[tuple[int, list[list[int]]]] = []
        for op in members(group):
            walk = self.structure.walks[op]
            own = letters[op] = {letter: joining.node(size) for letter, size in self._sizes_of[op].items()}
            for t, each in (*walk.reads, *walk.makes):
                mine = [[own[letter] for letter in axis] if axis != ANY else [] for axis in each]
                if t not in axes:
                    axes[t] = [nodes or [joining.node(self.shapes[t][at])] for at, nodes in enumerate(mine)]
                elif self.structure.producer[t] & group:
                    _join(joining, axes[t], mine)
                else:
                    later.append((t, mine))
        for t, mine in later:
            # A tensor that enters and that two ops walk in different ways is read in two ways.
            if not _would_merge(joining, axes, t, mine):
                _join(joining, axes[t], mine)
        return self._numbered(joining, axes, letters, group)

    def _sizes(self, walk: Walk) -> dict[str, int]:
        """Return the sizes of an op's letters. A letter that is only a part of an axis gets what the axis leaves."""
        sizes: dict[str, int] = {}
        joined: list[tuple[Axis, int]] = []
        for t, each in (*walk.reads, *walk.makes):
            for axis, size in zip(each, self.shapes[t], strict=True):
                if len(axis) == 1 and axis != ANY:
                    sizes[axis[0]] = max(size, sizes.get(axis[0], 1))
                elif len(axis) > 1:
                    joined.append((axis, size))
        for axis, size in joined:
            left = size
            for letter in axis:
                left //= sizes.get(letter, 1)
            for letter in axis:
                if letter not in sizes:
                    sizes[letter], left = max(left, 1), 1
        return sizes

    def _numbered(
        self,
        joining: _Joining,
        axes: dict[int, list[list[int]]],
        letters: dict[int, dict[str, int]],
        group: Mask,
    ) -> Loops:
        number: dict[int, int] = {}

        def as_set(nodes: Iterable[int]) -> Set:
            found = 0
            for root in joining.expanded(nodes):
                # A loop over one element is none.
                if joining.size[root] != 1:
                    found |= 1 << number.setdefault(root, len(number))
            return found

        numbered = {t: tuple(map(as_set, each)) for t, each in axes.items()}
        of_op = {
            op: {letter: as_set((node,)) for letter, node in letters[op].items()}
            for op in members(group & self.structure.of_kind["matmul"])
        }
        joined = next(
            (t for t, each in numbered.items() if self.structure.producer[t] & group and _overlap(each)), None
        )
        adding = group & (self.structure.of_kind["matmul"] | self.structure.reducing)
        over = {op: as_set(letters[op][letter] for letter in self._over[op]) for op in members(adding)}
        return Loops(tuple(joining.size[root] for root in number), numbered, joined, of_op, over)

    def _added(self, op: int) -> set[str]:
        """Return the letters that a reduction or a product adds up."""
        s = self.structure
        walk = s.walks[op]
        if s.of_kind["matmul"] >> op & 1:
            return {*self._sizes_of[op]}.difference(*(axis for _, axes in walk.makes for axis in axes))
        axes = next((axes for t, axes in walk.reads if t == s.reads[op][0]), ())
        return {letter for at in s.ops[op].axes for letter in axes[at]}


def _join(joining: _Joining, one: Sequence[Sequence[int]], other: Sequence[Sequence[int]]) -> None:
    for a, b in zip(one, other, strict=True):
        if a and b:
            joining.join(a, b)


def _overlap(axes: Iterable[Set]) -> bool:
    seen = 0
    for axis in axes:
        if seen & axis:
            return True
        seen |= axis
    return False


def _would_merge(joining: _Joining, axes: Mapping[int, list[list[int]]], t: int, mine: Sequence[Sequence[int]]) -> bool:
    """Return whether joining the axes of an entering tensor would make two axes of one tensor the same loop."""
    pairs = {}
    for one, other in zip(axes[t], mine, strict=True):
        left, right = joining.expanded(one), joining.expanded(other)
        if len(left) == len(right):
            pairs.update({b: a for a, b in zip(left, right, strict=True) if a != b})
    if not pairs:
        return False
    for each in axes.values():
        roots = [pairs.get(root, root) for axis in each for root in joining.expanded(axis)]
        if len(set(roots)) < len(roots):
            return True
    return False
