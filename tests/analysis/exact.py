"""The roofline in exact fractions, written from the formulas in docs/arithmetic.md. It imports nothing of the package.

A quantity is a `Fraction`, `INFINITE`, or None where it is unknown. A decision is a set of possible answers: more than
one answer means that the numbers lie within the rounding of double precision of a threshold, where both are right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Quantity = Fraction | Literal["infinite"] | None
INFINITE: Final = "infinite"
TIE: Final = Fraction(1, 10**12)
BALANCE: Final = Fraction(1, 20)
ABOVE_ROOF: Final = 1 + Fraction(1, 10**9)
FAR: Final = Fraction(1, 10)
CLOSE: Final = Fraction(4, 5)
STOP: Final = Fraction(19, 20)
# Two sides of a comparison that differ by less than this share may compare either way in double precision.
SLACK: Final = Fraction(32, 2**53)
NETWORK: Final = "network"
CLASSES: Final = ("matmul", "tensor", "vector", "transcendental")
# The names under which a chip may list the peak of a class of FLOPs, best first.
_UNITS: Final = {
    "matmul": ("matmul", "tensor", "matrix"),
    "tensor": ("tensor", "matmul", "matrix"),
    "vector": ("vector",),
    "transcendental": ("transcendental",),
}
_SAME_PRECISION: Final = {"bfloat16": "bf16", "half": "fp16", "float16": "fp16", "float32": "fp32", "double": "fp64"}
_HOST_LINKS: Final = ("pcie", "cxl")
_OFF_CHIP: Final = re.compile(r"(main|hbm.{0,2}|dram|(gddr|lpddr|ddr)\d?x?|unified memory|device memory)")


class MissingError(Exception):
    """The chip lacks a figure that a kernel needs."""


@dataclass(frozen=True)
class Machine:
    """A chip: peaks by precision, bandwidths by level (main memory first), one-way bandwidths by link."""

    peaks: Mapping[str, Fraction]
    bandwidths: Mapping[str, Fraction | None]
    links: Mapping[str, Fraction | None]
    default: str

    @property
    def main(self) -> str:
        return next(iter(self.bandwidths))

    def level(self, asked: str) -> str:
        return self.main if asked == "main" else next(x for x in self.bandwidths if x.lower() == asked.lower())

    def peak(self, precision: str) -> Fraction:
        known = self.peaks.get(named(precision))
        if known is None:
            raise MissingError
        return known

    def peak_of(self, flop_class: str, precision: str) -> Fraction:
        general = self.peak(precision)
        own = (f"{named(precision)}_{unit}" for unit in _UNITS[flop_class])
        return next((self.peaks[key] for key in (*own, *_UNITS[flop_class]) if key in self.peaks), general)

    def link(self) -> Fraction:
        between = [rate for name, rate in self.links.items() if not name.lower().startswith(_HOST_LINKS)]
        if not between or between[0] is None:
            raise MissingError
        return between[0]


@dataclass(frozen=True)
class Work:
    """A kernel. The key "" of `flops` and "main" of `moved` is for a plain number; no entries at all mean unknown."""

    flops: Mapping[str, Fraction]
    moved: Mapping[str, Fraction]
    time: Fraction | None = None
    precision: str | None = None
    count: int = 1
    self_time: Fraction | None = None

    @property
    def total(self) -> Fraction | None:
        return sum(self.flops.values(), Fraction()) if self.flops else None

    @property
    def sent(self) -> Fraction:
        return self.moved.get(NETWORK, Fraction())

    def at(self, level: str, chip: Machine) -> Fraction | None:
        """Return the bytes that count at a level of a chip."""
        by_level = {name.lower(): amount for name, amount in self.moved.items()}
        if level != chip.main or level.lower() in by_level:
            return by_level.get(level.lower())
        own = {name.lower() for name in chip.bandwidths}
        outside = [amount for name, amount in by_level.items() if name not in own and _OFF_CHIP.fullmatch(name)]
        return sum(outside, Fraction()) if outside else None


@dataclass(frozen=True)
class Options:
    """What the user asks for."""

    precision: str = "auto"
    memory: str = "main"
    overlap: Fraction = Fraction(1)
    exposed: Fraction = Fraction()
    launch: Fraction = Fraction()


@dataclass
class Exact:
    """The exact answer for one kernel on one chip."""

    flops: Fraction | None
    measured: Fraction | None
    self_time: Fraction | None
    asked_peak: Fraction
    exposed: Fraction
    compute: Fraction | None
    levels: dict[str, Fraction | None]
    intensities: dict[str, Quantity]
    judged: tuple[str, ...]
    network: Fraction | None
    sent: Fraction | None
    launches: Fraction
    body: Fraction | None
    time: Fraction | None
    bound_by: set[str] = field(default_factory=set)
    balanced: set[bool] = field(default_factory=set)
    lowest: list[Exact] = field(default_factory=list)
    """The bounds at the lowest roof that the kernel is not above; several where rounding decides."""

    @property
    def regimes(self) -> set[str]:
        plain = {"compute", NETWORK, "overhead", "unknown"}
        return {by if by in plain else "memory" for by in self.bound_by}

    @property
    def peak(self) -> Quantity:
        return over(self.flops, self.compute) if self.flops else self.asked_peak

    @property
    def attainable(self) -> Quantity:
        return over(None if self.flops is None else (1 - self.exposed) * self.flops, self.body)

    @property
    def achieved(self) -> Quantity:
        return over(self.flops, self.measured)

    @property
    def utilization(self) -> Quantity:
        return over(self.time, self.measured)

    @property
    def headroom(self) -> Fraction | None:
        """Return the time saved at the roof, of a row that contains others its share of self time.

        A kernel without work has no roof to reach.
        """
        if self.measured is None or not self.time or self.self_time is None:
            return None
        return (self.measured - self.time) * self.self_time / self.measured

    @property
    def above_roof(self) -> set[bool]:
        share = self.utilization
        return {False} if not isinstance(share, Fraction) else exceeds(share, ABOVE_ROOF)

    @property
    def exposed_share(self) -> Quantity:
        """Return the share of the bound time in which only the link works."""
        if not self.sent:
            return self.exposed
        if self.network is None or self.body is None or self.time is None:
            return None
        return over(max(Fraction(), self.network - self.body), self.time)

    @property
    def situations(self) -> set[tuple[str, bool]]:
        """Return what `advise` may call the kernel, and whether its tuning is done."""
        return {one for found in self.lowest for one in found._situations()}

    def _situations(self) -> set[tuple[str, bool]]:
        if self.time is None:
            return {("unknown", False)}
        share = self.utilization
        if not isinstance(share, Fraction):
            return {("unmeasured", False)}
        found: set[tuple[str, bool]] = set()
        if True in self.above_roof:
            found.add(("above its roof", False))
        if False in self.above_roof:
            for far in exceeds(FAR, share):
                if far:
                    # The advice for links holds however far below its roof a collective is.
                    words = (
                        "network-bound, below its roof" if one == "network" else "way below both"
                        for one in self.regimes
                    )
                    found |= {(word, False) for word in words}
                    continue
                for open_ in exceeds(CLOSE, share):
                    done = {False} if open_ else {not below for below in exceeds(STOP, share)}
                    word = "below its roof" if open_ else "close"
                    found |= {(f"{regime}-bound, {word}", end) for regime in self.regimes for end in done}
        return found


def named(precision: str) -> str:
    """Return a precision's name, such as bf16 for BFloat16."""
    return _SAME_PRECISION.get(precision.lower(), precision.lower())


