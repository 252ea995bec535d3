"""The way from XProf's operations to `Kernels` that all its formats share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from roofwidget.chips import Chip
from roofwidget.kernels.columns import Floats
from roofwidget.kernels.table import Kernels
from roofwidget.readers.xprof import executions, shapes
from roofwidget.readers.xprof.draft import CONTAINERS, IDLE, Draft
from roofwidget.readers.xprof.table import Table
from roofwidget.support.did_you_mean import listed

__all__ = ["IDLE", "Added", "Options", "above_roof", "checked", "finish", "is_infeed", "opaque"]

MOST_LISTED: Final = 1000
"""XProf lists no more operations than this."""
_ROUNDING: Final = 1e-6


@dataclass(frozen=True)
class Options:
    """What a user chose, and what belongs to the profile.

    Parameters
    ----------
    idle
        Whether the time without an operation is a row.
    told
        Executions by pattern of operation names, or None.
    stats
        The table ``hlo_stats`` of the same profile, or None.
    infer
        Whether occurrences may be those of kernels rather than of executions.
    cut
        Whether more operations ran than are listed.
    """

    idle: bool = True
    told: Mapping[str, int] | None = None
    stats: Table | None = None
    infer: bool = False
    cut: bool = False


@dataclass
class Added:
    """What the operations gained over XProf's own counts: FLOPs, and bytes by level."""

    flops: float = 0.0
    bytes: dict[str, float] = field(default_factory=dict)

    def to(self, program: Draft) -> None:
        """Add it to the program's totals, in place."""
        if not (self.flops or any(self.bytes.values())):
            return
        program.flops = _raised(program.flops, self.flops)
        for level, amount in self.bytes.items():
            program.bytes[level] = _raised(program.bytes[level], amount)
        for key, why in program.origin.items():
            if not key.endswith("time"):
                why[:] = [f"{word} + what was derived for operations" for word in why]


def _raised(total: Floats, by: float) -> Floats:
    """Return the total with what was added; unknown where a file's total is less than what was taken from its parts."""
    raised = np.where(np.isnan(total), 0.0, total) + by
    return np.where(raised < 0, np.nan, raised)


def checked(**switches: Any) -> None:
    """Raise if one of the options that switch something is not a bool."""
    for name, value in switches.items():
        if value not in (True, False):
            msg = f"{name} must be True or False, got {value!r:.60}"
            raise TypeError(msg)


def opaque(flops: Floats, moved: Mapping[str, Floats]) -> tuple[Floats, dict[str, Floats]]:
    """Return the amounts with NaN where there are neither FLOPs nor bytes: XProf's "Unknown", which is not "free"."""
    unknown = (flops == 0) & np.all([amount == 0 for amount in moved.values()], axis=0)
    return np.where(unknown, np.nan, flops), {k: np.where(unknown, np.nan, amount) for k, amount in moved.items()}


def is_infeed(category: str) -> bool:
    """XProf's own rule for what feeds the device."""
    return "infeed" in category or "outfeed" in category


def finish(
    draft: Draft, chip: Chip | None, program_time: float | None, options: Options
) -> tuple[Draft, Added, list[str]]:
    """Correct and complete the operations, and add the idle time.

    Parameters
    ----------
    draft
        The operations as XProf counts them.
    chip
        The device, or None.
    program_time
        Seconds of the whole program, or None where the file does not tell.
    options
        What to do.

    Returns
    -------
    tuple
        The operations, what they gained, and remarks.
    """
    before = _totals(draft)
    remarks: list[str] = []
    if options.stats is not None:
        remarks += shapes.join(draft, options.stats)
    if options.infer or options.told:
        remarks += executions.correct(draft, options.told, infer=options.infer)
    if "HLO" in draft.extra:
        remarks += shapes.complete(draft, shapes.add_shapes(draft), chip)
    after = _totals(draft)
    added = Added(after.flops - before.flops, {k: after.bytes[k] - amount for k, amount in before.bytes.items()})
    remarks += _opaque_remark(draft, joined="HLO" in draft.extra)
    if any(word in CONTAINERS for word in draft.category):
        remarks.append(
            f"operations of the categories {listed(CONTAINERS)} hold the time of others: add self_time, not time"
        )
    if program_time:
        cut = options.cut or len(draft) >= MOST_LISTED
        draft, said = _with_idle(draft, program_time, wanted=options.idle, cut=cut)
        remarks += said
    return draft, added, remarks


def above_roof(kernels: Kernels) -> list[str]:
    """Remark on operations faster than the profile's own peaks allow."""
    from roofwidget.analysis.bound import bound  # noqa: PLC0415 - needed only where there are peaks

    if kernels.chip is None or not len(kernels):
        return []
    judged = bound(kernels, kernels.chip, memory="all")
    above = judged.above_roof
    if not above.any():
        return []
    most = int(np.nanargmax(np.where(above, judged.utilization, np.nan)))
    said = (
        f"operations above their roof: {int(above.sum())}, the highest '{kernels.names[most]:.60}' at "
        f"{judged.utilization[most]:.4g} times: peaks or counts in the profile are off, or the work is done elsewhere, "
        "as that of asynchronous copies is"
    )
    return [said]


def _totals(draft: Draft) -> Added:
    inner = ~draft.contains_others
    return Added(
        float(np.nansum(draft.flops[inner])),
        {level: float(np.nansum(amount[inner])) for level, amount in draft.bytes.items()},
    )


def _opaque_remark(draft: Draft, *, joined: bool) -> list[str]:
    unknown = np.isnan(draft.flops)
    if not unknown.any():
        return []
    total = draft.self_time.sum()
    share = draft.self_time[unknown].sum() / total if total else 0.0
    mend = "" if joined else "; give shapes='….hlo_stats.json' to derive those of matrix products"
    said = (
        f"operations with neither FLOPs nor bytes: {unknown.sum()} of {len(draft)}, {share:.1%} of the operations' "
        f"time; XLA cannot count opaque calls, so they are unknown, not zero{mend}"
    )
    return [said]


def _with_idle(draft: Draft, program_time: float, *, wanted: bool, cut: bool) -> tuple[Draft, list[str]]:
    """Add the rest of the program's time as a row, so that the shares of self time add up to one."""
    rest = program_time - float(draft.self_time.sum())
    if rest < -_ROUNDING * program_time:
        return draft, [f"operations overlap: their self time is {1 - rest / program_time:.1%} of the program's"]
    if rest <= _ROUNDING * _ROUNDING * program_time or not wanted:
        return draft, []
    full = draft.with_idle(rest, "idle or not listed" if cut else "idle or not profiled")
    for name in ("share of time", "share of self time"):
        if name in full.extra:
            full.extra[name][-1] = rest / program_time
    if "cumulative share of self time" in full.extra:
        full.extra["cumulative share of self time"][-1] = 1.0
    if not cut:
        return full, []
    return full, [f"only {len(draft):,} operations are listed: the time of others is in '{full.names[-1]}'"]
