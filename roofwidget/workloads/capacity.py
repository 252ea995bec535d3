"""Whether the tiles of a merged kernel fit on chip, and which tensors are spilled if they do not.

A tile is what a kernel keeps at a time of a tensor that it both writes and reads: with a matrix product in the kernel
128 x 128 elements of it, beside a reduction a row (its last dimension), else a vector of 128 elements; never more than
the tensor. The ops of a kernel run tile by tile in the graph's order, and while one runs, the tiles that it writes or
reads and those that later ops read must be on chip together. What only streams in or out counts nothing.

`js/src/fusion/capacity.ts` mirrors what a merge asks of this file.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import prod
from typing import Final

from roofwidget.chips import Chip, share_on_chip
from roofwidget.units import format_quantity
from roofwidget.workloads.expressions import evaluate
from roofwidget.workloads.legality import Refusal
from roofwidget.workloads.structure import Counts, Mask, Structure, members

__all__ = ["Capacity"]

_SIDE: Final = 128


class Capacity:
    """The tiles of a graph's tensors, held against one chip.

    Parameters
    ----------
    structure, counts
        The graph, and its counts as ints.
    chip
        The chip; one without a known capacity on chip takes every kernel.
    dims
        Values of dimensions that differ from their defaults.
    """

    def __init__(
        self, structure: Structure, counts: Counts[int], chip: Chip | None, dims: Mapping[str, int] | None = None
    ) -> None:
        self.structure, self.counts, self.chip = structure, counts, chip
        self.share = None if chip is None else share_on_chip(chip)
        self._tiles: list[tuple[int, int, int]] = []
        if self.share is not None:
            env = structure.graph.environment(dims)
            shapes = ([evaluate(size, env) for size in one.shape] for one in structure.tensors)
            self._tiles = [_tiles(shape, n) for shape, n in zip(shapes, counts.sizes, strict=True)]
        self._most: dict[Mask, tuple[int, int]] = {0: (0, 0)}

    def refusal(self, group: Mask, spilled: Collection[int] = ()) -> Refusal | None:
        """Return why a group of several ops does not fit on chip, or None if it does."""
        if self.fits(group, spilled) or self.share is None or self.chip is None:
            return None
        need, there = _told_apart(self.need(group, spilled), self.share.capacity)
        names = tuple(self.structure.names[op] for op in members(group))
        whose = "a unit's share of the" if self.share.units > 1 else "the"
        sentence = (
            f"the tiles of {self.structure.spoken(group)} need {need} at a time; "
            f"{whose} {self.share.level} of {self.chip.name} holds {there}"
        )
        return Refusal("capacity", sentence, names)

    def fits(self, group: Mask, spilled: Collection[int] = ()) -> bool:
        """Whether a group's tiles fit. A single op always does: how it is blocked is its own formula's matter."""
        return self.share is None or not group & (group - 1) or self.need(group, spilled) <= self.share.capacity

    def fits_grown(self, group: Mask, smaller: Mask) -> bool:
        """Whether a group fits that was made by adding ops to a smaller one.

        The same as `fits`, and faster where the smaller one was asked about before: those fit whose tiles all fit at a
        time.
        """
        if self.share is None:
            return True
        s = self.structure
        smaller = smaller if smaller in self._most else 0
        product, other = self._most[smaller]
        for op in members(group & ~smaller):
            for t in s.makes[op]:
                tiles = self._tiles[t]
                product += tiles[0]
                other += tiles[1 if (s.producer[t] | s.readers[t]) & s.of_kind["reduction"] else 2]
        self._most[group] = product, other
        most = product if group & s.of_kind["matmul"] else other
        return most <= self.share.capacity or self.fits(group)

    def need(self, group: Mask, spilled: Collection[int] = ()) -> int:
        """Return the bytes that the tiles of a group take at most at a time, spilled tensors apart."""
        s, now, most = self.structure, 0, 0
        ends: dict[int, int] = {}
        for op in members(group):
            for t in s.makes[op]:
                if t not in spilled and (inside := s.readers[t] & group):
                    now += (tile := self.tile(t, group))
                    last = inside.bit_length() - 1
                    ends[last] = ends.get(last, 0) + tile
            most = max(most, now)
            now -= ends.get(op, 0)
        return most

    def spills(self, group: Mask, spilled: Collection[int] = ()) -> set[int]:
        """Return the tensors inside a group that must go through main memory so that the rest fits: large tiles first.

        All of them, if even that is not enough: then its ops run one by one.
        """
        gone = set(spilled)
        for t in sorted(self.structure.inside(group), key=lambda t: (-self.tile(t, group), t)):
            if self.fits(group, gone):
                break
            gone.add(t)
        return gone

    def tile(self, t: int, group: Mask) -> int:
        """Return the bytes of a tensor's tile in a group; 0 on a chip whose capacity is not known."""
        if not self._tiles:
            return 0
        s = self.structure
        product, row, vector = self._tiles[t]
        if group & s.of_kind["matmul"]:
            return product
        return row if (s.producer[t] | s.readers[t]) & group & s.of_kind["reduction"] else vector


def _tiles(shape: list[int], size: int) -> tuple[int, int, int]:
    """Return the bytes of a tensor's tile beside a matrix product, beside a reduction, and else."""
    elements = prod(shape)
    tiles = (prod(min(part, _SIDE) for part in shape[-2:]), prod(shape[-1:]), min(elements, _SIDE))
    product, row, vector = (-(-tile * size // elements) for tile in tiles)
    return product, row, vector


def _told_apart(*sizes: float) -> list[str]:
    """Return sizes as text, with all their digits where fewer would make them the same."""
    short = [format_quantity(float(size), "B") for size in sizes]
    return short if len(set(short)) > 1 else [format_quantity(float(size), "B", 15) for size in sizes]
