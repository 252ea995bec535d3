"""Metrics of launches: units, columns, amounts with their rules (metric and factors), and bytes by level."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from roofwidget.kernels.columns import Bools, Floats, Texts
from roofwidget.readers.amounts import number_or_nan
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.ncu.low_level_metrics import LOW_LEVEL_METRICS
from roofwidget.support.arrays import Places

# -- units ---------------------------------------------------------------------------------------------------------

_PREFIXES: Final = {"n": -9, "u": -6, "m": -3, "": 0, "K": 3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_UNITS: Final = "byte|second|cycle|inst|thread|sector|warp|block|register|request|hz|bit|op|ops|FLOP|B|s"
_PREFIXED_UNIT: Final = re.compile(rf"([numKkMGTPE]?)({_UNITS})", re.IGNORECASE)
# No counter reaches this number. The product of three numbers below this limit is still finite.
_MAX_VALUE: Final = 1e60
_COUNT_UNITS: Final = frozenset(
    {"byte", "ns", "nsecond", "inst", "thread", "sector", "cycle", "warp", "block", "request"}
)


@functools.cache
def unit_exponent(unit: str) -> int:
    """Return the power of ten from a unit to its base unit; 0 for a unit without a prefix or an unknown unit.

    Examples
    --------
    >>> [unit_exponent(unit) for unit in ("Gbyte/second", "cycle/nsecond", "Kbyte/block", "ms", "%")]
    [9, 9, 3, -3, 0]
    """
    above, _, below = unit.strip().partition("/")
    return _prefix_exponent(above) - _prefix_exponent(below)


def is_count_unit(unit: str) -> bool:
    """Whether amounts in this unit are counts, which have no fraction.

    Examples
    --------
    >>> is_count_unit("byte"), is_count_unit("usecond")
    (True, False)
    """
    return unit.strip() in _COUNT_UNITS


def in_base_units(column: Floats, unit: str) -> Floats:
    """Return amounts in base units.

    If the unit has a prefix below 1, the amounts are divided. For example, nanoseconds are divided by 1e9 and not
    multiplied by 1e-9, because the product may have another last digit.

    Examples
    --------
    >>> in_base_units(np.array([10720.0]), "nsecond").tolist()
    [1.072e-05]
    """
    power = unit_exponent(unit)
    return column / 10.0**-power if power < 0 else column * 10.0**power


def first_impossible(column: Floats) -> int | None:
    """Return the row of the first number that no metric can have (infinite, negative, beyond 1e60), or None.

    Examples
    --------
    >>> first_impossible(np.array([1.0, np.nan, -2.0]))
    2
    """
    wrong = np.flatnonzero((column < 0) | (column > _MAX_VALUE))
    return int(wrong[0]) if len(wrong) else None


def _prefix_exponent(part: str) -> int:
    found = _PREFIXED_UNIT.fullmatch(part.strip())
    return _PREFIXES[found[1]] if found and found[1] in _PREFIXES else 0


# -- launches ------------------------------------------------------------------------------------------------------

LAUNCH_FIELDS: Final = ("id", "process", "context", "stream", "block", "grid", "device", "cc")
"""What a launch has beside its metrics, each as text."""

DEVICE_NAME: Final = "device__attribute_display_name"

_FORMS: Final = r"(?:\.sum|\.avg)?(?:\.peak_sustained|\.per_second|\.per_cycle_elapsed)?"
WANTED_METRICS: Final = re.compile(
    "|".join(
        [
            r"gpu__time_(?:duration|active)\.(?:sum|avg)",
            rf"(?:sm|smsp|l1tex|lts|dram)__cycles_elapsed{_FORMS}",
            r"(?:derived__)?(?:sm|smsp)__sass_thread_inst_executed_op_(?:[dfh](?:add|mul|fma)|integer)_pred_on(?:_x[24])?"
            + _FORMS,
            r"(?:sm|smsp)__inst_executed_pipe_(?:tensor|tc|fp64_op_dmma)(?:_\w+)?\.(?:sum|avg)(?:\..*)?",
            r"(?:sm|smsp)__inst_executed_pipe_fma_type_fp16\.(?:sum|avg)(?:\..*)?",
            r"(?:sm|smsp)__pipe_(?:tensor|tc)\w*cycles_active\.(?:sum|avg)(?:\..*)?",
            r"sm__ops_path_tensor_\w+" + _FORMS,
            r"dram__bytes(?:_read|_write|_op_read|_op_write)?" + _FORMS,
            r"dram__sectors_(?:read|write)\.sum",
            r"lts__t_(?:bytes|sectors)(?:_op_(?:read|write|atom|red))?" + _FORMS,
            r"(?:derived__)?lts__lts2xbar_(?:cycles_active|bytes)" + _FORMS,
            r"l1tex__(?:t_bytes|t_sectors|m_xbar2l1tex_read_bytes)" + _FORMS,
            r"l1tex__lsu_writeback_active(?:_mem_lg|_mem_lgds)?" + _FORMS,
            r"l1tex__t_sectors_pipe_lsu_mem_global_op_(?:ld|st)\.sum",
            r"device__attribute_(?:display_name|clock_rate|max_gpu_frequency_khz|max_mem_frequency_khz|memory_clock_rate)",
            r"device__attribute_(?:compute_capability_(?:major|minor)|multiprocessor_count|l2_cache_size|total_memory)",
            r"device__attribute_num_schedulers_per_multiprocessor",
            r"launch__(?:device|context|stream)_id",
            LOW_LEVEL_METRICS,
        ]
    )
)
"""The metrics that a roofline, its ceilings and its table need: about a tenth of the metrics in a report."""


@dataclass(frozen=True)
class Launches:
    """The launches of one file, in the order of the file.

    Parameters
    ----------
    source
        The file, for messages.
    names
        The kernel's name for each launch.
    words
        For each field of `LAUNCH_FIELDS`: a list with a text or None for each launch.
    metrics
        Values in base units (byte, cycle, inst, seconds for ``gpu__time_*``), shape (n,); NaN where unknown.
    device
        The device's name for each launch; None where unknown.
    count
        The number of launches of each row, shape (n,). Only in a summary it can be above 1. The metrics of a summary
        are means over the launches of a row.
    spread
        In a summary: the smallest and the largest value of a metric over the launches of a row.
    warnings
        Warnings about the file.
    """

    source: str
    names: Sequence[str]
    words: Mapping[str, Sequence[str | None]]
    metrics: Mapping[str, Floats]
    device: Sequence[str | None]
    count: Floats
    spread: Mapping[str, tuple[Floats, Floats]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    def metric(self, name: str) -> Floats:
        """Return a metric, shape (n,); all NaN if the file does not have it."""
        found = self.metrics.get(name)
        return np.full(len(self), np.nan) if found is None else found

    @property
    def capability(self) -> Floats:
        """The compute capability, such as 8.0, shape (n,); NaN where unknown."""
        major = self.metric("device__attribute_compute_capability_major")
        minor = self.metric("device__attribute_compute_capability_minor")
        versions = {word: number_or_nan(word) for word in set(self.words["cc"])}
        stated = [versions[word] for word in self.words["cc"]]
        return np.where(np.isnan(stated), major + minor / 10, stated)

    @functools.cached_property
    def time(self) -> Sourced:
        """The seconds of each launch."""
        candidates = [(self.metric("gpu__time_duration.sum"), Rule("gpu__time_duration.sum"))]
        for unit in ("sm", "smsp"):
            seconds = quotient(self.metric(f"{unit}__cycles_elapsed.avg"), clock_of(self, unit))
            candidates.append((seconds, Rule(f"{unit}__cycles_elapsed.avg / {unit}__cycles_elapsed.avg.per_second")))
        rest = ("gpu__time_duration.avg", "gpu__time_active.sum", "gpu__time_active.avg")
        candidates += [(self.metric(name), Rule(name)) for name in rest]
        return first_known(len(self), candidates)

    @functools.cached_property
    def cycles(self) -> Floats:
        """The cycles that an SM ran during each launch, shape (n,).

        An amount is a rate "per cycle elapsed" × these cycles.
        """
        schedulers = self.metric("device__attribute_num_schedulers_per_multiprocessor")
        units = self.metric("device__attribute_multiprocessor_count")
        return first_known_values(
            *(self.metric(f"{unit}__cycles_elapsed.avg") for unit in ("smsp", "sm")),
            quotient(self.metric("smsp__cycles_elapsed.sum"), schedulers * units),
            *(clock_of(self, unit) * self.time.values for unit in ("smsp", "sm")),
        )

    def with_warning(self, text: str) -> Launches:
        """Return the launches with one more warning."""
        return replace(self, warnings=(*self.warnings, text))

    def at(self, rows: Places) -> Launches:
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


def merge_passes(first: Launches, other: Launches) -> Launches:
    """Return the launches of `first` with the additional metrics of another pass of the same program.

    Raises
    ------
    ProfileError
        If the two passes do not list the same kernels in the same order. The message names the first difference.
    """
    if len(first) != len(other):
        reason = f"lists {len(other)} launches, but {first.source} lists {len(first)}; passes must be of one program"
        raise ProfileError(other.source, reason)
    for row, (mine, theirs) in enumerate(zip(launch_shapes(first), launch_shapes(other), strict=True)):
        if mine != theirs:
            reason = (
                f"launch {row + 1} is {_shape_text(theirs)}, "
                f"in {first.source} {_shape_text(mine)}; read them one by one"
            )
            raise ProfileError(other.source, reason)
    metrics = dict(first.metrics)
    for name, column in other.metrics.items():
        mine_ = metrics.get(name)
        metrics[name] = column if mine_ is None else np.where(np.isnan(mine_), column, mine_)
    device = [mine or theirs for mine, theirs in zip(first.device, other.device, strict=True)]
    warnings = tuple(dict.fromkeys([*first.warnings, *other.warnings]))
    return replace(first, metrics=metrics, device=device, warnings=warnings)


def launch_shapes(launches: Launches) -> list[tuple[str, str | None, str | None]]:
    """Return kernel, grid and block of each launch. These three are the same in every pass."""
    return list(zip(launches.names, launches.words["grid"], launches.words["block"], strict=True))


def _shape_text(shape: tuple[str, str | None, str | None]) -> str:
    name, grid, block = shape
    return f"'{name[:60]}' {grid or ''}x{block or ''}"


# -- amounts, each with the metric and the rule it comes from ------------------------------------------------------

_ROUNDING_TOLERANCE: Final = 1e-9
# Tables have six decimals of a rate at most.
_HALF_DECIMAL: Final = 0.5e-6


@dataclass(frozen=True)
class ByteCounter:
    """A counter of bytes at a memory level. Bytes of different counters are different quantities.

    Parameters
    ----------
    metric
        The metric without ``.sum``.
    unit
        The unit whose clock the counter follows, such as ``lts``.
    size
        The bytes of one count.
    has_roof
        Whether its peak is a bandwidth. That of a counter of lookups is not: tags can look up more than data can move.

    Examples
    --------
    >>> print(ByteCounter("lts__lts2xbar_cycles_active", "lts", 32))
    lts__lts2xbar_cycles_active x 32
    """

    metric: str
    unit: str
    size: int = 1
    has_roof: bool = True

    def __str__(self) -> str:
        return f"{self.metric}{times_text(self.size)}"


@dataclass(frozen=True)
class Rule:
    """How a number is made of metrics.

    Parameters
    ----------
    text
        The metrics and the factors, for people. Code decides by the other members.
    counter
        For bytes: the counter that gives them, directly or as an equal sum. Its peak is the roof of these bytes.
    is_estimate
        For FLOPs: whether they are an estimate from the shape of an instruction.

    Examples
    --------
    >>> print(Rule("lts__t_sectors.sum x 32", ByteCounter("lts__t_bytes", "lts")))
    lts__t_sectors.sum x 32
    """

    text: str
    counter: ByteCounter | None = None
    is_estimate: bool = False

    def __str__(self) -> str:
        return self.text


Rules: TypeAlias = npt.NDArray[np.object_]
"""The rules of numbers, shape (n,): a `Rule` each, None where the number is unknown."""


def joined_rules(rules: Iterable[Rule | None]) -> Rule | None:
    """Return the rule of a sum of FLOPs; None if no part has a rule.

    Examples
    --------
    >>> print(joined_rules([Rule("a.sum"), None, Rule("b.sum x 512", is_estimate=True)]))
    a.sum + b.sum x 512
    """
    known = [rule for rule in rules if rule is not None]
    if not known:
        return None
    return Rule(" + ".join(rule.text for rule in known), is_estimate=any(rule.is_estimate for rule in known))


@dataclass(frozen=True, eq=False)
class Sourced:
    """A column of numbers, each with its rule: the metric and the factors that give the number.

    Parameters
    ----------
    values
        The numbers, shape (n,); NaN where unknown.
    rules
        The rules, shape (n,); None where the number is unknown.
    """

    values: Floats
    rules: Rules

    @property
    def is_known(self) -> Bools:
        """A mask, shape (n,): true where the number is known."""
        return ~np.isnan(self.values)

    @property
    def texts(self) -> Texts:
        """The rules as texts, shape (n,), for `Kernels.origin`."""
        return np.array([None if rule is None else rule.text for rule in self.rules], dtype=object)

    def different_rules(self) -> list[Rule]:
        """Return the different rules of the column, sorted by their texts."""
        return sorted({rule for rule in self.rules if rule is not None}, key=str)

    def where(self, mask: Bools) -> Sourced:
        """Return the column; rows outside the mask become unknown."""
        return Sourced(np.where(mask, self.values, np.nan), rules_where(mask, self.rules))

    def or_else(self, other: Sourced) -> Sourced:
        """Return the column; unknown numbers are replaced by the numbers of `other`."""
        known = self.is_known
        return Sourced(np.where(known, self.values, other.values), np.where(known, self.rules, other.rules))


def rules_where(mask: Bools, rules: Rules) -> Rules:
    """Return the rules; rows outside the mask become None."""
    picked = rules.copy()
    picked[~mask] = None
    return picked


def times_text(factor: float) -> str:
    """Return a factor as the end of a rule's text, empty for 1."""
    return f" x {factor:g}" if factor != 1 else ""


