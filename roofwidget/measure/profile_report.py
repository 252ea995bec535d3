"""The text of a `Profile`: its one line, its HTML table, and its summary on a chip."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from roofwidget.analysis import bound_report
from roofwidget.analysis.result import Bound
from roofwidget.chips import FLOP_CLASSES, Chip, MissingFigureError, Source
from roofwidget.kernels.operations import operations_of
from roofwidget.kernels.table import Kernels
from roofwidget.measure.hardware_peaks import remarks_that_matter
from roofwidget.support.precisions import operation
from roofwidget.support.text_tables import (
    aligned,
    and_more,
    counted,
    first_few,
    html_table,
    html_with_notes,
    one_line,
)
from roofwidget.units import format_intensity, format_percent, format_quantity

if TYPE_CHECKING:
    from roofwidget.measure.profile import Profile

_MAX_TABLE_ROWS: Final = 20
_MAX_WARNINGS: Final = 10
_ROWS_ARE: Final = {"op": "operation", "module": "module", "fusion": "fusion"}
_RUNS: Final = "runs"
_HEADER: Final = ("time", _RUNS, "FLOPs", "bytes", "AI", "achieved")
_OF_TIME: Final = ("time", "achieved", "of roof")
"""The columns that need the times of rows."""
_ALONE: Final = 0.95
"""A resource that binds at least this share of the bound time is named alone."""
_MAX_FUSED: Final = 0.95
"""What fusion could save is named if the roofs would allow at most this part of the time."""
_MAX_NAMED: Final = 3
_MEASURED_WITHIN: Final = 0.05
"""By how much a kernel may exceed a measured bandwidth before the bandwidth is doubtful."""
_NO_SOURCE: Final = Source("")
_ALL_PAIRS: Final = (
    "FLOPs of attention are those of all pairs of a query and a key, as PyTorch counts them: a kernel that skips the "
    "pairs of a causal mask computes about half."
)
_KINDS: Final = {"cuda": "gpu", "mps": "gpu"}
_BUSY: Final = re.compile(r"other programs used (\d+)%")
_OF_BUSY: Final = ("the rates vary", "small matrices came out fastest")
"""How remarks begin that a busy machine explains."""
NOTHING_COUNTED: Final = (
    "no operation was counted: give the arrays as arguments, as in rw.profile(f, x); if the function computes "
    "elsewhere, such as in C code of its own, state its work with rw.measured(flops=…, bytes=…)"
)


def one_line_of(profile: Profile) -> str:
    """Return one line: the function, its device, its operations, FLOPs, bytes and time."""
    amounts = [counted(sum(op.count for op in profile.counted_ops), "operation")]
    amounts += [format_quantity(profile.flops + profile.other_flops, "FLOP"), format_quantity(profile.bytes, "B")]
    amounts += [] if profile.time is None else [f"{format_quantity(profile.time, 's')} a call"]
    amounts += [counted(len(profile.warnings), "warning")] if profile.warnings else []
    return f"{one_line(profile.name)} on {one_line(profile.device)}: {', '.join(amounts)}"


def html(profile: Profile) -> str:
    """Return an HTML table of the slowest rows with the warnings below it. Texts are escaped.

    Operations that are equal, with the same shapes, are one row.
    """
    table = merged(profile.kernels)
    shown = _slowest(table.time, table.bytes)
    shapes = table.extra["shapes"]
    rows = [
        [_ROWS_ARE[profile.by], *_HEADER, "shapes"],
        *([*_cells(table, row), shapes[row] or ""] for row in shown[:_MAX_TABLE_ROWS]),
    ]
    header, *cells = _without_empty(rows, table)
    more = "".join(and_more(len(shown), _MAX_TABLE_ROWS))
    return html_with_notes(html_table(one_line_of(profile), header, cells, more), _warnings(profile.warnings))


def merged(kernels: Kernels) -> Kernels:
    """Return a table in which operations that are equal, with the same shapes, are one row with their sums."""
    return kernels.groupby("name", "precision", "shapes")


def summary(profile: Profile, bound: Bound, of_merged: Bound, top: int, remarks: Sequence[str] = ()) -> str:
    """Return lines: how close the call is to the roofs, the time between operations, the slowest rows, notes.

    Parameters
    ----------
    profile
        The profile.
    bound, of_merged
        The bounds of its rows, and those of the table that `merged` returns.
    top
        How many rows to show.
    remarks
        Those of the chip's figures, such as "fp32: other programs ran". Remarks on figures that do not matter for this
        profile are left out.
    """
    table = merged(profile.kernels)
    shown = _slowest(table.time, of_merged.time)
    rows = [
        [_ROWS_ARE[profile.by], *_HEADER, "bound by", "of roof"],
        *(
            [*_cells(table, row), str(of_merged.bound_by[row]), format_percent(float(of_merged.utilization[row]))]
            for row in shown[:top]
        ),
    ]
    lines = [*_share_of_roof(profile, bound)]
    if len(table):
        lines += [*_between_operations(profile), *_roofs(profile, bound), *_if_fused(profile, bound)]
        lines += [*aligned(_without_empty(rows, table)), *and_more(len(shown), top)]
    notes = [
        *_warnings(tuple(warning for warning in profile.warnings if warning != NOTHING_COUNTED)),
        *_of_roofs(remarks_that_matter(remarks, profile.kernels, bound)),
        *_assumptions(profile, bound),
        *_above_roof(of_merged, table),
    ]
    return "\n".join([*lines, *(f"Note: {note}" for note in notes)])


def _without_empty(rows: list[list[str]], table: Kernels) -> list[list[str]]:
    """Return rows of cells without the columns that say nothing: no row has a time, or each operation ran once."""
    no_times, no_runs = bool(np.isnan(table.time).all()), not (table.count > 1).any()
    left_out = {name for name in rows[0] if (no_times and name in _OF_TIME) or (no_runs and name == _RUNS)}
    kept = [at for at, name in enumerate(rows[0]) if name not in left_out]
    return [[row[at] for at in kept] for row in rows]


def _of_roofs(remarks: Sequence[str]) -> Iterator[str]:
    """Yield one sentence for all remarks on measured figures."""
    busy = max((int(share) for remark in remarks for share in _BUSY.findall(remark)), default=0)
    others: dict[str, list[str]] = {}
    for remark in remarks:
        figure, colon, text = remark.partition(": ")
        figure, text = (figure, text) if colon else ("", remark)
        if not busy or not (_BUSY.search(remark) or text.startswith(_OF_BUSY)):
            others.setdefault(text, []).append(figure)
    parts = [f"{', '.join(filter(None, figures))}: {text}".removeprefix(": ") for text, figures in others.items()]
    if busy:
        parts.insert(0, f"on a busy machine: other programs used up to {busy} % of the processors")
        yield f"the roofs were measured {'; '.join(parts)}"
    elif parts:
        yield f"the roofs: {'; '.join(parts)}"


def _assumptions(profile: Profile, bound: Bound) -> Iterator[str]:
    """Yield the remarks of a bound. Which peak is taken for a class of FLOPs matters only if a row is bound by it."""
    by_compute = bound.bound_by == "compute"
    minor = [
        name
        for name, flops in profile.kernels.flops_by_precision.items()
        if name in FLOP_CLASSES and not (by_compute & (np.nan_to_num(flops) > 0)).any()
    ]
    yield from (
        remark
        for remark in bound.remarks
        if not any(f"no separate peak for {name} FLOPs" in remark for name in minor)
        and not (bool(np.isnan(bound.time).all()) and " a figure that " in remark)
    )


def _above_roof(bound: Bound, table: Kernels) -> Iterator[str]:
    """Yield sentences on rows that are faster than their roof allows."""
    yield from _cached(bound, table)
    others = bound.bound_by != bound.memory
    yield from bound_report.above_roof(bound, others)
    if any("attention" in str(name) for name in table.names[bound.above_roof & others]):
        yield _ALL_PAIRS


def _cached(bound: Bound, table: Kernels) -> Iterator[str]:
    """Yield a sentence on rows that are faster than their memory allows, and why that can be.

    The sentence names the first level that is large and fast enough for all of these rows.
    """
    if not len(bound):
        return
    level = bound.memory
    rows = np.flatnonzero(bound.above_roof & (bound.bound_by == level))
    if not len(rows):
        return
    needed = float((bound.bytes[level][rows] / bound.measured[rows]).max())
    largest = float((bound.bytes[level][rows] / table.count[rows]).max())
    nearer = {
        other.name: other.bandwidth
        for other in bound.chip.memories.values()
        if other.bandwidth is not None
        and other.bandwidth > bound.chip.bandwidth(level)
        and (other.capacity is None or largest <= other.capacity)
    }
    subject, their = ("row is", "its") if len(rows) == 1 else ("rows are", "their")
    enough = [name for name, bandwidth in nearer.items() if bandwidth >= needed]
    hint = f"a cache holds {their} data (compare with memory='{(enough or [*nearer, ''])[0]}'), or the roof"
    if not nearer:
        hint = f"no known cache is large enough for {format_quantity(largest, 'B')}, so the roof"
    excess = float(bound.utilization[rows].max()) - 1
    is_measured = bound.chip.sources.get(f"memories.{level}.bandwidth", _NO_SOURCE).confidence == "measured"
    if not enough and is_measured and excess <= _MEASURED_WITHIN:
        yield (
            f"{len(rows):,} {subject} up to {format_percent(excess)} faster than {level} allows: measured bandwidths "
            "differ by as much from one run to the next, and between mixes of reads and writes."
        )
        return
    busy = "" if bound.chip.kind == "gpu" else ", as on a busy machine"
    yield f"{len(rows):,} {subject} faster than {level} allows: {hint} is too low{busy}."


def _share_of_roof(profile: Profile, bound: Bound) -> Iterator[str]:
    known = bound.time[~np.isnan(bound.time)]
    unknown = len(bound) - len(known)
    if not len(known):
        took = "it was not timed" if profile.time is None else f"a call takes {format_quantity(profile.time, 's')}"
        yield f"{one_line(profile.name)}: {took}; {_why_unknown(profile, bound)}."
        return
    least = "at least " if unknown else ""
    allowed = math.fsum(known.tolist())
    roofs = f"the roofs allow {least}{format_quantity(allowed, 's')}{_binding(bound)}"
    name, chip = one_line(profile.name), one_line(bound.chip.name)
    if profile.time:
        share = f"{least}{format_percent(allowed / profile.time)}"
        took = format_quantity(profile.time, "s")
        reaches = f"is above the roof of {chip} ({share})"
        if allowed <= profile.time:
            reaches = f"reaches {share} of the roof of {chip}"
        yield f"{name} {reaches}: a call takes {took}, and {roofs}."
        yield from _of_other_device(profile.device, bound.chip)
    else:
        yield f"{name} was not timed; on {chip} {roofs}."
    if unknown:
        has = "has" if unknown == 1 else "have"
        yield f"{counted(unknown, _ROWS_ARE[profile.by])} of {len(bound):,} {has} no known bound."


def _why_unknown(profile: Profile, bound: Bound) -> str:
    """Return why no row has a bound."""
    if not profile.ops:
        return NOTHING_COUNTED
    if not len(bound):
        return "its operations, such as views, neither compute nor move bytes, so no roof limits it"
    table, chip = profile.kernels, bound.chip
    lacking = [name for name in dict.fromkeys(table.precision) if name and not _has_peak(chip, str(name))]
    unknown = {
        "FLOPs": list(dict.fromkeys(table.names[np.isnan(table.flops)])),
        "bytes": list(dict.fromkeys(table.names[np.isnan(table.bytes)])),
    }
    reasons = [f"the {what} of {first_few(names, _MAX_NAMED)} are unknown" for what, names in unknown.items() if names]
    if lacking:
        reasons.append(f"{one_line(chip.name)} has no peak for {' and '.join(lacking)}")
    return f"its share of the roof is unknown: {' and '.join(reasons or ['figures of the chip are missing'])}"


def _has_peak(chip: Chip, precision: str) -> bool:
    try:
        chip.peak(precision)
    except MissingFigureError:
        return False
    return True


def _of_other_device(device: str, chip: Chip) -> Iterator[str]:
    """Yield a sentence if the times are those of another kind of device than the roofs."""
    kind = device.partition(":")[0]
    if chip.kind and _KINDS.get(kind, kind) != chip.kind:
        yield f"The times are those of {one_line(device)} on this machine, the roofs those of another device."


def _roofs(profile: Profile, bound: Bound) -> Iterator[str]:
    """Yield the roofs that matter: the peaks of the precisions that compute, and the bandwidth."""
    table, chip = profile.kernels, bound.chip
    precisions = dict.fromkeys(str(name or bound.precision) for name in table.precision[table.flops > 0])
    peaks = [
        f"{name} {format_quantity(chip.peak(name), f'{operation(name)}/s')}"
        for name in precisions
        if _has_peak(chip, name)
    ]
    bandwidth = f"{bound.memory} {format_quantity(chip.bandwidth(bound.memory), 'B/s')}"
    yield f"Roofs: {', '.join([*peaks, bandwidth])}."


def _if_fused(profile: Profile, bound: Bound) -> Iterator[str]:
    """Yield what the roofs would allow if no operation wrote what another one reads."""
    least, moved = profile.compulsory_bytes, profile.bytes
    if least is None or np.isnan(bound.time).any():
        return
    computes = math.fsum(np.nan_to_num(bound.compute_time).tolist())
    allowed = max(computes, least / bound.chip.bandwidth(bound.memory))
    if allowed < _MAX_FUSED * math.fsum(bound.time.tolist()):
        amounts = f"{format_quantity(least, 'B')} instead of {format_quantity(moved, 'B')}"
        yield f"With each array moved once ({amounts}) the roofs would allow {format_quantity(allowed, 's')}."


def _binding(bound: Bound) -> str:
    """Return which resources bind how much of the allowed time."""
    seconds: dict[str, float] = {}
    for resource, time in zip(bound.bound_by, bound.time, strict=True):
        if time > 0:
            seconds[resource] = seconds.get(resource, 0.0) + time
    if not seconds:
        return ""
    total = sum(seconds.values())
    most = sorted(seconds, key=seconds.__getitem__, reverse=True)
    if seconds[most[0]] >= _ALONE * total:
        return f", bound by {most[0]}"
    shares = [f"{format_percent(seconds[name] / total)} by {name}" for name in most]
    return f", bound {' and '.join(shares)}"


def _between_operations(profile: Profile) -> Iterator[str]:
    """Yield how the times of the operations compare with the time of a call."""
    together, call = profile.ops_time, profile.time
    if together is None or not call or together == call:
        return
    took, gap = format_quantity(together, "s"), format_quantity(abs(call - together), "s")
    if profile.is_disturbed:
        yield f"Timed one by one, its operations take {took}; what passes between them is unknown, see the note."
        return
    if together < call:
        share = format_percent((call - together) / call)
        yield f"Its operations take {took} of a call; the other {gap} ({share}) pass between them."
    else:
        yield f"Timed one by one, its operations take {took}: {gap} longer than a call, since timing takes time too."


def _slowest(time: np.ndarray, otherwise: np.ndarray) -> list[int]:
    """Return row numbers, slowest first. Rows without a time are ordered by the other column."""
    rank = np.lexsort((-np.nan_to_num(otherwise), -np.nan_to_num(time)))
    return [int(row) for row in rank]


def _cells(table: Kernels, row: int) -> list[str]:
    time, achieved = float(table.time[row]), float(table.achieved[row])
    unit = operations_of(table[row : row + 1]).unit(0)
    return [
        one_line(table.names[row]),
        "not timed" if math.isnan(time) else format_quantity(time, "s"),
        f"{int(table.count[row]):,}",
        format_quantity(float(table.flops[row]), unit),
        format_quantity(float(table.bytes[row]), "B"),
        format_intensity(float(table.arithmetic_intensity[row]), operation=unit),
        "" if math.isnan(achieved) else format_quantity(achieved, f"{unit}/s"),
    ]


def _warnings(warnings: tuple[str, ...]) -> list[str]:
    return [*warnings[:_MAX_WARNINGS], *and_more(len(warnings), _MAX_WARNINGS)]
