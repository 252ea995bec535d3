"""The verdict: one headline that says the result of a chart, and a second line with what it means.

The rules are data, in the order in which they are tried: the first that applies is the verdict. Each rule knows only
`Facts`, which are plain numbers. `js/src/roofline/verdict.ts` has the same rules, and its words are in `js/src/words`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np

from roofwidget.analysis.messages import messages
from roofwidget.analysis.network import sent_factor
from roofwidget.analysis.result import Bound
from roofwidget.analysis.run_comparison import RunComparison
from roofwidget.chips import Chip
from roofwidget.kernels.collectives import is_collective_category
from roofwidget.kernels.columns import Bools, Floats, unwarned
from roofwidget.kernels.communication import has_messages
from roofwidget.kernels.metadata import Activity, Communication
from roofwidget.kernels.non_kernels import is_idle
from roofwidget.kernels.table import Kernels
from roofwidget.support.text_tables import counted, one_line
from roofwidget.units import format_factor, format_percent, format_quantity

T = TypeVar("T")
_Parts: TypeAlias = "tuple[tuple[str | None, float], ...]"

MAX_FIRST: Final = 5
"""How many kernels are named as those to fix first."""
MIN_ABOVE: Final = 1.05
"""The utilization from which a kernel counts as above its roof. Boost clocks explain less than that."""
_MIN_IDLE_SHARE, _MIN_IDLE_SHARE_NAMED = 0.2, 0.05
# From this share of the idle time on, one gap is named instead of the launches.
_MIN_GAP_SHARE: Final = 0.5
# Sums of the rows may differ from those of the activity by rounding.
_SAME_TIME: Final = 1e-6
_MIN_EXPOSED_SHARE: Final = 0.2
_MIN_CATEGORY_SHARE: Final = 0.7
_MIN_KNOWN_SHARE: Final = 0.5
_MAX_SHARE_NEAR: Final = 0.1
_MIN_FIRST_SHARE: Final = 0.5
_MIN_SHARE_NAMED: Final = 0.1
_NO_CHANGE: Final = 0.01
_MIN_FACTOR: Final = 1.5
# Two partitions whose times differ by less than this share are equally fast.
_SAME_SPEED: Final = 1e-9
_DEVICES: Final = ("GPU", "TPU", "CPU")
_COPY: Final = re.compile(r"^copy\b", re.IGNORECASE)
# The subject and the verb of the headline, and the plural noun. Other categories are named as they are in the file.
_CATEGORIES: Final = MappingProxyType(
    {
        "matrix product": ("Matrix products take", "matrix products"),
        "attention": ("Attention takes", "attention kernels"),
        "element by element": ("Element-by-element kernels take", "element-by-element kernels"),
        "normalisation": ("Normalisation takes", "normalisations"),
        "collective": ("Collectives take", "collectives"),
        "copy": ("Copies take", "copies"),
        "look-up": ("Look-ups take", "look-ups"),
    }
)


@dataclass(frozen=True)
class Verdict:
    """What a chart shows, in two lines.

    Parameters
    ----------
    headline
        One sentence. Empty if there is nothing to say.
    detail
        One or two sentences that explain the headline, or an empty text.
    is_alert
        Whether the headline names a mistake in the data or in the choice of the chip.
    rule
        The name of the rule that applies, such as ``"idle"``.

    Examples
    --------
    >>> import roofwidget as rw
    >>> chip = rw.Chip("My chip", {"bf16": "989 TFLOP/s"}, {"HBM": "3.35 TB/s"})
    >>> print(rw.RooflineModel([chip], [("matmul", 1.4e11, 1.0e8, 4e-4)]).verdict())
    matmul runs at 35 % of its roof: up to 258 µs of 400 µs could be saved.
    It is compute-bound: at its roof 142 µs would remain.
    """

    __module__ = "roofwidget"

    headline: str = ""
    detail: str = ""
    is_alert: bool = False
    rule: str = "nothing"

    def __str__(self) -> str:
        return "\n".join(filter(None, (self.headline, self.detail)))


@dataclass(frozen=True)
class Badged:
    """A kernel to fix first: what it is, what it could save, and what bounds it. Times are in seconds."""

    name: str
    family: str | None
    saved: float
    measured: float
    bound: float
    regime: str
    bound_by: str
    precision: str


@dataclass(frozen=True)
class Changes:
    """Two runs: their whole times, and for faster and slower kernels their number and the change of their time."""

    before: float
    now: float
    matched: int
    faster: tuple[int, float]
    slower: tuple[int, float]
    same: int
    other: int
    only_before: int
    only_now: int


@dataclass(frozen=True)
class Fusion:
    """A partition of a graph beside the best that is known. Times are in seconds."""

    seconds: float
    best_seconds: float
    best_kernels: int
    is_exact: bool
    kernels: int
    memory_bound: int
    is_unfused: bool
    bytes: float
    least_bytes: float


@dataclass(frozen=True)
class Facts:
    """The numbers that a verdict needs. Times are in seconds, without time that is counted in another row.

    Parameters
    ----------
    kernels, launches
        Rows that are not idle time, and their launches.
    time, idle
        The time of all rows, and the idle time among it.
    families
        The time by family of categories, longest first.
    chip, device
        The name of the chip that judges, empty without a roof; and GPU, TPU, CPU or chip.
    known, above, above_count
        The time of kernels with a known bound, the time of those above their roof, and their number.
    judged, saved, savers
        The time of kernels at or below their roof; what they save at their roof; how many of them save time.
    saved_by_family
        The same saving by family, largest first.
    first
        The kernels that save most, at most `MAX_FIRST`.
    regimes
        For kernels without times: their number by regime.
    least
        For kernels without times: their time at their roofs, and whether all of it is known.
    what_if
        Whether the roof has what-if rates.
    changes, fusion
        Two runs; the partition of a graph.
    communication
        How communication overlaps with other kernels.
    activity
        How long the device was busy and idle. None if it is unknown, or if the rows are only some of the profile.
    waited
        How long ranks waited at most in calls of the same message: longer than in the fastest call.
    messages_at_link
        The least time of all messages over the link, with and without its what-if rate; None without one.
    link
        The what-if rate of the link, bytes/s.
    """

    kernels: int = 0
    launches: float = 0.0
    time: float = 0.0
    idle: float = 0.0
    families: _Parts = ()
    chip: str = ""
    device: str = "chip"
    known: float = 0.0
    above: float = 0.0
    above_count: int = 0
    judged: float = 0.0
    saved: float = 0.0
    savers: int = 0
    saved_by_family: _Parts = ()
    first: tuple[Badged, ...] = ()
    name: str = ""
    regimes: Mapping[str, int] = field(default_factory=dict)
    least: tuple[float, bool] = (0.0, True)
    what_if: bool = False
    changes: Changes | None = None
    fusion: Fusion | None = None
    communication: Communication | None = None
    activity: Activity | None = None
    waited: float = 0.0
    messages_at_link: tuple[float, float] | None = None
    link: float = 0.0

    @property
    def kernel_time(self) -> float:
        """The time of all kernels, added."""
        return self.time - self.idle

    @property
    def busy(self) -> float:
        """The time in which at least one kernel runs."""
        return self.kernel_time if self.activity is None else self.activity.busy

    @property
    def span(self) -> float:
        """The time in which kernels run or the device is idle."""
        return self.time if self.activity is None else self.activity.span

    @property
    def remaining(self) -> tuple[float, float]:
        """The least and the most time in which kernels would run at every roof.

        Where kernels overlap, a kernel that saves time may have run beside others, so that the device stays busy.
        """
        return max(self.busy - self.saved, 0.0), min(self.busy, self.kernel_time - self.saved)

    def of_busy(self, saved: float) -> float:
        """Return at most how much of the busy time is saved if durations are shorter by `saved`."""
        return min(saved, self.busy)

    @property
    def first_saved(self) -> float:
        """What the kernels to fix first save together."""
        return math.fsum(one.saved for one in self.first)

    @property
    def reached(self) -> float:
        """The share of their roofs that kernels at or below their roof reach together."""
        return 1 - self.saved / self.judged if self.judged else 1.0


def verdict_of(facts: Facts) -> Verdict:
    """Return the verdict of the first rule that applies; an empty one if none does."""
    for rule in RULES:
        if rule.applies(facts):
            detail = rule.detail(facts)
            if facts.what_if and rule.is_of_roof and detail:
                detail = f"With your what-if: {detail[0].lower()}{detail[1:]}"
            return Verdict(rule.headline(facts), detail, rule.is_alert, rule.name)
    return Verdict()


# -- facts -------------------------------------------------------------------------------------------------------


def facts_of(
    kernels: Kernels,
    bound: Bound | None,
    *,
    runs: RunComparison | None = None,
    fusion: Fusion | None = None,
    what_if: bool = False,
    links: tuple[float, float] | None = None,
    topology: str = "switch",
) -> Facts:
    """Return the facts of kernels under the roof of `bound`; without a roof it is None.

    Parameters
    ----------
    kernels
        The kernels of `bound`.
    bound
        Their bounds, or None without a roof.
    runs
        An earlier run beside these kernels.
    fusion
        The partition of the graph, if the kernels are those of a graph.
    what_if
        Whether the roof has what-if rates.
    links
        The rate of the link to other chips, and that of the data sheet, bytes/s; None if it is unknown.
    topology
        How the ranks are connected, one of `roofwidget.network.TOPOLOGIES`.
    """
    own = np.nan_to_num(kernels.self_time)
    idle = _is_idle(kernels)
    ran = kernels.chip or (None if bound is None else bound.chip)
    of_row = np.full(len(kernels), None) if kernels.series else kernels.codes("category").map(family_of).texts()
    rows = np.flatnonzero(~idle)
    facts = Facts(
        kernels=len(rows),
        launches=float(kernels.count[rows][own[rows] > 0].sum()),
        time=math.fsum(own),
        idle=math.fsum(own[idle]),
        families=_summed(of_row[rows].tolist(), own[rows].tolist()),
        device=_device(ran),
        name=_name(kernels, int(rows[0])) if len(rows) == 1 else "",
        what_if=what_if,
        changes=None if runs is None else _changes(runs),
        fusion=fusion,
        communication=kernels.communication,
        activity=_activity(kernels, math.fsum(own[~idle]), math.fsum(own[idle])),
        **_message_facts(kernels, links, topology),
    )
    return facts if bound is None else _judged(facts, kernels, bound, of_row.tolist(), own)


def _activity(kernels: Kernels, added: float, idle: float) -> Activity | None:
    """Return the activity of the profile if it is that of these rows."""
    found = kernels.activity
    if found is None:
        return None
    parts = ((found.added, added), (found.idle, idle))
    return found if all(math.isclose(*pair, rel_tol=_SAME_TIME) for pair in parts) else None


def _message_facts(kernels: Kernels, links: tuple[float, float] | None, topology: str) -> dict[str, Any]:
    if not has_messages(kernels):
        return {}
    told = messages(kernels)
    found: dict[str, Any] = {"waited": float(np.nansum(told.slower_than_fastest))}
    if links is None or links[0] == links[1]:
        return found
    sent = float(np.nansum(sent_factor(told.kind.tolist(), told.ranks, topology) * told.size * told.count))
    if not sent > 0:
        return found
    return {**found, "messages_at_link": (sent / links[0], sent / links[1]), "link": links[0]}


def family_of(category: str | None) -> str | None:
    """Return the family of a category: copies of any kind are one, and so are collectives."""
    if not category:
        return None
    if _COPY.search(category):
        return "copy"
    return "collective" if is_collective_category(category) else category


@unwarned
def _judged(facts: Facts, kernels: Kernels, bound: Bound, families: Sequence[str | None], own: Floats) -> Facts:
    known = ~np.isnan(bound.headroom)
    above = known & (bound.time > MIN_ABOVE * bound.measured)
    judged = known & ~bound.above_roof
    saved = np.where(judged, np.maximum(np.nan_to_num(bound.headroom), 0), 0)
    savers = np.flatnonzero(saved > 0)
    first = savers[np.lexsort((savers, -saved[savers]))][:MAX_FIRST]
    regimes, counts = np.unique(bound.regime[~_is_idle(kernels)].astype(str), return_counts=True)
    least = bound.time[~_is_idle(kernels)]
    return replace(
        facts,
        chip=_chip_name(bound.chip),
        known=math.fsum(own[known]),
        above=math.fsum(own[above]),
        above_count=int(above.sum()),
        judged=math.fsum(own[judged]),
        saved=math.fsum(saved),
        savers=len(savers),
        saved_by_family=_summed([families[row] for row in savers.tolist()], saved[savers].tolist()),
        first=tuple(_badged(kernels, bound, row, families[row], float(saved[row])) for row in first.tolist()),
        regimes={str(name): int(count) for name, count in zip(regimes, counts, strict=True)},
        least=(math.fsum(np.nan_to_num(least)), not np.isnan(least).any()),
    )


def _badged(kernels: Kernels, bound: Bound, row: int, family: str | None, saved: float) -> Badged:
    return Badged(
        _name(kernels, row),
        family,
        saved,
        float(bound.measured[row]),
        float(bound.time[row]),
        str(bound.regime[row]),
        str(bound.bound_by[row]),
        kernels.precision[row] or bound.precision,
    )


def _is_idle(kernels: Kernels) -> Bools:
    return kernels.codes("category").where(is_idle)


def _summed(names: Sequence[str | None], amounts: Sequence[float]) -> _Parts:
    """Return the sum of the amounts by name, largest first; equal sums in the order of the names."""
    parts: dict[str | None, list[float]] = {}
    for name, amount in zip(names, amounts, strict=True):
        parts.setdefault(name, []).append(amount)
    sums = [(name, math.fsum(part)) for name, part in parts.items()]
    return tuple(sorted(sums, key=lambda one: -one[1]))


def _name(kernels: Kernels, row: int) -> str:
    return one_line(kernels.short_names[row] or f"kernel {row + 1}")


def _chip_name(chip: Chip) -> str:
    """Return the short name of a chip, as the page shows it.

    It has no vendor, no last part in brackets, and no memory size such as "80GB" at its end that the id lacks.
    """
    name = chip.name.removeprefix(f"{chip.vendor} ") if chip.vendor else chip.name
    bare = re.sub(r"\s*\([^)]*\)$", "", name) or chip.name
    size = re.search(r" (\d+GB)$", bare)
    return bare[: size.start()] if size and not chip.id.endswith(size[1].lower()) else bare


def _device(chip: Chip | None) -> str:
    """Return the word for a chip. Profilers often name a chip without its kind, such as "TPU v6 Lite"."""
    words = [] if chip is None else [chip.kind.upper(), *chip.name.upper().split()]
    return next((word for word in words if word in _DEVICES), "chip")


def _changes(runs: RunComparison) -> Changes | None:
    before, now = (float(np.nansum(run.self_time)) for run in (runs.run_before, runs.run_after))
    if not (before > 0 and now > 0):
        return None
    is_kernel = ~_is_idle(runs.matched_before)
    verdict, change = runs.verdict.astype(str), np.nan_to_num(runs.change)

    def of(word: str) -> tuple[int, float]:
        rows = is_kernel & (verdict == word)
        return int(rows.sum()), math.fsum(change[rows])

    faster, slower, same = of("faster"), of("slower"), of("same")[0]
    matched = int(is_kernel.sum())
    return Changes(
        before,
        now,
        matched,
        faster,
        slower,
        same,
        matched - faster[0] - slower[0] - same,
        int((~_is_idle(runs.only_before)).sum()),
        int((~_is_idle(runs.only_after)).sum()),
    )


# -- rules and words -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rule:
    name: str
    applies: Callable[[Facts], bool]
    headline: Callable[[Facts], str]
    detail: Callable[[Facts], str]
    is_alert: bool = False
    is_of_roof: bool = True


def _seconds(time: float) -> str:
    return format_quantity(time, "s")


def _sentences(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def _first_could_save(facts: Facts) -> str:
    if not facts.first:
        return ""
    who = "one" if len(facts.first) == 1 else str(len(facts.first))
    return f"the {who} to fix first could save up to {_seconds(facts.of_busy(facts.first_saved))}"


def _remains(facts: Facts) -> str:
    """Return the time that remains at every roof; its bounds if they differ."""
    return " to ".join(dict.fromkeys(map(_seconds, facts.remaining)))


def _would_remain(facts: Facts) -> str:
    return f"at every roof {_remains(facts)} would remain"


def _savings(facts: Facts) -> str:
    first = _first_could_save(facts)
    return _capital(f"{first}; {_would_remain(facts)}.") if first else ""


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _runs_headline(facts: Facts) -> str:
    runs = _known(facts.changes)
    before, now = _seconds(runs.before), _seconds(runs.now)
    if abs(runs.now - runs.before) <= _NO_CHANGE * runs.before:
        return f"No change: {before} before and now."
    times = f"{before} before, {now} now."
    if runs.before >= _MIN_FACTOR * runs.now:
        return f"{format_factor(runs.before / runs.now)}× as fast: {times}"
    if runs.now >= _MIN_FACTOR * runs.before:
        return f"{format_factor(runs.now / runs.before)}× the time: {times}"
    change = format_percent(abs(runs.now - runs.before) / runs.before)
    return f"{change} {'less' if runs.now < runs.before else 'more'} time: {times}"


def _runs_detail(facts: Facts) -> str:
    runs = _known(facts.changes)
    parts = [
        (count, f"{word} ({'+' if change > 0 else '−'}{_seconds(abs(change))})")
        for word, (count, change) in (("faster", runs.faster), ("slower", runs.slower))
    ]
    parts += [(runs.same, "the same within 1 %"), (runs.other, "not comparable")]
    told = [(count, words) for count, words in parts if count]
    first = [f"{counted(count, 'kernel')} {words}" for count, words in told[:1]]
    listed = ", ".join([*first, *(f"{count:,} {words}" for count, words in told[1:])])
    only = [f"{runs.only_before:,} only before"] * (runs.only_before > 0)
    only += [f"{runs.only_now:,} only now"] * (runs.only_now > 0)
    both = "The kernel is" if runs.matched == 1 else f"All {runs.matched:,} kernels are"
    return f"{listed}. {', '.join(only) if only else f'{both} in both runs'}."


def _no_match_detail(facts: Facts) -> str:
    runs = _known(facts.changes)
    return (
        f"Only totals can be compared: {_seconds(runs.before)} before, {_seconds(runs.now)} now. If the runs come from "
        "different tools, their names differ."
    )


def _above_detail(facts: Facts) -> str:
    kernels = f"{facts.above_count:,} of {counted(facts.kernels, 'kernel')}"
    verb = "needs" if facts.above_count == 1 else "need"
    return (
        f"{kernels} {verb} less time than the roof of {facts.chip} allows. Check the chip, the precision, the FLOPs "
        "and the bytes."
    )


def _idle_detail(facts: Facts) -> str:
    if not facts.kernel_time > 0:
        return f"No kernel ran in {_seconds(facts.time)}."
    run = f"Kernels run {_seconds(facts.busy)} of {_seconds(facts.span)}"
    activity = facts.activity
    if activity is not None and activity.gap >= _MIN_GAP_SHARE * facts.idle:
        gap, start = _seconds(activity.gap), _seconds(activity.gap_start)
        how = f". One gap of {gap}, which begins {start} after the first kernel starts, is most of the idle time"
    elif facts.launches == 1:
        how = ", in one launch"
    else:
        how = f", in {facts.launches:,.0f} launches of {_seconds(facts.kernel_time / facts.launches)}"
    return _sentences(f"{run}{how}.", _savings(facts))


def _is_exposed(facts: Facts) -> bool:
    told = facts.communication
    return told is not None and told.exposed_share >= _MIN_EXPOSED_SHARE


def _exposed_headline(facts: Facts) -> str:
    share = _known(facts.communication).exposed_share
    return f"Exposed communication takes {format_percent(share)} of the busy time."


def _exposed_detail(facts: Facts) -> str:
    if facts.messages_at_link is not None:
        now, before = map(_seconds, facts.messages_at_link)
        link = format_quantity(facts.link, "B/s")
        return f"With your what-if: over a link of {link} the same messages need at least {now} instead of {before}."
    told = _known(facts.communication)
    share = format_percent(told.hidden_share) if told.hidden else "none"
    hidden = f"{share} of it hidden behind other kernels."
    waited = f"In all calls of the same messages together, ranks waited at most {_seconds(facts.waited)}."
    return _sentences(f"It runs for {_seconds(told.time)}, {hidden}", waited if facts.waited > 0 else "")


def _top(facts: Facts) -> tuple[str | None, float]:
    return facts.families[0] if facts.families else (None, 0.0)


def _has_main_category(facts: Facts) -> bool:
    # If the kernels are all of one category, its share says nothing.
    has_others = len(facts.families) > 1 or facts.idle >= _MIN_IDLE_SHARE_NAMED * facts.span
    family, time = _top(facts)
    is_main = family is not None and 0 < _MIN_CATEGORY_SHARE * facts.time <= time
    return is_main and has_others and facts.kernels > 1


def _category_headline(facts: Facts) -> str:
    family, time = _top(facts)
    subject = _CATEGORIES.get(str(family), (f"Kernels of “{one_line(str(family))}” take",))[0]
    idle = facts.idle / facts.span
    rest = f"; the {facts.device} is idle for {format_percent(idle)}" if idle >= _MIN_IDLE_SHARE_NAMED else ""
    return f"{subject} {format_percent(time / facts.time)} of the time{rest}."


def _category_detail(facts: Facts) -> str:
    family = _top(facts)[0]
    first = _first_could_save(facts)
    saving = _capital(f"{first} of {_seconds(facts.span)}.") if first else ""
    rows = [one for one in facts.first if one.family == family]
    if not rows:
        return saving
    reached = format_percent(math.fsum(one.bound for one in rows) / math.fsum(one.measured for one in rows))
    noun = _CATEGORIES.get(str(family), ("", "of them"))[1]
    who = "The slowest of them" if len(rows) == 1 else f"The {len(rows)} slowest {noun}"
    s = "s" if len(rows) == 1 else ""
    limits = {(one.regime, one.precision if one.regime == "compute" else one.bound_by) for one in rows}
    regime, limit = next(iter(limits)) if len(limits) == 1 else ("", "")
    if regime == "memory":
        does = f"move{s} bytes at {reached} of the {limit} bandwidth"
    elif regime == "compute":
        does = f"run{s} at {reached} of the {limit} peak"
    else:
        does = f"run{s} at {reached} of {'its roof' if s else 'their roofs'}"
    return _sentences(f"{who} {does}.", saving)


def _unjudged_headline(facts: Facts) -> str:
    if not facts.known:
        return "No kernel has a known roof." if facts.kernels > 1 else "The kernel has no known roof."
    return f"Only {format_percent(facts.known / facts.kernel_time)} of kernel time has a known roof."


def _unjudged_detail(facts: Facts) -> str:
    first = _first_could_save(facts)
    return _sentences(
        "Without FLOPs and bytes nothing can be said of the other kernels."
        if facts.known
        else "Give FLOPs and bytes to see what could be saved.",
        first and _capital(f"{first}."),
    )


def _one_headline(facts: Facts) -> str:
    saved = f"up to {_seconds(facts.of_busy(facts.saved))} of {_seconds(facts.span)} could be saved"
    return f"{facts.name} runs at {format_percent(facts.reached)} of its roof: {saved}."


def _one_detail(facts: Facts) -> str:
    (only,) = facts.first
    return f"It is {only.regime}-bound: at its roof {_remains(facts)} would remain."


def _near_headline(facts: Facts) -> str:
    reached = format_percent(facts.reached)
    who = (
        f"{facts.name} runs at {reached} of its roof"
        if facts.kernels == 1
        else f"Kernels run at {reached} of their roofs"
    )
    return f"{who}: little is left to save on {facts.chip}."


def _spread_headline(facts: Facts) -> str:
    reached = format_percent(facts.reached)
    return (
        f"Up to {_seconds(facts.of_busy(facts.saved))} of {_seconds(facts.span)} could be saved: kernels run at "
        f"{reached} of their roofs."
    )


def _spread_detail(facts: Facts) -> str:
    if facts.savers <= MAX_FIRST:
        return _most_in(_summed([one.name for one in facts.first], [one.saved for one in facts.first]), facts.saved)
    first = f"No kernel stands out: {_first_could_save(facts)}."
    return _sentences(first, _most_in(facts.saved_by_family, facts.saved))


def _most_in(parts: Sequence[tuple[str | None, float]], whole: float) -> str:
    """Return the sentence on the parts with the largest savings: at most two, the second only with a real share."""
    named = [(name, part / whole) for name, part in parts if name][:2]
    told = named[:1] + [one for one in named[1:] if one[1] >= _MIN_SHARE_NAMED]
    shares = [f"{one_line(name)} ({format_percent(share)})" for name, share in told]
    return f"Most could be saved in {' and '.join(shares)}." if shares else ""


def _first_headline(facts: Facts) -> str:
    return (
        f"{len(facts.first)} of {facts.kernels:,} kernels hold most of what could be saved: up to "
        f"{_seconds(facts.of_busy(facts.first_saved))} of {_seconds(facts.span)}."
    )


def _graph_headline(facts: Facts) -> str:
    fusion = _known(facts.fusion)
    if not fusion.best_seconds < fusion.seconds * (1 - _SAME_SPEED):
        return f"This partition is the best{'' if fusion.is_exact else ' found'} for {facts.chip}."
    into = "one kernel" if fusion.best_kernels == 1 else f"{fusion.best_kernels:,} kernels"
    return f"Fused into {into}, this graph runs {format_factor(fusion.seconds / fusion.best_seconds)}× as fast."


def _graph_detail(facts: Facts) -> str:
    fusion = _known(facts.fusion)
    count, bound = fusion.kernels, fusion.memory_bound
    some = {count: f"all {count:,}", 0: f"none of the {count:,}"}.get(bound, f"{bound:,} of {count:,}")
    who = "the kernel is" if count == bound == 1 else f"{some} kernels are"
    moved, least = format_quantity(fusion.bytes, "B"), format_quantity(fusion.least_bytes, "B")
    they = "it moves" if count == 1 else "they move"
    how = "Unfused" if fusion.is_unfused else "As it is"
    return f"{how}, {who} memory-bound: {they} {moved} where the graph needs at least {least}."


_REGIMES: Final = ("memory", "compute", "network", "overhead")


def _unmeasured_headline(facts: Facts) -> str:
    if not facts.chip:
        return f"{counted(facts.kernels, 'kernel')} without times."
    told = [(facts.regimes.get(regime, 0), f"{regime}-bound") for regime in _REGIMES]
    told.append((facts.regimes.get("unknown", 0), "of unknown bound"))
    parts = [(count, words) for count, words in told if count]
    if facts.kernels == 1:
        return f"{facts.name} is {parts[0][1]} on {facts.chip}."
    counts = ", ".join(f"{count:,} {words}" for count, words in parts)
    what = f": {counts}" if len(parts) > 1 else f", all {parts[0][1]}"
    return f"{facts.kernels:,} kernels{what} on {facts.chip}."


def _unmeasured_detail(facts: Facts) -> str:
    if not facts.chip:
        return "Show a chip to see what bounds them." if facts.kernels > 1 else "Show a chip to see what bounds it."
    seconds, is_whole = facts.least
    if not seconds:
        return ""
    where = "At its roof it needs" if facts.kernels == 1 else "At their roofs they need"
    return f"{where} {'' if is_whole else 'at least '}{_seconds(seconds)}."


def _known(fact: T | None) -> T:
    """Return a fact that the condition of the rule has found."""
    if fact is None:
        raise ValueError("the rule needs a fact that is missing")
    return fact


RULES: Final = (
    _Rule(
        "no match",
        lambda facts: facts.changes is not None and facts.changes.matched == 0,
        lambda _facts: "No kernel of the two runs has the same name.",
        _no_match_detail,
        is_alert=True,
        is_of_roof=False,
    ),
    _Rule("runs", lambda facts: facts.changes is not None, _runs_headline, _runs_detail, is_of_roof=False),
    _Rule(
        "above",
        lambda facts: facts.above > facts.kernel_time / 2 > 0,
        lambda _facts: "Most kernels are above the roof: the chip or the counts are wrong.",
        _above_detail,
        is_alert=True,
    ),
    _Rule(
        "idle",
        lambda facts: facts.time > 0 and facts.idle >= _MIN_IDLE_SHARE * facts.span,
        lambda facts: f"The {facts.device} is idle {format_percent(facts.idle / facts.span)} of the time.",
        _idle_detail,
    ),
    _Rule("exposed", _is_exposed, _exposed_headline, _exposed_detail, is_of_roof=False),
    _Rule(
        "category",
        _has_main_category,
        _category_headline,
        _category_detail,
    ),
    _Rule(
        "no roof",
        lambda facts: facts.time > 0 and not facts.chip,
        lambda facts: f"{counted(facts.kernels, 'kernel')} in {_seconds(facts.span)}.",
        lambda _facts: "Show the chip that they ran on to see what could be saved.",
        is_of_roof=False,
    ),
    _Rule(
        "unjudged",
        lambda facts: facts.known < _MIN_KNOWN_SHARE * facts.kernel_time,
        _unjudged_headline,
        _unjudged_detail,
    ),
    _Rule("one", lambda facts: facts.time > 0 and facts.kernels == 1 == facts.savers, _one_headline, _one_detail),
    _Rule(
        "near",
        lambda facts: facts.saved < _MAX_SHARE_NEAR * facts.kernel_time,
        _near_headline,
        _savings,
    ),
    _Rule(
        "first",
        lambda facts: (
            facts.time > 0 and facts.savers > MAX_FIRST and facts.first_saved >= _MIN_FIRST_SHARE * facts.saved
        ),
        _first_headline,
        lambda facts: _capital(f"{_would_remain(facts)}."),
    ),
    _Rule("spread", lambda facts: facts.time > 0, _spread_headline, _spread_detail),
    _Rule("graph", lambda facts: facts.fusion is not None and facts.chip != "", _graph_headline, _graph_detail),
    _Rule("unmeasured", lambda facts: facts.kernels > 0, _unmeasured_headline, _unmeasured_detail),
)
