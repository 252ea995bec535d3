"""How long the kernels of a partition take at many sizes at once, without a loop over the sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from roofwidget.analysis.bound_lenient import bound_lenient
from roofwidget.chips import Chip, MissingFigureError
from roofwidget.companions.arrays import allowed, over
from roofwidget.kernels.columns import DictColumn
from roofwidget.kernels.table import Kernels
from roofwidget.workloads.structure import Mask, Structure, members
from roofwidget.workloads.tensors import is_floating

if TYPE_CHECKING:
    from roofwidget.kernels.columns import Floats
    from roofwidget.workloads.expressions import Count
    from roofwidget.workloads.fusion import Partition

__all__ = ["times_over"]


@dataclass(frozen=True)
class _Group:
    """What tells one kernel's time: layers of a model repeat theirs, so that each is judged once."""

    flops: tuple[tuple[str, Count], ...]
    bytes: Count
    precisions: tuple[tuple[Count, str], ...]

    def kernels(self, env: Mapping[str, Any], n: int) -> Kernels:
        """Return it at n sizes."""
        return Kernels(
            [""] * n,
            {word: np.broadcast_to(over(count, env), n) for word, count in self.flops} or np.zeros(n),
            np.broadcast_to(over(self.bytes, env), n),
            precision=self._precision(env, n) if self.flops else None,
        )

    def _precision(self, env: Mapping[str, Any], n: int) -> DictColumn | None:
        words = tuple(dict.fromkeys(word for _, word in self.precisions))
        if not words:
            return None
        # The first of equals: argmax, as `Structure.precision` does it size by size.
        weights = np.stack([np.broadcast_to(over(count, env), n) for count, _ in self.precisions])
        of_weight = np.array([words.index(word) for _, word in self.precisions], dtype=np.int32)
        return DictColumn(words, of_weight[weights.argmax(axis=0)])


def times_over(
    partition: Partition,
    env: Mapping[str, Any],
    n: int,
    chips: Iterable[Chip],
    *,
    precision: str,
    memory: str,
    launch_overhead: float,
) -> Floats:
    """Return the seconds of a whole partition on each chip, the sum of its kernels' bounds, shape (chips, n).

    Parameters
    ----------
    partition
        Which ops of a graph run as one kernel.
    env
        A value, or n of them, for each symbol of the graph.
    n
        How many sizes there are.
    chips, precision, memory, launch_overhead
        As in `roofwidget.bound`. NaN where a chip lacks a figure that is needed, or the graph does not allow a size.
    """
    structure = Structure(partition.graph)
    groups = Counter(_group(structure, sum(1 << op for op in group)) for group in partition.indices)
    chosen = tuple(chips)
    fine = allowed(partition.graph, env, n)
    there = {name: value[fine] if np.ndim(value) else value for name, value in env.items()}
    total = np.full((len(chosen), n), np.nan)
    total[:, fine] = 0.0
    for group, many in groups.items():
        table = group.kernels(there, int(fine.sum()))
        for row, chip in enumerate(chosen):
            total[row, fine] += many * _time(table, chip, precision, memory, launch_overhead)
    return total


def _time(table: Kernels, chip: Chip, precision: str, memory: str, launch_overhead: float) -> Floats:
    try:
        with np.errstate(over="ignore", under="ignore"):
            return bound_lenient(table, chip, precision=precision, memory=memory, launch_overhead=launch_overhead).time
    except MissingFigureError:
        return np.full(len(table), np.nan)


def _group(structure: Structure, group: Mask) -> _Group:
    counts = structure.counts
    return _Group(
        tuple(structure.flops(group, counts).items()), structure.bytes(group, counts), _precisions(structure, group)
    )


def _precisions(structure: Structure, group: Mask) -> tuple[tuple[Count, str], ...]:
    """Return what may judge a group, each with its weight: the heaviest does. `Structure.precision` tells the rule."""
    counts = structure.counts
    stated = [
        (sum(counts.flops[op].values()), word) for op in members(group) if (word := structure.stated[op]) is not None
    ]
    if stated:
        return tuple(stated)
    crossing = sorted(t for t in structure.crossing(group) if is_floating(structure.tensors[t].dtype))
    leaving = [t for t in crossing if structure.producer[t] & group]
    return tuple((counts.sizes[t], structure.dtypes[t]) for t in leaving or crossing)
