"""`RooflineModel`, the state of a roofline chart: chips, kernels, filters, view and what-ifs. No browser is needed.

The traits are declared in `roofwidget.state`, and `roofwidget.face` says how they follow the state.
"""

from __future__ import annotations

import inspect
import math
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from traitlets import TraitError

from roofwidget import wire, workloads
from roofwidget.analysis import bound_lenient, bound_report, compare_runs, kernel_moves, projection, verdict
from roofwidget.chips import FORMER_IDS, NETWORK, Chip, MissingFigureError, chip_of_saved_id
from roofwidget.chips import chip as look_up
from roofwidget.export import answers, embed, engine, fallback, graph_link, page, pictures, session, table
from roofwidget.export.engine import Picture, Style, Theme
from roofwidget.face import Faced, telling
from roofwidget.kernels import presets, series
from roofwidget.kernels.columns import Texts
from roofwidget.kernels.dataframes import is_frame
from roofwidget.kernels.filters import Filters
from roofwidget.kernels.kernel import Kernel
from roofwidget.kernels.metadata import Rows
from roofwidget.kernels.table import Kernels, as_kernels
from roofwidget.state import rules, snapshots
from roofwidget.state.cell import Make
from roofwidget.state.field import Refused
from roofwidget.state.lesson import hides_headline, hides_numbers, was_shown
from roofwidget.state.moves import bound_where_measured, check_can_move, checked_factor, row_called
from roofwidget.state.rates import NO_CHIPS_HINT, chip_called, roof_precision
from roofwidget.state.state import TRAITS, State, from_wire, session_value, values_of_step, wire_value
from roofwidget.state.what_if import (
    ALL_QUANTITIES,
    QUANTITIES,
    Quantity,
    one_level,
    parsed_rate,
    resolved,
    with_clock,
    with_known_figures,
    with_peaks,
    with_rates,
)
from roofwidget.state.workload import as_partition
from roofwidget.support import hosts, text_tables
from roofwidget.support.arguments import short_message, text_argument
from roofwidget.support.did_you_mean import did_you_mean, listed, unknown_keyword

if TYPE_CHECKING:
    from typing_extensions import Self

    from roofwidget.analysis.projection import Projection
    from roofwidget.analysis.result import Bound
    from roofwidget.analysis.snapshot import Snapshot
    from roofwidget.analysis.verdict import Fusion, Verdict
    from roofwidget.workloads import Graph
    from roofwidget.workloads.partition import Partition

_OF_LESSON: Final = ("story", "step", "answers")

# What a page may do is decided by the code that makes the model. Whoever edits a session could change it.
_OF_CODE_ALONE: Final = frozenset({"open_files"})

_SYNCED: Final = tuple(name for name, field in TRAITS.items() if field.sync)
"""The traits that describe a chart to a page."""
_IN_SESSION: Final = tuple(name for name, field in TRAITS.items() if field.in_session)


def _today() -> date:
    return datetime.now().astimezone().date()


