"""The quotient graph of a partition: its groups in an order in which they can run, which merges preserve."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Sequence

from roofwidget.workloads.masks import Mask, members
from roofwidget.workloads.structure import Structure


class QuotientGraph:
    """The groups of a partition and their dependencies. A merged group gets a new number.

    Parameters
    ----------
    structure
        The graph.
    groups
        Groups of all ops of the graph, in an order in which they can run. The groups are numbered from 0.

    Attributes
    ----------
    groups
        The ops of each group, by number.
    owner
        For each op, the number of its group.
    """

    def __init__(self, structure: Structure, groups: Iterable[Mask]) -> None:
        self.structure = structure
        self.groups: dict[int, Mask] = dict(enumerate(groups))
        self.owner = [0] * len(structure.ops)
        self._out: dict[int, Mask] = {}
        # The number of the group at each place of the order; None for an empty place. A merge leaves places empty, so
        # that later groups keep their places.
        self._places: list[int | None] = list(self.groups)
        self._place = {number: number for number in self.groups}
        self._next = len(self.groups)
        for number, group in self.groups.items():
            self._adopt(number, group)

    def _adopt(self, number: int, group: Mask) -> None:
        out = 0
        for op in members(group):
            self.owner[op] = number
            out |= self.structure.feeds[op]
        self._out[number] = out & ~group

    def after(self, number: int) -> list[int]:
        """Return the groups that read a group's tensors, sorted by first op."""
        return self._owners(self._out[number])

    def before(self, number: int) -> list[int]:
        """Return the groups whose tensors a group reads, sorted by first op."""
        group, needs = self.groups[number], 0
        for op in members(group):
            needs |= self.structure.needs[op]
        return self._owners(needs & ~group)

    def near(self, number: int) -> list[int]:
        """Return the other groups that share a tensor with a group, sorted by first op."""
        group, near = self.groups[number], 0
        for op in members(group):
            near |= self.structure.near[op]
        return self._owners(near & ~group)

    def union(self, parts: Iterable[int]) -> Mask:
        """Return the union of groups."""
        union = 0
        for number in parts:
            union |= self.groups[number]
        return union

    def detour(self, parts: Collection[int]) -> list[int]:
        """Return the shortest path that leaves a union of groups and returns to it through other groups.

        Returns
        -------
        list of int
            Numbers of groups; the first and the last are in `parts`. The list is empty if there is no such path. Then
            the groups in `parts` may become one kernel without breaking the order of the kernels.
        """
        predecessor = self._reached(parts)
        for number in predecessor:
            if number not in parts and (back := next((a for a in self.after(number) if a in parts), None)) is not None:
                path = [back, number]
                while path[-1] not in parts:
                    path.append(predecessor[path[-1]])
                return path[::-1]
        return []

    def merge(self, parts: Collection[int]) -> int:
        """Merge groups into one group, and return its number. There must be no detour between the groups."""
        predecessor = self._reached(parts)
        places = [self._place[number] for number in parts]
        window = self._places[min(places) : max(places) + 1]
        rest = [number for number in window if number is not None and number not in parts]
        union, number = self.union(parts), self._next
        self._next += 1
        early, late = [one for one in rest if one not in predecessor], [one for one in rest if one in predecessor]
        order: list[int | None] = [*early, number, *late]
        order += [None] * (len(window) - len(order))
        for place, one in enumerate(order, min(places)):
            self._places[place] = one
            if one is not None:
                self._place[one] = place
        for part in parts:
            del self.groups[part], self._out[part], self._place[part]
        self.groups[number] = union
        self._adopt(number, union)
        return number

    def _reached(self, parts: Collection[int]) -> dict[int, int]:
        """Return the groups that a search from `parts` reaches, each with the group before it on the path.

        The search visits only groups that run before the last group in `parts`.
        """
        last = max(self._place[number] for number in parts)
        predecessor: dict[int, int] = {}
        queue = sorted(parts, key=self._place.__getitem__)
        for number in queue:
            for one in self.after(number):
                if one not in predecessor and one not in parts and self._place[one] < last:
                    predecessor[one] = number
                    queue.append(one)
        return predecessor

    def _owners(self, ops: Mask) -> list[int]:
        owner = self.owner
        return list(dict.fromkeys(owner[op] for op in members(ops)))


def in_order(structure: Structure, groups: Sequence[Mask]) -> list[Mask] | None:
    """Return groups in a topological order of their quotient graph, or None if this graph has a cycle.

    If several groups may be next, the group whose first op is earliest in the graph is next.
    """
    given = sorted(groups, key=lambda group: group & -group)
    quotient = QuotientGraph(structure, given)
    after = [quotient.after(number) for number in range(len(given))]
    waits = [0] * len(given)
    for ones in after:
        for one in ones:
            waits[one] += 1
    ready = [number for number, count in enumerate(waits) if not count]
    order = []
    while ready:
        number = heapq.heappop(ready)
        order.append(given[number])
        for one in after[number]:
            waits[one] -= 1
            if not waits[one]:
                heapq.heappush(ready, one)
    return order if len(order) == len(given) else None
