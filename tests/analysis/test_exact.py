"""Two thousand random kernels on random chips under random options: every result is the one of exact fractions.

Run again what failed with ``ROOFWIDGET_SEED=… pytest tests/analysis/test_exact.py``; the message names the seed and the
case.
"""

from __future__ import annotations

import math
import os
import random
import sys
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import roofwidget as rw
from tests.analysis import exact
from tests.analysis.exact import Exact, Machine, MissingError, Options, Quantity, Work

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SEED: Final = os.environ.get("ROOFWIDGET_SEED", "") or str(random.SystemRandom().randrange(10**9))
KERNELS: Final = 2_000
KERNELS_PER_TABLE: Final = 40
# Each formula rounds a few times, and each rounding is at most half a unit in the last place.
ULPS: Final = 8
_MAX_SHOWN: Final = 12
_CATALOGUE: Final = rw.chips()
_PRECISIONS: Final = ("fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8")
_UNIT_PEAKS: Final = ("fp16_vector", "bf16_tensor", "fp32_matrix", "vector", "transcendental", "matmul", "tensor")
_DEFAULTS: Final = ("bf16", "fp16", "tf32", "fp32", "fp64")
_MAIN: Final = ("HBM", "DRAM", "GDDR6", "Unified memory")
_LEVELS: Final = ("L2", "L1", "VMEM read", "VMEM write", "SMEM", "LPDDR5X")
_BYTE_KEYS: Final = ("main", "HBM", "hbm", "DRAM", "GDDR6", "L2", "l1", "VMEM read", "vmem WRITE", "SMEM", "LPDDR5X")
_OWN_PRECISIONS: Final = ("bf16", "BFloat16", "fp16", "half", "double", "FP32", "fp8", "fp16_vector")
# Factors on a time or an amount that put it at, just beside, or far from a threshold.
_NEAR: Final = (1.0, 1.0, 1 + 1e-13, 1 - 1e-13, 1 + 1e-11, 1 - 1e-11, 1 + 1e-8, 0.95, 1.05, 1 / 1.05, 1.049)
_SHARES: Final = (1.0, 1 + 1e-9, 1 - 1e-9, 1 - 2e-9, 1 / 0.95, 1 / 0.8, 10.0, 9.99, 2.0, 0.5, 300.0)


@dataclass
class Search:
    """What a search has found."""

    differences: list[str]
    counts: Counter[str]

    def number(self, what: str, found: float, expected: Quantity, *, scale: float = 0.0, ulps: int = ULPS) -> None:
        """Compare a number. `scale` is the size of the numbers whose difference the number is."""
        self.counts["numbers"] += 1
        if expected is None:
            same = math.isnan(found)
        elif not isinstance(expected, Fraction):
            same = found == math.inf
        else:
            # Most numbers are the nearest double, which is quick to see.
            same = found == float(expected) or (
                math.isfinite(found)
                and abs(Fraction(found) - expected) <= ulps * Fraction(math.ulp(max(abs(found), scale)))
            )
        if not same:
            wanted = float(expected) if isinstance(expected, Fraction) else expected
            self.differences.append(f"{what}: {found!r}, exactly {wanted!r}")

    def decision(self, what: str, found: Any, expected: set[Any]) -> None:
        """Compare a decision. More than one expected answer means that rounding decides."""
        self.counts["decisions"] += 1
        self.counts["within rounding of a threshold"] += len(expected) > 1
        if found not in expected:
            self.differences.append(f"{what}: {found!r}, exactly {sorted(expected, key=str)!r}")


# -- drawing -----------------------------------------------------------------------------------------------------------


def _rate(rng: random.Random, size: float, *, binary: bool) -> float:
    if binary:
        return 2.0 ** (round(math.log2(size)) + rng.randint(-3, 3))
    drawn = size * 10 ** rng.uniform(-2, 2)
    return float(f"{drawn:.2e}") if rng.random() < 0.5 else drawn


