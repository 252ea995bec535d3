"""Sets of ops as bit masks.

Ops are numbered from 0 in the graph's order. A set of ops is an int whose bit i is 1 if op i is in the set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

Mask: TypeAlias = int
"""A set of ops: bit i is 1 if op i is in the set."""


def members(group: Mask) -> Iterator[int]:
    """Yield the ops of a set in ascending order.

    Examples
    --------
    >>> list(members(0b1101))
    [0, 2, 3]
    """
    while group:
        lowest = group & -group
        yield lowest.bit_length() - 1
        group ^= lowest


def flood(start: Mask, links: Sequence[Mask], within: Mask) -> Mask:
    """Return the ops that can be reached from `start` along `links` without leaving `within`."""
    found = fresh = start
    while fresh:
        reached = 0
        for op in members(fresh):
            reached |= links[op]
        fresh = reached & within & ~found
        found |= fresh
    return found


def union(groups: Iterable[Mask]) -> Mask:
    """Return the union of sets."""
    found = 0
    for group in groups:
        found |= group
    return found
