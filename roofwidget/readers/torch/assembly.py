"""Turn rows of a trace into `Kernels`: names, work, seconds, and where each number comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from roofwidget.chips import NETWORK, Chip
from roofwidget.chips.catalogue import fitting_chips
from roofwidget.kernels.columns import MAIN_LEVEL, Bools, DictColumn, Floats
from roofwidget.kernels.metadata import Activity
from roofwidget.kernels.table import Kernels
from roofwidget.kernels.unknown_work import ARGUMENTS, MISSING, PROPOSED
from roofwidget.readers.copies import ACROSS, WITHIN
from roofwidget.readers.devices import one_chip_of
from roofwidget.readers.input.documents import list_at
from roofwidget.readers.torch.captures import BY_ORDER, CAPTURED
from roofwidget.readers.torch.events import NONE, Collected
from roofwidget.readers.torch.phases import Phases
from roofwidget.readers.torch.proposals import missing_for_kernel, proposed_for_kernel
from roofwidget.readers.torch.rows import Owners, Rows, WorkTable, dict_column, is_copy, with_words
from roofwidget.support.arrays import Integers
from roofwidget.support.did_you_mean import listed
from roofwidget.units import format_quantity

# -- idle time -----------------------------------------------------------------------------------------------------

IDLE: Final = "idle"
_NAME: Final = "idle or not profiled"
_ORIGIN: Final = "first event of the device to its last, less the union of their durations over all streams"
_MICRO: Final = 1e-6
# FLOP/s that no device reaches.
_MAX_PROPOSED_RATE: Final = 1e16
# Gaps below this share of the span come from rounded times and are not idle time.
_ROUNDING: Final = 1e-6
_OVERLAP_TOLERANCE: Final = 1e-3


@dataclass(frozen=True, eq=False)
class Spans:
    """The spans of the devices, from the first kept event of each device to its last, in seconds.

    Parameters
    ----------
    device
        Device numbers, -1 if unknown, shape (d,).
    span, idle, added
        Seconds, shape (d,): the length of each span, its idle time, and the sum of all durations in it.
    gap, gap_start
        Seconds, shape (d,): the longest idle time in one piece, and how long after the begin of the span it begins.
    """

    device: Integers
    span: Floats
    idle: Floats
    added: Floats
    gap: Floats
    gap_start: Floats

    @classmethod
    def of(cls, collected: Collected, kept: Bools) -> Spans:
        """Return the spans of the kept rows on the device, shape (m,).

        A device is not idle between a row that is left out and the next row: that time belongs to neither.
        """
        events = collected.device
        start, duration, number = events.start.floats(), events.duration.floats(), events.device.integers()
        order = np.lexsort((start, number))
        found = []
        for every in np.split(order, np.flatnonzero(np.diff(number[order])) + 1):
            gaps, _ = _gaps(start[every], duration[every])
            gaps = np.where(kept[every][1:] & kept[every][:-1], gaps, 0)
            rows = every[kept[every]]
            if len(rows):
                between, reached = _gaps(start[rows], duration[rows])
                idle, longest = gaps.sum(), int(np.append(gaps, 0).argmax())
                gap = gaps[longest] if idle else 0.0
                begin = start[every[longest + 1]] - start[rows[0]] - gap if idle else 0.0
                span = reached - between.sum() + idle
                found.append((number[rows[0]], span, idle, duration[rows].sum(), gap, begin))
        devices, *seconds = zip(*found, strict=True)
        span, idle, added, gap, begin = (np.array(column, dtype=np.float64) * _MICRO for column in seconds)
        is_idle = idle > _ROUNDING * span
        idle, gap, begin = (np.where(is_idle, column, 0) for column in (idle, gap, begin))
        return cls(np.array(devices), span, idle, added, gap, begin)

    def activity(self) -> Activity:
        """Return how long the devices were busy and idle together."""
        longest = int(self.gap.argmax())
        busy, idle, added = (float(column.sum()) for column in (self.span - self.idle, self.idle, self.added))
        return Activity(busy, idle, added, float(self.gap[longest]), float(self.gap_start[longest]))

    def overlap(self) -> list[str]:
        """Return a warning if kernels overlap."""
        added, busy = float(self.added.sum()), float((self.span - self.idle).sum())
        if added <= (1 + _OVERLAP_TOLERANCE) * busy:
            return []
        return [f"kernels overlap: their times add up to {added / busy:.1%} of the time in which devices were busy"]


def _gaps(start: Floats, duration: Floats) -> tuple[Floats, float]:
    """Return the gaps before all events but the first, in the order of start, and the span of all events."""
    begin = start - start[0]
    reached = np.maximum.accumulate(begin + duration)
    return np.maximum(begin[1:] - reached[:-1], 0), float(reached[-1])


def with_idle(calls: Kernels, spans: Spans) -> Kernels:
    """Return the calls with one more row per device that was idle, and how long the devices were busy and idle."""
    is_idle = spans.idle > 0
    nothing = np.full(int(is_idle.sum()), np.nan)
    device = np.where(spans.device >= 0, spans.device, np.nan)[is_idle]

    def longer(column: DictColumn, word: str | None = None) -> DictColumn:
        words = column.values if word in column.values else (*column.values, word)
        codes = np.full(len(nothing), words.index(word), dtype=np.int32)
        return DictColumn(words, np.append(column.codes, codes))

    def unknown(column: Floats) -> Floats:
        return np.append(column, nothing)

    return calls.replace(
        names=[*calls.names, *[_NAME] * len(nothing)],
        flops={key: unknown(column) for key, column in calls.flops_by_precision.items()},
        bytes={level: unknown(column) for level, column in calls.bytes_by_level.items()},
        time=np.append(calls.time, spans.idle[is_idle]),
        precision=longer(calls.codes("precision")),
        category=longer(calls.codes("category"), IDLE),
        count=np.append(calls.count, np.ones(len(nothing))),
        self_time=np.append(calls.self_time, spans.idle[is_idle]) if calls.has_self_time else None,
        activity=spans.activity(),
        intensity=unknown(calls.intensity),
        rate=unknown(calls.rate),
        origin={key: longer(calls.codes(f"origin:{key}"), _ORIGIN if key == "time" else None) for key in calls.origin},
        extra={
            key: longer(column)
            if isinstance(column, DictColumn)
            else np.append(column, device if key == "device" else nothing)
            for key, column in calls.extra_columns.items()
        },
    )


# -- kernels -------------------------------------------------------------------------------------------------------

_MAX_NAMED: Final = 5
_MAX_NUMBER: Final = 1e18
# Names of kernels that multiply fp32 operands in tf32: for fp32 operands, only tf32 uses the shape s1688.
_TF32: Final = ("tf32", "s1688gemm")

NO_SHAPES: Final = "no shapes in this profile, so FLOPs and bytes are unknown: profile with record_shapes=True"


@dataclass(frozen=True, eq=False)
class _RowAmounts:
    """FLOPs and bytes of rows, shape (n,), and whether they come from the trace itself.

    Parameters
    ----------
    flops, bytes
        NaN where unknown.
    across
        Masks by level (the name of a link): true where the bytes cross this link. Other bytes belong to the main
        memory.
    vector
        Whether the FLOPs are vector work, not matrix products.
    event_flops, event_bytes
        Whether the number is in the trace's event, and not from a formula.
    copies
        Whether the row is a copy or a fill.
    link
        Bytes over a link to other devices by a rule of a person, NaN if there are none.
    """

    flops: Floats
    bytes: Floats
    across: Mapping[str, Bools]
    vector: Bools
    event_flops: Bools
    event_bytes: Bools
    copies: Bools
    link: Floats

    @classmethod
    def on_device(cls, collected: Collected, table: WorkTable, rows: Rows) -> _RowAmounts:
        events = rows.device
        copies, alone = is_copy(collected)[events], rows.members == 1
        flops, moved = collected.device.flops.floats()[events], collected.device.bytes.floats()[events]
        across = {level: copies & _has_name(collected, way)[events] for level, way in ACROSS.items()}
        is_across = np.any(list(across.values()), axis=0)
        moved *= np.where(copies & ~is_across & _has_name(collected, WITHIN)[events], 2, 1)
        event_flops = alone & ~copies & ~np.isnan(flops) & ~table.flops_by_user[rows.call]
        event_bytes = alone & ~np.isnan(moved) & ~(table.bytes_by_user[rows.call] & ~copies)
        counted = rows.has_work & ~copies
        formula = np.where(copies, 0, np.where(counted, table.flops[rows.call] * rows.share, np.nan))
        return cls(
            np.where(event_flops, flops, formula),
            np.where(event_bytes, moved, np.where(counted, table.bytes[rows.call] * rows.share, np.nan)),
            {level: where for level, where in across.items() if where.any()},
            table.is_vector[rows.call] & ~event_flops & ~copies,
            event_flops,
            event_bytes,
            copies,
            np.where(counted, table.link_bytes[rows.call] * rows.share, np.nan),
        )

    @classmethod
    def on_host(cls, table: WorkTable, rows: Rows) -> _RowAmounts:
        none = np.zeros(len(rows), dtype=np.bool_)
        call = rows.call
        link = np.full(len(rows), np.nan)
        return cls(table.flops[call], table.bytes[call], {}, table.is_vector[call], none, none, none, link)

    def flops_by_class(self) -> dict[str, Floats]:
        if not self.vector.any():
            return {"": self.flops}
        return {"": np.where(self.vector, np.nan, self.flops), "vector": np.where(self.vector, self.flops, np.nan)}

    def bytes_by_level(self) -> dict[str, Floats]:
        return {
            MAIN_LEVEL: np.where(self._is_across, np.nan, self.bytes),
            **{level: np.where(where, self.bytes, np.nan) for level, where in self.across.items()},
            **({} if np.isnan(self.link).all() else {NETWORK: self.link}),
        }

    @property
    def _is_across(self) -> Bools:
        where: Bools = np.logical_or.reduce([np.zeros_like(self.copies), *self.across.values()])
        return where

    def origin(self, table: WorkTable, rows: Rows) -> dict[str, Any]:
        why_flops = [
            ("kernel_flop of the kernel's event", self.event_flops),
            ("a copy computes nothing", self.copies),
            (None, np.isnan(self.flops) & ~rows.has_work),
        ]
        why_bytes = [
            ("kernel_num_gb of the kernel's event x 1e9", self.event_bytes & ~self.copies),
            ("bytes of the copy's event, twice within one device", self.event_bytes & self.copies),
            (None, np.isnan(self.bytes) & ~rows.has_work | self._is_across),
        ]
        rule = "bytes of the copy's event, which cross a link"
        return {
            "flops": with_words(table.flops_rule[rows.call], why_flops),
            "bytes:main": with_words(table.bytes_rule[rows.call], why_bytes),
            **{
                f"bytes:{level}": dict_column([None, rule], where.astype(np.int32))
                for level, where in self.across.items()
            },
        }


def device_kernels(
    collected: Collected, table: WorkTable, rows: Rows, owners: Owners, phases: Phases, *, by_operation: bool
) -> Kernels:
    """Return the rows of the device as kernels.

    With `by_operation`, a row has the name of its operation. A row without an operation has the name of its kernel.
    """
    work = _RowAmounts.on_device(collected, table, rows)
    kernel = dict_column(rows.kernel_words, rows.kernels)
    operation = table.name[rows.call]
    name = _first_known(operation, kernel) if by_operation else kernel
    other = {"kernel": kernel} if by_operation else {"operation": operation}
    return Kernels(
        name.texts(),
        work.flops_by_class(),
        work.bytes_by_level(),
        time=rows.time * _MICRO,
        precision=_with_tf32(table.precision[rows.call], kernel),
        category=with_words(table.category[rows.call], [("copy", work.copies)]),
        origin=_with_source(_with_share(work.origin(table, rows), rows.share < 1), owners, rows)
        | {"time": "dur of the kernels' events" if by_operation else "dur of the kernel's event"},
        extra={
            "shape": table.shape[rows.call],
            "dtype": table.dtype[rows.call],
            **other,
            **_unknown_work(table, rows, work, kernel),
            **_launch_resources(collected, rows),
            **_without_empty({"phase": phases.column[rows.device], "iteration": phases.iteration[rows.device]}),
        },
    )


def host_kernels(table: WorkTable, rows: Rows) -> Kernels:
    """Return the rows of the host as kernels."""
    work = _RowAmounts.on_host(table, rows)
    return Kernels(
        table.name[rows.call].texts(),
        work.flops_by_class(),
        work.bytes_by_level(),
        time=rows.time * _MICRO,
        self_time=rows.self_time * _MICRO,
        precision=table.precision[rows.call],
        category=table.category[rows.call],
        origin=work.origin(table, rows) | {"time": "dur of the operation's event, what it calls included"},
        extra={
            "shape": table.shape[rows.call],
            "dtype": table.dtype[rows.call],
            **_unknown_work(table, rows, work, dict_column([None], np.zeros(len(rows), dtype=np.int32))),
        },
    )


def chip_of(collected: Collected, properties: Mapping[str, Any]) -> tuple[Chip | None, tuple[str, ...], list[str]]:
    """Return the chip that the kernels ran on (None if the catalogue lacks it), chips that fit, and warnings.

    If the devices that a trace lists are alike, chips with such a memory and as many units fit. The first warning names
    them.
    """
    chip, about = _named_chip(collected, properties)
    entries = [entry for entry in list_at(properties, "deviceProperties") if isinstance(entry, dict)]
    alike = {(_number(entry.get("totalGlobalMem")), _number(entry.get("numSms"))) for entry in entries}
    memory, units = alike.pop() if len(alike) == 1 else (None, None)
    if chip is not None or not about or memory is None or units is None:
        return chip, (), about
    found = tuple(fitting_chips(memory, units))
    have = f"; a memory of {format_quantity(memory, 'B')} and {units:g} units are those of"
    return None, found, [f"{about[0]}{have} {listed(found)}", *about[1:]] if found else about


def _number(given: object) -> float | None:
    return float(given) if isinstance(given, int) and not isinstance(given, bool) and 0 < given < _MAX_NUMBER else None


def _named_chip(collected: Collected, properties: Mapping[str, Any]) -> tuple[Chip | None, list[str]]:
    entries = [entry for entry in list_at(properties, "deviceProperties") if isinstance(entry, dict)]
    known = {entry["id"]: entry for entry in entries if isinstance(entry.get("id"), int) and entry.get("name")}
    used = set(collected.device.device.integers().tolist())
    # If the events have no device numbers, any device of the list may have run the kernels.
    ran_on = known if used == {NONE} else {number: known[number] for number in used if number in known}
    names = sorted({str(entry["name"]) for entry in ran_on.values()})
    every = {str(entry["name"]) for entry in known.values()}
    if not ran_on and len(every) == 1 and all(name.startswith("AMD") for name in every):
        # AMD numbers the agents of the system, CPUs first. If all devices have one name, the number does not matter.
        ran_on, names = known, sorted(every)
    elif len(names) <= 1 and (missing := sorted(used - known.keys() - {NONE})):
        which = f"device {', '.join(map(str, missing[:_MAX_NAMED]))}" if known else "the device"
        return None, [f"the trace does not name {which}, on which kernels ran: choose a chip to see a roof"]
    if not names:
        return None, ["the trace does not name the device: choose a chip to see a roof"]
    units = [_number(entry.get("numSms")) for entry in ran_on.values()]
    return one_chip_of(names, min((count for count in units if count is not None), default=None))


def work_warnings(kernels: Kernels, *, shapes: bool) -> list[str]:
    """Return the warnings about unknown work and about bytes that were not measured."""
    if not shapes:
        return [NO_SHAPES]
    messages = ["bytes are compulsory bytes from shapes, each operand once; memory traffic was not measured"]
    unknown = np.isnan(kernels.flops)
    if unknown.any():
        time = np.bincount(kernels.codes("name").codes[unknown], kernels.self_time[unknown])
        most = np.argsort(-time, kind="stable")[: min(_MAX_NAMED, int((time > 0).sum()))]
        names = listed(_cut(str(kernels.codes("name").values[code])) for code in most)
        share = time.sum() / max(kernels.self_time.sum(), np.finfo(float).tiny)
        messages.append(f"FLOPs are unknown for {share:.1%} of the time, most of it in {names}")
    return messages


def attribution_warnings(calls: Kernels, rows: Rows, collected: Collected, owners: Owners) -> list[str]:
    """Return warnings about kernels without operation, and about the work of operations with several kernels."""
    copies = is_copy(collected)[rows.device]
    # Another warning is about kernels of graphs.
    alone = (rows.call < 0) & ~copies & ~owners.is_replay[rows.device]
    messages = []
    if alone.any():
        share = calls.time[alone].sum() / max(calls.time[~copies].sum(), np.finfo(float).tiny)
        messages.append(
            f"kernels without operation in the trace: {int(alone.sum()):,}, {share:.1%} of all kernels' time"
        )
    if not rows.has_work.all() and collected.shapes:
        messages.append(
            "the longest kernel of each operation gets its FLOPs and bytes; those of its other kernels are unknown"
        )
    return messages


def without_launches(rows: Kernels, calls: int) -> Kernels:
    """Return the summed rows without the list of their single calls, which would need too much memory."""
    warning = f"the {calls:,} calls are too many to keep one by one"
    return rows.replace(launches=None, warnings=[*rows.warnings, warning])


def _has_name(collected: Collected, pattern: re.Pattern[str]) -> Bools:
    """Return a mask of device rows, shape (m,): true where the pattern matches the name."""
    found = np.array([pattern.search(name) is not None for name in collected.names.values()], dtype=np.bool_)
    return found[collected.device.name.integers()]


def _cut(name: str) -> str:
    return name if len(name) <= 60 else f"{name[:57]}..."  # noqa: PLR2004 - a part of a message


def _first_known(first: DictColumn, other: DictColumn) -> DictColumn:
    """Return the first column. A missing text is replaced by the other column's text in the same row."""
    unknown = np.array([word is None for word in first.values])[first.codes]
    codes = np.where(unknown, other.codes + len(first.values), first.codes)
    return dict_column([*first.values, *other.values], codes)


