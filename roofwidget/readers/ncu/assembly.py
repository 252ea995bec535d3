"""Turn launches into `Kernels`: FLOPs, bytes, seconds, roofs and warnings."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from roofwidget.chips import FLOP_CLASSES, Chip
from roofwidget.kernels.columns import Bools, Floats, sum_of_known
from roofwidget.kernels.table import Kernels
from roofwidget.readers.amounts import integers_counted
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source
from roofwidget.readers.ncu.flops import (
    FP16_VECTOR,
    INTEGER,
    FlopCounts,
    GivenFlops,
    count_flops,
    integer_operations,
    match_given,
    tensor_activity,
)
from roofwidget.readers.ncu.low_level import low_level_columns
from roofwidget.readers.ncu.metrics import (
    LAUNCH_FIELDS,
    Launches,
    Rule,
    Sourced,
    Traffic,
    all_unknown,
    joined_rules,
    launch_shapes,
    merge_passes,
    traffic_by_level,
)
from roofwidget.readers.ncu.ncu_rep import MAGIC, read_report
from roofwidget.readers.ncu.pages import COMMAND, read_pages
from roofwidget.readers.ncu.roofs import advised_chip, chip_with_roofs, sm_clock
from roofwidget.support.text_tables import first_words

# -- warnings ------------------------------------------------------------------------------------------------------

_MAX_NAME_CHARS: Final = 40
_MAX_METRICS: Final = 3
_BUSY: Final = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
_BUSY_PERCENT: Final = 50
_GIVE: Final = "set them by name, such as flops={'gemm': '155 GFLOP'}"
_INTEGER_PEAK: Final = "sm__sass_thread_inst_executed_op_integer_pred_on.sum.peak_sustained"
_GIVE_CHIP: Final = "give a chip that has one, such as chip=rw.chip(…).replace(peak_flops={…})"
_PRECISION_TEXTS: Final = {"fp16_vector": "fp16 outside tensor cores"}


def launch_warnings(launches: Launches, counts: FlopCounts, time: Sourced, traffic: Traffic) -> list[str]:
    """Return the warnings about FLOPs, bytes and time."""
    tensor = counts.tensor
    is_unknown = np.array([reason is not None for reason in counts.reasons], dtype=np.bool_)
    remarks: list[str] = []
    zero = tensor.all_zero & is_unknown
    if zero.any():
        most = np.nanmax(launches.metric(_BUSY)[zero], initial=-1)
        share = f", with SMs up to {most:.0f} % busy" if most >= 0 else ""
        remarks.append(
            f"all tensor counters are 0 for {_which(launches, zero)}{share}: {_counters(launches)} miss the "
            f"instructions of new tensor cores, so these FLOPs are unknown, not 0; {_GIVE}"
        )
    busy = tensor.all_zero & ~is_unknown & (launches.metric(_BUSY) >= _BUSY_PERCENT)
    if busy.any():
        remarks.append(
            f"all tensor counters are 0 for {_which(launches, busy)}, which keep SMs busy: the "
            f"FLOPs are those of other units; if the kernels use new tensor cores, {_GIVE}"
        )
    if (tensor.no_shape & is_unknown).any():
        where = tensor.no_shape & is_unknown
        remarks.append(
            f"tensor instructions without a shape in the name in {_which(launches, where)}: "
            f"their FLOPs are unknown; {_GIVE}"
        )
    active = tensor.is_active & is_unknown
    if active.any():
        remarks.append(
            f"a tensor pipe was active in {_which(launches, active)}, as {_activity(launches, active)} shows, but no "
            f"counter has its FLOPs: they are unknown; {_GIVE}"
        )
    uncounted = is_unknown & tensor.is_unknown & ~tensor.is_counted & ~active
    if uncounted.any():
        remarks.append(
            f"no counter of tensor cores for {_which(launches, uncounted)}, whose name indicates them: "
            f"their FLOPs are unknown; {_GIVE}"
        )
    rest = is_unknown & ~zero & ~active & ~uncounted & ~tensor.no_shape
    if rest.any():
        remarks.append(f"FLOPs are unknown for {_how_many(launches, rest)}: the file does not count them all; {_GIVE}")
    remarks += [] if INTEGER in counts.flops else _integers_left_out(launches, counts)
    return [*remarks, *flop_warnings(launches, counts), *_missing_metrics(time, traffic)]


def _integers_left_out(launches: Launches, counts: FlopCounts) -> list[str]:
    """Return a warning if launches without FLOPs do operations of integers that are not counted."""
    floating = sum_of_known([sourced.values for sourced in counts.flops.values()], len(launches))
    where = ~(floating > 0) & (integer_operations(launches).values > 0)
    if not where.any():
        return []
    return [f"operations of integers are not counted in {_which(launches, where)}: integers=True counts them"]


def flop_warnings(launches: Launches, counts: FlopCounts) -> list[str]:
    """Return warnings: how FLOPs were counted, and which operations are not in the FLOPs."""
    remarks: list[str] = []
    tensor = counts.tensor
    if tensor.moves.any():
        remarks.append(
            f"the tensor pipe moved registers in {_which(launches, tensor.moves)}: compilers set and copy registers "
            "with the half-precision instruction hfma too, so these hfma are not counted as FLOPs"
        )
    if tensor.may_move.any():
        remarks.append(
            f"hfma is left out in {_which(launches, tensor.may_move)}: on this chip it "
            "also counts register moves, and only sm__inst_executed_pipe_tensor.sum (A100) or "
            "sm__inst_executed_pipe_fma_type_fp16 (H100) shows which hfma are arithmetic"
        )
    if any(rule.is_estimate for sourced in counts.flops.values() for rule in sourced.different_rules()):
        remarks.append("tensor FLOPs are estimates from the instruction shape: see origin['flops']")
    remarks += integers_counted(counts.flops)
    if tensor.sparse.any():
        remarks.append(
            f"structured sparsity was on in {_how_many(launches, tensor.sparse)}: dense roofs do not bound them"
        )
    if counts.flops and counts.missing:
        missing = ", ".join(_PRECISION_TEXTS.get(key, key) for key in counts.missing)
        remarks.append(f"the file has no counters for {missing}: these are missing from FLOPs")
    return remarks


def _missing_metrics(time: Sourced, traffic: Traffic) -> list[str]:
    lacking = [level for level in ("DRAM", "L2", "L1") if level not in traffic]
    wanted = {"DRAM": "dram__bytes.sum", "L2": "lts__t_bytes.sum", "L1": "l1tex__t_bytes.sum"}
    missing = [f"bytes of {level} ({wanted[level]})" for level in lacking]
    if not time.is_known.any():
        missing.insert(0, "time (gpu__time_duration.sum)")
    return [f"the file does not have {', '.join(missing)}"] if missing else []


def _how_many(launches: Launches, where: Bools) -> str:
    word = "kernel" if (launches.count > 1).any() else "launch"
    plural = "kernels" if word == "kernel" else "launches"
    return f"{int(where.sum())} of {len(where)} {plural}" if len(where) > 1 else f"this {word}"


def _which(launches: Launches, where: Bools) -> str:
    return f"{_how_many(launches, where)} ({_names(launches, where)})"


def _names(launches: Launches, where: Bools) -> str:
    different = list(dict.fromkeys(launches.names[row] for row in np.flatnonzero(where).tolist()))
    first = different[0] if len(different[0]) <= _MAX_NAME_CHARS else different[0][: _MAX_NAME_CHARS - 3] + "..."
    return first_words([f"'{first}'", *different[1:]], 1)


def _counters(launches: Launches) -> str:
    paths = [name for name in launches.metrics if name.startswith("sm__ops_path_tensor_") and name.endswith(".sum")]
    return first_words(sorted(paths) or tensor_activity(launches), _MAX_METRICS)


def _activity(launches: Launches, where: Bools) -> str:
    """Return the metrics that show a tensor pipe's work in some of the launches."""
    names = [name for name, column in tensor_activity(launches).items() if (column[where] > 0).any()]
    return first_words(names, _MAX_METRICS)