def over(one: Quantity, other: Quantity) -> Quantity:
    """Return a quotient: unknown if a part is unknown or both are zero, infinite if only the divisor is zero."""
    if one is None or other is None or (one == 0 and other == 0) or (one == INFINITE and other == INFINITE):
        return None
    if one == INFINITE or other == 0:
        return INFINITE
    if other == INFINITE:
        return Fraction()
    return Fraction(one) / Fraction(other)


def exceeds(one: Fraction, other: Fraction) -> set[bool]:
    """Return whether one number exceeds another: both answers where rounding decides."""
    if abs(one - other) <= SLACK * max(abs(one), abs(other)):
        return {True, False} if one or other else {False}
    return {one > other}


def _wins(one: Fraction, other: Fraction) -> set[bool]:
    """Return whether the first of two times is the larger, or equal within the tolerance of a tie."""
    if one == other:
        return {True}
    return {not less for less in exceeds(other, one * (1 + TIE))}


def exact(work: Work, chip: Machine, options: Options, *, lenient: bool = False) -> Exact:
    """Return the roofline bound of a kernel on a chip.

    With `lenient` a figure that the chip lacks makes the bound unknown. Otherwise it is a `MissingError`.
    """
    found = _exact(work, chip, options, lenient=lenient)
    found.lowest = [found]
    if found.time is None:
        return found
    levels = [level for level, rate in chip.bandwidths.items() if rate is not None and level not in found.judged]
    others = [_exact(work, chip, replace(options, memory=level), lenient=lenient) for level in levels]
    known = [(one, one.time) for one in others if one.time]
    answers = [exceeds(time, one.measured) if one.measured else {False} for one, time in known]
    longest = max([found.time, *(time for (_, time), above in zip(known, answers, strict=True) if above == {False})])
    possible = [(found, found.time), *(pair for pair, above in zip(known, answers, strict=True) if False in above)]
    found.lowest = [one for one, time in possible if time >= longest * (1 - 2 * TIE)]
    return found


