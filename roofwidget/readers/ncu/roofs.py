"""The roofs of a report: the device's peaks at the measured clock, with boost clock and data sheet as ceilings.

Nsight Compute locks the clock to its base by default, so a kernel cannot reach the figures of the data sheet. The roof
is the report's peak per cycle times the measured cycles per second.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from roofwidget.chips import Ceiling, Chip, Memory, Source, chips_named
from roofwidget.chips import chip as chip_called
from roofwidget.kernels.columns import Floats
from roofwidget.readers.devices import chip_of_capability, chip_of_device
from roofwidget.readers.errors import figures_of_chip
from roofwidget.readers.ncu.flops import FP16_VECTOR, INTEGER, PATH_METRIC
from roofwidget.readers.ncu.metrics import (
    ByteCounter,
    Launches,
    Traffic,
    clock_of,
    counters_of,
    first_known_values,
    quotient,
    times_text,
)
from roofwidget.support.did_you_mean import listed

# -- peaks and clocks of the report --------------------------------------------------------------------------------

_KILO: Final = 1e3
_MAX_SM: Final = ("device__attribute_max_gpu_frequency_khz", "device__attribute_clock_rate")
_MAX_DRAM: Final = ("device__attribute_max_mem_frequency_khz", "device__attribute_memory_clock_rate")


@dataclass(frozen=True)
class Peak:
    """A peak of the device.

    Parameters
    ----------
    rate
        FLOP/s or bytes/s at the measured clock.
    boost
        FLOP/s or bytes/s at the device's highest clock; NaN if unknown.
    per_cycle
        The metric of the peak per cycle, times its factor, for people.
    clock
        The metric of the measured clock.
    """

    rate: float
    boost: float
    per_cycle: str
    clock: str


def sm_clock(launches: Launches) -> Floats:
    """Return the clock of the SMs during each launch, Hz."""
    derived = quotient(launches.cycles, launches.time.values)
    return first_known_values(*(clock_of(launches, unit) for unit in ("sm", "smsp")), derived)


def boost_clock(launches: Launches) -> float:
    """Return the highest clock of the SMs, Hz; NaN if unknown."""
    return _highest_clock(launches, _MAX_SM)


def time_weighted_mean(launches: Launches, column: Floats) -> float:
    """Return the mean of a column weighted by time (by launch if no time is known); NaN if no value is known."""
    weights = np.nan_to_num(launches.time.values * launches.count)
    known = ~np.isnan(column)
    if not known.any():
        return float("nan")
    weights = weights[known] if weights[known].any() else np.ones(int(known.sum()))
    values = column[known]
    # If all values are equal, return this value: their computed mean may have another last digit.
    if (values == values[0]).all():
        return float(values[0])
    # These sums are exact before they are rounded, so they do not depend on the order of launches.
    return math.fsum(values * weights) / math.fsum(weights)


def peak_rates(launches: Launches, *, fp16_packed: bool) -> dict[str, Peak]:
    """Return the peaks of the report by precision."""
    clock, most = sm_clock(launches), boost_clock(launches)
    packed = 2 if fp16_packed else 1
    found: dict[str, Peak] = {}
    for precision, metric, factor in (*_vector_peaks(packed), *_tensor_peaks(launches)):
        per_cycle = launches.metric(metric) * factor
        rate = time_weighted_mean(launches, per_cycle * clock)
        if precision not in found and rate > 0:
            boost = time_weighted_mean(launches, per_cycle) * most
            found[precision] = Peak(rate, boost, f"{metric}{times_text(factor)}", "sm__cycles_elapsed.avg.per_second")
    return found


def peak_bandwidths(launches: Launches, traffic: Traffic) -> dict[str, Peak]:
    """Return the bandwidths of the report by level. A level's bandwidth and its bytes have the same counter.

    A level whose bytes come from several counters has no bandwidth that bounds them all, so it has no peak. Nor has a
    level whose bytes are counted at its tags.
    """
    found: dict[str, Peak] = {}
    for level, sourced in traffic.items():
        counters = counters_of(sourced)
        if len(counters) != 1 or not counters[0].has_roof:
            continue
        (counter,) = counters
        metric = f"{counter.metric}.sum.peak_sustained"
        per_cycle = launches.metric(metric) * counter.size
        rate = time_weighted_mean(launches, per_cycle * clock_of(launches, counter.unit))
        if rate > 0:
            most = _highest_clock(launches, _MAX_DRAM if level == "DRAM" else _MAX_SM)
            boost = time_weighted_mean(launches, per_cycle) * most if level != "L2" else float("nan")
            clock = f"{counter.unit}__cycles_elapsed.avg.per_second"
            found[level] = Peak(rate, boost, f"{metric}{times_text(counter.size)}", clock)
    return found


def several_counters(traffic: Traffic) -> dict[str, list[ByteCounter]]:
    """Return the levels whose bytes come from several counters, with the counters."""
    found = {level: counters_of(sourced) for level, sourced in traffic.items()}
    return {level: counters for level, counters in found.items() if len(counters) > 1}


def _vector_peaks(packed: int) -> Iterator[tuple[str, str, float]]:
    kinds = (("fp64", "dfma", 2), ("fp32", "ffma", 2), (FP16_VECTOR, "hfma", 2 * packed), (INTEGER, "integer", 1))
    for precision, word, factor in kinds:
        for unit in ("sm", "smsp"):
            yield precision, f"{unit}__sass_thread_inst_executed_op_{word}_pred_on.sum.peak_sustained", factor
        for derived in (2, 4):
            yield precision, f"derived__sm__sass_thread_inst_executed_op_{word}_pred_on_x{derived}", factor / derived


def _tensor_peaks(launches: Launches) -> list[tuple[str, str, float]]:
    """Return the dense peaks of arithmetic paths.

    Paths of warp groups (``hgmma``) are first, because chips that have them reach their peak only by them. Then come
    paths with fp32 results, because data sheets give the peaks of these paths.
    """
    found: list[tuple[int, str, str]] = []
    for metric in launches.metrics:
        part = PATH_METRIC.fullmatch(metric)
        if part and part["form"] == ".peak_sustained" and part["sparsity"] != "on":
            is_group = (part["unit"] or "").endswith("gmma")
            order = 4 * (part["sparsity"] is None) + 2 * (part["dst"] != "fp32") + (part["unit"] is not None)
            order -= 8 * is_group
            found.append((order, part["src"].split("_")[-1], metric))
    return [(precision, metric, 1.0) for _, precision, metric in sorted(found)]


def _highest_clock(launches: Launches, names: tuple[str, ...]) -> float:
    clocks = first_known_values(*map(launches.metric, names))
    return time_weighted_mean(launches, clocks) * _KILO


# -- the chip ------------------------------------------------------------------------------------------------------

_SHEET_TOLERANCE: Final = 0.03
_BELOW_BOOST: Final = 0.95
_CLOCK_TOLERANCE: Final = 0.02
_GIGA: Final = 1e9
_BOOST, _SHEET = "boost clock", "data sheet"


def chip_with_roofs(
    launches: Launches, traffic: Traffic, *, given: Chip | str | None, precision: str | None, fp16_packed: bool
) -> tuple[Chip | None, list[str]]:
    """Return the device with its roofs (None if too little is known) and warnings.

    Parameters
    ----------
    launches
        The launches.
    traffic
        The bytes of the launches by level.
    given
        The chip that the launches ran on; None looks up the device name in the catalogue.
    precision
        The precision of most FLOPs, or None.
    fp16_packed
        Whether half-precision instructions do two operations per thread.

    Raises
    ------
    ProfileError
        If the report has a figure that no hardware has.
    """
    sheet = chip_called(given) if given is not None else _looked_up(launches)
    # An unknown capability is NaN. NaN differs from itself, so replace NaN before comparing.
    capabilities = np.nan_to_num(launches.capability).tolist()
    devices = set(zip(launches.device, capabilities, strict=True))
    if len(devices) > 1 and given is None:
        return None, [
            "the launches ran on several devices, so there is no chip; read one device at a time with device="
        ]
    clock = time_weighted_mean(launches, sm_clock(launches))
    figures = _ChipFigures(launches, sheet, clock)
    # The report's clocks and peaks may be such as no hardware has.
    with figures_of_chip(launches.source, "metrics of the clocks and peaks"):
        figures.operations(peak_rates(launches, fp16_packed=fp16_packed))
        figures.levels(peak_bandwidths(launches, traffic), several_counters(traffic))
        chip = figures.chip(precision)
    warnings = [*_warnings(launches, chip, figures), *_contradictions(launches, sheet if given is not None else None)]
    return chip, [*warnings, *_no_common_roof(traffic), *_no_roof_of_tags(launches, traffic, chip)]


@dataclass
class _ChipFigures:
    """Collects the figures of the chip, each with its source."""

    launches: Launches
    sheet: Chip | None
    clock: float

    def __post_init__(self) -> None:
        self.peak_flops: dict[str, float] = {}
        self.memories: dict[str, Memory] = {}
        self.ceilings: list[Ceiling] = []
        self.sources: dict[str, Source] = {}

    def operations(self, found: dict[str, Peak]) -> None:
        """Add the report's peaks. The peaks of other precisions are the data sheet's, scaled to the measured clock."""
        sheet = self.sheet
        for precision, peak in found.items():
            self.peak_flops[precision] = peak.rate
            self.sources[f"peak_flops.{precision}"] = _measured(peak)
            self._add_boost(peak, None, precision)
        if sheet is None:
            return
        for precision, rate in sheet.peak_flops.items():
            if precision not in self.peak_flops:
                self.peak_flops[precision] = rate * self._share
                self.sources[f"peak_flops.{precision}"] = self._scaled_source
            self.ceilings.append(Ceiling(_SHEET, rate, precision=precision, source=self._sheet_source))

    def levels(self, found: Mapping[str, Peak], without: Collection[str]) -> None:
        """Add the report's bandwidths. Bandwidths that the report lacks come from the data sheet.

        The levels in `without` get no bandwidth.
        """
        memories = [] if self.sheet is None else list(self.sheet.memories.values())
        main = next(iter(memories), None)
        levels = {"DRAM" if memory is main else memory.name: memory for memory in memories}
        for level in (name for name in dict.fromkeys(["DRAM", *found, *levels]) if name not in without):
            peak, memory = found.get(level), levels.get(level)
            if peak is not None:
                self.memories[level] = self._sized(Memory(level) if memory is None else memory, level, peak.rate)
                self.sources[f"memories.{level}.bandwidth"] = _measured(peak)
                self._add_boost(peak, level, None)
                if memory is not None and memory.bandwidth is not None:
                    self.ceilings.append(Ceiling(_SHEET, memory.bandwidth, memory=level, source=self._sheet_source))
            elif memory is main and memory is not None:
                self.memories[memory.name] = memory
            elif memory is not None and memory.bandwidth is not None:
                # Scale the bandwidths of caches, which run at about the SM clock. Off-chip memory has its own clock.
                rate = memory.bandwidth * self._share
                self.memories[memory.name] = dataclasses.replace(memory, bandwidth=rate)
                self.sources[f"memories.{memory.name}.bandwidth"] = self._scaled_source
                self.ceilings.append(Ceiling(_SHEET, memory.bandwidth, memory=memory.name, source=self._sheet_source))

    def chip(self, precision: str | None) -> Chip | None:
        """Return the chip; None without a peak or without the bandwidth of the main memory."""
        main = next(iter(self.memories.values()), None)
        if (
            not self.peak_flops
            or main is None
            or main.bandwidth is None
            or main.name not in {"DRAM", *list(self.sheet.memories if self.sheet else ())[:1]}
        ):
            return None
        # If the launches ran on several devices, the user named the chip.
        name = _device_name(self.launches) or (self.sheet.name if self.sheet else "GPU")
        at = f" at {self.clock / _GIGA:.4g} GHz" if self.clock > 0 else ""
        figures = {*(f"peak_flops.{p}" for p in self.peak_flops), *(f"memories.{m}.bandwidth" for m in self.memories)}
        return Chip(
            name + at,
            self.peak_flops,
            self.memories,
            vendor="NVIDIA",
            kind="gpu",
            family="" if self.sheet is None else self.sheet.family,
            default_precision=precision if precision in self.peak_flops else None,
            clock=self.clock if self.clock > 0 else None,
            ceilings=self.ceilings,
            sources={key: source for key, source in self.sources.items() if key in figures} | self._latency_sources,
        )

    @property
    def _share(self) -> float:
        """The measured clock divided by the data sheet's clock; 1 if a clock is unknown."""
        most = None if self.sheet is None else self.sheet.clock
        return self.clock / most if most is not None and self.clock > 0 else 1.0

    @property
    def _latency_sources(self) -> dict[str, Source]:
        """The source of each latency: a report has none, so they are those of the catalogue."""
        source = Source(f"catalogue: {'' if self.sheet is None else self.sheet.name}", confidence="measured")
        known = (name for name, memory in self.memories.items() if memory.latency is not None)
        return {f"memories.{name}.latency": source for name in known}

    @property
    def _scaled_source(self) -> Source:
        name = "" if self.sheet is None else self.sheet.name
        return Source(f"{_SHEET} of {name} x measured clock / its clock", confidence="derived")

    @property
    def _sheet_source(self) -> Source:
        return Source("" if self.sheet is None else self.sheet.name, confidence="datasheet")

    def _add_boost(self, peak: Peak, memory: str | None, precision: str | None) -> None:
        if peak.boost > 0:
            source = Source(f"{peak.per_cycle} x the highest clock", confidence="derived")
            self.ceilings.append(Ceiling(_BOOST, peak.boost, memory, precision, source=source))

    def _sized(self, memory: Memory, level: str, rate: float) -> Memory:
        """Return a level with its rate and with the sizes that the report has.

        Of the DRAM the driver reports what programs can allocate. The capacity is that of the data sheet.
        """
        metric = {"DRAM": "device__attribute_total_memory", "L2": "device__attribute_l2_cache_size"}.get(level)
        found = np.nan if metric is None else time_weighted_mean(self.launches, self.launches.metric(metric))
        size = float(found) if found > 0 else None
        if level != "DRAM":
            return Memory(level, rate, size or memory.capacity, per_block=memory.per_block, latency=memory.latency)
        capacity = max((known for known in (size, memory.capacity) if known is not None), default=None)
        return Memory(level, rate, capacity, usable=size or memory.usable, latency=memory.latency)


