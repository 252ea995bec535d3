"""Rows of a trace: what ran on the device for one call of an operation, one launch, or a call on the host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from roofwidget.kernels.columns import Floats
from roofwidget.readers.torch.events import NONE, Codes, Collected, Integers, Mask
from roofwidget.readers.torch.joins import Nest, launching
from roofwidget.readers.torch.work_table import WorkTable

__all__ = ["Rows", "host_rows", "is_copy", "launch_rows", "operation_rows"]

_COPIES: Final = ("gpu_memcpy", "gpu_memset")


@dataclass
class Rows:
    """Rows and where they come from; a code or a place of -1 means none.

    Parameters
    ----------
    call
        Code of the call whose work it is, shape (n,).
    time, self_time
        Microseconds, shape (n,).
    carries
        Whether the call's work counts here, shape (n,).
    device
        A row of the device's that stands for it, shape (n,).
    kernels
        The kernels that ran for it, as a code into `kernel_words`, shape (n,).
    kernel_words
        Names of kernels, several joined by `` + ``.
    members
        How many kernels ran for it, shape (n,).
    """

    call: Integers
    time: Floats
    self_time: Floats
    carries: Mask
    device: Integers
    kernels: Integers
    kernel_words: Sequence[str]
    members: Integers

    def __len__(self) -> int:
        return len(self.call)


def is_copy(kept: Collected) -> Mask:
    """Tell which rows on the device are copies and fills, which know their own bytes, shape (m,)."""
    of_category = np.array([word in _COPIES for word in kept.categories.values()], dtype=np.bool_)
    return of_category[kept.device.category.integers()]


def roots(nest: Nest, has_work: Mask) -> Integers:
    """Return for each operation the outermost one around it, or itself, whose work is known; -1 without one.

    What runs within an operation of known work, such as the transposition before a convolution, is a part of it: its
    work is not counted again.
    """
    found = np.full(len(nest.parent), NONE)
    for level in nest.levels():
        above = nest.parent[level]
        outer = np.where(above >= 0, found[above], NONE)
        found[level] = np.where(outer >= 0, outer, np.where(has_work[level], level, NONE))
    return found


def _owners(kept: Collected, table: WorkTable) -> tuple[Integers, Integers]:
    """Return for each row on the device the operation that it belongs to, or -1, and each operation's call."""
    operations = kept.operations
    nest = Nest(operations.thread.integers(), operations.start.floats(), operations.duration.floats())
    call = operations.call.integers()
    launcher = np.where(is_copy(kept), NONE, launching(kept, nest))
    if not len(call):
        return launcher, call
    root = roots(nest, table.has_work[call])
    return np.where((launcher >= 0) & (root[launcher] >= 0), root[launcher], launcher), call


def launch_rows(kept: Collected, table: WorkTable) -> Rows:
    """Return a row for each launch; the longest kernel of an operation carries its work."""
    owner, call = _owners(kept, table)
    n, time = len(owner), kept.device.duration.floats()
    order = np.lexsort((-time, owner))
    longest = np.ones(n, dtype=np.bool_)
    longest[order[1:]] = (owner[order[1:]] != owner[order[:-1]]) | (owner[order[1:]] < 0)
    rows = np.argsort(kept.device.start.floats(), kind="stable")
    return Rows(
        _picked(call, owner)[rows],
        time[rows],
        time[rows],
        longest[rows],
        rows,
        kept.device.name.integers()[rows],
        kept.names.values(),
        np.ones(n, dtype=np.int64),
    )


def operation_rows(kept: Collected, table: WorkTable) -> Rows:
    """Return a row for each call of an operation that ran something on the device, and for each launch without one."""
    owner, call = _owners(kept, table)
    time, name = kept.device.duration.floats(), kept.device.name.integers()
    # Launches of no operation are numbered after all operations.
    key = np.where(owner >= 0, owner, len(call) + np.arange(len(owner)))
    _, first, group, members = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    names = kept.names.values()
    words: Codes[str] = Codes()
    for word in names:
        words(word)
    kernels = name[first]
    order = np.lexsort((kept.device.start.floats(), group))
    begins = np.searchsorted(group[order], np.arange(len(first)))
    for row in np.flatnonzero(members > 1):
        ran = dict.fromkeys(name[order[begins[row] : begins[row] + members[row]]].tolist())
        kernels[row] = words(" + ".join(names[code] for code in ran))
    total: Floats = np.bincount(group, time, len(first)).astype(np.float64)
    carries = np.ones(len(first), dtype=np.bool_)
    # In the order in which they began, for people who read the launches one by one.
    rows = np.argsort(kept.device.start.floats()[first], kind="stable")
    return Rows(
        _picked(call, owner[first])[rows],
        total[rows],
        total[rows],
        carries,
        first[rows],
        kernels[rows],
        words.values(),
        members[rows],
    )


def host_rows(kept: Collected, table: WorkTable) -> Rows:
    """Return a row for each call on the host, without those within an operation of known work."""
    operations = kept.operations
    time = operations.duration.floats()
    nest = Nest(operations.thread.integers(), operations.start.floats(), time)
    call = operations.call.integers()
    root = roots(nest, table.has_work[call])
    inner = nest.parent >= 0
    within = np.bincount(nest.parent[inner], time[inner], len(call))
    own = np.where(root >= 0, time, np.maximum(time - within, 0))
    rows = np.flatnonzero((root < 0) | (root == np.arange(len(root))))
    none = np.full(len(rows), NONE)
    return Rows(call[rows], time[rows], own[rows], np.ones(len(rows), np.bool_), none, none, (), none)


def _picked(call: Integers, owner: Integers) -> Integers:
    return np.where(owner >= 0, call[owner], NONE) if len(call) else np.full(len(owner), NONE)
