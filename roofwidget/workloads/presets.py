"""Whole partitions of a graph: none fused, as far as it goes, by twos, like a compiler, and the best for a chip."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, TypeAlias

from roofwidget import units
from roofwidget.chips import Chip
from roofwidget.support.did_you_mean import listed, nearest
from roofwidget.workloads import greedy
from roofwidget.workloads.capacity import Capacity
from roofwidget.workloads.graph import Graph
from roofwidget.workloads.groups import checked, mask_of
from roofwidget.workloads.legality import Rules
from roofwidget.workloads.search import LIMIT, Costs, optimal, takes_more
from roofwidget.workloads.structure import Mask, Structure

__all__ = ["How", "Made", "best", "capacity", "fully", "given", "like", "pairs", "unfused"]

How: TypeAlias = 'Literal["optimal", "greedy"] | None'
"""How a search went; None of a partition that none found."""

_LIKE: Final = ("inductor", "xla")


@dataclass(frozen=True)
class Made:
    """A partition that was made, and how.

    Parameters
    ----------
    structure, rules
        The graph and what may fuse in it.
    groups
        The groups, in any order.
    how, evaluations
        What a search says of itself.
    """

    structure: Structure
    rules: Rules
    groups: list[Mask]
    how: How = None
    evaluations: int | None = None


def capacity(structure: Structure, chip: Chip | str | None, dims: Mapping[str, int] | None) -> Capacity:
    """Return what fits on a chip; on None everything does."""
    return Capacity(structure, structure.counts_at(dims), None if chip is None else _found(chip), dims)


def given(graph: Graph, groups: Iterable[Iterable[str | int]]) -> Made:
    """Take groups that somebody wrote, if they are a legal partition."""
    start = unfused(graph)
    masks = [mask_of(start.structure, group) for group in groups]
    return Made(start.structure, start.rules, checked(start.structure, start.rules, masks))


def unfused(graph: Graph) -> Made:
    """Make every op a kernel of its own."""
    structure = Structure(graph)
    return Made(structure, Rules(structure), greedy.singles(structure))


def fully(graph: Graph, chip: Chip | str | None, dims: Mapping[str, int] | None) -> Made:
    """Merge what saves most bytes as long as a merge is legal."""
    start = unfused(graph)
    structure, room = start.structure, capacity(start.structure, chip, dims)

    @cache
    def moved(group: Mask) -> int:
        return structure.bytes(group, room.counts)

    def saved(a: Mask, b: Mask) -> float:
        return moved(a) + moved(b) - moved(a | b)

    return Made(structure, start.rules, greedy.by_gain(structure, start.rules, room.fits, saved, start.groups))


def pairs(graph: Graph, chip: Chip | str | None, dims: Mapping[str, int] | None) -> Made:
    """Merge ops by twos."""
    start = unfused(graph)
    room = capacity(start.structure, chip, dims)
    return Made(start.structure, start.rules, greedy.pairs(start.structure, start.rules, room.fits, room.counts))


def like(  # noqa: PLR0917 - only `Partition` calls it
    which: str,
    graph: Graph,
    chip: Chip | str | None,
    precision: str,
    launch_overhead: float | str,
    dims: Mapping[str, int] | None,
) -> Made:
    """Follow the rules of a compiler."""
    if which not in _LIKE:
        close = nearest(str(which), _LIKE, most=1)
        hint = f"did you mean '{close[0]}'?" if close else f"there are {listed(_LIKE)}"
        msg = f"no rules like those of {which!r:.40}; {hint}"
        raise ValueError(msg)
    start = unfused(graph)
    structure, rules, room = start.structure, start.rules, capacity(start.structure, chip, dims)
    if which == "inductor":
        return Made(structure, rules, greedy.inductor_like(structure, rules, room.fits, room.counts))
    if room.chip is None:
        msg = "the rules of 'xla' weigh times: name a chip, such as Partition.like('xla', graph, 'v5p')"
        raise TypeError(msg)
    costs = Costs(structure, room.counts, room.chip, precision, _seconds(launch_overhead))
    return Made(structure, rules, greedy.xla_like(structure, rules, room.fits, costs))


def best(
    graph: Graph, chip: Chip | str, precision: str, launch_overhead: float | str, dims: Mapping[str, int] | None
) -> Made:
    """Search for the partition with the shortest time."""
    start = unfused(graph)
    structure, rules, room = start.structure, start.rules, capacity(start.structure, chip, dims)
    costs = Costs(structure, room.counts, _found(chip), precision, _seconds(launch_overhead))

    def time(group: Mask, smaller: Mask) -> float | None:
        seconds = costs(group, smaller)
        return seconds if room.fits_grown(group, smaller) else None

    groups: list[Mask] = []
    evaluations = 0
    for part in structure.connected(structure.everything):
        left = LIMIT - evaluations
        found = None if takes_more(structure, rules, part, left) else optimal(structure, rules, time, part, left)
        if found is None or found.groups is None:
            merged = greedy.by_gain(structure, rules, room.fits, _time_saved(costs), start.groups)
            return Made(structure, rules, merged, "greedy", LIMIT)
        evaluations += found.evaluations
        groups += found.groups
    return Made(structure, rules, groups, "optimal", evaluations)


def _time_saved(costs: Costs) -> Callable[[Mask, Mask], float]:
    """Return what a merge saves, seconds; less than zero where rounding is all there is."""

    def saved(a: Mask, b: Mask) -> float:
        apart = costs(a) + costs(b)
        gain = apart - costs(a | b)
        return gain if gain > 1e-12 * apart else -1.0

    return saved


def _seconds(launch_overhead: float | str) -> float:
    return units.finite(units.parse(launch_overhead, "s", "launch_overhead"), "launch_overhead")


def _found(chip: Chip | str) -> Chip:
    from roofwidget.chips import chip as look_up  # noqa: PLC0415 - the catalogue is read only for a name

    return look_up(chip)
