"""The plan: what to do for a profile, by what each step can gain at most, with evidence and a check.

It says nothing that other results do not say: `bound` and `advise` have the gaps to the roofs and what to try,
`reasons` what counters show, `latency_roof` the latency and the waves of blocks, `Kernels.unknown_work` what is not
known.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from roofwidget.analysis import bound_report
from roofwidget.analysis.advice import CHECKS, COLLECTIVE, NEITHER, SUGGESTIONS, Advice, advise
from roofwidget.analysis.bound_lenient import bound_lenient
from roofwidget.analysis.latency import MAX_SHARE_IN_FLIGHT, LatencyRoof, latency_roof, threads_of, waves_of
from roofwidget.analysis.lowest_roof import lowest_roof
from roofwidget.analysis.ranking import launches_added
from roofwidget.analysis.reasons import Reason, Rule, rows_by_rule
from roofwidget.analysis.result import ABOVE_ROOF_FROM, Bound
from roofwidget.chips import Chip, ChipLike
from roofwidget.chips import chip as look_up
from roofwidget.kernels.columns import TIE_TOLERANCE, Bools, Floats
from roofwidget.kernels.metadata import Rows
from roofwidget.kernels.non_kernels import NON_KERNELS
from roofwidget.kernels.table import Kernels, as_kernels
from roofwidget.support.did_you_mean import keywords
from roofwidget.support.text_tables import aligned, and_more, counted, html_table, html_with_notes, one_line
from roofwidget.units import format_percent, format_quantity

if TYPE_CHECKING:
    from roofwidget.workloads.speed_of_light import SpeedOfLight

KINDS: Final = ("counts", "kernel", "waiting", "communication", "unknown", "fusion")
"""What a step is about: FLOPs, bytes or the chip; a kernel; time in which no kernel runs; communication that nothing
hides; kernels whose bound is unknown; or kernels to fuse."""
_ABOVE: Final = "above its roof"
_UNKNOWN: Final = "unknown"
_FIELDS: Final = ("time", "flops", "bytes")
# A wave that is fuller than this is not worth a word.
_MAX_WAVE_EFFICIENCY: Final = 0.9
# A memory of a GPU sends sectors of this size.
_LOAD_BYTES: Final = 32
# What these reasons of counters say, the waves of a launch need not say again.
_OF_WAVES: Final = frozenset({"small grid", "tail", "uneven work"})
_WAITS: Final = "memory latency"
# The utilization from which tuning of a kernel can stop.
_STOP: Final = 0.95
_MAX_NAMED: Final = 3
# The launches of a kernel are unlike if the best reaches this many times the share of its roof that the worst does.
_UNLIKE: Final = 1.25
_MAX_LINES: Final = 8
_HEADER: Final = ("#", "what", "at most", "of the time", "evidence")
_FILL_WAVES: Final = (
    "Make the blocks fill whole waves: another block size, or as many blocks as run at once, each with more work."
)
_MORE_BLOCKS: Final = "Use more blocks, or join launches that run beside each other, so that the whole chip works."
_LARGER_LAUNCHES: Final = "Join launches, or give each more work: all bytes of a launch are in flight already."
_MORE_IN_FLIGHT: Final = "Have more loads under way: more threads, or several independent loads for each thread."
_FUSE: Final = (
    "Fuse kernels as the fastest partition does: see the tab Fusion for the graph of rw.Graph.from_torch or from_jax."
)
_FUSE_CHECK: Final = (
    "Write or compile the fused kernel of the largest group and time it. If it is no faster, the model of the traffic "
    "is wrong."
)
_COUNTER_CHECK: Final = (
    "Change what the counters name first ({}), and profile again. If the counter moves and the time stays, it is not "
    "the reason."
)
_HIDE: Final = "Let communication run while kernels compute, send less, or send it in larger messages."
_HIDE_CHECK: Final = (
    "Run the step with a single rank, or without the collectives. If its time falls by less, it was hidden already."
)


@dataclass(frozen=True)
class Evidence:
    """One fact for a step of a plan.

    Parameters
    ----------
    text
        The fact, with its numbers.
    source
        Where the numbers come from: columns of the profile, the chip's figures, or a rule.
    value, unit
        The most important number, in SI base units; None and empty without one. The unit of a share is ``1``.
    is_estimate
        Whether the number rests on an assumption, which the text names.
    """

    __module__ = "roofwidget"

    text: str
    source: str
    value: float | None = None
    unit: str = ""
    is_estimate: bool = False


@dataclass(frozen=True)
class PlanStep:
    """One thing to do.

    Parameters
    ----------
    kind
        One of ``counts``, ``kernel``, ``waiting``, ``communication``, ``unknown`` and ``fusion``.
    kernels
        The names of the kernels that it is about.
    situation
        What is the case, such as ``memory-bound, close``.
    action
        What to try.
    gain
        Seconds that the step saves at most; NaN if nobody can say. The gain of a real change is smaller.
    evidence
        The facts.
    check
        A check that would disprove the step.
    """

    __module__ = "roofwidget"

    kind: str
    kernels: tuple[str, ...]
    situation: str
    action: str
    gain: float
    evidence: tuple[Evidence, ...]
    check: str


@dataclass(frozen=True, repr=False)
class Plan:
    """The steps of a plan, in their order. It has a length and an iterator. Printing it shows a table.

    Parameters
    ----------
    steps
        The steps.
    time
        Seconds of the whole profile.
    chip
        The name of the chip whose roofs the plan uses.
    notes
        What the numbers assume.
    """

    __module__ = "roofwidget"

    steps: tuple[PlanStep, ...]
    time: float
    chip: str
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[PlanStep]:
        return iter(self.steps)

    def __getitem__(self, at: int) -> PlanStep:
        return self.steps[at]

    def share(self, step: PlanStep) -> float:
        """Return the gain of a step over the time of the profile; NaN if it is unknown."""
        return step.gain / self.time if self.time > 0 else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return dicts, lists, texts and numbers as JSON takes them; None is unknown.

        ``roofwidget check --plan --json`` has the same under ``plan``; ``check.schema.json`` describes the keys.
        """
        return {
            "steps": [
                {
                    "kind": step.kind,
                    "kernels": list(step.kernels),
                    "situation": step.situation,
                    "action": step.action,
                    "gain_s": finite_or_none(step.gain),
                    "gain_share": finite_or_none(self.share(step)),
                    "evidence": [
                        {
                            "text": fact.text,
                            "source": fact.source,
                            "value": None if fact.value is None else finite_or_none(fact.value),
                            "unit": fact.unit,
                            "is_estimate": fact.is_estimate,
                        }
                        for fact in step.evidence
                    ],
                    "check": step.check,
                }
                for step in self.steps
            ],
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        title = f"Plan: {counted(len(self), 'step')} for {format_quantity(self.time, 's')} on {one_line(self.chip)}"
        lines = aligned([_HEADER, *self._rows(_MAX_LINES)], right=(0, 2, 3)) if self.steps else []
        return "\n".join([title, *lines, *and_more(len(self), _MAX_LINES)])

    def _repr_html_(self) -> str:
        header = (*_HEADER, "what to try", "what would disprove it")
        rows = [[*row, step.action, step.check] for row, step in zip(self._rows(len(self)), self, strict=True)]
        return html_with_notes(html_table(f"Plan for {self.chip}", header, rows), self.notes)

    def _rows(self, most: int) -> list[list[str]]:
        return [
            [
                str(number),
                what(step),
                "unknown" if math.isnan(step.gain) else format_quantity(step.gain, "s"),
                "" if math.isnan(self.share(step)) else format_percent(self.share(step)),
                step.evidence[0].text if step.evidence else "",
            ]
            for number, step in enumerate(self.steps[:most], 1)
        ]


def what(step: PlanStep) -> str:
    """Return what a step is about, in a few words: the kernel, or their number, and the situation."""
    if len(step.kernels) == 1:
        return f"{one_line(step.kernels[0])}: {step.situation}"
    return f"{counted(len(step.kernels), 'kernel')}: {step.situation}" if step.kernels else step.situation


@keywords("plan")
def plan(
    profile: Any,
    chip: ChipLike | None = None,
    *,
    precision: str = "auto",
    memory: str = "main",
    launch_overhead: float | str = 0.0,
    light: SpeedOfLight | None = None,
    advices: Iterable[Advice] = (),
) -> Plan:
    """Return what to do for a profile: steps with their largest gain first, each with evidence and a check against it.

    The gain of a step is an upper limit: the measured time less the bound for a kernel, the whole time for what no roof
    explains. The bound is that of `memory`, or of all levels if that is longer. L1 and shared memory together are one
    more level where the profile counts their transactions. The gain of a kernel is the sum over its launches, and the
    counters of each launch are evidence of their own. Steps that find mistakes in the counts come first if most of the
    time is above the roofs, and last otherwise, because nobody can say what they gain.

    Parameters
    ----------
    profile
        `Kernels`, or anything that converts to it. Launches of one kernel with like work are one step.
    chip
        A chip, its name in the catalogue, or `HardwarePeaks`; by default the chip that the profile names.
    precision, memory, launch_overhead
        As in `roofwidget.bound`.
    light
        The result of `roofwidget.sol` for the graph that one run of the profile computes: adds a step that fuses.
    advices
        More advice for kernels of the profile, such as what another tool says. Each item becomes evidence of the step
        for the kernel of its name. What counters of the profile say is evidence without it.

    Returns
    -------
    Plan
        A sequence of `PlanStep`.

    Raises
    ------
    MissingFigureError
        If the chip lacks the precision or the level.
    ValueError
        If neither the call nor the profile names a chip.

    Examples
    --------
    >>> from roofwidget.chips import Chip
    >>> mine = Chip("My chip", {"bf16": "989 TFLOP/s"}, {"HBM": "3.35 TB/s"})
    >>> found = plan([("matmul", 1.4e11, 1.0e8, 4e-4), ("gelu", 0, 6.7e7, 2.2e-5), ("custom", None, None, 1e-4)], mine)
    >>> [(step.kind, f"{step.gain:.1e}", step.situation) for step in found][:2]
    [('kernel', '2.6e-04', 'compute-bound, below its roof'), ('unknown', '1.0e-04', 'unknown')]
    """
    given = as_kernels(profile)
    where = _chip(given, chip)
    options: dict[str, Any] = {"precision": precision, "memory": memory, "launch_overhead": launch_overhead}
    rows = given.replace(launches=None, launch_rows=None)
    single, owners = _single_launches(given)
    launches = _Launches.of(single, where, options)
    is_left = np.bincount(owners, ~launches.is_done, len(rows)) > 0
    table = launches_added(rows, apart=~is_left)
    _, of_rows = table.launches_with_rows()
    owners = of_rows[owners] if len(of_rows) else owners
    latency = latency_roof(table, where, **options)
    found = advise(latency.bound, stop=_STOP, latency=latency)
    facts = _Facts(table, launches, owners, latency, lowest_roof(latency.bound), found, {})
    for one in advices:
        facts.more.setdefault(one.name, []).append(one)
    steps = [
        *_kernel_steps(facts),
        *_waiting_steps(facts),
        *_communication_steps(facts),
        *_unknown_steps(facts),
        *_fusion_steps(facts, light),
    ]
    steps.sort(key=lambda step: -step.gain)
    counts = list(_count_steps(facts))
    is_alert = float(table.self_time[latency.bound.above_roof].sum()) > float(np.nansum(table.self_time)) / 2
    ordered = [*counts, *steps] if is_alert else [*steps, *counts]
    return Plan(tuple(ordered), float(np.nansum(table.self_time)), where.name, _notes(facts, ordered))


def _single_launches(kernels: Kernels) -> tuple[Kernels, Rows]:
    """Return the launches that the rows were added up from, and the row of each; the rows if their sums are others."""
    launches, owners = kernels.launches_with_rows()
    if launches is not None:
        columns = [(getattr(launches, name), getattr(kernels, name)) for name in _FIELDS]
        sums = ((np.bincount(owners, column, len(kernels)), total) for column, total in columns)
        if all(np.allclose(found, total, rtol=TIE_TOLERANCE, atol=0, equal_nan=True) for found, total in sums):
            return launches, owners
    return kernels, np.arange(len(kernels))


@dataclass(frozen=True)
class _Launches:
    """The launches of the profile.

    Parameters
    ----------
    table
        The launches.
    left
        Seconds that each could save at its lowest roof: 0 above a roof, NaN if unknown.
    utilization
        The share of that roof.
    rules
        The rules that counters fulfil, each with its rows.
    """

    table: Kernels
    left: Floats
    utilization: Floats
    rules: Sequence[tuple[Rule, Rows]]

    @classmethod
    def of(cls, kernels: Kernels, chip: Chip, options: dict[str, Any]) -> _Launches:
        lowest = lowest_roof(bound_lenient(kernels, chip, **options))
        rules = rows_by_rule(kernels.extra_columns, len(kernels))
        return cls(kernels, np.maximum(lowest.headroom, 0), lowest.utilization, rules)

    @cached_property
    def threads(self) -> Floats:
        """The threads of each that run at the same time."""
        return threads_of(self.table) / np.fmax(1, waves_of(self.table))

    @property
    def is_done(self) -> Bools:
        """The launches whose tuning can stop."""
        found: Bools = (self.utilization >= _STOP) & (self.utilization <= ABOVE_ROOF_FROM)
        return found

    def names(self, rows: Rows) -> list[str]:
        """Return the names of some launches of one kernel: short ones, or numbers where these are equal."""
        shown = [one_line(str(name)) for name in self.table.short_names[rows]]
        return shown if len(set(shown)) == len(rows) else [f"launch {row}" for row in rows.tolist()]

    def which(self, rows: Rows, of: Rows) -> str:
        """Return which of the launches of a kernel these are, for the beginning of a sentence on the first of them."""
        if len(of) == 1:
            return ""
        named = self.names(rows[:_MAX_NAMED])
        if len(rows) == len(of):
            return f"each of its {len(of):,} launches, here {named[0]}: "
        times = self.table.self_time
        spent, whole = (format_quantity(float(np.nansum(times[some])), "s") for some in (rows, of))
        such_as = "such as " * (len(rows) > _MAX_NAMED)
        return f"{len(rows):,} of its {len(of):,} launches, {such_as}{', '.join(named)}: {spent} of {whole}. "


@dataclass(frozen=True)
class _Facts:
    table: Kernels
    launches: _Launches
    owners: Rows
    latency: LatencyRoof
    lowest: Bound
    advices: Sequence[Advice]
    more: dict[str, list[Advice]]

    @property
    def bound(self) -> Bound:
        return self.latency.bound

    @cached_property
    def rows(self) -> list[Rows]:
        """The launches of each row, those first that could save most time."""
        order = np.lexsort((-np.nan_to_num(self.launches.left), self.owners))
        return np.split(order, np.searchsorted(self.owners[order], np.arange(1, len(self.table))))

    @cached_property
    def reasons(self) -> dict[int, list[tuple[Reason, Rows]]]:
        """What counters say of the launches of each row: of the launch that could save most time, and of which."""
        columns, counters = self.launches.table.extra_columns, self.launches.table.read_as
        found: dict[int, list[tuple[Reason, Rows]]] = {}
        for rule, holds in self.launches.rules:
            slow = holds[self.launches.left[holds] > 0]
            hit = slow[np.lexsort((-self.launches.left[slow], self.owners[slow]))]
            owners, first = np.unique(self.owners[hit], return_index=True)
            for owner, rows in zip(owners.tolist(), np.split(hit, first)[1:], strict=True):
                found.setdefault(owner, []).append((rule.reason_of(columns, counters, int(rows[0])), rows))
        return found

    def gain(self, row: int) -> float:
        """Return the seconds that the launches of a row save at most, each at its lowest roof."""
        saved = math.fsum(self.launches.left[self.rows[row]].tolist())
        return float(self.lowest.headroom[row]) if math.isnan(saved) else saved

    @property
    def kinds(self) -> list[str | None]:
        found = self.bound.non_kernels
        return [None] * len(self.bound) if found is None else list(found)

    @property
    def is_unlinked(self) -> Bools:
        found = self.bound.unlinked
        return np.zeros(len(self.bound), dtype=np.bool_) if found is None else found

    def name(self, row: int) -> str:
        return str(self.bound.names[row])

    def source(self, row: int, fields: Iterable[str] = _FIELDS) -> str:
        """Return from which columns the amounts of a row came; the source of the table where it does not say."""
        of_level = f"bytes:{self.latency.memory}"
        keys = [of_level if field == "bytes" and of_level in self.table.origin else field for field in fields]
        names = [
            f"{key} from {text}" for key in keys if key in self.table.origin and (text := self.table.origin[key][row])
        ]
        return "; ".join(dict.fromkeys(names)) or self.table.source or "the profile"


def _chip(kernels: Kernels, given: ChipLike | None) -> Chip:
    if given is not None:
        return look_up(given)
    if kernels.chip is None:
        raise ValueError("the profile names no chip: give the chip that it ran on, as in plan(profile, 'h100-sxm')")
    return kernels.chip


def _kernel_steps(facts: _Facts) -> Iterator[PlanStep]:
    for row, (one, kind) in enumerate(zip(facts.advices, facts.kinds, strict=True)):
        gain = facts.gain(row)
        if not gain > 0 or facts.bound.above_roof[row] or one.done or (kind and one.situation in NON_KERNELS):
            continue
        bound = facts.lowest
        evidence = [
            Evidence(one.evidence, facts.source(row), float(bound.utilization[row]), "1"),
            _roof(facts, bound, row),
            *_unlike_launches(facts, row),
        ]
        reasons = facts.reasons.get(row, [])
        found = [reason.reason for reason, _ in reasons]
        by_waves = [] if _OF_WAVES.intersection(found) else _wave_facts(facts, row)
        # What no roof explains, counters may.
        tries = [] if found and one.situation == NEITHER else [one.suggestion]
        for fact, action in (*_counter_facts(facts, row), *_latency_facts(facts, row, one), *by_waves):
            evidence.append(fact)
            tries.append(action)
        for other in facts.more.get(facts.name(row), ()):
            evidence.append(Evidence(other.evidence, other.situation))
            tries.append(other.suggestion)
        own = _COUNTER_CHECK.format(found[0]) if found else one.check
        checks = [own, *(other.check for other in facts.more.get(facts.name(row), ()))]
        yield PlanStep(
            "kernel",
            (facts.name(row),),
            one.situation,
            " ".join(dict.fromkeys(filter(None, tries))),
            gain,
            tuple(evidence),
            " ".join(dict.fromkeys(filter(None, checks))),
        )


def _counter_facts(facts: _Facts, row: int) -> Iterator[tuple[Evidence, str]]:
    for reason, rows in facts.reasons.get(row, ()):
        counters = ", ".join(dict.fromkeys(reason.counters.values()))
        text = facts.launches.which(rows, facts.rows[row]) + reason.sentence
        yield Evidence(text, f"{counters}; rule: {reason.source}".removeprefix("; ")), reason.suggestion


def _unlike_launches(facts: _Facts, row: int) -> Iterator[Evidence]:
    """Yield the share of its roof that the worst launch of a kernel reaches, if the best one reaches much more."""
    rows, shares = facts.rows[row], facts.launches.utilization
    worst, best = (int(rows[find(shares[rows])]) for find in (np.argmin, np.argmax))
    if not shares[best] > _UNLIKE * shares[worst]:
        return
    names = facts.launches.names(np.array([worst, best]))
    low, high = (f"{format_percent(float(shares[at]))} ({name})" for at, name in zip((worst, best), names, strict=True))
    saved = float(facts.launches.left[worst])
    text = f"its {len(rows):,} launches reach {low} to {high} of the roof; {names[0]} has at most "
    yield Evidence(f"{text}{format_quantity(saved, 's')} left", facts.source(row), saved, "s")


def _roof(facts: _Facts, bound: Bound, row: int) -> Evidence:
    """Return the bound of a kernel, with the figure of the chip that it follows from."""
    chip = bound.chip
    by, regime, seconds = str(bound.bound_by[row]), str(bound.regime[row]), float(bound.time[row])
    shown = format_quantity(seconds, "s")
    if regime == "memory":
        rate = format_quantity(chip.bandwidth(by), "B/s")
        text = f"{format_quantity(float(bound.bytes[by][row]), 'B')} at {rate} of {by}"
        key = f"memories.{by}.bandwidth"
    elif regime == "compute":
        precision = facts.table.precision[row] or bound.precision
        unit = bound.operation(row)
        rate = format_quantity(float(bound.peak[row]), f"{unit}/s")
        text = f"{format_quantity(float(bound.flops[row]), unit)} at {rate}"
        key = f"peak_flops.{precision}"
    else:
        text, key = f"limited by {by}", ""
    source = chip.sources.get(key)
    figure = chip.name if source is None else f"{chip.name}: {source.title} ({source.confidence})"
    return Evidence(f"at its roof it needs {shown}: {text}", figure, seconds, "s")


def _latency_facts(facts: _Facts, row: int, advice: Advice) -> Iterator[tuple[Evidence, str]]:
    roof = facts.latency
    sentence = roof.sentence(row)
    if not sentence:
        return
    source = f"latency: {roof.latency_source or roof.bound.chip.name}"
    if roof.bandwidth_share[row] < 1 and roof.time[row] > roof.bound.time[row] and sentence not in advice.evidence:
        text = f"{sentence}; {roof.explanation(row)}"
        action = _LARGER_LAUNCHES if roof.has_all_in_flight[row] else _MORE_BLOCKS
        yield Evidence(text, source, float(roof.time[row]), "s", not bool(roof.is_bound[row])), action
    threads = float(facts.launches.threads[facts.rows[row][0]])
    flying = threads * _LOAD_BYTES
    is_guess = roof.has_all_in_flight[row] and roof.bound.regime[row] == "memory"
    if is_guess and flying < MAX_SHARE_IN_FLIGHT * roof.needed:
        text = (
            f"it has {counted(round(threads), 'thread')} at once: with one load of {_LOAD_BYTES} B for each, "
            f"{format_quantity(flying, 'B')} are in flight, and {format_quantity(roof.needed, 'B')} fill the bandwidth"
        )
        is_waiting = any(reason.reason == _WAITS for reason, _ in facts.reasons.get(row, ()))
        fact = Evidence(text, f"grid and block of the profile; {source}", flying, "B", is_estimate=True)
        yield fact, "" if is_waiting else _MORE_IN_FLIGHT


def _wave_facts(facts: _Facts, row: int) -> Iterator[tuple[Evidence, str]]:
    launches = facts.launches.table[facts.rows[row]]
    counts = waves_of(launches)
    places = np.ceil(counts)
    if not np.nansum(counts) < _MAX_WAVE_EFFICIENCY * np.nansum(places):
        return
    shown = format_percent(float(np.nansum(counts) / np.nansum(places)))
    source = "waves per SM, from the profile"
    if not (counts > 1).any():
        text = f"its blocks fill {shown} of the places of the chip, so the other places stay empty"
        yield Evidence(text, source, float(np.nanmax(counts)), "1"), _MORE_BLOCKS
        return
    lost = float(np.nansum(np.where(counts > 1, launches.time * (1 - counts / places), 0)))
    most = counts[int(np.nanargmax(launches.time * (1 - counts / places)))]
    text = (
        f"its blocks fill {shown} of their waves, such as {most:.4g} of {math.ceil(most)}; the last waves cost about "
        f"{format_quantity(lost, 's')} if all blocks take as long"
    )
    yield Evidence(text, source, lost, "s", is_estimate=True), _FILL_WAVES


def _waiting_steps(facts: _Facts) -> Iterator[PlanStep]:
    """Yield a step for each kind of row in which no kernel runs."""
    own = np.nan_to_num(facts.table.self_time)
    for kind in NON_KERNELS:
        rows = [
            row
            for row, found in enumerate(facts.kinds)
            if found == kind and own[row] > 0 and math.isnan(facts.bound.time[row])
        ]
        if rows:
            spent = math.fsum(own[rows])
            text = f"no kernel runs for {format_quantity(spent, 's')} of {_whole(facts)}"
            evidence = Evidence(text, facts.source(rows[0], ("time",)), spent, "s")
            names = tuple(dict.fromkeys(facts.name(row) for row in rows))
            yield PlanStep("waiting", names, kind, SUGGESTIONS[kind], spent, (evidence,), CHECKS[kind])


def _communication_steps(facts: _Facts) -> Iterator[PlanStep]:
    """Yield what to do with communication that no kernel hides; without its intervals, with collectives of no roof."""
    both = facts.table.communication
    own = np.nan_to_num(facts.table.self_time)
    rows = np.flatnonzero(facts.is_unlinked & (own > 0)).tolist()
    names = tuple(dict.fromkeys(facts.name(row) for row in rows))
    if both is not None and both.exposed > 0:
        text = f"only communication runs for {format_quantity(both.exposed, 's')}: {both}"
        evidence = Evidence(text, "the begin and end of each kernel in the profile", both.exposed, "s")
        yield PlanStep("communication", names, "exposed communication", _HIDE, both.exposed, (evidence,), _HIDE_CHECK)
    elif rows:
        spent = math.fsum(own[rows])
        text = f"{counted(len(rows), 'collective')} of unknown bytes: {format_quantity(spent, 's')} of {_whole(facts)}"
        evidence = Evidence(text, facts.source(rows[0], ("time",)), spent, "s")
        yield PlanStep(
            "communication", names, COLLECTIVE, SUGGESTIONS[COLLECTIVE], spent, (evidence,), CHECKS[COLLECTIVE]
        )


def _unknown_steps(facts: _Facts) -> Iterator[PlanStep]:
    """Yield one step for all kernels without a bound: their whole time may be lost, or none of it."""
    own = np.nan_to_num(facts.table.self_time)
    lost = np.isnan(facts.bound.headroom) & ~facts.is_unlinked & (own > 0)
    lost &= ~(facts.bound.above_roof | np.array([bool(kind) for kind in facts.kinds], dtype=np.bool_))
    rows = sorted(np.flatnonzero(lost).tolist(), key=lambda row: -own[row])
    if not rows:
        return
    spent = math.fsum(own[rows])
    missing = {one.row: one for one in facts.table.unknown_work()}
    evidence = [
        Evidence(
            f"{counted(len(rows), 'kernel')} without a bound: {format_quantity(spent, 's')} of {_whole(facts)}",
            facts.source(rows[0], ("time",)),
            spent,
            "s",
        )
    ]
    for row in rows[:_MAX_NAMED]:
        one = missing.get(row)
        lacks = "its bound is not known" if one is None else one.missing or _lacking(flops=one.flops, moved=one.bytes)
        rule = "" if one is None or one.rule is None else f"; a rule to begin with: {one.rule}"
        text = f"{one_line(facts.name(row))}, {format_quantity(float(own[row]), 's')}; missing: {lacks}{rule}"
        evidence.append(Evidence(text, facts.source(row, ("time",)), float(own[row]), "s"))
    names = tuple(dict.fromkeys(facts.name(row) for row in rows))
    yield PlanStep("unknown", names, _UNKNOWN, SUGGESTIONS[_UNKNOWN], spent, tuple(evidence), CHECKS[_UNKNOWN])


def _lacking(*, flops: bool, moved: bool) -> str:
    return " and ".join([*(["FLOPs"] if flops else []), *(["bytes"] if moved else [])]) or "a figure of the chip"


def _count_steps(facts: _Facts) -> Iterator[PlanStep]:
    rows = np.flatnonzero(facts.bound.above_roof).tolist()
    if not rows:
        return
    chip = facts.bound.chip.name
    evidence = tuple(
        Evidence(text, f"{facts.source(rows[0])}; roofs of {chip}") for text in bound_report.above_roof(facts.bound)
    )
    names = tuple(dict.fromkeys(facts.name(row) for row in rows))
    yield PlanStep("counts", names, _ABOVE, SUGGESTIONS[_ABOVE], math.nan, evidence, CHECKS[_ABOVE])


def _fusion_steps(facts: _Facts, light: SpeedOfLight | None) -> Iterator[PlanStep]:
    if light is None:
        return
    ran = math.fsum(
        own for own, kind in zip(np.nan_to_num(facts.table.self_time).tolist(), facts.kinds, strict=True) if not kind
    )
    if not ran > light.best:
        return
    shown = {word: format_quantity(getattr(light, word), "s") for word in ("best", "compiler", "unfused")}
    text = (
        f"the best kernels for {light.graph.name} need {shown['best']}, a compiler's {shown['compiler']}, one for each "
        f"op {shown['unfused']}; the profile has {format_quantity(ran, 's')}, if it is one run"
    )
    evidence = Evidence(
        text, f"a model of the traffic of {light.graph.name} on {light.chip.name}", light.best, "s", is_estimate=True
    )
    yield PlanStep("fusion", (), "could be fused", _FUSE, ran - light.best, (evidence,), _FUSE_CHECK)


def _whole(facts: _Facts) -> str:
    return format_quantity(float(np.nansum(facts.table.self_time)), "s")


def _notes(facts: _Facts, steps: Sequence[PlanStep]) -> tuple[str, ...]:
    kinds = {step.kind for step in steps}
    done = sum(one.done for one in facts.advices)
    notes = ["Gains are upper limits, and each is that of its step alone."]
    if kinds & {"fusion", "communication"}:
        notes.append("Gains of steps that fuse or that hide communication overlap with those of single kernels.")
    if done:
        notes.append(f"{counted(done, 'kernel')} left out: at the roof, so only less work or a higher roof helps.")
    return (*notes, *facts.latency.notes, *facts.bound.notes)


def finite_or_none(value: float) -> float | None:
    """Return a number for JSON, where None is unknown."""
    return float(value) if math.isfinite(value) else None