def _with_tf32(precision: DictColumn, kernel: DictColumn) -> DictColumn:
    """Replace fp32 by tf32 if the kernel's name shows that tensor cores multiplied."""
    named = np.array([any(mark in (word or "") for mark in _TF32) for word in kernel.values])[kernel.codes]
    is_fp32 = np.array([word == "fp32" for word in precision.values])[precision.codes]
    return dict_column([*precision.values, "tf32"], np.where(named & is_fp32, len(precision.values), precision.codes))


def _with_share(origins: Mapping[str, DictColumn], shares: Bools) -> Mapping[str, DictColumn]:
    """Return the origins. Where kernels share the work of their operation, the text says so."""
    return _with_ends(origins, "a share of it by the time of the kernel", shares) if shares.any() else origins


def _with_source(origins: Mapping[str, DictColumn], owners: Owners, rows: Rows) -> dict[str, Any]:
    """Return the origins. Where the operation comes from the capture of a graph, the text says so."""
    tied, named = owners.from_capture[rows.device], owners.is_named[rows.device]
    for end, where in ((CAPTURED, tied & named), (BY_ORDER, tied & ~named)):
        origins = _with_ends(origins, end, where) if where.any() else origins
    return dict(origins)


def _with_ends(origins: Mapping[str, DictColumn], end: str, where: Bools) -> dict[str, DictColumn]:
    """Return the origins with an end after each text in the rows of a mask."""
    found = {}
    for key, column in origins.items():
        n = len(column.values)
        longer = [word and f"{word}; {end}" for word in column.values]
        found[key] = dict_column([*column.values, *longer], np.where(where, column.codes + n, column.codes))
    return found


