"""The quotient graph of a partition: its groups in an order in which they can run, which merges preserve."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Sequence

from roofwidget.workloads.masks import Mask, members, union
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
    """

    def __init__(self, structure: Structure, groups: Iterable[Mask]) -> None:
        self.structure = structure
        self.groups: dict[int, Mask] = dict(enumerate(groups))
        # The ops outside a group that read its tensors, that write tensors it reads, and that touch one of its tensors.
        self._out: dict[int, Mask] = {}
        self._in: dict[int, Mask] = {}
        self._near: dict[int, Mask] = {}
        # Each op has a label, and each label belongs to a group. After a merge, only the ops of the smaller groups
        # get a new label.
        self._label = [0] * len(structure.ops)
        self._label_of: dict[int, int] = {}
        self._owner: list[int] = list(self.groups)
        # The number of the group at each place of the order; None for an empty place. A merge leaves places empty, so
        # that later groups keep their places.
        self._places: list[int | None] = list(self.groups)
        self._place = {number: number for number in self.groups}
        self._next = len(self.groups)
        for number, group in self.groups.items():
            ops = list(members(group))
            self._out[number] = union(structure.feeds[op] for op in ops) & ~group
            self._in[number] = union(structure.needs[op] for op in ops) & ~group
            self._near[number] = union(structure.near[op] for op in ops) & ~group
            self._label_of[number] = number
            for op in ops:
                self._label[op] = number

    def owner(self, op: int) -> int:
        """Return the number of the group of an op."""
        return self._owner[self._label[op]]

    def after(self, number: int) -> list[int]:
        """Return the groups that read a group's tensors, sorted by first op."""
        return self._owners(self._out[number])

    def before(self, number: int) -> list[int]:
        """Return the groups whose tensors a group reads, sorted by first op."""
        return self._owners(self._in[number])

    def near(self, number: int) -> list[int]:
        """Return the other groups that share a tensor with a group, sorted by first op."""
        return self._owners(self._near[number])

    def beside(self, number: int) -> list[int]:
        """Return groups that share a tensor with a convex group, without most of those that it cannot be merged with.

        An op that depends on another op that reads the group's tensors has that op between itself and the group. A
        convex union has no such op, or it also has the op between, which is then the op that counts.
        """
        s = self.structure
        far = union(s.after[op] for op in members(self._out[number]))
        far |= union(s.before[op] for op in members(self._in[number]))
        return self._owners(self._near[number] & ~far)

    def union(self, parts: Iterable[int]) -> Mask:
        """Return the union of groups."""
        return union(self.groups[number] for number in parts)

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
        group, number = self.union(parts), self._next
        self._next += 1
        self._put(number, parts, self._reached(parts))
        for masks in (self._out, self._in, self._near):
            masks[number] = union(masks.pop(part) for part in parts) & ~group
        largest, *smaller = sorted(parts, key=lambda part: self.groups[part].bit_count(), reverse=True)
        label = self._label_of[number] = self._label_of[largest]
        for part in smaller:
            for op in members(self.groups[part]):
                self._label[op] = label
        self._owner[label] = number
        for part in parts:
            del self.groups[part], self._place[part], self._label_of[part]
        self.groups[number] = group
        return number

    def _put(self, number: int, parts: Collection[int], reached: Collection[int]) -> None:
        """Put a merged group in the order: after the groups between its parts, but before the groups in `reached`."""
        places = [self._place[part] for part in parts]
        if not reached:
            for place in places:
                self._places[place] = None
            self._places[max(places)] = number
            self._place[number] = max(places)
            return
        window = self._places[min(places) : max(places) + 1]
        rest = [one for one in window if one is not None and one not in parts]
        early, late = [one for one in rest if one not in reached], [one for one in rest if one in reached]
        order: list[int | None] = [*early, number, *late]
        order += [None] * (len(window) - len(order))
        for place, one in enumerate(order, min(places)):
            self._places[place] = one
            if one is not None:
                self._place[one] = place

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
        label, owner = self._label, self._owner
        return list(dict.fromkeys(owner[label[op]] for op in members(ops)))


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
