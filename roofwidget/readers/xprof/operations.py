"""Complete XProf's operations for `Kernels`: correct executions, and add shapes, FLOPs and idle time."""

from __future__ import annotations

import fnmatch
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from roofwidget.analysis.bound import bound
from roofwidget.chips import Chip
from roofwidget.kernels.columns import Bools, Floats, Texts
from roofwidget.kernels.table import Kernels
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.xprof import collectives
from roofwidget.readers.xprof.hlo import Instruction, call_work, instruction
from roofwidget.readers.xprof.table import MICRO, XProfTable, extras, text_column
from roofwidget.support.arrays import Places
from roofwidget.support.did_you_mean import did_you_mean, listed
from roofwidget.support.text_tables import first_words

# -- columns of operations -----------------------------------------------------------------------------------------

IDLE: Final = "idle"
# XProf excludes these operations from the program's sums, because their time includes the time of other rows.
CONTAINERS: Final = ("call", "conditional", "while", "megacore fusion")


@dataclass
class Draft:
    """Mutable columns of n operations: FLOPs, bytes by level, seconds, launches and so on."""

    names: Texts
    flops: Floats
    bytes: dict[str, Floats]
    time: Floats
    self_time: Floats
    category: Texts
    count: Floats
    precision: Texts
    origin: dict[str, Texts]
    extra: dict[str, npt.NDArray[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def programs(self) -> Sequence[str]:
        """The program of each operation; ``"0"`` if unknown."""
        return [word or "0" for word in self.extra["program"]] if "program" in self.extra else ["0"] * len(self)

    @property
    def contains_others(self) -> Bools:
        """Whether an operation's time includes the time of other rows."""
        return np.isin(self.category.astype(str), CONTAINERS)

    def rows(self, mask: Bools) -> Draft:
        """Return the operations in the mask."""
        columns: dict[str, Any] = {
            name: {key: part[mask] for key, part in column.items()} if isinstance(column, dict) else column[mask]
            for name, column in vars(self).items()
        }
        return Draft(**columns)

    def with_idle(self, seconds: float, name: str) -> Draft:
        """Return the operations and a row for the time in which no operation ran."""
        nothing = np.array([None], dtype=object)
        origin = text_column(["the program's time less the self time of its operations"])
        return Draft(
            np.append(self.names, text_column([name])),
            np.append(self.flops, np.nan),
            {level: np.append(amount, np.nan) for level, amount in self.bytes.items()},
            np.append(self.time, seconds),
            np.append(self.self_time, seconds),
            np.append(self.category, text_column([IDLE])),
            np.append(self.count, 1.0),
            np.append(self.precision, nothing),
            {key: np.append(why, origin if "time" in key else nothing) for key, why in self.origin.items()},
            {key: np.append(c, np.nan if c.dtype == np.float64 else nothing) for key, c in self.extra.items()},
        )

    def kernels(self, chip: Chip | None, source: str, **more: Any) -> Kernels:
        """Return the operations as `Kernels`."""
        return Kernels(
            self.names,
            self.flops,
            self.bytes,
            time=self.time,
            self_time=self.self_time,
            precision=self.precision,
            category=self.category,
            count=self.count,
            origin={key: why for key, why in self.origin.items() if any(why)},
            extra={key: c for key, c in self.extra.items() if c.dtype == np.float64 or any(c)},
            chip=chip,
            source=source,
            **more,
        )


def draft_by_rules(rules: Mapping[str, str], *, names: Texts, **columns: Any) -> Draft:
    """Return operations whose precision is unknown, with the rule of each amount, which all operations share."""
    unknown = np.full(len(names), None)
    origin = {key: np.full(len(names), rule, dtype=object) for key, rule in rules.items()}
    return Draft(names=names, precision=unknown, origin={**origin, "precision": unknown.copy()}, **columns)


def draft_of_table(table: XProfTable, rules: Mapping[str, str], **columns: Any) -> Draft:
    """Return `draft_by_rules` with the columns that two of XProf's tables have."""
    return draft_by_rules(
        rules,
        category=table.optional_texts("category"),
        count=table.numbers("occurrences", at_least=1),
        extra=extras(table),
        **columns,
    )


# -- executions of library calls -----------------------------------------------------------------------------------

_MAX_EXECUTIONS: Final = 2**53
_LIBRARY_CALL: Final = re.compile(r"custom-call|cudnn|cublas|hipblas|miopen|te_", re.IGNORECASE)
# A profiler loses a few events, and a profile may begin or end within a run. So two counts agree if they differ by at
# most the first share of the events or by 1, but never by more than the second share of the runs. For
# example, with 2 runs a call of 100 kernels (200 events) is not taken for a call of 101 kernels (202 events).
_LOST_EVENTS_SHARE: Final = 0.02
_MAX_LOST_SHARE_OF_RUNS: Final = 0.25
_MAX_NAMED_CALLS: Final = 5


def checked_executions(executions: object) -> Mapping[str, int] | None:
    """Check and return the option `executions`: None, or counts by pattern of operation names.

    Raises
    ------
    TypeError, ValueError
        If the option is neither None nor such counts, or a count is not a whole number of at least 1.
    """
    if executions is None:
        return None
    if not isinstance(executions, Mapping) or not all(isinstance(pattern, str) for pattern in executions):
        raise TypeError(
            f"executions must be counts by operation name, such as {{'cudnn-conv*': 5}}, got {executions!r:.60}"
        )
    for pattern, count in executions.items():
        what = f"executions['{pattern}']"
        if isinstance(count, bool) or not isinstance(count, int):
            raise TypeError(f"{what} must be a whole number, got {count!r:.60}")
        if not 1 <= count < _MAX_EXECUTIONS:
            raise ValueError(f"{what} must be from 1 to {_MAX_EXECUTIONS:,}, got {count!r:.60}")
    return executions


def correct_executions(draft: Draft, given_executions: Mapping[str, int] | None, *, infer: bool) -> list[str]:
    """Scale counts per kernel to counts per execution, in place; return warnings with the operations.

    Parameters
    ----------
    draft
        The operations.
    given_executions
        Executions by pattern of operation names; these override inferred counts.
    infer
        Whether to infer the executions of library calls (on GPUs). For example, most other operations of a program ran
        40 times, none ran more often, and a library call has 80 occurrences. 80 is a multiple of 40, so the call ran 40
        times with 2 kernels each time. A few lost events make no difference. A warning names the calls whose executions
        are uncertain.

    Raises
    ------
    ValueError
        If a pattern matches no operation.
    """
    executions, is_undecided = _inferred(draft) if infer else (draft.count.copy(), np.zeros(len(draft), np.bool_))
    for pattern, count in (given_executions or {}).items():
        found = np.array([fnmatch.fnmatchcase(name.casefold(), pattern.casefold()) for name in draft.names])
        if not found.any():
            raise ValueError(f"executions: no operation is called '{pattern}'{did_you_mean(pattern, draft.names)}")
        executions[found] = count
        is_undecided &= ~found
    remarks = [_undecided_warning(draft, np.flatnonzero(is_undecided))] if is_undecided.any() else []
    changed = np.flatnonzero(executions != draft.count)
    if not len(changed):
        return remarks
    factor = executions / draft.count
    draft.extra["XProf occurrences"] = draft.count.copy()
    draft.flops *= factor
    draft.bytes = {level: amount * factor for level, amount in draft.bytes.items()}
    counted = [why for key, why in draft.origin.items() if key.startswith(("flops", "bytes"))]
    for row in changed:
        for why in counted:
            why[row] += f" x {executions[row]:g} executions / {draft.count[row]:g} kernels"
    draft.count = executions
    return [_executions_warning(draft, changed), *remarks]


def _inferred(draft: Draft) -> tuple[Floats, Bools]:
    """Return the executions of each operation, and a mask: true for a library call whose executions are uncertain."""
    members = defaultdict(list)
    for row, program in enumerate(draft.programs):
        members[program].append(row)
    executions = draft.count.copy()
    nested = draft.contains_others
    is_call = [
        _LIBRARY_CALL.match(name) is not None or category == "custom-call"
        for name, category in zip(draft.names, draft.category, strict=True)
    ]
    is_undecided = np.zeros(len(draft), dtype=np.bool_)
    for program, rows in members.items():
        # Rows without a program may be unrelated, and a loop may run a call more often than operations outside.
        is_one_run = program != "0" and not nested[rows].any()
        runs = _runs(draft.count[[row for row in rows if not is_call[row]]]) if is_one_run else None
        for row in (row for row in rows if is_call[row] and draft.count[row] > 1):
            kernels = None if runs is None else _kernels_per_run(draft.count[row], runs)
            is_undecided[row] = kernels is None
            if runs is not None and kernels is not None and kernels > 1:
                executions[row] = runs
    return executions, is_undecided


def _runs(counts: Floats) -> float | None:
    """Return how often a program ran, from the counts of its operations that run as one kernel each.

    Return None if the counts do not show it.

    Examples
    --------
    >>> _runs(np.array([40.0, 40, 39])), _runs(np.array([4.0, 4, 80])), _runs(np.array([]))
    (40.0, None, None)
    """
    values, times = np.unique(counts, return_counts=True)
    near = [int(times[np.abs(values - value) <= _lost(value, value)].sum()) for value in values]
    # If two counts are equally common, take the larger count: events are lost more often than counted twice.
    most, _, runs = max(zip(near, times, values, strict=True), default=(0, 0, np.nan))
    # If an operation ran more often, it is in a loop. The library call may then be in a loop too.
    is_most_often = not (values > runs + _lost(runs, runs)).any()
    return float(runs) if 2 * most > len(counts) and is_most_often else None


def _kernels_per_run(count: float, runs: float) -> int | None:
    """Return how many kernels a call has if its program ran `runs` times; None if the counts do not fit.

    Examples
    --------
    >>> [_kernels_per_run(count, 40) for count in (80, 79, 40, 5, 60)]
    [2, 2, 1, 1, None]
    """
    kernels = max(round(count / runs), 1)
    if count < runs or abs(count - kernels * runs) <= _lost(kernels * runs, runs):
        return kernels
    return None


def _lost(events: float, runs: float) -> float:
    """Return how many of `events` events the profiler may have lost, if the program ran `runs` times."""
    return min(max(1.0, _LOST_EVENTS_SHARE * events), _MAX_LOST_SHARE_OF_RUNS * runs)


def _undecided_warning(draft: Draft, rows: Places) -> str:
    counts = dict.fromkeys(f"'{draft.names[row]:.40}' {draft.count[row]:g} times" for row in rows)
    return (
        "how often library calls ran is not certain: XProf counts every kernel of a call, and nothing else in the "
        f"program shows its runs. Taken as counted: {first_words(counts, _MAX_NAMED_CALLS)}; "
        f"executions={{{draft.names[rows[0]]!r:.60}: n}} sets other counts"
    )


def _executions_warning(draft: Draft, rows: Places) -> str:
    kernels = draft.extra["XProf occurrences"]
    named = (f"'{draft.names[row]:.40}' {draft.count[row]:g} times, not {kernels[row]:g}" for row in rows)
    return (
        "XProf counts every kernel of a library call as an execution of the whole call; judging by other operations of "
        f"the program these ran: {first_words(named, _MAX_NAMED_CALLS)}. FLOPs and bytes are scaled; "
        "executions={name: n} sets other counts"
    )


# -- shapes --------------------------------------------------------------------------------------------------------

_STATS_COLUMNS: Final = (
    "HLO",
    "framework op",
    "rematerialization",
    "outside compilation",
    "autotuned",
    "core type",
    "parent op",
)
_TIME_TOLERANCE: Final = 1e-6


def join_stats(draft: Draft, stats: XProfTable) -> list[str]:
    """Add the columns of ``hlo_stats`` to `draft`. Return warnings about operations that ``hlo_stats`` lacks.

    Raises
    ------
    ProfileError
        If ``hlo_stats`` has none of the operations.
    """
    operations = zip(stats.texts("program_id"), stats.texts("hlo_op_name"), strict=True)
    place = {key: row for row, key in enumerate(operations)}
    keys = zip(draft.programs, draft.names, strict=True)
    at = np.array([place.get(key, -1) for key in keys], dtype=np.intp)
    if len(draft) and len(stats):
        agree = np.isclose(
            stats.numbers("total_time")[at] * MICRO, draft.time, rtol=_TIME_TOLERANCE, atol=MICRO * _TIME_TOLERANCE
        )
        at[~agree] = -1
        if (at < 0).all():
            raise ProfileError(stats.source, "none of its operations is in the profile: the file is of another run")
    given_executions = extras(stats) if len(stats) else {}
    for name in _STATS_COLUMNS:
        if name in given_executions:
            draft.extra.setdefault(name, _rows_of(given_executions[name], at))
    missing = int((at < 0).sum())
    return [f"the shapes of {missing} of {len(draft)} operations are not in {stats.source}"] if missing else []


def add_shapes(draft: Draft) -> list[Instruction | None]:
    """Parse the HLO texts; add a column with shapes and a column with the type of the first operand."""
    parsed = [instruction(line) if line else None for line in draft.extra["HLO"]]
    draft.extra["shape"] = text_column([one.shape if one else None for one in parsed])
    draft.extra["dtype"] = text_column([one.operands[0].dtype if one and one.operands else None for one in parsed])
    return parsed


def complete_calls(draft: Draft, parsed: Sequence[Instruction | None], chip: Chip | None) -> list[str]:
    """Set FLOPs and bytes of opaque calls with known shapes, in place; return warnings."""
    found = 0
    seconds = 0.0
    without: set[str] = set()
    for row in np.flatnonzero(np.isnan(draft.flops)).tolist():
        call = parsed[row]
        done = call_work(call) if call else None
        if done is None:
            continue
        times = draft.count[row]
        why = f"{done.rule} x {times:g} executions"
        draft.flops[row], draft.bytes["HBM"][row] = done.flops * times, done.bytes * times
        draft.origin["flops"][row] = why
        draft.origin["bytes:HBM"][row] = f"compulsory bytes, operands and outputs once: {why}"
        if done.precision:
            draft.precision[row] = done.precision
            draft.origin["precision"][row] = "the type of the first operand"
        # Without a peak for this precision the operation would have no bound.
        if chip is not None and done.precision and done.precision not in chip.peak_flops:
            draft.precision[row] = draft.origin["precision"][row] = None
            without.add(done.precision)
        found += 1
        seconds += draft.self_time[row]
    if not found:
        return []
    total = draft.self_time.sum()
    share = f", {seconds / total:.1%} of the operations' time" if total else ""
    message = (
        f"XLA's cost model counts nothing for {found} library calls{share}: their FLOPs and bytes were derived from "
        "their shapes x executions, see kernels.origin"
    )
    if not (chip and without):
        return [message]
    words = " and ".join(sorted(without))
    return [
        message,
        f"some of them are {words}, for which the profile has no peak: their bound uses {chip.default_precision}",
    ]


def _rows_of(column: npt.NDArray[Any], at: Places) -> npt.NDArray[Any]:
    """Return the cells of the rows; None for row -1."""
    found: npt.NDArray[Any] = column[at].astype(object)
    found[at < 0] = None
    return found


# -- all steps -----------------------------------------------------------------------------------------------------

_MAX_LISTED: Final = 1000
"""XProf lists at most this many operations."""
_ROUNDING: Final = 1e-6


@dataclass(frozen=True)
class Options:
    """Options of the user, and properties of the profile.

    Parameters
    ----------
    idle
        Whether idle time is a row.
    given_executions
        Executions by pattern of operation names, or None.
    stats
        The table ``hlo_stats`` of the same profile, or None.
    infer
        Whether the occurrences of a library call may count its kernels instead of its executions.
    cut
        Whether operations ran that the profile does not list.
    """

    idle: bool = True
    given_executions: Mapping[str, int] | None = None
    stats: XProfTable | None = None
    infer: bool = False
    cut: bool = False


@dataclass
class _Added:
    """The amounts added to XProf's own counts: FLOPs, and bytes by level."""

    flops: float = 0.0
    bytes: dict[str, float] = field(default_factory=dict)

    def to(self, program: Draft) -> None:
        """Add the amounts to the program's totals, in place."""
        if not (self.flops or any(self.bytes.values())):
            return
        program.flops = _raised(program.flops, self.flops)
        for level, amount in self.bytes.items():
            program.bytes[level] = _raised(program.bytes[level], amount)
        for key, why in program.origin.items():
            if not key.endswith("time"):
                why[:] = [f"{word} + what was derived for operations" for word in why]


def _raised(total: Floats, by: float) -> Floats:
    """Return the total plus `by`, or NaN if the sum is negative. An unknown total counts as 0."""
    raised = np.where(np.isnan(total), 0.0, total) + by
    return np.where(raised < 0, np.nan, raised)


def check_switches(**switches: Any) -> None:
    """Raise `TypeError` if an option is not a bool."""
    for name, value in switches.items():
        if value not in (True, False):
            raise TypeError(f"{name} must be True or False, got {value!r:.60}")


def with_unknowns(flops: Floats, moved: Mapping[str, Floats]) -> tuple[Floats, dict[str, Floats]]:
    """Return the amounts, NaN where FLOPs and bytes are 0: XProf writes two zeros for unknown work."""
    unknown = (flops == 0) & np.all([amount == 0 for amount in moved.values()], axis=0)
    return np.where(unknown, np.nan, flops), {k: np.where(unknown, np.nan, amount) for k, amount in moved.items()}


def is_infeed(category: str) -> bool:
    """Whether operations of a category feed data to the device, by XProf's own rule."""
    return "infeed" in category or "outfeed" in category


def finish_operations(
    draft: Draft, chip: Chip | None, program_time: float | None, options: Options
) -> tuple[Draft, _Added, list[str]]:
    """Correct and complete the operations, and add the idle time.

    Parameters
    ----------
    draft
        The operations with XProf's counts.
    chip
        The device, or None.
    program_time
        Seconds of the whole program, or None if unknown.
    options
        The options.

    Returns
    -------
    tuple
        The operations, the added amounts, and warnings.
    """
    before = _totals(draft)
    remarks: list[str] = []
    if options.stats is not None:
        remarks += join_stats(draft, options.stats)
    if options.infer or options.given_executions:
        remarks += correct_executions(draft, options.given_executions, infer=options.infer)
    if "HLO" in draft.extra:
        parsed = add_shapes(draft)
        remarks += complete_calls(draft, parsed, chip)
        columns, about_collectives = collectives.columns_of(parsed, draft.time, draft.count)
        draft.extra |= columns
        remarks += about_collectives
    after = _totals(draft)
    added = _Added(after.flops - before.flops, {k: after.bytes[k] - amount for k, amount in before.bytes.items()})
    remarks += _opaque_remark(draft, joined="HLO" in draft.extra)
    if any(word in CONTAINERS for word in draft.category):
        remarks.append(
            f"operations of the categories {listed(CONTAINERS)} include the time of others: add self_time, not time"
        )
    if program_time:
        cut = options.cut or len(draft) >= _MAX_LISTED
        draft, messages = _with_idle(draft, program_time, wanted=options.idle, cut=cut)
        remarks += messages
    return draft, added, remarks


def above_roof(kernels: Kernels) -> list[str]:
    """Warn about operations faster than the profile's own peaks allow."""
    if kernels.chip is None or not len(kernels):
        return []
    bounds = bound(kernels, kernels.chip, memory="all")
    above = bounds.above_roof
    if not above.any():
        return []
    most = int(np.nanargmax(np.where(above, bounds.utilization, np.nan)))
    message = (
        f"operations above their roof: {int(above.sum())}, the highest '{kernels.names[most]:.60}' at "
        f"{bounds.utilization[most]:.4g} times: peaks or counts in the profile are wrong, or other units do the "
        "work, as for asynchronous copies"
    )
    return [message]


def _totals(draft: Draft) -> _Added:
    inner = ~draft.contains_others
    return _Added(
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
    message = (
        f"operations with neither FLOPs nor bytes: {unknown.sum()} of {len(draft)}, {share:.1%} of the operations' "
        f"time; XLA cannot count opaque calls, so they are unknown, not zero{mend}"
    )
    return [message]


def _with_idle(draft: Draft, program_time: float, *, wanted: bool, cut: bool) -> tuple[Draft, list[str]]:
    """Add the program's remaining time as a row, so that shares of self time add up to 1."""
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
    return full, [f"only {len(draft):,} operations are listed: the time of all others is in '{full.names[-1]}'"]
