"""Advice for each kernel: its situation with the numbers, what to try next, and when to stop."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from numbers import Real
from types import MappingProxyType
from typing import Final

from roofwidget.analysis.bound_report import where_bytes_are
from roofwidget.analysis.latency import LATENCY, MAX_EXPLAINED, LatencyRoof
from roofwidget.analysis.lowest_roof import lowest_roof
from roofwidget.analysis.reasons import Reason, found_in
from roofwidget.analysis.result import ABOVE_ROOF_FROM, Bound
from roofwidget.chips import NETWORK
from roofwidget.kernels.non_kernels import FEED, IDLE, LINK, NON_KERNELS
from roofwidget.support.arguments import shown_value
from roofwidget.support.did_you_mean import keywords
from roofwidget.support.text_tables import aligned, and_more, counted, html_table, one_line
from roofwidget.units import format_factor, format_percent, format_quantity

COLLECTIVE: Final = "collective, link unknown"
"""The situation of a collective whose bytes over the link are unknown."""
NEITHER: Final = "way below both"
"""The situation of a kernel whose time no roof explains."""
_BELOW: Final = "below its roof"
SUGGESTIONS: Final = MappingProxyType(
    {
        f"memory-bound, {_BELOW}": "Get more of the bandwidth: tile for reuse, lay data out for long contiguous "
        "accesses, and look for bytes that are read twice.",
        "memory-bound, close": "Bandwidth is used up, so move fewer bytes: fuse with the neighbours, store narrower "
        "numbers, or enlarge the batch so that more work shares each byte.",
        f"compute-bound, {_BELOW}": "Keep the matrix and vector units busy: check that they are used at all, that "
        "shapes fill their tiles, and where the pipeline stalls.",
        "compute-bound, close": "The units are busy, so do less work or cheaper work: another algorithm, a lower "
        "precision, or more chips.",
        f"network-bound, {_BELOW}": "Find what delays the link: messages too small to fill it, ranks that wait for "
        "others, a slower link than the chip's, or hops that could run in parallel.",
        "network-bound, close": "The link is full, so send less or hide it: overlap with computing, split the work so "
        "that less crosses the link, or send narrower numbers.",
        f"overhead-bound, {_BELOW}": "Launches explain only a part: look for synchronisation and work on the host "
        "between them.",
        "overhead-bound, close": "Launches take the time: fuse small kernels, batch them, or record them to be "
        "replayed at once.",
        f"latency-bound, {_BELOW}": "Too few bytes are in flight, but that explains only a part: look for launches, "
        "and for loads that wait for each other.",
        "latency-bound, close": "Too few bytes are in flight to use the bandwidth: join small launches, use more "
        "blocks, and let each thread load several values before it uses the first.",
        NEITHER: "Neither compute nor memory explains the time, so a roofline cannot: profile for launches, "
        "synchronisation, latency and thrashing caches.",
        "above its roof": "No kernel can be there: check the counts of FLOPs and bytes, the measured time, the "
        "precision and whether data came from a nearer memory.",
        IDLE: "No kernel ran: find out what the device waited for, such as launches by the host, its input, or other "
        "devices.",
        FEED: "No kernel ran: prepare the input sooner and in parallel, keep some of it ready on the device, and send "
        "results back less often.",
        LINK: "No memory bounds it: leave on the device what it needs again, pin the host's memory, and copy while "
        "kernels run.",
        COLLECTIVE: "Find out the bytes that it sends, and give them under 'network': a collective waits for its link "
        "and for other ranks, which the roof of a memory does not show.",
        "unmeasured": "Measure it first.",
        "unknown": "Find out its FLOPs and its bytes, and the link of the chip if it communicates; without them there "
        "is no bound.",
    }
)
"""What to try, by situation."""
_HALF_THE_BYTES: Final = (
    "Let the kernel move half of the bytes, for example with a narrower type or half of the rows. If its time stays, "
    "the bandwidth is not what limits it."
)
_LOWER_CLOCK: Final = (
    "Run it with a lower clock of the chip, or with half of the arithmetic. If its time stays, compute is not what "
    "limits it."
)
_NO_SENDING: Final = "Run the step without this communication. If its time stays, the link is not what limits it."
_FEWER_LAUNCHES: Final = (
    "Run the same work in half as many launches, or in a graph that replays them. If the time stays, launches are not "
    "what limits it."
)
_MORE_LOADS: Final = (
    "Give each launch twice the work, or each thread two independent loads. If the time for each byte stays, latency "
    "is not what limits it."
)
CHECKS: Final = MappingProxyType(
    {
        f"memory-bound, {_BELOW}": _HALF_THE_BYTES,
        "memory-bound, close": _HALF_THE_BYTES,
        f"compute-bound, {_BELOW}": _LOWER_CLOCK,
        "compute-bound, close": _LOWER_CLOCK,
        f"network-bound, {_BELOW}": _NO_SENDING,
        "network-bound, close": _NO_SENDING,
        f"overhead-bound, {_BELOW}": _FEWER_LAUNCHES,
        "overhead-bound, close": _FEWER_LAUNCHES,
        f"latency-bound, {_BELOW}": _MORE_LOADS,
        "latency-bound, close": _MORE_LOADS,
        NEITHER: "Time the kernel with ten times the work. If it takes ten times as long, neither a launch "
        "nor a start explains its time.",
        "above its roof": "Count FLOPs and bytes by hand for one launch, and compare the peaks with those of "
        "measure_peaks. If both agree with the profile, its times are wrong.",
        IDLE: "Record the threads of the host beside the device. If the host waits for the device in these gaps, "
        "sooner launches gain nothing.",
        FEED: "Run the step with inputs that are on the device already. If its time stays, the input is not what it "
        "waits for.",
        LINK: "Run the step without the copies. If its time stays, they are hidden behind kernels.",
        COLLECTIVE: "Compare the time of the call on all ranks. If it is the same on each, no rank comes last.",
        "unmeasured": "A measured time below the bound disproves the counts.",
        "unknown": "Profile the FLOPs and bytes with counters of the hardware. If they are small, nothing is missing.",
    }
)
"""The check that would disprove the advice, by situation."""

# A shorter latency is there, but something else takes most of the time, such as the launch.
_MIN_EXPLAINED: Final = 0.5
_MAX_LINES: Final = 8
_MAX_TABLE_ROWS: Final = 50
# A share of 79.9 % must not be shown as 80 % if 80 % is a threshold. So its text gets up to this many more digits.
_MAX_EXTRA_DIGITS: Final = 12
_HEADER: Final = ("kernel", "situation", "evidence", "what to try")


@dataclass(frozen=True)
class Advice:
    """What to try for one kernel.

    Parameters
    ----------
    name
        The kernel's name.
    situation
        What limits the kernel and how near its roof it is, such as ``"memory-bound, close"``.
    evidence
        The numbers for the situation, with the thresholds.
    suggestion
        What to try.
    done
        Whether tuning this kernel can stop, because its utilization has reached the threshold ``stop`` of `advise`.
    times
        How many times as fast the kernel would be at its roof, as text such as "1.3". Empty unless the situation ends
        with "below its roof".
    check
        The check that would disprove the advice.
    reasons
        Why the kernel is slow, as counters of the profile show; see `roofwidget.reasons`. Empty without counters.
    """

    __module__ = "roofwidget"

    name: str
    situation: str
    evidence: str
    suggestion: str
    done: bool
    times: str = ""
    check: str = ""
    reasons: tuple[Reason, ...] = ()


class Advices(tuple[Advice, ...]):
    """A tuple with one `Advice` per kernel, in the order of the kernels. Printing it shows a table."""

    __module__ = "roofwidget"

    __slots__ = ()

    def __repr__(self) -> str:
        kernels = sum(one.situation not in NON_KERNELS for one in self)
        others = f"; {len(self) - kernels:,} of the rows no kernel" if kernels < len(self) else ""
        count = f"{counted(kernels, 'kernel')}, {sum(one.done for one in self):,} done{others}"
        rows = aligned([_HEADER[:3], *((*_row(one)[:2], one.evidence) for one in self[:_MAX_LINES])])
        why = [f"{one_line(one.name)}: {reason}" for one in self[:_MAX_LINES] for reason in one.reasons]
        shown = [*(rows if self else []), *and_more(len(self), _MAX_LINES)]
        return "\n".join([f"Advice: {count}", *shown, *(["Why, by counters:", *why] if why else [])])

    def _repr_html_(self) -> str:
        left = len(self) - _MAX_TABLE_ROWS
        caption = "What to try next" + (f" (the first {_MAX_TABLE_ROWS} of {len(self):,} kernels)" if left > 0 else "")
        return html_table(caption, _HEADER, [_row(one) for one in self[:_MAX_TABLE_ROWS]])


@keywords("advise")
def advise(
    bound: Bound,
    close: float = 0.8,
    stop: float = 0.95,
    way_below: float = 0.1,
    *,
    latency: LatencyRoof | None = None,
) -> Advices:
    """Return advice for each kernel: what limits it, the numbers, what to try, and whether to stop tuning.

    Advice compares the utilization (bound time over measured time) with the thresholds. So the words refer to the
    roof, not to the peak. A kernel that another memory level of its profile bounds more is judged by that level; L1 and
    shared memory together are one more level where the profile counts their transactions.

    Parameters
    ----------
    bound
        The result of `roofwidget.bound`.
    close
        From this utilization on, a kernel is close to its roof: only a higher roof can make the kernel much faster.
    stop
        From this utilization on, tuning of a kernel can stop.
    way_below
        The utilization below which neither compute nor memory explains the time. A collective far below the roof of its
        link keeps the advice for links.
    latency
        The result of `latency_roof` for the same kernels. A kernel whose latency time is the longest, and explains at
        least half of its measured time and at most all of it, or 5 % more for clocks and timers, is latency-bound. The
        share of the time that latency explains is then compared with `close`.

    Returns
    -------
    Advices
        A tuple with one `Advice` per row. If a row is not a kernel, its situation is its kind, such as idle time.

    Raises
    ------
    ValueError
        Unless ``0 <= way_below < close <= stop <= 1``.

    Examples
    --------
    >>> import roofwidget as rw
    >>> chip = rw.Chip("My chip", {"bf16": "989 TFLOP/s"}, {"HBM": "3.35 TB/s"})
    >>> advise(rw.bound([("gelu", 0, 6.7e7, 2.2e-5), ("matmul", 1.4e11, 1.0e8, 4e-4), ("add", 1, 12)], chip))
    Advice: 3 kernels, 0 done
    kernel  situation                           evidence
    gelu    memory-bound, close                 91 % of roof (close from 80 %, stop from 95 %); at most 2 µs left (HBM)
    matmul  compute-bound, 2.8× below its roof  35 % of roof (close from 80 %), 35 % of peak; at most 258 µs left
    add     unmeasured                          at least 3.58 ps (HBM), at most 0.028 % of peak
    """
    if not isinstance(bound, Bound):
        raise TypeError(f"advise needs a Bound, as from advise(bound(kernels, chip)), got {type(bound).__name__}")
    for keyword, value in (("close", close), ("stop", stop), ("way_below", way_below)):
        if isinstance(value, bool) or not isinstance(value, Real):
            raise TypeError(f"{keyword} must be a share such as 0.8, got {shown_value(value)}")
    if not 0 <= way_below < close <= stop <= 1:
        raise ValueError(
            "advise needs 0 <= way_below < close <= stop <= 1, "
            f"got way_below {way_below!r}, close {close!r}, stop {stop!r}"
        )
    if latency is not None and len(latency) != len(bound):
        raise ValueError(
            f"latency has {counted(len(latency), 'kernel')} and the bound {len(bound)}: give those of one table"
        )
    why, lowest = _reasons(bound), lowest_roof(bound)
    # Where another level bounds a kernel more, the latency of the given level does not.
    by_latency = [None if longer else latency for longer in (lowest.time > bound.time).tolist()]
    return Advices(
        dataclasses.replace(_advice(lowest, row, close, stop, way_below, latency=by_latency[row]), reasons=why[row])
        for row in range(len(bound))
    )


def _reasons(bound: Bound) -> tuple[tuple[Reason, ...], ...]:
    low_level = bound.low_level
    if low_level is None:
        return ((),) * len(bound)
    return found_in(low_level.columns, low_level.counters, len(bound))


def _advice(
    bound: Bound, row: int, close: float, stop: float, way_below: float, *, latency: LatencyRoof | None
) -> Advice:
    regime, utilization = str(bound.regime[row]), float(bound.utilization[row])
    done, times = False, ""
    what = None if bound.non_kernels is None else bound.non_kernels[row]
    # A copy over the link has a roof if the chip lists the link as a memory level. Then the copy gets the advice that
    # kernels get.
    if what and (what != LINK or regime == "unknown"):
        situation, evidence = what, f"no kernel; {_took(bound, row)}"
    elif bound.unlinked is not None and bound.unlinked[row]:
        situation, evidence = COLLECTIVE, f"bytes over its link not known; {_took(bound, row)}"
    elif regime == "unknown":
        situation, evidence = "unknown", _what_is_unknown(bound, row)
    elif math.isnan(utilization):
        situation, evidence = "unmeasured", _at_most(bound, row)
    elif bound.above_roof[row]:
        situation, evidence = "above its roof", _shares(bound, row, "above 100 %", (ABOVE_ROOF_FROM,), left=False)
    elif (
        latency is not None
        and latency.regime[row] == LATENCY
        and _MIN_EXPLAINED <= latency.explained[row] <= MAX_EXPLAINED
    ):
        # Never done: joined launches have more bytes in flight.
        explained = float(latency.explained[row])
        is_close = explained >= close
        situation = f"{LATENCY}-bound, {'close' if is_close else _BELOW}"
        times = "" if is_close else format_factor(1 / explained)
        evidence = f"{latency.sentence(row)}; {latency.explanation(row)}"
    elif utilization < way_below and regime != NETWORK:
        situation = NEITHER
        evidence = _shares(bound, row, f"way below it under {_threshold(way_below)}", (way_below,))
    elif utilization < close:
        situation, times = f"{regime}-bound, {_BELOW}", format_factor(1 / utilization)
        evidence = _shares(bound, row, f"close from {_threshold(close)}", (way_below, close))
    else:
        situation, done = f"{regime}-bound, close", utilization >= stop
        words = f"close from {_threshold(close)}, stop from {_threshold(stop)}"
        evidence = _shares(bound, row, words, (close, stop))
    suggestion = SUGGESTIONS[situation]
    if done:
        suggestion = f"Stop tuning this kernel; only its roof is left to be moved. {suggestion}"
    return Advice(str(bound.names[row]), situation, evidence, suggestion, done, times, CHECKS[situation])


def _shares(bound: Bound, row: int, words: str, thresholds: tuple[float, ...], *, left: bool = True) -> str:
    """Return a text: the shares of roof and peak that the kernel reaches, and the time it would save at its roof."""
    shown = f"{_on_its_side(float(bound.utilization[row]), thresholds)} of roof ({words})"
    # Without FLOPs a share of the peak is meaningless.
    if bound.peak_fraction[row] > 0:
        shown += f", {format_percent(float(bound.peak_fraction[row]))} of peak"
    if left and not math.isnan(bound.headroom[row]):
        shown += f"; at most {format_quantity(max(0.0, float(bound.headroom[row])), 's')} left"
    return shown + _binding(bound, row)


def _threshold(share: float) -> str:
    return format_percent(share, _MAX_EXTRA_DIGITS)


def _on_its_side(share: float, thresholds: tuple[float, ...]) -> str:
    """Return a share as text. If rounding makes 79.9 % look like a threshold of 80 %, the text gets more digits."""
    text = format_percent(share)
    if not math.isfinite(100 * share):
        return text
    lines = [(_number(_threshold(one)), share < one) for one in thresholds]
    for more in range(_MAX_EXTRA_DIGITS):
        text = format_percent(share, more)
        if all((_number(text) < line) == below for line, below in lines):
            break
    return text


def _number(text: str) -> float:
    return float(text.removesuffix(" %"))


def _took(bound: Bound, row: int) -> str:
    seconds = float(bound.measured[row])
    return "not measured" if math.isnan(seconds) else format_quantity(seconds, "s")


def _at_most(bound: Bound, row: int) -> str:
    seconds, share = float(bound.time[row]), float(bound.attainable_fraction[row])
    least = "" if math.isnan(seconds) else f"at least {format_quantity(seconds, 's')}"
    most = f"at most {format_percent(share)} of peak" if share > 0 else ""
    return f"{least or most}{_binding(bound, row)}{f', {most}' if least and most else ''}"


def _binding(bound: Bound, row: int) -> str:
    """Return the name of the memory level that binds, in parentheses. If no memory binds, return an empty text."""
    return f" ({bound.bound_by[row]})" if bound.regime[row] == "memory" else ""


def _what_is_unknown(bound: Bound, row: int) -> str:
    work = "FLOPs" if bound.operation(row) == "FLOP" else "operations"
    lacking = [work] if math.isnan(bound.compute_time[row]) else []
    if all(math.isnan(seconds[row]) for seconds in bound.judged_memory_time.values()):
        lacking.append("bytes" if bound.memory == "all" else f"bytes at {bound.memory}")
    if math.isnan(bound.network_time[row]):
        lacking.append(f"the link of {bound.chip.name} to other chips")
    levels = None if bound.bytes_elsewhere is None else bound.bytes_elsewhere[row]
    why = f"; {where_bytes_are(bound, levels)}" if levels else ""
    return f"{' and '.join(lacking)} not known{why}" if lacking else "its bound is not known"


def _row(one: Advice) -> tuple[str, ...]:
    situation = one.situation.replace(_BELOW, f"{one.times}× {_BELOW}") if one.times else one.situation
    evidence = " ".join([f"{one.evidence}." if one.reasons else one.evidence, *map(str, one.reasons)])
    suggestion = " ".join([one.suggestion, *(reason.suggestion for reason in one.reasons)])
    return one_line(one.name), situation + (" (done)" if one.done else ""), evidence, suggestion
