"""The state of a roofline: chips, kernels, what is shown and what is asked "what if"; usable without a browser."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from traitlets import Any as Anything
from traitlets import Bool, TraitError, Unicode, default, observe, validate

from roofwidget import wire
from roofwidget.analysis.bound_lenient import bound_lenient
from roofwidget.chips import Chip
from roofwidget.kernels.table import Kernel, Kernels
from roofwidget.state.choices import GIVE_CHIPS, Choices
from roofwidget.state.filter_traits import Profile
from roofwidget.state.graph import Workload, is_same_grouping
from roofwidget.state.rates import Rates
from roofwidget.state.snapshots import Snapshots
from roofwidget.state.trait_types import (
    ChipsTrait,
    DimsTrait,
    FractionsTrait,
    GraphsTrait,
    GraphTrait,
    KernelsTrait,
    LocaleTrait,
    NamesTrait,
    RateTrait,
    RowsTrait,
    RowTrait,
    SecondsTrait,
    WhatIfTrait,
)
from roofwidget.state.view import Viewing
from roofwidget.state.what_if_traits import Moves
from roofwidget.support.did_you_mean import listed, nearest, unknown_keyword

if TYPE_CHECKING:
    from roofwidget.analysis.result import Bound
    from roofwidget.kernels.presets import Preset

__all__ = ["RooflineModel"]

# More chips than this start hidden: the picture would be a thicket.
_SHOWN_AT_FIRST = 6
# In this order: a partition is of the graph as it is counted, rows are rows of the kernels that are shown.
_LAST = (
    *("peak_flops", "bandwidth", "ceilings", "bounds", "dims", "convention", "dtype", "partition"),
    *("selected", "hovered", "at_roof", "moves", "zoom"),
)


class RooflineModel(Rates, Choices, Workload, Profile, Viewing, Snapshots, Moves):
    """The state of a roofline, with every number the front end shows and no browser.

    Parameters
    ----------
    chips
        A `Preset`, or a list of `Chip` objects and names. Without chips and kernels: the TPU guide's preset. With
        kernels alone: the chip they ran on; none, with a warning, for a measured profile that names none; else the
        guide's chips.
    kernels
        `Kernels`, a list of records, or a data frame.
    **traits
        Any trait below.

    Raises
    ------
    TypeError
        For an unknown keyword; it names the nearest real one.
    traitlets.TraitError
        For a bad value; nothing is changed.

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

    title = Unicode(help="What stands above the chart. Owned by Python.").tag(sync=True, to_json=wire.text_to_wire)
    locale = LocaleTrait(
        help="The language of the front end: 'en', 'de', or a locale such as 'de-AT'. What Python says stays English, "
        "and with it the text, the page and the companions that are made of a model. Owned by Python."
    )
    chips = ChipsTrait(help="The chips that can be toggled on. Owned by Python.").tag(
        sync=True, to_json=wire.chips_to_wire
    )
    kernels = KernelsTrait(help="The kernels that are plotted. Owned by Python.").tag(
        sync=True, to_json=wire.kernels_to_wire
    )
    graph = GraphTrait(
        None,
        help="Operations joined by tensors: their partition's kernels are shown instead of `kernels`. It is the one of "
        "`phase` in `graphs`; one that is set here is the only one, of phase ''. Owned by Python.",
    )
    graphs = GraphsTrait(
        {}, help="The graphs that can be chosen between, by name: the phases of one workload. Owned by Python."
    ).tag(sync=True, to_json=wire.graphs_to_wire)
    phase = Unicode(
        "",
        help="Which of `graphs` is shown; '' without one. With another phase `partition` is what it was left with, at "
        "first unfused; `dims` keeps the "
        "sizes that the new graph has too, within its limits and not at its defaults, if it can have them together; "
        "`convention` stays if the new graph knows it by that name and it is not its own; `dtype` stays unless it is "
        "the new graph's main one. With a graph that was not among `graphs` before, all four start anew. Shared.",
    ).tag(sync=True, to_json=wire.text_to_wire, echo_update=False)
    partition = Anything(
        None,
        allow_none=True,
        help="Which ops of the graph run as one kernel: a `Partition`, or groups of names or positions. Shared.",
    ).tag(sync=True, to_json=wire.partition_to_wire, echo_update=False)
    dims = DimsTrait(
        MappingProxyType({}), help="Sizes of the graph's dimensions that differ from their defaults. Shared."
    ).tag(sync=True, to_json=wire.dims_to_wire, echo_update=False)
    convention = Unicode("", help="How operations are counted; empty for the graph's own way. Shared.").tag(
        sync=True, echo_update=False
    )
    dtype = Unicode(
        None, allow_none=True, help="Count as if tensors of the graph's main dtype had this one; None as built. Shared."
    ).tag(sync=True, echo_update=False)
    shown = NamesTrait(help="Ids of the chips toggled on, in the order of `chips`. Shared.").tag(
        sync=True, echo_update=False
    )
    focus_chip = Unicode(help="Id of the chip that sliders and gap arrows belong to. Shared.").tag(
        sync=True, echo_update=False
    )
    precision = Unicode(
        "auto",
        help="A precision's name, or 'auto': the one that all kernels compute in, for chips that have it, else each "
        "chip's own default. Shared.",
    ).tag(sync=True, echo_update=False)
    memory = Unicode(
        "main", help="A memory level's name, 'main': each chip's off-chip memory, or 'all': a roof a level. Shared."
    ).tag(sync=True, echo_update=False)
    what_if = WhatIfTrait(
        read_only=True,
        help="Changed peaks and bandwidths by chip id; set with `set_what_if`, `reset` or the sliders. Shared.",
    ).tag(sync=True, to_json=wire.what_if_to_wire, echo_update=False)
    peak_flops = RateTrait(
        "FLOP/s", help="Peak rate of the focus chip at the chosen precision, FLOP/s; NaN where it has none. Shared."
    )
    bandwidth = RateTrait(
        "B/s", help="Bandwidth of the focus chip at the chosen memory, bytes/s; NaN where it has none. Shared."
    )
    exposed_comm = FractionsTrait(
        (), help="Shares of the time in which only the link works, each drawn as a dashed roof. Shared."
    ).tag(sync=True, echo_update=False)
    ceilings = NamesTrait(
        None,
        allow_none=True,
        help="Ceilings of the focus chip that are drawn: precisions, or names such as 'no FMA' and 'STREAM DRAM'; "
        "None for the chip's own. Shared.",
    ).tag(sync=True, echo_update=False)
    all_levels = Bool(
        default_value=False, help="With memory 'all', whether levels that bind no kernel have a roof too. Shared."
    ).tag(sync=True, echo_update=False)
    launch_overhead = SecondsTrait(
        0.0, help="Seconds a launch: the least that each of them takes. Owned by Python."
    ).tag(sync=True)
    selected = RowsTrait((), help="Row numbers of the selected kernels. Shared.").tag(sync=True, echo_update=False)
    hovered = RowTrait(None, help="Row number of the kernel under the pointer, or None. Owned by the browser.").tag(
        sync=True, echo_update=False
    )

    def __init__(self, chips: Any = None, kernels: Any = None, **traits: Any) -> None:
        self._lock = threading.Lock()
        self._check_keywords(traits, has_kernels=kernels is not None)
        if kernels is not None:
            traits["kernels"] = kernels
        elif chips is not None:
            traits["kernels"] = getattr(chips, "kernels", Kernels())
        if chips is not None:
            traits["chips"] = chips
        elif isinstance(kernels, Kernels) and kernels.chip is not None:
            traits["chips"] = [kernels.chip]
        elif isinstance(kernels, Kernels) and kernels.source and kernels.totals()["time"] > 0:
            traits["chips"] = []
            msg = f"{kernels.source} names no chip, so there is no roof to hold its kernels against: {GIVE_CHIPS}"
            warnings.warn(msg, UserWarning, stacklevel=2)
        # These make sense only for the chips, kernels and graphs that the others bring.
        last = {name: traits.pop(name) for name in _LAST if name in traits}
        super().__init__(**traits)
        self._refresh_rates()
        for name, value in last.items():
            setattr(self, name, value)

    def _check_keywords(self, traits: Mapping[str, Any], *, has_kernels: bool) -> None:
        kind = type(self).__name__
        for word in traits:
            if not self.has_trait(word):
                raise unknown_keyword(kind, word, [*self.trait_names(), "chips", "kernels"])
        if "graph" in traits and "graphs" in traits:
            msg = f"{kind} takes graph, or graphs by phase, not both"
            raise TypeError(msg)
        if has_kernels and ("graph" in traits or "graphs" in traits):
            msg = f"{kind} takes kernels, or a graph whose kernels it shows, not both"
            raise TypeError(msg)

    def chip(self, name: str | None = None) -> Chip:
        """Return one of the chips by id or name (any case); the focus chip without a name.

        Raises
        ------
        traitlets.TraitError
            If it is none of the chips here: the nearest are named; or if there are none.
        """
        return self._chip_of(self.focus_chip if name is None else name)

    def bound(self, chip: str | None = None) -> Bound:
        """Return what one of the chips, by default the focus chip, says of the kernels, what-if values in force.

        The bounds of kernels that need another figure which the chip lacks are unknown: one such must not hide the
        others.

        Raises
        ------
        MissingFigureError
            If the chip has no peak or bandwidth that was asked for.
        traitlets.TraitError
            If it is none of the chips here, or there are none.
        """
        return bound_lenient(
            self.shown_kernels,
            self.resolved_chip(chip),
            precision=self.precision,
            memory=self.memory,
            launch_overhead=self.launch_overhead,
        )

    @property
    def selected_kernels(self) -> Kernels:
        """The selected rows of `shown_kernels`."""
        return self.shown_kernels[list(self.selected)]

    @property
    def hovered_kernel(self) -> Kernel | None:
        """The kernel under the pointer, or None."""
        return None if self.hovered is None else self.shown_kernels[self.hovered]

    def __repr__(self) -> str:
        names = ", ".join(self._chip_of(key).name for key in self.shown) if self.chips else "no chips"
        counted = "" if self.partition is None else f" counted by {self.told_convention()}"
        return f"{type(self).__name__}({names}; {len(self.shown_kernels)} kernels{counted})"

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and not hasattr(type(self), name):
            close = nearest(name, self.trait_names(), most=1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            msg = f"{type(self).__name__} has no trait '{name}'{hint}"
            raise AttributeError(msg)
        super().__setattr__(name, value)

    # -- defaults ----------------------------------------------------------------------------------------------

    @default("chips")
    def _default_chips(self) -> tuple[Chip, ...]:
        return _guide().chips

    @default("kernels")
    def _default_kernels(self) -> Kernels:
        return _guide().kernels

    @default("shown")
    def _default_shown(self) -> tuple[str, ...]:
        return tuple(chip.id for chip in self.chips[:_SHOWN_AT_FIRST])

    @default("focus_chip")
    def _default_focus_chip(self) -> str:
        return self.shown[0] if self.shown else self.chips[0].id if self.chips else ""

    @default("what_if")
    def _default_what_if(self) -> Mapping[str, Any]:
        return {}

    # -- what may be set ---------------------------------------------------------------------------------------

    @validate("shown")
    def _check_shown(self, proposal: Any) -> tuple[str, ...]:
        wanted = {self._chip_of(name).id for name in proposal["value"]}
        return tuple(chip.id for chip in self.chips if chip.id in wanted)

    @validate("focus_chip")
    def _check_focus_chip(self, proposal: Any) -> str:
        return self._chip_of(proposal["value"]).id if self.chips else ""

    @validate("selected")
    def _check_selected(self, proposal: Any) -> tuple[int, ...]:
        return tuple(self._row_of(row, "selected") for row in proposal["value"])

    @validate("hovered")
    def _check_hovered(self, proposal: Any) -> int | None:
        return None if proposal["value"] is None else self._row_of(proposal["value"], "hovered")

    # -- what follows from what --------------------------------------------------------------------------------

    @observe("kernels", "graph", "partition")
    def _forget_rows(self, change: Any) -> None:
        if change["name"] == "partition" and is_same_grouping(change["old"], change["new"]):
            return
        self.selected = ()
        self.hovered = None

    @observe("chips")
    def _keep_chips_consistent(self, change: Any) -> None:
        ids = [chip.id for chip in self.chips]
        with self.hold_trait_notifications():
            shown = self._trait_values.get("shown", ())
            still = [key for key in shown if key in ids]
            before = [chip.id for chip in change["old"] or ()]
            # One that was not among them before: what is shown was said together with the chips.
            is_given = not before or any(key not in before for key in still)
            added = [] if is_given else [key for key in ids if key not in before]
            self.shown = [*still, *added[: max(0, _SHOWN_AT_FIRST - len(still))]] if still else ids[:_SHOWN_AT_FIRST]
            if self._trait_values.get("focus_chip") not in ids:
                self.focus_chip = self._default_focus_chip()
            self._swap_what_if(self._of_known_figures)
            self._keep_choice("precision", "auto")
            self._keep_choice("memory", "main")
            if self.ceilings is not None:
                known = self._known_ceilings()
                self.ceilings = tuple(name for name in self.ceilings if name.casefold() in known)
        self._refresh_rates()

    @observe("focus_chip")
    def _show_focus_chip(self, _change: Any) -> None:
        if self.focus_chip and self.focus_chip not in self.shown:
            self.shown = (*self.shown, self.focus_chip)

    @observe("shown")
    def _hand_focus_on(self, _change: Any) -> None:
        if self.shown and self.focus_chip not in self.shown:
            self.focus_chip = self.shown[0]

    def _chip_of(self, name: object) -> Chip:
        if not self.chips:
            msg = f"there are no chips, and so no roof; {GIVE_CHIPS}, or set .chips"
            raise TraitError(msg)
        for chip in self.chips:
            if name == chip.id:
                return chip
        for chip in self.chips:
            known = (chip.id, chip.name, *chip.aliases)
            if isinstance(name, str) and name.casefold() in {word.casefold() for word in known}:
                return chip
        ids = [chip.id for chip in self.chips]
        msg = f"{name!r} is none of the chips here; nearest: {listed(nearest(str(name), ids) or ids)}"
        raise TraitError(msg)

    def _row_of(self, row: int, what: str) -> int:
        rows = len(self.kernels) if self.partition is None else len(self.partition)
        if not 0 <= row < rows:
            msg = f"{what}: {row} is not a row of kernels, which has {rows}"
            raise TraitError(msg)
        return row


def _guide() -> Preset:
    from roofwidget.kernels.presets import preset  # noqa: PLC0415 - the catalogue is read only when it is needed

    return preset("tpu-roofline-guide")
