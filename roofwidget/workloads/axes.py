"""Finds the axes of a tensor that a kernel needs whole on chip, because the kernel reduces them.

A kernel runs tile by tile. A reduction that keeps the rank of its input, such as a softmax, reads its input a second
time. So a tile with the reduced axes whole stays on chip. A reduction that drops the reduced axes, such as a sum, adds
up the tiles as they arrive. But if a tensor is needed for the reduction and also after it, the tensor stays on chip
until its last use, with the reduced axes whole.

Two reductions of a kernel need different tiles if they reduce different axes. They also need different tiles if an
injective op moves the elements for only one of them: for example, a transpose runs before the second reduction, but not
before the first. Then the tensors that the reductions read or write stay on chip, with all these axes whole. Compilers
do not fuse two reductions that need different tiles. Here the two may share a kernel if the tensors fit on chip.

Axes count from the last axis (-1), as in broadcasting: the last axis of each tensor of a kernel is the same axis.

`js/src/fusion/axes.ts` mirrors this file. The tests compare both files with `tests/golden/fusion.json`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from roofwidget.workloads.masks import Mask, members

if TYPE_CHECKING:
    from roofwidget.workloads.structure import Structure

_Clash: TypeAlias = "tuple[tuple[int, int] | None, frozenset[int] | None]"


class Axes:
    """The axes that each reduction of a graph reduces.

    Parameters
    ----------
    structure
        The graph.

    Attributes
    ----------
    reductions
        The ops that reduce at least one axis.
    """

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        ops = structure.ops
        self._of = [frozenset(axis - len(op.inputs[0].shape) for axis in op.axes) for op in ops]
        self.reductions: Mask = sum(1 << at for at, axes in enumerate(self._of) if axes)
        self._latest: tuple[Mask, _Clash] = 0, (None, None)
        self._keeping: Mask = sum(
            1 << at
            for at in members(self.reductions)
            if any(len(one.shape) >= len(ops[at].inputs[0].shape) for one in ops[at].outputs)
        )

    def axes_of(self, op: int) -> frozenset[int]:
        """Return the axes that an op reduces, counted from the last axis (-1)."""
        return self._of[op]

    def clash(self, group: Mask) -> tuple[int, int] | None:
        """Return two reductions of a group that need different tiles, or None if there are none."""
        return self._clashing(group)[0]

    def _clashing(self, group: Mask) -> _Clash:
        """Return what `clash` returns, and the axes that the group's reductions reduce, or None as in `whole`.

        Memoizes the latest group, because all tensors of a group ask for the same axes.
        """
        latest, found = self._latest
        if latest != group:
            found = self._find_clash(group)
            self._latest = group, found
        return found

    def _find_clash(self, group: Mask) -> _Clash:
        reductions = group & self.reductions
        if not reductions & (reductions - 1):
            return None, None
        movers = group & self.structure.of_kind["injective"]
        first, *others = members(reductions)
        own = self._of[first], self.structure.before[first] & movers
        for other in others:
            if own != (self._of[other], self.structure.before[other] & movers):
                is_moved = len({self.structure.before[op] & movers for op in members(reductions)}) > 1
                axes = frozenset[int]().union(*(self._of[op] for op in members(reductions)))
                return (first, other), None if is_moved else axes
        return None, None

    def holders(self, t: int, group: Mask) -> Mask:
        """Return the reductions of a group that need their reduced axes whole in a tensor's tile.

        Clashes between reductions of the group are ignored.
        """
        s = self.structure
        made, readers = s.producer[t] & group, s.readers[t] & group
        held = 0
        for op in members(group & self.reductions):
            one = 1 << op
            if made == one:
                # If the input of the reduction is not on chip, the output is on chip instead, with the reduced axes
                # whole.
                is_kept = len(s.tensors[t].shape) >= len(s.ops[op].inputs[0].shape)
                held |= one if is_kept and not self._keeps_input(op, group) else 0
            elif readers & (s.before[op] | one):
                reads_twice = made and readers & self._keeping & one
                if reads_twice or readers & s.after[op]:
                    held |= one
        return held

    def _keeps_input(self, op: int, group: Mask) -> bool:
        """Return whether the first input of a reduction is on chip, because it is made in the group or read later."""
        s = self.structure
        t = s.reads[op][0]
        return bool(s.producer[t] & group or s.readers[t] & group & s.after[op])

    def whole(self, t: int, group: Mask) -> frozenset[int] | None:
        """Return the axes that a tensor has whole in its tile, or None if all elements of the tensor stay on chip."""
        clash, axes = self._clashing(group)
        if clash is not None and self._touches(t, group):
            return axes
        held = self.holders(t, group)
        if clash is not None and held:
            return axes
        return frozenset().union(*(self._of[op] for op in members(held)))

    def stays(self, t: int, group: Mask) -> bool:
        """Return whether a tensor that enters a group stays on chip between two ops of the group."""
        readers = self.structure.readers[t] & group
        if not readers & (readers - 1):
            return False
        return (self._touches(t, group) and self.clash(group) is not None) or bool(self.holders(t, group))

    def _touches(self, t: int, group: Mask) -> bool:
        """Return whether a reduction of a group reads or writes a tensor."""
        return bool((self.structure.producer[t] | self.structure.readers[t]) & group & self.reductions)

    def held(self, group: Mask) -> list[int]:
        """Return the tensors that enter a group and stay on chip."""
        s = self.structure
        if not group & self.reductions:
            return []
        entering = dict.fromkeys(t for op in members(group) for t in s.reads[op] if not s.producer[t] & group)
        return [t for t in entering if self.stays(t, group)]

    def reread(self, t: int, group: Mask) -> tuple[int, int] | None:
        """Return a reduction that needs a tensor, and an op of the group that reads the tensor after the reduction."""
        s = self.structure
        readers = s.readers[t] & group
        for op in members(self.holders(t, group) & ~s.producer[t]):
            if after := readers & s.after[op]:
                return op, next(members(after))
        return None

    def named(self, op: int) -> str:
        """Return the axes that a reduction reduces, for messages: ``axis 1``, ``axes 0, 2``."""
        axes = self.structure.ops[op].axes
        return f"{'axis' if len(axes) == 1 else 'axes'} {', '.join(map(str, axes))}"
