"""What a report itself tells of its device: peaks per cycle, clocks measured and clocks at most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from roofwidget.kernels.columns import Floats
from roofwidget.readers.ncu import evidence
from roofwidget.readers.ncu.counts import HALF
from roofwidget.readers.ncu.launches import Launches
from roofwidget.readers.ncu.paths import PATH
from roofwidget.readers.ncu.traffic import SECTOR, WRITEBACK, Moved

__all__ = ["Peak", "boost_clock", "mean", "of_memories", "of_operations", "sm_clock"]

_KILO: Final = 1e3
_MAX_SM: Final = ("device__attribute_max_gpu_frequency_khz", "device__attribute_clock_rate")
_MAX_DRAM: Final = ("device__attribute_max_mem_frequency_khz", "device__attribute_memory_clock_rate")


@dataclass(frozen=True)
class Peak:
    """A peak of the device.

    Parameters
    ----------
    rate
        FLOP/s or bytes/s at the clock that was measured.
    boost
        The same at the highest clock that the device has; NaN where not told.
    rule
        The metrics it comes from.
    """

    rate: float
    boost: float
    rule: str


def sm_clock(launches: Launches) -> Floats:
    """Return the clock of the SMs during each launch, Hz."""
    derived = evidence.quotient(evidence.cycles(launches), evidence.time(launches).values)
    rates = [(_rate(launches, unit), "") for unit in ("sm", "smsp")]
    return evidence.first_known(len(launches), [*rates, (derived, "")]).values


def boost_clock(launches: Launches) -> float:
    """Return the highest clock that the SMs have, Hz; NaN where not told."""
    return _most(launches, _MAX_SM)


def mean(launches: Launches, column: Floats) -> float:
    """Return the mean of a column over time; over launches where no time is known, NaN where nothing is."""
    weights = np.nan_to_num(evidence.time(launches).values * launches.count)
    known = ~np.isnan(column)
    if not known.any():
        return float("nan")
    weights = weights[known] if weights[known].any() else np.ones(int(known.sum()))
    values = column[known]
    # One value stays as it is, to the last digit.
    return float(values[0]) if (values == values[0]).all() else float(np.average(values, weights=weights))


def of_operations(launches: Launches, *, fp16_packed: bool) -> dict[str, Peak]:
    """Return the peaks by precision that the report tells."""
    clock, most = sm_clock(launches), boost_clock(launches)
    packed = 2 if fp16_packed else 1
    found: dict[str, Peak] = {}
    for precision, metric, factor in (*_vector_peaks(packed), *_tensor_peaks(launches)):
        per_cycle = launches.metric(metric) * factor
        rate = mean(launches, per_cycle * clock)
        if precision not in found and rate > 0:
            times = f" x {factor:g}" if factor != 1 else ""
            rule = f"{metric}{times} x sm__cycles_elapsed.avg.per_second"
            found[precision] = Peak(rate, mean(launches, per_cycle) * most, rule)
    return found


def of_memories(launches: Launches, traffic: Moved) -> dict[str, Peak]:
    """Return the bandwidths by level that the report tells, each under the definition that its bytes have."""
    found: dict[str, Peak] = {}
    for level, told in traffic.items():
        rule = next((rule for rule in told.rules if rule), "")
        metric, factor, unit = _definition(level, rule)
        per_cycle = launches.metric(f"{metric}.sum.peak_sustained") * factor
        rate = mean(launches, per_cycle * _rate(launches, unit))
        if rate > 0:
            most = _most(launches, _MAX_DRAM if level == "DRAM" else _MAX_SM)
            boost = mean(launches, per_cycle) * most if level != "L2" else float("nan")
            times = f" x {factor:g}" if factor != 1 else ""
            found[level] = Peak(
                rate, boost, f"{metric}.sum.peak_sustained{times} x {unit}__cycles_elapsed.avg.per_second"
            )
    return found


def _definition(level: str, rule: str) -> tuple[str, int, str]:
    """Return the metric, its bytes and its unit that the peak of a level goes by, as its bytes do."""
    if level == "DRAM":
        return "dram__bytes", 1, "dram"
    if level == "L2":
        if "lts2xbar" in rule:
            return "lts__lts2xbar_cycles_active", SECTOR, "lts"
        return ("l1tex__m_xbar2l1tex_read_bytes", 1, "lts") if "xbar2l1tex" in rule else ("lts__t_bytes", 1, "lts")
    name = rule.partition(".")[0]
    return (name, WRITEBACK, "l1tex") if "writeback" in name else ("l1tex__t_bytes", 1, "l1tex")


def _vector_peaks(packed: int) -> Iterator[tuple[str, str, float]]:
    for precision, word, factor in (("fp64", "dfma", 2), ("fp32", "ffma", 2), (HALF, "hfma", 2 * packed)):
        for unit in ("sm", "smsp"):
            yield precision, f"{unit}__sass_thread_inst_executed_op_{word}_pred_on.sum.peak_sustained", factor
        for derived in (2, 4):
            yield precision, f"derived__sm__sass_thread_inst_executed_op_{word}_pred_on_x{derived}", factor / derived


def _tensor_peaks(launches: Launches) -> list[tuple[str, str, float]]:
    """Return the counters of arithmetic paths whose peak is dense; results in fp32 come first, as data sheets count."""
    found: list[tuple[int, str, str]] = []
    for metric in launches.metrics:
        part = PATH.fullmatch(metric)
        if part and part["form"] == ".peak_sustained" and part["sparsity"] != "on":
            order = 4 * (part["sparsity"] is None) + 2 * (part["dst"] != "fp32") + (part["unit"] is not None)
            found.append((order, part["src"].split("_")[-1], metric))
    return [(precision, metric, 1.0) for _, precision, metric in sorted(found)]


def _rate(launches: Launches, unit: str) -> Floats:
    return launches.metric(f"{unit}__cycles_elapsed.avg.per_second")


def _most(launches: Launches, names: tuple[str, ...]) -> float:
    told = evidence.first_known(len(launches), [(launches.metric(name), "") for name in names]).values
    return mean(launches, told) * _KILO
