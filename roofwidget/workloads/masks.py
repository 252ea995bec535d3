"""Sets of ops as bit masks.

Ops are numbered from 0 in the graph's order. A set of ops is an int whose bit i is 1 if op i is in the set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import or_
from typing import Final, TypeAlias

import numpy as np

Mask: TypeAlias = int
"""A set of ops: bit i is 1 if op i is in the set."""

# In a larger set, numpy finds the ops faster than a loop over ints.
_MANY_BITS: Final = 256
_MANY_OPS: Final = 64


def members(group: Mask) -> Iterator[int]:
    """Yield the ops of a set in ascending order.

    Examples
    --------
    >>> list(members(0b1101))
    [0, 2, 3]
    """
    if group.bit_length() >= _MANY_BITS and group.bit_count() >= _MANY_OPS:
        octets = group.to_bytes(-(-group.bit_length() // 8), "little")
        bits = np.unpackbits(np.frombuffer(octets, dtype=np.uint8), bitorder="little")
        yield from np.flatnonzero(bits).tolist()
        return
    op = -1
    while group:
        # The shift makes the rest of a large int smaller, so that the next steps are faster.
        step = (group & -group).bit_length()
        op += step
        yield op
        group >>= step


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
    return reduce(or_, groups, 0)
