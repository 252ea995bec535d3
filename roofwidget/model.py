"""`RooflineModel`, the state of a roofline chart: chips, kernels, filters, view and what-ifs. No browser is needed.

This module declares all traits, and who may change each trait. The package `roofwidget.state` checks the values of
traits and computes the effects of a change. If several methods observe the same trait, traitlets calls these methods in
the alphabetical order of their names.
"""

from __future__ import annotations

import inspect
import math
import os
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from traitlets import (
    Bool,
    Bunch,
    CaselessStrEnum,
    Enum,
    HasTraits,
    TraitError,
    Unicode,
    default,
    observe,
    validate,
)

from roofwidget import wire
from roofwidget.analysis import report
from roofwidget.analysis.bound_lenient import bound_lenient
from roofwidget.analysis.compare_runs import compare_runs
from roofwidget.analysis.projection import Projection, project
from roofwidget.analysis.result import Bound
from roofwidget.analysis.snapshot import Snapshot
from roofwidget.analysis.verdict import Fusion, Verdict, facts_of, verdict_of
from roofwidget.analysis.what_if_arithmetic import apply_what_ifs
from roofwidget.chips import FORMER_IDS, Chip, MissingFigureError, chip_of_saved_id
from roofwidget.chips import chip as catalogue_chip
from roofwidget.export import answers, engine, fallback, page, pictures, session, table
from roofwidget.export.engine import Picture, Style, Theme
from roofwidget.kernels.columns import Texts, folded
from roofwidget.kernels.dataframes import is_frame
from roofwidget.kernels.filters import Filters, share_above_zero, whole_from_one
from roofwidget.kernels.kernel import Kernel
from roofwidget.kernels.metadata import Rows
from roofwidget.kernels.presets import preset
from roofwidget.kernels.series import is_last, with_series
from roofwidget.kernels.table import Kernels, as_kernels
from roofwidget.kernels.work import with_typed_work
from roofwidget.state.choices import (
    MAX_CHIPS_SHOWN_AT_FIRST,
    NO_CHIPS_HINT,
    check_ceilings,
    check_memory,
    check_precision,
    chip_called,
    known_ceilings,
    shown_after,
    still_possible,
)
from roofwidget.state.filter_traits import (
    bounds_after,
    check_bounds,
    colour_column,
    column_key,
    known_bounds,
    sort_key,
)
from roofwidget.state.graph import (
    PhaseMemory,
    as_partition,
    check_convention,
    check_dims,
    check_dtype,
    check_phase,
    convention_for,
    counted,
    dims_for,
    has_same_groups,
    refused_as,
)
from roofwidget.state.lesson import (
    attempts_by_key,
    check_stops,
    lock_names,
    panel_names,
    rate_ranges,
    script_of,
    snap_rates,
    words_of,
)
from roofwidget.state.rates import (
    QUANTITIES,
    Quantity,
    WhatIf,
    common_precision,
    one_level,
    parsed_rate,
    rate_in_force,
    read_only_what_if,
    with_known_figures,
    with_peaks,
    with_rates,
)
from roofwidget.state.snapshots import frozen
from roofwidget.state.trait_types import (
    Checked,
    KernelsTrait,
    PartitionTrait,
    RateTrait,
    ShownKernelsTrait,
    WholeEnum,
    catalogue_ids,
    distinct_chips,
    graphs_by_name,
    language_of,
    names,
    one_graph,
    optional,
    owned,
    row_number,
    row_numbers,
    seconds,
    share_of_time,
    shares,
    sizes_by_name,
    snapshots_of,
    step_number,
    zoom_limits,
)
from roofwidget.state.typed_work import TypedWork, check_is_unknown, read_only_work
from roofwidget.state.view import Plane, Zoom, check_zoom, plane_of
from roofwidget.state.what_if_traits import (
    KernelWhatIfs,
    bound_where_measured,
    check_can_move,
    check_row,
    checked_factor,
    read_only_factors,
    row_called,
)
from roofwidget.support import hosts, text_tables
from roofwidget.support.arguments import short_message
from roofwidget.support.did_you_mean import did_you_mean, listed, unknown_keyword
from roofwidget.support.languages import ENGLISH
from roofwidget.workloads import Graph
from roofwidget.workloads.expressions import evaluate
from roofwidget.workloads.partition import Partition

if TYPE_CHECKING:
    from typing_extensions import Self

# The constructor sets these traits last and in this order, because they depend on other traits. For example,
# `partition` depends on `convention`, and `selected` contains rows of `kernels`.
_SET_LAST: Final = (
    *("peak_flops", "bandwidth", "ceilings", "bounds", "dims", "convention", "dtype", "partition"),
    *("typed_work", "selected", "hovered", "at_roof", "moves", "zoom"),
    *("story", "step"),
)

_CHIP_TRAITS: Final = ("chips", "added_chips")
SET_FIRST: Final = ("phase", "partition")
"""These traits reset others. They are set before the others of one message."""
_OF_LESSON: Final = ("story", "step", "answers")
ROW_TRAITS: Final = ("typed_work", "selected", "hovered", "at_roof", "moves")
"""The traits that refer to rows of `shown_kernels`. They are reset when the rows become other kernels."""

# What a page may do is decided by the code that makes the model. Whoever edits a session could change it.
_OF_CODE_ALONE: Final = frozenset({"open_files"})
# A session has these in parts of their own, or they follow from others, or belong to a moment.
_NOT_TRAITS_OF_SESSION: Final = _OF_CODE_ALONE | {
    *("chips", "kernels", "baseline", "graph", "graphs", "partition", "what_if", "snapshots", "hovered")
}

V = TypeVar("V")


def _today() -> date:
    return datetime.now().astimezone().date()


