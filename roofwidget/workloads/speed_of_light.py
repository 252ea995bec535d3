"""The speed of light of a graph on a chip: the least time for its ops, and how near kernels can come to it.

Four times, each at least as long as the next:

- **unfused**: one kernel per op, as without a compiler.
- **compiler**: the fastest partition of kernels that compilers make today.
- **best**: the fastest partition of kernels that people can write, by the forms in `forms.py`.
- **light**: inputs are read once, outputs are written once, each FLOP is done once, and all units of the chip work at
  the same time. No program for these ops is faster; fewer FLOPs need another algorithm.

>>> from roofwidget.workloads import Graph
>>> g = Graph("tail")
>>> x = g.input("x", (65536, 4096), "bf16")
>>> g.output(g.gelu(g.layernorm(x)))
>>> sol = speed_of_light(g, "h100-sxm")
>>> [f"{1e6 * seconds:.0f} µs" for seconds in (sol.unfused, sol.compiler, sol.best, sol.light)]
['641 µs', '321 µs', '321 µs', '321 µs']

Sources: SOL-ExecBench (NVIDIA/SOL-ExecBench, arXiv 2603.19173) for the score; SOLAR (NVlabs/SOLAR, its guide to the
speed of light) for a bound of the same kind as `light`. The score here differs: a time below light has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite
from typing import Any, Final, NamedTuple

from roofwidget import units
from roofwidget.chips import Chip, ChipLike, shared_on_chip
from roofwidget.chips import chip as find_chip
from roofwidget.support.arguments import text_argument
from roofwidget.support.did_you_mean import keywords
from roofwidget.support.text_tables import aligned, and_more, counted, first_few, html_table, html_with_notes, one_line
from roofwidget.units import format_percent, format_quantity
from roofwidget.workloads.forms import Forms, KernelForm
from roofwidget.workloads.graph import Graph
from roofwidget.workloads.masks import members
from roofwidget.workloads.op import CLASSES
from roofwidget.workloads.partition import Dims, Partition
from roofwidget.workloads.structure import Counts, Structure

AT_LIGHT: Final = 0.01
"""A time that is below light by at most this share is at light: clocks and timers explain the difference."""
MEANINGS: Final = {
    "unfused": "one kernel per op",
    "compiler": "what a compiler does today, at best",
    "best": "what one can write",
    "light": "speed of light",
}
"""The four times, the longest first, and what each is."""
_WORK: Final = {
    "tensor": "matrix products",
    "vector": "ops outside of matrix products",
    "transcendental": "transcendental functions",
}
_MAX_KERNELS: Final = 20
_MAX_TENSORS: Final = 6
_MAX_NAMES_CHARACTERS: Final = 80


@dataclass(frozen=True)
class Score:
    """How a measured time compares with the speed of light and a baseline.

    Parameters
    ----------
    value
        1 at light, 1/2 at the baseline: ``1 / (1 + (measured - light) / (baseline - light))``. None if the score has no
        meaning; `reason` says why.
    fraction
        ``light / measured``. It needs no baseline.
    measured, baseline
        Seconds.
    is_modelled
        Whether the baseline is the modelled time `SpeedOfLight.compiler`, and not a measured time.
    reason
        Why there is no score. Empty if there is one.
    """

    __module__ = "roofwidget"

    value: float | None
    fraction: float
    measured: float
    baseline: float
    is_modelled: bool
    reason: str = ""

    def __str__(self) -> str:
        against = f"against a {'modelled' if self.is_modelled else 'measured'} baseline of {_time(self.baseline)}"
        said = f"no score: {self.reason}" if self.value is None else f"score {self.value:.4g} {against}"
        return f"{said}; {format_percent(self.fraction)} of the speed of light"


@dataclass(frozen=True)
class TimeVerdict:
    """Whether a measured time is possible.

    Parameters
    ----------
    word
        ``"possible"``; ``"at light"``: below light by at most 1 %; ``"impossible"``: further below;
        ``"check the convention"``: below light, which is bound by FLOPs outside of matrix products. How many FLOPs an
        op such as a softmax has is a convention, so that such a time proves nothing.
    sentence
        One sentence with the numbers.
    checks
        What can explain a time below light: only what applies to this graph on this chip.
    """

    __module__ = "roofwidget"

    word: str
    sentence: str
    checks: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([self.sentence, *(f"- {check}" for check in self.checks)])


@dataclass(frozen=True)
class TimedKernel:
    """A kernel of the best partition.

    Parameters
    ----------
    ops
        The names of its ops.
    time
        Its bound time, seconds.
    form
        How it runs, with its bytes and FLOPs.
    """

    __module__ = "roofwidget"

    ops: tuple[str, ...]
    time: float
    form: KernelForm


@dataclass(frozen=True, repr=False)
class SpeedOfLight:
    """The speed of light of a graph on a chip, and the times of three ways to run the graph. `roofwidget.sol` makes it.

    Parameters
    ----------
    graph, chip, precision
        What is work. `precision` is the precision of every op, or ``"auto"``.
    unfused, compiler, best, light
        Seconds: one kernel per op; the fastest kernels that compilers make today; the fastest kernels that people can
        write; the speed of light.
    unfused_bytes, compiler_bytes, best_bytes, light_bytes
        Bytes of main memory that each of them moves.
    flops
        FLOPs of all ops, each done once. A multiply-add is 2 FLOPs, as in peak rates.
    parts
        The seconds of which `light` is the longest: of the FLOPs of each class, and of the bytes of the main memory.
    partition
        The partition whose time is `best`.
    how
        How `partition` was found: ``"optimal"``: the search proved that no partition is faster under the model;
        ``"greedy"``: there may be a faster one.
    kernels
        The kernels of `partition`.
    warm
        Whether `light` counts no bytes of tensors that can be in the memory that all units share.
    warm_light
        Seconds: `light` if this memory is full of inputs and outputs from the beginning.
    notes
        What was assumed, and what is unknown.
    """

    __module__ = "roofwidget"

    graph: Graph
    chip: Chip
    precision: str
    unfused: float
    compiler: float
    best: float
    light: float
    unfused_bytes: int
    compiler_bytes: int
    best_bytes: int
    light_bytes: int
    flops: int
    parts: Mapping[str, float]
    partition: Partition
    how: str
    kernels: tuple[TimedKernel, ...]
    warm: bool
    warm_light: float
    notes: tuple[str, ...]
    _work: _Work

    @property
    def bound_by(self) -> str:
        """What bounds `light`: ``tensor``, ``vector`` or ``transcendental`` FLOPs, or the main memory, as ``HBM``."""
        return max(self.parts, key=self.parts.__getitem__)

    def fraction(self, measured: float | str) -> float:
        """Return the share of the speed of light that a measured time reaches: ``light / measured``.

        Parameters
        ----------
        measured
            Seconds, or a text such as ``"12 us"``.
        """
        return self.light / _seconds(measured, "measured")

    def score(self, measured: float | str, baseline: float | str | None = None) -> Score:
        """Return how a measured time compares with light and a baseline: 1 at light, 1/2 at the baseline.

        Parameters
        ----------
        measured
            Seconds, or a text such as ``"12 us"``.
        baseline
            A measured time of another program, such as the one of a compiler. By default `compiler`, which is modelled.
        """
        seconds = _seconds(measured, "measured")
        against = self.compiler if baseline is None else _seconds(baseline, "baseline")
        value, reason = None, ""
        if seconds < self.light:
            reason = f"measured {_time(seconds)} is below light, {_time(self.light)}"
        elif against <= self.light:
            reason = f"the baseline, {_time(against)}, is not slower than light, {_time(self.light)}"
        else:
            value = 1 / (1 + (seconds - self.light) / (against - self.light))
        return Score(value, self.light / seconds, seconds, against, baseline is None, reason)

    def verdict(self, measured: float | str) -> TimeVerdict:
        """Return whether a measured time is possible and, if it is not, what to check.

        Parameters
        ----------
        measured
            Seconds, or a text such as ``"12 us"``.
        """
        seconds = _seconds(measured, "measured")
        shown, light, least = _time(seconds), _time(self.light), self._least_time()
        if seconds >= self.light:
            share = format_percent(self.light / seconds)
            return TimeVerdict("possible", f"measured {shown} is {share} of the speed of light: {light}, {least}")
        if seconds >= self.light * (1 - AT_LIGHT):
            return TimeVerdict("at light", f"measured {shown} is at light: {light}, {least}; check the clock")
        below = f"measured {shown} is below {light}, {least}"
        others = [part for word, part in self.parts.items() if word in ("tensor", self.chip.main_memory)]
        if seconds >= max(others, default=0.0) * (1 - AT_LIGHT):
            counting = self.graph.convention.described
            check = f"how many FLOPs a softmax or an exponential has is a convention, {counting}, and no bound"
            return TimeVerdict("check the convention", f"{below}. Check:", (check,))
        return TimeVerdict("impossible", f"{below}. Check:", tuple(self._checks(seconds)))

    def _least_time(self) -> str:
        if self.bound_by == self.chip.main_memory:
            return f"the least time in which {self.chip.name} can move {_bytes(self.light_bytes)}"
        flops = self._work.flops[self.bound_by]
        done = f"{format_quantity(float(flops), 'FLOP')} of {_WORK[self.bound_by]}"
        return f"the least time in which {self.chip.name} can do {done}"

    def _checks(self, seconds: float) -> Iterator[str]:
        """Yield what can explain a time that is impossible."""
        work, chip = self._work, self.chip
        if seconds < self.parts[chip.main_memory]:
            there = shared_on_chip(chip)
            if not self.warm and work.read_bytes <= there and seconds >= self.warm_light * (1 - AT_LIGHT):
                size = "an unknown number of bytes" if there == inf else _bytes(there)
                can = f"{chip.name} keeps {size} on chip for all units"
                warm = "" if there == inf else f", or compare with warm=True: {_time(self.warm_light)}"
                read = _bytes(work.read_bytes)
                yield f"inputs were in cache: {read} are read, and {can}; clear it before each run{warm}"
            yield (
                f"fewer bytes than the {_bytes(self.light_bytes)} that are counted, such as by weights of fewer bits, "
                "sparsity, experts that no token reaches, skipped padding, constants that were folded"
            )
        if seconds < self.parts.get("tensor", 0.0):
            of = " and ".join(work.precisions) or "the chip"
            narrow = "TF32 or 16-bit math for fp32 inputs" if "fp32" in work.precisions else "math of fewer bits"
            done = format_quantity(float(work.flops["tensor"]), "FLOP")
            yield f"a higher peak than that of {of}: {narrow} (precision= states it), structured sparsity"
            yield (
                f"fewer FLOPs than the {done} that are counted, such as by "
                "Winograd or Strassen, scales folded into weights, a causal mask counted in full"
            )
        yield "the clock: above that of the chip's figures, another chip, the time of a part only, an asynchronous call"

    # -- the derivation ----------------------------------------------------------------------------------------------

    @cached_property
    def derivation(self) -> tuple[str, ...]:
        """How the four times follow from counts and figures of the chip, line by line."""
        chip, work = self.chip, self._work
        bandwidth = format_quantity(chip.bandwidth(), "B/s", 4)
        lines = []
        for verb, tensors in (("reads", work.read), ("writes", work.written)):
            largest = sorted(tensors.items(), key=lambda one: -one[1])
            some = first_few([f"{one_line(name)} {_bytes(size)}" for name, size in largest], _MAX_TENSORS)
            lines.append(f"{verb} once: {some}")
        cached = f" less {_bytes(work.compulsory - self.light_bytes)} in cache" if self.warm else ""
        lines.append(
            f"{chip.main_memory}: {_exact(work.compulsory, 'B')}{cached} / {bandwidth} = "
            f"{_precise(self.parts[chip.main_memory])}"
        )
        for word, flops in work.flops.items():
            rate = format_quantity(flops / self.parts[word], "FLOP/s", 4)
            of = f" ({', '.join(work.precisions)})" if word == "tensor" and work.precisions else ""
            lines.append(f"{_WORK[word]}: {_exact(flops, 'FLOP')} / {rate}{of} = {_precise(self.parts[word])}")
        lines.append(f"light = the longest of these = {_precise(self.light)}, bound by {self._bound}")
        for kernel in self.kernels[:_MAX_KERNELS]:
            done = f"{_bytes(kernel.form.bytes)}, {format_quantity(float(kernel.form.flops), 'FLOP')}"
            ops = one_line(" + ".join(kernel.ops), _MAX_NAMES_CHARACTERS)
            lines.append(f"best: {ops}: {done} in {_precise(kernel.time)}; {kernel.form}")
        lines += and_more(len(self.kernels), _MAX_KERNELS)
        lines.append(f"best = the sum = {_precise(self.best)}, {self._found}")
        lines.append(
            f"compiler = {_precise(self.compiler)}: at most one matrix product in a kernel, no reduction beside it"
        )
        lines.append(
            f"unfused = {_precise(self.unfused)}: {counted(len(self.graph.ops), 'kernel')}, each with its own bound"
        )
        return tuple(lines)

    @property
    def _bound(self) -> str:
        return self.bound_by if self.bound_by == self.chip.main_memory else f"{self.bound_by} FLOPs"

    @property
    def _found(self) -> str:
        if self.how == "optimal":
            return "which the search proved to be the least under the model"
        return "found by greedy merges: another partition may be faster"

    def _rows(self) -> list[list[str]]:
        more = {"best": f": {counted(len(self.kernels), 'kernel')}, {self.how}", "light": f", bound by {self._bound}"}
        return [
            [
                word,
                _precise(getattr(self, word)),
                _bytes(getattr(self, f"{word}_bytes")),
                meaning + more.get(word, ""),
            ]
            for word, meaning in MEANINGS.items()
        ]

    def _title(self) -> str:
        names = [f"speed of light of {one_line(self.graph.name) or 'a graph'} on {self.chip.name}"]
        names += [] if self.precision == "auto" else [self.precision]
        return ", ".join([*names, f"{format_quantity(float(self.flops), 'FLOP')}", *(["warm"] if self.warm else [])])

    def __repr__(self) -> str:
        return "\n".join([self._title(), *aligned(self._rows(), right=(1, 2)), *(f"note: {one}" for one in self.notes)])

    def _repr_html_(self) -> str:
        table = html_table(self._title(), ("", "time", "bytes", "meaning"), self._rows())
        return html_with_notes(table, [*self.derivation, *self.notes])


@dataclass(frozen=True)
class _Work:
    """What light counts: the tensors that must move, and FLOPs by class."""

    read: Mapping[str, int]
    written: Mapping[str, int]
    flops: Mapping[str, int]
    precisions: tuple[str, ...]
    """The precisions of matrix products."""

    @property
    def read_bytes(self) -> int:
        return sum(self.read.values())

    @property
    def compulsory(self) -> int:
        return self.read_bytes + sum(self.written.values())


@keywords("speed_of_light")
def speed_of_light(
    graph: Graph,
    chip: ChipLike,
    precision: str = "auto",
    *,
    dims: Dims = None,
    launch_overhead: float | str = 0.0,
    warm: bool = False,
) -> SpeedOfLight:
    """Return the speed of light of a graph: `roofwidget.sol` describes the parameters and the result."""
    there, structure = find_chip(chip), Structure(graph)
    if not structure.ops:
        raise ValueError(f"graph '{graph.name}' has no ops, so it takes no time; add ops, or trace a model")
    text_argument(precision, "precision")
    overhead = units.finite(units.parse(launch_overhead, "s", "launch_overhead"), "launch_overhead")
    counts = structure.counts_at(dims)
    forms = Forms(structure, counts, there, precision, overhead, dims)
    how: dict[str, Any] = {"precision": precision, "launch_overhead": overhead, "dims": dims}
    best, compiler = Partition.best(graph, there, **how), Partition.like("compiler", graph, there, **how)
    unfused, compiled, fastest = (_cost(forms, one) for one in (Partition.unfused(graph), compiler, best))
    is_proved = best.how == "optimal"
    if compiled.seconds < fastest.seconds:
        # The greedy search can miss what the exact search for the kernels of compilers finds.
        best, fastest = compiler, compiled
    work, seconds = _work_of(structure, counts, forms), _parts(structure, counts, forms)
    shared = shared_on_chip(there)
    if warm and not isfinite(shared):
        raise ValueError(f"warm=True needs the capacity of a cache of {there.name}, which is unknown; leave warm out")
    left = int(max(0.0, work.compulsory - shared))
    light_bytes = left if warm else work.compulsory
    parts = {there.main_memory: light_bytes / forms.bandwidth, **seconds}
    return SpeedOfLight(
        graph,
        there,
        precision,
        unfused=unfused.seconds,
        compiler=compiled.seconds,
        best=fastest.seconds,
        light=max(parts.values()),
        unfused_bytes=unfused.moved,
        compiler_bytes=compiled.moved,
        best_bytes=fastest.moved,
        light_bytes=light_bytes,
        flops=sum(work.flops.values()),
        parts=parts,
        partition=best,
        how="optimal" if is_proved else "greedy",
        kernels=tuple(_kernels(forms, best)),
        warm=warm,
        warm_light=max([left / forms.bandwidth, *seconds.values()]),
        notes=(*_sizes(graph, dims), *_unknown(structure, counts), *graph.notes),
        _work=work,
    )


class _Cost(NamedTuple):
    """The seconds and the bytes of a partition."""

    seconds: float
    moved: int


def _masks(partition: Partition) -> Iterator[int]:
    for group in partition.indices:
        yield sum(1 << op for op in group)


def _cost(forms: Forms, partition: Partition) -> _Cost:
    masks = list(_masks(partition))
    return _Cost(sum(map(forms.time, masks)), sum(forms.done(mask)[0] for mask in masks))


def _kernels(forms: Forms, partition: Partition) -> Iterator[TimedKernel]:
    for ops, mask in zip(partition.groups, _masks(partition), strict=True):
        yield TimedKernel(ops, forms.time(mask), forms.described(mask))


def _work_of(structure: Structure, counts: Counts[int], forms: Forms) -> _Work:
    s = structure
    names = [tensor.name for tensor in s.tensors]
    read = {names[t]: size for t, size in enumerate(counts.sizes) if not s.producer[t] and s.readers[t]}
    written = {names[t]: size for t, size in enumerate(counts.sizes) if s.producer[t] and s.kept[t]}
    # The rows of a table that a gather reads in any order. Extra bytes of other ops are read again, or need not move.
    read |= {f"rows of {s.names[op]}": counts.extra[op] for op in members(s.gathering) if counts.extra[op]}
    stated = (s.stated[op] for op, flops in enumerate(counts.flops) if flops.get("tensor"))
    precisions = dict.fromkeys(one or forms.asked for one in stated) if forms.own else (forms.asked,)
    return _Work(read, written, s.flops(s.everything, counts), tuple(precisions))


def _parts(structure: Structure, counts: Counts[int], forms: Forms) -> dict[str, float]:
    """Return the seconds of the FLOPs of each class.

    A product has the peak of its own precision. Other FLOPs have the fastest peak of all precisions of the graph,
    because a kernel does them at the precision of its product.
    """
    chip, asked = forms.chip, forms.asked
    assert chip is not None  # noqa: S101 - for the type checker: `speed_of_light` gives one
    own = [(structure.precision(1 << op, counts) or asked) if forms.own else asked for op in range(len(structure.ops))]
    working = dict.fromkeys(one for one, flops in zip(own, counts.flops, strict=True) if any(flops.values()))
    # FLOPs of one rate are added up before the division, as for a kernel, so that rounding keeps the order of times.
    total: dict[tuple[str, float], int] = {}
    for precision, flops in zip(own, counts.flops, strict=True):
        for word, done in flops.items():
            if done:
                rates = [precision] if word == "tensor" else working
                key = word, max(chip.peak_of(word, one)[0] for one in rates)
                total[key] = total.get(key, 0) + done
    seconds: dict[str, float] = {}
    for (word, rate), done in total.items():
        seconds[word] = seconds.get(word, 0.0) + done / rate
    return {word: seconds[word] for word in CLASSES if word in seconds}


def _sizes(graph: Graph, dims: Dims) -> list[str]:
    sizes = graph.environment(dims)
    found = [f"{dim.name} = {sizes[dim.name]:,}" for dim in graph.dims]
    return [f"counted at {', '.join(found)}"] if found else []


def _unknown(structure: Structure, counts: Counts[int]) -> list[str]:
    found = [structure.names[op] for op in members(structure.of_kind["opaque"]) if not any(counts.flops[op].values())]
    if not found:
        return []
    have = "has" if len(found) == 1 else "have"
    names = first_few(list(map(one_line, found)), _MAX_TENSORS)
    return [f"a lower bound: {counted(len(found), 'op')} {have} no FLOPs: {names}"]


def _seconds(value: float | str, what: str) -> float:
    return units.positive(units.parse(value, "s", what), what)


def _time(seconds: float) -> str:
    return format_quantity(seconds, "s")


def _precise(seconds: float) -> str:
    """Return a time with a digit more than usual: `best` and `light` often differ by less than 1 %."""
    return format_quantity(seconds, "s", 4)


def _bytes(size: float) -> str:
    return format_quantity(float(size), "B")


def _exact(count: int, unit: str) -> str:
    return f"{count:,} {unit}"
