"""The text of a `Bound`: its lines, its HTML table, and the reasons why a kernel cannot be above its roof."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from roofwidget.chips import NETWORK
from roofwidget.support.text_tables import aligned, and_more, counted, html_table, html_with_notes, one_line
from roofwidget.units import format_intensity, format_percent, format_quantity

if TYPE_CHECKING:
    from roofwidget.analysis.result import Bound
    from roofwidget.kernels.columns import Bools

_MAX_LINES: Final = 8
_MAX_TABLE_ROWS: Final = 20
_MAX_EXPLAINED: Final = 3
_MAX_SOURCE_CHARACTERS: Final = 120
_ELSE: Final = "or the time, a peak rate, a clock or a sparsity is not as assumed"
_NEARER: Final = f". So the bytes are miscounted or are those of a nearer level, {_ELSE}"


def plain(bound: Bound) -> str:
    """Return a few aligned lines: a title, the first kernels, and the number of further kernels."""
    lines = aligned([_header(bound), *_rows(bound, _MAX_LINES)]) if len(bound) else []
    title = f"Bound: {counted(len(bound), 'kernel')} on {_conditions(bound)}"
    return "\n".join([title, *lines, *and_more(len(bound), _MAX_LINES)])


def html(bound: Bound) -> str:
    """Return an HTML table with notes. Names are escaped: they are shown as text, never as markup."""
    more = "".join(and_more(len(bound), _MAX_TABLE_ROWS))
    table = html_table(f"Bounds on {_conditions(bound)}", _header(bound), _rows(bound, _MAX_TABLE_ROWS), more)
    return html_with_notes(table, bound.notes)


def bytes_elsewhere(bound: Bound) -> Iterator[str]:
    """Yield sentences on kernels without bytes at the level that counts, but with bytes at other levels.

    For example, the bytes of HBM count, and the kernels have bytes of L2. All kernels with bytes at the same levels
    share one sentence.

    Yields nothing if all levels of the chip count: `bound.remarks` already names the other levels.
    """
    if bound.bytes_elsewhere is None or bound.memory == "all":
        return
    kernels_at = Counter(levels for levels in bound.bytes_elsewhere if levels)
    for levels, count in kernels_at.most_common(_MAX_EXPLAINED):
        verb, whose = ("has", "its") if count == 1 else ("have", "their")
        why = where_bytes_are(bound, levels, whose)
        yield f"{counted(count, 'kernel')} {verb} no bytes at {bound.memory}: {why}."


def where_bytes_are(bound: Bound, levels: str, whose: str = "its") -> str:
    """Return why bytes at `levels` do not count.

    There are three possible reasons: the bound was made for another level, the chip has no bandwidth for the level, or
    the chip has no such level.
    """
    chip = bound.chip
    own = [level for level in levels.split(", ") if level in chip.memories]
    rated = [level for level in own if chip.memories[level].bandwidth is not None]
    where = f"{whose} bytes are at {levels}"
    if rated:
        return f"{where}; memory='{rated[0]}' judges by them"
    if own:
        return f"{where}, and {chip.name} has no bandwidth for {own[0]}"
    return f"{where}, which {chip.name} lacks; it has {', '.join(chip.memories)}"


def unlinked(bound: Bound) -> Iterator[str]:
    """Yield a sentence that counts the collectives whose bytes over the link are unknown, if there are any."""
    if bound.unlinked is None:
        return
    count = int(bound.unlinked.sum())
    has, its = ("has", "its") if count == 1 else ("have", "their")
    yield (
        f"{counted(count, 'collective')} {has} no bytes over a link, so {its} headroom is unknown: give {its} bytes "
        f"under '{NETWORK}', as from roofwidget.network.network_bytes."
    )


def above_roof(bound: Bound, where: Bools | None = None) -> Iterator[str]:
    """Yield a sentence per kernel above its roof. The sentence says why the measured time is too short.

    If many kernels are above their roof, the last sentence says only how many more there are. A mask `where` leaves out
    kernels.
    """
    rows = np.flatnonzero(bound.above_roof if where is None else bound.above_roof & where)
    for row in rows[:_MAX_EXPLAINED]:
        yield f"'{_name(bound, row)}' {_reason(bound, int(row))}."
    left = len(rows) - _MAX_EXPLAINED
    if left > 0:
        yield f"{left:,} more {'kernel is above its' if left == 1 else 'kernels are above their'} roof."


def _conditions(bound: Bound) -> str:
    """Return a text: chip, precision, memory, options that are not the defaults, and the source of the kernels."""
    words = [one_line(bound.chip.name), bound.precision, "all levels" if bound.memory == "all" else bound.memory]
    if bound.overlap != 1:
        words.append(f"{format_percent(bound.overlap)} overlap")
    if bound.exposed_comm:
        words.append(f"{format_percent(bound.exposed_comm)} exposed communication")
    if bound.launch_overhead:
        words.append(f"{format_quantity(bound.launch_overhead, 's')} a launch")
    if bound.source:
        words.append(one_line(bound.source, _MAX_SOURCE_CHARACTERS))
    return " · ".join(words)


def _intensity(bound: Bound, row: int) -> str:
    """Return the intensity at the level `bound.memory` as text. For ``all``, use and name the slowest level."""
    if bound.memory != "all":
        ai = float(bound.ai[bound.memory][row]) if bound.memory in bound.ai else math.nan
        return format_intensity(ai, operation=bound.operation(row))
    level, _ = _slowest(bound, row)
    ai = float(bound.ai[level][row]) if level else math.nan
    return format_intensity(ai, operation=bound.operation(row)) + (f" ({level})" if level else "")


def _slowest(bound: Bound, row: int) -> tuple[str, float]:
    """Return the level with the largest known memory time, and its seconds. If no time is known, return "" and 0."""
    times = {level: float(seconds[row]) for level, seconds in bound.judged_memory_time.items()}
    known = {level: seconds for level, seconds in times.items() if not math.isnan(seconds)}
    level = max(known, key=known.__getitem__, default="")
    return level, known.get(level, 0.0)


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
    share, most = float(bound.peak_fraction[row]), float(bound.attainable_fraction[row])
    if not math.isnan(share) or math.isnan(most):
        return format_percent(share)
    return f"at most {format_percent(most)}"


def _of_roof(bound: Bound, row: int) -> str:
    if math.isnan(bound.measured[row]) and math.isnan(bound.achieved[row]):
        return "not measured"
    return format_percent(float(bound.utilization[row])) + (", above it" if bound.above_roof[row] else "")


def _name(bound: Bound, row: int) -> str:
    return one_line(bound.names[row])


def _reason(bound: Bound, row: int) -> str:
    """Return why the measured time is too short.

    Either one resource alone needs longer, such as the memory, or the resources one after the other need longer.
    """
    measured = float(bound.measured[row])
    if math.isnan(measured):
        return _reason_of_ratios(bound, row)
    ran = format_quantity(measured, "s")
    for seconds, describe in (
        (_slowest(bound, row)[1], _of_bytes),
        (float(bound.compute_time[row]), _of_flops),
        (float(bound.network_time[row]), _of_link),
        (float(bound.overhead_time[row]), _of_launches),
    ):
        if seconds > measured:
            work, rate, causes = describe(bound, row)
            needed = format_quantity(seconds, "s")
            return f"is above its roof: its {work} need {needed} at {rate}, but it ran {ran}{causes}"
    needed = format_quantity(float(bound.time[row]), "s")
    return (
        f"ran {ran}, but its resources one after the other need {needed}, although none alone needs longer: more of "
        f"them overlap than assumed, {_ELSE}"
    )


def _reason_of_ratios(bound: Bound, row: int) -> str:
    """Return why a rate is too high for a kernel that is known by its intensity and its rate alone."""
    unit, level = bound.operation(row), bound.chip.main_memory
    rate, peak = float(bound.achieved[row]), float(bound.peak[row])
    if rate > peak:
        over, causes = f"more than its peak of {format_quantity(peak, f'{unit}/s', 4)}", _miscounted(unit)
    else:
        over, causes = _needed(level, unit, float(bound.ai[level][row]), rate / bound.chip.bandwidth(level)), _NEARER
    return f"is above its roof at {format_quantity(rate, f'{unit}/s')}: {over}{causes}"


def _needed(level: str, unit: str, stated: float, least: float) -> str:
    needed, given = (format_intensity(ai, operation=unit) for ai in (least, stated))
    return f"its intensity at {level} must be at least {needed}, not {given}"


def _miscounted(unit: str) -> str:
    work = "FLOPs" if unit == "FLOP" else "operations"
    return f". So the {work} are miscounted or are of another precision, {_ELSE}"


def _of_bytes(bound: Bound, row: int) -> tuple[str, str, str]:
    """Return texts for the slowest level: its bytes, its bandwidth, and why the measured time can be too short."""
    level, _ = _slowest(bound, row)
    bandwidth, measured, flops = bound.chip.bandwidth(level), float(bound.measured[row]), float(bound.flops[row])
    moved, causes = float(bound.bytes[level][row]), _NEARER
    if flops > 0:
        unit = bound.operation(row)
        # Divide twice: the product of a short time and a low bandwidth may be less than the smallest double.
        needed = _needed(level, unit, flops / moved, flops / measured / bandwidth)
        causes = f" at {format_quantity(flops / measured, f'{unit}/s')}. At that rate {needed}{causes}"
    return f"{format_quantity(moved, 'B')} of {level}", format_quantity(bandwidth, "B/s", 4), causes


def _of_flops(bound: Bound, row: int) -> tuple[str, str, str]:
    unit = bound.operation(row)
    flops, peak = (
        format_quantity(float(bound.flops[row]), unit),
        format_quantity(float(bound.peak[row]), f"{unit}/s", 4),
    )
    return flops, peak, _miscounted(unit)


def _of_link(bound: Bound, row: int) -> tuple[str, str, str]:
    moved = format_quantity(float(bound.bytes[NETWORK][row]), "B")
    rate = format_quantity(bound.chip.link_bandwidth(), "B/s", 4)
    return f"{moved} over the link", f"{rate} one way", f". So the bytes are miscounted or cross several links, {_ELSE}"


def _of_launches(bound: Bound, _row: int) -> tuple[str, str, str]:
    each = format_quantity(bound.launch_overhead, "s")
    return "launches", f"{each} each", ". So a launch costs less, or launches overlap"