# -- kernels -------------------------------------------------------------------------------------------------------

_TIME: Final = "gpu__time_duration.sum"
_DRAM_CLOCK: Final = "dram__cycles_elapsed.avg.per_second"


def read_launches(files: Sequence[Source], device: int | str | None) -> Launches:
    """Read the files of several passes and merge them; if `device` is given, keep only this device."""
    parts = [read_report(file) if file.head.startswith(MAGIC) else read_pages(file) for file in files]
    launches = _joined_runs(parts[0])
    for part in parts[1:]:
        launches = merge_passes(launches, _joined_runs(part))
    if device is None:
        return launches
    devices = launches.words["device"]
    rows = [row for row, number in enumerate(devices) if number == str(device)]
    if not rows:
        known = ", ".join(sorted({str(number) for number in devices}))
        raise ProfileError(launches.source, f"no launch on device {device}; there is {known}")
    return launches.at(np.array(rows, dtype=np.intp))


def _joined_runs(launches: Launches) -> Launches:
    """Merge passes of one program that follow each other in one file.

    The processes in a file are passes of one program under two conditions: all processes have the same kernels in the
    same order, and each process has metrics that the other processes lack.
    """
    processes = list(dict.fromkeys(launches.words["process"]))
    if len(processes) < 2 or (launches.count > 1).any():  # noqa: PLR2004 - one process is one pass
        return launches
    process_of = np.array(launches.words["process"], dtype=object)
    runs = [launches.at(np.flatnonzero(process_of == process)) for process in processes]
    read = [{name for name, column in run.metrics.items() if _distinguishes(name, column)} for run in runs]
    same = all(launch_shapes(run) == launch_shapes(runs[0]) for run in runs)
    if not same or sum(map(len, read)) > len(set().union(*read)) or not all(read):
        return launches
    first, *others = runs
    for other in others:
        first = merge_passes(first, other)
    return first.with_warning(f"the file has {len(runs)} passes of one program: their metrics were merged")


