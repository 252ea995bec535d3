"""Ranges that CUPTI counted under PyTorch's profiler: FLOPs and bytes by Nsight Compute's rules, without times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from roofwidget.kernels.columns import Floats
from roofwidget.kernels.table import Kernels
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.documents import list_at
from roofwidget.readers.ncu.assembly import flop_warnings
from roofwidget.readers.ncu.flops import count_flops
from roofwidget.readers.ncu.metrics import LAUNCH_FIELDS, WANTED_METRICS, Launches, first_impossible, traffic_by_level
from roofwidget.readers.torch.events import Counted

_HALF: Final = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
_CAPABILITY: Final = "device__attribute_compute_capability_"
_MAX_CAPABILITY: Final = 1000

_NO_TIME: Final = (
    "CUPTI counted in this trace, so its durations are not real and seconds are unknown; take them from a trace "
    "without counters"
)


def counted_kernels(ranges: Sequence[Counted], properties: Mapping[str, Any], name: str) -> Kernels:
    """Return one row per kernel name.

    Parameters
    ----------
    ranges
        The counted ranges, one per launch.
    properties
        The members of the trace other than its events.
    name
        The trace, for messages.

    Raises
    ------
    ProfileError
        If no counter gives FLOPs or bytes.
    """
    launches = _launches(ranges, properties, name)
    counts, levels = count_flops(launches), traffic_by_level(launches)
    if not counts.flops and not levels:
        names = ", ".join(sorted({metric for each in ranges for metric in each.metrics})[:4]) or "nothing"
        reason = f"no counter of FLOPs or bytes in this trace ({names}); profile with {_HALF.format('ffma')} and so on"
        raise ProfileError(name, reason)
    unknown = [reason for reason in dict.fromkeys(counts.reasons.tolist()) if reason]
    messages = [
        f"FLOPs are {reason} in {int((counts.reasons == reason).sum())} of {len(ranges)} launches" for reason in unknown
    ]
    rows = Kernels(
        launches.names,
        {key: sourced.values for key, sourced in counts.flops.items()},
        {level: sourced.values for level, sourced in levels.items()},
        origin={
            **{f"flops:{key}": sourced.texts for key, sourced in counts.flops.items()},
            **{f"bytes:{level}": sourced.texts for level, sourced in levels.items()},
        },
        warnings=[_NO_TIME, *messages, *flop_warnings(launches, counts)],
        source=name,
    )
    return rows.groupby("name")


def _launches(ranges: Sequence[Counted], properties: Mapping[str, Any], name: str) -> Launches:
    n = len(ranges)
    names = dict.fromkeys(metric for each in ranges for metric in each.metrics)
    metrics = {metric: _column(ranges, metric, name) for metric in names if WANTED_METRICS.fullmatch(metric)}
    for word, number in _capability(properties).items():
        metrics[f"{_CAPABILITY}{word}"] = np.full(n, float(number))
    words = {word: [None] * n for word in LAUNCH_FIELDS}
    return Launches(name, [each.name for each in ranges], words, metrics, [None] * n, np.ones(n))


def _column(ranges: Sequence[Counted], metric: str, name: str) -> Floats:
    column = np.array([each.metrics.get(metric, np.nan) for each in ranges])
    row = first_impossible(column)
    if row is not None:
        reason = f"expected a count from 0, got {column[row]:g}; profile again"
        raise ProfileError(name, reason, place=f"range {row + 1}, '{ranges[row].name[:60]}', counter '{metric}'")
    return column


def _capability(properties: Mapping[str, Any]) -> dict[str, int]:
    """Return the compute capability if all devices share one."""
    entries = [entry for entry in list_at(properties, "deviceProperties") if isinstance(entry, dict)]
    found = [(entry.get("computeMajor"), entry.get("computeMinor")) for entry in entries]
    if not found or found.count(found[0]) < len(found):
        return {}
    versions = zip(("major", "minor"), found[0], strict=True)
    known = {word: number for word, number in versions if isinstance(number, int) and 0 <= number < _MAX_CAPABILITY}
    return known if len(known) == len(found[0]) else {}
