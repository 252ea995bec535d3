"""What `roofwidget check` finds, as a document of the schema in `check.schema.json`. The texts are made of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np

from roofwidget.analysis.advice import advise
from roofwidget.analysis.bound_lenient import bound_lenient
from roofwidget.analysis.compare_runs import compare_runs
from roofwidget.analysis.lowest_roof import lowest_roof
from roofwidget.analysis.plan import Plan, finite_or_none, plan
from roofwidget.analysis.projection import project
from roofwidget.analysis.ranking import launches_added, ranking
from roofwidget.analysis.result import Bound, roof_level
from roofwidget.analysis.run_comparison import RunComparison
from roofwidget.analysis.verdict import Facts, facts_of, verdict_of
from roofwidget.chips import Chip, MissingFigureError
from roofwidget.cli.check_text import MAX_EXTRA_DIGITS, limit_text
from roofwidget.cli.several import Several, sent_bytes
from roofwidget.cli.sol_report import four_times
from roofwidget.kernels.columns import Bools, unwarned
from roofwidget.kernels.table import Kernels
from roofwidget.support.text_tables import counted, first_few, one_line
from roofwidget.units import format_factor, format_percent, format_quantity
from roofwidget.workloads.speed_of_light import SpeedOfLight

FORMAT: Final = "roofwidget-check"
VERSION: Final = 1
_MAX_NAMED_KERNELS: Final = 3


@dataclass(frozen=True)
class Limits:
    """When a profile is not fine.

    Parameters
    ----------
    below
        The least share of the roof, or None.
    slower
        The largest increase of a kernel's time over the baseline, as a share, or None.
    known
        The least share of kernel time, idle time left out, of which the roof is known, or None.
    each
        Whether `below` is for each kernel, not for all kernels together.
    """

    below: float | None = None
    slower: float | None = None
    known: float | None = None
    each: bool = False


def report(
    kernels: Kernels,
    chip: Chip,
    before: Kernels | None,
    others: Sequence[Chip],
    limits: Limits,
    *,
    file: str,
    baseline: str | None,
    top: int,
    precision: str = "auto",
    memory: str = "main",
    model: tuple[str, SpeedOfLight] | None = None,
    with_plan: bool = False,
    several: Several | None = None,
) -> dict[str, Any]:
    """Return the document: numbers in SI base units, None where unknown.

    `model` has the file of the model that the profile ran, as the user gave it, and its speed of light. With
    `with_plan` the document has the steps of `plan`, as many as `top`. `several` has the profiles of a folder.

    Raises
    ------
    ValueError
        If no kernel has both a time and a bound, so that nothing can be said.
    """
    table = launches_added(kernels)
    bound = lowest_roof(bound_lenient(table, chip, precision=precision, memory=memory))
    judged = _judged_rows(bound)
    if not judged.any():
        raise ValueError(f"{file}: {_why_nothing_is_judged(bound)}")
    rows = ranking(bound)
    facts = facts_of(table, bound)
    program = _program(bound, table, judged, facts)
    comparison = None if before is None else _compared(before, kernels, chip)
    if comparison is not None:
        _check_comparison(comparison, limits, file, str(baseline))
    said = verdict_of(facts_of(table, bound, runs=comparison))
    reasons = [*_unknown(program, limits), *_below(bound, judged, program, limits), *_slower(comparison, limits)]
    return {
        "format": FORMAT,
        "version": VERSION,
        "roofwidget": version("roofwidget"),
        "file": file,
        "read": Path(kernels.source).name,
        "files": None if several is None else several.to_rows(),
        "ranks": None if several is None else _ranks(several),
        "summary": {"rule": said.rule, "headline": said.headline, "detail": said.detail, "is_alert": said.is_alert},
        "unknown_work": unknown_work(kernels, top),
        "chip": _chip(bound),
        "verdict": "below" if reasons else "fine",
        "exit_status": 1 if reasons else 0,
        "reasons": reasons,
        "limits": {
            "fail_below": limits.below,
            "each": limits.each,
            "fail_slower": limits.slower,
            "min_known": limits.known,
        },
        "program": program,
        "kernels": _kernels(bound, table, rows[:top]),
        "not_listed": max(0, len(rows) - top),
        "baseline": None if comparison is None else _baseline(comparison, str(baseline), top),
        "other_chips": [_projected(table, chip, other, precision, memory) for other in others],
        "model": None if model is None else _model(*model),
        "plan": _plan(plan(kernels, chip, precision=precision, memory=memory, light=model and model[1]), top)
        if with_plan
        else None,
        "notes": list(dict.fromkeys([*bound.notes, *table.warnings])),
    }


def _judged_rows(bound: Bound) -> Bools:
    """Return a mask of the kernels whose share of the roof counts: measured, with a bound, and not above it."""
    known = ~np.isnan(bound.headroom) & ~bound.above_roof
    kinds = bound.non_kernels
    return np.asarray(known if kinds is None else known & np.array([not kind for kind in kinds], dtype=np.bool_))


def _chip(bound: Bound) -> dict[str, Any]:
    chip = bound.chip
    return {
        "id": chip.id,
        "name": chip.name,
        "precision": bound.precision,
        "memory": bound.memory,
        "peak_flops": chip.peak(bound.precision),
        "bandwidth": chip.bandwidth(roof_level(bound)),
    }


def unknown_work(kernels: Kernels, most: int) -> dict[str, Any]:
    """Return the names of unknown work with most time, as many as `most`."""
    by_name: dict[str, dict[str, Any]] = {}
    for one in kernels.unknown_work():
        counts = [word for word, is_unknown in (("FLOPs", one.flops), ("bytes", one.bytes)) if is_unknown]
        found = by_name.setdefault(
            one.name,
            {
                "name": one_line(one.name, width=len(one.name) + 1),
                "time_s": 0.0,
                "share": 0.0,
                "missing": one.missing or " and ".join(counts),
                "rule": one.rule,
            },
        )
        found["time_s"] += one.time
        found["share"] += one.share
    listed = sorted(by_name.values(), key=lambda found: -float(found["time_s"]))
    return {"rows": listed[:most], "not_listed": max(0, len(listed) - most)}


def _program(bound: Bound, table: Kernels, judged: Bools, facts: Facts) -> dict[str, Any]:
    own = table.self_time
    measured, saved = math.fsum(own[judged]), math.fsum(bound.headroom[judged])
    return {
        "kernels": len(bound),
        "judged_kernels": int(judged.sum()),
        "time_s": float(np.nansum(own)),
        "judged_time_s": measured,
        "bound_time_s": measured - saved,
        "headroom_s": saved,
        "utilization": (measured - saved) / measured,
        "known_share": finite_or_none(facts.known / facts.kernel_time if facts.kernel_time else math.nan),
    }


def _kernels(bound: Bound, table: Kernels, rows: Sequence[int]) -> list[dict[str, Any]]:
    advices, total = advise(bound), float(np.nansum(table.self_time))
    moved = bound.bytes.get(roof_level(bound), np.full(len(bound), np.nan))
    found = []
    for row in rows:
        advice = advices[row]
        found.append(
            {
                "name": one_line(bound.names[row], width=len(bound.names[row]) + 1),
                "short_name": table.short_names[row],
                "launches": int(table.count[row]),
                "precision": table.precision[row] or bound.precision,
                "flops": finite_or_none(bound.flops[row]),
                "bytes": finite_or_none(moved[row]),
                "time_s": finite_or_none(bound.measured[row]),
                "time_share": finite_or_none(table.self_time[row] / total if total else math.nan),
                "bound_time_s": finite_or_none(bound.time[row]),
                "headroom_s": finite_or_none(bound.headroom[row]),
                "utilization": finite_or_none(bound.utilization[row]),
                "peak_fraction": finite_or_none(bound.peak_fraction[row]),
                "bound_by": str(bound.bound_by[row]),
                "above_roof": bool(bound.above_roof[row]),
                "situation": advice.situation,
                "evidence": advice.evidence,
                "suggestion": advice.suggestion,
                "done": advice.done,
            }
        )
    return found


def _compared(before: Kernels, after: Kernels, chip: Chip) -> RunComparison:
    return compare_runs(before.groupby("name", "precision"), after.groupby("name", "precision"), chip=chip)


def _check_comparison(runs: RunComparison, limits: Limits, file: str, baseline: str) -> None:
    """Raise ValueError if the runs cannot be compared."""
    if not len(runs):
        raise ValueError(f"{file} and {baseline} have no kernel in common; take two profiles of one program")
    if limits.slower is not None and not np.isin(runs.verdict.astype(str), ("faster", "slower", "same")).any():
        raise ValueError(
            f"{file} and {baseline} have no kernel with two times of the same work; take profiles with times"
        )


def _baseline(runs: RunComparison, file: str, top: int) -> dict[str, Any]:
    order = np.argsort(-np.nan_to_num(np.abs(runs.change)), kind="stable")[:top]
    return {
        "file": file,
        "time_before_s": float(np.nansum(runs.run_before.self_time)),
        "time_after_s": float(np.nansum(runs.run_after.self_time)),
        "kernels_in_both": len(runs),
        "only_before": [one_line(name) for name in runs.only_before.names],
        "only_after": [one_line(name) for name in runs.only_after.names],
        "kernels": [
            {
                "name": one_line(runs.names[row], width=len(runs.names[row]) + 1),
                "short_name": runs.matched_before.short_names[row],
                "before_s": finite_or_none(runs.before[row]),
                "after_s": finite_or_none(runs.after[row]),
                "ratio": finite_or_none(runs.ratio[row]),
                "per_launch": bool(runs.is_per_launch[row]),
                "verdict": str(runs.verdict[row]),
                "bound_by_before": str(runs.bound_by_before[row]),
                "bound_by_after": str(runs.bound_by_after[row]),
            }
            for row in order
        ],
    }


def _projected(table: Kernels, chip: Chip, other: Chip, precision: str, memory: str) -> dict[str, Any]:
    own = chip.precision(precision)
    notes = []
    try:
        found = project(table, other, source=chip, precision=own, memory=memory)
    except MissingFigureError:
        found = project(table, other, source=chip, precision="auto", memory=memory)
        notes = [f"{other.name} has no {own}: kernels without a precision of their own run at {found.precision} there."]
    return {
        "id": other.id,
        "name": other.name,
        "precision": found.precision,
        "time_s": found.time,
        "speedup": finite_or_none(found.speedup),
        "notes": [*notes, *found.notes],
    }


def _model(file: str, found: SpeedOfLight) -> dict[str, Any]:
    return {"file": file, "graph": found.graph.name, **four_times(found), "how": found.how}


def _ranks(several: Several) -> dict[str, Any] | None:
    found = several.ranks()
    if found is None:
        return None
    return {
        "late_rank": found.last,
        "stragglers": [
            {
                "rank": one.rank,
                "excess_s": one.seconds,
                "share": finite_or_none(one.share),
                "kernels": list(one.kernels),
            }
            for one in found.stragglers
        ],
        "by_rank": [
            {
                "rank": rank,
                "time_s": float(np.nansum(found.time[:, at])),
                "excess_s": float(found.excess[at]),
                "waiting_s": finite_or_none(found.waiting[at]),
                "sent_bytes": sent_bytes(found.tables[rank]),
                "hidden_share": finite_or_none(found.hidden_share[at]),
            }
            for at, rank in enumerate(found.ranks)
        ],
        "findings": list(found.findings),
    }


def _plan(whole: Plan, top: int) -> dict[str, Any]:
    found = whole.to_dict()
    return {**found, "steps": found["steps"][:top], "not_listed": max(0, len(whole) - top)}


def _unknown(program: dict[str, Any], limits: Limits) -> list[str]:
    known = program["known_share"] or 0.0
    if limits.known is None or known >= limits.known:
        return []
    least = limit_text(limits.known)
    return [f"the roof is known for {_on_its_side(known, limits.known)} of kernel time, less than {least}"]


def _below(bound: Bound, judged: Bools, program: dict[str, Any], limits: Limits) -> list[str]:
    if limits.below is None:
        return []
    least = limit_text(limits.below)
    if not limits.each:
        reached = program["utilization"]
        if reached >= limits.below:
            return []
        return [f"the kernels together reach {_on_its_side(reached, limits.below)} of their roofs, less than {least}"]
    low = [int(row) for row in np.flatnonzero(judged & (bound.utilization < limits.below))]
    if not low:
        return []
    low.sort(key=lambda row: float(bound.utilization[row]))
    named = [
        f"{one_line(bound.names[row])} ({_on_its_side(float(bound.utilization[row]), limits.below)})" for row in low
    ]
    verb = "reaches" if len(low) == 1 else "reach"
    return [
        f"{counted(len(low), 'kernel')} {verb} less than {least} of the roof: {first_few(named, _MAX_NAMED_KERNELS)}"
    ]


@unwarned
def _slower(runs: RunComparison | None, limits: Limits) -> list[str]:
    if runs is None or limits.slower is None:
        return []
    slower = [int(row) for row in np.flatnonzero((runs.verdict == "slower") & (runs.ratio > 1 + limits.slower))]
    if not slower:
        return []
    slower.sort(key=lambda row: -float(runs.change[row]))
    named = [
        f"{one_line(runs.names[row])} ({format_factor(float(runs.ratio[row]))}× the time, "
        f"{format_quantity(float(runs.after[row]), 's')})"
        for row in slower
    ]
    verb = "is" if len(slower) == 1 else "are"
    said = f"{counted(len(slower), 'kernel')} {verb} slower than before by more than {limit_text(limits.slower)}"
    return [f"{said}: {first_few(named, _MAX_NAMED_KERNELS)}"]


def _on_its_side(share: float, limit: float) -> str:
    """Return a share as text, with so many digits that it differs from the limit."""
    texts = (format_percent(share, more) for more in range(MAX_EXTRA_DIGITS))
    return next((text for text in texts if text != limit_text(limit)), format_percent(share, MAX_EXTRA_DIGITS))


def _why_nothing_is_judged(bound: Bound) -> str:
    if np.isnan(bound.measured).all():
        return "no kernel has a measured time, so its distance from the roof is unknown; take a profile with times"
    if np.isnan(bound.time).all():
        why = f" ({bound.notes[0]})" if bound.notes else ""
        return f"no kernel has both FLOPs and bytes, so none has a roof; take a profile that counts both{why}"
    if bound.above_roof.any():
        return f"no kernel is below its roof on {bound.chip.name}, so counts, times or peaks are wrong; check --chip"
    why = bound.notes[0] if bound.notes else "check --chip, --precision and --memory"
    return f"no kernel has both a time and a roof on {bound.chip.name}: {why}"