def _some(rng: random.Random, values: Sequence[str], least: int, most: int) -> list[str]:
    return rng.sample(values, rng.randint(least, min(most, len(values))))


def draw_chip(rng: random.Random, name: str) -> tuple[rw.Chip, Machine]:
    """Return a chip of the catalogue or one that no maker sells, and its figures as fractions."""
    if rng.random() < 0.25:
        chip = rng.choice(_CATALOGUE)
        return chip, Machine(
            {key: Fraction(peak) for key, peak in chip.peak_flops.items()},
            {key: _fraction(level.bandwidth) for key, level in chip.memories.items()},
            {key: _fraction(link.bandwidth) for key, link in chip.links.items()},
            chip.default_precision,
        )
    binary = rng.random() < 0.4
    precisions = _some(rng, _PRECISIONS, 1, 7)
    peaks = {key: _rate(rng, 1e14, binary=binary) for key in (*precisions, *_some(rng, _UNIT_PEAKS, 0, 4))}
    bandwidths: dict[str, float | None] = {rng.choice(_MAIN): _rate(rng, 2e12, binary=binary)}
    for level in _some(rng, _LEVELS, 0, 6):
        bandwidths[level] = None if rng.random() < 0.15 else _rate(rng, 1e13, binary=binary)
    links: dict[str, float | None] = {}
    for link in _some(rng, ("NVLink", "ICI", "PCIe", "PCIe 5 x16", "CXL"), 0, 3):
        links[link] = None if rng.random() < 0.15 else _rate(rng, 2e11, binary=binary)
    default = next((key for key in _DEFAULTS if key in peaks), precisions[0])
    given = None if default in _DEFAULTS and rng.random() < 0.5 else rng.choice(precisions)
    # A rate without a bandwidth is drawn as a Link, as a source without a direction makes it.
    made = rw.Chip(
        name,
        peaks,
        bandwidths,
        links={key: rw.Link(key, rate) for key, rate in links.items()},
        default_precision=given,
    )
    return made, Machine(
        {key: Fraction(peak) for key, peak in peaks.items()},
        {key: _fraction(rate) for key, rate in bandwidths.items()},
        {key: _fraction(rate) for key, rate in links.items()},
        given or default,
    )


def _fraction(value: float | None) -> Fraction | None:
    return None if value is None else Fraction(value)


def _any_case(rng: random.Random, word: str) -> str:
    return rng.choice((word, word, word.upper(), word.lower()))


def draw_options(rng: random.Random, machine: Machine) -> tuple[dict[str, Any], Options]:
    """Return options as `rw.bound` takes them, and as fractions."""
    memory = rng.choice(("main", "main", "all", "all", *(key for key, rate in machine.bandwidths.items() if rate)))
    given: dict[str, Any] = {
        "precision": "auto" if rng.random() < 0.5 else _any_case(rng, rng.choice(list(machine.peaks))),
        "memory": _any_case(rng, memory),
        "overlap": rng.choice((1.0, 1.0, 0.0, 0.5, rng.random())),
        "exposed_comm": rng.choice((0.0, 0.0, 0.0, 0.25, 0.99 * rng.random())),
        "launch_overhead": rng.choice((0.0, 0.0, 5e-6, 10 ** rng.uniform(-9, -2))),
    }
    return given, Options(
        given["precision"],
        memory,
        Fraction(given["overlap"]),
        Fraction(given["exposed_comm"]),
        Fraction(given["launch_overhead"]),
    )


def _amount(rng: random.Random, size: float) -> Fraction:
    kind = rng.random()
    if kind < 0.1:
        return Fraction(0)
    if kind < 0.4:
        return Fraction(2 ** rng.randint(0, 40))
    if kind < 0.7:
        return Fraction(rng.randint(1, 2**53))
    return Fraction(size * 10 ** rng.uniform(-6, 6))


