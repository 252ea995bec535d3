"""From launches to `Kernels`: FLOPs, bytes, seconds, roofs, and what there is to say of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from roofwidget.chips import FLOP_CLASSES, Chip
from roofwidget.kernels.columns import Floats, sum_of_known
from roofwidget.kernels.table import Kernels
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source
from roofwidget.readers.ncu import evidence, peaks, remarks
from roofwidget.readers.ncu.completing import Given, matched
from roofwidget.readers.ncu.counts import HALF, Counts, counted
from roofwidget.readers.ncu.evidence import Told
from roofwidget.readers.ncu.launches import WORDS, Launches, merged, shapes
from roofwidget.readers.ncu.pages import COMMAND, read_pages
from roofwidget.readers.ncu.report import MAGIC, read_report
from roofwidget.readers.ncu.roofs import roofs
from roofwidget.readers.ncu.traffic import moved

__all__ = ["gathered", "kernels"]

_TIME: Final = "gpu__time_duration.sum"
_COLUMNS: Final = {
    "registers per thread": "launch__registers_per_thread",
    "waves per SM": "launch__waves_per_multiprocessor",
    "achieved occupancy (%)": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "SM throughput (%)": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "memory throughput (%)": "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "L1 hit rate (%)": "l1tex__t_sector_hit_rate.pct",
    "L2 hit rate (%)": "lts__t_sector_hit_rate.pct",
    "DRAM clock (Hz)": "dram__cycles_elapsed.avg.per_second",
}


def gathered(files: Sequence[Source], device: int | str | None) -> Launches:
    """Return the launches of several passes as one, on one device if it is named."""
    parts = [read_report(file) if file.head.startswith(MAGIC) else read_pages(file) for file in files]
    launches = _joined_runs(parts[0])
    for part in parts[1:]:
        launches = merged(launches, _joined_runs(part))
    if device is None:
        return launches
    told = launches.words["device"]
    rows = [row for row, number in enumerate(told) if number == str(device)]
    if not rows:
        known = ", ".join(sorted({str(number) for number in told}))
        raise ProfileError(launches.source, f"no launch on device {device}; there is {known}")
    return launches.at(np.array(rows, dtype=np.intp))


def _joined_runs(launches: Launches) -> Launches:
    """Return the passes of one program that stand in one file, one after the other, as one.

    They are the same kernels in the same order in each process, with metrics that no other pass has.
    """
    processes = list(dict.fromkeys(launches.words["process"]))
    if len(processes) < 2 or (launches.count > 1).any():  # noqa: PLR2004 - one process is one pass
        return launches
    told = np.array(launches.words["process"], dtype=object)
    runs = [launches.at(np.flatnonzero(told == process)) for process in processes]
    read = [{name for name, column in run.metrics.items() if _distinguishes(name, column)} for run in runs]
    same = all(shapes(run) == shapes(runs[0]) for run in runs)
    if not same or sum(map(len, read)) > len(set().union(*read)) or not all(read):
        return launches
    first, *others = runs
    for other in others:
        first = merged(first, other)
    return first.with_remark(f"the file holds {len(runs)} passes of one program: their metrics were joined")


def _distinguishes(name: str, column: Floats) -> bool:
    shared = name.startswith(("gpu__time", "device__", "launch__")) or "cycles_elapsed" in name
    return not shared and not np.isnan(column).all()


def kernels(
    launches: Launches, *, flops: Given | None, fp16_packed: bool, chip: Chip | str | None, source: str
) -> Kernels:
    """Return the launches as `Kernels`; of a summary each row stands for `count` launches.

    Raises
    ------
    ProfileError
        If neither time nor bytes nor FLOPs of any launch are told: names what was expected.
    """
    time, traffic = evidence.time(launches), moved(launches)
    counts = counted(launches, fp16_packed=fp16_packed)
    if not (time.is_known.any() or traffic or counts.flops or flops):
        reason = f"holds no time, bytes or FLOPs of its {len(launches)} launches; collect them with '{COMMAND}'"
        raise ProfileError(source, reason)
    parts, counts, precision, said = _completed(launches, counts, flops)
    most = _most(parts, launches)
    roof, heard = roofs(launches, traffic, given=chip, precision=most, fp16_packed=fp16_packed)
    parts = _charged(parts, roof)
    if roof is not None and (lacking := [key for key in parts if _is_precision(key) and key not in roof.peak_flops]):
        name = "name the chip, such as chip='h100-sxm', for its data sheet"
        heard = [*heard, f"the file tells no peak of {', '.join(lacking)}, so there is no chip: {name}"]
        roof = None
    n, count = len(launches), launches.count
    rules = {f"flops:{key}" if key else "flops": told.rules for key, told in parts.items()}
    return Kernels(
        launches.names,
        {key: told.values * count for key, told in parts.items()} or np.full(n, np.nan),
        {level: told.values * count for level, told in traffic.items()} or np.full(n, np.nan),
        time=time.values * count,
        precision=[given or _main(parts, row) for row, given in enumerate(precision)],
        count=count,
        origin={
            **rules,
            "flops": _joined_rules(parts, counts.reasons),
            "time": time.rules,
            **{f"bytes:{level}": told.rules for level, told in traffic.items()},
        },
        extra=_extra(launches),
        chip=roof,
        warnings=[*launches.remarks, *remarks.of(launches, counts, time, traffic), *said, *heard],
        source=source,
    )


def _completed(
    launches: Launches, counts: Counts, given: Given | None
) -> tuple[dict[str, Told], Counts, list[str | None], list[str]]:
    """Return FLOPs with those that the user gives, what is open still, the precision given, and remarks."""
    n = len(launches)
    parts, reasons = dict(counts.flops), counts.reasons.copy()
    precision: list[str | None] = [None] * n
    if given is None:
        return parts, counts, precision, []
    is_unknown = np.array([reason is not None for reason in reasons], dtype=np.bool_)
    # Where the tensor cores' zeros prove nothing, what other units did may not be all.
    found, said = matched(given, list(launches.names), is_unknown | counts.tensor.all_zero)
    rows = list(found)
    for told in parts.values():
        told.values[rows], told.rules[rows] = np.nan, None
    for row, (flops, judged, rule) in found.items():
        for key, number in flops.items():
            if key not in parts:
                parts[key] = evidence.nothing(n)
            parts[key].values[row] = number
            parts[key].rules[row] = rule
        reasons[row], precision[row] = None, judged
    all_zero = counts.tensor.all_zero.copy()
    all_zero[rows] = False
    tensor = dataclasses.replace(counts.tensor, all_zero=all_zero)
    return parts, dataclasses.replace(counts, reasons=reasons, tensor=tensor), precision, said


def _charged(parts: dict[str, Told], chip: Chip | None) -> dict[str, Told]:
    """Return FLOPs with half precision outside tensor cores under ``fp16`` where the chip has no peak of its own."""
    if chip is None or HALF not in parts or HALF in chip.peak_flops or "fp16" not in chip.peak_flops:
        return parts
    half, tensor = parts[HALF], parts.get("fp16", evidence.nothing(len(parts[HALF].values)))
    values = sum_of_known([tensor.values, half.values], len(half.values))
    rules = [" + ".join(filter(None, pair)) or None for pair in zip(tensor.rules, half.rules, strict=True)]
    kept = {key: told for key, told in parts.items() if key != HALF}
    return {**kept, "fp16": Told(values, np.array(rules, dtype=object))}


def _most(parts: Mapping[str, Told], launches: Launches) -> str | None:
    """Return the precision that most FLOPs of all launches have."""
    totals = {key: float(np.nansum(told.values * launches.count)) for key, told in parts.items() if _is_precision(key)}
    return max(totals, key=lambda key: totals[key], default=None)


def _main(parts: Mapping[str, Told], row: int) -> str | None:
    """Return the precision that most FLOPs of a launch have, None where there are none."""
    known = {key: told.values[row] for key, told in parts.items() if _is_precision(key) and told.values[row] > 0}
    return max(known, key=lambda key: known[key], default=None)


def _is_precision(key: str) -> bool:
    """Whether FLOPs under this key have a precision of their own; those of an `Op` are told by class."""
    return key not in {"", *FLOP_CLASSES}


def _joined_rules(parts: Mapping[str, Told], reasons: Any) -> list[str | None]:
    rows = zip(*(told.rules for told in parts.values()), strict=True) if parts else ((),) * len(reasons)
    keys = list(parts)
    texts: dict[tuple[str | None, ...], str] = {}
    found: list[str | None] = []
    for rules, reason in zip(rows, reasons, strict=True):
        if rules not in texts:
            named = [f"{key}: {rule}" if key else rule for key, rule in zip(keys, rules, strict=True) if rule]
            texts[rules] = "; ".join(named)
        found.append(reason or texts[rules] or None)
    return found


def _extra(launches: Launches) -> dict[str, Any]:
    """Return what else is told of the launches: their words, and columns of use beside a roofline."""
    found: dict[str, Any] = {}
    for word in WORDS:
        told = launches.words[word]
        if word != "cc" and any(value is not None for value in told):
            found[word] = told
    clock = peaks.sm_clock(launches)
    told_of = {"compute capability": launches.capability, "SM clock (Hz)": clock}
    columns = {**told_of, **{name: launches.metric(metric) for name, metric in _COLUMNS.items()}}
    found |= {name: column for name, column in columns.items() if not np.isnan(column).all()}
    if _TIME in launches.spread:
        low, high = launches.spread[_TIME]
        found |= {"time min (s)": low, "time max (s)": high}
    if any(launches.device):
        found["device name"] = list(launches.device)
    return found