def _unknown_work(table: WorkTable, rows: Rows, work: _RowAmounts, kernel: DictColumn) -> dict[str, DictColumn]:
    """Return what is missing to know the FLOPs of each row, and a proposed rule; nothing if all are known."""
    without_call = rows.call < 0
    hidden = ~np.isnan(work.flops) | ~rows.has_work
    is_open = set(np.unique(kernel.codes[without_call & ~hidden]).tolist())
    too_fast = table.proposed_flops[rows.call] > _MAX_PROPOSED_RATE * rows.time * _MICRO
    columns = {}
    for column, of_call, of_kernel, without in (
        (MISSING, table.missing, missing_for_kernel, hidden),
        (PROPOSED, table.proposal, proposed_for_kernel, hidden | too_fast),
    ):
        words = [of_kernel(name) if name and code in is_open else None for code, name in enumerate(kernel.values)]
        calls = of_call[rows.call]
        both = np.where(without_call, kernel.codes + len(calls.values), calls.codes)
        found = with_words(dict_column([*calls.values, *words], both), [(None, without)])
        if not _is_empty(found):
            columns[column] = found
    is_known = ~np.isnan(work.flops) & ~np.isnan(work.bytes)
    arguments = with_words(table.arguments[rows.call], [(None, is_known | ~rows.has_work | (rows.share < 1))])
    return columns if _is_empty(arguments) else {**columns, ARGUMENTS: arguments}


