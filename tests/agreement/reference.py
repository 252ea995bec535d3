"""Everything that a page shows of a model, as Python says it: numbers of `bound` and its kin, written by `units`.

The sentences are put together here once more, from the same words as in js/src/words/en.ts. Of the arithmetic, only
sums and quotients of columns that no function of the package returns are computed here.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from traitlets import TraitError

import roofwidget as rw
from roofwidget.chips.figures import is_off_chip
from roofwidget.kernels.columns import sum_of_known
from roofwidget.kernels.filters import share_of_time
from roofwidget.state.what_if import common_precision
from roofwidget.units import (
    format_change,
    format_factor,
    format_intensity,
    format_percent,
    format_quantity,
    format_significant,
)
from roofwidget.workloads.expressions import evaluate, substitute

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from roofwidget.analysis.result import Bound
    from roofwidget.kernels.columns import Floats

NAN: Final = math.nan
FAR: Final = 1000
ABOVE: Final = 1 + 1e-9
__all__ = ["Said", "format_change"]


def _over(one: Any, other: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.asarray(one, dtype=float) / np.asarray(other, dtype=float)


class Said:
    """What Python says of one model."""

    def __init__(self, model: rw.RooflineModel) -> None:
        self.model = model
        self.kernels = model.shown_kernels
        self.n = len(self.kernels)
        found = {chip: self._bound_on(chip) for chip in model.shown}
        self.bounds: dict[str, Bound] = {chip: bound for chip, bound in found.items() if bound is not None}
        self.focus = self.bounds.get(model.focus_chip)
        self.judging = next(iter(self.bounds.values()), None) if self.focus is None else self.focus
        self.total_time = float(np.nansum(self.kernels.self_time))
        self.flops = sum_of_known(list(self.kernels.flops_by_precision.values()), self.n)
        # A time of 0 counts as not measured.
        self.time = np.where(self.kernels.time > 0, self.kernels.time, np.nan)
        self.intensity, self.rate = self.kernels.intensity, self.kernels.rate
        self.by_ratios = ~np.isnan(np.fmax(self.intensity, self.rate))
        # Zero FLOPs per byte at a rate: the rate says nothing of the time.
        self.is_measured = ~np.isnan(self.time) | (~np.isnan(self.rate) & (self.intensity != 0))

    def _bound_on(self, chip: str) -> Bound | None:
        try:
            return self.model.bound(chip)
        except (rw.MissingFigureError, TraitError):
            return None

    # -- chips and roofs -----------------------------------------------------------------------------------------------

    def precision_of(self, bound: Bound) -> str:
        """Return the precision whose peak is the roof: the one that all kernels share, where the chip has it."""
        common = common_precision(self.kernels) if self.model.precision == "auto" else ""
        return common if common in bound.chip.peak_flops else bound.precision

    def peak(self, bound: Bound) -> float:
        return bound.chip.peak(self.precision_of(bound))

    def level(self, bound: Bound) -> str:
        return bound.chip.main_memory if bound.memory == "all" else bound.memory

    def bandwidth(self, bound: Bound) -> float:
        return bound.chip.bandwidth(self.level(bound))

    def levels(self, bound: Bound) -> list[str]:
        """Return the levels of a roof: one, or with all levels those of known bandwidth."""
        if bound.memory != "all":
            return [bound.memory]
        return [name for name, memory in bound.chip.memories.items() if memory.bandwidth is not None]

    def bytes_at(self, chip: rw.Chip, level: str) -> Floats:
        if level == chip.main_memory:
            return self.kernels.bytes_on(chip)
        by_level = {name.casefold(): column for name, column in self.kernels.bytes_by_level.items()}
        return by_level.get(level.casefold(), np.full(self.n, NAN))

    def ran_on(self, bound: Bound) -> rw.Chip | None:
        """Return the chip that the kernels ran on, if it is another one that has a roof at this memory."""
        own = self.kernels.chip
        if own is None or own.id == bound.chip.id:
            return None
        memory = bound.memory if bound.memory == "all" or self.level(bound) != bound.chip.main_memory else "main"
        try:
            rw.bound([], own, memory=memory)
        except rw.MissingFigureError:
            return None
        return own

    def roof_sentence(self, bound: Bound) -> str:
        sheet = self.model.chip(bound.chip.id)
        precision, level = self.precision_of(bound), self.level(bound)
        unit = unit_of(precision)
        peak = _with_factor(self.peak(bound), sheet.peak(precision), f"{unit}/s")
        exposed = f" · {format_percent(bound.exposed_comm)} exposed" if bound.exposed_comm else ""
        if len(self.levels(bound)) > 1:
            told = "one roof and ridge point per level; the slowest level binds"
            return f"{bound.chip.name} · {peak} at {precision} · {told}{exposed}"
        bandwidth = _with_factor(self.bandwidth(bound), sheet.bandwidth(level), "B/s")
        ridge = format_intensity(float(rw.ridge_point(self.peak(bound), self.bandwidth(bound))), 4, unit)
        sides = "kernels left of it are memory-bound, right of it compute-bound"
        first = f"{bound.chip.name} · {peak} at {precision}, {bandwidth} from {level} · ridge point {ridge}"
        return f"{first}: {sides}{exposed}"

    def ceilings(self) -> list[list[Any]]:
        bound = self.focus
        if bound is None:
            return []
        chosen = None if self.model.ceilings is None else {name.casefold() for name in self.model.ceilings}
        precision = self.precision_of(bound)
        found: list[list[Any]] = []
        for ceiling in bound.chip.ceilings:
            fits = (
                ceiling.precision in {None, precision}
                if ceiling.memory is None
                else bound.memory == "all" or ceiling.memory == self.level(bound)
            )
            if fits:
                unit = f"{unit_of(ceiling.precision or precision)}/s" if ceiling.memory is None else "B/s"
                is_on = chosen is None or ceiling.key.casefold() in chosen
                found.append([ceiling.key, format_quantity(ceiling.rate, unit, 4), is_on])
        for name, rate in bound.chip.peak_flops.items():
            if name != precision and rate < self.peak(bound):
                shown = format_quantity(rate, f"{unit_of(name)}/s", 4)
                found.append([name, shown, chosen is not None and name in chosen])
        return found

    def unknown_levels(self) -> list[str]:
        bound = self.focus
        if bound is None or bound.memory != "all":
            return []
        return [name for name, memory in bound.chip.memories.items() if memory.bandwidth is None]

    def levels_drawn(self) -> list[str]:
        """Return the levels with a roof: the main one, those that bind a drawn kernel, or with `all_levels` all."""
        bound = self.focus
        if bound is None:
            return []
        binding = {str(bound.bound_by[row]) for row in self.drawn_rows()}
        every = self.model.all_levels or not self.drawn_rows()
        return [name for name in self.levels(bound) if every or name == self.level(bound) or name in binding]

    def drawn_rows(self) -> list[int]:
        """Return the rows that pass the filters and are points of the chart: what is known of them has a place."""
        bound = self.focus
        if bound is None:
            return []
        rows = []
        for row in self.model.filtered_rows.tolist():
            if self.by_ratios[row]:
                if self.level(bound) == bound.chip.main_memory and self._has_place_by_ratios(bound, row):
                    rows.append(row)
                continue
            moved = [float(self.bytes_at(bound.chip, level)[row]) for level in self.levels(bound)]
            time = self.time[row]
            if math.isnan(time):
                # On the roof, which neither the link nor launches lower.
                time = bound.body_time[row]
            if any(_has_place(float(self.flops[row]), amount, float(time)) for amount in moved):
                rows.append(row)
        return rows

    def _has_place_by_ratios(self, bound: Bound, row: int) -> bool:
        if math.isnan(self.intensity[row]):
            return False
        return bool(self.rate[row] > 0 if self.is_measured[row] else not math.isnan(bound.attainable[row]))

    def ai_at(self, chip: rw.Chip | None, level: str, moved: Floats) -> Floats:
        """Return the intensities at a level, of which `moved` are the bytes."""
        stated = self.intensity if level == ("main" if chip is None else chip.main_memory) else np.full(self.n, NAN)
        found: Floats = np.where(self.by_ratios, stated, _over(self.flops, moved))
        return found

    def rate_at(self, chip: rw.Chip | None, level: str, moved: Floats) -> Floats:
        """Return the bytes per second at a level, of which `moved` are the bytes."""
        ai = self.ai_at(chip, level, moved)
        found: Floats = np.where(self.by_ratios, _over(self.rate, np.where(ai > 0, ai, NAN)), _over(moved, self.time))
        return found

    # -- the table -----------------------------------------------------------------------------------------------------

    def levels_of_table(self) -> list[str]:
        chip = None if self.judging is None else self.judging.chip
        names = [] if chip is None else list(chip.memories)
        main, others = (names[0].casefold() if names else ""), {name.casefold() for name in names[1:]}
        is_stated = not np.isnan(self.intensity).all()
        found = []
        for name in names:
            moved = NAN if chip is None else np.where(self.by_ratios, NAN, self.bytes_at(chip, name))
            if not np.isnan(moved).all() or (is_stated and name == names[0]):
                found.append(name)
        for key, column in {"main": np.full(self.n, NAN), **self.kernels.bytes_by_level}.items():
            is_same = key.casefold() in {main, *others} or (chip is not None and is_off_chip(key))
            is_known = not np.isnan(np.where(self.by_ratios, NAN, column)).all() or (is_stated and key == "main")
            if not is_same and is_known:
                found.append(key)
        return found

    def columns(self) -> dict[str, tuple[str, list[Any]]]:
        """Return the kind and the values of each column of the table."""
        kernels, bound = self.kernels, self.judging
        own, n = kernels.self_time, self.n
        order = np.argsort(-own, kind="stable")
        rank, summed, before = np.full(n, NAN), np.full(n, NAN), 0.0
        for place, row in enumerate(order.tolist()):
            if not math.isnan(own[row]):
                before += own[row]
                rank[row], summed[row] = place + 1, before
        columns: dict[str, tuple[str, Any]] = {
            "rank": ("plain", rank),
            "name": ("text", [self.short(row) for row in range(n)]),
            "category": ("text", list(kernels.category)),
            "precision": ("text", list(kernels.precision)),
            "count": ("plain", kernels.count),
            "time": ("s", kernels.time),
            "self_time": ("s", own),
            "share": ("share", _over(own, self.total_time)),
            "cumulative_share": ("share", _over(summed, self.total_time)),
            "flops": ("FLOP", self.flops),
            "achieved": ("FLOP/s", np.where(np.isnan(self.flops), kernels.rate, _over(self.flops, self.time))),
        }
        by_precision = kernels.flops_by_precision
        if len(by_precision) > 1:
            columns |= {f"flops:{key}": ("FLOP", column) for key, column in by_precision.items() if key}
        for level in self.levels_of_table():
            known = {} if bound is None else bound.chip.memories
            moved = (
                self.bytes_at(bound.chip, level)
                if bound is not None and level in known
                else kernels.bytes_by_level.get(level, np.full(n, NAN))
            )
            chip = None if bound is None else bound.chip
            rate = self.rate_at(chip, level, moved)
            columns |= {f"bytes:{level}": ("B", moved), f"ai:{level}": ("FLOP/B", self.ai_at(chip, level, moved))}
            columns[f"rate:{level}"] = ("B/s", rate)
            if bound is not None and level in known and known[level].bandwidth is not None:
                columns[f"bandwidth_utilization:{level}"] = ("share", rate / bound.chip.bandwidth(level))
        if bound is not None:
            columns |= {
                "attainable": ("attainable", bound.attainable),
                "bound_by": ("text", list(bound.bound_by)),
                "bound_time": ("s", bound.time),
                "utilization": ("share", bound.utilization),
                "roof_fraction": ("share", bound.roof_fraction),
                "peak_fraction": ("share", bound.peak_fraction),
                "headroom": ("s", bound.headroom),
            }
        for name, column in kernels.extra_columns.items():
            numbers = isinstance(column, np.ndarray)
            columns[name] = ("plain", column) if numbers else ("text", list(kernels.extra[name]))
        return {key: (kind, list(values)) for key, (kind, values) in columns.items()}

    def cells(self) -> dict[str, list[str]]:
        return {
            key: [self.cell(_of_integers(kind, self.unit_in(key, row)), value, row) for row, value in enumerate(values)]
            for key, (kind, values) in self.columns().items()
        }

    def cell(self, kind: str, value: Any, row: int) -> str:
        if kind == "text":
            return value or "–"
        if math.isnan(value):
            return "–"
        return {
            "share": lambda: "< 0.01 %" if 0 < value < 1e-4 else format_percent(value),
            "FLOP/B": lambda: format_intensity(value),
            "OP/B": lambda: format_intensity(value, operation="OP"),
            "plain": lambda: str(int(value)) if float(value).is_integer() else format_significant(value, 4),
            "attainable": lambda: self.attainable(self.judging, row),
        }.get(kind, lambda: format_quantity(value, kind))()

    def unit(self, row: int, asked: str = "") -> str:
        """Return FLOP, or OP if operations of integers are among those of a kernel."""
        own = self.kernels.precision[row] or asked
        keys = [key for key, column in self.kernels.flops_by_precision.items() if column[row] > 0] or [""]
        return max((unit_of(own if key in {"", *_CLASSES} else key) for key in keys), key=("FLOP", "OP").index)

    def unit_on(self, bound: Bound, row: int) -> str:
        return self.unit(row, self.precision_of(bound))

    def unit_in(self, key: str, row: int) -> str:
        """Return the unit of the operations in a cell of the table."""
        head, _, part = key.partition(":")
        if head == "flops" and part and part not in _CLASSES:
            return unit_of(part)
        if head == "flops" and part:
            return "FLOP"
        return self.unit(row) if self.judging is None else self.unit_on(self.judging, row)

    def attainable(self, bound: Any, row: int) -> str:
        """Write the attainable rate: as a peak, with four digits, where compute needs as long as memory."""
        is_peak = bound.compute_time[row] >= self.slowest(bound, row)[1]
        digits = 4 if is_peak or (self.by_ratios[row] and bound.regime[row] == "compute") else 3
        return format_quantity(float(bound.attainable[row]), f"{self.unit_on(bound, row)}/s", digits)

    def usual(self) -> list[str]:
        bound = self.judging
        timed = self.total_time > 0
        ratios = [column for column in (self.kernels.intensity, self.kernels.rate) if not np.isnan(column).all()]
        measured = timed or not np.isnan(self.kernels.rate).all()
        counted = not ratios or not np.isnan(self.flops).all()
        levels = ["main"] if bound is None else self.levels(bound)
        keys = [
            *(["rank"] if timed else []),
            "name",
            *(["self_time", "share", "cumulative_share"] if timed else []),
            *(["utilization"] if measured else ["bound_time"] if counted else []),
            *(["headroom"] if timed else []),
            "bound_by",
            *(["achieved"] if measured else []),
            "attainable",
            *(["peak_fraction"] if measured else []),
            *(f"ai:{level}" for level in levels),
            *(["flops", *(f"bytes:{level}" for level in levels)] if counted else []),
            *(["category"] if any(self.kernels.category) else []),
            *(
                name
                for name in self.kernels.extra
                if re.search(r"(?<![a-z])(source|program)(?![a-z])", name, re.IGNORECASE)
            ),
        ]
        known = self.columns()
        return [key for key in keys if key in known]

    # -- a kernel ------------------------------------------------------------------------------------------------------

    def name(self, row: int) -> str:
        return str(self.kernels.names[row] or "").strip() or f"(unnamed {row})"

    def short(self, row: int) -> str:
        return str(self.kernels.short_names[row] or "").strip() or self.name(row)

    def tooltip(self, bound: Bound, row: int) -> list[list[str]]:
        kernels, time, unit = self.kernels, float(self.time[row]), self.unit_on(bound, row)
        measured = not math.isnan(time) or not math.isnan(bound.achieved[row])
        regime = str(bound.regime[row])
        rows: list[tuple[str, str | None]] = [("category", kernels.category[row]), ("on", bound.chip.name)]
        elsewhere = self.ran_on(bound)
        rows.append(("measured on", elsewhere.name if elsewhere is not None and self.is_measured[row] else None))
        ai = self.intensities(bound, row)
        if len(ai) == 1:
            rows.append(("AI", format_intensity(next(iter(ai.values())), operation=unit)))
        else:
            found = [(level, one) for level, one in ai.items() if not math.isnan(one)]
            rows += [(f"AI at {level}", format_intensity(one, operation=unit)) for level, one in found]
        level = self.level(bound)
        of_roof = float(self.ai_at(bound.chip, level, self.bytes_at(bound.chip, level))[row])
        if of_roof != 0:
            rows.append(("achieved", format_quantity(float(bound.achieved[row]), f"{unit}/s") if measured else None))
            rows.append(("attainable", self.attainable(bound, row)))
            if regime in {"network", "overhead"}:
                rate = float(_over(self.flops[row], bound.time[row]))
                rows.append(("with network and launches", format_quantity(rate, f"{unit}/s")))
        rows.append(("of roof", format_percent(float(bound.utilization[row])) if measured else None))
        rows.append(("of peak", format_percent(float(bound.peak_fraction[row])) if measured else None))
        at_most = None if measured or of_roof == 0 else format_percent(float(bound.attainable_fraction[row]))
        rows.append(("of peak, at most", at_most))
        rows.append(("bound by", str(bound.bound_by[row])))
        rows.append(("because", self.why_unknown(bound, row) if regime == "unknown" else None))
        if regime == "memory" and bound.compute_time[row] > 0 and len(ai) == 1:
            ratio = float(bound.memory_time[self.level(bound)][row] / bound.compute_time[row])
        elif regime == "memory" and self.by_ratios[row] and of_roof > 0 and len(ai) == 1:
            ratio = float(bound.peak[row]) / (of_roof * self.bandwidth(bound))
        else:
            ratio = NAN
        if not math.isnan(ratio):
            least = format_quantity(_up(ratio * self.bandwidth(bound), 4), "B/s", 4)
            rows.append(("compute-bound from", f"{least} (×{format_significant(_up(ratio, 3))})"))
        rows.append(("compute-bound on", self.compute_bound_on(row)))
        own = float(kernels.self_time[row])
        part = float(_over(own, self.total_time))
        share = "" if math.isnan(part) else f" · {format_percent(part)} of all"
        if measured:
            rows.append(("time", format_quantity(time, "s") + (share if own == time else "")))
            is_shorter = own != time and not math.isnan(own)
            rows.append(("self time", format_quantity(own, "s") + share if is_shorter else None))
            for level, memory in bound.chip.memories.items():
                rate = float(self.rate_at(bound.chip, level, self.bytes_at(bound.chip, level))[row])
                # A level that no byte crosses has no row.
                if memory.bandwidth is not None and rate > 0:
                    of = format_percent(rate / bound.chip.bandwidth(level))
                    rows.append((f"{level} rate", f"{format_quantity(rate, 'B/s')} · {of}"))
        rows.append(("least time", format_quantity(float(bound.time[row]), "s")))
        count = int(kernels.count[row])
        rows.append(("launches", str(count) if count > 1 else None))
        return [[label, value] for label, value in rows if value is not None]

    def intensities(self, bound: Bound, row: int) -> dict[str, float]:
        """Return the intensity of a kernel at each level of a roof."""
        return {
            level: float(self.ai_at(bound.chip, level, self.bytes_at(bound.chip, level))[row])
            for level in self.levels(bound)
        }

    def compute_bound_on(self, row: int) -> str | None:
        regimes = {chip: str(bound.regime[row]) for chip, bound in self.bounds.items()}
        names = short_names([self.bounds[chip].chip for chip in regimes])
        found = [names[chip] for chip, regime in regimes.items() if regime == "compute"]
        is_split = 0 < len(found) < len(regimes) and "unknown" not in regimes.values()
        return ", ".join(found) if is_split else None

    def lacking(self, bound: Bound, row: int) -> str | None:
        """Return the first precision of a kernel's FLOPs for which the chip has no peak."""
        own = self.kernels.precision[row]
        for key, column in self.kernels.flops_by_precision.items():
            if math.isnan(column[row]) and not self.by_ratios[row]:
                continue
            is_class = key in {"", *_CLASSES}
            needed = own if is_class or self.by_ratios[row] else key
            if needed and needed not in bound.chip.peak_flops:
                return str(needed)
        return None

    def sentence(self, bound: Bound, row: int) -> str:
        parts = [f"{self.short(row)} on {bound.chip.name}"]
        elsewhere = self.ran_on(bound) if self.is_measured[row] else None
        if elsewhere is not None:
            parts.append(f"measured on {elsewhere.name}")
        lacking = self.lacking(bound, row)
        if lacking is not None:
            return " · ".join([*parts, f"{bound.chip.name} has no peak for its {lacking} FLOPs"])
        regime = str(bound.regime[row])
        if regime == "unknown":
            why = self.why_unknown(bound, row) or "its FLOPs or bytes are unknown, so it is not on the chart"
            return " · ".join([*parts, why])
        if bound.exposed_comm:
            parts.append(f"{format_percent(bound.exposed_comm)} exposed")
        parts.append(self.zero_flops(bound, row) if self.flops[row] == 0 else self.formula(bound, row))
        time = format_quantity(float(bound.time[row]), "s")
        parts.append(
            {
                "memory": f"memory-bound ({bound.bound_by[row]})",
                "compute": "compute-bound",
                "network": f"network-bound: {time} over its link",
                "overhead": f"launch-bound: {time} of launch overhead",
            }[regime]
        )
        return " · ".join([*parts, *self.yardsticks(bound, row, ran_elsewhere=elsewhere is not None)])

    def why_unknown(self, bound: Bound, row: int) -> str | None:
        """Return why bytes do not count that are known: there is no link for them, or they are at other levels."""
        if math.isnan(bound.network_time[row]):
            return f"{bound.chip.name} has no known link to other chips"
        levels = None if bound.bytes_elsewhere is None else bound.bytes_elsewhere[row]
        if not levels:
            return None
        memories = bound.chip.memories
        own = [level for level in levels.split(", ") if level in memories]
        if any(memories[level].bandwidth is not None for level in own):
            return f"its bytes are at {levels}, not at {self.level(bound)}"
        if own:
            return f"its bytes are at {levels}, and {bound.chip.name} has no bandwidth for {own[0]}"
        return f"its bytes are at {levels}, which {bound.chip.name} lacks; it has {', '.join(memories)}"

    def slowest(self, bound: Bound, row: int) -> tuple[str, float]:
        times = [
            (level, float(bound.memory_time[level][row])) for level in self.levels(bound) if level in bound.memory_time
        ]
        known = [(level, time) for level, time in times if not math.isnan(time)]
        return max(known, key=lambda one: one[1], default=(self.levels(bound)[0], NAN))

    def zero_flops(self, bound: Bound, row: int) -> str:
        level, seconds = self.slowest(bound, row)
        moved = format_quantity(float(self.bytes_at(bound.chip, level)[row]), "B")
        rate = format_quantity(bound.chip.bandwidth(level), "B/s", 4)
        return f"0 {self.unit_on(bound, row)}, {moved}: at least {format_quantity(seconds, 's')} at {rate}"

    def formula(self, bound: Bound, row: int) -> str:
        unit = self.unit_on(bound, row)
        peak = format_quantity(float(bound.peak[row]), f"{unit}/s", 4)
        slopes, levels = [], self.levels(bound)
        for level, ai in self.intensities(bound, row).items():
            if not math.isnan(ai):
                rate = format_quantity(bound.chip.bandwidth(level), "B/s", 4)
                slope = f"{format_intensity(ai, operation=unit)} × {rate}"
                slopes.append(f"{level} {slope}" if len(levels) > 1 else slope)
        least = f"min({', '.join([peak, *slopes])})"
        if bound.exposed_comm:
            least = f"{format_percent(1 - bound.exposed_comm)} of {least}"
        return f"{least} = {self.attainable(bound, row)} attainable"

    def yardsticks(self, bound: Bound, row: int, *, ran_elsewhere: bool) -> list[str]:
        utilization = float(bound.utilization[row])
        if math.isnan(utilization):
            most = float(bound.attainable_fraction[row])
            return [f"at most {format_percent(most)} of peak"] if most > 0 else []
        shares = [
            f"{format_percent(float(bound.peak_fraction[row]))} of peak",
            f"{format_percent(utilization)} of roof",
        ]
        factor = _possible(utilization)
        is_unlinked = bound.unlinked is not None and bool(bound.unlinked[row])
        if ran_elsewhere or (utilization <= ABOVE and (is_unlinked or factor == "1")):
            return shares
        last = "above its roof: check its counts, its time and the peaks"
        return [*shares, last if utilization > ABOVE else f"{factor}× possible"]

    def gap(self, row: int) -> str:
        utilization = float(self.focus.utilization[row]) if self.focus is not None else NAN
        if utilization > ABOVE:
            return "above its roof"
        share, factor = f"{format_percent(utilization)} of roof", _possible(utilization)
        if factor == "1":
            return share
        is_far = _over(1, utilization) > FAR
        return f"far below its roof · {factor}×" if is_far else f"{share} · up to {factor}×"

    # -- the profile ---------------------------------------------------------------------------------------------------

    def counted(self) -> list[str]:
        rows = self.model.filtered_rows
        return [f"{len(rows):,} of {self.n:,} kernels", format_percent(share_of_time(self.kernels, rows))]

    def categories(self) -> list[list[Any]]:
        seconds: dict[str, list[float]] = {}
        for name, own in zip(self.kernels.category, self.kernels.self_time, strict=True):
            seconds.setdefault(name, []).append(own)
        sums = {name: float(np.nansum(parts)) for name, parts in seconds.items()}
        order = sorted(sums, key=lambda name: -sums[name])
        return [
            [name or "", len(seconds[name]), format_percent(float(_over(sums[name], self.total_time)))]
            for name in order
        ]

    def bound_by(self) -> list[str]:
        return ["unknown"] * self.n if self.focus is None else [str(word) for word in self.focus.bound_by]

    def judge(self) -> Bound | None:
        """Return the bounds on the chip that the kernels ran on, or else on the focus chip."""
        return None if self.focus is None else self.model._bound_where_measured(self.kernels)

    def ranking(self) -> tuple[list[list[Any]], str]:
        judge = self.judge()
        if judge is None:
            return [], ""
        gains = judge.headroom
        rows = [row for row in self.model.filtered_rows.tolist() if gains[row] > 0]
        best = sorted(rows, key=lambda row: -gains[row])[:5]
        shown = [[row, format_percent(gains[row] / self.total_time), format_quantity(gains[row], "s")] for row in best]
        return shown, format_percent(float(sum(gains[best])) / self.total_time) if best else ""

    def moved(self) -> list[list[Any]]:
        if self.focus is None or not self.model.moves:
            return []
        moved = self.model.moved_kernels
        return [
            [
                row,
                format_quantity(float(moved.time[row]), "s"),
                format_quantity(float(moved.self_time[row]), "s"),
                [[level, format_quantity(float(column[row]), "B")] for level, column in moved.bytes_by_level.items()],
            ]
            for row in self.model.moves
        ]

    def projected(self) -> list[Any]:
        """Return the projected times on the focus chip, if the kernels name the chip that they ran on."""
        if self.focus is None or self.kernels.chip is None:
            return []
        try:
            found = self.model.projection()
        except rw.MissingFigureError:
            return []
        shares = [_over(part, found.before) for part in (found.far, found.above)]
        return [
            *(format_quantity(time, "s") for time in (found.before, found.time, found.not_scaled)),
            *(format_percent(float(share)) for share in shares),
            format_factor(float(_over(found.before, found.time))),
            [format_quantity(float(time), "s") for time in found.by_kernel],
        ]

    # -- the graph -----------------------------------------------------------------------------------------------------

    def graph(self) -> dict[str, Any]:
        partition = self.model.partition
        if partition is None:
            return {}
        graph, dims = partition.graph, self.model.dims
        unfused = rw.Partition.unfused(graph)
        least = float(evaluate(partition.compulsory_bytes, self._sizes(graph)))
        return {
            "tally": self._tally(partition),
            "unfused": self._tally(unfused),
            "fused": self._fused(),
            "compulsory": [format_quantity(least, "B"), format_factor(partition.excess(dims))],
            "ops": [self._op(unfused, index) for index in range(len(graph.ops))],
        }

    def _fused(self) -> str:
        """Return the time of the partition on the focus chip, at its main memory, if it is known."""
        if self.focus is None:
            return ""
        auto = self.model.precision == "auto"
        table = self.kernels if auto else self.kernels.replace(precision=None)
        options: Any = {"exposed_comm": self.model.exposed_comm, "launch_overhead": self.model.launch_overhead}
        try:
            found = rw.bound(table, self.focus.chip, precision=self.model.precision, **options)
        except rw.MissingFigureError:
            return ""
        return format_quantity(found.total_time, "s")

    def _sizes(self, graph: rw.Graph) -> Mapping[str, int]:
        return {**_symbols(graph), **graph.environment(self.model.dims)}

    def _tally(self, partition: rw.Partition) -> list[Any]:
        table = partition.kernels(self.model.dims)
        flops, moved = float(table.flops.sum()), float(table.bytes.sum())
        amounts = [format_quantity(flops, "FLOP"), format_quantity(moved, "B")]
        return [len(partition), *amounts, format_intensity(float(_over(flops, moved)))]

    def _op(self, unfused: rw.Partition, index: int) -> list[Any]:
        graph = unfused.graph
        op, sizes = graph.ops[index], self._sizes(graph)
        symbols = _symbols(graph)

        def line(count: Any, unit: str) -> list[str]:
            return [str(substitute(count, symbols)), format_quantity(float(evaluate(count, sizes)), unit)]

        moved = unfused.bytes(index)
        unit = unit_of(unfused.kernels(self.model.dims).precision[index] or "")
        counts = [line(count, unit) for count in op.flops.values()] + [line(moved, "B")]
        terms = [] if len(op.flops) == len(op.terms) == 1 else [line(count, unit) for _, count in op.terms]
        flops, amount = sum(evaluate(count, sizes) for count in op.flops.values()), evaluate(moved, sizes)
        both = f"{format_quantity(float(flops), unit)} · {format_quantity(float(amount), 'B')}"
        ratio = "" if flops == amount == 0 else format_intensity(float(_over(flops, amount)), operation=unit)
        return [both, ratio, counts + terms]