def _distinguishes(name: str, column: Floats) -> bool:
    shared = name.startswith(("gpu__time", "device__", "launch__")) or "cycles_elapsed" in name
    return not shared and not np.isnan(column).all()


def kernels(
    launches: Launches,
    *,
    flops: GivenFlops | None,
    fp16_packed: bool,
    integers: bool,
    chip: Chip | str | None,
    source: str,
) -> Kernels:
    """Return the launches as `Kernels`; in a summary each row has the mean of `count` launches.

    Raises
    ------
    ProfileError
        If no launch has time, bytes or FLOPs. The message says how to collect them.
    """
    time, traffic = launches.time, traffic_by_level(launches)
    counts = count_flops(launches, fp16_packed=fp16_packed, integers=integers)
    if not (time.is_known.any() or traffic or counts.flops or flops):
        reason = f"no time, bytes or FLOPs for any of {len(launches)} launches; collect them with '{COMMAND}'"
        raise ProfileError(source, reason)
    parts, counts, precision, messages = _with_given(launches, counts, flops)
    most = _most_common_precision(parts, launches)
    roof, roof_warnings = chip_with_roofs(launches, traffic, given=chip, precision=most, fp16_packed=fp16_packed)
    parts = _with_fp16_vector_charged(parts, roof)
    known = roof.peak_flops if roof is not None else {}
    if roof is not None and INTEGER in parts and INTEGER not in known:
        roof_warnings = [*roof_warnings, f"the file has no peak of {INTEGER} ({_INTEGER_PEAK}); {_GIVE_CHIP}"]
    if roof is not None and (lacking := [key for key in parts if _is_precision(key) and key not in {*known, INTEGER}]):
        name = f"name the chip, {advised_chip(launches)}, for its data sheet"
        roof_warnings = [*roof_warnings, f"the file has no peak of {', '.join(lacking)}, so there is no chip: {name}"]
        roof = None
    count = launches.count
    low_level, rules_of_low_level = low_level_columns(launches)
    rules = {f"flops:{key}" if key else "flops": sourced.texts for key, sourced in parts.items()}
    return Kernels(
        launches.names,
        {key: sourced.values * count for key, sourced in parts.items()},
        {level: sourced.values * count for level, sourced in traffic.items()},
        time=time.values * count,
        precision=[given or _launch_precision(parts, row) for row, given in enumerate(precision)],
        count=count,
        origin={
            **rules,
            "flops": _flop_rules(parts, counts.reasons),
            "time": time.texts,
            **{f"bytes:{level}": sourced.texts for level, sourced in traffic.items()},
        },
        extra=_extra(launches) | low_level,
        read_as=rules_of_low_level,
        chip=roof,
        warnings=[*launches.warnings, *launch_warnings(launches, counts, time, traffic), *messages, *roof_warnings],
        source=source,
    )