def draw_work(rng: random.Random, machine: Machine, options: Options) -> Work:
    """Return a kernel. Many lie at the ridge point, at a threshold or at a tie."""
    flops: dict[str, Fraction] = {}
    kind = rng.random()
    if kind < 0.6:
        flops = {"": _amount(rng, 1e11)}
    elif kind < 0.93:
        # A chip seldom lacks the precisions of its kernels.
        keys = _some(rng, [*(key for key in machine.peaks if key not in exact.CLASSES), *exact.CLASSES, ""], 1, 3)
        flops = {key: _amount(rng, 1e11) for key in keys}
    if rng.random() < 0.02:
        flops["fp64"] = _amount(rng, 1e9)
    moved: dict[str, Fraction] = {}
    kind = rng.random()
    if kind < 0.4:
        moved = {"main": _amount(rng, 1e9)}
    elif kind < 0.93:
        keys = _some(rng, (*machine.bandwidths, *machine.bandwidths, *_BYTE_KEYS), 1, 5)
        # Two spellings of one level are an error.
        moved = {key: _amount(rng, 1e9) for key in {key.lower(): key for key in keys}.values()}
    if rng.random() < (0.03 if options.exposed else 0.2):
        moved["network"] = _amount(rng, 1e8)
    own = rng.choice((*_OWN_PRECISIONS, *machine.peaks)) if rng.random() < 0.25 else None
    work = Work(flops, moved, precision=own, count=rng.choice((1, 1, 7, rng.randint(1, 10**6))))
    if own and rng.random() < 0.9 and exact.named(own) not in machine.peaks:
        work = replace(work, precision=None)
    answer = _answer(work, machine, options)
    if rng.random() < 0.3 and answer and answer.compute and moved:
        key = rng.choice(list(moved))
        work = replace(work, moved={**moved, key: _at_a_tie(rng, key, answer, machine, moved[key])})
        answer = _answer(work, machine, options)
    time = _time(rng, answer)
    return replace(work, time=time, self_time=time)


def _answer(work: Work, machine: Machine, options: Options) -> Exact | None:
    try:
        return exact.exact(work, machine, options)
    except MissingError:
        return None


def _at_a_tie(rng: random.Random, key: str, answer: Exact, machine: Machine, amount: Fraction) -> Fraction:
    """Return bytes that take about as long as the FLOPs."""
    if key == "network":
        rate = machine.link() if amount else None
    else:
        rate = next((rate for level, rate in machine.bandwidths.items() if level.lower() == key.lower()), None)
        rate = machine.bandwidths[machine.main] if key == "main" else rate
    if rate is None or answer.compute is None:
        return amount
    return Fraction(float(answer.compute * rate) * rng.choice(_NEAR))


def _time(rng: random.Random, answer: Exact | None) -> Fraction | None:
    kind = rng.random()
    if kind < 0.15:
        return None
    if kind < 0.18:
        return Fraction(0)
    if kind < 0.7 and answer and answer.time:
        return Fraction(float(answer.time) * rng.choice(_SHARES))
    return Fraction(10 ** rng.uniform(-7, 1))


def kernel(name: str, work: Work) -> rw.Kernel:
    """Return a kernel of the package. Plain numbers are given as such where nothing else is."""

    def plain(parts: Any, key: str) -> Any:
        floats = {name: float(amount) for name, amount in parts.items()}
        return None if not floats else floats[key] if floats.keys() == {key} else floats

    flops = plain(work.flops, "")
    if isinstance(flops, dict):
        flops = {key or "auto": amount for key, amount in flops.items()}
    time = None if work.time is None else float(work.time)
    return rw.Kernel(name, flops, plain(work.moved, "main"), time=time, precision=work.precision, count=work.count)


def table(works: Sequence[Work]) -> rw.Kernels:
    return rw.Kernels.from_records([kernel(f"kernel {row}", work) for row, work in enumerate(works)])


# -- comparing ---------------------------------------------------------------------------------------------------------