def _symbols(graph: rw.Graph) -> dict[str, int]:
    dtypes = {f"@{name}": bits for name, bits in rw.workloads.DTYPES.items()}
    return {**dtypes, **graph.convention.environment}


def unit_of(precision: str) -> str:
    """Return OP for a precision of integers, and FLOP for any other."""
    return "OP" if re.match(r"u?int\d", precision) else "FLOP"


def _of_integers(kind: str, unit: str) -> str:
    return kind.replace("FLOP", unit)


def _with_factor(rate: float, sheet: float, unit: str) -> str:
    told, ratio = format_quantity(rate, unit, 4), format_significant(rate / sheet)
    return told if ratio == "1" else f"{told} (×{ratio})"


def _has_place(flops: float, moved: float, time: float) -> bool:
    rate = float(_over(flops if flops > 0 else moved, time))
    return rate > 0 and math.isfinite(rate) and not math.isnan(flops + moved)


def _possible(utilization: float) -> str:
    factor = float(_over(1, utilization))
    return f"> {FAR}" if factor > FAR else format_factor(factor)


def _up(value: float, digits: int) -> float:
    """Return the smallest number of so many digits that is at least `value`."""
    power = math.floor(math.log10(value)) - digits + 1
    return float(f"{math.ceil(value / 10.0**power * (1 - 1e-12))}e{power}")


def short_names(chips: Sequence[rw.Chip]) -> dict[str, str]:
    """Return names without the vendor, and without brackets and a memory size at the end where they still differ."""
    plain = [chip.name.removeprefix(f"{chip.vendor} ") if chip.vendor else chip.name for chip in chips]
    bare = [re.sub(r"\s*\([^)]*\)$", "", name) or name for name in plain]
    for at, (chip, name) in enumerate(zip(chips, bare, strict=True)):
        start, _, size = name.rpartition(" ")
        if re.fullmatch(r"\d+GB", size) and not chip.id.endswith(size.lower()):
            bare[at] = start
    return {
        chip.id: short if bare.count(short) == 1 else whole
        for chip, short, whole in zip(chips, bare, plain, strict=True)
    }


_CLASSES: Final = ("matmul", "tensor", "vector", "transcendental")