class RooflineModel(Faced):
    """The state of a roofline chart, and all numbers that the front end shows. No browser is needed.

    Parameters
    ----------
    chips
        A `Preset`, or a list of `Chip` objects and names. The default depends on the kernels. If the kernels name the
        chip that they ran on, the default is this chip. If the kernels are a measured profile that names no chip, the
        default is no chips, with a warning. In all other cases the default is the chips of the preset
        ``"tpu-roofline-guide"``.
    kernels
        `Kernels`, a list of records, or a data frame. If `chips` is a preset, the default is the kernels of this
        preset. If `chips` is a list, the default is no kernels. Without `chips`, the default is the kernels of the
        preset ``"tpu-roofline-guide"``. If the model has a graph, the chart shows the kernels of the graph's partition
        instead.
    **traits
        Values for traits of this class, by name.

    Raises
    ------
    TypeError
        If a keyword is unknown. The message names the nearest trait.
    traitlets.TraitError
        If a trait does not accept its value. Then no model is created.

    Examples
    --------
    >>> model = RooflineModel()
    >>> model.focus_chip, model.peak_flops
    ('v7x-fp8', 4614000000000000.0)
    >>> model.peak_flops = "6 PFLOP/s"
    >>> model.what_if["v7x-fp8"]["peak_flops"]["fp8"]
    6000000000000000.0
    >>> model.reset()
    >>> model.peak_flops
    4614000000000000.0
    """

    __module__ = "roofwidget"

    def __init__(
        self,
        chips: Any = None,
        kernels: Any = None,
        *,
        _restore: Iterable[Make] = (),
        **traits: Any,
    ) -> None:
        self._check_keywords(traits, has_kernels=kernels is not None)
        if is_frame(kernels) or hasattr(kernels, "kernels"):
            kernels = as_kernels(kernels)
        if kernels is not None:
            traits["kernels"] = kernels
        elif chips is not None:
            traits["kernels"] = getattr(chips, "kernels", Kernels())
        elif "graph" in traits or "graphs" in traits:
            traits["kernels"] = Kernels()
        if chips is not None:
            traits["chips"] = chips
        elif isinstance(kernels, Kernels) and kernels.chip is not None:
            traits["chips"] = [kernels.chip]
        elif isinstance(kernels, Kernels) and kernels.source and kernels.totals()["time"] > 0:
            traits["chips"] = [*kernels.fitting_chips]
            names = listed(kernels.fitting_chips)
            shown = f"; shown on {names} by its memory and units" if names else ", so its kernels have no roof"
            warnings.warn(f"{kernels.source} names no chip{shown}; {NO_CHIPS_HINT}", UserWarning, stacklevel=2)
        own = {name: traits.pop(name) for name in [*traits] if name in TRAITS}
        self._begin([lambda _: self._with_defaults(own), _focus_with_peaks(own), *_restore], traits)

    def _with_defaults(self, own: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the given values, with those that a new model has if they are not given."""
        defaults: dict[str, Callable[[], Any]] = {
            "chips": lambda: presets.preset("tpu-roofline-guide").chips,
            "kernels": lambda: presets.preset("tpu-roofline-guide").kernels,
            "open_files": lambda: "folder" if hosts.is_notebook() else "uploads",
            **{name: partial(self.trait_defaults, name) for name in self._defaults},
        }
        return {**{name: make() for name, make in defaults.items() if name not in own}, **own}

    def _check_keywords(self, traits: Mapping[str, Any], *, has_kernels: bool) -> None:
        kind = type(self).__name__
        for word in traits:
            if not self.has_trait(word):
                raise unknown_keyword(kind, word, [*self.trait_names(), "chips", "kernels"])
        if "graph" in traits and "graphs" in traits:
            raise TypeError(f"{kind} takes graph, or graphs by phase, not both")
        if has_kernels and ("graph" in traits or "graphs" in traits):
            raise TypeError(f"{kind} takes kernels, or a graph whose kernels it shows, not both")

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and not hasattr(type(self), name):
            raise AttributeError(f"{type(self).__name__} has no trait '{name}'{did_you_mean(name, self.trait_names())}")
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        names = ", ".join(self.chip(key).name for key in self.shown) if self.all_chips else "no chips"
        convention = "" if self.partition is None else f" counted by {self.told_convention()}"
        return f"{type(self).__name__}({names}; {text_tables.counted(len(self.shown_kernels), 'kernel')}{convention})"

    # -- chips and rates ---------------------------------------------------------------------------------------

    @property
    def all_chips(self) -> tuple[Chip, ...]:
        """The chips of `chips`, followed by those of `added_chips` that are not among them."""
        return self._state.all_chips

    def chip(self, name: str | None = None) -> Chip:
        """Return the model's chip with the id, name or alias `name`. Without `name`, return the focus chip.

        Upper and lower case are equal: ``"V5P"`` and ``"v5p"`` mean the same chip.

        Raises
        ------
        traitlets.TraitError
            If the model has no such chip. The message names the nearest ids.
        """
        state = self._state
        with telling(self):
            return chip_called(state.focus_chip if name is None else name, state.all_chips)

    def resolved_chip(self, name: str | None = None) -> Chip:
        """Return a chip of the model (by default the focus chip). Its what-if rates replace its data-sheet rates.

        If all rates are those of another clock (`use_clock`), the memories on the chip have the latencies of as many
        cycles.
        """
        return resolved(self.what_if, self.chip(name))

    def set_what_if(
        self,
        chip: str | None = None,
        *,
        peak_flops: float | str | None = None,
        bandwidth: float | str | None = None,
        latency: float | str | None = None,
        precision: str | None = None,
        memory: str | None = None,
    ) -> None:
        """Set a what-if peak, bandwidth or latency of a chip. The figures of the data sheet do not change.

        Parameters
        ----------
        chip
            Id or name of the chip; the focus chip by default.
        peak_flops
            The what-if peak: a number in FLOP/s, or text such as ``"2 PFLOP/s"``.
        bandwidth
            The what-if bandwidth: a number in bytes/s, or text such as ``"8 TB/s"``.
        latency
            The what-if latency of a message over the link to other chips: a number in seconds, or text such as
            ``"18 us"``. Only the network view uses it.
        precision
            The precision of the peak; by default the trait `precision`.
        memory
            The memory level of the bandwidth; by default the trait `memory`. ``"network"`` is the link to other chips.

        Raises
        ------
        MissingFigureError
            If the chip has no such precision, memory or link.
        ValueError
            If a rate is zero, negative, NaN or infinite.
        traitlets.TraitError
            If there is no such chip.
        """
        target = self.chip(chip)
        changed: dict[tuple[Quantity, str], float] = {}
        if peak_flops is not None:
            key = roof_precision(self._state, target) if precision is None else target.precision(precision)
            changed["peak_flops", key] = parsed_rate(peak_flops, "peak_flops", f"peak_flops of {target.name}")
        if bandwidth is not None:
            is_link = memory is not None and text_argument(memory, "memory").casefold() == NETWORK
            key = NETWORK if is_link else target.memory(one_level(memory or self.memory))
            changed["bandwidth", key] = parsed_rate(bandwidth, "bandwidth", f"bandwidth of {target.name}")
        if latency is not None:
            changed["latency", NETWORK] = parsed_rate(latency, "latency", f"latency of {target.name}")
        self._apply(lambda state: {"what_if": with_rates(state.what_if, target, changed)}, waits=False)

    def use_peaks(self, peaks: str) -> None:
        """Judge by the measured rates of the chips (``"achievable"``), or by their data sheets (``"printed"``).

        Measured rates are set as what-if rates of every chip that has them, see `Chip.measured_rates`. Figures without
        a measured rate stay as they are.

        Raises
        ------
        ValueError
            If `peaks` is neither ``"achievable"`` nor ``"printed"``.
        """
        self._apply(lambda state: {"what_if": with_peaks(state.what_if, state.all_chips, peaks)}, waits=False)

    def use_clock(self, clock: float | str | None, chip: str | None = None) -> None:
        """Judge by the rates of a chip at another clock: one that was set, or the one under a power cap.

        The rates of `Chip.at_clock` are set as what-if rates: peaks, and bandwidths of memories on the chip, whose
        latencies follow. The main memory and links have clocks of their own and keep their rates.

        Parameters
        ----------
        clock
            Hz, or text such as ``"1.2 GHz"``. None is the clock of the chip's figures.
        chip
            Id or name of the chip; the focus chip by default.

        Raises
        ------
        MissingFigureError
            If the clock of the chip's figures is unknown.
        ValueError
            If the clock is not above zero.
        traitlets.TraitError
            If there is no such chip.
        """
        target = self.chip(chip)
        self._apply(lambda state: {"what_if": with_clock(state.what_if, target, clock)}, waits=False)

    def reset(self, chip: str | None = None) -> None:
        """Remove the what-if rates of one chip. Without `chip`, remove the what-if rates of all chips.

        Raises
        ------
        traitlets.TraitError
            If there is no such chip.
        """
        others = [] if chip is None else [entry for entry in self.all_chips if entry.id != self.chip(chip).id]
        self._apply(lambda state: {"what_if": with_known_figures(state.what_if, others)}, waits=False)

    def bound(self, chip: str | None = None) -> Bound:
        """Return the bounds of the shown kernels on a chip (by default the focus chip) with the chip's what-if rates.

        If a kernel needs a figure that the chip lacks, the bound of this kernel is unknown.

        Raises
        ------
        MissingFigureError
            If the chip lacks the selected `precision` or `memory`.
        traitlets.TraitError
            If there is no such chip.
        """
        return self._bound_of(self.shown_kernels, chip)

    def _bound_of(self, kernels: Kernels, chip: str | None = None) -> Bound:
        precision = roof_precision(self._state, self.chip(chip))
        return bound_lenient.bound_lenient(kernels, self.resolved_chip(chip), precision=precision, **self._conditions)

    @property
    def _conditions(self) -> dict[str, Any]:
        """What beside the precision changes the bounds on a chip."""
        return {name: getattr(self, name) for name in ("memory", "exposed_comm", "launch_overhead")}

    # -- kernels and graphs ------------------------------------------------------------------------------------

    def set_series(self, name: str, kernels: Any) -> None:
        """Show kernels as a series of their own: rows of the category `name`, after all other rows.

        Rows that already have this category are replaced, and all other rows stay. If the row numbers of the other rows
        stay the same, `selected` and `at_roof` stay too. A series that grows is set again with all of its kernels.

        Parameters
        ----------
        name
            The name of the series.
        kernels
            `Kernels`, a list of records, or a data frame.

        Raises
        ------
        ValueError
            If the model has a graph: then the kernels are those of its partition.

        Examples
        --------
        >>> from roofwidget import RooflineModel
        >>> model = RooflineModel(["v5p"], [("matmul", 4.3e9, 1.2e7, 1e-4)])
        >>> model.set_series("tiled", [("matmul", 4.3e9, 0.6e7, 8e-5)])
        >>> model.kernels.category.tolist()
        [None, 'tiled']
        """
        if self.partition is not None:
            raise ValueError(
                "this model shows the kernels of its graph, which have no series; use a model without a graph"
            )
        rows = as_kernels(kernels)

        def with_rows(state: State) -> Mapping[str, Any]:
            new = {"kernels": series.with_series(state.kernels, name, rows)}
            stays = {one: getattr(state, one) for one in ("selected", "hovered", "at_roof")}
            return {**new, **stays} if series.is_last(state.kernels, name) else new

        self._apply(with_rows)

    def show_profile(self, kernels: Any, *, compare: bool = False) -> None:
        """Show the kernels of a profile, as a person who opens a file in the page does.

        If the profile names the chip that it ran on, this chip becomes the focus chip, and it is put before `chips` if
        the model does not have it. A graph is removed. The kernels that were shown become `baseline`, or there is none.

        Parameters
        ----------
        kernels
            `Kernels`, a list of records, or a data frame.
        compare
            Whether to compare the kernels with those that are shown now.

        Examples
        --------
        >>> from roofwidget import Kernels, RooflineModel, chip
        >>> model = RooflineModel(["v5p"], [("matmul", 4.3e9, 1.2e7, 1e-4)])
        >>> model.show_profile(Kernels.from_records([("matmul", 4.3e9, 0.6e7, 8e-5)]), compare=True)
        >>> model.baseline.time.tolist(), model.kernels.time.tolist()
        ([0.0001], [8e-05])
        """
        found, before = as_kernels(kernels), self.shown_kernels
        with self.hold_trait_notifications():
            if self.graphs:
                self.graph = None
            ran_on = [look_up(one) for one in found.fitting_chips] if found.chip is None else [found.chip]
            if ran_on:
                known = {chip.id for chip in self.all_chips}
                self.chips = (*(chip for chip in ran_on if chip.id not in known), *self.chips)
                self.focus_chip = ran_on[0].id
            self.baseline = before if compare else None
            self.kernels = found

    @property
    def has_series(self) -> bool:
        """Whether the categories of the given kernels are series, such as runs; see `Kernels`."""
        return self._state.kernels.series

    @property
    def shown_kernels(self) -> Kernels:
        """The kernels that the chart shows.

        Without a graph, these are `kernels` with the FLOPs and bytes of `rules` and `typed_work`. With a graph, these
        are the kernels of `partition` at the sizes `dims`.
        """
        return self._state.shown_kernels

    def told_convention(self) -> str:
        """Return the name of the convention by which the graph is counted.

        In kernels, a multiply-add is always 2 FLOPs. If the convention has another number, the returned text has the
        name and a remark about this difference.
        """
        if self.partition is None:
            raise ValueError("there is no graph, so no convention is in force; set graph first")
        return self.partition.graph.convention.described

    def counted_graph(self) -> Graph | None:
        """Return the graph with its FLOPs and bytes counted by `convention` and `dtype`. None without a graph."""
        return self._state.counted_graph

    def partition_of(self, groups: Any) -> Partition | None:
        """Return a partition of `counted_graph`, or None if there is no graph.

        `groups` is a `Partition`, or one list of ops for each kernel. An op is given by its name or position.

        Raises
        ------
        LookupError, TypeError, ValueError
            If the groups are not a legal partition. If `groups` is a `Partition` that has spilled tensors, or whose ops
            are not the ops of the graph.
        """
        graph = self.counted_graph()
        return None if graph is None else as_partition(groups, graph)

    # -- rows, and what-ifs of single kernels ------------------------------------------------------------------

    @property
    def selected_kernels(self) -> Kernels:
        """The selected rows of `shown_kernels`."""
        return self.shown_kernels[list(self.selected)]

    @property
    def hovered_kernel(self) -> Kernel | None:
        """The kernel under the pointer, or None."""
        return None if self.hovered is None else self.shown_kernels[self.hovered]

    def move(self, kernel: int | str, *, bytes: float | None = None, time: float | None = None) -> None:  # noqa: A002
        """Set the what-if factors of a kernel: a factor for its bytes, for its time, or for each of the two.

        Parameters
        ----------
        kernel
            The kernel's row, or its name if no other kernel has that name.
        bytes
            The factor for the kernel's bytes at every memory level. For a fusion that halves the bytes, use 0.5. The
            time changes too, because the kernel still reaches the same share of its roof. A factor of 1 removes the
            what-if. None keeps the previous factor.
        time
            The factor for the kernel's time, after the change of the bytes. The time cannot become shorter than the
            roof allows. A factor of 1 removes the what-if. None keeps the previous factor.

        Raises
        ------
        TypeError
            If neither `bytes` nor `time` is given, or if a factor is not a number.
        ValueError
            If a factor is not above zero, if the kernel's bytes or time to change are unknown, or if the time would
            become shorter than the roof allows. In the last case, the message names the smallest allowed factor. An
            error changes nothing.
        traitlets.TraitError
            If there is no such kernel, if several kernels have this name, or if there is no chip.
        MissingFigureError
            If the focus chip lacks the selected `precision` or `memory`.

        Examples
        --------
        >>> from roofwidget import Chip, RooflineModel
        >>> chip = Chip("My chip", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
        >>> model = RooflineModel([chip], [("norm", 1e9, 62e6, 124e-6)])
        >>> model.move("norm", bytes=0.5)
        >>> float(model.moved_kernels.time[0]), float(model.shown_kernels.time[0])
        (6.2e-05, 0.000124)
        >>> model.move("norm", time=0.25)
        Traceback (most recent call last):
        ValueError: move: 'norm' would beat its roof with time=0.25; the least is 0.5
        """
        kernels = self.shown_kernels
        with telling(self):
            row = row_called(kernel, kernels)
        given = (("bytes", bytes), ("time", time))
        asked = {word: checked_factor(factor, f"move: {word}") for word, factor in given if factor is not None}
        if not asked:
            raise TypeError("move needs a factor: bytes=0.5 for half the bytes, or time=0.5 for half the time")
        check_can_move(kernels[[row]], asked, self._bound_where_measured)

        def moved(state: State) -> Mapping[str, Any]:
            return {"moves": {**state.moves, row: {**state.moves.get(row, {}), **asked}}}

        self._apply(moved, waits=False)

    def reset_moves(self, kernel: int | str | None = None) -> None:
        """Remove the what-if factors of one kernel. Without `kernel`, remove the factors of all kernels.

        `kernel` is the kernel's row, or its name if no other kernel has that name.

        Raises
        ------
        traitlets.TraitError
            If there is no such kernel, or if several kernels have this name.
        """
        with telling(self):
            gone = None if kernel is None else row_called(kernel, self.shown_kernels)

        def others(state: State) -> Mapping[str, Any]:
            return {"moves": {} if gone is None else {row: state.moves[row] for row in state.moves if row != gone}}

        self._apply(others, waits=False)

    @property
    def moved_kernels(self) -> Kernels:
        """`shown_kernels`, with the what-if factors in `moves` applied.

        The factor ``bytes`` multiplies a kernel's bytes at every memory level; the kernel keeps its utilization. The
        factor ``time`` multiplies the new time, which is never below the bound.

        The calculation uses the roof of the chip that the kernels ran on. If this chip is unknown, the calculation uses
        the roof of the focus chip with its what-if rates.
        """
        return kernel_moves.with_moves(self.shown_kernels, self.moves, self._bound_where_measured)

    def _bound_where_measured(self, kernels: Kernels) -> Bound:
        return bound_where_measured(kernels, self.resolved_chip(), precision=self.precision, **self._conditions)

    def _effect_of_rule(self, name: str, text: str) -> Mapping[str, Any]:
        """Return what a rule of work says of the kernels of a name, as a page receives it; see `rules.effect`."""
        if self.partition is not None:
            raise Refused("the work of the kernels of a graph is counted")

        def judged(kernels: Kernels) -> tuple[Bound | None, float]:
            try:
                bound = self._bound_where_measured(kernels) if self.focus_chip in self.shown else None
            except MissingFigureError:
                bound = None
            if bound is not None:
                return bound, verdict.facts_of(kernels, bound).known
            known = ~np.isnan(kernels.flops) & ~np.isnan(kernels.bytes)
            return None, float(np.nan_to_num(kernels.self_time)[known].sum())

        return rules.effect(self.kernels, self.rules, name, text, judged)

    # -- snapshots ---------------------------------------------------------------------------------------------

    def freeze(self, name: str = "") -> Snapshot:
        """Append a snapshot to `snapshots`, and return the snapshot.

        A snapshot contains the roof of the focus chip and the positions of the kernels that pass all filters.

        Parameters
        ----------
        name
            The name of the snapshot; by default "snapshot 1", "snapshot 2" and so on.

        Raises
        ------
        MissingFigureError
            If the focus chip lacks the selected `precision` or `memory`.
        traitlets.TraitError
            If there are no chips, or the name is too long.

        Examples
        --------
        >>> from roofwidget import Chip, RooflineModel
        >>> chip = Chip("My chip", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
        >>> model = RooflineModel([chip], [("gelu", 1e12, 1e11, 0.4)])
        >>> model.freeze("before").kernels
        (('gelu', 10.0, 2500000000000.0),)
        >>> model.bandwidth = "2 TB/s"
        >>> [(frozen.name, frozen.bandwidth) for frozen in model.snapshots]
        [('before', 1000000000000.0)]
        """
        with telling(self):
            snapshot = snapshots.frozen(name, self.snapshots, self.shown_kernels, self.filtered_rows, self.bound())
        self._apply(lambda state: {"snapshots": (*state.snapshots, snapshot)})
        return snapshot

    # -- filters and the table ---------------------------------------------------------------------------------

    @property
    def filtered(self) -> Kernels:
        """The kernels that pass all filters, in the order of `shown_kernels`."""
        return self.shown_kernels[self.filtered_rows]

    @property
    def filtered_rows(self) -> Rows:
        """The numbers of the rows of `shown_kernels` that pass all filters, in ascending order."""
        filters = Filters(
            *(self.search, self.categories, self.bounds, self.precisions, self.time_share, self.top, self.infeed),
            phases=self.phases,
        )
        return filters.rows(self.shown_kernels, self._bound_by)

    def projection(self, source: Chip | str | None = None, *, recast: str | None = None) -> Projection:
        """Return how long the kernels would take on the focus chip with its what-if rates; see `roofwidget.project`.

        `source` is the chip that the kernels ran on. If the kernels name their chip, `source` is not needed. The
        calculation assumes that the kernels in the rows `at_roof` reach their roof. If `recast` is a precision, such as
        "fp8", the calculation assumes that all FLOPs have this precision.
        """
        return projection.project(
            self.shown_kernels,
            self.resolved_chip(),
            source=source,
            precision=self.precision if recast is None else None,
            memory=self.memory,
            at_roof=self.at_roof,
            recast=recast,
        )

    def verdict(self) -> Verdict:
        """Return what the widget says above the chart: one headline, and a second line that explains it.

        It is about all of `shown_kernels`, whichever filters are set, and about the roof that is drawn, with its
        what-if rates. Kernels that ran on another chip, whose figures are known, are judged by that chip. With a
        `baseline` it compares the two runs. For a graph it searches the best partition, for at most half a second.

        Examples
        --------
        >>> chip = Chip("My chip", {"bf16": "989 TFLOP/s"}, {"HBM": "3.35 TB/s"})
        >>> RooflineModel([chip], [("matmul", 1.4e11, 1.0e8, 4e-4), ("wait", None, None, 6e-4)]).verdict().headline
        'Only 40 % of kernel time has a known roof.'
        """
        return self._verdict(search_seconds=0.5)

    def _links(self, resolved: Chip) -> tuple[float, float] | None:
        """Return the rate of the link of the focus chip, and that of its data sheet; None if it is unknown."""
        try:
            return resolved.link_bandwidth(), self.chip().link_bandwidth()
        except MissingFigureError:
            return None

    def _shown_verdict(self) -> Verdict:
        """Return the verdict that stands beside a picture: none while a question is asked, whose answer it could tell.

        A title is in the picture.
        """
        found = self._verdict()
        return verdict.Verdict() if hides_headline(self._question) or found.rule == "title" else found

    @property
    def _question(self) -> Mapping[str, Any] | None:
        """The record of the question of the step; None without one."""
        return None if self.story is None else self.story.steps[self.step].question

    def _verdict(self, search_seconds: float = 0.0) -> Verdict:
        """Return the verdict. The best partition of a graph is searched only if there is time for it."""
        kernels = self.shown_kernels
        try:
            bound = self._bound_where_measured(kernels) if self.focus_chip in self.shown else None
        except MissingFigureError:
            bound = None
        ran = None if bound is None else bound.chip
        is_measured = bool((np.nan_to_num(kernels.self_time) > 0).any())
        is_compared = self.baseline is not None and is_measured
        runs = compare_runs.compare_runs(self.baseline, self.kernels) if is_compared else None
        changed = self.what_if.get(ran.id, {}) if ran is not None and ran.id == self.focus_chip else {}
        what_if = any(quantity in changed for quantity in QUANTITIES)
        fusion = None if bound is None or not search_seconds else self._fusion(bound, search_seconds)
        links = None if ran is None or ran.id != self.focus_chip else self._links(ran)
        facts = verdict.facts_of(
            kernels, bound, runs=runs, fusion=fusion, what_if=what_if, links=links, topology=self.topology
        )
        # A title is shown in place of what needs no measurement.
        return (
            verdict.Verdict(self.title, rule="title") if self.title and not is_measured else verdict.verdict_of(facts)
        )

    def _best_partition(self, seconds: float) -> Partition | None:
        """Return the fastest partition of the graph on the focus chip that is found in these seconds."""
        if self.partition is None:
            return None
        options: dict[str, Any] = {"precision": self.precision, "launch_overhead": self.launch_overhead}
        options |= {"dims": self.dims, "seconds": seconds, "progress": False}
        return workloads.partition.Partition.best(self.partition.graph, self.resolved_chip(), **options)

    def _fusion(self, bound: Bound, seconds: float) -> Fusion | None:
        """Return the partition of the graph beside the best one that is found in these seconds."""
        now = self.partition
        if now is None or math.isnan(bound.total_time):
            return None
        chip, environment = self.resolved_chip(), now.graph.environment(self.dims)
        options: dict[str, Any] = {"precision": self.precision, "launch_overhead": self.launch_overhead}
        best = self._best_partition(seconds) or now
        return verdict.Fusion(
            seconds=now.time(chip, dims=self.dims, **options),
            best_seconds=best.time(chip, dims=self.dims, **options),
            best_kernels=len(best),
            is_exact=best.how == "optimal",
            kernels=len(now),
            memory_bound=int((bound.regime == "memory").sum()),
            is_unfused=all(len(group) == 1 for group in now.groups),
            bytes=float(workloads.expressions.evaluate(now.total_bytes(), environment)),
            least_bytes=float(workloads.expressions.evaluate(now.compulsory_bytes, environment)),
        )

    def _bound_by(self) -> Texts:
        """Return the resource that bounds each kernel on the focus chip.

        The resource is "unknown" if there is no chip, or if the chip lacks a figure that the bound needs.
        """
        try:
            return self.bound().bound_by
        except (MissingFigureError, TraitError):
            return np.full(len(self.shown_kernels), "unknown", dtype=object)

    # -- lessons -----------------------------------------------------------------------------------------------

    @property
    def questions(self) -> list[Mapping[str, Any]]:
        """The records of the questions of the story, in the order of its steps."""
        return [] if self.story is None else self.story.questions

    def answer(self, key: str) -> Any:
        """Return the latest answer to a question: a number, a text or groups of ops. None until there is one.

        Raises
        ------
        KeyError
            If the story has questions, and none with this key.
        """
        keys = [str(record["key"]) for record in self.questions]
        if keys and key not in keys and key not in self.answers:
            raise KeyError(f"there is no question '{key}'{did_you_mean(key, keys)}")
        given = [one for one in self.answers.get(key, ()) if not was_shown(one)]
        return given[-1] if given else None

    def export_answers(self) -> str:
        """Return all answers with their questions, as JSON text that `roofwidget.grade` reads from a file."""
        return answers.text(self.questions, self.answers)

    def restart_step(self) -> None:
        """Show the start of the step, whatever was changed since.

        Raises
        ------
        traitlets.TraitError
            If the step needs a chip, a kernel or a graph that the model no longer has.
        """
        step = self.step
        try:
            self._apply(values_of_step, waits=False)
        except TraitError as error:
            raise TraitError(f"step {step}: {error}; the model has changed, so make the story again") from None

    def wire_values(self, names: Iterable[str]) -> dict[str, Any]:
        """Return the values of some synced traits as a page receives them."""
        state = self._state
        return {name: wire_value(state, name) for name in names}

    def set_wire_values(self, values: Mapping[str, Any]) -> None:
        """Set traits to values as a page receives them."""
        self._apply(lambda _: {name: from_wire(name, value) for name, value in values.items()})

    def picture_with(
        self, values: Mapping[str, Any], *, width: int = engine.DEFAULT_WIDTH, height: int | None = None
    ) -> Picture:
        """Return a picture of the chart with some values as a page receives them. The model keeps its own."""
        return engine.draw(self._wire_state(**values), self.locale, width=width, height=height)

    def copy_without_browser(self) -> RooflineModel:
        """Return a model of the same state, whose changes change nothing here. It has no story."""
        found = session.parsed(self._to_session())
        plain = {name: value for name, value in found.traits.items() if name not in _OF_LESSON}
        return RooflineModel._from_session(replace(found, traits=plain))

    # -- pictures ----------------------------------------------------------------------------------------------

    def wire_state(self) -> dict[str, Any]:
        """Return the values of all synced traits as a page receives them. Bulk numbers are binary."""
        return self._wire_state()

    def _wire_state(self, **instead: Any) -> dict[str, Any]:
        """Return the same as `wire_state`, with the values of `instead`, whose traits are not read."""
        state = self._state
        return {name: instead[name] if name in instead else wire_value(state, name) for name in _SYNCED}

    def _picture(self, width: int | None, height: int | None, theme: Theme, style: Style, **options: Any) -> Picture:
        figure = engine.figure_of(style, width=width, height=height, **options)
        size = engine.DEFAULT_WIDTH if width is None else width
        return engine.draw(self.wire_state(), self.locale, width=size, height=height, theme=theme, figure=figure)

    def to_svg(
        self,
        *,
        width: int | None = None,
        height: int | None = None,
        theme: Theme = "light",
        style: Style = "screen",
        caption: bool = False,
        names: int | Sequence[str] | None = None,
        patterns: bool = False,
        ceilings: bool = False,
    ) -> str:
        """Return a picture of the chart as SVG text. No browser is needed.

        In the style "screen" the picture is the one that the widget shows and saves, with its title, its legend
        and a note on kernels that are not drawn. The other styles are figures for print and slides: the roofline
        alone, with dashes in place of colours for the chips, and the most important kernels named. The caption is the
        alternative text of a figure. The same state always gives the same text. The text is valid XML, whatever the
        names of kernels and chips contain.

        Parameters
        ----------
        width
            Width in px in the style "screen", by default 760; 96 px are an inch in print.
        height
            Height of the whole picture in px in the style "screen". By default the chart has the height that it has in
            a notebook.
        theme
            "light" or "dark".
        style
            "screen", or a figure: "paper-1col" of 252 by 168 pt (3.5 by 2.33 in) in 7 pt, "paper-2col" of 504 by 336 pt
            in 8 pt, "slide" of 960 by 540 pt in 20 pt. A caption makes a figure higher, and so does a key that has no
            free corner.
        caption
            Whether a figure has its caption under it: what it shows, and what it leaves out.
        names
            How many kernels a figure names, or a list of their names. By default the 5, 9 or 7 kernels to fix first.
        patterns
            Whether a figure tells categories apart without colour, and bounds by shapes: for print in grey.
        ceilings
            Whether a figure has the ceilings that are on.

        Raises
        ------
        ImportError
            If there is no JavaScript engine for this platform. The message says what to install.
        TypeError, ValueError
            If a size, the theme or the style is impossible, if an option is not one of the style's, or if no kernel has
            one of `names`.

        Examples
        --------
        >>> from roofwidget import RooflineModel
        >>> model = RooflineModel(["v5p"], [("matmul", 4.3e9, 1.2e7)])
        >>> model.to_svg()[:57]
        '<svg xmlns="http://www.w3.org/2000/svg" width="760" heigh'
        >>> model.to_svg(style="paper-1col")[:70]
        '<svg xmlns="http://www.w3.org/2000/svg" width="252pt" height="168pt" v'
        """
        return self._picture(
            width, height, theme, style, caption=caption, names=names, patterns=patterns, ceilings=ceilings
        ).svg

    def to_png(
        self,
        *,
        width: int | None = None,
        height: int | None = None,
        theme: Theme = "light",
        scale: float | None = None,
        dpi: float | None = None,
        style: Style = "screen",
        caption: bool = False,
        names: int | Sequence[str] | None = None,
        patterns: bool = False,
        ceilings: bool = False,
    ) -> bytes:
        """Return the picture of `to_svg` as a PNG with `scale` pixels per px, or with `dpi` per inch.

        By default, a figure for a paper has 600 dots per inch, as publishers ask of line art. All other pictures have 2
        pixels per px.

        Raises
        ------
        TypeError
            If both `scale` and `dpi` are given.
        ValueError
            If a number is not above zero, or if the PNG would have too many pixels.
        """
        picture = self._picture(
            width, height, theme, style, caption=caption, names=names, patterns=patterns, ceilings=ceilings
        )
        if scale is None and dpi is None and style.startswith("paper"):
            dpi = pictures.PRINT_DPI
        return pictures.png(picture, scale=scale, dpi=dpi)

    def to_pdf(
        self,
        *,
        width: int | None = None,
        height: int | None = None,
        theme: Theme = "light",
        style: Style = "screen",
        caption: bool = False,
        names: int | Sequence[str] | None = None,
        patterns: bool = False,
        ceilings: bool = False,
    ) -> bytes:
        """Return the picture of `to_svg` as a PDF of one page, with letters that can be selected and embedded fonts.

        Raises
        ------
        ImportError
            If typst is not installed.
        """
        return pictures.pdf(
            self._picture(
                width, height, theme, style, caption=caption, names=names, patterns=patterns, ceilings=ceilings
            )
        )

    def to_html(self, title: str = "") -> str:
        """Return the widget as one HTML page that works without Python, network and other files.

        Everything on the page is live: sliders, toggles, the roof, fusion, filters, the table and snapshots. The page
        also has the sources of the chips' figures. `roofwidget.read` reads the kernels from a saved page.

        Parameters
        ----------
        title
            The heading of the page. Without it the page shows none, and its title is that of the model, or the names of
            its chips.
        """
        heading = title or self.title or self._names_of_chips()
        return page.page([self._part_of_page(title)], heading, _today(), is_headed=title != "")

    def save(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Save the model as a file. The end of the file's name tells what it contains.

        ========= ==================================================== =================================
        end       contents                                             options
        ========= ==================================================== =================================
        ``.svg``  a picture or a figure of lines and text              those of `to_svg`, such as style
        ``.png``  a picture or a figure of pixels                      those of `to_png`
        ``.pdf``  a picture or a figure for print                      those of `to_pdf`
        ``.html`` a page on which everything is live, see `to_html`    title
        ``.csv``  the kernels that pass all filters                    none
        ``.json`` a session, from which `load` makes the model again   none
        ========= ==================================================== =================================

        Returns
        -------
        Path
            The path of the file.

        Raises
        ------
        ValueError
            If the name has another end.
        TypeError
            If an option is not one of the end's. In both cases no file is written.
        """
        target = Path(path)
        made: dict[str, Callable[..., str | bytes]] = {
            ".svg": self.to_svg,
            ".png": self.to_png,
            ".pdf": self.to_pdf,
            ".html": self.to_html,
            ".csv": lambda: table.csv_text(self.filtered),
            ".json": self._to_session,
        }
        kind = target.suffix.lower()
        if kind not in made:
            raise ValueError(f"save: '{target.name}' must end in {listed(list(made))}{did_you_mean(kind, made)}")
        known = inspect.signature(made[kind]).parameters
        for word in options:
            if word not in known:
                raise unknown_keyword(f"save of a {kind} file", word, known)
        contents = made[kind](**options)
        target.write_bytes(contents.encode() if isinstance(contents, str) else contents)
        return target

    def _to_session(self) -> str:
        state = self._state
        now = {} if state.partition is None else {state.phase: state.partition}
        left = {phase: partition for phase, (_, partition) in state.left.items()} | now
        partitions = {
            phase: [[graph.ops[op].name for op in group] for group in left[phase].indices]
            for phase, graph in state.graphs.items()
            if phase in left
        }
        plain = {name: session_value(state, name) for name in _IN_SESSION if name != "story"}
        return session.text(
            session.Session(
                chips=self.chips,
                kernels=state.kernels,
                series=state.kernels.series,
                baseline=state.baseline,
                graphs=state.graphs,
                partitions=partitions,
                what_if=state.what_if,
                snapshots=state.snapshots,
                traits={**plain, "story": state.story and state.story.to_record()},
            )
        )

    def graph_link(self, title: str = "") -> str:
        """Return the graph as the end of an address, with its kernels, the focus chip and a title.

        Put it behind the address of any exported page on which a graph is shown: ``page.html#g=…``. Whoever opens it
        sees the graph before its ops are merged, predicts how many times faster the kernels are, and then sees them.
        `load` makes a model of the link. A browser sends no server the end of an address.

        Parameters
        ----------
        title
            At most 120 letters. Without it the title says how many passes become how many: "9 → 2 passes: 4.5 times.
            Which graph is yours?"

        Raises
        ------
        ValueError
            If there is no graph, the focus chip is none of the catalogue, or the link would have more than 2000
            letters. About 12 ops fit.

        Examples
        --------
        >>> from roofwidget import Graph, RooflineModel
        >>> graph = Graph("tail")
        >>> graph.output(graph.relu(graph.gelu(graph.input("x", (65536, 4096), "bf16"))))
        >>> model = RooflineModel(["h100-sxm"], graph=graph, partition=[["gelu", "relu"]])
        >>> link = model.graph_link("One kernel")
        >>> again = RooflineModel.load(link)
        >>> again.title, again.partition.groups
        ('One kernel', (('gelu', 'relu'),))
        """
        if self.partition is None:
            raise ValueError("the model has no graph; set 'graph' first")
        return graph_link.text(self.partition, self.chip().id, title, self.dims)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return a new model from a session, a file that ``save("….json")`` wrote, or from a link of `graph_link`.

        The model has the chips, kernels, graphs with their partitions, what-ifs, filters, selection, snapshots and view
        of the saved one. A link, a text with ``#g=``, has a graph, its partition, a chip and a title.

        Raises
        ------
        OSError
            If the file cannot be read.
        ValueError
            If the file is no session, a newer roofwidget wrote it, or a value is refused. The message names the file
            and the part. Then no model is created. Also if a link is damaged, or a newer roofwidget wrote it.

        Examples
        --------
        >>> import tempfile
        >>> from roofwidget import RooflineModel
        >>> model = RooflineModel(["v5p"], [("matmul", 4.3e9, 1.2e7)], search="mat")
        >>> model.peak_flops = "1 PFLOP/s"
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     again = RooflineModel.load(model.save(f"{folder}/x.json"))
        >>> again.peak_flops, again.search
        (1000000000000000.0, 'mat')
        """
        if graph_link.MARK in str(path):
            shared = graph_link.read(str(path))
            return cls([shared.chip], graph=shared.partition.graph, partition=shared.partition, title=shared.title)
        try:
            return cls._from_session(session.read(Path(path)))
        except (AttributeError, LookupError, OverflowError, TraitError, TypeError, ValueError) as error:
            raise ValueError(f"{Path(path).name}: {short_message(str(error))}") from None

    @classmethod
    def _from_session(cls, found: session.Session) -> Self:
        by_row = {name: wire.by_row_from_wire(found.traits.get(name, {})) for name in ("typed_work", "moves")}
        # Sessions of 1.0.0 have the traits of `_OF_CODE_ALONE`.
        traits = {name: value for name, value in found.traits.items() if name not in _OF_CODE_ALONE} | by_row
        for name in traits:
            if name not in _IN_SESSION:
                raise ValueError(f"traits: a session has no '{name}'{did_you_mean(name, _IN_SESSION)}")
        # An added chip has the figures of the catalogue. The other parts of the session name it by its former id.
        added = traits.get("added_chips", ())
        former = [Chip.from_dict({**chip_of_saved_id(n).to_dict(), "id": n}) for n in added if n in FORMER_IDS]
        if former:
            traits["added_chips"] = [name for name in added if name not in FORMER_IDS]
        if found.graphs:
            partition = found.partitions.get(found.traits.get("phase", ""))
            traits |= {"graphs": found.graphs} | ({} if partition is None else {"partition": partition})
        else:
            traits["kernels"] = found.kernels
        return cls(
            (*found.chips, *former),
            _restore=[lambda state: _restored(found, state)],
            **traits,
            baseline=found.baseline,
            snapshots=found.snapshots,
        )

    def _part_of_page(self, heading: str = "") -> page.Part:
        """Return the widget as a part of a page. A title that the heading of the page already says is left out."""
        return page.part_of(self._state_of_page(heading), self.locale, self.fallback_html())

    def _state_of_page(self, heading: str = "") -> dict[str, Any]:
        # `roofwidget.read` takes the kernels of a graph from here: the page itself counts the graph.
        kernels = wire.kernels_to_wire(self.kernels if self.partition is not None else self._state.ruled)
        return self._wire_state(kernels=kernels, title="" if self.title == heading else wire.text_to_wire(self.title))

    def _names_of_chips(self) -> str:
        return ", ".join(self.chip(key).name for key in self.shown) or "Roofline"

    def snapshot(self) -> fallback.Still:
        """Return the chart as it is now, as a picture with a table, to be the output of a cell.

        It is shown wherever notebooks are shown, also without Python and without scripts: in previews, in untrusted
        notebooks, and in documents made of a notebook. (`freeze` keeps a roof in the chart itself.)
        """
        words = "\n".join(filter(None, (str(self._shown_verdict()), repr(self))))
        return fallback.Still(self.fallback_html(), self.to_png(), words)

    def fallback_html(self) -> str:
        """Return the chart as a picture, and its first kernels as a table, for places where no widget can run.

        The HTML has at most 30 kB: the picture shows at most 100 kernels, those with the longest self times.
        """
        rows = self.filtered_rows
        times = np.nan_to_num(self.shown_kernels.self_time[rows])
        longest = rows[np.argsort(-times, kind="stable")]
        rows_as_table, said = self._bounds_table(longest), self._shown_verdict()
        words = ": ".join(filter(None, (self.title, " ".join(filter(None, (said.headline, said.detail))))))
        for most in fallback.KERNELS:
            drawn = np.sort(longest[:most])
            try:
                picture = self._picture_of_rows(drawn, words)
            except (ImportError, FileNotFoundError):
                break
            whole = fallback.html(picture, said, rows_as_table, len(drawn), len(rows), timed=bool(times.any()))
            if len(whole) <= fallback.MAX_BYTES:
                return whole
        return fallback.headline(said) + rows_as_table

    def _picture_of_rows(self, rows: Rows, words: str) -> Picture:
        """Draw only these rows, as kernels that were given: of a large graph, this saves its counting.

        `words` describe the chart with all rows.
        """
        kernels = self.shown_kernels
        place = {int(row): at for at, row in enumerate(rows)}
        state = self._wire_state(
            kernels=wire.kernels_to_wire(kernels[rows]),
            selected=[place[row] for row in self.selected if row in place],
            typed_work={},
            moves=wire.by_row_to_wire({place[row]: self.moves[row] for row in self.moves if row in place}),
            graphs=[],
            phase="",
            partition=None,
            baseline=None,
            at_roof=[],
            hovered=None,
            search="",
            categories=None,
            bounds=None,
            precisions=None,
            phases=None,
            time_share=1.0,
            top=None,
        )
        return engine.draw(state, self.locale, width=fallback.WIDTH, words=words)

    def _bounds_table(self, rows: Rows) -> str:
        """Return an HTML table of the first rows with their bounds on the focus chip.

        "" without a roof or kernels, and while a question is asked that the numbers could answer.
        """
        if hides_numbers(self._question):
            return ""
        first = self.shown_kernels[rows[: fallback.MAX_ROWS]]
        if not len(first) or not self.all_chips:
            return ""
        try:
            return bound_report.html(self._bound_of(first))
        except MissingFigureError:
            # The focus chip has no roof: it lacks the selected precision or memory.
            return ""


def _focus_with_peaks(given: Mapping[str, Any]) -> Make:
    """Return what focuses the first default chip that has a peak for the precision of each kernel, if there is one."""

    def focused(state: State) -> Mapping[str, Any]:
        if {"chips", "focus_chip", "shown"} & given.keys():
            return {}
        needed = {precision for precision in state.shown_kernels.precision if precision}
        known = {chip.id: chip for chip in state.all_chips}
        able = [name for name in state.shown if needed <= known[name].peak_flops.keys()]
        return {"focus_chip": able[0]} if able else {}

    return focused


def _restored(found: session.Session, state: State) -> Mapping[str, Any]:
    """Return what of a session the constructor has no argument for."""
    what_if = state.what_if
    for name, quantities in found.what_if.items():
        rates = {
            (quantity, key): parsed_rate(rate, quantity, f"{quantity} of {name}")
            for quantity in ALL_QUANTITIES
            for key, rate in quantities.get(quantity, {}).items()
        }
        what_if = with_rates(what_if, chip_called(name, state.all_chips), rates)
    left = {}
    for phase, groups in found.partitions.items():
        if phase != state.phase:
            graph = state.graphs[phase]
            left[phase] = (graph, as_partition(groups, graph))
    below = {"kernels": found.kernels} if found.graphs and len(found.kernels) else {}
    return {"what_if": what_if, "left": left, **below}


def save_page(parts: Iterable[RooflineModel | str], path: str | os.PathLike[str], *, title: str) -> Path:
    """Save several widgets as one HTML page, with texts between them. Return the path.

    The page works without Python, network and other files; see `RooflineModel.to_html`.

    Parameters
    ----------
    parts
        Widgets, models and texts, in the page's order. A blank line ends a paragraph of a text. A paragraph that begins
        with "## " is a heading. A text is never read as markup.
    path
        The file, such as "bound_report.html".
    title
        The title of the page.

    Raises
    ------
    TypeError
        If a part is neither a model nor a text.
    ValueError
        If the models have different languages.

    Examples
    --------
    >>> import tempfile
    >>> from roofwidget import RooflineModel
    >>> before, after = (RooflineModel(["v5p"], [("gelu", 1e12, n, 0.4)]) for n in (2e11, 1e11))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_page(["Before:", before, "After:", after], f"{folder}/bound_report.html", title="One fusion").name
    'bound_report.html'
    """
    made: list[page.Part | str] = []
    for part in parts:
        if not isinstance(part, (RooflineModel, str)):
            raise TypeError(f"save_page takes widgets and texts, not {type(part).__name__}")
        made.append(part if isinstance(part, str) else part._part_of_page())  # noqa: SLF001 - of this module
    target = Path(path)
    target.write_text(page.page(made, title, _today()), encoding="utf-8", newline="\n")
    return target


def to_myst(widget: RooflineModel, folder: str | os.PathLike[str] = ".", *, name: str = "roofline") -> str:
    """Write a widget for a site of MyST or a Jupyter Book; return the directive that shows it.

    The directive ``{anywidget}`` names the module of the front end, and its body has the state of the widget. On the
    site everything is live without Python. Other makers of sites, such as Quarto, and plain pages import the same
    module and state: see ``docs/embed.md``.

    Parameters
    ----------
    widget
        The widget or model.
    folder
        The folder of the document that includes the directive. It gets three files: the module ``roofwidget.mjs``, the
        state ``NAME.json`` and the directive ``NAME.md``, for ``{include} NAME.md``.
    name
        The first part of the names of the last two.

    Raises
    ------
    TypeError
        If it is no widget or model.
    ValueError
        If `name` cannot be part of the name of a file.
    FileNotFoundError
        If the front end is not built.

    Examples
    --------
    >>> import tempfile
    >>> from roofwidget import RooflineModel
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     to_myst(RooflineModel(["v5p"]), folder).splitlines()[0], sorted(os.listdir(folder))
    (':::{anywidget} ./roofwidget.mjs', ['roofline.json', 'roofline.md', 'roofwidget.mjs'])
    """
    if not isinstance(widget, RooflineModel):
        raise TypeError(f"to_myst takes a widget or a model, not {type(widget).__name__}")
    return embed.write(widget._state_of_page(), folder, name, widget.locale)  # noqa: SLF001 - of this module