def compare_bound(search: Search, where: str, bound: rw.Bound, rows: Sequence[Exact]) -> None:
    """Compare every number and decision of a bound."""
    columns: dict[str, tuple[Any, Callable[[Exact], Quantity]]] = {
        "flops": (bound.flops, lambda row: row.flops),
        "compute_time": (bound.compute_time, lambda row: row.compute),
        "network_time": (bound.network_time, lambda row: row.network),
        "overhead_time": (bound.overhead_time, lambda row: row.launches),
        "body_time": (bound.body_time, lambda row: row.body),
        "time": (bound.time, lambda row: row.time),
        "attainable": (bound.attainable, lambda row: row.attainable),
        "attainable_fraction": (bound.attainable_fraction, lambda row: exact.over(row.attainable, row.peak)),
        "achieved": (bound.achieved, lambda row: row.achieved),
        "utilization": (bound.utilization, lambda row: row.utilization),
        "roof_fraction": (
            bound.roof_fraction,
            lambda row: exact.over(row.achieved, row.attainable) if row.flops else None,
        ),
        "peak": (bound.peak, lambda row: row.peak),
        "peak_fraction": (bound.peak_fraction, lambda row: exact.over(row.achieved, row.peak)),
        "exposed_fraction": (bound.exposed_fraction, lambda row: row.exposed_share),
    }
    for what, (column, expected) in columns.items():
        for row, found in enumerate(column.tolist()):
            # The part of the link's time that is not hidden is a difference.
            scale = 1.0 if what == "exposed_fraction" else 0.0
            search.number(f"{where}, kernel {row}, {what}", found, expected(rows[row]), scale=scale)
    for row, found in enumerate(bound.headroom.tolist()):
        scale = max(float(bound.measured[row]), float(bound.time[row]))
        search.number(f"{where}, kernel {row}, headroom", found, rows[row].headroom, scale=scale)
    for level in {level for row in rows for level in row.levels}:
        for what, by_level, expected in (
            ("memory_time", bound.memory_time, lambda row, level=level: row.levels[level]),
            ("ai", bound.ai, lambda row, level=level: row.intensities[level]),
            (
                "bandwidth_utilization",
                bound.bandwidth_utilization,
                lambda row, level=level: exact.over(row.levels[level], row.measured),
            ),
        ):
            # A level at which no kernel has bytes is left out.
            values = by_level[level].tolist() if level in by_level else [math.nan] * len(rows)
            for row, found in enumerate(values):
                search.number(f"{where}, kernel {row}, {what} at {level}", found, expected(rows[row]))
    advice = rw.advise(bound)
    for row, one in enumerate(rows):
        here = f"{where}, kernel {row}"
        search.counts[f"bound by {bound.regime[row]}"] += 1
        search.decision(f"{here}, bound_by", bound.bound_by[row], one.bound_by)
        search.decision(f"{here}, regime", bound.regime[row], one.regimes)
        search.decision(f"{here}, balanced", bool(bound.balanced[row]), one.balanced)
        search.decision(f"{here}, above_roof", bool(bound.above_roof[row]), one.above_roof)
        search.decision(f"{here}, advice", (advice[row].situation, advice[row].done), one.situations)
    times = [one.time for one in rows]
    total = None if None in times else sum((time for time in times if time is not None), Fraction())
    search.number(f"{where}, total_time", bound.total_time, total, ulps=ULPS + len(rows))


def compare_roofs(search: Search, where: str, rng: random.Random, chip: rw.Chip, machine: Machine) -> None:
    """Compare ridge points, and the roof at any intensity."""
    for precision, peak in machine.peaks.items():
        for level, rate in machine.bandwidths.items():
            if rate is None:
                continue
            search.number(f"{where}, ridge point {precision} {level}", chip.ridge_point(precision, level), peak / rate)
            search.number(f"{where}, rw.ridge_point", rw.ridge_point(float(peak), float(rate)), peak / rate)
            intensity = 10 ** rng.uniform(-4, 5)
            found = rw.attainable(intensity, float(peak), float(rate))
            search.number(f"{where}, rw.attainable", found, min(peak, Fraction(intensity) * rate))


