"""The text of a `Bound`: its lines, its HTML table, and the reasons why a kernel cannot be above its roof."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from roofwidget.kernels.kernel import NETWORK
from roofwidget.support.text_tables import aligned, and_more, html_table, html_with_notes, one_line, percent
from roofwidget.units import format_intensity, format_quantity

if TYPE_CHECKING:
    from roofwidget.analysis.result import Bound

__all__ = ["above_roof", "html", "plain"]

_MAX_LINES: Final = 8
_MAX_TABLE_ROWS: Final = 20
_MAX_EXPLAINED: Final = 3
_MAX_SOURCE_CHARACTERS: Final = 120
_ELSE: Final = "or the time, a peak rate, a clock or a sparsity is not as assumed"


def plain(bound: Bound) -> str:
    """Return a few aligned lines: a title, the first kernels, and the number of further kernels."""
    lines = aligned([_header(bound), *_rows(bound, _MAX_LINES)]) if len(bound) else []
    count = f"{len(bound):,} kernel{'' if len(bound) == 1 else 's'}"
    return "\n".join([f"Bound: {count} on {_conditions(bound)}", *lines, *and_more(len(bound), _MAX_LINES)])


def html(bound: Bound) -> str:
    """Return an HTML table with notes; names are text, never markup."""
    more = "".join(and_more(len(bound), _MAX_TABLE_ROWS))
    table = html_table(f"Bounds on {_conditions(bound)}", _header(bound), _rows(bound, _MAX_TABLE_ROWS), more)
    return html_with_notes(table, bound.notes)


def above_roof(bound: Bound) -> Iterator[str]:
    """Yield why the first kernels above their roof cannot be there, then the number of the others."""
    rows = np.flatnonzero(bound.above_roof)
    for row in rows[:_MAX_EXPLAINED]:
        yield f"'{_name(bound, row)}' {_reason(bound, int(row))}."
    left = len(rows) - _MAX_EXPLAINED
    if left > 0:
        yield f"{left:,} more {'kernel is above its' if left == 1 else 'kernels are above their'} roof."


def _conditions(bound: Bound) -> str:
    """Return chip, precision, memory, options that differ from their defaults, and the source of the kernels."""
    words = [one_line(bound.chip.name), bound.precision, "all levels" if bound.memory == "all" else bound.memory]
    if bound.overlap != 1:
        words.append(f"{percent(bound.overlap)} overlap")
    if bound.exposed_comm:
        words.append(f"{percent(bound.exposed_comm)} exposed communication")
    if bound.launch_overhead:
        words.append(f"{format_quantity(bound.launch_overhead, 's')} a launch")
    if bound.source:
        words.append(one_line(bound.source, _MAX_SOURCE_CHARACTERS))
    return " · ".join(words)


def _intensity(bound: Bound, row: int) -> str:
    """Return the intensity at the given level; for all levels that at the slowest one, with its name."""
    if bound.memory != "all":
        return format_intensity(float(bound.ai[bound.memory][row]) if bound.memory in bound.ai else math.nan)
    times = {level: float(bound.memory_time[level][row]) for level in bound.judged if level in bound.memory_time}
    known = {level: seconds for level, seconds in times.items() if not math.isnan(seconds)}
    if not known:
        return format_intensity(math.nan)
    level = max(known, key=lambda one: known[one])
    return f"{format_intensity(float(bound.ai[level][row]))} ({level})"


def _header(bound: Bound) -> list[str]:
    where = "AI at the slowest" if bound.memory == "all" else f"AI at {bound.memory}"
    return ["kernel", where, "bound time", "bound by", "of peak", "of roof"]


def _rows(bound: Bound, most: int) -> Iterator[list[str]]:
    for row in range(min(most, len(bound))):
        yield [
            _name(bound, row),
            _intensity(bound, row),
            format_quantity(float(bound.time[row]), "s"),
            bound.bound_by[row] + (" (balanced)" if bound.balanced[row] else ""),
            _of_peak(bound, row),
            _of_roof(bound, row),
        ]


def _of_peak(bound: Bound, row: int) -> str:
    share, most = bound.peak_fraction[row], bound.attainable_fraction[row]
    if not math.isnan(share) or math.isnan(most):
        return percent(share)
    return f"at most {percent(most)}"


def _of_roof(bound: Bound, row: int) -> str:
    if math.isnan(bound.measured[row]):
        return "not measured"
    return percent(bound.utilization[row]) + (", above it" if bound.above_roof[row] else "")


def _name(bound: Bound, row: int) -> str:
    return one_line(bound.names[row])


def _reason(bound: Bound, row: int) -> str:
    """Return why the measured time is impossible: a resource that alone needs longer, or the sum of several."""
    for part in (_bytes_reason, _flops_reason, _link_reason, _launch_reason):
        reason = part(bound, row)
        if reason:
            return reason
    needed, measured = (format_quantity(float(column[row]), "s") for column in (bound.time, bound.measured))
    return (
        f"ran {measured}, but its resources one after the other need {needed}, although none alone needs longer: more "
        f"of them overlap than assumed, {_ELSE}"
    )


def _beats(bound: Bound, seconds: float, row: int) -> bool:
    return seconds > float(bound.measured[row])


def _bytes_reason(bound: Bound, row: int) -> str:
    times = {level: float(bound.memory_time[level][row]) for level in bound.judged if level in bound.memory_time}
    level = max(times, key=lambda one: -1.0 if math.isnan(times[one]) else times[one], default="")
    if not level or not _beats(bound, times[level], row):
        return ""
    bandwidth, measured, flops = bound.chip.bandwidth(level), float(bound.measured[row]), float(bound.flops[row])
    moved = format_quantity(float(bound.bytes[level][row]), "B")
    needed, ran = format_quantity(times[level], "s"), format_quantity(measured, "s")
    reason = f"is above its roof: its {moved} of {level} need {needed} at {format_quantity(bandwidth, 'B/s', 4)}, but "
    reason += f"it ran {ran}"
    if flops > 0:
        stated, least = (format_intensity(flops / one) for one in (bound.bytes[level][row], measured * bandwidth))
        reason += (
            f" at {format_quantity(flops / measured, 'FLOP/s')}. At that rate its intensity at {level} must be at "
        )
        reason += f"least {least}, not {stated}"
    return f"{reason}. So the bytes are miscounted or are those of a nearer level, {_ELSE}"


def _flops_reason(bound: Bound, row: int) -> str:
    seconds = float(bound.compute_time[row])
    if not _beats(bound, seconds, row):
        return ""
    flops, peak = format_quantity(float(bound.flops[row]), "FLOP"), format_quantity(float(bound.peak[row]), "FLOP/s", 4)
    needed, ran = format_quantity(seconds, "s"), format_quantity(float(bound.measured[row]), "s")
    return (
        f"is above its roof: its {flops} need {needed} at {peak}, but it ran {ran}. "
        f"So the FLOPs are miscounted or are of another precision, {_ELSE}"
    )


def _link_reason(bound: Bound, row: int) -> str:
    seconds = float(bound.network_time[row])
    if not _beats(bound, seconds, row):
        return ""
    moved = format_quantity(float(bound.bytes[NETWORK][row]), "B")
    needed, ran = format_quantity(seconds, "s"), format_quantity(float(bound.measured[row]), "s")
    return (
        f"is above its roof: its {moved} over the link need {needed} at "
        f"{format_quantity(bound.chip.link_bandwidth(), 'B/s', 4)} one way, but it ran {ran}. "
        f"So the bytes are miscounted or cross several links, {_ELSE}"
    )


def _launch_reason(bound: Bound, row: int) -> str:
    seconds = float(bound.overhead_time[row])
    if not _beats(bound, seconds, row):
        return ""
    needed, ran = format_quantity(seconds, "s"), format_quantity(float(bound.measured[row]), "s")
    each = format_quantity(bound.launch_overhead, "s")
    return (
        f"is above its roof: its launches need {needed} at {each} each, but it ran {ran}. "
        "So a launch costs less, or launches overlap"
    )
