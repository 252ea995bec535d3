"""The low-level columns of a report: occupancy, stalls, pipes, sectors, bank conflicts, and counts of instructions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from roofwidget.kernels.columns import Floats
from roofwidget.kernels.low_level import (
    GLOBAL_TRANSACTIONS,
    INSTRUCTIONS,
    MAX_STALLS,
    SHARED_TRANSACTIONS,
    THREAD_INSTRUCTIONS,
    stall,
    transactions,
)
from roofwidget.readers.ncu.low_level_metrics import (
    CONFLICTS,
    CYCLES_BETWEEN,
    LIMITS,
    LOCAL,
    LSU,
    METRICS,
    PIPES,
    STALLS,
    TOTALS,
)
from roofwidget.readers.ncu.metrics import Launches, first_known_values, quotient
from roofwidget.readers.ncu.roofs import sm_clock

_WARP: Final = 32
# Sectors of 32 bytes in a turn of shared memory, which moves up to 128.
_SECTORS_PER_TURN: Final = 4
_PERCENT: Final = 100.0
_SCHEDULERS: Final = "device__attribute_num_schedulers_per_multiprocessor"
_VOLTA: Final = 7.0
_KILO: Final = 1e3
# A warp whose instruction is issued does not wait.
_NO_STALL: Final = "selected"
# Parts of another pipe, and the pipe of all pipes.
_NO_PIPES: Final = re.compile(r"shared|tensor_.*|fma.+|fp16|alu.+|.*_pred_on.*")


def low_level_columns(launches: Launches) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the low-level columns that the file has values of, and for each the metrics that it comes from."""
    columns: dict[str, Any] = {}
    rules: dict[str, str] = {}

    def put(name: str, column: Floats, rule: str) -> None:
        if not np.isnan(column).all():
            columns[name], rules[name] = column, rule

    for name, metrics in METRICS.items():
        found = [metric for metric in metrics if metric in launches.metrics]
        put(name, first_known_values(*map(launches.metric, metrics)), " or ".join(found))
    totals: dict[str, Floats] = {}
    for name, sums in TOTALS.items():
        column, rule = _first_sum(launches, sums)
        totals[name] = column
        put(name, column * launches.count, rule)
    _launch(launches, put)
    _ratios(launches, totals, columns, put)
    limits = _limited_by(launches)
    if any(limits):
        columns["occupancy limited by"], rules["occupancy limited by"] = limits, "launch__occupancy_limit_*"
    stalls, rule = _stalls(launches)
    columns |= stalls
    rules |= dict.fromkeys(stalls, rule)
    pipes, shares, rule = _busiest_pipe(launches)
    if any(pipes):
        columns["busiest pipe"], rules["busiest pipe"] = pipes, rule
        put("busiest pipe (%)", shares, rule)
    return columns, rules


def _launch(launches: Launches, put: Any) -> None:
    blocks, threads = (_product_of(launches.words[word]) for word in ("grid", "block"))
    put("blocks", blocks, "grid")
    put("threads per block", threads, "block")
    waves = launches.metric("launch__waves_per_multiprocessor")
    put(
        "full waves (%)", _PERCENT * quotient(waves, np.ceil(waves)), "launch__waves_per_multiprocessor, of whole waves"
    )
    cycles = first_known_values(launches.metric("sm__cycles_elapsed.max"), launches.metric("sm__cycles_elapsed.avg"))
    for name, form in (("SM active (%)", "avg"), ("busiest SM active (%)", "max")):
        share = np.minimum(_PERCENT * quotient(launches.metric(f"sm__cycles_active.{form}"), cycles), _PERCENT)
        put(name, share, f"sm__cycles_active.{form} / sm__cycles_elapsed")
    highest = launches.metric("device__attribute_max_gpu_frequency_khz") * _KILO
    clock = first_known_values(sm_clock(launches), highest)
    units = launches.metric("device__attribute_multiprocessor_count")
    put("blocks per SM", quotient(blocks, units), "grid / device__attribute_multiprocessor_count")
    schedulers = first_known_values(launches.metric(_SCHEDULERS), _schedulers(launches.capability))
    put(
        "peak warp instructions (1/s)",
        units * schedulers * clock,
        f"device__attribute_multiprocessor_count x {_SCHEDULERS} x clock of the SMs, measured or else the highest",
    )


def _schedulers(capability: Floats) -> Floats:
    """Return the schedulers of an SM by the compute capability: four from Volta on; NaN if unknown."""
    return np.where(capability >= _VOLTA, 4.0, np.nan)