def all_unknown(n: int) -> Sourced:
    """Return n unknown numbers."""
    return Sourced(np.full(n, np.nan), np.full(n, None, dtype=object))


def first_known(n: int, candidates: Iterable[tuple[Floats, Rule]]) -> Sourced:
    """Return for each of n rows the first known number among the candidates, and this candidate's rule.

    Examples
    --------
    >>> told = first_known(2, [(np.array([1, np.nan]), Rule("a.sum")), (np.array([5.0, 2.0]), Rule("b.sum x 32"))])
    >>> told.values.tolist(), told.texts.tolist()
    ([1.0, 2.0], ['a.sum', 'b.sum x 32'])
    """
    sourced = all_unknown(n)
    values, rules = sourced.values, sourced.rules
    for column, rule in candidates:
        new = np.isnan(values) & ~np.isnan(column)
        values[new] = column[new]
        rules[new] = rule
    return Sourced(values, rules)


def first_known_values(*columns: Floats) -> Floats:
    """Return for each row the first known number among the columns, NaN where there is none."""
    return functools.reduce(lambda known, other: np.where(np.isnan(known), other, known), columns)


def amount(
    launches: Launches,
    metrics: Sequence[str],
    *,
    times: float = 1.0,
    rates: bool = True,
    counter: ByteCounter | None = None,
    shown: Mapping[str, str] | None = None,
) -> Sourced:
    """Return for each launch the first known amount: the metric's sum, or its rate × cycles or seconds.

    Parameters
    ----------
    launches
        The launches.
    metrics
        Names without ``.sum``, in order of preference.
    times
        The factor by which the amount is multiplied.
    rates
        Whether rates per cycle or per second may be used.
    counter
        For bytes: the counter of their rules.
    shown
        The names of metrics in the texts of rules, where these differ from the metrics.
    """
    suffix = times_text(times)
    named = [(f"{metric}.sum", f"{(shown or {}).get(metric, metric)}.sum") for metric in metrics]
    candidates = [(launches.metric(name), Rule(f"{text}{suffix}", counter)) for name, text in named]
    forms = (("per_cycle_elapsed", "cycles", launches.cycles), ("per_second", "time", launches.time.values))
    for name, text in named if rates else ():
        for form, word, factor in forms:
            rate = launches.metrics.get(f"{name}.{form}")
            if rate is not None:
                candidates.append((count_of_rate(rate, factor), Rule(f"{text}.{form} x {word}{suffix}", counter)))
    sourced = first_known(len(launches), candidates)
    return Sourced(round_counts(sourced.values * times), sourced.rules)