def compare_programs(
    search: Search,
    where: str,
    kernels: rw.Kernels,
    chips: Sequence[rw.Chip],
    found: Sequence[Sequence[Exact]],
    **given: Any,
) -> None:
    """Compare the sums over a program on several chips, also where a chip lacks a figure."""
    comparison = rw.compare_chips(kernels, chips, **given)
    known = [row for row in range(len(kernels)) if all(rows[row].time is not None for rows in found)]
    search.decision(f"{where}, known", np.flatnonzero(comparison.known).tolist() == known, {True})
    sums = [sum((rows[row].time or Fraction() for row in known), Fraction()) for rows in found]
    ulps = ULPS + len(known)
    for column, rows in enumerate(found):
        compare_bound(search, f"{where}, compared on {chips[column].name}", comparison.bounds[column], rows)
        search.number(f"{where}, time {column}", float(comparison.time[column]), sums[column], ulps=ulps)
        overlapped = exact.perfect_overlap([rows[row] for row in known])
        search.number(
            f"{where}, perfect overlap {column}", float(comparison.perfect_overlap[column]), overlapped, ulps=ulps
        )
        gain = float(comparison.speedup[0, column])
        search.number(f"{where}, speedup {column}", gain, exact.over(sums[0], sums[column]), ulps=2 * ulps)


def compare_projection(
    search: Search, where: str, rng: random.Random, works: Sequence[Work], chips: Sequence[tuple[rw.Chip, Machine]]
) -> None:
    """Compare the times on another chip, and the ranking by headroom on the chip that the kernels ran on."""
    (old, before), (new, after) = chips
    memory = rng.choice(("main", "all"))
    recast = rng.choice((None, None, rng.choice(list(after.peaks))))
    precision = None if recast else rng.choice((None, "auto", rng.choice(list(after.peaks))))
    asked = recast or precision or before.default
    clock = rng.choice((None, 0.8, rng.uniform(0.3, 2)))
    at_roof = rng.sample(range(len(works)), rng.choice((0, 0, 5)))
    share = [None if rng.random() < 0.1 else rng.choice((1.0, rng.random())) for _ in works]
    works = [
        replace(work, self_time=None if part is None or work.time is None else Fraction(float(work.time) * part))
        for work, part in zip(works, share, strict=True)
    ]
    kernels = table(works).replace(
        self_time=[math.nan if work.self_time is None else float(work.self_time) for work in works]
    )
    options: dict[str, Any] = {"source": old, "clock": clock, "precision": precision, "recast": recast}
    if asked != "auto" and exact.named(asked) not in after.peaks:
        search.counts["missing figures"] += 1
        with pytest.raises(rw.MissingFigureError):
            rw.project(kernels, new, memory=memory, at_roof=at_roof, **options)
        return
    found = rw.project(kernels, new, memory=memory, at_roof=at_roof, **options)
    faster = replace(after, peaks={key: peak * Fraction(clock or 1.0) for key, peak in after.peaks.items()})
    here = [exact.exact(work, before, Options(memory=memory), lenient=True) for work in works]
    there = [
        exact.exact(exact.recast(work) if recast else work, faster, Options(asked, memory), lenient=True)
        for work in works
    ]
    search.counts["projected kernels"] += len(works)
    total = kept = far = Fraction()
    for row, work in enumerate(works):
        moved = exact.moved(work, here[row], there[row], at_roof=row in at_roof)
        place = f"{where}, projected kernel {row}"
        search.number(f"{place}, time", float(found.by_kernel[row]), moved.time)
        search.decision(f"{place}, scaled", bool(found.scaled[row]), {moved.scaled})
        search.decision(f"{place}, far", bool(found.is_far[row]), moved.far)
        search.decision(f"{place}, above", bool(found.is_above[row]), moved.above)
        total += moved.time or Fraction()
        kept += Fraction() if moved.scaled else work.self_time or Fraction()
        far += (work.self_time or Fraction()) if found.is_far[row] else Fraction()
    ran = sum((work.self_time or Fraction() for work in works), Fraction())
    ulps = ULPS + len(works)
    for what, value, expected in (("before", found.before, ran), ("time", found.time, total)):
        search.number(f"{where}, projected {what}", value, expected, ulps=ulps)
    search.number(f"{where}, not scaled", found.not_scaled, kept, ulps=ulps)
    search.number(f"{where}, far", found.far, far, ulps=ulps)
    if memory == "main":
        compare_ranking(search, where, kernels, old, here)