def _measured(peak: Peak) -> Source:
    return Source(f"{peak.per_cycle} x {peak.clock}", confidence="measured")


def _looked_up(launches: Launches) -> Chip | None:
    """Return the catalogue's chip with the device's name; None unless there is exactly one."""
    name = _device_name(launches)
    try:
        return None if name is None else chip_of_device(name)
    except LookupError:
        return None


def _device_name(launches: Launches) -> str | None:
    """Return the name of the device; None if it is unknown or the launches ran on several devices."""
    names = {name for name in launches.device if name}
    return names.pop() if len(names) == 1 else None


def _capabilities(launches: Launches) -> list[float]:
    """Return the different compute capabilities of the launches, in ascending order."""
    return sorted({float(capability) for capability in launches.capability if capability > 0})


def advised_chip(launches: Launches) -> str:
    """Return how to name a chip, for messages: those of the device's name, else one of its compute capability."""
    several = chips_named(_device_name(launches) or "")
    if len(several) > 1:
        return f"one of {listed(one.id for one in several)}"
    capability = min(_capabilities(launches), default=None)
    about = f" (compute capability {capability:.1f})" if capability is not None else ""
    return f"such as chip='{chip_of_capability(capability)}'{about}"


def _contradictions(launches: Launches, given: Chip | None) -> list[str]:
    """Warn if the user named a chip of another generation than the device's."""
    if given is None:
        return []
    remarks = []
    for capability in _capabilities(launches):
        expected = chip_called(chip_of_capability(capability))
        if expected.family.partition(" ")[0] != given.family.partition(" ")[0]:
            what = f"the launches ran on a device of compute capability {capability:.1f}, as '{expected.id}' has"
            remarks.append(f"{what}, but the data sheet is that of '{given.id or given.name}'")
    return remarks


