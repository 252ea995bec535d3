"""`HardwarePeaks`: what `measure_peaks` found, as numbers, as a table and as a `Chip`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Final

from roofwidget.analysis.result import Bound
from roofwidget.chips import Chip, Memory, Source
from roofwidget.kernels.table import Kernels
from roofwidget.support.text_tables import aligned, first_few, html_table, html_with_notes
from roofwidget.units import figure, format_percent, format_quantity, parse

_HEADER: Final = ("figure", "best", "median", "spread", "runs", "threads", "method")
# Three numbers that are rounded to three digits each can differ by this share from what follows from them.
_RIDGE_TOLERANCE: Final = 0.015
# More digits of a measured rate are noise.
_FLOPS_DIGITS: Final = 3
_BANDWIDTH_DIGITS: Final = 2
_MAX_NOTES: Final = 3
_UNNAMED: Final = "this machine"


@dataclass(frozen=True)
class MeasuredRate:
    """One measured figure: the peak of a precision, or the bandwidth or latency of a memory level.

    Parameters
    ----------
    name
        The precision, such as ``fp32``, or the memory level, such as ``L2``.
    unit
        ``FLOP/s`` or ``B/s``; ``s`` for a latency.
    value
        The best rate, or the shortest latency, rounded to three digits.
    median
        The median, rounded to three digits.
    spread
        The distance between the quartiles of the rates, divided by the best; None for a single run. Of a latency these
        are the rates of loads.
    n
        The number of timed runs.
    method
        What ran, such as ``numpy matmul 2048×2048``.
    threads
        How many threads worked; None for a device without threads.
    date
        The day, such as ``2026-11-23``.
    warnings
        Why the rate may be wrong, such as other programs that ran at the same time.
    scope
        Which units share a memory level, and ``lower bound`` if the method cannot reach the level's full bandwidth.
    capacity
        Bytes of a memory level on the whole machine, or None if unknown.
    """

    __module__ = "roofwidget"

    name: str
    unit: str
    value: float
    median: float
    spread: float | None
    n: int
    method: str
    threads: int | None
    date: str
    warnings: tuple[str, ...] = ()
    scope: str = ""
    capacity: float | None = None

    @property
    def source(self) -> Source:
        """The source of the figure on a chip's card: the method, the threads and the day."""
        threads = "" if self.threads is None else f", {self.threads} thread{'s' if self.threads > 1 else ''}"
        return Source(f"measured with {self.method}{threads}, {self.date}", confidence="measured")


