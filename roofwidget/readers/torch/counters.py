"""Ranges that CUPTI counted under PyTorch's profiler: FLOPs and bytes by Nsight Compute's rules, and no times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from roofwidget.columns import Floats
from roofwidget.kernels import Kernels
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.ncu.counts import counted
from roofwidget.readers.ncu.launches import WANTED, WORDS, Launches
from roofwidget.readers.ncu.traffic import moved
from roofwidget.readers.torch.events import Counted

__all__ = ["counted_kernels"]

_HALF: Final = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
_CAPABILITY: Final = "device__attribute_compute_capability_"
_GA100: Final = 8.0

_NO_TIME: Final = (
    "where CUPTI counts, the durations in a trace are made up: seconds are unknown; take them from a trace without "
    "counters"
)
_MOVES: Final = (
    "hfma is left out: this chip counts register moves there, and without sm__inst_executed_pipe_tensor they cannot "
    "be told from arithmetic"
)


def counted_kernels(ranges: Sequence[Counted], properties: Mapping[str, Any], name: str) -> Kernels:
    """Return a row for each kernel's name.

    Parameters
    ----------
    ranges
        What was counted, launch by launch.
    properties
        What the trace tells beside its events.
    name
        The trace, for messages.

    Raises
    ------
    ProfileError
        If no counter is one of FLOPs or bytes.
    """
    launches, said = _launches(ranges, properties, name)
    counts, levels = counted(launches), moved(launches)
    if not counts.flops and not levels:
        told = ", ".join(sorted({metric for each in ranges for metric in each.metrics})[:4]) or "nothing"
        reason = (
            f"no counter of FLOPs or bytes among those of CUPTI ({told}); profile with {_HALF.format('ffma')} and so on"
        )
        raise ProfileError(name, reason)
    unknown = [reason for reason in dict.fromkeys(counts.reasons.tolist()) if reason]
    said += [f"FLOPs of {int((counts.reasons == reason).sum())} launches are {reason}" for reason in unknown]
    nothing = np.full(len(ranges), np.nan)
    rows = Kernels(
        launches.names,
        {key: told.values for key, told in counts.flops.items()} or nothing,
        {level: told.values for level, told in levels.items()} or nothing,
        origin={
            **{f"flops:{key}": told.rules for key, told in counts.flops.items()},
            **{f"bytes:{level}": told.rules for level, told in levels.items()},
        },
        warnings=said,
        source=name,
    )
    return rows.groupby("name")


def _launches(ranges: Sequence[Counted], properties: Mapping[str, Any], name: str) -> tuple[Launches, list[str]]:
    n = len(ranges)
    wanted = dict.fromkeys(metric for each in ranges for metric in each.metrics if WANTED.fullmatch(metric))
    metrics = {metric: np.array([each.metrics.get(metric, np.nan) for each in ranges]) for metric in wanted}
    metrics = {metric: np.where(column < 0, np.nan, column) for metric, column in metrics.items()}
    capability = _capability(properties)
    for word, number in capability.items():
        metrics[f"{_CAPABILITY}{word}"] = np.full(n, float(number))
    said = [_NO_TIME]
    if _hides_moves(metrics, capability):
        metrics[_HALF.format("hfma")] = np.zeros(n)
        said.append(_MOVES)
    words = {word: [None] * n for word in WORDS}
    return Launches(name, [each.name for each in ranges], words, metrics, [None] * n, np.ones(n)), said


def _capability(properties: Mapping[str, Any]) -> dict[str, int]:
    """Return the compute capability if all devices share one."""
    devices = properties.get("deviceProperties")
    entries = [entry for entry in devices if isinstance(entry, dict)] if isinstance(devices, list) else []
    found = {(entry.get("computeMajor"), entry.get("computeMinor")) for entry in entries}
    major, minor = next(iter(found)) if len(found) == 1 else (None, None)
    return {"major": major, "minor": minor} if isinstance(major, int) and isinstance(minor, int) else {}


def _hides_moves(metrics: Mapping[str, Floats], capability: Mapping[str, int]) -> bool:
    """GA100 moves registers by an instruction that counts as hfma; half arithmetic has additions or products too."""
    is_ga100 = bool(capability) and capability["major"] + capability["minor"] / 10 == _GA100
    has_pipe = any("inst_executed_pipe_tensor" in metric for metric in metrics)
    others = [metrics.get(_HALF.format(word)) for word in ("hadd", "hmul")]
    return is_ga100 and not has_pipe and all(column is None or not np.nansum(column) for column in others)