def _no_common_roof(traffic: Traffic) -> list[str]:
    return [
        f"bytes of {level} come from different counters, {listed(map(str, counters))}, whose roofs differ, so {level} "
        "has no roof: profile all launches with the same metrics"
        for level, counters in several_counters(traffic).items()
    ]


def _no_roof_of_tags(launches: Launches, traffic: Traffic, chip: Chip | None) -> list[str]:
    counters = {level: counters_of(sourced) for level, sourced in traffic.items()}
    return [
        f"{level} has no roof: the peak of {own[0].metric} is how much its tags look up, and not how much it moves; "
        f"name a chip, {advised_chip(launches)}, for the bandwidth of its data sheet"
        for level, own in counters.items()
        if chip is not None and level not in chip.memories and len(own) == 1 and not own[0].has_roof
    ]


def _warnings(launches: Launches, chip: Chip | None, figures: _ChipFigures) -> list[str]:
    if chip is None:
        how = f"name a chip, {advised_chip(launches)}, for its data sheet at the measured clock"
        return [f"the file has no peaks (as 'ncu --set roofline' collects them), so there is no chip: {how}"]
    remarks = []
    clocks = sm_clock(launches)
    clocks = clocks[~np.isnan(clocks)]
    if len(clocks) and np.ptp(clocks) > _CLOCK_TOLERANCE * clocks.mean():
        low, high = clocks.min() / _GIGA, clocks.max() / _GIGA
        remarks.append(f"the clock of the SMs was {low:.3f} to {high:.3f} GHz: roofs are at its mean over time")
    boost = boost_clock(launches)
    boost = boost if boost > 0 else (figures.sheet.clock or 0.0) if figures.sheet is not None else 0.0
    if 0 < figures.clock < _BELOW_BOOST * boost:
        remarks.append(
            f"measured at {figures.clock / _GIGA:.3f} GHz of at most {boost / _GIGA:.3f} GHz: ncu locks the clock and "
            "flushes caches, so the program itself is faster; profile with '--clock-control none --cache-control none'"
        )
    main = next(iter(chip.memories.values()))
    sheet = next((c.rate for c in chip.ceilings if c.name == _SHEET and c.memory == main.name), None)
    if sheet is not None and main.bandwidth is not None and main.bandwidth > (1 + _SHEET_TOLERANCE) * sheet:
        remarks.append(
            f"the report's peak of {main.name}, {main.bandwidth / _GIGA:.1f} GB/s, is above the data sheet's "
            f"{sheet / _GIGA:.1f} GB/s: it counts every channel that the chip could have"
        )
    return remarks
