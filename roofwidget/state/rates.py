"""The peaks and bandwidths of a model in force: the data sheet's, with what is asked "what if" in their place."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from traitlets import Bunch, HasTraits, TraitError, observe, validate

from roofwidget import units, wire
from roofwidget.chips import FLOP_CLASSES, Chip, MissingFigureError

if TYPE_CHECKING:
    from roofwidget.kernels.table import Kernels

__all__ = ["Rates", "common_precision", "one_level"]


class Rates(HasTraits):
    """What `RooflineModel` knows of rates. Its traits are declared there, for it alone carries the sync tags."""

    if TYPE_CHECKING:
        chips: Any
        focus_chip: Any
        precision: Any
        memory: Any
        what_if: Any
        _lock: threading.Lock

        def chip(self, name: str | None = None) -> Chip: ...
        @property
        def shown_kernels(self) -> Kernels: ...

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
            key = self._precision_of(target) if precision is None else target.precision(precision)
            what = f"peak_flops of {target.name}"
            rate = units.positive(units.parse(peak_flops, "FLOP/s", what), what)
            changes["peak_flops", key] = (rate, target.peak(key))
        if bandwidth is not None:
            level = target.memory(one_level(memory or self.memory))
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

    # -- what follows from what --------------------------------------------------------------------------------

    @validate("what_if")
    def _check_what_if(self, proposal: Any) -> Mapping[str, Any]:
        return self._of_known_figures(proposal["value"])

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
        allowed: Mapping[str, Any] = type(self).what_if.validate(self, kept)
        return allowed

    @observe("focus_chip", "precision", "memory", "what_if", "kernels", "partition", "dims")
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
        except (MissingFigureError, TraitError) as error:
            self._refresh_rates()
            msg = f"{change['name']}: {error}"
            raise TraitError(msg) from None

    def _precision_of(self, chip: Chip) -> str:
        """Return the precision of a chip's roof: see `precision`."""
        shared = common_precision(self.shown_kernels) if self.precision == "auto" else ""
        return chip.precision(shared if shared in chip.peak_flops else self.precision)

    def _rate(self, name: str) -> float:
        """Return the `peak_flops` or `bandwidth` of the focus chip now; NaN where the chip has none."""
        if not self.chips:
            return math.nan
        chip = self.chip()
        try:
            key = self._precision_of(chip) if name == "peak_flops" else chip.memory(one_level(self.memory))
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


def common_precision(kernels: Kernels) -> str:
    """Return the precision in which all kernels that compute anything do so; empty where they differ or one tells none.

    Examples
    --------
    >>> import roofwidget as rw
    >>> own = ["fp8", "fp8", "fp32"]
    >>> common_precision(rw.Kernels(["a", "b", "copy"], [8, 8, 0], [1, 1, 1], precision=own))
    'fp8'
    """
    own = kernels.codes("precision")
    found: set[str] = set()
    for key, flops in kernels.flops_by_precision.items():
        works = flops > 0
        if key and key not in FLOP_CLASSES:
            found |= {key} if works.any() else set()
        else:
            found |= {own.values[code] or "" for code in np.flatnonzero(np.bincount(own.codes[works]))}
    return found.pop() if len(found) == 1 else ""


def one_level(memory: str) -> str:
    """Return the level whose bandwidth is meant: with all levels that is the main memory's."""
    return "main" if memory.casefold() == "all" else memory
