"""The rows of a trace that communicate: what they send, and how their time overlaps with other kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from roofwidget.analysis.network import algorithm_bandwidth, bus_bandwidth, bus_factor
from roofwidget.chips import NETWORK
from roofwidget.kernels.collectives import communicates
from roofwidget.kernels.columns import ASKED_PRECISION, MAIN_LEVEL, Bools, DictColumn, Floats, known_or
from roofwidget.kernels.communication import (
    ALGORITHM_BANDWIDTH,
    BUS_BANDWIDTH,
    GROUP,
    KIND,
    RANKS,
    SEQUENCE,
    SIZE,
    is_message,
    numbers_of,
    overlap_of,
    texts_of,
)
from roofwidget.kernels.metadata import Communication
from roofwidget.kernels.table import Kernels
from roofwidget.kernels.unknown_work import MISSING, PROPOSED
from roofwidget.readers.torch.events import Collected
from roofwidget.readers.torch.messages import Sent, World, sent_by, sent_by_call
from roofwidget.readers.torch.rows import Rows, WorkTable, dict_column, is_copy, with_words
from roofwidget.support.text_tables import counted
from roofwidget.units import format_percent

_CATEGORY: Final = "communication"
_DEEP_EP: Final = "deep_ep::"
_MICRO: Final = 1e-6
_LOCAL: Final = "what the rank puts in is read once, and what it gets out is written once"
_NO_FLOPS: Final = "a collective: its additions are not counted"


def measured_overlap(collected: Collected, wanted: Bools) -> Communication | None:
    """Return how the communication of a trace overlaps with its other kernels, or None without communication.

    Only the device rows of the mask `wanted`, shape (m,), count.
    """
    events = collected.device
    kept = wanted & ~is_copy(collected)
    sends = _communicating(collected)
    start, duration = events.start.floats() * _MICRO, events.duration.floats() * _MICRO
    return overlap_of(events.device.integers()[kept], start[kept], duration[kept], sends[kept])


def _communicating(collected: Collected) -> Bools:
    """Return whether each kernel communicates: by its name, or by the metadata of its event."""
    names = collected.device.name.integers()
    has_message: Bools = collected.messages.of_kernels(len(names)) >= 0
    return has_message | communicates(collected.names.values())[names] if len(names) else has_message


def with_collectives(
    calls: Kernels,
    collected: Collected,
    table: WorkTable,
    rows: Rows,
    *,
    kept: Bools,
    world: World,
    by_operation: bool,
) -> tuple[Kernels, list[str]]:
    """Return the calls with what their collectives send, and warnings.

    A collective does no FLOPs, reads and writes its message once, and sends `bus_factor` times the message over the
    link. With `by_operation`, its name is its kind.

    Parameters
    ----------
    calls
        The rows of the device as kernels, shape (n,).
    table
        The work of the calls. What a rule of the user says has precedence.
    rows
        The same rows as positions in the trace, shape (n,).
    kept
        Which kernels of the device count, shape (m,).
    """
    # Kernels of one row run for the same operation, so one of them stands for all.
    sends = communicates(rows.kernel_words)[rows.kernels] if len(rows) else np.zeros(0, dtype=np.bool_)
    given = calls.network_bytes
    sends |= _communicating(collected)[rows.device] | ~np.isnan(given)
    if not sends.any():
        return calls, []
    found = _Sending(collected, rows, world, sends)
    known = sends & ~np.isnan(found.size)
    sent = known_or(given, found.size * found.factor)
    has_flops = known & ~(rows.has_work & table.flops_by_user[rows.call])
    has_bytes = known & ~(rows.has_work & table.bytes_by_user[rows.call])
    levels = {level: np.where(has_bytes, np.nan, column) for level, column in calls.bytes_by_level.items()}
    levels[MAIN_LEVEL] = np.where(has_bytes, found.local, calls.bytes_by_level[MAIN_LEVEL])
    if not np.isnan(sent).all():
        levels[NETWORK] = sent
    flops = {key: np.where(has_flops, np.nan, column) for key, column in calls.flops_by_precision.items()}
    flops[ASKED_PRECISION] = np.where(has_flops, 0, calls.flops_by_precision[ASKED_PRECISION])
    texts = calls.codes
    rule = with_words(found.rule, [("link_bytes of a rule", ~np.isnan(given))])
    has_kind = found.kind.where(lambda kind: kind is not None)
    overlap = measured_overlap(collected, kept)
    listed = [name for name in (MISSING, PROPOSED) if name in calls.extra_columns]
    unknown_work = {name: with_words(texts(name), [(None, has_flops)]) for name in listed}
    changed = calls.replace(
        communication=overlap,
        names=_first(found.kind, texts("name"), has_kind & by_operation),
        flops=flops,
        bytes=levels,
        category=with_words(texts("category"), [(_CATEGORY, sends)]),
        origin={
            **calls.origin,
            "flops": with_words(texts("origin:flops"), [(_NO_FLOPS, has_flops)]),
            "bytes:main": with_words(texts("origin:bytes:main"), [(_LOCAL, has_bytes)]),
            **({f"bytes:{NETWORK}": with_words(rule, [(None, np.isnan(sent))])} if NETWORK in levels else {}),
        },
        extra={
            **calls.extra_columns,
            **unknown_work,
            "shape": _first(found.shape, texts("shape"), has_kind),
            "dtype": _first(found.dtype, texts("dtype"), has_kind),
            **({KIND: found.kind, SIZE: found.size, RANKS: found.ranks, GROUP: found.group} if has_kind.any() else {}),
            **({} if np.isnan(found.number).all() else {SEQUENCE: found.number}),
        },
    )
    return changed, [*([] if overlap is None else [str(overlap)]), *_warnings(changed, sends, sends & ~(sent >= 0))]


class _Sending:
    """What the rows that communicate send, as columns of shape (n,); unknown in all other rows."""

    def __init__(self, collected: Collected, rows: Rows, world: World, sends: Bools) -> None:
        messages, device = collected.messages, collected.device
        of_kernel = messages.of_kernels(len(device.start))[rows.device]
        # If several kernels of an operation are rows of their own, one of them has the message of the operation.
        # Calls that depend on a step have codes after those of the trace, and no message.
        n = max(len(collected.calls), int(rows.call.max(initial=-1)) + 1)
        of_call = np.where(rows.has_work, messages.of_calls(n)[rows.call], -1)
        message = np.where((of_kernel >= 0) & ((rows.members == 1) | (of_call < 0)), of_kernel, of_call)
        at = np.flatnonzero(sends)
        cases = np.stack([message[at], np.where(rows.has_work, rows.call, -1)[at], rows.kernels[at]])
        different, case = np.unique(cases, axis=1, return_inverse=True)
        every = messages.all()
        self._sent: list[Sent | None] = [
            sent_by(every[code], world)
            if code >= 0
            else sent_by_call(collected.calls[call], rows.kernel_words[kernel], world)
            if 0 <= call < len(collected.calls)
            else None
            for code, call, kernel in different.T.tolist()
        ]
        self._sent.append(None)
        self._case = np.full(len(rows), len(self._sent) - 1)
        self._case[at] = case.ravel()
        groups = {one.group for one in self._sent if one is not None and one.group}
        self.kind = self._words(lambda one: one.kind)
        kinds = [None if one is None else one.kind for one in self._sent]
        ranks = [np.nan if one is None or one.ranks is None else one.ranks for one in self._sent]
        self.factor = bus_factor(kinds, ranks)[self._case]
        self.size = self._numbers(lambda one: one.size)
        self.local = self._numbers(lambda one: one.local)
        self.ranks = self._numbers(lambda one: one.ranks)
        self.group = self._words(lambda one: one.group)
        self.shape = self._words(lambda one: one.shape(with_group=len(groups) > 1))
        self.dtype = self._words(lambda one: one.dtype)
        self.rule = self._words(lambda one: one.rule)
        self.number = np.where(sends, messages.numbers(rows.device), np.nan)

    def _numbers(self, of: Callable[[Sent], float | None]) -> Floats:
        numbers = [None if one is None else of(one) for one in self._sent]
        found: Floats = np.array([np.nan if number is None else number for number in numbers])[self._case]
        return found

    def _words(self, of: Callable[[Sent], str | None]) -> DictColumn:
        return dict_column([(None if one is None else of(one)) or None for one in self._sent], self._case)


def _first(column: DictColumn, other: DictColumn, rows: Bools) -> DictColumn:
    """Return the texts of the first column in some rows, and those of the other column in the others."""
    codes = np.where(rows, column.codes, other.codes + len(column.values))
    return dict_column([*column.values, *other.values], codes)


def _warnings(calls: Kernels, sends: Bools, unknown: Bools) -> list[str]:
    """Return a warning if the bytes over the link of some collectives are unknown."""
    if not unknown.any():
        return []
    names = calls.codes("name")
    of_deep_ep = unknown & names.where(lambda name: _DEEP_EP in (name or ""))
    why = (
        "; DeepEP writes no sizes into a trace, because they depend on the tokens of each expert: give the bytes that "
        "a rank sends as bytes under 'network' with Kernels.with_work"
        if of_deep_ep.any()
        else "; PyTorch writes sizes from version 2.3 on, for NCCL and RCCL"
    )
    time = calls.time[unknown].sum() / max(calls.time[sends].sum(), np.finfo(float).tiny)
    what = counted(int(unknown.sum()), "collective")
    return [f"bytes over the link are unknown for {what}, {format_percent(time)} of the time of communication{why}"]


def with_bandwidths(kernels: Kernels) -> Kernels:
    """Return summed rows with two more columns for collectives: algorithm bandwidth and bus bandwidth, bytes/s."""
    if not is_message(kernels).any():
        return kernels
    kind, each = texts_of(kernels, KIND).texts().tolist(), kernels.time / kernels.count
    size, ranks = numbers_of(kernels, SIZE), numbers_of(kernels, RANKS)
    rates = {
        ALGORITHM_BANDWIDTH: algorithm_bandwidth(size, each),
        BUS_BANDWIDTH: bus_bandwidth(kind, size, ranks, each),
    }
    return kernels.replace(extra={**kernels.extra_columns, **rates})
