"""The state of a roofline: chips, kernels, what is shown and what is asked "what if"; usable without a browser."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from traitlets import Bunch, HasTraits, TraitError, Unicode, default, observe, validate

from roofwidget import units, wire
from roofwidget.chips.chip import Chip, MissingFigureError
from roofwidget.kernels import Kernel, Kernels
from roofwidget.suggest import listed, nearest, unknown_keyword
from roofwidget.traits import ChipsTrait, KernelsTrait, NamesTrait, RateTrait, RowsTrait, RowTrait, WhatIfTrait

if TYPE_CHECKING:
    from roofwidget.chips import Preset

__all__ = ["RooflineModel"]

# More chips than this start hidden: the picture would be a thicket.
_SHOWN_AT_FIRST = 6


class RooflineModel(HasTraits):
    """The state of a roofline, with every number the front end shows and no browser.

    Parameters
    ----------
    chips
        A `Preset`, or a list of `Chip` objects and names. Without chips and kernels: the TPU guide's preset. With
        kernels alone: the chip they ran on, or the guide's chips.
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
    chips = ChipsTrait(help="The chips that can be toggled on. Owned by Python.").tag(
        sync=True, to_json=wire.chips_to_wire
    )
    kernels = KernelsTrait(help="The kernels that are plotted. Owned by Python.").tag(
        sync=True, to_json=wire.kernels_to_wire
    )
    shown = NamesTrait(help="Ids of the chips toggled on, in the order of `chips`. Shared.").tag(
        sync=True, echo_update=False
    )
    focus_chip = Unicode(help="Id of the chip that sliders and gap arrows belong to. Shared.").tag(
        sync=True, echo_update=False
    )
    precision = Unicode("auto", help="A precision's name, or 'auto': each chip's own default. Shared.").tag(
        sync=True, echo_update=False
    )
    memory = Unicode("main", help="A memory level's name, or 'main': each chip's off-chip memory. Shared.").tag(
        sync=True, echo_update=False
    )
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
    selected = RowsTrait((), help="Row numbers of the selected kernels. Shared.").tag(sync=True, echo_update=False)
    hovered = RowTrait(None, help="Row number of the kernel under the pointer, or None. Owned by the browser.").tag(
        sync=True, echo_update=False
    )

    def __init__(self, chips: Any = None, kernels: Any = None, **traits: Any) -> None:
        self._lock = threading.Lock()
        for word in traits:
            if not self.has_trait(word):
                raise unknown_keyword(type(self).__name__, word, [*self.trait_names(), "chips", "kernels"])
        if kernels is not None:
            traits["kernels"] = kernels
        elif chips is not None:
            traits["kernels"] = getattr(chips, "kernels", Kernels())
        if chips is not None:
            traits["chips"] = chips
        elif isinstance(kernels, Kernels) and kernels.chip is not None:
            traits["chips"] = [kernels.chip]
        # These make sense only for the chips and kernels that the others bring.
        last = {name: traits.pop(name) for name in ("peak_flops", "bandwidth", "selected", "hovered") if name in traits}
        super().__init__(**traits)
        self._refresh_rates()
        for name, value in last.items():
            setattr(self, name, value)

    def chip(self, name: str | None = None) -> Chip:
        """Return one of the chips by id or name (any case); the focus chip without a name.

        Raises
        ------
        traitlets.TraitError
            If it is none of the chips here; the nearest are named.
        """
        return self._chip_of(self.focus_chip if name is None else name)

    def resolved_chip(self, name: str | None = None) -> Chip:
        """Return one of the chips with its what-if values in place of the data sheet's."""
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
        """Change a chip's peak or bandwidth without touching its data sheet.

        Parameters
        ----------
        chip
            Id or name; the focus chip by default.
        peak_flops
            FLOP/s, or text such as ``"2 PFLOP/s"``.
        bandwidth
            bytes/s, or text such as ``"8 TB/s"``.
        precision, memory
            Which peak and which level; the chosen ones by default.

        Raises
        ------
        MissingFigureError
            If the chip has no such precision or memory.
        ValueError
            If a rate is zero, negative, NaN or infinite.
        traitlets.TraitError
            If `chip` is none of the chips here.
        """
        target = self.chip(chip)
        changes: dict[tuple[str, str], tuple[float, float]] = {}
        if peak_flops is not None:
            key = target.precision(precision or self.precision)
            what = f"peak_flops of {target.name}"
            rate = units.positive(units.parse(peak_flops, "FLOP/s", what), what)
            changes["peak_flops", key] = (rate, target.peak(key))
        if bandwidth is not None:
            level = target.memory(memory or self.memory)
            what = f"bandwidth of {target.name}"
            rate = units.positive(units.parse(bandwidth, "B/s", what), what)
            changes["bandwidth", level] = (rate, target.bandwidth(level))

        def changed(old: dict[str, Any]) -> dict[str, Any]:
            for (quantity, key), (rate, sheet) in changes.items():
                rates = old.setdefault(target.id, {}).setdefault(quantity, {})
                rates[key] = rate
                if rate == sheet:
                    del rates[key]
            return old

        self._swap_what_if(changed)

    def reset(self, chip: str | None = None) -> None:
        """Go back to the data sheet: of one chip, or of all without a name.

        Raises
        ------
        traitlets.TraitError
            If `chip` is none of the chips here.
        """
        gone = [entry.id for entry in self.chips] if chip is None else [self.chip(chip).id]
        self._swap_what_if(lambda old: {key: value for key, value in old.items() if key not in gone})

    @property
    def selected_kernels(self) -> Kernels:
        """The selected rows of `kernels`."""
        return self.kernels[list(self.selected)]

    @property
    def hovered_kernel(self) -> Kernel | None:
        """The kernel under the pointer, or None."""
        return None if self.hovered is None else self.kernels[self.hovered]

    def __repr__(self) -> str:
        names = ", ".join(self._chip_of(key).name for key in self.shown)
        return f"{type(self).__name__}({names}; {len(self.kernels)} kernels)"

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

    @validate("precision")
    def _check_precision(self, proposal: Any) -> str:
        name: str = proposal["value"].casefold()
        known = dict.fromkeys(precision for chip in self.chips for precision in chip.peak_flops)
        if name != "auto" and name not in known:
            msg = f"precision: none of the chips has '{name}'; they have {listed(known)}, or use 'auto'"
            raise TraitError(msg)
        return name

    @validate("memory")
    def _check_memory(self, proposal: Any) -> str:
        name: str = proposal["value"]
        known = dict.fromkeys(
            memory.name for chip in self.chips for memory in chip.memories.values() if memory.bandwidth is not None
        )
        for level in ["main", *known]:
            if level.casefold() == name.casefold():
                return level
        msg = f"memory: none of the chips has a bandwidth for '{name}'; they have {listed(known)}, or use 'main'"
        raise TraitError(msg)

    @validate("what_if")
    def _check_what_if(self, proposal: Any) -> Mapping[str, Any]:
        return self._of_known_figures(proposal["value"])

    @validate("selected")
    def _check_selected(self, proposal: Any) -> tuple[int, ...]:
        return tuple(self._row_of(row, "selected") for row in proposal["value"])

    @validate("hovered")
    def _check_hovered(self, proposal: Any) -> int | None:
        return None if proposal["value"] is None else self._row_of(proposal["value"], "hovered")

    # -- what follows from what --------------------------------------------------------------------------------

    @observe("kernels")
    def _forget_rows(self, _change: Any) -> None:
        self.selected = ()
        self.hovered = None

    @observe("chips")
    def _keep_chips_consistent(self, _change: Any) -> None:
        ids = [chip.id for chip in self.chips]
        with self.hold_trait_notifications():
            still = [key for key in self._trait_values.get("shown", ()) if key in ids]
            self.shown = still or ids[:_SHOWN_AT_FIRST]
            if self._trait_values.get("focus_chip") not in ids:
                self.focus_chip = self._default_focus_chip()
            self._swap_what_if(self._of_known_figures)
            self._keep_choice("precision", "auto")
            self._keep_choice("memory", "main")
        self._refresh_rates()

    def _keep_choice(self, name: str, fallback: str) -> None:
        try:
            getattr(self, f"_check_{name}")({"value": getattr(self, name)})
        except TraitError:
            setattr(self, name, fallback)

    def _of_known_figures(self, what_if: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return `what_if` without what the chips have no figure for."""
        kept: dict[str, Any] = {}
        for chip in self.chips:
            changes = what_if.get(chip.id, {})
            bandwidths = {name for name, memory in chip.memories.items() if memory.bandwidth is not None}
            for quantity, known in (("peak_flops", set(chip.peak_flops)), ("bandwidth", bandwidths)):
                rates = {key: rate for key, rate in changes.get(quantity, {}).items() if key in known}
                if rates:
                    kept.setdefault(chip.id, {})[quantity] = rates
        return type(self).what_if.validate(self, kept)

    @observe("focus_chip")
    def _show_focus_chip(self, _change: Any) -> None:
        if self.focus_chip and self.focus_chip not in self.shown:
            self.shown = (*self.shown, self.focus_chip)

    @observe("shown")
    def _hand_focus_on(self, _change: Any) -> None:
        if self.shown and self.focus_chip not in self.shown:
            self.focus_chip = self.shown[0]

    @observe("focus_chip", "precision", "memory", "what_if")
    def _refresh_rates(self, _change: Any = None) -> None:
        for name in ("peak_flops", "bandwidth"):
            with self._lock:
                rate, old = self._rate(name), self._trait_values.get(name, math.nan)
                self._trait_values[name] = rate
            if rate != old and not (math.isnan(rate) and math.isnan(old)):
                # Marked, for it follows from what_if: another thread may have changed that again by now.
                self.notify_change(Bunch(name=name, old=old, new=rate, owner=self, type="change", derived=True))

    @observe("peak_flops", "bandwidth")
    def _remember_rate(self, change: Any) -> None:
        if "derived" in change or change["new"] == self._rate(change["name"]):
            return
        try:
            self.set_what_if(**{change["name"]: change["new"]})
        except MissingFigureError as error:
            self._refresh_rates()
            msg = f"{change['name']}: {error}"
            raise TraitError(msg) from None

    def _rate(self, name: str) -> float:
        """Return the `peak_flops` or `bandwidth` of the focus chip now; NaN where the chip has none."""
        if not self.chips:
            return math.nan
        chip = self.chip()
        try:
            key = chip.precision(self.precision) if name == "peak_flops" else chip.memory(self.memory)
            sheet = chip.peak(key) if name == "peak_flops" else chip.bandwidth(key)
        except MissingFigureError:
            return math.nan
        return float(self.what_if.get(chip.id, {}).get(name, {}).get(key, sheet))

    def _swap_what_if(self, change: Callable[[dict[str, Any]], Mapping[str, Any]]) -> None:
        """Replace `what_if` by what `change` makes of a copy of it; observers run after."""
        with self._lock:
            old = self.what_if
            new = type(self).what_if.validate(self, change(wire.what_if_to_wire(old)))
            self._trait_values["what_if"] = new
        if new != old:
            self._notify_trait("what_if", old, new)

    def _chip_of(self, name: object) -> Chip:
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
        if not 0 <= row < len(self.kernels):
            msg = f"{what}: {row} is not a row of kernels, which has {len(self.kernels)}"
            raise TraitError(msg)
        return row


def _guide() -> Preset:
    from roofwidget.chips import preset  # noqa: PLC0415 - the catalogue is read only when it is needed

    return preset("tpu-roofline-guide")