class RooflineModel(HasTraits):
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

    # -- chips and rates ---------------------------------------------------------------------------------------

    chips = owned(
        "python",
        Checked(distinct_chips, help="The chips that can be shown."),
        to_wire=lambda _, model: wire.chips_to_wire(model.chips, added=model.all_chips[len(model.chips) :]),
    )
    added_chips = owned(
        "shared",
        Checked(catalogue_ids, (), help="Ids of further chips of the catalogue, which a person has added to `chips`."),
    )
    shown = owned("shared", Checked(names, help="Ids of the chips that are shown, in the order of `chips`."))
    focus_chip = owned(
        "shared", Unicode(help="Id of the chip whose rates the sliders change and whose gaps the arrows show.")
    )
    precision = owned(
        "shared",
        Unicode(
            "auto",
            help="A precision's name, or 'auto': the precision in which all kernels compute, where they agree and the "
            "chip has it, else the chip's default.",
        ),
    )
    memory = owned(
        "shared",
        Unicode(
            "main",
            help="A memory level's name, 'main' for each chip's off-chip memory, or 'all': every level counts, and "
            "each level that binds a kernel has a roof beside the main memory's (`all_levels` draws the others too).",
        ),
    )
    what_if = owned(
        "shared",
        Checked(
            read_only_what_if,
            read_only=True,
            help="Changed peaks and bandwidths by chip id; set with `set_what_if`, `reset` or the sliders.",
        ),
        to_wire=wire.what_if_to_wire,
    )
    peak_flops = owned(
        "shared",
        RateTrait(
            "peak_flops", help="Peak rate of the focus chip at the chosen precision, FLOP/s; NaN where it has none."
        ),
        sync=False,
    )
    bandwidth = owned(
        "shared",
        RateTrait(
            "bandwidth", help="Bandwidth of the focus chip at the chosen memory, bytes/s; NaN where it has none."
        ),
        sync=False,
    )
    exposed_roofs = owned(
        "shared",
        Checked(
            shares,
            (),
            help="Shares of exposed communication, such as 0.2 for 20 %; what each leaves of the focus roof is drawn "
            "as a dashed roof. They change no number; `exposed_comm` does.",
        ),
    )
    ceilings = owned(
        "shared",
        Checked(
            optional(names),
            help="Ceilings of the focus chip that are drawn: precisions, or names such as 'no FMA' and 'STREAM DRAM'; "
            "None for the chip's own.",
        ),
    )
    all_levels = owned(
        "shared",
        Bool(default_value=False, help="With memory 'all', whether levels that bind no kernel have a roof too."),
    )
    launch_overhead = owned("python", Checked(seconds, 0.0, help="Minimum time of one launch, in seconds."))
    exposed_comm = owned(
        "python",
        Checked(
            share_of_time,
            0.0,
            help="The share of the time in which only the link works, from 0 to below 1, as in `roofwidget.bound`: "
            "every kernel is judged by the roof that it leaves. Refused for kernels with network bytes.",
        ),
    )

    # -- kernels and graphs ------------------------------------------------------------------------------------

    kernels = owned(
        "python",
        KernelsTrait(
            help="The kernels that are plotted. With a graph, these are the kernels of `partition` at `dims`; kernels "
            "that are set meanwhile are plotted when `graph` is None."
        ),
        # Send only the given kernels. If there is a graph, the page computes the kernels of the partition itself.
        to_wire=lambda _, model: wire.kernels_to_wire(type(model).kernels.given(model)),
    )
    graph = owned(
        "python",
        Checked(
            optional(one_graph),
            help="Operations joined by tensors; the kernels of their partition are shown. It is "
            "the graph of `phase` in `graphs`. A graph that is set here becomes the only one, of phase ''.",
        ),
        sync=False,
    )
    graphs = owned(
        "python",
        Checked(graphs_by_name, {}, help="Graphs to choose between, by name: the phases of one workload."),
        to_wire=wire.graphs_to_wire,
    )
    phase = owned(
        "shared",
        Unicode(
            "",
            help="Which of `graphs` is shown; '' without any. When the phase changes, `partition` is what it was when "
            "the phase was left, at first unfused; `dims` keeps the sizes that the new graph has too, if they are "
            "within its limits, not its defaults, and possible together; `convention` stays if the new graph knows it "
            "and it is not the graph's own; `dtype` stays unless it is the new graph's main one. A graph that was not "
            "among `graphs` before starts with the defaults of all four.",
        ),
        to_wire=wire.text_to_wire,
    )
    partition = owned(
        "shared",
        PartitionTrait(
            help="Which ops of the graph run as one kernel: a `Partition`, or groups of names or positions."
        ),
        to_wire=wire.partition_to_wire,
        from_wire=lambda groups, model: model._partition_of_page(groups),  # noqa: SLF001 - its own method
    )
    dims = owned(
        "shared",
        Checked(
            sizes_by_name, MappingProxyType({}), help="Sizes of the graph's dimensions that differ from their defaults."
        ),
        to_wire=wire.dims_to_wire,
    )
    convention = owned("shared", Unicode("", help="How operations are counted; empty for the graph's own way."))
    dtype = owned(
        "shared",
        Unicode(
            None, allow_none=True, help="Count as if tensors of the graph's main dtype had this dtype; None as built."
        ),
    )
    baseline = owned(
        "python",
        ShownKernelsTrait(optional(as_kernels), help="An earlier run that `kernels` are compared with, or None."),
        to_wire=wire.baseline_to_wire,
    )

    # -- rows --------------------------------------------------------------------------------------------------

    selected = owned("shared", Checked(row_numbers, (), help="Row numbers of the selected kernels."))
    hovered = owned(
        "browser", Checked(optional(row_number), help="Row number of the kernel under the pointer, or None.")
    )
    at_roof = owned(
        "shared", Checked(row_numbers, (), help="Rows of the kernels that reach their roof in the projected time.")
    )
    moves = owned(
        "shared",
        Checked(
            read_only_factors,
            MappingProxyType({}),
            help="What-ifs on single kernels: factors on their 'bytes' and 'time' by row, set by `move` and by a "
            "dragged point. The chart draws them beside the data. Points, table, filters, ranking, totals and exports "
            "show the data, and so does all of Python but `moved_kernels`. They are dropped with other kernels, "
            "another graph or another partition.",
        ),
        to_wire=wire.by_row_to_wire,
        from_wire=wire.by_row_from_wire,
    )
    typed_work = owned(
        "shared",
        Checked(
            read_only_work,
            MappingProxyType({}),
            help="FLOPs and bytes of one launch that were typed for kernels whose own are unknown: 'flops' and 'bytes' "
            "by row. `kernels` stays as it was given; `shown_kernels` has the typed numbers times the launches, and so "
            "has all that is computed from it. They are dropped with other kernels.",
        ),
        to_wire=wire.by_row_to_wire,
        from_wire=wire.by_row_from_wire,
    )
    snapshots = owned(
        "shared",
        Checked(snapshots_of, (), help="Roofs with the positions of their kernels, oldest first; `freeze` adds one."),
        to_wire=wire.snapshots_to_wire,
        from_wire=wire.snapshots_from_wire,
    )

    # -- filters and the table ---------------------------------------------------------------------------------

    search = owned(
        "shared",
        Unicode(
            "",
            help="Only kernels whose full name contains each of these words, in any case; '*' in a word stands for any "
            "characters.",
        ),
        to_wire=wire.text_to_wire,
    )
    categories = owned(
        "shared",
        Checked(optional(names), help="Only kernels of these categories, '' for those without; None for all."),
        to_wire=wire.texts_to_wire,
    )
    bounds = owned(
        "shared",
        Checked(
            optional(names),
            help="Only kernels that one of these binds on the focus chip: 'compute', a level's name, 'network', "
            "'overhead', 'unknown'; None for all.",
        ),
    )
    precisions = owned(
        "shared",
        Checked(optional(names), help="Only kernels of these precisions, '' for unknown; None for all."),
        to_wire=wire.texts_to_wire,
    )
    time_share = owned(
        "shared",
        Checked(
            share_above_zero,
            1.0,
            help="Only the fewest kernels that make up this share of the whole table's self time; 1 for all, also "
            "those that were not measured.",
        ),
    )
    top = owned(
        "shared",
        Checked(
            optional(lambda value: whole_from_one(value, "top")),
            1000,
            help="At most this many of the kernels that pass all other filters, by self time; None for all.",
        ),
    )
    infeed = owned(
        "shared", Bool(default_value=True, help="Whether categories that contain 'infeed' or 'outfeed' are shown.")
    )
    scope = owned(
        "shared",
        Enum(
            ("kernels", "program"),
            default_value="kernels",
            help="Whether the chart shows the kernels, or the program's totals and steps.",
        ),
    )
    sort_by = owned(
        "shared",
        Unicode(
            "",
            help="The table's order: a column's key, with '-' in front for falling; '' for '-headroom'.",
        ),
        to_wire=wire.text_to_wire,
    )
    columns = owned(
        "shared",
        Checked(optional(names), help="The table's columns by key; None for the usual ones."),
        to_wire=wire.texts_to_wire,
    )

    colour_by = owned(
        "shared",
        Unicode(
            "category",
            help="The column that gives the points of measured kernels their colours: 'category', 'precision', 'time', "
            "'self_time', 'count', 'flops' or a column of the kernels' `extra`. Each text has a colour; numbers have a "
            "scale. 'category' counts if the kernels have no such column.",
        ),
        to_wire=wire.text_to_wire,
    )

    # -- zoom and view -----------------------------------------------------------------------------------------

    title = owned("python", Unicode(help="The text above the chart."), to_wire=wire.text_to_wire)
    locale = owned(
        "python",
        Checked(
            language_of,
            ENGLISH,
            help="The language of the front end, of pictures and of pages: 'en', 'de', or a locale such as 'de-AT'. "
            "What Python itself writes stays English: messages, reports, tables and the companions.",
        ),
        sync=False,
    )
    view = owned(
        "shared",
        Enum(
            ("roofline", "time"),
            default_value="roofline",
            help="'roofline': rate against intensity; 'time': memory time against compute time, per launch.",
        ),
    )
    zoom = owned(
        "shared",
        Checked(
            optional(zoom_limits),
            help="The part of the plane that is shown, (x_low, x_high, y_low, y_high) in FLOP/B and FLOP/s, in the "
            "time view in seconds; None for the whole plane. Another view starts with None.",
        ),
    )
    rate_unit = owned(
        "shared",
        CaselessStrEnum(
            ("FLOP/s", "FLOP/cycle"),
            default_value="FLOP/s",
            help="Unit of the vertical axis; per cycle of the focus chip's clock, where it is known.",
        ),
    )
    word = owned(
        "shared",
        WholeEnum(
            (0, 2, 4, 8),
            default_value=0,
            help="The axes count intensity and bandwidth in words of this many bytes; 0 for bytes.",
        ),
    )
    x_axis = owned(
        "shared",
        Enum(
            ("intensity", "balance"),
            default_value="intensity",
            help="The quantity on the horizontal axis: 'intensity', FLOP/B, or its inverse 'balance', B/FLOP.",
        ),
    )
    tick_base = owned("shared", WholeEnum((10, 2), default_value=10, help="Ticks are at powers of ten, or of two."))
    time_scale = owned(
        "shared",
        Enum(
            ("log", "linear"),
            default_value="log",
            help="The axes of the time view. Linear axes begin at 0 and have equal scales.",
        ),
    )
    frame = owned(
        "shared",
        Enum(
            ("points", "chip"),
            default_value="points",
            help="What sets the range of the roofline's axes: 'points', the kernels and the roofs, or 'chip', the "
            "shown chips alone, so that charts of different kernels on the same chips compare. A `zoom` shows a part.",
        ),
    )
    open_files = owned(
        "python",
        Enum(
            ("folder", "uploads", "nothing"),
            default_value="uploads",
            help="Which profiles a person may open in the page: files that the page sends and, with 'folder', files in "
            "the working directory of Python by their path; 'nothing' hides the button. The default is 'folder' in a "
            "cell that a person runs (JupyterLab, Notebook, marimo edit), and else 'uploads'. Sessions leave it out.",
        ),
    )
    presentation = owned("shared", Bool(default_value=False, help="Everything 1.6 times as big, for a projector."))
    rulers = owned("shared", Bool(default_value=True, help="A line at the pointer shows what each roof allows there."))

    # -- lessons -----------------------------------------------------------------------------------------------

    story = owned(
        "python",
        Checked(optional(script_of), help="The steps of a story, which `Story` makes; None without one."),
        to_wire=lambda script, _model: wire.story_to_wire(None if script is None else script.to_record()),
    )
    step = owned(
        "shared",
        Checked(step_number, 0, help="The step of `story` that is shown, from 0. A step sets other traits."),
    )
    answers = owned(
        "shared",
        Checked(
            attempts_by_key,
            MappingProxyType({}),
            help="All answers of the learner by the key of their question, the latest last; see `answer`.",
        ),
        to_wire=lambda given, _model: {key: list(attempts) for key, attempts in given.items()},
    )
    locks = owned(
        "python",
        Checked(
            lock_names,
            (),
            help="What the page does not let a learner change, such as ['bandwidth']. Python may change it, so it "
            "keeps nothing secret.",
        ),
    )
    hidden_panels = owned(
        "python", Checked(panel_names, (), help="Panels that the page leaves out, such as ['table'].")
    )
    ranges = owned(
        "python",
        Checked(
            rate_ranges,
            MappingProxyType({}),
            help="The lowest and the highest rate that sliders and roof reach, such as {'bandwidth': ('1 TB/s', "
            "'4 TB/s')}.",
        ),
        to_wire=lambda given, _model: {name: list(rates) for name, rates in given.items()},
    )
    snap = owned(
        "python",
        Checked(
            snap_rates,
            MappingProxyType({}),
            help="The only rates that sliders and roof stop at, such as {'bandwidth': ['1 TB/s', '2 TB/s']}.",
        ),
        to_wire=lambda given, _model: {name: list(rates) for name, rates in given.items()},
    )
    terms = owned(
        "python",
        Checked(
            words_of,
            MappingProxyType({}),
            help="The page's words: 'arithmetic' or 'operational' for 'intensity'; 'ridge point', 'knee' or 'machine "
            "balance' for 'ridge'.",
        ),
        to_wire=lambda given, _model: dict(given),
    )

    # The plane (pair of axes) for which the value of `zoom` was checked.
    _zoomed: Plane = plane_of("roofline", "log")
    # The kernels that `set_series` made, if the kernels before have the same row numbers in them.
    _extended: Kernels | None = None
    # `kernels`, `typed_work`, and the kernels with the typed work.
    _typed: tuple[Kernels, TypedWork, Kernels] | None = None
    # The largest number of kernels, or None.
    _max_kernels: int | None = None
    # Whether the constructor has ended. Until then a step sets no other traits: they come from the caller.
    _is_built: bool = False
    # The thread that is in `hold_trait_notifications`.
    _holding_thread: int | None = None
    # The thread that ends `hold_trait_notifications`, and the changes whose observers it notifies then.
    _held: tuple[int, list[Bunch]] | None = None

    def __init__(
        self,
        chips: Any = None,
        kernels: Any = None,
        *,
        _restore: Callable[[RooflineModel], None] | None = None,
        **traits: Any,
    ) -> None:
        # A validator of a subclass may set a rate while `_exchange` holds the lock.
        self._lock = threading.RLock()
        self._phases = PhaseMemory()
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
            traits["chips"] = []
            msg = f"{kernels.source} names no chip, so its kernels have no roof; {NO_CHIPS_HINT}"
            warnings.warn(msg, UserWarning, stacklevel=2)
        last = {name: traits.pop(name) for name in _SET_LAST if name in traits}
        super().__init__(**traits)
        self._refresh_rates()
        for name, value in last.items():
            setattr(self, name, value)
        self._focus_on_chip_with_peaks({*traits, *last})
        if _restore is not None:
            _restore(self)
        self._is_built = True

    def _focus_on_chip_with_peaks(self, given: set[str]) -> None:
        """Focus the first default chip that has a peak for the precision of each kernel, if there is one."""
        if {"chips", "focus_chip", "shown"} & given:
            return
        needed = {precision for precision in self.shown_kernels.precision if precision}
        able = (name for name in self.shown if needed <= self.chip(name).peak_flops.keys())
        self.focus_chip = next(able, self.focus_chip)

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
        own = self.chips
        ids = {chip.id for chip in own}
        return (*own, *(catalogue_chip(name) for name in self.added_chips if name not in ids))

    def chip(self, name: str | None = None) -> Chip:
        """Return the model's chip with the id, name or alias `name`. Without `name`, return the focus chip.

        Upper and lower case are equal: ``"V5P"`` and ``"v5p"`` mean the same chip.

        Raises
        ------
        traitlets.TraitError
            If the model has no such chip. The message names the nearest ids.
        """
        return chip_called(self.focus_chip if name is None else name, self.all_chips)

    def resolved_chip(self, name: str | None = None) -> Chip:
        """Return a chip of the model (by default the focus chip). Its what-if rates replace its data-sheet rates."""
        chip = self.chip(name)
        changes = self.what_if.get(chip.id, {})
        return chip.with_rates(changes.get("peak_flops", {}), changes.get("bandwidth", {}))

    def set_what_if(
        self,
        chip: str | None = None,
        *,
        peak_flops: float | str | None = None,
        bandwidth: float | str | None = None,
        precision: str | None = None,
        memory: str | None = None,
    ) -> None:
        """Set a what-if peak or a what-if bandwidth of a chip. The figures of the data sheet do not change.

        Parameters
        ----------
        chip
            Id or name of the chip; the focus chip by default.
        peak_flops
            The what-if peak: a number in FLOP/s, or text such as ``"2 PFLOP/s"``.
        bandwidth
            The what-if bandwidth: a number in bytes/s, or text such as ``"8 TB/s"``.
        precision
            The precision of the peak; by default the trait `precision`.
        memory
            The memory level of the bandwidth; by default the trait `memory`.

        Raises
        ------
        MissingFigureError
            If the chip has no such precision or memory.
        ValueError
            If a rate is zero, negative, NaN or infinite.
        traitlets.TraitError
            If there is no such chip.
        """
        target = self.chip(chip)
        changed: dict[tuple[Quantity, str], float] = {}
        if peak_flops is not None:
            key = self._precision_of(target) if precision is None else target.precision(precision)
            changed["peak_flops", key] = parsed_rate(peak_flops, "peak_flops", f"peak_flops of {target.name}")
        if bandwidth is not None:
            key = target.memory(one_level(memory or self.memory))
            changed["bandwidth", key] = parsed_rate(bandwidth, "bandwidth", f"bandwidth of {target.name}")
        self._swap("what_if", lambda old: with_rates(old, target, changed))

    def use_peaks(self, peaks: str) -> None:
        """Judge by the measured rates of the chips (``"achievable"``), or by their data sheets (``"printed"``).

        Measured rates are set as what-if rates of every chip that has them, see `Chip.measured_rates`. Figures without
        a measured rate stay as they are.

        Raises
        ------
        ValueError
            If `peaks` is neither ``"achievable"`` nor ``"printed"``.
        """
        self._swap("what_if", lambda old: with_peaks(old, self.all_chips, peaks))

    def reset(self, chip: str | None = None) -> None:
        """Remove the what-if rates of one chip. Without `chip`, remove the what-if rates of all chips.

        Raises
        ------
        traitlets.TraitError
            If there is no such chip.
        """
        others = [] if chip is None else [entry for entry in self.all_chips if entry.id != self.chip(chip).id]
        self._swap("what_if", lambda old: with_known_figures(old, others))

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
        return bound_lenient(
            self.shown_kernels,
            self.resolved_chip(chip),
            precision=self._precision_of(self.chip(chip)),
            memory=self.memory,
            exposed_comm=self.exposed_comm,
            launch_overhead=self.launch_overhead,
        )

    @default("chips")
    def _default_chips(self) -> tuple[Chip, ...]:
        return preset("tpu-roofline-guide").chips

    @default("shown")
    def _default_shown(self) -> tuple[str, ...]:
        return tuple(chip.id for chip in self.all_chips[:MAX_CHIPS_SHOWN_AT_FIRST])

    @default("focus_chip")
    def _default_focus_chip(self) -> str:
        return self.shown[0] if self.shown else self.all_chips[0].id if self.all_chips else ""

    @default("what_if")
    def _default_what_if(self) -> WhatIf:
        return {}

    @default("open_files")
    def _default_open_files(self) -> str:
        return "folder" if hosts.is_notebook() else "uploads"

    @validate("shown")
    def _check_shown(self, proposal: Bunch) -> tuple[str, ...]:
        wanted = {self.chip(name).id for name in proposal["value"]}
        return tuple(chip.id for chip in self.all_chips if chip.id in wanted)

    @validate("focus_chip")
    def _check_focus_chip(self, proposal: Bunch) -> str:
        return self.chip(proposal["value"]).id if self.all_chips else ""

    @validate("precision")
    def _check_precision(self, proposal: Bunch) -> str:
        return check_precision(proposal["value"], self.all_chips)

    @validate("memory")
    def _check_memory(self, proposal: Bunch) -> str:
        return check_memory(proposal["value"], self.all_chips)

    @validate("ceilings")
    def _check_ceilings(self, proposal: Bunch) -> tuple[str, ...] | None:
        names = proposal["value"]
        return None if names is None else check_ceilings(names, self.all_chips, self.focus_chip)

    @validate("exposed_comm", "kernels")
    def _check_communication(self, proposal: Bunch) -> Any:
        # `exposed_comm` defines the time over the link. Network bytes define this time too. So `bound` refuses
        # kernels with network bytes if `exposed_comm` is not 0.
        share, kernels = (
            proposal["value"] if proposal["trait"].name == name else getattr(self, name)
            for name in ("exposed_comm", "kernels")
        )
        if share and (kernels.network_bytes > 0).any():
            raise TraitError(
                f"{proposal['trait'].name}: exposed_comm excludes network bytes, and these kernels have network bytes: "
                "give one of the two"
            )
        return proposal["value"]

    @validate("what_if")
    def _check_what_if(self, proposal: Bunch) -> WhatIf:
        return with_known_figures(proposal["value"], self.all_chips)

    @observe("chips", "added_chips")
    def _follow_chips(self, change: Bunch) -> None:
        own, added = (change["old"] if change["name"] == name else getattr(self, name) for name in _CHIP_TRAITS)
        before = [*(own or ()), *map(catalogue_chip, added or ())]
        with self.hold_trait_notifications():
            # Read `_trait_values`: if `shown` has no value yet, `self.shown` would compute one from the new chips.
            shown, focus_chip = self._trait_values.get("shown", ()), self._trait_values.get("focus_chip")
            self.shown = shown_after(before, self.all_chips, shown)
            if focus_chip not in [chip.id for chip in self.all_chips]:
                self.focus_chip = self._default_focus_chip()
            self._swap("what_if", lambda old: with_known_figures(old, self.all_chips))
            self.precision = still_possible(check_precision, self.precision, self.all_chips, "auto")
            self.memory = still_possible(check_memory, self.memory, self.all_chips, "main")
            if self.ceilings is not None:
                known = known_ceilings(self.all_chips, self.focus_chip)
                self.ceilings = tuple(name for name in self.ceilings if name.casefold() in known)
        self._refresh_rates()

    @observe("focus_chip")
    def _show_focus_chip(self, _change: Bunch) -> None:
        if self.focus_chip and self.focus_chip not in self.shown:
            self.shown = (*self.shown, self.focus_chip)

    @observe("shown")
    def _focus_on_shown_chip(self, _change: Bunch) -> None:
        if self.shown and self.focus_chip not in self.shown:
            self.focus_chip = self.shown[0]

    @observe("focus_chip", "precision", "memory", "what_if", "kernels", "partition", "dims")
    def _refresh_rates(self, _change: Bunch | None = None) -> None:
        for name in QUANTITIES:
            with self._lock:
                rate, old = self._rate(name), self._trait_values.get(name, math.nan)
                self._trait_values[name] = rate
            if rate != old and not (math.isnan(rate) and math.isnan(old)):
                # Mark the change as derived, so that `_remember_rate` ignores the change. Without the mark,
                # `_remember_rate` could store `rate` in `what_if` although another thread has set a newer rate.
                self.notify_change(Bunch(name=name, old=old, new=rate, owner=self, type="change", derived=True))

    @observe("peak_flops", "bandwidth")
    def _remember_rate(self, change: Bunch) -> None:
        if "derived" in change or change["new"] == self._rate(change["name"]):
            return
        try:
            self.set_what_if(**{change["name"]: change["new"]})
        except (MissingFigureError, TraitError) as error:
            self._refresh_rates()
            raise TraitError(f"{change['name']}: {error}") from None

    def _precision_of(self, chip: Chip) -> str:
        """Return the precision whose peak is the roof of a chip. The help text of `precision` states the rule."""
        # `kernels` lacks typed work, which has no precision. It must not change the precision of the roof.
        common = common_precision(self.kernels) if self.precision == "auto" else ""
        return chip.precision(common if common in chip.peak_flops else self.precision)

    def _rate(self, name: Quantity) -> float:
        """Return the focus chip's `peak_flops` or `bandwidth`. A what-if rate replaces the rate of the data sheet.

        If the chip has no peak for the precision, or no bandwidth for the memory level, return NaN.
        """
        if not self.all_chips:
            return math.nan
        chip = self.chip()
        try:
            key = self._precision_of(chip) if name == "peak_flops" else chip.memory(one_level(self.memory))
            return rate_in_force(self.what_if, chip, name, key)
        except MissingFigureError:
            return math.nan

    @contextmanager
    def hold_trait_notifications(self) -> Iterator[None]:
        """Return a context at whose end all observers are notified, as in traitlets.

        If an observer raises an error, the observers of the other changed traits are notified before the error is
        raised. The model's own observers are among them: they compute what depends on the changed traits.
        """
        if self._cross_validation_lock:
            yield
            return
        held: list[Bunch] = []
        self._held = threading.get_ident(), held
        try:
            with super().hold_trait_notifications():
                yield
        finally:
            self._held = None
            self._notify_all(held)

    def _notify_all(self, changes: list[Bunch]) -> None:
        if changes:
            try:
                self.notify_change(changes[0])
            finally:
                self._notify_all(changes[1:])

    def _is_collected(self, change: Bunch) -> bool:
        """Keep a change for the end of `hold_trait_notifications`; return whether it is kept."""
        if self._held is None or self._held[0] != threading.get_ident():
            return False
        self._held[1].append(change)
        return True

    def notify_change(self, change: Bunch) -> None:
        """Notify the observers of a change, or keep the change for the end of `hold_trait_notifications`."""
        if not self._is_collected(change):
            super().notify_change(change)

    def _swap(self, name: str, change: Callable[[V], V]) -> None:
        """Replace the value of the trait `name` by `change(value)`, without losing a change by another thread.

        Observers run after the lock is released. Otherwise two threads could wait for each other forever: thread 1
        holds the lock of model A and sets a trait of model B, while thread 2 holds the lock of B and sets a trait of A.
        """
        old, new = self._exchange(name, change)
        if new != old:
            self._notify_trait(name, old, new)

    def _exchange(self, name: str, change: Callable[[V], V]) -> tuple[V, V]:
        """Do the same, notify no observer, and return the old and the new value."""
        with self._lock:
            old = getattr(self, name)
            new = change(old)
            self._trait_values[name] = new
        return old, new

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

        def changed(old: Kernels) -> Kernels:
            new = with_series(old, name, rows)
            self._extended = new if is_last(old, name) else None
            return new

        self._swap("kernels", changed)

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
            if found.chip is not None:
                if found.chip.id not in {chip.id for chip in self.all_chips}:
                    self.chips = (found.chip, *self.chips)
                self.focus_chip = found.chip.id
            self.baseline = before if compare else None
            self.kernels = found

    @property
    def has_series(self) -> bool:
        """Whether the categories of the given kernels are series, such as runs; see `Kernels`."""
        given = type(self).kernels.given(self)
        return given is not None and given.series

    @property
    def shown_kernels(self) -> Kernels:
        """The kernels that the chart shows.

        Without a graph, these are `kernels` with the FLOPs and bytes of `typed_work`. With a graph, these are the
        kernels of `partition` at the sizes `dims`.
        """
        if self.partition is not None:
            return self.partition.kernels(self.dims)
        kernels, typed = self.kernels, self.typed_work
        if not typed:
            return kernels
        known = self._typed
        if known is None or known[0] is not kernels or known[1] is not typed:
            known = self._typed = (kernels, typed, with_typed_work(kernels, typed))
        return known[2]

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
        graph = self._graph_of_phase()
        return None if graph is None else counted(graph, self.convention, self.dtype)

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

    def _graph_of_phase(self) -> Graph | None:
        """Return the graph of the current phase, or None if there are no graphs.

        While observers handle a change of `phase` or `graphs`, the trait `graph` may still be the old graph. So
        this method reads `graphs`.
        """
        return self.graphs.get(self.phase)

    def _unfused(self) -> Partition | None:
        graph = self.counted_graph()
        return None if graph is None else Partition.unfused(graph)

    @default("kernels")
    def _default_kernels(self) -> Kernels:
        return preset("tpu-roofline-guide").kernels

    @validate("phase")
    def _check_phase(self, proposal: Bunch) -> str:
        return check_phase(proposal["value"], self.graphs, self.graph)

    @validate("partition")
    def _check_partition(self, proposal: Bunch) -> Partition | None:
        graph, groups = self._graph_of_phase(), proposal["value"]
        with refused_as("partition"):
            if groups is not None and graph is None:
                raise ValueError("there is no graph to divide into groups; set graph first")
            found = self._unfused() if groups is None else self.partition_of(groups)
        self._phases.checked = (self.phase, graph, found)
        return found

    def _partition_of_page(self, groups: Any) -> Any:
        """Return the groups of a message as a `Partition`, before the message is applied.

        While ipywidgets applies a message, the validators wait and the traits already have their new values. Another
        thread, such as a cell that JupyterLab runs beside the message, must not read the plain lists of the message.
        """
        if groups is None or self._graph_of_phase() is None:
            return groups
        with refused_as("partition"):
            return self.partition_of(groups)

    @validate("dims")
    def _check_dims(self, proposal: Bunch) -> Mapping[str, int]:
        return check_dims(proposal["value"], self._graph_of_phase())

    @validate("convention")
    def _check_convention(self, proposal: Bunch) -> str:
        return check_convention(proposal["value"], self._graph_of_phase())

    @validate("dtype")
    def _check_dtype(self, proposal: Bunch) -> str | None:
        return check_dtype(proposal["value"], self._graph_of_phase())

    @observe("graph")
    def _put_graph_in_graphs(self, _change: Bunch) -> None:
        if self.graph is not self._graph_of_phase():
            self.graphs = {} if self.graph is None else {"": self.graph}

    @observe("graphs")
    def _follow_graphs(self, _change: Bunch) -> None:
        with self.hold_trait_notifications():
            if self.phase not in self.graphs:
                self.phase = next(iter(self.graphs), "")
            self._follow_phase()

    @observe("phase")
    def _follow_phase(self, _change: Bunch | None = None) -> None:
        """Adapt the traits that depend on the graph to a new phase. The help text of `phase` states the rules."""
        graph, phases = self._graph_of_phase(), self._phases
        with self.hold_trait_notifications():
            if graph is None or phases.is_new(graph):
                self.dims = {}
                self.convention = ""
                self.dtype = None if graph is None else graph.dtype
                self.partition = self._unfused()
            else:
                self.dims = dims_for(graph, self.dims)
                self.convention = convention_for(graph, self.convention)
                self.dtype = None if self.dtype == graph.main_dtype else self.dtype
                if not phases.is_checked(self.phase, graph, self.partition):
                    groups = phases.groups_left(self.phase, graph)
                    self.partition = self._unfused() if groups is None else self.partition_of(groups)
            self.graph = graph
            phases.graphs = tuple(self.graphs.values())

    @observe("partition")
    def _remember_partition(self, _change: Bunch) -> None:
        graph = self._graph_of_phase()
        if graph is not None and self.partition is not None:
            self._phases.left[self.phase] = (graph, self.partition)

    @observe("convention", "dtype")
    def _count_again(self, _change: Bunch) -> None:
        # A new convention or dtype changes only the FLOPs and bytes. The groups of ops stay the same, so the row
        # numbers of kernels stay the same.
        if self.partition is not None and self._graph_of_phase() is not None:
            self.partition = self.partition_of(self.partition)

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
        row = row_called(kernel, kernels)
        given = (("bytes", bytes), ("time", time))
        asked = {word: checked_factor(factor, f"move: {word}") for word, factor in given if factor is not None}
        if not asked:
            raise TypeError("move needs a factor: bytes=0.5 for half the bytes, or time=0.5 for half the time")
        check_can_move(kernels[[row]], asked, self._bound_where_measured)

        def moved(old: KernelWhatIfs) -> KernelWhatIfs:
            return read_only_factors({**old, row: {**old.get(row, {}), **asked}})

        self._swap("moves", moved)

    def reset_moves(self, kernel: int | str | None = None) -> None:
        """Remove the what-if factors of one kernel. Without `kernel`, remove the factors of all kernels.

        `kernel` is the kernel's row, or its name if no other kernel has that name.

        Raises
        ------
        traitlets.TraitError
            If there is no such kernel, or if several kernels have this name.
        """
        gone = None if kernel is None else row_called(kernel, self.shown_kernels)

        def others(old: KernelWhatIfs) -> KernelWhatIfs:
            return read_only_factors({} if gone is None else {row: old[row] for row in old if row != gone})

        self._swap("moves", others)

    @property
    def moved_kernels(self) -> Kernels:
        """`shown_kernels`, with the what-if factors in `moves` applied.

        The factor ``bytes`` multiplies a kernel's bytes at every memory level; the kernel keeps its utilization. The
        factor ``time`` multiplies the new time, which is never below the bound.

        The calculation uses the roof of the chip that the kernels ran on. If this chip is unknown, the calculation uses
        the roof of the focus chip with its what-if rates.
        """
        return apply_what_ifs(self.shown_kernels, self.moves, self._bound_where_measured)

    def _bound_where_measured(self, kernels: Kernels) -> Bound:
        return bound_where_measured(
            kernels,
            self.resolved_chip(),
            precision=self.precision,
            memory=self.memory,
            exposed_comm=self.exposed_comm,
            launch_overhead=self.launch_overhead,
        )

    def _check_rows(self, rows: Iterable[int], trait: str) -> tuple[int, ...]:
        n = len(self.kernels) if self.partition is None else len(self.partition)
        return tuple(check_row(row, n, trait) for row in rows)

    @validate("selected", "at_roof")
    def _check_row_numbers(self, proposal: Bunch) -> tuple[int, ...]:
        return self._check_rows(proposal["value"], proposal["trait"].name)

    @validate("hovered")
    def _check_hovered(self, proposal: Bunch) -> int | None:
        row: int | None = proposal["value"]
        return None if row is None else self._check_rows([row], "hovered")[0]

    @validate("typed_work")
    def _check_typed_work(self, proposal: Bunch) -> TypedWork:
        work: TypedWork = proposal["value"]
        if work and self.partition is not None:
            raise TraitError("typed_work: the work of the kernels of a graph is counted; set graph to None first")
        check_is_unknown(work, self.kernels)
        return work

    @validate("moves")
    def _check_moves(self, proposal: Bunch) -> KernelWhatIfs:
        moves: KernelWhatIfs = proposal["value"]
        self._check_rows(moves, "moves")
        return moves

    @observe("kernels", "graph", "partition")
    def _forget_rows(self, change: Bunch) -> None:
        if change["name"] == "partition" and has_same_groups(change["old"], change["new"]):
            return
        self.typed_work = {}
        self.moves = {}
        if change["name"] == "kernels" and change["new"] is self._extended:
            return
        self.selected = ()
        self.hovered = None
        self.at_roof = ()

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
        snapshot = frozen(name, self.snapshots, self.shown_kernels, self.filtered_rows, self.bound())
        self.snapshots = (*self.snapshots, snapshot)
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
            self.search, self.categories, self.bounds, self.precisions, self.time_share, self.top, self.infeed
        )
        return filters.rows(self.shown_kernels, self._bound_by)

    def projection(self, source: Chip | str | None = None, *, recast: str | None = None) -> Projection:
        """Return how long the kernels would take on the focus chip with its what-if rates; see `roofwidget.project`.

        `source` is the chip that the kernels ran on. If the kernels name their chip, `source` is not needed. The
        calculation assumes that the kernels in the rows `at_roof` reach their roof. If `recast` is a precision, such as
        "fp8", the calculation assumes that all FLOPs have this precision.
        """
        return project(
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

    def _shown_verdict(self) -> Verdict:
        """Return the verdict that stands beside a picture: none while a question is asked, whose answer it could tell.

        A title is in the picture.
        """
        verdict = self._verdict()
        is_asked = self.story is not None and self.story.steps[self.step].question is not None
        return Verdict() if is_asked or verdict.rule == "title" else verdict

    def _verdict(self, search_seconds: float = 0.0) -> Verdict:
        """Return the verdict. The best partition of a graph is searched only if there is time for it."""
        kernels = self.shown_kernels
        try:
            bound = self._bound_where_measured(kernels) if self.focus_chip in self.shown else None
        except MissingFigureError:
            bound = None
        ran = None if bound is None else bound.chip
        is_measured = bool((np.nan_to_num(kernels.self_time) > 0).any())
        runs = compare_runs(self.baseline, self.kernels) if self.baseline is not None and is_measured else None
        what_if = ran is not None and ran.id == self.focus_chip and bool(self.what_if.get(ran.id))
        fusion = None if bound is None or not search_seconds else self._fusion(bound, search_seconds)
        facts = facts_of(kernels, bound, runs=runs, fusion=fusion, what_if=what_if)
        # A title is shown in place of what needs no measurement.
        return Verdict(self.title, rule="title") if self.title and not is_measured else verdict_of(facts)

    def _fusion(self, bound: Bound, seconds: float) -> Fusion | None:
        """Return the partition of the graph beside the best one that is found in these seconds."""
        now = self.partition
        if now is None or math.isnan(bound.total_time):
            return None
        chip, environment = self.resolved_chip(), now.graph.environment(self.dims)
        options: dict[str, Any] = {"precision": self.precision, "launch_overhead": self.launch_overhead}
        best = Partition.best(now.graph, chip, dims=self.dims, seconds=seconds, progress=False, **options)
        return Fusion(
            seconds=now.time(chip, dims=self.dims, **options),
            best_seconds=best.time(chip, dims=self.dims, **options),
            best_kernels=len(best),
            is_exact=best.how == "optimal",
            kernels=len(now),
            memory_bound=int((bound.regime == "memory").sum()),
            is_unfused=all(len(group) == 1 for group in now.groups),
            bytes=float(evaluate(now.total_bytes(), environment)),
            least_bytes=float(evaluate(now.compulsory_bytes, environment)),
        )

    def _bound_by(self) -> Texts:
        """Return the resource that bounds each kernel on the focus chip.

        The resource is "unknown" if there is no chip, or if the chip lacks a figure that the bound needs.
        """
        try:
            return self.bound().bound_by
        except (MissingFigureError, TraitError):
            return np.full(len(self.shown_kernels), "unknown", dtype=object)

    @validate("categories")
    def _check_categories(self, proposal: Bunch) -> tuple[str, ...] | None:
        names = proposal["value"]
        return None if names is None else tuple(dict.fromkeys(names))

    @validate("precisions")
    def _check_precisions(self, proposal: Bunch) -> tuple[str, ...] | None:
        names = proposal["value"]
        return None if names is None else tuple(dict.fromkeys(map(folded, names)))

    @validate("bounds")
    def _check_bounds(self, proposal: Bunch) -> tuple[str, ...] | None:
        names = proposal["value"]
        return None if names is None else check_bounds(names, known_bounds(self.all_chips, self.focus_chip))

    @validate("sort_by")
    def _check_sort_by(self, proposal: Bunch) -> str:
        return sort_key(proposal["value"], self.shown_kernels.extra)

    @validate("columns")
    def _check_columns(self, proposal: Bunch) -> tuple[str, ...] | None:
        if proposal["value"] is None:
            return None
        extra = self.shown_kernels.extra
        return tuple(dict.fromkeys(column_key(key, extra, "columns") for key in proposal["value"]))

    @validate("colour_by")
    def _check_colour_by(self, proposal: Bunch) -> str:
        return colour_column(proposal["value"], self.shown_kernels.extra)

    @observe("chips", "focus_chip")
    def _keep_known_bounds(self, _change: Bunch) -> None:
        if self.bounds is not None:
            self.bounds = bounds_after(self.bounds, known_bounds(self.all_chips, self.focus_chip))

    # -- zoom and view -----------------------------------------------------------------------------------------

    @validate("zoom")
    def _check_zoom(self, proposal: Bunch) -> Zoom | None:
        zoom: Zoom | None = proposal["value"]
        plane = plane_of(self.view, self.time_scale)
        check_zoom(zoom, plane)
        self._zoomed = plane
        return zoom

    @observe("view", "time_scale")
    def _show_whole_plane(self, _change: Bunch) -> None:
        # If one message sets the view and the zoom, the zoom was already checked for the new view. So the zoom stays.
        if self._zoomed != plane_of(self.view, self.time_scale):
            self.zoom = None

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
        given = self.answers.get(key, ())
        return given[-1] if given else None

    def export_answers(self) -> str:
        """Return all answers with their questions, as JSON text that `roofwidget.grade` reads from a file."""
        return answers.text(self.questions, self.answers)

    @validate("snap", "ranges")
    def _check_stops(self, proposal: Bunch) -> Mapping[str, tuple[float, ...]]:
        name = proposal["trait"].name
        found: dict[str, Mapping[str, tuple[float, ...]]] = {"snap": self.snap, "ranges": self.ranges}
        found[name] = proposal["value"]
        check_stops(found["snap"], found["ranges"], name)
        return found[name]

    @validate("step")
    def _check_step(self, proposal: Bunch) -> int:
        last = 0 if self.story is None else len(self.story.steps) - 1
        if proposal["value"] > last:
            raise TraitError(f"step {proposal['value']}: the last step is {last}")
        return int(proposal["value"])

    @observe("story")
    def _limit_step(self, _change: Bunch) -> None:
        last = 0 if self.story is None else len(self.story.steps) - 1
        if self._is_built and self.step > last:
            self.step = last

    @observe("step")
    def _show_step(self, _change: Bunch) -> None:
        if self._is_built:
            self.restart_step()

    def restart_step(self) -> None:
        """Show the start of the step, whatever was changed since.

        Raises
        ------
        traitlets.TraitError
            If the step needs a chip, a kernel or a graph that the model no longer has.
        """
        if self.story is None:
            return
        values = self.story.at(self.step)
        for name in values:
            # Whoever edits a session can edit its story.
            if not self.has_trait(name) or self.trait_metadata(name, "owner") != "shared":
                raise TraitError(f"step {self.step} sets '{name}', which no step may set")
        try:
            self.set_wire_values(values)
        except TraitError as error:
            raise TraitError(f"step {self.step}: {error}; the model has changed, so make the story again") from None

    def wire_values(self, names: Iterable[str]) -> dict[str, Any]:
        """Return the values of some synced traits as a page receives them."""
        return {name: self._sent(name) for name in names}

    def set_wire_values(self, values: Mapping[str, Any]) -> None:
        """Set traits to values as a page receives them."""
        # The phase and the partition reset other traits.
        first = [name for name in SET_FIRST if name in values]
        others = [name for name in values if name not in first]
        for part in (first, others):
            with self.hold_trait_notifications():
                for name in part:
                    from_wire = self.trait_metadata(name, "from_json")
                    self.set_trait(name, values[name] if from_wire is None else from_wire(values[name], self))

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
        return {name: instead[name] if name in instead else self._sent(name) for name in self._synced()}

    @classmethod
    def _synced(cls) -> list[str]:
        """Return the names of the traits that describe a chart to a page."""
        synced = cls.class_traits(sync=True, owner=lambda owner: owner is not None)
        return [name for name in synced if not name.startswith("_")]

    def _sent(self, name: str) -> Any:
        """Return the value of a synced trait as a page receives it."""
        value, to_wire = getattr(self, name), self.trait_metadata(name, "to_json")
        return value if to_wire is None else to_wire(value, self)

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
        options = {"caption": caption, "names": names, "patterns": patterns, "ceilings": ceilings}
        return self._picture(width, height, theme, style, **options).svg

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
        options = {"caption": caption, "names": names, "patterns": patterns, "ceilings": ceilings}
        picture = self._picture(width, height, theme, style, **options)
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
        options = {"caption": caption, "names": names, "patterns": patterns, "ceilings": ceilings}
        return pictures.pdf(self._picture(width, height, theme, style, **options))

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
            ".csv": self._to_csv,
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

    def _to_csv(self) -> str:
        return table.csv_text(self.filtered)

    def _to_session(self) -> str:
        given = type(self).kernels.given(self)
        groups = {phase: self._phases.groups_left(phase, graph) or () for phase, graph in self.graphs.items()}
        names = {phase: [op.name for op in graph.ops] for phase, graph in self.graphs.items()}
        partitions = {
            phase: [[names[phase][op] for op in group] for group in found] for phase, found in groups.items() if found
        }
        plain = {name: self._sent(name) for name in self._traits_of_session() if name != "story"}
        return session.text(
            session.Session(
                chips=self.chips,
                kernels=Kernels() if given is None else given,
                series=self.has_series,
                baseline=self.baseline,
                graphs=self.graphs,
                partitions=partitions,
                what_if=self.what_if,
                snapshots=self.snapshots,
                traits={**plain, "story": self.story and self.story.to_record()},
            )
        )

    @classmethod
    def _traits_of_session(cls) -> list[str]:
        """Return the names of the traits whose values a session has and sets."""
        return [*(name for name in cls._synced() if name not in _NOT_TRAITS_OF_SESSION), "locale"]

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return a new model from a session, a file that ``save("….json")`` wrote.

        The model has the chips, kernels, graphs with their partitions, what-ifs, filters, selection, snapshots and view
        of the saved one.

        Raises
        ------
        OSError
            If the file cannot be read.
        ValueError
            If the file is no session, a newer roofwidget wrote it, or a value is refused. The message names the file
            and the part. Then no model is created.

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
        try:
            return cls._from_session(session.read(Path(path)))
        except (AttributeError, LookupError, OverflowError, TraitError, TypeError, ValueError) as error:
            raise ValueError(f"{Path(path).name}: {short_message(str(error))}") from None

    @classmethod
    def _from_session(cls, found: session.Session) -> Self:
        by_row = {name: wire.by_row_from_wire(found.traits.get(name, {})) for name in ("typed_work", "moves")}
        # Sessions of 1.0.0 have the traits of `_OF_CODE_ALONE`.
        traits = {name: value for name, value in found.traits.items() if name not in _OF_CODE_ALONE} | by_row
        known = cls._traits_of_session()
        for name in traits:
            if name not in known:
                raise ValueError(f"traits: a session has no '{name}'{did_you_mean(name, known)}")
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
            _restore=lambda model: model._restore_session(found),  # noqa: SLF001 - a model of this class
            **traits,
            baseline=found.baseline,
            snapshots=found.snapshots,
        )

    def _restore_session(self, found: session.Session) -> None:
        """Set what the constructor has no argument for."""
        for chip, quantities in found.what_if.items():
            for precision, rate in quantities.get("peak_flops", {}).items():
                self.set_what_if(chip, peak_flops=rate, precision=precision)
            for memory, rate in quantities.get("bandwidth", {}).items():
                self.set_what_if(chip, bandwidth=rate, memory=memory)
        if found.graphs and len(found.kernels):
            self.kernels = found.kernels
        for phase, groups in found.partitions.items():
            if phase != self.phase:
                graph = self.graphs[phase]
                self._phases.left[phase] = (graph, as_partition(groups, graph))

    def _part_of_page(self, heading: str = "") -> page.Part:
        """Return the widget as a part of a page. A title that the heading of the page already says is left out."""
        # `roofwidget.read` takes the kernels of a graph from here: the page itself counts the graph.
        kernels = wire.kernels_to_wire(self.kernels)
        state = self._wire_state(kernels=kernels, title="" if self.title == heading else wire.text_to_wire(self.title))
        return page.part_of(state, self.locale, self.fallback_html())

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
        table, verdict = self._bounds_table(longest), self._shown_verdict()
        words = ": ".join(filter(None, (self.title, " ".join(filter(None, (verdict.headline, verdict.detail))))))
        for most in fallback.KERNELS:
            drawn = np.sort(longest[:most])
            try:
                picture = self._picture_of_rows(drawn, words)
            except (ImportError, FileNotFoundError):
                break
            whole = fallback.html(picture, verdict, table, len(drawn), len(rows), timed=bool(times.any()))
            if len(whole) <= fallback.MAX_BYTES:
                return whole
        return fallback.headline(verdict) + table

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
            time_share=1.0,
            top=None,
        )
        return engine.draw(state, self.locale, width=fallback.WIDTH, words=words)

    def _bounds_table(self, rows: Rows) -> str:
        """Return an HTML table of the first rows with their bounds on the focus chip; "" without a roof or kernels."""
        first = self.shown_kernels[rows[: fallback.MAX_ROWS]]
        if not len(first) or not self.all_chips:
            return ""
        try:
            bound = bound_lenient(
                first,
                self.resolved_chip(),
                precision=self._precision_of(self.chip()),
                memory=self.memory,
                exposed_comm=self.exposed_comm,
                launch_overhead=self.launch_overhead,
            )
        except MissingFigureError:
            # The focus chip has no roof: it lacks the selected precision or memory.
            return ""
        return report.html(bound)


def save_page(parts: Iterable[RooflineModel | str], path: str | os.PathLike[str], *, title: str) -> Path:
    """Save several widgets as one HTML page, with texts between them. Return the path.

    The page works without Python, network and other files; see `RooflineModel.to_html`.

    Parameters
    ----------
    parts
        Widgets, models and texts, in the page's order. A blank line ends a paragraph of a text. A paragraph that begins
        with "## " is a heading. A text is never read as markup.
    path
        The file, such as "report.html".
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
    ...     save_page(["Before:", before, "After:", after], f"{folder}/report.html", title="One fusion").name
    'report.html'
    """
    made: list[page.Part | str] = []
    for part in parts:
        if not isinstance(part, (RooflineModel, str)):
            raise TypeError(f"save_page takes widgets and texts, not {type(part).__name__}")
        made.append(part if isinstance(part, str) else part._part_of_page())  # noqa: SLF001 - of this module
    target = Path(path)
    target.write_text(page.page(made, title, _today()), encoding="utf-8", newline="\n")
    return target
