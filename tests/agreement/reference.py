"""Every number that a page shows of a model, as Python says it.

Only sums and quotients of columns that no function of the package returns are computed here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from traitlets import TraitError

import roofwidget as rw
from roofwidget.analysis.roofline import slowest_level
from roofwidget.chips.figures import is_off_chip
from roofwidget.kernels.columns import sum_of_known
from roofwidget.kernels.filters import share_of_time
from roofwidget.kernels.operations import operations_of
from roofwidget.state.what_if import common_precision
from roofwidget.support.precisions import operation
from roofwidget.units import format_quantity
from roofwidget.workloads.expressions import evaluate, substitute

if TYPE_CHECKING:
    from collections.abc import Mapping

    from roofwidget.analysis.result import Bound
    from roofwidget.kernels.columns import Floats

NAN: Final = math.nan


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

    def roof(self, bound: Bound) -> dict[str, Any]:
        sheet, elsewhere = self.model.chip(bound.chip.id), self.ran_on(bound)
        precision, level = self.precision_of(bound), self.level(bound)
        return {
            "precision": precision,
            "level": level,
            "levels": {name: bound.chip.bandwidth(name) for name in self.levels(bound)},
            "peak": self.peak(bound),
            "sheetPeak": sheet.peak(precision),
            "bandwidth": self.bandwidth(bound),
            "sheetBandwidth": sheet.bandwidth(level),
            "ridge": float(rw.ridge_point(self.peak(bound), self.bandwidth(bound))),
            "exposed": bound.exposed_comm,
            "ranOn": None if elsewhere is None else elsewhere.id,
        }

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
                unit = f"{operation(ceiling.precision or precision)}/s" if ceiling.memory is None else "B/s"
                found.append([ceiling.key, ceiling.rate, unit, chosen is None or ceiling.key.casefold() in chosen])
        for name, rate in bound.chip.peak_flops.items():
            if name != precision and rate < self.peak(bound):
                found.append([name, rate, f"{operation(name)}/s", chosen is not None and name in chosen])
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
        # Without a rate it is on the roof. Zero FLOPs per byte at a rate: the rate says nothing of the time.
        is_measured = not math.isnan(self.rate[row]) and self.intensity[row] != 0
        return bool(self.rate[row] > 0 if is_measured else not math.isnan(bound.attainable[row]))

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

    def columns(self) -> dict[str, list[Any]]:
        """Return the values of each column of the table."""
        kernels, bound = self.kernels, self.judging
        own, n = kernels.self_time, self.n
        order = np.argsort(-own, kind="stable")
        rank, summed, before = np.full(n, NAN), np.full(n, NAN), 0.0
        for place, row in enumerate(order.tolist()):
            if not math.isnan(own[row]):
                before += own[row]
                rank[row], summed[row] = place + 1, before
        columns: dict[str, Any] = {
            "rank": rank,
            "name": list(kernels.names),
            "category": list(kernels.category),
            "precision": list(kernels.precision),
            "count": kernels.count,
            "time": kernels.time,
            "self_time": own,
            "share": _over(own, self.total_time),
            "cumulative_share": _over(summed, self.total_time),
            "flops": self.flops,
            "achieved": np.where(np.isnan(self.flops), kernels.rate, _over(self.flops, self.time)),
        }
        by_precision = kernels.flops_by_precision
        if len(by_precision) > 1:
            columns |= {f"flops:{key}": column for key, column in by_precision.items() if key}
        for level in self.levels_of_table():
            known = {} if bound is None else bound.chip.memories
            moved = (
                self.bytes_at(bound.chip, level)
                if bound is not None and level in known
                else kernels.bytes_by_level.get(level, np.full(n, NAN))
            )
            chip = None if bound is None else bound.chip
            rate = self.rate_at(chip, level, moved)
            columns |= {f"bytes:{level}": moved, f"ai:{level}": self.ai_at(chip, level, moved)}
            columns[f"rate:{level}"] = rate
            if bound is not None and level in known and known[level].bandwidth is not None:
                columns[f"bandwidth_utilization:{level}"] = rate / bound.chip.bandwidth(level)
        if bound is not None:
            columns |= {
                "attainable": bound.attainable,
                "bound_by": bound.bound_by,
                "bound_time": bound.time,
                "utilization": bound.utilization,
                "roof_fraction": bound.roof_fraction,
                "peak_fraction": bound.peak_fraction,
                "headroom": bound.headroom,
            }
        for name, column in kernels.extra_columns.items():
            columns[name] = column if isinstance(column, np.ndarray) else kernels.extra[name]
        return {key: list(values) for key, values in columns.items()}

    # -- a kernel ------------------------------------------------------------------------------------------------------

    def judged(self, bound: Bound) -> list[dict[str, Any]]:
        """Return what a roof says of each kernel."""
        levels = self.levels(bound)
        intensities = {level: self.ai_at(bound.chip, level, self.bytes_at(bound.chip, level)) for level in levels}
        units = operations_of(self.kernels, self.precision_of(bound))
        columns: dict[str, Any] = {
            "computeTime": bound.compute_time,
            "memoryTime": slowest_level(bound.memory_time, bound.judged, self.n)[0],
            "networkTime": bound.network_time,
            "overheadTime": bound.overhead_time,
            "time": bound.time,
            "boundBy": bound.bound_by,
            "regime": bound.regime,
            "attainable": bound.attainable,
            "achieved": bound.achieved,
            "peakFraction": bound.peak_fraction,
            "attainableFraction": bound.attainable_fraction,
            "utilization": bound.utilization,
            "aboveRoof": bound.above_roof,
            "ai": self.ai_at(bound.chip, self.level(bound), self.bytes_at(bound.chip, self.level(bound))),
            "bytesElsewhere": [""] * self.n
            if bound.bytes_elsewhere is None
            else [levels or "" for levels in bound.bytes_elsewhere],
            "unit": [units.unit(row) for row in range(self.n)],
            **{f"ai:{level}": column for level, column in intensities.items()},
        }
        found = [{key: column[row] for key, column in columns.items()} for row in range(self.n)]
        for row, one in enumerate(found):
            if bound.regime[row] != "unknown":
                one["peak"] = bound.peak[row]
                one["isUnlinked"] = bound.unlinked is not None and bound.unlinked[row]
            if bound.regime[row] == "memory" and len(levels) == 1 and one[f"ai:{levels[0]}"] > 0:
                # From how many times the bandwidth on the kernel is compute-bound.
                one["memoryOverCompute"] = bound.peak[row] / (one[f"ai:{levels[0]}"] * bound.chip.bandwidth(levels[0]))
        return found

    # -- the profile ---------------------------------------------------------------------------------------------------

    def counted(self) -> list[float]:
        rows = self.model.filtered_rows
        return [len(rows), self.n, share_of_time(self.kernels, rows)]

    def categories(self) -> list[list[Any]]:
        seconds: dict[str, list[float]] = {}
        for name, own in zip(self.kernels.category, self.kernels.self_time, strict=True):
            seconds.setdefault(name, []).append(own)
        sums = {name: float(np.nansum(parts)) for name, parts in seconds.items()}
        order = sorted(sums, key=lambda name: -sums[name])
        return [[name or "", len(seconds[name]), float(_over(sums[name], self.total_time))] for name in order]

    def bound_by(self) -> list[str]:
        return ["unknown"] * self.n if self.focus is None else [str(word) for word in self.focus.bound_by]

    def judge(self) -> Bound | None:
        """Return the bounds on the chip that the kernels ran on, or else on the focus chip."""
        return None if self.focus is None else self.model._bound_where_measured(self.kernels)

    def ranking(self) -> list[list[Any]]:
        """Return the kernels to fix first, each with the share of all time that it could save."""
        judge = self.judge()
        if judge is None:
            return []
        gains = judge.headroom
        rows = [row for row in self.model.filtered_rows.tolist() if gains[row] > 0]
        best = sorted(rows, key=lambda row: -gains[row])[:5]
        return [[row, gains[row] / self.total_time] for row in best]

    def moved(self) -> list[list[Any]]:
        if self.focus is None or not self.model.moves:
            return []
        moved = self.model.moved_kernels
        return [
            [row, moved.time[row], moved.self_time[row], [[key, one[row]] for key, one in moved.bytes_by_level.items()]]
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
        return [found.before, found.time, found.not_scaled, found.far, found.above, list(found.by_kernel)]

    # -- the graph -----------------------------------------------------------------------------------------------------

    def graph(self) -> dict[str, Any]:
        partition = self.model.partition
        if partition is None:
            return {}
        graph = partition.graph
        unfused = rw.Partition.unfused(graph)
        least = float(evaluate(partition.compulsory_bytes, self._sizes(graph)))
        tally = self._tally(partition)
        return {
            "tally": tally,
            "unfused": self._tally(unfused),
            "fused": self._fused(),
            "compulsory": [least, tally[-1] / least],
            "ops": [self._op(unfused, index) for index in range(len(graph.ops))],
        }

    def _fused(self) -> float:
        """Return the time of the partition on the focus chip, at its main memory, if it is known."""
        if self.focus is None:
            return NAN
        auto = self.model.precision == "auto"
        table = self.kernels if auto else self.kernels.replace(precision=None)
        options: Any = {"exposed_comm": self.model.exposed_comm, "launch_overhead": self.model.launch_overhead}
        try:
            found = rw.bound(table, self.focus.chip, precision=self.model.precision, **options)
        except rw.MissingFigureError:
            return NAN
        return float(found.total_time)

    def _sizes(self, graph: rw.Graph) -> Mapping[str, int]:
        return {**_symbols(graph), **graph.environment(self.model.dims)}

    def _tally(self, partition: rw.Partition) -> list[Any]:
        chip = next((one for one in self.model.all_chips if one.id == self.model.focus_chip), None)
        table = partition.kernels(self.model.dims, chip=chip)
        return [len(partition), float(table.flops.sum()), float(table.bytes.sum())]

    def _op(self, unfused: rw.Partition, index: int) -> list[Any]:
        graph = unfused.graph
        op, sizes = graph.ops[index], self._sizes(graph)
        symbols = _symbols(graph)
        terms = [] if len(op.flops) == len(op.terms) == 1 else [count for _, count in op.terms]
        counts = [(count, "FLOP") for count in (*op.flops.values(), *terms)]
        counts.insert(len(op.flops), (unfused.bytes(index), "B"))
        return [
            [str(substitute(count, symbols)), format_quantity(float(evaluate(count, sizes)), unit)]
            for count, unit in counts
        ]


def _symbols(graph: rw.Graph) -> dict[str, int]:
    dtypes = {f"@{name}": bits for name, bits in rw.workloads.DTYPES.items()}
    return {**dtypes, **graph.convention.environment}


def _has_place(flops: float, moved: float, time: float) -> bool:
    rate = float(_over(flops if flops > 0 else moved, time))
    return rate > 0 and math.isfinite(rate) and not math.isnan(flops + moved)
