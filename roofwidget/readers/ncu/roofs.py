"""The roofs over a report: its device's peaks at the clock that was measured, boost clock and data sheet beside them.

Nsight Compute keeps the clock at its base unless told otherwise, so what a kernel could have reached is not what a data
sheet prints. A peak per cycle of the report times the cycles per second that it measured is.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Final

import numpy as np

from roofwidget.chips import AmbiguousChipError, Ceiling, Chip, Memory, Source, UnknownChipError
from roofwidget.chips import chip as chip_called
from roofwidget.readers.ncu import peaks
from roofwidget.readers.ncu.launches import Launches
from roofwidget.readers.ncu.peaks import Peak
from roofwidget.readers.ncu.traffic import Moved

__all__ = ["roofs"]

_CLOSE: Final = 0.03
_SLOW: Final = 0.95
_STEADY: Final = 0.02
_GIGA: Final = 1e9
_BOOST, _SHEET = "boost clock", "data sheet"


def roofs(
    launches: Launches, traffic: Moved, *, given: Chip | str | None, precision: str | None, fp16_packed: bool
) -> tuple[Chip | None, list[str]]:
    """Return the device with its roofs, None where too little is known, and what there is to say.

    Parameters
    ----------
    launches
        The launches.
    traffic
        Their bytes by level.
    given
        The chip they ran on; None looks its name up in the catalogue.
    precision
        The precision that most FLOPs have, or None.
    fp16_packed
        Whether half-precision instructions do two operations a thread.
    """
    sheet = chip_called(given) if given is not None else _looked_up(launches)
    # An unknown capability is NaN, which no other NaN equals.
    capabilities = np.nan_to_num(launches.capability).tolist()
    devices = set(zip(launches.device, capabilities, strict=True))
    if len(devices) > 1 and given is None:
        return None, ["launches of several devices: there is no one roof; read one at a time with device="]
    clock = peaks.mean(launches, peaks.sm_clock(launches))
    told = _Told(launches, sheet, clock)
    told.operations(peaks.of_operations(launches, fp16_packed=fp16_packed))
    told.levels(peaks.of_memories(launches, traffic))
    chip = told.chip(precision)
    return chip, _remarks(launches, chip, told)


@dataclass
class _Told:
    """The figures of the chip that is made, each with its source, as they come together."""

    launches: Launches
    sheet: Chip | None
    clock: float

    def __post_init__(self) -> None:
        self.peak_flops: dict[str, float] = {}
        self.memories: dict[str, Memory] = {}
        self.ceilings: list[Ceiling] = []
        self.sources: dict[str, Source] = {}

    def operations(self, found: dict[str, Peak]) -> None:
        """Take the report's peaks, and those of the data sheet at the measured clock for other precisions."""
        sheet = self.sheet
        for precision, peak in found.items():
            self.peak_flops[precision] = peak.rate
            self.sources[f"peak_flops.{precision}"] = Source(peak.rule, confidence="measured")
            self._beside(peak, None, precision)
        if sheet is None:
            return
        for precision, rate in sheet.peak_flops.items():
            if precision not in self.peak_flops:
                self.peak_flops[precision] = rate * self._share
                rule = f"{_SHEET} of {sheet.name} x measured clock / its clock"
                self.sources[f"peak_flops.{precision}"] = Source(rule, confidence="derived")
            self.ceilings.append(Ceiling(_SHEET, rate, precision=precision, source=self._sheet_source))

    def levels(self, found: dict[str, Peak]) -> None:
        """Take the report's bandwidths, and those of the data sheet for levels that it does not tell."""
        main = None if self.sheet is None else next(iter(self.sheet.memories.values()))
        sheets = {} if self.sheet is None else {m.name: m for m in self.sheet.memories.values() if m is not main}
        told = {"DRAM": main, **sheets} if main is not None else {}
        for level in dict.fromkeys(["DRAM", *found, *told]):
            peak, memory = found.get(level), told.get(level)
            capacity = self._capacity(level)
            if peak is not None:
                known = memory.capacity if memory is not None and capacity is None else capacity
                self.memories[level] = Memory(level, peak.rate, known)
                self.sources[f"memories.{level}.bandwidth"] = Source(peak.rule, confidence="measured")
                self._beside(peak, level, None)
                if memory is not None and memory.bandwidth is not None:
                    self.ceilings.append(Ceiling(_SHEET, memory.bandwidth, memory=level, source=self._sheet_source))
            elif memory is main and memory is not None:
                self.memories[memory.name] = memory
            elif memory is not None and memory.bandwidth is not None:
                # Caches run at the clock of the SMs, or near it; the memory outside the chip does not.
                rate = memory.bandwidth * self._share
                self.memories[memory.name] = dataclasses.replace(memory, bandwidth=rate)
                self.ceilings.append(Ceiling(_SHEET, memory.bandwidth, memory=memory.name, source=self._sheet_source))

    def chip(self, precision: str | None) -> Chip | None:
        """Return the chip, None without a peak or without the bandwidth of the main memory."""
        main = next(iter(self.memories.values()), None)
        if not self.peak_flops or main is None or main.bandwidth is None or main.name not in {"DRAM", *self._mains()}:
            return None
        name = next((name for name in self.launches.device if name), "") or (self.sheet.name if self.sheet else "GPU")
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
            sources={key: source for key, source in self.sources.items() if key in figures},
        )

    @property
    def _share(self) -> float:
        """The measured clock over that of the data sheet; 1 where one of them is not known."""
        most = None if self.sheet is None else self.sheet.clock
        return self.clock / most if most is not None and self.clock > 0 else 1.0

    @property
    def _sheet_source(self) -> Source:
        return Source("" if self.sheet is None else self.sheet.name, confidence="datasheet")

    def _mains(self) -> list[str]:
        return [] if self.sheet is None else [next(iter(self.sheet.memories))]

    def _beside(self, peak: Peak, memory: str | None, precision: str | None) -> None:
        if peak.boost > 0:
            source = Source(peak.rule.rpartition(" x ")[0] + " x the highest clock", confidence="derived")
            self.ceilings.append(Ceiling(_BOOST, peak.boost, memory, precision, source=source))

    def _capacity(self, level: str) -> float | None:
        metric = {"DRAM": "device__attribute_total_memory", "L2": "device__attribute_l2_cache_size"}.get(level)
        known = np.nan if metric is None else peaks.mean(self.launches, self.launches.metric(metric))
        return float(known) if known > 0 else None


