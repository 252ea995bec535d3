"""Whether the tiles of a merged kernel fit on chip, and which tensors are spilled if they do not.

A tile is the part of a tensor that a kernel keeps on chip if the kernel both writes and reads the tensor. A tile has
128 x 128 elements if the kernel has a matrix product. If the tensor is read or written by a reduction of the kernel, a
tile is one row (the last dimension). Other tiles have 128 elements. A tile is never larger than its tensor. The ops of
a kernel run tile by tile in the graph's order. While an op runs, the tiles that it writes or reads and the tiles that
later ops read must be on chip together. Tensors that the kernel only reads or only writes need no space.

`js/src/fusion/capacity.ts` mirrors the part of this file that merges need.
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

_TILE_SIDE: Final = 128  # elements


class Capacity:
    """The tiles of a graph's tensors, and the capacity of one chip for them.

    Parameters
    ----------
    structure, counts
        The graph, and its counts as ints.
    chip
        The chip. Every kernel fits if there is no chip or its on-chip capacity is unknown.
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
        self._all_tiles: dict[Mask, tuple[int, int]] = {0: (0, 0)}

    def refusal(self, group: Mask, spilled: Collection[int] = ()) -> Refusal | None:
        """Return why a group does not fit on chip, or None if it does."""
        if self.fits(group, spilled) or self.share is None or self.chip is None:
            return None
        need, capacity = _distinct_texts(self.need(group, spilled), self.share.capacity)
        names = tuple(self.structure.names[op] for op in members(group))
        whose = "a unit's share of the" if self.share.units > 1 else "the"
        sentence = (
            f"the tiles of {self.structure.label(group)} need {need} at a time; "
            f"{whose} {self.share.level} of {self.chip.name} holds {capacity}"
        )
        return Refusal("capacity", sentence, names)

    def fits(self, group: Mask, spilled: Collection[int] = ()) -> bool:
        """Return whether a group's tiles fit. A single op always fits: its formula accounts for the op's blocking."""
        return self.share is None or not group & (group - 1) or self.need(group, spilled) <= self.share.capacity

    def fits_grown(self, group: Mask, smaller: Mask) -> bool:
        """Return whether a group fits on chip, given the smaller group to which ops were added.

        `fits` returns the same result. This method is faster if the smaller group was checked before. Then the sum
        of all tiles is computed from the smaller group's sum. If this sum fits, no further check is needed.
        """
        if self.share is None:
            return True
        s = self.structure
        smaller = smaller if smaller in self._all_tiles else 0
        product, other = self._all_tiles[smaller]
        for op in members(group & ~smaller):
            for t in s.makes[op]:
                tiles = self._tiles[t]
                product += tiles[0]
                other += tiles[1 if (s.producer[t] | s.readers[t]) & s.of_kind["reduction"] else 2]
        self._all_tiles[group] = product, other
        most = product if group & s.of_kind["matmul"] else other
        return most <= self.share.capacity or self.fits(group)

    def need(self, group: Mask, spilled: Collection[int] = ()) -> int:
        """Return the most bytes that the tiles of a group need at the same time, without spilled tensors."""
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
        """Return the tensors to spill to main memory so that the rest of a group fits: large tiles first.

        If no spill is enough, all tensors inside the group are spilled, so its ops run one by one.
        """
        spills = set(spilled)
        for t in sorted(self.structure.inside(group), key=lambda t: (-self.tile(t, group), t)):
            if self.fits(group, spills):
                break
            spills.add(t)
        return spills

    def tile(self, t: int, group: Mask) -> int:
        """Return the bytes of a tensor's tile in a group, or 0 if the chip's capacity is unknown."""
        if not self._tiles:
            return 0
        s = self.structure
        product, row, vector = self._tiles[t]
        if group & s.of_kind["matmul"]:
            return product
        return row if (s.producer[t] | s.readers[t]) & group & s.of_kind["reduction"] else vector


def _tiles(shape: list[int], size: int) -> tuple[int, int, int]:
    """Return a tile's bytes in three kinds of kernel: with a matrix product, with a reduction, with neither."""
    elements = prod(shape)
    tiles = (prod(min(part, _TILE_SIDE) for part in shape[-2:]), prod(shape[-1:]), min(elements, _TILE_SIDE))
    product, row, vector = (-(-tile * size // elements) for tile in tiles)
    return product, row, vector


def _distinct_texts(*sizes: float) -> list[str]:
    """Return sizes as texts. If rounding would make them look equal, the texts have all digits."""
    short = [format_quantity(float(size), "B") for size in sizes]
    return short if len(set(short)) > 1 else [format_quantity(float(size), "B", 15) for size in sizes]
