"""Checks whether the tiles of a merged kernel fit on chip, and names the tensors to spill if the tiles do not fit.

A tile is the part of a tensor that a kernel keeps on chip if the kernel both writes and reads the tensor. A tile has
128 x 128 elements if the kernel has a matrix product. If reductions of the kernel need axes of the tensor whole, a tile
has one element along every other axis (`axes.py` says which axes these are). Other tiles have 128 elements. A tile is
never larger than its tensor. The ops of a kernel run tile by tile in the graph's order. While an op runs, the tiles
that it writes or reads and the tiles that later ops read must be on chip together. A tensor that the kernel only reads
needs space if it is read before and after a reduction. Without this space it would be read from memory twice. Tensors
that the kernel only writes need no space.

`js/src/fusion/capacity.ts` mirrors the part of this file that merges need.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from math import prod
from typing import Final

from roofwidget.chips import Chip, share_on_chip
from roofwidget.units import format_quantity
from roofwidget.workloads.expressions import evaluate
from roofwidget.workloads.legality import Refusal
from roofwidget.workloads.masks import Mask, members
from roofwidget.workloads.structure import Counts, Structure

_TILE_SIDE: Final = 128  # elements


class Capacity:
    """The tiles of a graph's tensors, and the capacity of one chip for them.

    Parameters
    ----------
    structure, counts
        The graph, and its counts as ints.
    chip
        The chip. If there is no chip or its on-chip capacity is unknown, a kernel fits unless its reductions need
        different tiles.
    dims
        Values of dimensions that differ from their defaults.
    """

    def __init__(
        self, structure: Structure, counts: Counts[int], chip: Chip | None, dims: Mapping[str, int] | None = None
    ) -> None:
        self.structure, self.counts, self.chip = structure, counts, chip
        self.axes = structure.axes
        self.share = None if chip is None else share_on_chip(chip)
        env = structure.graph.environment(dims)
        shapes = ([evaluate(size, env) for size in one.shape] for one in structure.tensors)
        self._tensors = list(zip(shapes, counts.sizes, strict=True))
        self._tiles = [_tiles(*one) for one in self._tensors]
        self._rows: dict[tuple[int, frozenset[int] | None], int] = {}
        # An upper limit on the bytes of each tensor's tile, for kernels whose reductions do not clash.
        some = {self.axes.axes_of(op) for op in members(self.axes.reductions)}
        self._most = [max([vector, *(self._row(t, one) for one in some)]) for t, (_, vector) in enumerate(self._tiles)]
        # Upper limits of what a group needs: if it has a matrix product, if it has neither a matrix product nor a
        # reduction, and if it has reductions that do not clash.
        self._limits: dict[Mask, tuple[int, int, int]] = {0: (0, 0, 0)}

    def refusal(self, group: Mask, spilled: Collection[int] = ()) -> Refusal | None:
        """Return why a group does not fit on chip, or None if it does."""
        if self.fits(group, spilled):
            return None
        need, holds = float(self.need(group, spilled)), ""
        if self.share is None or self.chip is None:
            needed = format_quantity(need, "B")
        else:
            needed, there = _distinct_texts(need, self.share.capacity)
            whose = "a unit's share of the" if self.share.units > 1 else "the"
            holds = f"{whose} {self.share.level} of {self.chip.name} holds {there}"
        clash = self.axes.clash(group)
        if clash is not None:
            return self._axes_refusal(group, clash, needed, holds)
        names = tuple(self.structure.names[op] for op in members(group))
        sentence = f"the tiles of {self.structure.label(group)} need {needed} at a time; {holds}"
        return Refusal("capacity", sentence + self._why_large(group, spilled), names)

    def _axes_refusal(self, group: Mask, clash: tuple[int, int], needed: str, holds: str) -> Refusal:
        one, other = (self.structure.names[op] for op in clash)
        axes = [self.axes.named(op) for op in clash]
        how = f"{one} reduces {axes[0]} and {other} reduces {axes[1]}"
        if self.axes.axes_of(clash[0]) == self.axes.axes_of(clash[1]):
            how = f"{one} and {other} reduce {axes[0]}, but elements are moved between them"
        if self.chip is None:
            holds = "name the chip that holds this much"
        elif not holds:
            holds = f"how much {self.chip.name} holds is unknown"
        sentence = f"{how}: one kernel of {self.structure.label(group)} would keep {needed} on chip at a time; {holds}"
        return Refusal("axes", sentence, (one, other))

    def _why_large(self, group: Mask, spilled: Collection[int]) -> str:
        """Return a sentence on the op that reads the tensor of the largest tile after a reduction.

        If there is no such op, return an empty text.
        """
        if group & self.structure.of_kind["matmul"]:
            return ""
        on_chip = [t for t in self.structure.spillable(group) if t not in spilled]
        largest = max(on_chip, key=lambda t: (self.tile(t, group), -t))
        again = self.axes.reread(largest, group)
        if again is None:
            return ""
        reduction, reader = (self.structure.names[op] for op in again)
        tensor = self.structure.tensors[largest].name
        return f". {reader} reads {tensor} after {reduction}, which reduces {self.axes.named(again[0])}"

    def fits(self, group: Mask, spilled: Collection[int] = ()) -> bool:
        """Return whether a group's tiles fit. One op alone always fits: its formula already accounts for its blocks."""
        if not group & (group - 1):
            return True
        if self.share is None:
            return self.axes.clash(group) is None or set(spilled).issuperset(self.structure.spillable(group))
        tiles: dict[int, int] = {}
        for t in self.structure.spillable(group):
            if t not in spilled:
                tiles[t] = self.tile(t, group)
                if tiles[t] > self.share.capacity:
                    return False
        return self._need(group, tiles, tiles.__getitem__) <= self.share.capacity

    def fits_grown(self, group: Mask, smaller: Mask) -> bool:
        """Return whether a group fits on chip, given the smaller group to which ops were added.

        `fits` returns the same result. This method is faster than `fits` if the smaller group was checked before. Then
        an upper limit of the group's need is computed from the upper limit of the smaller group. If no reductions clash
        and the capacity is at least this limit, the group fits without a further check.
        """
        if self.share is None or not group & (group - 1):
            return self.fits(group)
        s, made, read = self.structure, set[int](), set[int]()
        smaller = smaller if smaller in self._limits else 0
        for op in members(group & ~smaller):
            made.update(s.makes[op])
            read.update(s.reads[op])
        inside = [t for t in made | read if s.producer[t] & group]
        product, vector, most = self._limits[smaller]
        product += sum(self._tiles[t][0] for t in inside)
        vector += sum(self._tiles[t][1] for t in inside)
        most += sum(self._most[t] for t in made | read)
        has_product, has_reduction = group & s.of_kind["matmul"], group & self.axes.reductions
        if has_product and product > self.share.capacity:
            product = self._need(group, s.spillable(group), lambda t: self._tiles[t][0])
        elif not has_product and not has_reduction and vector > self.share.capacity:
            vector = self._need(group, s.spillable(group), lambda t: self._tiles[t][1])
        elif not has_product and has_reduction and most > self.share.capacity:
            inside = [t for t in s.touched(group) if s.readers[t] & group]
            most = self._need(group, inside, self._most.__getitem__)
        self._limits[group] = product, vector, most
        limit = product if has_product else most if has_reduction else vector
        return (limit <= self.share.capacity and self.axes.clash(group) is None) or self.fits(group)

    def need(self, group: Mask, spilled: Collection[int] = ()) -> int:
        """Return the most bytes that the tiles of a group need at the same time, without spilled tensors."""
        on_chip = [t for t in self.structure.spillable(group) if t not in spilled]
        return self._need(group, on_chip, lambda t: self.tile(t, group))

    def _need(self, group: Mask, on_chip: Iterable[int], tile_of: Callable[[int], int]) -> int:
        """Return the most bytes that the tiles of some tensors need at the same time, each from first to last use."""
        s, now, most = self.structure, 0, 0
        starts: dict[int, int] = {}
        ends: dict[int, int] = {}
        for t in on_chip:
            made, readers = s.producer[t] & group, s.readers[t] & group
            first, last = (made or readers & -readers).bit_length() - 1, readers.bit_length() - 1
            tile = tile_of(t)
            starts[first] = starts.get(first, 0) + tile
            ends[last] = ends.get(last, 0) + tile
        for op in members(group):
            now += starts.get(op, 0)
            most = max(most, now)
            now -= ends.get(op, 0)
        return most

    def spills(self, group: Mask, spilled: Collection[int] = ()) -> set[int]:
        """Return the tensors to spill to main memory so that the rest of a group fits.

        The tensor with the largest tile is spilled first. A spilled tensor that enters the group is read again. If no
        spill is enough, all tensors are spilled, so the ops
        run one by one.
        """
        spills = set(spilled)
        for t in sorted(self.structure.spillable(group), key=lambda t: (-self.tile(t, group), t)):
            if self.fits(group, spills):
                break
            spills.add(t)
        return spills

    def tile(self, t: int, group: Mask) -> int:
        """Return the bytes of a tensor's tile in a group."""
        product, vector = self._tiles[t]
        if group & self.structure.of_kind["matmul"]:
            return product
        whole = self.axes.whole(t, group)
        return self._row(t, whole) if whole is None or whole else vector

    def _row(self, t: int, whole: frozenset[int] | None) -> int:
        """Return the bytes of a tile that contains all elements along the axes `whole`, and one along each other axis.

        If `whole` is None, the tile contains all elements of the tensor.
        """
        if (t, whole) not in self._rows:
            shape, size = self._tensors[t]
            kept = (part for axis, part in enumerate(shape, -len(shape)) if whole is None or axis in whole)
            self._rows[t, whole] = _bytes(prod(kept), shape, size)
        return self._rows[t, whole]


def _tiles(shape: list[int], size: int) -> tuple[int, int]:
    """Return the bytes of a tensor's tile in two kinds of kernel.

    The first kind has a matrix product. The second kind has neither a matrix product nor a reduction.
    """
    product = prod(min(part, _TILE_SIDE) for part in shape[-2:])
    return _bytes(product, shape, size), _bytes(min(prod(shape), _TILE_SIDE), shape, size)


def _bytes(elements: int, shape: list[int], size: int) -> int:
    """Return the bytes of some elements of a tensor, rounded up. The whole tensor has `size` bytes."""
    return -(-elements * size // prod(shape))


def _distinct_texts(*sizes: float) -> list[str]:
    """Return sizes as texts. If rounding would make all sizes look equal, the texts have up to 15 digits."""
    short = [format_quantity(float(size), "B") for size in sizes]
    return short if len(set(short)) > 1 else [format_quantity(float(size), "B", 15) for size in sizes]
