"""What every form of an Nsight Compute export is read into: launches with their metrics in base units."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from roofwidget.kernels.columns import Floats
from roofwidget.readers.errors import ProfileError

__all__ = ["DEVICE_NAME", "WANTED", "WORDS", "Launches", "merged", "shapes"]

WORDS: Final = ("id", "process", "context", "stream", "block", "grid", "device", "cc")
"""What is told of a launch beside its metrics, each as text."""

DEVICE_NAME: Final = "device__attribute_display_name"

_COUNTED: Final = r"(?:\.sum|\.avg)?(?:\.peak_sustained|\.per_second|\.per_cycle_elapsed)?"
WANTED: Final = re.compile(
    "|".join(
        [
            r"gpu__time_(?:duration|active)\.(?:sum|avg)",
            rf"(?:sm|smsp|l1tex|lts|dram)__cycles_elapsed{_COUNTED}",
            r"(?:derived__)?(?:sm|smsp)__sass_thread_inst_executed_op_[dfh](?:add|mul|fma)_pred_on(?:_x[24])?"
            + _COUNTED,
            r"(?:sm|smsp)__inst_executed_pipe_tensor(?:_op_[a-z]+(?:_type_hfma2)?)?(?:\.sum.*|\.avg\.pct.*)",
            r"sm__pipe_tensor\w*cycles_active\.avg\.pct_of_peak_sustained_(?:active|elapsed)",
            r"sm__ops_path_tensor_\w+" + _COUNTED,
            r"dram__bytes(?:_read|_write|_op_read|_op_write)?" + _COUNTED,
            r"dram__sectors_(?:read|write)\.sum",
            r"lts__t_(?:bytes|sectors)(?:_op_(?:read|write|atom|red))?" + _COUNTED,
            r"(?:derived__)?lts__lts2xbar_(?:cycles_active|bytes)" + _COUNTED,
            r"l1tex__(?:t_bytes|t_sectors|m_xbar2l1tex_read_bytes)" + _COUNTED,
            r"l1tex__lsu_writeback_active(?:_mem_lg|_mem_lgds)?" + _COUNTED,
            r"l1tex__t_sectors_pipe_lsu_mem_global_op_(?:ld|st)\.sum",
            r"device__attribute_(?:display_name|clock_rate|max_gpu_frequency_khz|max_mem_frequency_khz|memory_clock_rate)",
            r"device__attribute_(?:compute_capability_(?:major|minor)|multiprocessor_count|l2_cache_size|total_memory)",
            r"device__attribute_num_schedulers_per_multiprocessor",
            r"launch__(?:registers_per_thread|waves_per_multiprocessor|(?:device|context|stream)_id)",
            r"(?:sm__warps_active\.avg\.pct_of_peak_sustained_active|(?:lts|l1tex)__t_sector_hit_rate\.pct)",
            r"(?:sm__throughput|gpu__compute_memory_throughput)\.avg\.pct_of_peak_sustained_elapsed",
        ]
    )
)
"""The metrics that a roofline, its ceilings and its table need; a report holds ten times as many."""


@dataclass(frozen=True)
class Launches:
    """The launches of one export, in its order.

    Parameters
    ----------
    source
        The file, for messages.
    names
        The kernel of each launch.
    words
        Text or None by launch, under `WORDS`.
    metrics
        Values in base units (byte, cycle, inst, seconds for ``gpu__time_*``), shape (n,); NaN where not told.
    device
        The device's name by launch, or None.
    count
        Launches that a row stands for, shape (n,); metrics are then their mean.
    spread
        The least and the largest value of a metric over those launches.
    remarks
        What there is to say.
    kept
        What was derived from all this and is asked for again.
    """

    source: str
    names: Sequence[str]
    words: Mapping[str, Sequence[str | None]]
    metrics: Mapping[str, Floats]
    device: Sequence[str | None]
    count: Floats
    spread: Mapping[str, tuple[Floats, Floats]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.names)

    def metric(self, name: str) -> Floats:
        """Return a metric, shape (n,); all NaN where the file has none of this name."""
        found = self.metrics.get(name)
        return np.full(len(self), np.nan) if found is None else found

    @property
    def capability(self) -> Floats:
        """The compute capability, such as 8.0, shape (n,); NaN where not told."""
        major = self.metric("device__attribute_compute_capability_major")
        minor = self.metric("device__attribute_compute_capability_minor")
        versions = {word: _version(word) for word in set(self.words["cc"])}
        told = [versions[word] for word in self.words["cc"]]
        return np.where(np.isnan(told), major + minor / 10, told)

    def with_remark(self, remark: str) -> Launches:
        """Return the launches with one remark more."""
        return replace(self, remarks=(*self.remarks, remark))

    def at(self, rows: npt.NDArray[np.intp]) -> Launches:
        """Return some launches."""
        return replace(
            self,
            names=[self.names[row] for row in rows],
            words={word: [column[row] for row in rows] for word, column in self.words.items()},
            metrics={name: column[rows] for name, column in self.metrics.items()},
            device=[self.device[row] for row in rows],
            count=self.count[rows],
            spread={name: (low[rows], high[rows]) for name, (low, high) in self.spread.items()},
        )


def merged(first: Launches, other: Launches) -> Launches:
    """Return the launches of `first` with the metrics that another pass of the same program adds.

    Raises
    ------
    ProfileError
        If the two do not list the same kernels in the same order: the message names the first difference.
    """
    if len(first) != len(other):
        reason = f"lists {len(other)} launches, but {first.source} lists {len(first)}; passes must be of one program"
        raise ProfileError(other.source, reason)
    for row, (mine, theirs) in enumerate(zip(shapes(first), shapes(other), strict=True)):
        if mine != theirs:
            reason = f"launch {row + 1} is {_shown(theirs)}, in {first.source} {_shown(mine)}; read them one by one"
            raise ProfileError(other.source, reason)
    metrics = dict(first.metrics)
    for name, column in other.metrics.items():
        mine_ = metrics.get(name)
        metrics[name] = column if mine_ is None else np.where(np.isnan(mine_), column, mine_)
    device = [mine or theirs for mine, theirs in zip(first.device, other.device, strict=True)]
    remarks = (*first.remarks, *(remark for remark in other.remarks if remark not in first.remarks))
    return replace(first, metrics=metrics, device=device, remarks=remarks)


def shapes(launches: Launches) -> list[tuple[str, str | None, str | None]]:
    """Return kernel, grid and block of each launch: what stays from one pass to the next."""
    return list(zip(launches.names, launches.words["grid"], launches.words["block"], strict=True))


def _shown(shape: tuple[str, str | None, str | None]) -> str:
    name, grid, block = shape
    return f"'{name[:60]}' {grid or ''}x{block or ''}"


def _version(word: str | None) -> float:
    try:
        return float(word or "nan")
    except ValueError:
        return np.nan