def quotient(above: Floats, below: Floats) -> Floats:
    """Return the quotient of two columns, NaN where it is not finite.

    Examples
    --------
    >>> quotient(np.array([6.0, 1.0]), np.array([3.0, 0.0])).tolist()
    [2.0, nan]
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        found = above / below
    return np.where(np.isfinite(found), found, np.nan)


def round_counts(column: Floats) -> Floats:
    """Round counts that differ from a whole number only by rounding errors."""
    nearest = np.rint(column)
    return np.where(np.abs(column - nearest) <= _ROUNDING_TOLERANCE * np.abs(nearest), nearest, column)


def count_of_rate(rate: Floats, cycles: Floats) -> Floats:
    """Return a rate times cycles, rounded to the whole number that six decimals of the rate allow."""
    product = rate * cycles
    nearest = np.rint(product)
    return np.where(np.abs(product - nearest) <= _HALF_DECIMAL * cycles, nearest, product)


def clock_of(launches: Launches, unit: str) -> Floats:
    """Return the measured clock of a unit such as ``sm`` or ``dram``, Hz, shape (n,)."""
    return launches.metric(f"{unit}__cycles_elapsed.avg.per_second")


# -- bytes by memory level -----------------------------------------------------------------------------------------

Traffic: TypeAlias = Mapping[str, Sourced]
"""Bytes by level."""

_SECTOR_BYTES: Final = 32
_DRAM: Final = ByteCounter("dram__bytes", "dram")
_L2: Final = ByteCounter("lts__t_bytes", "lts")
_L2_TO_SMS: Final = ByteCounter("lts__lts2xbar_cycles_active", "lts", _SECTOR_BYTES)
_L2_READS: Final = ByteCounter("l1tex__m_xbar2l1tex_read_bytes", "lts")
# The tags of an SM of an RTX 2080 Ti look up 512 B a cycle. L1 moves 64 B on Turing, and 128 B on other chips.
_L1: Final = ByteCounter("l1tex__t_bytes", "l1tex", has_roof=False)
# Counters of L1 traffic in the sections of Nsight Compute. The metric's name depends on the chip.
_WRITEBACKS: Final = tuple(
    ByteCounter(f"l1tex__lsu_writeback_active{suffix}", "l1tex", 128) for suffix in ("_mem_lgds", "_mem_lg", "")
)


def traffic_by_level(launches: Launches) -> Traffic:
    """Return bytes by level, shape (n,) each; levels without metrics are left out.

    DRAM: ``dram__bytes``, else reads and writes, else sectors of 32 bytes. L2: ``lts__t_bytes``, else sectors, else
    the traffic between L2 and the SMs (Nsight changed its definition of L2 traffic twice). L1: ``l1tex__t_bytes``, else
    sectors, else the bytes written back to registers, else global loads and stores.
    """
    read_write = (
        "lts__t_sectors_op_read",
        "lts__t_sectors_op_write",
        "lts__t_sectors_op_atom",
        "lts__t_sectors_op_red",
    )
    loads = ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld", "l1tex__t_sectors_pipe_lsu_mem_global_op_st")
    levels = {
        "DRAM": [
            _counted(launches, _DRAM, rates=False),
            _sum(launches, _DRAM, "dram__bytes_read", "dram__bytes_write"),
            _sum(launches, _DRAM, "dram__bytes_op_read", "dram__bytes_op_write"),
            _sum(launches, _DRAM, "dram__sectors_read", "dram__sectors_write", times=_SECTOR_BYTES),
            _counted(launches, _DRAM),
        ],
        "L2": [
            _counted(launches, _L2, rates=False),
            _sum(launches, _L2, "lts__t_sectors", times=_SECTOR_BYTES),
            _counted(launches, _L2),
            _counted(launches, _L2_TO_SMS),
            _noted(_counted(launches, _L2_READS), "reads only"),
            _sum(launches, _L2, *read_write, times=_SECTOR_BYTES),
        ],
        "L1": [
            _counted(launches, _L1, rates=False),
            _sum(launches, _L1, "l1tex__t_sectors", times=_SECTOR_BYTES),
            _counted(launches, _L1),
            *(_noted(_counted(launches, counter), "reads only") for counter in _WRITEBACKS),
            _noted(_sum(launches, _L1, *loads, times=_SECTOR_BYTES), "global loads and stores only"),
        ],
    }
    found = {level: functools.reduce(Sourced.or_else, candidates) for level, candidates in levels.items()}
    return {level: sourced for level, sourced in found.items() if sourced.is_known.any()}


def counters_of(sourced: Sourced) -> list[ByteCounter]:
    """Return the different counters that the bytes of a level come from, sorted by name."""
    return sorted({rule.counter for rule in sourced.different_rules() if rule.counter is not None}, key=str)


def _counted(launches: Launches, counter: ByteCounter, *, rates: bool = True) -> Sourced:
    return amount(launches, [counter.metric], times=counter.size, rates=rates, counter=counter)


def _sum(launches: Launches, counter: ByteCounter, *metrics: str, times: float = 1.0) -> Sourced:
    """Return the bytes of a counter as a sum of amounts; the sum is unknown where one of the amounts is unknown."""
    parts = [amount(launches, [metric], times=times, rates=False) for metric in metrics]
    values: Floats = np.sum([part.values for part in parts], axis=0)
    names = " + ".join(f"{metric}.sum" for metric in metrics)
    text = f"({names})" if times != 1 and len(metrics) > 1 else names
    return first_known(len(launches), [(values, Rule(f"{text}{times_text(times)}", counter))])


def _noted(sourced: Sourced, note: str) -> Sourced:
    rules = [None if rule is None else replace(rule, text=f"{rule.text} ({note})") for rule in sourced.rules]
    return Sourced(sourced.values, np.array(rules, dtype=object))