def _looked_up(launches: Launches) -> Chip | None:
    """Return the catalogue's chip of the device's name, None where there is none or several."""
    name = next((name for name in launches.device if name), None)
    try:
        return None if name is None else chip_called(name)
    except (UnknownChipError, AmbiguousChipError):
        return None


def _remarks(launches: Launches, chip: Chip | None, told: _Told) -> list[str]:
    if chip is None:
        how = "name one, such as chip='a100-sxm-80gb', for its data sheet at the measured clock"
        return [f"the file tells no peaks (as 'ncu --set roofline' collects them), so there is no chip: {how}"]
    remarks = []
    clocks = peaks.sm_clock(launches)
    clocks = clocks[~np.isnan(clocks)]
    if len(clocks) and np.ptp(clocks) > _STEADY * clocks.mean():
        low, high = clocks.min() / _GIGA, clocks.max() / _GIGA
        remarks.append(f"the clock of the SMs was {low:.3f} to {high:.3f} GHz: roofs are at its mean over time")
    boost = peaks.boost_clock(launches)
    boost = boost if boost > 0 else (told.sheet.clock or 0.0) if told.sheet is not None else 0.0
    if 0 < told.clock < _SLOW * boost:
        remarks.append(
            f"measured at {told.clock / _GIGA:.3f} GHz of at most {boost / _GIGA:.3f} GHz: ncu locks the clock and "
            "flushes caches unless told '--clock-control none --cache-control none', so the program itself is faster"
        )
    main = next(iter(chip.memories.values()))
    sheet = next((c.rate for c in chip.ceilings if c.name == _SHEET and c.memory == main.name), None)
    if sheet is not None and main.bandwidth is not None and main.bandwidth > (1 + _CLOSE) * sheet:
        remarks.append(
            f"the report's peak of {main.name}, {main.bandwidth / _GIGA:.1f} GB/s, is above the data sheet's "
            f"{sheet / _GIGA:.1f} GB/s: it counts every channel that the chip could have"
        )
    return remarks