@dataclass(frozen=True, repr=False)
class HardwarePeaks:
    """The measured peaks of a device; `measure_peaks` returns it. Immutable.

    Parameters
    ----------
    peak_flops
        FLOP/s of `dtype`.
    peak_bandwidth
        bytes/s of the main memory.
    ridge_point
        `peak_flops` divided by `peak_bandwidth`, FLOP/byte, or this number rounded to three digits or more.
    device
        Where it was measured, as the framework writes it: ``cpu``, ``cuda:0``.
    dtype
        The precision of `peak_flops`, such as ``fp32``.
    tf32_enabled
        Whether `peak_flops` allows TF32 in place of fp32.
    cudnn_benchmark
        Whether cuDNN searches for the fastest convolution.
    ceilings
        Every measured rate: precisions first, then memory levels, the main memory first.
    warnings
        What a reader must know about all figures.
    name
        The processor or accelerator.
    latencies
        The latency of each memory level that was measured, the main memory first.

    Raises
    ------
    ValueError
        If a peak is not finite and above zero, or `ridge_point` is not the ratio of the two peaks.

    Examples
    --------
    >>> peaks = HardwarePeaks(2e11, 4e10, 5.0, "cpu", "fp32", False, False)
    >>> peaks
    HardwarePeaks(peak_flops=2e+11, peak_bandwidth=4e+10, ridge_point=5, device='cpu', dtype='fp32', \
tf32_enabled=False, cudnn_benchmark=False)
    >>> peaks.chip
    Chip('this machine (measured)': fp32 200 GFLOP/s; DRAM 40 GB/s)
    """

    __module__ = "roofwidget"

    peak_flops: float
    peak_bandwidth: float
    ridge_point: float
    device: str
    dtype: str
    tf32_enabled: bool
    cudnn_benchmark: bool
    ceilings: tuple[MeasuredRate, ...] = ()
    warnings: tuple[str, ...] = ()
    name: str = ""
    latencies: tuple[MeasuredRate, ...] = ()

    def __post_init__(self) -> None:
        peak = figure(self.peak_flops, "FLOP/s", "HardwarePeaks: peak_flops")
        ratio = peak / figure(self.peak_bandwidth, "B/s", "HardwarePeaks: peak_bandwidth")
        ridge = parse(self.ridge_point, "FLOP/B", "HardwarePeaks: ridge_point")
        if not abs(ridge - ratio) <= _RIDGE_TOLERANCE * ratio:
            raise ValueError(
                f"HardwarePeaks: ridge_point is {self.ridge_point!r}, but peak_flops / peak_bandwidth is {ratio:.4g}: "
                "write this ratio, or correct the peaks"
            )

    @cached_property
    def chip(self) -> Chip:
        """The measured figures as a `Chip`, each with its method, threads and day as the source."""
        peaks = {rate.name: rate for rate in self.ceilings if rate.unit == "FLOP/s"}
        levels = {rate.name: rate for rate in self.ceilings if rate.unit == "B/s"}
        waits = {rate.name: rate for rate in self.latencies if rate.name in levels}
        return Chip(
            f"{self.name or _UNNAMED} (measured)",
            {precision: rate.value for precision, rate in peaks.items()} or {self.dtype: self.peak_flops},
            {
                level: Memory(
                    *(level, rate.value, rate.capacity, rate.scope),
                    latency=waits[level].value if level in waits else None,
                )
                for level, rate in levels.items()
            }
            or {"DRAM": self.peak_bandwidth},
            kind=_kind(self.device),
            default_precision=self.dtype,
            sources={
                **{f"peak_flops.{name}": rate.source for name, rate in peaks.items()},
                **{f"memories.{name}.bandwidth": rate.source for name, rate in levels.items()},
                **{f"memories.{name}.latency": rate.source for name, rate in waits.items()},
            },
            notes=list(self._all_warnings()),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return all fields as a dict of numbers, texts, lists and dicts, as JSON takes them."""
        found = asdict(self)
        rates = {
            part: [{**asdict(rate), "warnings": list(rate.warnings)} for rate in getattr(self, part)]
            for part in ("ceilings", "latencies")
        }
        return {**found, **rates, "warnings": list(self.warnings)}

    def __repr__(self) -> str:
        peak, bandwidth = f"{self.peak_flops:.3g}", f"{self.peak_bandwidth:.3g}"
        ridge = _with_digits(self.ridge_point, max(map(_digits, (peak, bandwidth))))
        return (
            f"HardwarePeaks(peak_flops={peak}, peak_bandwidth={bandwidth}, ridge_point={ridge}, "
            f"device={self.device!r}, dtype={self.dtype!r}, "
            f"tf32_enabled={self.tf32_enabled}, cudnn_benchmark={self.cudnn_benchmark})"
        )

    def __str__(self) -> str:
        lines = aligned([_HEADER, *map(_cells, self._figures)]) if self.ceilings else []
        return "\n".join([repr(self), *lines, *self._all_warnings()])

    def _repr_html_(self) -> str:
        caption = f"Measured peaks: {self.name or _UNNAMED}, {self.device}"
        if not self.ceilings:
            return html_with_notes(html_table(caption, ("figure", "value"), self._totals()), self.warnings)
        return html_with_notes(html_table(caption, _HEADER, map(_cells, self._figures)), self._all_warnings())

    @property
    def _figures(self) -> tuple[MeasuredRate, ...]:
        return (*self.ceilings, *self.latencies)

    def _totals(self) -> list[tuple[str, str]]:
        return [
            (self.dtype, format_quantity(self.peak_flops, "FLOP/s", _FLOPS_DIGITS)),
            ("main memory", format_quantity(self.peak_bandwidth, "B/s", _BANDWIDTH_DIGITS)),
        ]

    def _all_warnings(self) -> Iterator[str]:
        yield from self.warnings
        for rate in self._figures:
            # `remarks_that_matter` finds the level before the colon.
            what = "its latency: " if rate.unit == "s" else ""
            yield from (f"{rate.name}: {what}{warning}" for warning in rate.warnings)


def remarks_on_roofs(kernels: Kernels, bound: Bound) -> list[str]:
    """Return one sentence on why the roofs that judge kernels may be wrong, if they were measured and may be.

    Parameters
    ----------
    kernels
        The kernels.
    bound
        Their bound on a chip. Notes on its figures that judge none of the kernels are left out.
    """
    chip = bound.chip
    if not any(source.confidence == "measured" for source in chip.sources.values()):
        return []
    found = remarks_that_matter(chip.notes, kernels, bound)
    return [f"the measured roofs may be wrong: {first_few(found, _MAX_NOTES)}"] if found else []


def remarks_that_matter(remarks: Iterable[str], kernels: Kernels, bound: Bound) -> list[str]:
    """Return remarks on a chip's figures, except those on precisions and memory levels that judge no kernel."""
    judging = {*bound.judged, *(name or bound.precision for name in kernels.precision[kernels.flops > 0])}
    others = {*bound.chip.peak_flops, *bound.chip.memories} - judging
    return [remark for remark in remarks if remark.partition(":")[0] not in others]


def _cells(rate: MeasuredRate) -> list[str]:
    digits = _FLOPS_DIGITS if rate.unit == "FLOP/s" else _BANDWIDTH_DIGITS
    scope = f" ({rate.scope})" if rate.scope else ""
    latency = " latency" if rate.unit == "s" else ""
    return [
        f"{rate.name}{latency}{scope}",
        format_quantity(rate.value, rate.unit, digits),
        format_quantity(rate.median, rate.unit, digits),
        "" if rate.spread is None else format_percent(rate.spread),
        str(rate.n),
        "" if rate.threads is None else str(rate.threads),
        rate.method,
    ]


def _digits(text: str) -> int:
    """Return the number of significant digits of a number that ``.3g`` wrote without zeros at its end."""
    return len(text.partition("e")[0].replace(".", "").strip("0")) or 1


def _with_digits(value: float, digits: int) -> str:
    """Return a number above zero with exactly this many significant digits, also where the last are zeros: ``15.0``."""
    return f"{value:#.{digits}g}".replace(".e", "e").rstrip(".")


def _kind(device: str) -> str:
    kind = device.partition(":")[0]
    return kind if kind in {"cpu", "tpu"} else "gpu"