def _launch_resources(collected: Collected, rows: Rows) -> dict[str, Any]:
    """Return the resources of each row's launch. For a row of several kernels they are unknown."""
    given = collected.resources()
    code: Integers = collected.device.resources.integers()[rows.device]
    device = collected.device.device.integers()[rows.device]
    alone = rows.members == 1

    def numbers(values: list[float]) -> Floats:
        return np.where(alone, np.array(values)[code], np.nan)

    def words(values: list[str]) -> DictColumn:
        return dict_column([*(value or None for value in values), None], np.where(alone, code, len(values)))

    columns: dict[str, Any] = {
        "grid": words([each.grid for each in given]),
        "block": words([each.block for each in given]),
        "registers per thread": numbers([each.registers for each in given]),
        "shared memory (B)": numbers([each.shared_memory for each in given]),
        "occupancy (%)": numbers([each.occupancy for each in given]),
        "kernels per call": rows.members.astype(np.float64),
        "device": np.where(device >= 0, device, np.nan),
    }
    return _without_empty(columns)


def _without_empty(columns: Mapping[str, DictColumn | Floats]) -> dict[str, Any]:
    return {name: column for name, column in columns.items() if not _is_empty(column)}


def _is_empty(column: DictColumn | Floats) -> bool:
    if isinstance(column, DictColumn):
        return all(column.values[code] is None for code in np.unique(column.codes).tolist())
    return bool(np.isnan(column).all())