def _with_given(
    launches: Launches, counts: FlopCounts, given: GivenFlops | None
) -> tuple[dict[str, Sourced], FlopCounts, list[str | None], list[str]]:
    """Add the FLOPs that the user gives; return FLOPs, counts, the given precisions and warnings."""
    n = len(launches)
    parts, reasons = dict(counts.flops), counts.reasons.copy()
    precision: list[str | None] = [None] * n
    if given is None:
        return parts, counts, precision, []
    is_unknown = np.array([reason is not None for reason in reasons], dtype=np.bool_)
    # On some chips tensor counters are 0 although tensor cores worked. On these chips the FLOPs of the other units may
    # be only a part of all FLOPs.
    found, messages = match_given(given, list(launches.names), is_unknown | counts.tensor.all_zero)
    rows = list(found)
    for sourced in parts.values():
        sourced.values[rows], sourced.rules[rows] = np.nan, None
    for row, (flops, own_precision, rule) in found.items():
        for key, number in flops.items():
            if key not in parts:
                parts[key] = all_unknown(n)
            parts[key].values[row] = number
            parts[key].rules[row] = Rule(rule)
        reasons[row], precision[row] = None, own_precision
    all_zero = counts.tensor.all_zero.copy()
    all_zero[rows] = False
    tensor = dataclasses.replace(counts.tensor, all_zero=all_zero)
    return parts, dataclasses.replace(counts, reasons=reasons, tensor=tensor), precision, messages


def _with_fp16_vector_charged(parts: dict[str, Sourced], chip: Chip | None) -> dict[str, Sourced]:
    """Add half-precision FLOPs outside tensor cores to ``fp16`` if the chip has no separate peak for these FLOPs."""
    if chip is None or FP16_VECTOR not in parts or FP16_VECTOR in chip.peak_flops or "fp16" not in chip.peak_flops:
        return parts
    half, tensor = parts[FP16_VECTOR], parts.get("fp16", all_unknown(len(parts[FP16_VECTOR].values)))
    values = sum_of_known([tensor.values, half.values], len(half.values))
    rules = [joined_rules(pair) for pair in zip(tensor.rules, half.rules, strict=True)]
    others = {key: sourced for key, sourced in parts.items() if key != FP16_VECTOR}
    return {**others, "fp16": Sourced(values, np.array(rules, dtype=object))}


def _most_common_precision(parts: Mapping[str, Sourced], launches: Launches) -> str | None:
    """Return the precision that has the most FLOPs over all launches."""
    totals = {
        key: float(np.nansum(sourced.values * launches.count)) for key, sourced in parts.items() if _is_precision(key)
    }
    return max(totals, key=lambda key: totals[key], default=None)


def _launch_precision(parts: Mapping[str, Sourced], row: int) -> str | None:
    """Return the precision that has the most FLOPs in a launch; None if the launch has no FLOPs."""
    known = {
        key: sourced.values[row] for key, sourced in parts.items() if _is_precision(key) and sourced.values[row] > 0
    }
    return max(known, key=lambda key: known[key], default=None)


def _is_precision(key: str) -> bool:
    """Whether a key of FLOPs is a precision. FLOPs of an `Op` have classes as keys instead."""
    return key not in {"", *FLOP_CLASSES}


def _flop_rules(parts: Mapping[str, Sourced], reasons: Any) -> list[str | None]:
    rows = zip(*(sourced.texts for sourced in parts.values()), strict=True) if parts else ((),) * len(reasons)
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
    """Return the extra columns: launch fields, and metrics that are useful in addition to a roofline."""
    found: dict[str, Any] = {}
    for word in LAUNCH_FIELDS:
        values = launches.words[word]
        if word != "cc" and any(value is not None for value in values):
            found[word] = values
    columns = {
        "compute capability": launches.capability,
        "SM clock (Hz)": sm_clock(launches),
        "DRAM clock (Hz)": launches.metric(_DRAM_CLOCK),
    }
    found |= {name: column for name, column in columns.items() if not np.isnan(column).all()}
    if _TIME in launches.spread:
        low, high = launches.spread[_TIME]
        found |= {"time min (s)": low, "time max (s)": high}
    if any(launches.device):
        found["device name"] = list(launches.device)
    return found