def _exact(work: Work, chip: Machine, options: Options, *, lenient: bool) -> Exact:
    asked = chip.default if options.precision == "auto" else named(options.precision)
    asked_peak = chip.peak(asked)
    compute = network = None
    network_known = True
    try:
        compute = _compute(work, chip, work.precision or asked)
    except MissingError:
        if not lenient:
            raise
    try:
        network = work.sent / chip.link() if work.sent else Fraction()
    except MissingError:
        network_known = False
        if not lenient:
            raise
    known = [level for level, rate in chip.bandwidths.items() if rate is not None]
    amounts = {level: work.at(level, chip) for level in known}
    levels = {
        level: None if amount is None else amount / Fraction(chip.bandwidths[level] or 0)
        for level, amount in amounts.items()
    }
    judged = tuple(known) if options.memory == "all" else (chip.level(options.memory),)
    times = {level: seconds for level in judged if (seconds := levels[level]) is not None}
    memory = max(times.values(), default=None)
    body = time = None
    launches = work.count * options.launch
    if compute is not None and memory is not None:
        body = compute + memory - options.overlap * min(compute, memory)
        if network is not None:
            time = max(body / (1 - options.exposed), network, launches)
    found = Exact(
        flops=work.total,
        measured=work.time or None,
        self_time=work.self_time,
        asked_peak=asked_peak,
        exposed=options.exposed,
        compute=compute,
        levels=levels,
        intensities={level: over(work.total, amount) for level, amount in amounts.items()},
        judged=judged,
        network=network if network_known else None,
        sent=work.moved.get(NETWORK),
        launches=launches,
        body=body,
        time=time,
    )
    _decide(found, times)
    return found


def _compute(work: Work, chip: Machine, precision: str) -> Fraction | None:
    if not work.flops:
        return None
    seconds = Fraction()
    for key, amount in work.flops.items():
        if key in CLASSES:
            seconds += amount / chip.peak_of(key, precision)
        else:
            seconds += amount / chip.peak(key or precision)
    return seconds


def _decide(found: Exact, times: Mapping[str, Fraction]) -> None:
    """Add what binds, and whether the two largest times are within 5 % of each other."""
    if found.time is None or found.body is None or found.compute is None or found.network is None:
        found.bound_by, found.balanced = {"unknown"}, {False}
        return
    stretch = 1 / (1 - found.exposed)
    outside = max(found.network, found.launches)
    for inside in _wins(found.body * stretch, outside):
        if not inside:
            found.bound_by |= {NETWORK if wins else "overhead" for wins in _wins(found.network, found.launches)}
            continue
        slowest = max(times.values())
        for computing in _wins(found.compute, slowest):
            nearest = [name for name, seconds in times.items() if seconds >= slowest * (1 - SLACK)]
            found.bound_by |= {"compute"} if computing else set(nearest)
    *_, second, first = sorted(
        (found.compute * stretch, *(seconds * stretch for seconds in times.values()), found.network, found.launches)
    )
    # The difference of the two is rounded relative to the larger of them, not to the difference.
    near = abs(first - second - BALANCE * first) <= SLACK * first
    found.balanced = {True, False} if near and first else {first > 0 and first - second <= BALANCE * first}


def recast(work: Work) -> Work:
    """Return the kernel with all FLOPs at the precision that is asked for. FLOPs of a class stay in their class."""
    plain = [amount for key, amount in work.flops.items() if key not in CLASSES]
    classes = {key: amount for key, amount in work.flops.items() if key in CLASSES}
    return replace(work, flops={**({"": sum(plain, Fraction())} if plain else {}), **classes}, precision=None)


@dataclass
class Moved:
    """The time of one kernel on another chip."""

    time: Fraction | None
    scaled: bool
    far: set[bool]
    above: set[bool]


def moved(work: Work, before: Exact, after: Exact, *, at_roof: bool) -> Moved:
    """Return the time on the chip of `after` if the kernel keeps its share of the roof, or reaches its roof there."""
    own = work.self_time
    factor = over(after.time, after.measured if at_roof else before.time)
    if own is None or not isinstance(factor, Fraction) or factor == 0:
        return Moved(own, scaled=False, far={False}, above={False})
    share = before.utilization
    far = exceeds(FAR, share) if isinstance(share, Fraction) and not at_roof else {False}
    return Moved(own * factor, scaled=True, far=far, above=before.above_roof)


def perfect_overlap(rows: Iterable[Exact]) -> Fraction:
    """Return the bound of a program whose kernels all overlap: the largest of the sums over each resource."""
    listed = list(rows)
    compute = sum((row.compute or Fraction() for row in listed), Fraction())
    judged = {level for row in listed for level in row.judged}
    levels = [sum((row.levels[level] or Fraction() for row in listed), Fraction()) for level in judged]
    stretch = 1 / (1 - listed[0].exposed) if listed else Fraction(1)
    network = sum((row.network or Fraction() for row in listed), Fraction())
    launches = sum((row.launches for row in listed), Fraction())
    return max(max([compute, *levels], default=Fraction()) * stretch, network, launches)