def compare_ranking(search: Search, where: str, kernels: rw.Kernels, chip: rw.Chip, rows: Sequence[Exact]) -> None:
    """Compare the order by headroom: the largest first, unknown ones last in the order of the table."""
    order = [int(name.split()[1]) for name in kernels.top(len(rows), chip=chip).names]
    known = [row for row in order if rows[row].headroom is not None]
    unknown = [row for row in range(len(rows)) if rows[row].headroom is None]
    search.decision(f"{where}, unknown last", order[len(known) :] == unknown, {True})
    for first, second in pairwise(known):
        one, other = (rows[row].headroom or Fraction() for row in (first, second))
        sizes = [part or Fraction() for row in (first, second) for part in (rows[row].measured, rows[row].time)]
        slack = max(sizes) * exact.SLACK
        search.decision(f"{where}, rank of {first} and {second}", one >= other - slack, {True})


def refused(call: Callable[[], object], *errors: type[Exception]) -> bool:
    try:
        call()
    except errors:
        return True
    return False


def search_table(search: Search, rng: random.Random, where: str) -> None:
    """Draw a table of kernels, a chip and options, and compare what follows from them."""
    chip, machine = draw_chip(rng, "first")
    other, other_machine = draw_chip(rng, "second")
    given, options = draw_options(rng, machine)
    works = [draw_work(rng, machine, options) for _ in range(KERNELS_PER_TABLE)]
    both = [work for work in works if options.exposed and work.sent]
    if both:
        search.counts["share and network bytes"] += len(both)
        kept = [work for work in both if _answer(work, machine, options) is not None]
        is_refused = not kept or refused(lambda: rw.bound(table(kept), chip, **given), ValueError)
        search.decision(f"{where}, a share and network bytes are refused", is_refused, {True})
        works = [work for work in works if work not in both]
    answers = [_answer(work, machine, options) for work in works]
    for row, work in enumerate(works):
        if answers[row] is None:
            search.counts["missing figures"] += 1
            is_refused = refused(lambda work=work: rw.bound(table([work]), chip, **given), rw.MissingFigureError)  # type: ignore[misc]
            search.decision(f"{where}, kernel {row}, a missing figure is refused", is_refused, {True})
    judged = [(work, answer) for work, answer in zip(works, answers, strict=True) if answer is not None]
    bound = rw.bound(table([work for work, _ in judged]), chip, **given)
    compare_bound(search, where, bound, [answer for _, answer in judged])
    compare_roofs(search, where, rng, chip, machine)
    if chip.name != other.name and options.precision == "auto" and options.memory in {"main", "all"}:
        pairs = ((chip, machine), (other, other_machine))
        found = [[exact.exact(work, figures, options, lenient=True) for work in works] for _, figures in pairs]
        compare_programs(search, where, table(works), (chip, other), found, **given)
        compare_projection(search, where, rng, works, pairs)


def test_two_thousand_random_kernels_chips_and_options_give_what_exact_fractions_give() -> None:
    search = Search([], Counter())
    for number in range(KERNELS // KERNELS_PER_TABLE):
        rng = random.Random(f"{SEED}/{number}")  # noqa: S311 - no secret
        search_table(search, rng, f"seed {SEED}, table {number}")
    counted = ", ".join(f"{count:,} {what}" for what, count in sorted(search.counts.items()))
    sys.stdout.write(f"ROOFWIDGET_SEED={SEED}, {KERNELS:,} kernels: {counted}\n")
    shown = "\n".join(search.differences[:_MAX_SHOWN])
    assert not search.differences, f"{len(search.differences):,} differences:\n{shown}"