def _ratios(launches: Launches, totals: Mapping[str, Floats], columns: Mapping[str, Any], put: Any) -> None:
    """Add the ratios of totals, and of those columns that are there already."""
    n = len(launches)
    for op, word in (("ld", "load"), ("st", "store")):
        name = f"sectors per {word} request"
        if name not in columns:
            sectors, requests = (f"l1tex__t_{what}_{LSU}_global_op_{op}.sum" for what in ("sectors", "requests"))
            put(name, quotient(launches.metric(sectors), launches.metric(requests)), f"{sectors} / {requests}")
        used = f"bytes used per {word}ed sector".replace("storeed", "stored")
        if used in columns:
            # Of a kernel without such accesses the file says 0.
            columns[used][columns[used] == 0] = np.nan
    per_instruction = "threads per instruction"
    if per_instruction not in columns:
        put(
            per_instruction,
            quotient(totals[THREAD_INSTRUCTIONS], totals[INSTRUCTIONS]),
            "smsp__thread_inst_executed.sum / smsp__inst_executed.sum",
        )
    threads = columns.get("threads per block", np.full(n, np.nan))
    warps = np.ceil(threads / _WARP)
    lanes = columns.get(per_instruction, np.full(n, np.nan))
    put(
        "active lanes (%)",
        np.minimum(_PERCENT * quotient(lanes * warps, threads), _PERCENT),
        "smsp__thread_inst_executed_per_inst_executed.ratio / threads of a warp of the block",
    )
    if "instructions per warp" not in columns:
        all_warps = columns.get("blocks", np.full(n, np.nan)) * warps
        put("instructions per warp", quotient(totals[INSTRUCTIONS], all_warps), "smsp__inst_executed.sum / warps")
    names = [f"{word} occupancy (%)" for word in ("achieved", "theoretical")]
    achieved, theoretical = (columns.get(name, np.full(n, np.nan)) for name in names)
    rule = " / ".join(METRICS[name][0] for name in names)
    put("reached occupancy (%)", _PERCENT * quotient(achieved, theoretical), rule)
    conflicts, rule = _first_sum(launches, CONFLICTS)
    turns = totals[SHARED_TRANSACTIONS]
    rule = f"{rule} of {' + '.join(TOTALS[SHARED_TRANSACTIONS][0])}"
    put("bank conflict ways", quotient(turns, turns - conflicts), rule)
    local, rule = _first_sum(launches, [LOCAL])
    moved = totals[GLOBAL_TRANSACTIONS] + local
    put("local memory share (%)", _PERCENT * quotient(local, moved), f"({rule}) / sectors")
    put(
        transactions("L1"),
        (moved + _SECTORS_PER_TURN * turns) * launches.count,
        f"sectors of global and local memory + {_SECTORS_PER_TURN} x turns of shared memory",
    )


def _first_sum(launches: Launches, sums: Iterable[Sequence[str]]) -> tuple[Floats, str]:
    """Return for each launch the first sum of which the file has every part, and the rule."""
    found, rules = np.full(len(launches), np.nan), []
    for names in sums:
        column: Floats = np.sum([launches.metric(name) for name in names], axis=0)
        if (np.isnan(found) & ~np.isnan(column)).any():
            found = first_known_values(found, column)
            rules.append(" + ".join(names))
    return found, " or ".join(rules)


def _product_of(words: Sequence[str | None]) -> Floats:
    """Return the products of texts such as ``(64, 24, 1)``; NaN for other texts."""
    found = {}
    for word in set(words):
        parts = re.findall(r"\d+", word or "")
        found[word] = float(np.prod([float(part[:9]) for part in parts])) if parts else np.nan
    return np.array([found[word] for word in words], dtype=np.float64)


def _limited_by(launches: Launches) -> list[str | None]:
    limits = np.array([launches.metric(metric) for metric in LIMITS.values()])
    # Old versions do not count barriers.
    known = ~np.isnan(limits[:-1]).any(axis=0)
    limits = np.where(np.isnan(limits), np.inf, limits)
    least = limits.min(axis=0)
    words = np.array(list(LIMITS))
    return [" and ".join(words[limits[:, row] == least[row]]) if known[row] else None for row in range(len(launches))]


def _stalls(launches: Launches) -> tuple[dict[str, Any], str]:
    """Return the longest stalls of each launch, by the first kind of metrics that the file has."""
    for pattern in STALLS:
        named = {
            match["reason"]: column
            for metric, column in launches.metrics.items()
            if (match := pattern.fullmatch(metric)) and not match["reason"].endswith("_not_issued")
        }
        if not any(not np.isnan(column).all() for column in named.values()):
            continue
        waits = np.nan_to_num(np.array(list(named.values())))
        # The sum is all of the cycles only if the file has every reason.
        whole = waits.sum(axis=0) if _NO_STALL in named else np.full(len(launches), np.nan)
        if pattern.pattern.endswith("pct"):
            whole = np.full(len(launches), _PERCENT)
        elif pattern is STALLS[0]:
            whole = first_known_values(launches.metric(CYCLES_BETWEEN), whole)
        reasons = [reason for reason in named if reason != _NO_STALL]
        waits = np.array([np.nan_to_num(named[reason]) for reason in reasons])
        order = np.argsort(-waits, axis=0, kind="stable")
        found: dict[str, Any] = {}
        rows = np.arange(len(launches))
        for rank in range(min(MAX_STALLS, len(reasons))):
            which = order[rank]
            cycles = waits[which, rows]
            has = cycles > 0
            text, share = stall(rank + 1)
            words = [reason.removesuffix("s" * reason.endswith("instructions")).replace("_", " ") for reason in reasons]
            found[text] = [words[one] if is_there else None for one, is_there in zip(which, has, strict=True)]
            found[share] = np.where(has, _PERCENT * quotient(cycles, whole), np.nan)
        return {
            name: column
            for name, column in found.items()
            if (any(column) if isinstance(column, list) else not np.isnan(column).all())
        }, pattern.pattern.replace(r"(?P<reason>\w+)", "*").replace("\\", "").replace("(?<!_not_issued)", "")
    return {}, ""


def _busiest_pipe(launches: Launches) -> tuple[list[str | None], Floats, str]:
    named: dict[str, Floats] = {}
    for metric, column in launches.metrics.items():
        match = PIPES.fullmatch(metric)
        if match is not None and not _NO_PIPES.fullmatch(match["pipe"]):
            before = named.get(match["pipe"])
            named[match["pipe"]] = column if before is None else np.fmax(before, column)
    if not named:
        return [], np.full(len(launches), np.nan), ""
    shares = np.nan_to_num(np.array(list(named.values())))
    most = shares.max(axis=0)
    names = [pipe.upper() for pipe in named]
    pipes = [names[which] if top > 0 else None for which, top in zip(shares.argmax(axis=0), most, strict=True)]
    return pipes, np.where(most > 0, most, np.nan), "sm__inst_executed_pipe_*, sm__pipe_*_cycles_active"
